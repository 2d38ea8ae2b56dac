//! Signed requests (RFC 9421) over HTTP/2 and through tunnels: the signature is about the authority
//! that the server sees.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use fetch::{Fetch, FetchOptions, HttpFetch, NameService, RequestSigner, SignatureAgent};
use fetch::{SigningKey, new_pem};
use http::{HeaderMap, Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use ring::signature::{ED25519, UnparsedPublicKey};
use tempfile::NamedTempFile;
use testkit::Proxy;
use tokio::net::TcpListener;
use web::{Clock, Protocol, Timestamp};

use crate::server::page;
use crate::tls::acceptor;

/// Requests as a server got them: the authority and the fields.
type Requests = Arc<Mutex<Vec<(String, HeaderMap)>>>;

/// Serves https with this protocol, and keeps the requests.
async fn serve(protocol: &str) -> (SocketAddr, NamedTempFile, Requests) {
    let (acceptor, authority) = acceptor(protocol);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let requests = Requests::default();
    let (kept, is_http_2) = (Arc::clone(&requests), protocol == "h2");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else {
                continue;
            };
            let kept = Arc::clone(&kept);
            let service = service_fn(move |request: Request<Incoming>| {
                let host = request.headers().get("host");
                let host = host.map(|host| host.to_str().expect("ASCII").to_owned());
                let authority = request.uri().authority().map(ToString::to_string);
                let authority = authority.or(host).expect("an authority");
                let mut kept = kept.lock().expect("no panic");
                kept.push((authority, request.headers().clone()));
                async {
                    Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"hello"))))
                }
            });
            let stream = TokioIo::new(stream);
            if is_http_2 {
                let builder = http2::Builder::new(TokioExecutor::new());
                builder.serve_connection(stream, service).await.ok();
            } else {
                let builder = http1::Builder::new();
                builder.serve_connection(stream, service).await.ok();
            }
        }
    });
    (address, authority, requests)
}

/// Returns a new signer, and the public key of its signatures.
fn signer() -> (Arc<RequestSigner>, Vec<u8>) {
    let key = SigningKey::from_pem(new_pem(&[7; 32]).as_bytes()).expect("a key");
    let jwk = key.public_jwk();
    let (_, public) = jwk.split_once("\"x\":\"").expect("the public key");
    let (public, _) = public.split_once('"').expect("its end");
    let public = BASE64URL_NOPAD.decode(public.as_bytes()).expect("base 64");
    let agent = SignatureAgent::parse("https://bot.test").expect("a URL");
    (Arc::new(RequestSigner::new(key, agent, 1)), public)
}

/// Asserts that a request has a signature for its authority.
fn assert_signed((authority, fields): &(String, HeaderMap), public: &[u8]) {
    let field = |name: &str| {
        let value = fields.get(name).unwrap_or_else(|| panic!("no {name}"));
        let value = value.to_str().expect("ASCII");
        value.strip_prefix("sig1=").expect("the label").to_owned()
    };
    let (agent, input) = (field("signature-agent"), field("signature-input"));
    let base = format!(
        "\"@authority\": {authority}\n\"signature-agent\";key=\"sig1\": {agent}\n\
         \"@signature-params\": {input}"
    );
    let signature = field("signature");
    let signature = BASE64.decode(signature.trim_matches(':').as_bytes());
    let key = UnparsedPublicKey::new(&ED25519, public);
    let verified = key.verify(base.as_bytes(), &signature.expect("base 64"));
    assert!(verified.is_ok(), "not a signature of {base}");
}

#[tokio::test]
async fn a_request_over_http_2_and_through_a_tunnel_is_signed_for_its_server() {
    for (offered, protocol) in [("h2", Protocol::Http2), ("http/1.1", Protocol::Http11)] {
        for through in [None, Some("http"), Some("socks5h")] {
            let (address, authority, requests) = serve(offered).await;
            let (signer, public) = signer();
            let proxy = Proxy::before(address, None);
            let proxy = through.map(|kind| format!("{kind}://{}", proxy.address()));
            let port = address.port();
            let fetch = HttpFetch::new(FetchOptions {
                allow_private: true,
                ca_certificates: vec![authority.path().to_owned()],
                names: NameService::new(|_name| async { Ok(vec![[127, 0, 0, 1].into()]) }),
                proxy: proxy.map(|proxy| proxy.parse().expect("a proxy")),
                signer: Some(signer),
                ..FetchOptions::new("crawler", Clock::fixed(Timestamp::default()))
            });
            let fetch = fetch.expect("these options work");
            let url = page(&format!("https://secure.test:{port}/page"));
            let exchange = fetch.fetch(&url).await.expect("the server answers");
            assert_eq!(exchange.protocol, protocol);
            let requests = requests.lock().expect("no panic");
            assert_eq!(requests.len(), 1);
            assert_eq!(requests[0].0, format!("secure.test:{port}"));
            assert_signed(&requests[0], &public);
        }
    }
}
