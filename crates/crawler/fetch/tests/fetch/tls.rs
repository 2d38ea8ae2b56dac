//! https, with a certificate authority of the test.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::{Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch, InsecureHost};
use http_body_util::Full;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use requests::FailureKind;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use web::{Clock, Exchange, Protocol, Timestamp, Truncation};

use crate::server::page;

/// Returns an acceptor with a certificate for `secure.test` and these protocols, and the file of
/// its authority.
pub(crate) fn acceptor(protocol: &str) -> (TlsAcceptor, NamedTempFile) {
    acceptor_with(protocol, |_leaf| {})
}

/// Returns such an acceptor whose certificate has this change.
fn acceptor_with(
    protocol: &str,
    change: impl FnOnce(&mut CertificateParams),
) -> (TlsAcceptor, NamedTempFile) {
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("ring makes keys");
    let authority = CertifiedIssuer::self_signed(authority, key).expect("it signs itself");

    let key = KeyPair::generate().expect("ring makes keys");
    let mut leaf = CertificateParams::new(vec!["secure.test".to_owned()]).expect("a name");
    change(&mut leaf);
    let leaf = leaf.signed_by(&key, &authority).expect("it is signed");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the usual versions")
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).expect("it is a key"),
        )
        .expect("key and certificate belong together");
    let protocols = protocol.split(' ');
    config.alpn_protocols = protocols.map(|one| one.as_bytes().to_vec()).collect();

    let file = NamedTempFile::new().expect("room for a certificate");
    std::fs::write(file.path(), authority.pem()).expect("room for a certificate");
    (TlsAcceptor::from(Arc::new(config)), file)
}

fn options(address: SocketAddr) -> FetchOptions {
    FetchOptions {
        allow_private: true,
        resolve: vec![
            format!("secure.test:{}:127.0.0.1", address.port())
                .parse()
                .expect("a rule"),
        ],
        ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
    }
}

fn fetch_from(address: SocketAddr, authority: Option<&NamedTempFile>) -> HttpFetch {
    HttpFetch::new(FetchOptions {
        ca_certificates: authority
            .map(|file| file.path().to_owned())
            .into_iter()
            .collect(),
        ..options(address)
    })
    .expect("these options work")
}

async fn ask(address: SocketAddr, authority: &NamedTempFile) -> Exchange {
    let url = page(&format!("https://secure.test:{}/page", address.port()));
    fetch_from(address, Some(authority))
        .fetch(&url)
        .await
        .expect("the server answers")
}

#[tokio::test]
async fn http_2_is_spoken_where_the_server_offers_it() {
    let (acceptor, authority) = acceptor("h2");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let service = service_fn(|request: http::Request<Incoming>| {
            noted.lock().unwrap().push((
                request.uri().to_string(),
                request.headers().contains_key("host"),
            ));
            async {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(
                    b"hello, frames",
                ))))
            }
        });
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service)
            .await
    });

    let exchange = ask(address, &authority).await;

    assert_eq!(exchange.protocol, Protocol::Http2);
    assert_eq!(&exchange.body.held().unwrap()[..], b"hello, frames");
    assert_eq!(exchange.address, Some(address));
    let port = address.port();
    assert_eq!(
        *asked.lock().unwrap(),
        [(format!("https://secure.test:{port}/page"), false)]
    );
    let head = String::from_utf8(exchange.request_head).unwrap();
    assert!(
        head.starts_with(&format!(
            "GET /page HTTP/1.1\r\nhost: secure.test:{port}\r\n"
        )),
        "{head}"
    );
}

#[tokio::test]
async fn http_1_1_over_tls_is_recorded_as_it_was_sent() {
    let (acceptor, authority) = acceptor("http/1.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .await
            .unwrap();
        stream.flush().await.unwrap();
        (head, stream)
    });

    let exchange = ask(address, &authority).await;

    assert_eq!(
        (exchange.protocol, &exchange.body.held().unwrap()[..]),
        (Protocol::Http11, &b"ok"[..])
    );
    let (head, _stream) = server.await.unwrap();
    assert_eq!(
        String::from_utf8(exchange.request_head).unwrap(),
        String::from_utf8(head).unwrap()
    );
}

