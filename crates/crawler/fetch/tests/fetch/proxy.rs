//! Requests through a proxy: what it gets, what it learns, how it can misbehave, and the guard.
//!
//! The proxies of these tests connect to a server of the test whatever they are asked for, so that
//! public addresses can be requested without leaving this machine. The guard is on throughout; the
//! proxy's own address is a private one.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fetch::{Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch, NameService};
use requests::{FailureKind, ProxyUrl, ProxyUrlError};
use testkit::Proxy;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use web::{Clock, Timestamp};

use crate::server::{Server, page};
use crate::tls::acceptor;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const KINDS: [&str; 3] = ["http", "socks5", "socks5h"];

fn names(addresses: &[&str]) -> NameService {
    let addresses: Vec<IpAddr> = addresses
        .iter()
        .map(|text| text.parse().expect("an address"))
        .collect();
    NameService::new(move |_name| {
        let addresses = addresses.clone();
        async move { Ok(addresses) }
    })
}

fn public() -> NameService {
    names(&["93.184.216.34"])
}

fn options(proxy: &str, names: NameService) -> FetchOptions {
    FetchOptions {
        names,
        proxy: Some(proxy.parse().expect("a proxy")),
        ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
    }
}

fn through(kind: &str, address: SocketAddr, names: NameService) -> HttpFetch {
    HttpFetch::new(options(&format!("{kind}://{address}"), names)).expect("these options work")
}

/// An https server that answers every request on every connection.
async fn secure_server() -> (SocketAddr, tempfile::NamedTempFile) {
    let (acceptor, authority) = acceptor("http/1.1");
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
                    stream
                        .write_all(OK.as_bytes())
                        .await
                        .expect("the client listens");
                    stream.flush().await.expect("the client listens");
                }
            });
        }
    });
    (address, authority)
}

#[tokio::test]
async fn http_pages_are_requested_through_every_kind_of_proxy() {
    let server = Server::answering(OK).await;
    let expected = [
        "GET http://a.test/x?y",
        "SOCKS 93.184.216.34:80",
        "SOCKS a.test:80",
    ];
    for (kind, expected) in KINDS.into_iter().zip(expected) {
        let proxy = Proxy::before(server.address, None);
        let fetch = through(kind, proxy.address(), public());
        let exchange = fetch.fetch(&page("http://a.test/x?y")).await.unwrap();
        assert_eq!(
            (exchange.status, &exchange.body.held().unwrap()[..]),
            (200, &b"hello"[..]),
            "{kind}"
        );
        assert_eq!(exchange.address, None, "who answered is not known: {kind}");
        assert_eq!(proxy.asked(), [expected]);
        let head = String::from_utf8(exchange.request_head).unwrap();
        assert!(
            head.starts_with("GET /x?y HTTP/1.1\r\nhost: a.test\r\nuser-agent: crawler\r\n"),
            "{head}"
        );
    }
    for head in server.heads() {
        assert!(
            head.starts_with("GET /x?y HTTP/1.1\r\nhost: a.test\r\n"),
            "{head}"
        );
    }
}

#[tokio::test]
async fn https_pages_are_tunnelled_to_the_address_and_checked_against_the_name() {
    let (server, authority) = secure_server().await;
    let expected = [
        "CONNECT secure.test:443",
        "SOCKS 93.184.216.34:443",
        "SOCKS secure.test:443",
    ];
    for (kind, expected) in KINDS.into_iter().zip(expected) {
        let proxy = Proxy::before(server, None);
        let fetch = HttpFetch::new(FetchOptions {
            ca_certificates: vec![authority.path().to_owned()],
            ..options(&format!("{kind}://{}", proxy.address()), public())
        })
        .unwrap();
        let exchange = fetch.fetch(&page("https://secure.test/")).await.unwrap();
        assert_eq!((exchange.status, exchange.address), (200, None), "{kind}");
        let failure = fetch.fetch(&page("https://other.test/")).await.unwrap_err();
        assert_eq!(
            failure.to_string(),
            "TLS: the certificate is for another name",
            "{kind}"
        );
        assert_eq!(proxy.asked()[0], expected);
    }
}

