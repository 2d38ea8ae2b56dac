//! One connection through a faulty network: two pumps, and the end of both.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::NetworkState;

/// The size of a piece.
const PIECE: usize = 16 << 10;

/// Carries bytes between the client and the server until both have ended their streams, or the
/// network or either side resets the connection.
pub(super) async fn run(
    mut client: TcpStream,
    server: SocketAddr,
    state: watch::Receiver<NetworkState>,
    caught: Arc<watch::Sender<u64>>,
) {
    let Ok(mut server) = TcpStream::connect(server).await else {
        reset(&client);
        return;
    };
    let caught = Caught {
        lost: AtomicBool::new(false),
        count: caught,
    };
    let carried = {
        let (from_client, to_client) = client.split();
        let (from_server, to_server) = server.split();
        let there = pump(from_client, to_server, state.clone(), &caught);
        let back = pump(from_server, to_client, state.clone(), &caught);
        tokio::select! {
            carried = async { tokio::try_join!(there, back) } => carried.is_ok(),
            () = cut(state, &caught.lost) => false,
        }
    };
    if !carried {
        reset(&client);
        reset(&server);
    }
}

/// The pieces that do not arrive.
struct Caught {
    /// True if this connection lost one.
    lost: AtomicBool,
    /// Those of all connections, held ones too, since the last change of the state.
    count: Arc<watch::Sender<u64>>,
}

/// Makes the end of this connection a reset, which discards bytes in flight.
fn reset(stream: &TcpStream) {
    // A socket that the other side has reset already may refuse.
    stream.set_zero_linger().ok();
}

/// Waits for the time at which the connection is reset: the network is down, or it is no longer
/// silent, and something was lost.
async fn cut(mut state: watch::Receiver<NetworkState>, lost: &AtomicBool) {
    let is_cut = |state: &NetworkState| match state {
        NetworkState::Down => true,
        NetworkState::Silent => false,
        _ => lost.load(Ordering::Relaxed),
    };
    // An error is the end of the network itself.
    state.wait_for(is_cut).await.ok();
}

/// Carries one direction up to the end of its stream, which is passed on like bytes.
async fn pump(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut state: watch::Receiver<NetworkState>,
    caught: &Caught,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece).await?;
        if !arrives(&mut state, caught).await {
            caught.lost.store(true, Ordering::Relaxed);
            if length > 0 {
                continue;
            }
            // The end was lost: this direction stays open until the connection is cut.
            return std::future::pending().await;
        }
        if length == 0 {
            return to.shutdown().await;
        }
        to.write_all(&piece[..length]).await?;
    }
}

/// Waits for the time at which a piece arrives. Returns false if it is lost, like everything
/// after a first loss.
async fn arrives(state: &mut watch::Receiver<NetworkState>, caught: &Caught) -> bool {
    loop {
        if caught.lost.load(Ordering::Relaxed) {
            return false;
        }
        let current = *state.borrow_and_update();
        match current {
            NetworkState::Up => return true,
            NetworkState::Silent | NetworkState::Down => {
                caught.count.send_modify(|count| *count += 1);
                return false;
            }
            // A slow network that fails meanwhile treats the piece like any other.
            NetworkState::Slow(delay) => {
                let is_over = tokio::time::timeout(delay, state.changed()).await.is_err();
                if is_over {
                    return true;
                }
            }
            NetworkState::Stalled => {
                caught.count.send_modify(|count| *count += 1);
                if state.changed().await.is_err() {
                    return false;
                }
            }
        }
    }
}