/// Old servers end such a body by closing the connection, without a close notification: whether it
/// is whole cannot be known.
#[tokio::test]
async fn a_body_that_ends_with_the_connection_is_kept_and_marked() {
    let (acceptor, authority) = acceptor("http/1.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream
            .write_all(b"HTTP/1.0 200 OK\r\n\r\nold page")
            .await
            .unwrap();
        stream.flush().await.unwrap();
    });

    let exchange = ask(address, &authority).await;

    assert_eq!(&exchange.body.held().unwrap()[..], b"old page");
    assert_eq!(exchange.truncated, Some(Truncation::Disconnect));
    assert!(!exchange.is_incomplete(), "another request brings no more");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_not_trusted() {
    let (acceptor, _authority) = acceptor("h2");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.map(drop)
    });

    let url = page(&format!("https://secure.test:{}/", address.port()));
    let failure = fetch_from(address, None).fetch(&url).await.unwrap_err();

    assert_eq!(
        failure.to_string(),
        "TLS: the certificate's issuer is not trusted"
    );
}

#[tokio::test]
async fn plain_http_on_the_tls_port_is_a_tls_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await
    });

    let url = page(&format!("https://secure.test:{}/", plain.port()));
    let failure = fetch_from(plain, None).fetch(&url).await.unwrap_err();

    assert_eq!(failure.to_string(), "TLS: the server does not speak TLS");
}

/// Starts a server with a certificate after `change`, for any number of connections; returns its
/// authority, too.
async fn showing(change: impl FnOnce(&mut CertificateParams)) -> (SocketAddr, NamedTempFile) {
    let (acceptor, authority) = acceptor_with("http/1.1", change);
    (serving(acceptor).await, authority)
}

/// Serves any number of connections.
async fn serving(acceptor: TlsAcceptor) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                while matches!(stream.read(&mut [0; 4096]).await, Ok(1..)) {
                    let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                    stream
                        .write_all(response)
                        .await
                        .expect("the client listens");
                    stream.flush().await.expect("the client listens");
                }
            });
        }
    });
    address
}

/// Shows this certificate, as PEM, and serves any number of connections.
async fn showing_pem(certificate: &str, key: &str) -> (SocketAddr, NamedTempFile) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let shown = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("the usual versions")
        .with_no_client_auth();
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let key = provider.key_provider.load_private_key(key).expect("a key");
    // Whether key and certificate belong together cannot be checked for version 1.
    let key = CertifiedKey::new(vec![shown], key);
    let config = config.with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
    let file = NamedTempFile::new().expect("room for a certificate");
    std::fs::write(file.path(), certificate).expect("room for a certificate");
    (serving(TlsAcceptor::from(Arc::new(config))).await, file)
}

/// The certificate that `openssl req -x509` makes was refused where the user trusted it, by a word
/// of the library: "CaUsedAsEndEntity".
#[tokio::test]
async fn an_authority_that_shows_itself_is_trusted_if_the_user_trusts_it() {
    let made = |change: fn(&mut CertificateParams)| {
        let mut itself = CertificateParams::new(vec!["secure.test".to_owned()]).unwrap();
        itself.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut itself);
        let key = KeyPair::generate().unwrap();
        (itself.self_signed(&key).unwrap().pem(), key.serialize_pem())
    };
    let other_name = |other: &mut CertificateParams| {
        let named = CertificateParams::new(vec!["other.test".to_owned()]).unwrap();
        other.subject_alt_names = named.subject_alt_names;
    };
    let no_name = |itself: &mut CertificateParams| itself.subject_alt_names.clear();
    let (itself, key) = made(|_itself| {});
    let (nameless, key_of_nameless) = made(no_name);
    let (expired, key_of_expired) =
        made(|itself| itself.not_after = rcgen::date_time_ymd(2001, 2, 3));
    let (other, key_of_other) = made(other_name);
    let (twin, _key) = made(|_itself| {});
    let not_given = "TLS: the certificate is that of an authority, perhaps signed by itself: \
                     --ca-certificate FILE trusts it, --insecure-host HOST trusts any";
    for (shown, key, given, expected) in [
        (&itself, &key, &itself, Ok(200)),
        (&itself, &key, &twin, Err(not_given)),
        (
            &expired,
            &key_of_expired,
            &expired,
            Err("TLS: the certificate has expired"),
        ),
        (
            &other,
            &key_of_other,
            &other,
            Err("TLS: the certificate is for another name"),
        ),
        // As `openssl req -x509 -subj /CN=secure.test` makes it.
        (
            &nameless,
            &key_of_nameless,
            &nameless,
            Err(
                "TLS: the certificate names no host (subjectAltName): --insecure-host HOST \
                 accepts it",
            ),
        ),
    ] {
        let (address, file) = showing_pem(shown, key).await;
        std::fs::write(file.path(), given).unwrap();
        let url = page(&format!("https://secure.test:{}/", address.port()));
        let fetched = fetch_from(address, Some(&file)).fetch(&url).await;
        let fetched = fetched.map(|exchange| exchange.status);
        let fetched = fetched.map_err(|failure| failure.to_string());
        assert_eq!(fetched, expected.map_err(str::to_owned));
    }
}

