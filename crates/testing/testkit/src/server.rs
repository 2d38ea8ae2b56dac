//! HTTP/1.1 on loopback: small, quick, and honest about what it saw.
//!
//! One server answers for every host name that resolves to it. Connections are kept alive and
//! requests may be pipelined; they are answered in order (RFC 9112 section 9.3). Times are tokio's,
//! so a test that runs the server inside its own runtime can pause them; a test without a runtime,
//! or one that drives another process, lets the server have a thread.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use crate::http::{End, Framing, Reply, Request, Site};
use crate::log::{Hit, Log};
use crate::play::{self, Step};
use crate::receive::read_request;

/// The address of a server, and the choice to keep a log.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The address to listen on; port 0 is any free one.
    pub address: SocketAddr,
    /// True if it keeps a [`Log`]. A benchmark does not: the log holds every body that was served.
    pub keep_log: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            keep_log: true,
        }
    }
}

/// A server at work. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    scheme: &'static str,
    address: SocketAddr,
    shared: Arc<Shared>,
    worker: Option<Worker>,
}

#[derive(Debug)]
enum Worker {
    Task(JoinHandle<io::Result<()>>),
    Thread {
        stop: oneshot::Sender<()>,
        thread: std::thread::JoinHandle<io::Result<()>>,
    },
}

impl Server {
    /// Serves `site` on a free port of 127.0.0.1, in the runtime of the caller.
    ///
    /// # Panics
    /// Outside a runtime, or without a free port.
    #[expect(clippy::unused_async, reason = "says that it needs a runtime")]
    pub async fn start(site: Site) -> Self {
        Self::start_with(site, Settings::default()).expect("loopback has a free port")
    }

    /// Serves `site` in the runtime of the caller.
    ///
    /// # Errors
    /// Where the address cannot be listened on.
    ///
    /// # Panics
    /// Outside a runtime.
    pub fn start_with(site: Site, settings: Settings) -> io::Result<Self> {
        Self::in_task("http", site, settings, converse)
    }

    /// Serves `site` on a free port of 127.0.0.1 from a thread of its own, for callers without a
    /// runtime.
    ///
    /// # Panics
    /// Without a free port or a thread.
    #[must_use]
    pub fn spawn_thread(site: Site) -> Self {
        Self::spawn_thread_with(site, Settings::default()).expect("loopback has a free port")
    }

    /// Serves `site` from a thread of its own, for callers without a runtime.
    ///
    /// # Errors
    /// Where the address cannot be listened on or there is no thread to be had.
    pub fn spawn_thread_with(site: Site, settings: Settings) -> io::Result<Self> {
        Self::in_thread("http", site, settings, converse)
    }

    pub(crate) fn in_task<C, F>(
        scheme: &'static str,
        site: Site,
        settings: Settings,
        converse: C,
    ) -> io::Result<Self>
    where
        C: Fn(TcpStream, Arc<Shared>) -> F + Send + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::listen(scheme, site, settings, |listener, shared| {
            Ok(Worker::Task(tokio::spawn(accept(
                listener, shared, converse,
            ))))
        })
    }

    pub(crate) fn in_thread<C, F>(
        scheme: &'static str,
        site: Site,
        settings: Settings,
        converse: C,
    ) -> io::Result<Self>
    where
        C: Fn(TcpStream, Arc<Shared>) -> F + Send + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::listen(scheme, site, settings, |listener, shared| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let (stop, stopped) = oneshot::channel();
            let serving = accept(listener, shared, converse);
            let thread = std::thread::Builder::new()
                .name("toy-server".into())
                .spawn(move || {
                    runtime.block_on(async {
                        tokio::select! {
                            served = serving => served,
                            _ = stopped => Ok(()),
                        }
                    })
                })?;
            Ok(Worker::Thread { stop, thread })
        })
    }

    /// Listens on the address, and starts the worker that serves the site there.
    fn listen(
        scheme: &'static str,
        site: Site,
        settings: Settings,
        start: impl FnOnce(TcpListener, Arc<Shared>) -> io::Result<Worker>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(site, settings.keep_log));
        let worker = start(listener, Arc::clone(&shared))?;
        Ok(Self {
            scheme,
            address,
            shared,
            worker: Some(worker),
        })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `http://host:port/path` (`https` with TLS); `path` begins with a slash.
    #[must_use]
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.port())
    }

    /// `host:port:address`, the argument that makes curl's `--resolve`, and the crawler's, find it
    /// by this name.
    #[must_use]
    pub fn resolve(&self, host: &str) -> String {
        format!("{host}:{}:{}", self.port(), self.address.ip())
    }

    /// Returns the requests and answers so far.
    #[must_use]
    pub fn log(&self) -> Log {
        self.shared.log()
    }

    /// The present on the clock of [`Hit::at`]: since the server's start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.shared.now()
    }

    /// Stops listening, breaks every connection off and returns what was seen.
    ///
    /// # Panics
    /// If the server could not go on accepting connections, or the site panicked on its thread.
    pub async fn stop(mut self) -> Log {
        let served = match self.worker.take() {
            None => Ok(()),
            Some(Worker::Task(task)) => {
                task.abort();
                task.await.unwrap_or(Ok(()))
            }
            Some(Worker::Thread { stop, thread }) => {
                drop(stop);
                thread.join().expect("the server's thread does not panic")
            }
        };
        served.expect("the server could go on accepting connections");
        self.shared.log()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self.worker.take() {
            None => {}
            Some(Worker::Task(task)) => task.abort(),
            Some(Worker::Thread { stop, thread }) => {
                drop(stop);
                // A panic was already reported by the thread, and panicking here would hide the
                // test's own.
                drop(thread.join());
            }
        }
    }
}

