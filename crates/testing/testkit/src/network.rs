//! A network between a client and a server that fails on demand.
//!
//! It is a proxy of TCP connections on loopback, which knows nothing of what they carry. A test
//! gives the client its address in place of the server's, and sets its state at any moment. A
//! change is complete when [`FaultyNetwork::set`] returns, so no test sleeps for it.
//!
//! Invariant: no stream has holes. Bytes arrive in order and complete, or the connection that they
//! belong to is reset: this is what TCP promises while a real network fails.

mod connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{mpsc as commands, watch};
use tokio::task::JoinSet;

/// The number of clients that may wait to be accepted.
const BACKLOG: u32 = 128;

/// The state of a [`FaultyNetwork`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkState {
    /// Bytes arrive.
    Up,
    /// Each piece of a stream (up to 16 KiB) arrives this much later, in both directions.
    Slow(Duration),
    /// Bytes wait, and arrive when the network is up again: a partition that ends before the
    /// timeouts of the two sides. What a client sent into it takes effect then.
    Stalled,
    /// Bytes are lost, ends of streams too. Connections stay open, and new ones are accepted. One
    /// that lost something is reset as soon as the network leaves this state.
    Silent,
    /// All connections are reset, and new ones are refused.
    Down,
}

/// A network that a client reaches a server through.
#[derive(Debug)]
pub struct FaultyNetwork {
    address: SocketAddr,
    /// Locked while a command is carried out, so that there is room for the next one.
    commands: Mutex<commands::Sender<Command>>,
    caught: watch::Receiver<u64>,
}

#[derive(Debug)]
struct Command {
    state: NetworkState,
    /// Is sent to when the state is reached.
    reached: mpsc::SyncSender<()>,
}

impl FaultyNetwork {
    /// Leads to `server` from a free port of 127.0.0.1, until it is dropped. It is up at first. It
    /// runs in a thread of its own and in real time, whatever the runtime of the test does.
    ///
    /// # Panics
    /// Without a free port or a thread.
    #[must_use]
    pub fn before(server: SocketAddr) -> Self {
        let (sender, receiver) = commands::channel(1);
        let (listens, address) = mpsc::sync_channel(1);
        let counter = watch::Sender::new(0);
        let caught = counter.subscribe();
        thread::spawn(move || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_all().build().expect("a runtime");
            let served = runtime.block_on(serve(server, receiver, &listens, Arc::new(counter)));
            served.expect("loopback has a free port that can be listened on");
        });
        let address = address.recv().expect("the network has a port");
        Self {
            address,
            commands: Mutex::new(sender),
            caught,
        }
    }

    /// Returns the address that it listens on, which it keeps while it is down.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets the state, and returns when it is reached: after [`NetworkState::Down`] every
    /// connection is reset and the next one is refused.
    ///
    /// # Panics
    /// If the thread of the network has failed.
    pub fn set(&self, state: NetworkState) {
        let (reached, wait) = mpsc::sync_channel(1);
        let command = Command { state, reached };
        let commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.try_send(command).expect("the network runs");
        wait.recv().expect("the network runs");
    }

    /// Waits until the network holds or has lost this many pieces (of up to 16 KiB, or ends of
    /// streams) since its state was set. So a test says "while the answer was on its way".
    ///
    /// # Panics
    /// If the thread of the network has failed.
    pub async fn caught(&self, pieces: u64) {
        let mut caught = self.caught.clone();
        let reached = caught.wait_for(|count| *count >= pieces).await;
        reached.expect("the network runs");
    }
}

/// Returns a socket of this address. Sockets may share the port; only one that listens is reached.
fn bind(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Accepts connections and carries out commands until their sender is dropped.
async fn serve(
    server: SocketAddr,
    mut commands: commands::Receiver<Command>,
    listens: &mpsc::SyncSender<SocketAddr>,
    caught: Arc<watch::Sender<u64>>,
) -> io::Result<()> {
    // This socket never listens: it keeps the port while the network is down.
    let keeper = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = keeper.local_addr()?;
    let mut listener = Some(bind(address)?.listen(BACKLOG)?);
    listens.send(address).expect("the caller waits for it");
    let state = watch::Sender::new(NetworkState::Up);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            command = commands.recv() => {
                let Some(Command { state: next, reached }) = command else {
                    return Ok(());
                };
                caught.send_replace(0);
                state.send_replace(next);
                if next == NetworkState::Down {
                    listener = None;
                    // Each of them ends at once, because the network is down.
                    while connections.join_next().await.is_some() {}
                } else if listener.is_none() {
                    listener = Some(bind(address)?.listen(BACKLOG)?);
                }
                // A caller that panicked does not wait any more.
                reached.send(()).ok();
            }
            client = accept(listener.as_ref()) => {
                connections.spawn(connection::run(
                    client?,
                    server,
                    state.subscribe(),
                    Arc::clone(&caught),
                ));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Accepts the next client; never one while nothing listens.
async fn accept(listener: Option<&TcpListener>) -> io::Result<tokio::net::TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(client, _)| client),
        None => std::future::pending().await,
    }
}