#[tokio::test]
async fn a_proxy_that_is_reached_over_tls_is_checked_like_a_server() {
    let server = Server::answering(OK).await;
    let (acceptor, _authority) = acceptor("http/1.1");
    let inner = Proxy::before(server.address, None);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let behind = inner.address();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut inner = TcpStream::connect(behind).await.unwrap();
            tokio::io::copy_bidirectional(&mut stream, &mut inner)
                .await
                .ok();
        }
    });
    let url = page("http://a.test/");
    let checked = through("https", address, public());
    let failure = checked.fetch(&url).await.unwrap_err();
    let expected = "the proxy: TLS: the certificate's issuer is not trusted";
    assert_eq!(failure.to_string(), expected);
    assert!(inner.asked().is_empty());

    let unchecked = HttpFetch::new(FetchOptions {
        insecure_hosts: vec![address.ip().to_string().parse().unwrap()],
        ..options(&format!("https://{address}"), public())
    })
    .unwrap();
    assert_eq!(unchecked.fetch(&url).await.unwrap().status, 200);
    assert_eq!(inner.asked(), ["GET http://a.test/"]);
}

#[tokio::test]
async fn an_ipv6_address_is_requested_through_a_proxy_as_such() {
    let server = Server::answering(OK).await;
    for (kind, expected) in [
        ("http", "GET http://[2606:2800::1]:8080/"),
        ("socks5", "SOCKS [2606:2800::1]:8080"),
        ("socks5h", "SOCKS [2606:2800::1]:8080"),
    ] {
        let proxy = Proxy::before(server.address, None);
        let fetch = through(kind, proxy.address(), public());
        let exchange = fetch
            .fetch(&page("http://[2606:2800:0::1]:8080/"))
            .await
            .unwrap();
        assert_eq!(exchange.status, 200, "{kind}");
        // No proxy is asked for such an address: no request is
        // made.
        let secure = fetch.fetch(&page("https://[2606:2800:0::1]:8443/")).await;
        assert_eq!(secure.unwrap_err(), FetchFailure::Unaskable, "{kind}");
        assert_eq!(proxy.asked(), [expected]);
    }
}

