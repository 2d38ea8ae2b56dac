//! A connection whose HTTP/1 responses are mended before the engine reads them.
//!
//! The engine refuses heads that browsers read, and does not report what it skips. So the head of
//! each response is held back until it is whole and goes through [`head::next`]. The lines of a
//! body in chunks go through [`ChunkLines`]; any other body passes unchanged. Requests are not
//! pipelined: the first read after a request is the beginning of a head. HTTP/2 passes unchanged.
//!
//! The connection also knows what the engine does not report of a failed request: whether the
//! connection was new, and whether a response began.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use web::Warning;

use crate::client::chunks::ChunkLines;
use crate::client::head::{self, Came, Next, Searched};

/// Bytes that are read at a time with HTTP/1. The engine's buffer grows to the next power of two,
/// and stays as long as the connection: without this limit, up to 400 KiB after a large body.
const STEP: usize = (16 << 10) - 1;

/// A connection of any kind.
pub(crate) trait Stream: Read + Write + Connection + Send + Unpin {}

impl<T: Read + Write + Connection + Send + Unpin> Stream for T {}

/// A turn of the runtime. When it ends, the runtime has polled the sockets.
type Turn = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A connection to a server.
pub(crate) struct Wire {
    stream: Box<dyn Stream>,
    is_proxied: bool,
    is_http2: bool,
    /// True if a request was sent.
    is_used: bool,
    incoming: Incoming,
    /// True if the next bytes sent begin a request.
    request_ended: bool,
    /// True if the request is a HEAD: its response has no content (RFC 9110 section 9.3.2).
    is_head: bool,
    /// True if content followed the response to a HEAD. Then no other request is sent.
    has_excess: bool,
    exchange: WireExchange,
}

/// Expected next input.
enum Incoming {
    /// A head, with its bytes so far.
    Head(BytesMut, Searched),
    /// These bytes, then the rest of what the server sends.
    Passing(BytesMut),
    /// These bytes, then the rest of a body in chunks.
    Chunks(BytesMut, ChunkLines),
    /// Nothing: unrequested bytes came before a request, and must not become its response.
    Unasked,
    /// Nothing before the next request; the socket is asked after this turn.
    Silence(Turn),
}

impl Wire {
    pub(crate) fn new(stream: Box<dyn Stream>, is_proxied: bool) -> Self {
        let is_http2 = stream.connected().is_negotiated_h2();
        Self {
            stream,
            is_proxied,
            is_http2,
            is_used: false,
            incoming: Incoming::Passing(BytesMut::new()),
            request_ended: true,
            is_head: false,
            has_excess: false,
            exchange: WireExchange::default(),
        }
    }

