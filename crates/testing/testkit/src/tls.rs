//! The same sites over TLS, with HTTP/2 where the client wants it.
//!
//! hyper speaks HTTP/2, so that no test has an implementation of its own. The certificate authority
//! is made for each server; only clients that are given it trust it.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::vec;

use bytes::Bytes;
use futures_util::stream::{self, Stream};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::http::{HeaderName, HeaderValue, StatusCode};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

use crate::http::{End, Framing, Reply, Request, Site};
use crate::log::Hit;
use crate::play::{self, Step};
use crate::receive::MAX_BODY;
use crate::server::Shared;
use crate::server::{Server, Settings};

impl Server {
    /// Serves `site` over HTTPS (HTTP/2 or HTTP/1.1, as agreed by ALPN) on a free port of
    /// 127.0.0.1, in the runtime of the caller. Returned with it: the certificate authority that
    /// vouches for `hosts`, as PEM.
    ///
    /// # Panics
    /// Outside a runtime, without a free port, or if one of `hosts` is no host name.
    #[expect(clippy::unused_async, reason = "says that it needs a runtime")]
    pub async fn start_tls(site: Site, hosts: &[&str]) -> (Self, String) {
        let (acceptor, authority) = identity(hosts);
        let converse = move |stream, shared| converse(stream, shared, acceptor.clone());
        let server = Self::in_task("https", site, Settings::default(), converse);
        (server.expect("loopback has a free port"), authority)
    }

    /// [`Server::start_tls`] from a thread of its own, for callers without a runtime.
    ///
    /// # Panics
    /// Without a free port or a thread, or if one of `hosts` is no host name.
    #[must_use]
    pub fn spawn_thread_tls(site: Site, hosts: &[&str]) -> (Self, String) {
        let (acceptor, authority) = identity(hosts);
        let converse = move |stream, shared| converse(stream, shared, acceptor.clone());
        let server = Self::in_thread("https", site, Settings::default(), converse);
        (server.expect("loopback has a free port"), authority)
    }
}

/// The identity of a client that a server asks for, as PEM.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The authority that vouches for the server, too.
    pub authority: String,
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

impl Server {
    /// [`Server::spawn_thread_tls`] for clients that have the identity that is returned; others are
    /// refused.
    ///
    /// # Panics
    /// Without a free port or a thread, or if one of `hosts` is no host name.
    #[must_use]
    pub fn spawn_thread_tls_for_clients(site: Site, hosts: &[&str]) -> (Self, ClientIdentity) {
        let (acceptor, identity) = identity_for_clients(hosts);
        let converse = move |stream, shared| converse(stream, shared, acceptor.clone());
        let server = Self::in_thread("https", site, Settings::default(), converse);
        (server.expect("loopback has a free port"), identity)
    }
}

/// A certificate for `hosts`, ready to be shown, and the authority behind it as PEM.
fn identity(hosts: &[&str]) -> (TlsAcceptor, String) {
    let (acceptor, identity) = acceptor(hosts, false);
    (acceptor, identity.authority)
}

fn identity_for_clients(hosts: &[&str]) -> (TlsAcceptor, ClientIdentity) {
    acceptor(hosts, true)
}

fn acceptor(hosts: &[&str], asks_clients: bool) -> (TlsAcceptor, ClientIdentity) {
    let key = || KeyPair::generate().expect("the default algorithm has a generator");
    let names: Vec<String> = hosts.iter().map(|&host| host.into()).collect();

    let mut params = CertificateParams::new(Vec::new()).expect("no names, none of them wrong");
    params
        .distinguished_name
        .push(DnType::CommonName, "testkit, good for nothing else");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(params, key()).expect("the parameters are complete");

    let own_key = key();
    let params = CertificateParams::new(names).expect("the hosts are host names");
    let certificate = params
        .signed_by(&own_key, &authority)
        .expect("the authority may sign");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own_key.serialize_der()));

    let client_key = key();
    let client = CertificateParams::new(vec!["client.test".to_owned()])
        .and_then(|params| params.signed_by(&client_key, &authority))
        .expect("the authority may sign");
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the default versions");
    let config = if asks_clients {
        let mut roots = RootCertStore::empty();
        let root = authority.as_ref().der().clone();
        roots.add(root).expect("the authority is a certificate");
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .expect("there is a root");
        config.with_client_cert_verifier(verifier)
    } else {
        config.with_no_client_auth()
    };
    let mut config = config
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("the key belongs to the certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let identity = ClientIdentity {
        authority: authority.pem(),
        certificate: client.pem(),
        key: client_key.serialize_pem(),
    };
    (TlsAcceptor::from(Arc::new(config)), identity)
}

async fn converse(stream: TcpStream, shared: Arc<Shared>, acceptor: TlsAcceptor) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let connection = shared.next_connection();
    let stream = acceptor.accept(stream).await?;
    let over_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |asked| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(asked, shared, connection).await) }
    });
    let stream = TokioIo::new(stream);
    let served = if over_http2 {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder
            .auto_date_header(false)
            .serve_connection(stream, service)
            .await
    } else {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .auto_date_header(false)
            .serve_connection(stream, service)
            .await
    };
    served.map_err(io::Error::other)
}

