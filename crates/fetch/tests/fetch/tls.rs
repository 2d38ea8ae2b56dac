//! https, with an authority made for the occasion.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use fetch::{FailureKind, Fetch, FetchOptions, HttpFetch};
use http_body_util::Full;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use web::{Clock, Exchange, Protocol, Timestamp, Truncation};

use crate::server::page;

/// A certificate for `secure.test` and the file with the authority that signed it.
fn acceptor(protocol: &str) -> (TlsAcceptor, NamedTempFile) {
    let mut authority = CertificateParams::new(Vec::new()).expect("no names");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("ring makes keys");
    let authority = CertifiedIssuer::self_signed(authority, key).expect("it signs itself");

    let key = KeyPair::generate().expect("ring makes keys");
    let leaf = CertificateParams::new(vec!["secure.test".to_owned()]).expect("a name");
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
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];

    let file = NamedTempFile::new().expect("room for a certificate");
    std::fs::write(file.path(), authority.pem()).expect("room for a certificate");
    (TlsAcceptor::from(Arc::new(config)), file)
}

fn fetch_from(address: SocketAddr, authority: Option<&NamedTempFile>) -> HttpFetch {
    HttpFetch::new(FetchOptions {
        allow_private: true,
        resolve: vec![
            format!("secure.test:{}:127.0.0.1", address.port())
                .parse()
                .expect("a rule"),
        ],
        ca_certificates: authority.map(|file| file.path().to_owned()).into_iter().collect(),
        ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
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
            noted
                .lock()
                .unwrap()
                .push((request.uri().to_string(), request.headers().contains_key("host")));
            async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"hello, frames")))) }
        });
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service)
            .await
    });

    let exchange = ask(address, &authority).await;

    assert_eq!(exchange.protocol, Protocol::Http2);
    assert_eq!(&exchange.body[..], b"hello, frames");
    assert_eq!(exchange.address, Some(address));
    let port = address.port();
    assert_eq!(
        *asked.lock().unwrap(),
        [(format!("https://secure.test:{port}/page"), false)]
    );
    let head = String::from_utf8(exchange.request_head).unwrap();
    assert!(
        head.starts_with(&format!("GET /page HTTP/1.1\r\nhost: secure.test:{port}\r\n")),
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
        (exchange.protocol, &exchange.body[..]),
        (Protocol::Http11, &b"ok"[..])
    );
    let (head, _stream) = server.await.unwrap();
    assert_eq!(
        String::from_utf8(exchange.request_head).unwrap(),
        String::from_utf8(head).unwrap()
    );
}

/// Old servers end such a body by hanging up, without TLS's farewell: whether it is whole, nobody can tell.
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

    assert_eq!(&exchange.body[..], b"old page");
    assert_eq!(exchange.truncated, Some(Truncation::Disconnect));
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

    assert_eq!(failure.kind(), FailureKind::Tls, "{failure:?}");
}

#[tokio::test]
async fn plain_http_on_the_tls_port_is_no_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await
    });

    let url = page(&format!("https://secure.test:{}/", plain.port()));
    let failure = fetch_from(plain, None).fetch(&url).await.unwrap_err();

    assert_eq!(failure.kind(), FailureKind::Tls, "{failure:?}");
}