#[tokio::test]
async fn a_proxy_is_not_asked_for_private_addresses() {
    let server = Server::answering(OK).await;
    let literals = [
        "127.0.0.1",
        "10.0.0.1",
        "0x7f.1",
        "[::1]",
        "[::ffff:169.254.169.254]",
        "localhost",
        "a.localhost",
    ];
    for kind in KINDS {
        let proxy = Proxy::before(server.address, None);
        let fetch = through(kind, proxy.address(), names(&["127.0.0.1", "10.0.0.1"]));
        let looked_up = (kind != "socks5h").then_some("private.test");
        for host in literals.into_iter().chain(looked_up) {
            for scheme in ["http", "https"] {
                let url = page(&format!("{scheme}://{host}/"));
                let failure = fetch.fetch(&url).await.unwrap_err();
                assert_eq!(
                    failure.kind(),
                    FailureKind::PrivateAddress,
                    "{kind} {url} {failure:?}"
                );
            }
        }
        assert_eq!(proxy.asked(), [""; 0], "{kind}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_that_flips_is_requested_at_its_public_address_only() {
    let server = Server::answering(OK).await;
    let proxy = Proxy::before(server.address, None);
    let turn = AtomicUsize::new(0);
    let flipping = NameService::new(move |_name| {
        let turn = turn.fetch_add(1, Ordering::SeqCst);
        let response = [[10, 0, 0, 1], [93, 184, 216, 34]][turn % 2];
        async move { Ok(vec![response.into()]) }
    });
    let fetch = HttpFetch::new(FetchOptions {
        limits: FetchLimits {
            names_kept: Duration::ZERO,
            ..FetchLimits::default()
        },
        connections_per_host: 0,
        ..options(&format!("socks5://{}", proxy.address()), flipping)
    })
    .unwrap();
    let mut answered = 0;
    for _ in 0..400 {
        answered += usize::from(fetch.fetch(&page("http://rebinding.test/")).await.is_ok());
    }
    assert_eq!(answered, 200);
    assert_eq!(proxy.asked(), ["SOCKS 93.184.216.34:80"; 200]);
}

/// The user may give the proxy any address; that does not allow pages there.
#[tokio::test]
async fn the_proxys_address_may_be_private_but_pages_there_are_refused() {
    let server = Server::answering(OK).await;
    for kind in KINDS {
        let proxy = Proxy::before(server.address, None);
        let names = NameService::new(|name| async move {
            Ok(vec![match name.as_str() {
                "proxy.test" => IpAddr::from([127, 0, 0, 1]),
                _ => IpAddr::from([93, 184, 216, 34]),
            }])
        });
        let port = proxy.address().port();
        let fetch = HttpFetch::new(options(&format!("{kind}://proxy.test:{port}"), names)).unwrap();
        assert_eq!(
            fetch.fetch(&page("http://a.test/")).await.unwrap().status,
            200,
            "{kind}"
        );
        assert_eq!(proxy.asked().len(), 1);
        if kind == "socks5h" {
            continue;
        }
        for url in [
            format!("http://proxy.test:{port}/"),
            "https://proxy.test/".to_owned(),
        ] {
            let failure = fetch.fetch(&page(&url)).await.unwrap_err();
            assert_eq!(failure.kind(), FailureKind::PrivateAddress, "{kind} {url}");
        }
        assert_eq!(proxy.asked().len(), 1, "{kind}");
    }
}

#[tokio::test]
async fn a_proxy_whose_name_does_not_resolve_is_a_failure_of_the_proxy() {
    for kind in KINDS {
        let names = NameService::new(|name| async move {
            match name.as_str() {
                "proxy.test" => Ok(Vec::new()),
                _ => Ok(vec![IpAddr::from([93, 184, 216, 34])]),
            }
        });
        let fetch = HttpFetch::new(options(&format!("{kind}://proxy.test"), names)).unwrap();
        for url in ["http://a.test/", "https://a.test/"] {
            let failure = fetch.fetch(&page(url)).await.unwrap_err();
            assert_eq!(failure.kind(), FailureKind::Proxy, "{kind} {url} {failure}");
        }
    }
}

#[tokio::test]
async fn user_and_password_are_sent_to_the_proxy_only() {
    let server = Server::answering(OK).await;
    for kind in KINDS {
        let proxy = Proxy::before(server.address, Some("user:se cret"));
        let address = proxy.address();
        let right = format!("{kind}://user:se%20cret@{address}");
        let fetch = HttpFetch::new(options(&right, public())).unwrap();
        let exchange = fetch.fetch(&page("http://a.test/")).await.unwrap();
        assert_eq!(exchange.status, 200);
        let shown = format!(
            "{fetch:?}{:?}{}",
            options(&right, public()),
            right.parse::<ProxyUrl>().unwrap()
        );
        let archived = String::from_utf8(exchange.request_head).unwrap();
        for (place, text) in [
            ("shown", shown),
            ("archived", archived),
            ("sent", server.heads().concat()),
        ] {
            // A failure that is not the proxy's does not name it.
            let text = text.to_lowercase().replace("secrets", "");
            assert!(
                !text.contains("cret") && !text.contains("user:") && !text.contains("proxy-auth"),
                "{kind} {place}: {text}"
            );
        }
        for credentials in ["", "user:wrong@", "other:se%20cret@"] {
            let fetch = HttpFetch::new(options(
                &format!("{kind}://{credentials}{address}"),
                public(),
            ))
            .unwrap();
            for url in ["http://a.test/", "https://a.test/"] {
                let failure = fetch.fetch(&page(url)).await.unwrap_err();
                assert_eq!(
                    failure.kind(),
                    FailureKind::Proxy,
                    "{kind} {credentials} {url}"
                );
            }
        }
        assert_eq!(proxy.asked().len(), 1, "{kind}");
    }
}

/// A proxy that answers every request with this and closes the connection.
async fn saying(response: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let response: Arc<[u8]> = response.into();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = Arc::clone(&response);
            tokio::spawn(async move {
                stream.write_all(&response).await.ok();
                stream.shutdown().await.ok();
                // The client's bytes are read, so that it is not reset before it has read ours.
                stream.read_to_end(&mut Vec::new()).await.ok();
            });
        }
    });
    address
}

