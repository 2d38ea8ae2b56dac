//! Floods of HTTP/2 frames (RFC 9113 section 10.5): each is cheap to send, allowed, and work for
//! the reader.
//!
//! They are no part of [`Mode::all`]: one of them keeps a core busy for as long as it is listened
//! to.

use super::mode::Handshake;
use super::mode::{Asked, Expect, Mode, Place};
use super::script::{Script, Step};

const FAMILY: &str = "floods";

/// Types of frames (RFC 9113 section 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// A type that no standard has: it is passed over.
const UNKNOWN: u8 = 0xfa;

const NO_FLAGS: u8 = 0;
const END_HEADERS: u8 = 4;
/// The first stream that a client opens.
const REQUEST: u32 = 1;
const CONNECTION: u32 = 0;
/// `:status: 200` (RFC 7541 appendix A, entry 8).
const STATUS_200: &[u8] = &[0x88];

/// Frames that are sent at once.
const FRAMES_AT_ONCE: usize = 1000;

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Failed, answer).at(Place::Tls(Handshake::Frames))
    };
    vec![
        mode("h2-flood-ping", "PING without end", |_| {
            begun().flood(&frame(PING, NO_FLAGS, CONNECTION, &[7; 8]))
        }),
        mode("h2-flood-settings", "SETTINGS without end", |_| {
            begun().flood(&frame(SETTINGS, NO_FLAGS, CONNECTION, &[]))
        }),
        mode(
            "h2-flood-window-update",
            "WINDOW_UPDATE without end",
            |_| begun().flood(&frame(WINDOW_UPDATE, NO_FLAGS, CONNECTION, &[0, 0, 0, 1])),
        ),
        mode("h2-flood-priority", "PRIORITY without end", |_| {
            begun().flood(&frame(PRIORITY, NO_FLAGS, REQUEST, &[0, 0, 0, 0, 1]))
        }),
        mode(
            "h2-flood-unknown",
            "frames of an unknown type without end",
            |_| begun().flood(&frame(UNKNOWN, NO_FLAGS, CONNECTION, &[])),
        ),
        mode("h2-flood-data", "DATA of no bytes without end", |_| {
            begun()
                .send(frame(HEADERS, END_HEADERS, REQUEST, STATUS_200))
                .flood(&frame(DATA, NO_FLAGS, REQUEST, &[]))
        }),
        mode(
            "h2-flood-continuation",
            "CONTINUATION of no bytes without end",
            |_| {
                begun()
                    .send(frame(HEADERS, NO_FLAGS, REQUEST, STATUS_200))
                    .flood(&frame(CONTINUATION, NO_FLAGS, REQUEST, &[]))
            },
        ),
        mode(
            "h2-flood-informational",
            "103 Early Hints without end",
            |_| {
                // A literal field with an indexed name, `:status` (RFC 7541 section 6.2.2).
                let hints = [&[0x08, 3][..], b"103"].concat();
                begun().flood(&frame(HEADERS, END_HEADERS, REQUEST, &hints))
            },
        ),
    ]
}

/// A connection on which the request has arrived.
fn begun() -> Script {
    Script::new()
        .send(frame(SETTINGS, NO_FLAGS, CONNECTION, &[]))
        .pause(std::time::Duration::from_millis(200))
}

impl Script {
    fn flood(self, frame: &[u8]) -> Self {
        self.then(Step::Flood(frame.repeat(FRAMES_AT_ONCE).into()))
    }
}

/// A frame (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("frames are small")
        .to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}