    /// Waits until a request may be sent. On a used connection the socket is asked first: the
    /// runtime learns only between its turns that bytes came, and these must not become the
    /// response.
    ///
    /// # Errors
    /// `ConnectionAborted` if the connection ended, or brought unrequested bytes.
    fn poll_begin(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_http2 || !self.request_ended {
            return Poll::Ready(Ok(()));
        }
        if !matches!(self.incoming, Incoming::Silence(_)) {
            self.exchange.begin();
            self.incoming = match &self.incoming {
                Incoming::Passing(came) | Incoming::Chunks(came, _)
                    if came.is_empty() && !self.has_excess =>
                {
                    Incoming::Silence(Box::pin(tokio::task::yield_now()))
                }
                _ => Incoming::Unasked,
            };
        }
        let mut came = BytesMut::new();
        let is_silent = match &mut self.incoming {
            Incoming::Silence(_) if !self.is_used => true,
            Incoming::Silence(turn) => {
                ready!(turn.as_mut().poll(context));
                read_some(&mut *self.stream, context, &mut came).is_pending()
            }
            _ => false,
        };
        if !is_silent {
            self.incoming = Incoming::Unasked;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        self.incoming = Incoming::Head(came, Searched::default());
        (self.is_used, self.request_ended) = (true, false);
        Poll::Ready(Ok(()))
    }

    /// Waits until a head is whole and mended, or is left to the engine. Interim responses are
    /// skipped, as the engine does.
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Incoming::Head(came, searched) = &mut self.incoming else {
            return Poll::Ready(Ok(()));
        };
        let mut has_ended = false;
        loop {
            match head::next(came, searched, has_ended || self.is_head) {
                Next::Incomplete if !has_ended => {
                    has_ended = ready!(read_some(&mut *self.stream, context, came))? == 0;
                    if !has_ended {
                        self.exchange.locked().came = head::beginning(came);
                    }
                }
                Next::Interim(length) => {
                    came.advance(length);
                    *searched = Searched::default();
                }
                Next::Incomplete | Next::Foreign => break,
                Next::Response(mended) => {
                    let mut rest = came.split_off(mended.length);
                    if self.is_head {
                        self.has_excess = !rest.is_empty();
                        rest.clear();
                    }
                    let mut bytes = BytesMut::from(&mended.head[..]);
                    self.exchange.locked().warnings.extend(mended.warnings);
                    self.incoming = if mended.is_chunked && !self.is_head {
                        let mut lines = ChunkLines::new();
                        bytes.extend_from_slice(&self.exchange.mend(&mut lines, &rest));
                        Incoming::Chunks(bytes, lines)
                    } else {
                        bytes.extend_from_slice(&rest);
                        Incoming::Passing(bytes)
                    };
                    return Poll::Ready(Ok(()));
                }
            }
        }
        self.incoming = Incoming::Passing(std::mem::take(came));
        Poll::Ready(Ok(()))
    }

    /// Reads more of a body.
    fn poll_body(
        &mut self,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut space = [MaybeUninit::uninit(); STEP];
        let length = STEP.min(into.remaining());
        loop {
            let mut read = ReadBuf::uninit(&mut space[..length]);
            ready!(Pin::new(&mut *self.stream).poll_read(context, read.unfilled()))?;
            let Incoming::Chunks(beyond, lines) = &mut self.incoming else {
                into.put_slice(read.filled());
                return Poll::Ready(Ok(()));
            };
            let mended = self.exchange.mend(lines, read.filled());
            if mended.is_empty() && !read.filled().is_empty() {
                // All was removed, which must not look like the end.
                continue;
            }
            let (fitting, rest) = mended.split_at(mended.len().min(into.remaining()));
            into.put_slice(fitting);
            beyond.extend_from_slice(rest);
            return Poll::Ready(Ok(()));
        }
    }
}

/// Appends what the stream has; returns the number of bytes, 0 at its end.
fn read_some(
    stream: &mut dyn Stream,
    context: &mut Context<'_>,
    into: &mut BytesMut,
) -> Poll<io::Result<usize>> {
    let mut space = [MaybeUninit::uninit(); STEP];
    let mut read = ReadBuf::uninit(&mut space);
    ready!(Pin::new(stream).poll_read(context, read.unfilled()))?;
    into.extend_from_slice(read.filled());
    Poll::Ready(Ok(read.filled().len()))
}

impl Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(wire.poll_head(context))?;
        match &mut wire.incoming {
            Incoming::Passing(first) | Incoming::Chunks(first, _) if !first.is_empty() => {
                let length = first.len().min(into.remaining()).min(STEP);
                into.put_slice(&first.split_to(length));
                if first.is_empty() {
                    // An idle connection holds no buffer.
                    *first = BytesMut::new();
                }
                Poll::Ready(Ok(()))
            }
            Incoming::Unasked => Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into())),
            // The end of the turn wakes the task, which then writes.
            Incoming::Silence(_) => Poll::Pending,
            _ if wire.is_http2 => Pin::new(&mut *wire.stream).poll_read(context, into),
            _ => wire.poll_body(context, into),
        }
    }
}