#[tokio::test]
async fn the_failure_of_a_proxy_names_its_cause() {
    let long = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 9000]].concat();
    let many = [
        b"HTTP/1.1 200 OK\r\n".to_vec(),
        b"X: y\r\n".repeat(101),
        b"\r\n".to_vec(),
    ]
    .concat();
    let socks = |code| vec![5, 0, 5, code, 0, 1, 0, 0, 0, 0, 0, 0];
    let http = |text: &str| text.as_bytes().to_vec();
    let cases = [
        (
            "http",
            http("HTTP/1.1 403 Forbidden\r\n\r\n"),
            "it opens no tunnel",
        ),
        (
            "http",
            http("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
            "it opens no tunnel",
        ),
        (
            "http",
            http("HTTP/1.1 407 No\r\n\r\n"),
            "it requires a user and a password",
        ),
        (
            "http",
            http("220 smtp.test ESMTP\r\n\r\n"),
            "it opens no tunnel",
        ),
        ("http", long, "its response is too long"),
        ("http", many, "it opens no tunnel"),
        (
            "http",
            http("HTTP/1.1 200"),
            "the connection was closed early",
        ),
        ("http", Vec::new(), "the connection was closed early"),
        ("socks5", Vec::new(), "the connection was closed early"),
        (
            "socks5",
            http("HTTP/1.1 400 Bad Request\r\n\r\n"),
            "it does not speak SOCKS 5",
        ),
        ("socks5", vec![5, 0xff], "it wants a password, or none"),
        ("socks5", socks(1), "general server failure"),
        ("socks5", socks(2), "connection not allowed"),
        ("socks5", socks(4), "host unreachable"),
        ("socks5h", socks(5), "connection refused"),
        ("socks5h", socks(0xee), "it does not speak SOCKS 5"),
        (
            "socks5h",
            vec![5, 0, 5, 0, 0, 3, 255, 1],
            "the connection was closed early",
        ),
    ];
    for (kind, response, expected) in cases {
        let fetch = through(kind, saying(response).await, public());
        let failure = fetch.fetch(&page("https://a.test/")).await.unwrap_err();
        assert_eq!(
            failure.to_string(),
            format!("the proxy: {expected}"),
            "{kind}"
        );
    }

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let unused = listener.local_addr().unwrap();
    drop(listener);
    for kind in KINDS {
        let failure = through(kind, unused, public())
            .fetch(&page("http://a.test/"))
            .await
            .unwrap_err();
        assert_eq!(failure.kind(), FailureKind::Proxy);
        assert!(
            failure.to_string().starts_with("the proxy: cannot connect"),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn a_silent_proxy_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for kind in KINDS {
        let fetch = HttpFetch::new(FetchOptions {
            limits: FetchLimits {
                connect_timeout: Duration::from_millis(50),
                ..FetchLimits::default()
            },
            ..options(
                &format!("{kind}://{}", listener.local_addr().unwrap()),
                public(),
            )
        })
        .unwrap();
        let failure = fetch.fetch(&page("https://a.test/")).await.unwrap_err();
        assert_eq!(
            failure,
            FetchFailure::Connect(std::io::ErrorKind::TimedOut),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn the_address_of_a_request_is_known_unless_the_proxy_resolves_it() {
    let nowhere = "127.0.0.1:9".parse().unwrap();
    for (kind, expected) in [("http", true), ("socks5", true), ("socks5h", false)] {
        let failed = through(kind, nowhere, public())
            .address(&page("http://a.test/"))
            .await;
        assert_eq!(failed.is_some(), expected, "{kind}");
    }
}

#[test]
fn a_proxy_is_read_and_shown_without_its_secrets() {
    let cases = [
        ("http://127.0.0.1:3128", Ok("http://127.0.0.1:3128")),
        ("HTTP://Proxy.Example", Ok("http://proxy.example:80")),
        ("https://proxy.example/", Ok("https://proxy.example:443")),
        ("socks5://u:p@[::1]:1080", Ok("socks5://[::1]:1080")),
        ("socks5h://u%40x@tor.test", Ok("socks5h://tor.test:1080")),
        (
            "http://u:p@proxy.example:8080",
            Ok("http://proxy.example:8080"),
        ),
        ("127.0.0.1:3128", Err(ProxyUrlError::Form)),
        ("proxy.example", Err(ProxyUrlError::Form)),
        ("", Err(ProxyUrlError::Form)),
        ("socks5://", Err(ProxyUrlError::Form)),
        (
            "socks4://127.0.0.1",
            Err(ProxyUrlError::Kind("socks4".into())),
        ),
        ("ftp://127.0.0.1", Err(ProxyUrlError::Kind("ftp".into()))),
        ("http://127.0.0.1/path", Err(ProxyUrlError::Path)),
        ("http://127.0.0.1?q", Err(ProxyUrlError::Path)),
    ];
    for (text, expected) in cases {
        let read = text.parse::<ProxyUrl>().map(|proxy| proxy.to_string());
        assert_eq!(read, expected.map(str::to_owned), "{text}");
    }
    let long = format!("socks5://{}@127.0.0.1", "u".repeat(256));
    assert_eq!(long.parse::<ProxyUrl>(), Err(ProxyUrlError::Credentials));
}
