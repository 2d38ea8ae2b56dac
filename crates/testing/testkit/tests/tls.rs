//! The same sites over TLS, asked by a client of hyper's.
#![cfg(feature = "tls")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use testkit::{Gate, Reply, Server, Site};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

async fn connect(
    server: &Server,
    authority: &str,
    alpn: &[u8],
    name: &'static str,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap())
        .unwrap();
    let provider = tokio_rustls::rustls::crypto::ring::default_provider();
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    let stream = TcpStream::connect(server.address()).await?;
    TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from(name).unwrap(), stream)
        .await
}

/// Status and body over the protocol that was agreed on; nothing where the answer broke off.
async fn get(stream: TlsStream<TcpStream>, url: &str) -> Option<(u16, Bytes)> {
    let over_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let stream = TokioIo::new(stream);
    let request = hyper::Request::get(url).header("user-agent", "sentence/1");
    let answered = if over_http2 {
        let (mut send, connection) = http2::handshake(TokioExecutor::new(), stream)
            .await
            .unwrap();
        tokio::spawn(connection);
        send.send_request(request.body(Empty::<Bytes>::new()).unwrap())
            .await
    } else {
        let (mut send, connection) = http1::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let request = request
            .header("host", "a.test")
            .header("connection", "close");
        send.send_request(request.body(Empty::<Bytes>::new()).unwrap())
            .await
    };
    let response = answered.ok()?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.ok()?;
    Some((status, body.to_bytes()))
}

fn site() -> Site {
    let echo = |request: &testkit::Request| format!("{}{}", request.host, request.target);
    Site::new(move |request| match request.path() {
        "/broken" => Reply::text("whole").break_after(2),
        "/cut" => Reply::text("whole").close_after(2),
        "/raw" => Reply::raw("nonsense"),
        "/empty" => Reply::text("").with_status(204),
        "/chunked" => Reply::text(echo(request)).chunked(3),
        _ => Reply::text(echo(request)),
    })
}

#[tokio::test]
async fn both_versions_of_http_say_the_same() {
    let (server, authority) = Server::start_tls(site(), &["a.test", "*.b.test"]).await;
    for alpn in [b"h2".as_slice(), b"http/1.1"] {
        for (target, expected) in [
            ("/x?y", Some((200, "a.test/x?y"))),
            ("/chunked", Some((200, "a.test/chunked"))),
            ("/empty", Some((204, ""))),
            ("/broken", None),
            ("/cut", None),
            ("/raw", Some((500, "raw replies are for plain HTTP/1.1"))),
        ] {
            let stream = connect(&server, &authority, alpn, "a.test").await.unwrap();
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(alpn));
            let url = if alpn == b"h2" {
                server.url("a.test", target)
            } else {
                target.to_owned()
            };
            assert_eq!(
                get(stream, &url).await,
                expected.map(|(status, body)| (status, Bytes::from(body))),
                "{target}"
            );
        }
    }
    assert!(server.url("a.test", "/").starts_with("https://a.test:"));
    let log = server.stop().await;
    assert_eq!(log.len(), 12);
    for hit in log.of("a.test") {
        assert_eq!(
            hit.complete,
            !matches!(hit.target.as_str(), "/broken" | "/cut"),
            "{hit:?}"
        );
        assert_eq!(hit.user_agent, "sentence/1");
        assert!(hit.request_head.ends_with(b"\r\n\r\n"));
    }
}

#[tokio::test]
async fn other_hosts_are_not_vouched_for() {
    let (server, authority) = Server::start_tls(site(), &["a.test", "*.b.test"]).await;
    for (host, accepted) in [
        ("a.test", true),
        ("any.b.test", true),
        ("b.test", false),
        ("c.test", false),
    ] {
        assert_eq!(
            connect(&server, &authority, b"h2", host).await.is_ok(),
            accepted,
            "{host}"
        );
    }
    let (_, stranger) = Server::start_tls(site(), &["a.test"]).await;
    assert!(connect(&server, &stranger, b"h2", "a.test").await.is_err());
}

#[tokio::test]
async fn a_gate_holds_an_answer_over_http2_too() {
    let gate = Gate::new();
    let held = gate.clone();
    let site = Site::new(move |_| Reply::text("whole").hold(&held));
    let (server, authority) = Server::spawn_thread_tls(site, &["a.test"]);
    let stream = connect(&server, &authority, b"h2", "a.test").await.unwrap();
    let url = server.url("a.test", "/");
    let opening = async {
        gate.arrivals(1).await;
        assert!(server.log().is_empty());
        gate.open();
    };
    let (answer, ()) = tokio::join!(get(stream, &url), opening);
    assert_eq!(answer, Some((200, "whole".into())));
}
