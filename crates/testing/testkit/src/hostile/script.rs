//! The steps of an answer: plain bytes, since no library would send them.
//!
//! A script that ends without an ending step leaves the connection open for the next request.

use std::time::Duration;

use bytes::Bytes;

/// One thing that a server does on a connection.
#[derive(Clone)]
pub(super) enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends pieces one after the other, with a pause before each but the first.
    Stream {
        piece: Piece,
        times: u64,
        pause: Duration,
    },
    /// Does nothing for so long.
    Pause(Duration),
    /// Does nothing until the peer leaves.
    Hang,
    /// Sends these bytes again and again, and forgets what the peer says to them.
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "only floods of HTTP/2 do this")
    )]
    Flood(Bytes),
    /// Says that nothing more will come, and stays.
    HalfClose,
    /// Ends the connection in good order: FIN.
    Close,
    /// Breaks the connection off: RST.
    Reset,
    /// Over TLS: leaves without a farewell. Without TLS the same as closing.
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "only the modes over TLS do this")
    )]
    Vanish,
}

/// The content of a stream.
#[derive(Clone)]
pub(super) enum Piece {
    /// The same bytes again and again.
    Same(Bytes),
    /// Made from its number, which counts from 0.
    Numbered(fn(u64) -> String),
}

impl Piece {
    pub(super) fn bytes(&self, number: u64) -> Bytes {
        match self {
            Self::Same(bytes) => bytes.clone(),
            Self::Numbered(make) => make(number).into(),
        }
    }
}

/// The actions of a server on a connection, in order.
#[derive(Clone, Default)]
pub(super) struct Script(pub(super) Vec<Step>);

/// Practically without end.
pub(super) const ENDLESS: u64 = u64::MAX;
/// Between pieces of what is endless: a crawler has it within its deadline a hundred times, a
/// processor does not feel it.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// Between pieces of what is slow.
pub(super) const SLOW: Duration = Duration::from_millis(300);

impl Script {
    /// Returns true if a peer that waits for the end waits for ever, or for minutes.
    pub(super) fn is_endless(&self) -> bool {
        let mut slow = Duration::ZERO;
        for step in &self.0 {
            match step {
                Step::HalfClose => return false,
                Step::Hang | Step::Flood(_) => return true,
                Step::Stream { times: ENDLESS, .. } => return true,
                Step::Stream { times, pause, .. } => {
                    slow += pause.saturating_mul(u32::try_from(*times).unwrap_or(u32::MAX));
                }
                Step::Pause(pause) => slow += *pause,
                Step::Send(_) | Step::Close | Step::Reset | Step::Vanish => {}
            }
        }
        slow > Duration::from_secs(5)
    }

    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// These bytes and no more, and the connection ends.
    pub(super) fn only(bytes: impl Into<Bytes>) -> Self {
        Self::new().send(bytes).close()
    }

    /// An honest answer but for these fields, each with its CRLF.
    pub(super) fn page(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Self {
        Self::document("text/html; charset=utf-8", fields, body)
    }

    /// The same of another type.
    pub(super) fn document(
        content_type: &str,
        fields: impl AsRef<[u8]>,
        body: impl AsRef<[u8]>,
    ) -> Self {
        let typed = format!("Content-Type: {content_type}\r\n");
        Self::untyped([typed.as_bytes(), fields.as_ref()].concat(), body)
    }

    /// The same without a type.
    pub(super) fn untyped(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Self {
        Self::answer("HTTP/1.1 200 OK", fields, body)
    }

    /// An answer with a true length under this status line.
    pub(super) fn answer(
        status_line: &str,
        fields: impl AsRef<[u8]>,
        body: impl AsRef<[u8]>,
    ) -> Self {
        let body = body.as_ref();
        let head = format!("{status_line}\r\nContent-Length: {}\r\n", body.len());
        Self::new().send([head.as_bytes(), fields.as_ref(), b"\r\n", body].concat())
    }

    /// A redirect.
    pub(super) fn redirect(location: impl AsRef<[u8]>) -> Self {
        let field = [b"Location: ", location.as_ref(), b"\r\n"].concat();
        Self::answer("HTTP/1.1 302 Found", field, "")
    }

    /// No such page.
    pub(super) fn not_found() -> Self {
        Self::answer(
            "HTTP/1.1 404 Not Found",
            "Content-Type: text/plain\r\n",
            "no such page\n",
        )
    }

    /// The head of an answer whose body ends with the connection.
    pub(super) fn until_close(fields: impl AsRef<[u8]>) -> Self {
        let head: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
        Self::new().send([head, fields.as_ref(), b"\r\n"].concat())
    }

    /// The head of an answer in chunks.
    pub(super) fn chunked(fields: impl AsRef<[u8]>) -> Self {
        let head: &[u8] =
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n";
        Self::new().send([head, fields.as_ref(), b"\r\n"].concat())
    }

    /// One chunk, as it should be.
    pub(super) fn chunk(self, data: impl AsRef<[u8]>) -> Self {
        let data = data.as_ref();
        self.send([format!("{:x}\r\n", data.len()).as_bytes(), data, b"\r\n"].concat())
    }

    /// These bytes.
    pub(super) fn send(mut self, bytes: impl Into<Bytes>) -> Self {
        self.0.push(Step::Send(bytes.into()));
        self
    }

    /// The same bytes so often, as quickly as the peer takes them.
    pub(super) fn repeat(self, bytes: impl Into<Bytes>, times: u64) -> Self {
        self.stream(Piece::Same(bytes.into()), times, Duration::ZERO)
    }

    /// The same bytes without end.
    pub(super) fn endless(self, bytes: impl Into<Bytes>, pause: Duration) -> Self {
        self.stream(Piece::Same(bytes.into()), ENDLESS, pause)
    }

    /// Pieces so often.
    pub(super) fn stream(mut self, piece: Piece, times: u64, pause: Duration) -> Self {
        self.0.push(Step::Stream {
            piece,
            times,
            pause,
        });
        self
    }

    /// Sends these bytes one by one, slowly.
    pub(super) fn drip(mut self, bytes: impl AsRef<[u8]>, pause: Duration) -> Self {
        for byte in bytes.as_ref() {
            self.0.push(Step::Send(Bytes::copy_from_slice(&[*byte])));
            self.0.push(Step::Pause(pause));
        }
        self
    }

    /// One more step.
    pub(super) fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// Nothing for so long.
    pub(super) fn pause(self, pause: Duration) -> Self {
        self.then(Step::Pause(pause))
    }

    /// Nothing until the peer leaves.
    pub(super) fn hang(self) -> Self {
        self.then(Step::Hang)
    }

    /// FIN.
    pub(super) fn close(self) -> Self {
        self.then(Step::Close)
    }

    /// RST.
    pub(super) fn reset(self) -> Self {
        self.then(Step::Reset)
    }
}
