//! Plays the scripts.
//!
//! One thread, whatever the number of connections. What it holds of each is a buffer of at most
//! 256 KiB: bodies are made while they are sent. It counts the connections that are open,
//! so that a test sees that a crawler let go of them.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::BytesMut;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::connection::{Shared, converse, play};
use super::mode::{Mode, OwnPort, Place};
#[cfg(feature = "tls")]
use super::tls;
use crate::http::Request;

/// The modes at work, on loopback, in a thread of their own. They stop when this is dropped.
#[derive(Debug)]
pub struct HostileServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// For each mode the port that it is served on, where that is not the shared one.
    own_ports: HashMap<String, u16>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    /// Sockets that are to be there, and to do nothing.
    _idle: Idle,
}

#[derive(Debug, Default)]
struct Idle {
    sockets: Vec<TcpSocket>,
    listeners: Vec<tokio::net::TcpListener>,
    fillers: Vec<std::net::TcpStream>,
}

impl HostileServer {
    /// Serves these modes on free ports of 127.0.0.1.
    ///
    /// # Panics
    /// Without a free port or a thread.
    #[must_use]
    pub fn spawn(modes: Vec<Mode>) -> Self {
        Self::spawn_on(modes, 0).expect("loopback has free ports")
    }

    /// Serves these modes on 127.0.0.1; those that share a port on this one, where 0 is any free
    /// one.
    ///
    /// # Errors
    /// Where it cannot listen there, or there is no thread to be had.
    pub fn spawn_on(modes: Vec<Mode>, port: u16) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (listener, address) = listen(port)?;
        let mut idle = Idle::default();
        let mut own_ports = HashMap::new();
        let mut eager = Vec::new();
        for (number, mode) in modes.iter().enumerate() {
            let Place::Own(kind) = mode.place else {
                continue;
            };
            let own = {
                let _inside = runtime.enter();
                match kind {
                    OwnPort::Eager => {
                        let (listener, own) = listen(0)?;
                        eager.push((listener, number));
                        own
                    }
                    OwnPort::Refused => idle.refuse()?,
                    OwnPort::Unaccepted => idle.listen(128)?,
                    OwnPort::Full => idle.fill()?,
                }
            };
            own_ports.insert(mode.name.to_string(), own.port());
        }
        let shared = Arc::new(Shared::new(modes, address.port()));
        let (stop, stopped) = oneshot::channel();
        let serving = serve(listener, eager, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("hostile-server".into())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = serving => {}
                        _ = stopped => {}
                    }
                });
            })?;
        Ok(Self {
            shared,
            address,
            own_ports,
            stop: Some(stop),
            thread: Some(thread),
            _idle: idle,
        })
    }

    /// Returns the modes that it serves.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        &self.shared.modes
    }

    /// The port that a mode is served on.
    #[must_use]
    pub fn port(&self, mode: &Mode) -> u16 {
        let own = self.own_ports.get(&*mode.name);
        own.copied().unwrap_or(self.address.port())
    }

    /// The front page of a mode.
    #[must_use]
    pub fn url(&self, mode: &Mode) -> String {
        format!("{}://{}:{}/", mode.scheme(), mode.host(), self.port(mode))
    }

    /// `host:port:address`, the argument that makes curl's `--resolve`, and the crawler's, find a
    /// mode by its name.
    #[must_use]
    pub fn resolve(&self, mode: &Mode) -> String {
        format!("{}:{}:{}", mode.host(), self.port(mode), self.address.ip())
    }

    /// The certificate authority, as PEM, that vouches for those modes over TLS whose certificates
    /// are good.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.shared.identities.authority
    }

    /// Returns the number of requests to a mode, robots.txt not counted.
    #[must_use]
    pub fn asked(&self, mode: &Mode) -> u64 {
        self.shared.asked().get(&*mode.name).copied().unwrap_or(0)
    }

    /// The connections that are open now.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        *self.shared.open.borrow()
    }

    /// Opens and closes a connection, so that every watcher sees a change.
    ///
    /// # Panics
    /// If the server does not listen any more.
    pub fn knock(&self) {
        drop(std::net::TcpStream::connect(self.address).expect("it listens until it is dropped"));
    }

    /// Tells `look` how many connections are open, now and whenever one comes or goes, until it has
    /// seen enough: a way to watch a process that asks.
    ///
    /// # Panics
    /// Inside a runtime, where blocking would hold up the others.
    pub fn at_every_change(&self, mut look: impl FnMut(usize) -> ControlFlow<()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime without drivers needs nothing from the system");
        let mut open = self.shared.open.subscribe();
        loop {
            let now = *open.borrow_and_update();
            if look(now).is_break() {
                return;
            }
            let changed = runtime.block_on(open.changed());
            changed.expect("the sender is ours, and alive");
        }
    }

    /// Waits until no connection is open: until every peer has left.
    ///
    /// # Panics
    /// Inside a runtime, where blocking would hold up the others.
    pub fn wait_until_all_left(&self) {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing from the system")
            .block_on(async {
                let mut open = self.shared.open.subscribe();
                let left = open.wait_for(|open| *open == 0).await;
                left.expect("the sender is ours, and alive");
            });
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic was already reported by the thread, and panicking here would hide the test's
            // own.
            drop(thread.join());
        }
    }
}

impl Idle {
    /// Returns a port that is taken, and on which nothing listens.
    fn refuse(&mut self) -> io::Result<SocketAddr> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = socket.local_addr()?;
        self.sockets.push(socket);
        Ok(address)
    }

    /// A port whose queue is never looked at.
    fn listen(&mut self, queue: u32) -> io::Result<SocketAddr> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let listener = socket.listen(queue)?;
        let address = listener.local_addr()?;
        self.listeners.push(listener);
        Ok(address)
    }

    /// A port whose queue is full: Linux holds one connection more than is asked for.
    fn fill(&mut self) -> io::Result<SocketAddr> {
        let address = self.listen(1)?;
        for _ in 0..2 {
            self.fillers.push(std::net::TcpStream::connect(address)?);
        }
        Ok(address)
    }
}

/// Counts a connection for as long as it lives.
struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|open| *open += 1);
        Self(count)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

fn listen(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::LOCALHOST), port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Dropping this future drops the connections with it.
async fn serve(shared_port: TcpListener, eager: Vec<(TcpListener, usize)>, shared: Arc<Shared>) {
    let mut ports = JoinSet::new();
    ports.spawn(accept(shared_port, None, Arc::clone(&shared)));
    for (listener, mode) in eager {
        ports.spawn(accept(listener, Some(mode), Arc::clone(&shared)));
    }
    while ports.join_next().await.is_some() {}
}

async fn accept(
    listener: TcpListener,
    eager: Option<usize>,
    shared: Arc<Shared>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let _open = Open::new(&shared.open);
            // A peer that leaves in the middle is what mostly happens here.
            let _left = receive(stream, eager, &shared).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn receive(mut stream: TcpStream, eager: Option<usize>, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    if let Some(mode) = eager.map(|number| &shared.modes[number]) {
        let request = Request::get(&format!("http://{}/", mode.host()));
        let script = shared.script(mode, &request, 0);
        play(&mut stream, &mut BytesMut::new(), script).await?;
        return Ok(());
    }
    #[cfg(feature = "tls")]
    {
        let mut first = [0];
        if stream.peek(&mut first).await? == 1 && first == [tls::HANDSHAKE] {
            return tls::receive(stream, shared).await;
        }
    }
    converse(stream, shared).await
}