impl Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let begins = wire.request_ended;
        ready!(wire.poll_begin(context))?;
        if begins {
            wire.is_head = bytes.starts_with(b"HEAD ");
        }
        let sent = ready!(Pin::new(&mut *wire.stream).poll_write(context, bytes))?;
        wire.request_ended = bytes[..sent].ends_with(b"\r\n\r\n");
        Poll::Ready(Ok(sent))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().stream).poll_shutdown(context)
    }
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected().proxy(self.is_proxied);
        connected.extra(self.exchange.clone())
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire")
            .field("exchange", &self.exchange)
            .finish_non_exhaustive()
    }
}

/// The current exchange of a connection. With HTTP/2, where there may be several, only
/// [`has_served`](Self::has_served) is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct WireExchange(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// True if a response came on this connection.
    has_served: bool,
    /// The beginning of what came since the last request.
    came: Came,
    /// Warnings of the last response head.
    warnings: Vec<Warning>,
}

impl WireExchange {
    /// Notes a response; returns true if the connection had brought one before.
    pub(crate) fn note_response(&self) -> bool {
        std::mem::replace(&mut self.locked().has_served, true)
    }

    /// Returns true if the connection has brought a response.
    pub(crate) fn has_served(&self) -> bool {
        self.locked().has_served
    }

    /// Returns the beginning of what came since the last request.
    pub(crate) fn came(&self) -> Came {
        self.locked().came
    }

    /// Takes what was odd about the head of the last response.
    pub(crate) fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut self.locked().warnings)
    }

    fn begin(&self) {
        let mut state = self.locked();
        state.came = Came::Nothing;
        state.warnings.clear();
    }

    /// Mends the next bytes of a body in chunks, and notes it.
    fn mend<'a>(&self, lines: &mut ChunkLines, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mended = lines.mend(bytes);
        if let Cow::Owned(_) = mended {
            let warnings = &mut self.locked().warnings;
            if !warnings.contains(&Warning::TransferEncoding) {
                warnings.push(Warning::TransferEncoding);
            }
        }
        mended
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// A connection in memory.
    struct Piped(TokioIo<DuplexStream>);

    impl Read for Piped {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: ReadBufCursor<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, into)
        }
    }

    impl Write for Piped {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }

        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }

    impl Connection for Piped {
        fn connected(&self) -> Connected {
            Connected::new()
        }
    }

    /// Buffers of 32 KiB and more on each idle connection took 8 MiB of a crawl of 64 hosts.
    #[tokio::test]
    async fn a_read_of_a_large_body_never_fills_a_buffer_of_sixteen_kibibytes() {
        const BODY: usize = 1 << 20;
        for framing in ["Content-Length: 1048576", "Transfer-Encoding: chunked"] {
            let (ours, mut theirs) = duplex(4 * BODY);
            let mut wire = Wire::new(Box::new(Piped(TokioIo::new(ours))), false);
            let request = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
            let sent = poll_fn(|context| Pin::new(&mut wire).poll_write(context, request)).await;
            assert_eq!(sent.unwrap(), request.len());
            let head = format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
            let body = match framing.ends_with("chunked") {
                true => [b"100000\r\n", &*vec![b'x'; BODY], b"\r\n0\r\n\r\n"].concat(),
                false => vec![b'x'; BODY],
            };
            theirs.write_all(head.as_bytes()).await.unwrap();
            theirs.write_all(&body).await.unwrap();
            drop(theirs);
            let (mut received, mut space) = (0, vec![0; 1 << 17]);
            loop {
                let mut read = ReadBuf::new(&mut space);
                poll_fn(|context| Pin::new(&mut wire).poll_read(context, read.unfilled()))
                    .await
                    .unwrap();
                assert!(read.filled().len() < 16 << 10, "{}", read.filled().len());
                if read.filled().is_empty() {
                    break;
                }
                received += read.filled().len();
            }
            assert_eq!(received, head.len() + body.len(), "{framing}");
        }
    }
}