#[tokio::test]
async fn an_insecure_host_may_show_a_certificate_of_version_1() {
    let (certificate, key) = VERSION_1.split_at(VERSION_1.find("-----BEGIN PRIVATE").unwrap());
    let (address, _file) = showing_pem(certificate, key).await;
    let url = page(&format!("https://secure.test:{}/", address.port()));
    for (insecure, expected) in [
        ("secure.test", Ok(200)),
        (
            "other.test",
            Err("TLS: the certificate is of X.509 version 1 or 2: --insecure-host HOST accepts it"),
        ),
    ] {
        let fetch = HttpFetch::new(FetchOptions {
            insecure_hosts: vec![insecure.parse().unwrap()],
            ..options(address)
        })
        .unwrap();
        let fetched = fetch.fetch(&url).await.map(|exchange| exchange.status);
        let fetched = fetched.map_err(|failure| failure.to_string());
        assert_eq!(fetched, expected.map_err(str::to_owned), "{insecure}");
    }
}

/// What `openssl x509 -req -signkey` makes of a request without extensions: version 1, self-signed,
/// with its key.
const VERSION_1: &str = "\
-----BEGIN CERTIFICATE-----
MIIBJzCBzwIUKgsNFrde/x+21DH1j/CkvwRkSf0wCgYIKoZIzj0EAwIwFjEUMBIG
A1UEAwwLc2VjdXJlLnRlc3QwIBcNMjYxMTI2MTQxNzIyWhgPMjEyNjExMDIxNDE3
MjJaMBYxFDASBgNVBAMMC3NlY3VyZS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEwDHcTL1Mo+/B6J3DICLySh9ZRDWXseTpMEWfM2RK2k1FjbU6HvBjvn7s
TTUOll2I50JvKrsynZn4KlWo+nkgHjAKBggqhkjOPQQDAgNHADBEAiANT4YCD9kS
6v12XLSKLph6TxSungZL6pWAAtqoqMwl/wIgUfSD3bMVieX5CxrlQwtViXurywD7
VpNNgFQdmEOztaI=
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwAFbjlTCIu5JGDjC
AbcNz0mXzvG5IoWg5kYACGFKmPWhRANCAATAMdxMvUyj78HoncMgIvJKH1lENZex
5OkwRZ8zZEraTUWNtToe8GO+fuxNNQ6WXYjnQm8quzKdmfgqVaj6eSAe
-----END PRIVATE KEY-----
";

#[tokio::test]
async fn a_rejected_certificate_is_reported_with_its_reason() {
    let named = |names: &[&str]| {
        CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (expired, first) = showing(|leaf| leaf.not_after = rcgen::date_time_ymd(2001, 2, 3)).await;
    let (early, second) = showing(|leaf| leaf.not_before = rcgen::date_time_ymd(2201, 2, 3)).await;
    let (other, third) = showing(|leaf| {
        leaf.subject_alt_names = named(&["other.test"]).expect("a name").subject_alt_names;
    })
    .await;
    let (client, fourth) =
        showing(|leaf| leaf.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth])
            .await;
    let cases = [
        (expired, first, "the certificate has expired"),
        (early, second, "the certificate is not valid yet"),
        (other, third, "the certificate is for another name"),
        (
            client,
            fourth,
            "the certificate is not accepted: certificate had invalid extensions",
        ),
    ];
    for (address, authority, expected) in cases {
        let url = page(&format!("https://secure.test:{}/", address.port()));
        let failure = fetch_from(address, Some(&authority))
            .fetch(&url)
            .await
            .unwrap_err();
        assert_eq!(failure.to_string(), format!("TLS: {expected}"));
    }
}