async fn answer(
    asked: hyper::Request<Incoming>,
    shared: Arc<Shared>,
    connection: u64,
) -> hyper::Response<StreamBody<impl Stream<Item = io::Result<Frame<Bytes>>>>> {
    let at = shared.now();
    let (request, whole) = understand(asked).await;
    let mut reply = if whole {
        shared.answer(&request)
    } else {
        Reply::status(413)
    };
    let mut response = hyper::Response::new(());
    if let Err(fault) = compose(&reply, &mut response) {
        reply = Reply::text(fault).with_status(500);
        response = hyper::Response::new(());
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
    let steps = play::steps(reply.delivery.as_deref(), reply.body.len());
    let entry = Entry {
        shared,
        hit: Some(Hit {
            host: request.host.clone(),
            target: request.target.clone(),
            method: request.method.clone(),
            at,
            finished: at,
            status: reply.status,
            user_agent: request.user_agent().to_owned(),
            connection,
            complete: steps.is_empty(),
            request_head: request.head,
            head: Bytes::new(),
            framed: reply.body.clone(),
            body: reply.body.clone(),
        }),
    };
    if let Some(delivery) = reply.delivery.as_deref() {
        if let Some(delay) = delivery.delay {
            tokio::time::sleep(delay).await;
        }
        if let Some(gate) = &delivery.gate {
            gate.pass().await;
        }
    }
    let playing = Playing {
        steps: steps.into_iter(),
        body: reply.body,
        entry,
    };
    response.map(|()| StreamBody::new(Box::pin(stream::unfold(playing, Playing::next))))
}

/// The request as the plain server would have it, and whether its body was within the limit.
async fn understand(asked: hyper::Request<Incoming>) -> (Request, bool) {
    let (parts, body) = asked.into_parts();
    let from_field = parts
        .headers
        .get("host")
        .and_then(|host| host.to_str().ok());
    let authority = parts
        .uri
        .authority()
        .map(|authority| authority.as_str())
        .or(from_field)
        .unwrap_or("");
    let target = parts
        .uri
        .path_and_query()
        .map_or("/", |target| target.as_str());

    let mut head = format!("{} {target} {:?}\r\n", parts.method, parts.version).into_bytes();
    if from_field.is_none() {
        head.extend_from_slice(format!("host: {authority}\r\n").as_bytes());
    }
    for (name, value) in &parts.headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");

    let body = Limited::new(body, MAX_BODY)
        .collect()
        .await
        .map(|body| body.to_bytes());
    let whole = body.is_ok();
    let request = Request::new(
        parts.method.as_str(),
        target,
        authority,
        head.into(),
        body.unwrap_or_default(),
    );
    (request, whole)
}

/// Status and fields; an error says what cannot be said in this version of HTTP.
fn compose(reply: &Reply, response: &mut hyper::Response<()>) -> Result<(), &'static str> {
    if reply.framing == Framing::Raw {
        return Err("raw replies are for plain HTTP/1.1");
    }
    let status = StatusCode::from_u16(reply.status)
        .ok()
        .ok_or("no such status")?;
    *response.status_mut() = status;
    for (name, value) in &reply.headers {
        let name = HeaderName::from_bytes(name)
            .ok()
            .ok_or("no valid field name")?;
        let value = HeaderValue::from_bytes(value)
            .ok()
            .ok_or("no valid field value")?;
        response.headers_mut().append(name, value);
    }
    if reply.framing == Framing::Length && !response.headers().contains_key("content-length") {
        response
            .headers_mut()
            .insert("content-length", HeaderValue::from(reply.body.len()));
    }
    Ok(())
}

/// A body on its way out.
struct Playing {
    steps: vec::IntoIter<Step>,
    body: Bytes,
    entry: Entry,
}

impl Playing {
    async fn next(mut self) -> Option<(io::Result<Frame<Bytes>>, Self)> {
        while let Some(step) = self.steps.next() {
            match step {
                Step::Send(range) => {
                    // hyper need not ask again once it has as many bytes as were promised.
                    self.entry.is_complete(self.steps.len() == 0);
                    let piece = self.body.slice(range);
                    return Some((Ok(Frame::data(piece)), self));
                }
                Step::Wait(gate) => gate.pass().await,
                Step::Pause(pause) => tokio::time::sleep(pause).await,
                Step::End(End::Reset) => {
                    return Some((Err(io::ErrorKind::ConnectionReset.into()), self));
                }
                Step::End(End::Close) => return None,
            }
        }
        None
    }
}

/// The log's line about an answer, written when the answer has ended in whatever way.
struct Entry {
    shared: Arc<Shared>,
    hit: Option<Hit>,
}

impl Entry {
    fn is_complete(&mut self, complete: bool) {
        if let Some(hit) = &mut self.hit {
            hit.complete = complete;
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(hit) = self.hit.take() {
            let finished = self.shared.now();
            self.shared.record(|| Hit { finished, ..hit });
        }
    }
}