/// The state that all connections of a server share.
#[derive(Debug)]
pub(crate) struct Shared {
    site: Site,
    start: Instant,
    hits: Option<Mutex<Vec<Hit>>>,
    connections: AtomicU64,
}

impl Shared {
    pub(crate) fn new(site: Site, keep_log: bool) -> Self {
        let hits = keep_log.then(Mutex::default);
        Self {
            site,
            start: Instant::now(),
            hits,
            connections: AtomicU64::new(0),
        }
    }

    pub(crate) fn log(&self) -> Log {
        let hits = self
            .hits
            .as_ref()
            .map(|hits| hits.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Log::new(hits.unwrap_or_default())
    }

    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn answer(&self, request: &Request) -> Reply {
        let mut reply = self.site.answer(request);
        if request.method == "HEAD" && reply.framing != Framing::Raw {
            // The length stays that of the body which is not archived (RFC 9110 section 9.3.2).
            let length = reply.body.len().to_string();
            reply = reply
                .without_header("content-length")
                .header("Content-Length", length);
            reply.body = Bytes::new();
            reply.framing = Framing::Length;
        }
        reply
    }

    /// Writes down one answer; `make` is not called where no log is kept.
    pub(crate) fn record(&self, make: impl FnOnce() -> Hit) {
        if let Some(hits) = &self.hits {
            hits.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(make());
        }
    }
}

/// Dropping this future drops the connections with it.
async fn accept<C, F>(listener: TcpListener, shared: Arc<Shared>, converse: C) -> io::Result<()>
where
    C: Fn(TcpStream, Arc<Shared>) -> F,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        // A client that goes away is no failure of the server's: what its connection came to is
        // dropped, and the log says which answers were not complete.
        connections.spawn(converse(stream, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, request after request.
async fn converse(mut stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let connection = shared.next_connection();
    let mut buffer = BytesMut::with_capacity(4096);
    let mut number = 0;
    while let Some(asked) = read_request(&mut stream, &mut buffer).await? {
        let at = shared.now();
        let (mut request, keep_alive) = match asked {
            Ok(asked) => asked,
            Err(refusal) => {
                let reply = Reply::status(refusal).header("Connection", "close");
                send(
                    &mut stream,
                    &reply,
                    &play::head(&reply),
                    &play::framed(&reply),
                )
                .await?;
                return stream.shutdown().await;
            }
        };
        number += 1;
        request.number = number;
        let reply = shared.answer(&request);
        let (head, framed) = (play::head(&reply), play::framed(&reply));
        let sent = send(&mut stream, &reply, &head, &framed).await;
        shared.record(|| Hit {
            host: request.host.clone(),
            target: request.target.clone(),
            method: request.method.clone(),
            at,
            finished: shared.now(),
            status: reply.status,
            user_agent: request.user_agent().to_owned(),
            connection,
            complete: matches!(sent, Ok(None)),
            request_head: request.head.clone(),
            head,
            framed,
            body: reply.body.clone(),
        });
        match sent? {
            Some(End::Reset) => return stream.set_zero_linger(),
            Some(End::Close) => return stream.shutdown().await,
            None if keep_alive && !matches!(reply.framing, Framing::UntilClose | Framing::Raw) => {}
            None => return stream.shutdown().await,
        }
    }
    Ok(())
}

/// Sends an answer in its mode; returns `Some` if that ends the connection early.
async fn send(
    stream: &mut TcpStream,
    reply: &Reply,
    head: &Bytes,
    framed: &Bytes,
) -> io::Result<Option<End>> {
    let Some(delivery) = reply.delivery.as_deref() else {
        // Head and body in one system call: the quick way, for whatever is answered plainly.
        stream
            .write_all_buf(&mut head.clone().chain(framed.clone()))
            .await?;
        return Ok(None);
    };
    if let Some(delay) = delivery.delay {
        tokio::time::sleep(delay).await;
    }
    if let Some(gate) = &delivery.gate {
        gate.pass().await;
    }
    stream.write_all(head).await?;
    for step in play::steps(Some(delivery), framed.len()) {
        match step {
            Step::Send(range) => stream.write_all(&framed[range]).await?,
            Step::Wait(gate) => gate.pass().await,
            Step::Pause(pause) => tokio::time::sleep(pause).await,
            Step::End(end) => return Ok(Some(end)),
        }
    }
    Ok(None)
}
