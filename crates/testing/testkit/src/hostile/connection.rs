//! Plays scripts on a connection.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

#[cfg(feature = "tls")]
use super::certificates::Identities;
#[cfg(feature = "tls")]
use super::mode::DOMAIN;
use super::mode::{Asked, Mode};
use super::script::{Script, Step};
use crate::http::Request;
use crate::receive::read_request;

/// Bytes that a peer may send unread before it counts as a flood.
const MAX_READ_BYTES: usize = 256 << 10;
/// Bytes of a stream that are sent at once, where nothing is paced.
const BYTES_AT_ONCE: usize = 32 << 10;

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) modes: Vec<Mode>,
    /// The place of each mode among them.
    by_name: HashMap<String, usize>,
    port: u16,
    /// Requests of each mode, robots.txt not counted.
    asked: Mutex<HashMap<String, u64>>,
    pub(super) open: watch::Sender<usize>,
    #[cfg(feature = "tls")]
    pub(super) identities: Identities,
}

impl Shared {
    pub(super) fn new(modes: Vec<Mode>, port: u16) -> Self {
        let names = modes.iter().enumerate();
        Self {
            by_name: names
                .map(|(number, mode)| (mode.name.to_string(), number))
                .collect(),
            port,
            asked: Mutex::default(),
            open: watch::Sender::new(0),
            #[cfg(feature = "tls")]
            identities: Identities::new(DOMAIN),
            modes,
        }
    }

    /// The mode that a host name means.
    pub(super) fn mode(&self, host: &str) -> Option<&Mode> {
        let (name, _domain) = host.split_once('.')?;
        Some(&self.modes[*self.by_name.get(name)?])
    }

    pub(super) fn asked(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn script(
        &self,
        mode: &Mode,
        request: &Request,
        before_on_connection: u64,
    ) -> Script {
        let mut counts = self.asked();
        let count = counts.entry(mode.name.to_string()).or_default();
        let before = *count;
        if request.target != "/robots.txt" {
            *count += 1;
        }
        drop(counts);
        mode.script(&Asked {
            mode,
            request,
            before,
            before_on_connection,
            port: request.port.unwrap_or(self.port),
        })
    }
}

/// A connection on which scripts are played.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {
    /// Returns the TCP connection beneath.
    fn socket(&self) -> &TcpStream;
}

impl Wire for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

/// One connection, request after request.
pub(super) async fn converse<W: Wire>(mut wire: W, shared: &Shared) -> io::Result<()> {
    let mut heard = BytesMut::with_capacity(2048);
    let mut before = 0;
    while let Some(Ok((request, keep_alive))) = read_request(&mut wire, &mut heard).await? {
        let script = match shared.mode(&request.host) {
            Some(mode) => shared.script(mode, &request, before),
            None => Script::not_found(),
        };
        if play(&mut wire, &mut heard, script).await? == Played::Ended {
            return Ok(());
        }
        if !keep_alive {
            return wire.shutdown().await;
        }
        before += 1;
    }
    wire.shutdown().await
}

/// The state of a connection after a script.
#[derive(PartialEq, Eq)]
pub(super) enum Played {
    GoesOn,
    Ended,
}

pub(super) async fn play<W: Wire>(
    wire: &mut W,
    heard: &mut BytesMut,
    script: Script,
) -> io::Result<Played> {
    for step in script.0 {
        match step {
            Step::Send(bytes) => {
                wire.write_all(&bytes).await?;
                wire.flush().await?;
            }
            Step::Stream {
                piece,
                times,
                pause,
            } => {
                // Without a pause, small pieces go together: a packet for each would make a slow
                // answer of a large one.
                let together = if pause.is_zero() { BYTES_AT_ONCE } else { 1 };
                let mut number = 0;
                while number < times {
                    if number > 0 && !pause.is_zero() && !stays(wire, heard, Some(pause)).await {
                        return Ok(Played::Ended);
                    }
                    let mut pieces = BytesMut::new();
                    while number < times && pieces.len() < together {
                        pieces.extend_from_slice(&piece.bytes(number));
                        number += 1;
                    }
                    wire.write_all(&pieces).await?;
                    wire.flush().await?;
                }
            }
            Step::Pause(Duration::ZERO) => {}
            Step::Pause(pause) => {
                if !stays(wire, heard, Some(pause)).await {
                    return Ok(Played::Ended);
                }
            }
            Step::Hang => {
                stays(wire, heard, None).await;
                return Ok(Played::Ended);
            }
            Step::Flood(bytes) => {
                flood(wire, &bytes).await;
                return Ok(Played::Ended);
            }
            Step::HalfClose => wire.shutdown().await?,
            Step::Close => {
                wire.shutdown().await?;
                return Ok(Played::Ended);
            }
            Step::Reset => {
                wire.socket().set_zero_linger()?;
                return Ok(Played::Ended);
            }
            Step::Vanish => return Ok(Played::Ended),
        }
    }
    Ok(Played::GoesOn)
}

/// Sends the same without end to a peer whose answers are read and forgotten: one that is not read
/// stops reading, too.
async fn flood<W: Wire>(wire: &mut W, bytes: &[u8]) {
    let (mut reader, mut writer) = tokio::io::split(wire);
    let forget = async {
        let mut forgotten = vec![0; MAX_READ_BYTES];
        while matches!(reader.read(&mut forgotten).await, Ok(1..)) {}
    };
    let send =
        async { while writer.write_all(bytes).await.is_ok() && writer.flush().await.is_ok() {} };
    tokio::select! {
        () = forget => {}
        () = send => {}
    }
}

/// Waits that long, or for ever; whether the peer is still there. What it says meanwhile is kept
/// for later.
async fn stays<W: Wire>(wire: &mut W, heard: &mut BytesMut, pause: Option<Duration>) -> bool {
    let waiting = async {
        match pause {
            Some(pause) => tokio::time::sleep(pause).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(waiting);
    loop {
        tokio::select! {
            () = &mut waiting => return true,
            read = wire.read_buf(heard) => {
                if !matches!(read, Ok(1..)) || heard.len() > MAX_READ_BYTES {
                    return false;
                }
            }
        }
    }
}