#[tokio::test]
async fn a_failed_handshake_is_reported_with_its_cause() {
    // A TLS record: type, version, length; an alert is 2 (fatal) and its number (RFC 8446 sections
    // 5.1 and 6).
    let cases: [(&[u8], &str); 5] = [
        (
            &[0x15, 3, 3, 0, 2, 2, 112],
            "TLS: the server sent the alert UnrecognisedName",
        ),
        (
            &[0x15, 3, 3, 0, 2, 2, 40],
            "TLS: the server offers no cipher suite that this crawler has (ECDHE with AES-GCM or \
             ChaCha20; none with CBC, RSA key exchange or DHE), has a certificate with a P-521 \
             key, or wants a client certificate",
        ),
        (
            &[0x15, 3, 1, 0, 2, 2, 70],
            "TLS: the server offers no TLS version that this crawler has (1.2 and 1.3)",
        ),
        (
            &[0x17, 3, 3, 0, 1, 0],
            "TLS: the server violates the TLS protocol",
        ),
        (
            b"SSH-2.0-OpenSSH_9.2\r\n",
            "TLS: the server does not speak TLS",
        ),
    ];
    for (response, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(response).await.unwrap();
            stream.read_to_end(&mut Vec::new()).await.ok();
        });
        let url = page(&format!("https://secure.test:{}/", address.port()));
        let failure = fetch_from(address, None).fetch(&url).await.unwrap_err();
        assert_eq!(failure.to_string(), expected);
    }
}

#[tokio::test]
async fn a_handshake_that_never_ends_fails_at_the_connect_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let fetch = HttpFetch::new(FetchOptions {
        limits: FetchLimits {
            connect_timeout: Duration::from_millis(50),
            ..FetchLimits::default()
        },
        ..options(address)
    })
    .unwrap();
    let url = page(&format!("https://secure.test:{}/", address.port()));
    let failure = fetch.fetch(&url).await.unwrap_err();
    assert_eq!(failure, FetchFailure::Connect(ErrorKind::TimedOut));
}

#[tokio::test]
async fn an_insecure_host_is_the_only_one_whose_certificate_is_not_checked() {
    let (address, _authority) =
        showing(|leaf| leaf.not_after = rcgen::date_time_ymd(2001, 2, 3)).await;
    let port = address.port();
    let cases = [
        (vec![], false),
        (vec!["secure.test".to_owned()], true),
        (vec!["SECURE.test.".to_owned()], true),
        (
            vec!["other.test".to_owned(), "ecure.test".to_owned()],
            false,
        ),
        (vec!["a.secure.test".to_owned(), "test".to_owned()], false),
        (
            vec!["other.test".to_owned(), "secure.test".to_owned()],
            true,
        ),
    ];
    for (insecure, expected) in cases {
        let fetch = HttpFetch::new(FetchOptions {
            insecure_hosts: insecure.iter().map(|host| host.parse().unwrap()).collect(),
            ..options(address)
        })
        .unwrap();
        let url = page(&format!("https://secure.test:{port}/"));
        assert_eq!(fetch.fetch(&url).await.is_ok(), expected, "{insecure:?}");
        let url = page(&format!("https://127.0.0.1:{port}/"));
        assert_eq!(
            fetch.fetch(&url).await.unwrap_err().kind(),
            FailureKind::Tls,
            "{insecure:?}"
        );
    }
}

#[test]
fn an_insecure_host_is_parsed_and_shown_as_in_urls() {
    let cases = [
        ("old.example.org", Some("old.example.org")),
        ("Old.Example.org.", Some("old.example.org")),
        ("bücher.example", Some("xn--bcher-kva.example")),
        ("a_b.example", Some("a_b.example")),
        ("10.1", Some("10.0.0.1")),
        ("[::1]", Some("[::1]")),
        ("[0:0::1]", Some("[::1]")),
        ("", None),
        // A certificate is for all ports.
        ("old.example.org:8443", None),
        ("a.test:80", None),
        ("[::1]:8443", None),
        (":443", None),
        ("https://a.test", None),
        ("a.test/path", None),
        ("user@a.test", None),
        ("*.a.test", None),
        ("::1", None),
    ];
    for (text, expected) in cases {
        let read = text.parse::<InsecureHost>().map(|host| host.to_string());
        assert_eq!(read.ok().as_deref(), expected, "{text}");
    }
}
