//! Connections that are used again: what comes unasked must not be taken for the next answer (RFC
//! 9112 section 9).
//!
//! A client that takes it finds [`POISON`] in a page. That proves something only where the poison
//! comes in one piece with an answer: an answer that comes by itself may arrive after the next
//! request was sent, and then looks like a quick answer to it ([`Mode::answers_unasked`]).

use std::time::Duration;

use super::mode::{Asked, Expect, Mode, OwnPort, Place};
use super::script::{Script, TICK};

const FAMILY: &str = "reuse";
/// The title of unrequested answers.
pub const POISON: &str = "poisonous-page";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "answers-unasked",
            "sends an answer before it is asked",
            FailedOrPage,
            |_| {
                Script::new()
                    .send(poison())
                    .pause(Duration::from_secs(1))
                    .close()
            },
        )
        .at(Place::Own(OwnPort::Eager)),
        mode(
            "answers-twice",
            "sends a second answer behind the first one",
            FailedOrPage,
            |asked| first(asked, |script| script.send(poison())),
        ),
        mode(
            "answers-twice-in-one",
            "sends two answers in one piece",
            FailedOrPage,
            |asked| {
                if asked.is_front() {
                    return asked.page();
                }
                Script::new().send(
                    [
                        &b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"[..],
                        poison().as_bytes(),
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "answers-twice-late",
            "sends a second answer a moment later",
            FailedOrPage,
            |asked| first(asked, |script| script.pause(TICK).send(poison())),
        ),
        mode(
            "answers-hundredfold",
            "sends a hundred answers to one request",
            FailedOrPage,
            |asked| first(asked, |script| script.repeat(poison(), 100)),
        ),
        mode(
            "bytes-behind-answer",
            "bytes behind an answer that are no answer",
            FailedOrPage,
            |asked| first(asked, |script| script.send("and some more of this")),
        ),
        mode(
            "line-behind-answer",
            "an empty line behind every answer, as old servers send",
            FailedOrPage,
            |asked| first(asked, |script| script.send("\r\n")),
        ),
        mode(
            "answer-within-answer",
            "a length so short that the rest of the body is an answer",
            FailedOrPage,
            |asked| {
                if asked.is_front() {
                    return asked.page();
                }
                Script::new().send(format!(
                    "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone{}",
                    poison()
                ))
            },
        ),
        mode(
            "answer-behind-no-content",
            "204 with an answer for a body",
            FailedOrPage,
            |asked| {
                if asked.is_front() {
                    return asked.page();
                }
                Script::new().send(format!(
                    "HTTP/1.1 204 No Content\r\nContent-Length: {}\r\n\r\n{}",
                    poison().len(),
                    poison()
                ))
            },
        ),
        mode(
            "answer-behind-chunks",
            "an answer behind the last chunk",
            FailedOrPage,
            |asked| {
                if asked.is_front() {
                    return asked.page();
                }
                Script::new().send(format!(
                    "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: \
                     chunked\r\n\r\n4\r\ngone\r\n0\r\n\r\n{}",
                    poison()
                ))
            },
        ),
        mode(
            "timeout-unasked",
            "408 on a connection that is idle, as many servers do",
            FailedOrPage,
            |asked| {
                first(asked, |script| {
                    script
                        .pause(TICK)
                        .send(
                            "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: \
                             0\r\n\r\n",
                        )
                        .close()
                })
            },
        ),
        mode(
            "keep-alive-closes",
            "promises to go on, and closes",
            Page,
            |asked| first_says(asked, "keep-alive").close(),
        ),
        mode(
            "keep-alive-resets",
            "promises to go on, and resets",
            FailedOrPage,
            |asked| first_says(asked, "keep-alive").reset(),
        ),
        mode(
            "close-stays",
            "promises to close, and stays",
            Page,
            |asked| first_says(asked, "close").hang(),
        ),
        mode(
            "close-lies",
            "Connection: close, keep-alive",
            FailedOrPage,
            |asked| first_says(asked, "close, keep-alive"),
        ),
        mode(
            "second-request-reset",
            "resets at the second request on a connection",
            FailedOrPage,
            |asked| {
                if asked.before_on_connection > 0 {
                    return Script::new().reset();
                }
                honest(asked)
            },
        ),
        mode(
            "second-request-hangs",
            "never answers the second request on a connection",
            FailedOrPage,
            |asked| {
                if asked.before_on_connection > 0 {
                    return Script::new().hang();
                }
                honest(asked)
            },
        ),
        mode(
            "pieces-of-one-byte",
            "every byte of an answer in a packet of its own",
            Page,
            |asked| {
                if !asked.is_front() {
                    return Script::not_found();
                }
                let page = asked.article("");
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
                    page.len()
                );
                Script::new().drip(head + &page, Duration::ZERO)
            },
        ),
        mode(
            "head-of-the-answer-only",
            "leaves out the body, as after HEAD",
            Failed,
            |asked| {
                if !asked.is_front() {
                    return Script::not_found();
                }
                let length = asked.article("").len();
                Script::only(format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n"
                ))
            },
        ),
    ]
}

/// The modes that send an unrequested answer later.
const BY_THEMSELVES: [&str; 4] = [
    "answers-unasked",
    "answers-twice",
    "answers-twice-late",
    "answers-hundredfold",
];

impl Mode {
    /// Returns true if it sends an unsolicited answer that no visitor can tell from a requested
    /// one.
    #[must_use]
    pub fn answers_unasked(&self) -> bool {
        BY_THEMSELVES.contains(&&*self.name)
    }
}

fn poison() -> String {
    let body = format!("<!DOCTYPE html><title>{POISON}</title><p>{POISON}");
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn honest(asked: &Asked<'_>) -> Script {
    if asked.is_front() {
        return asked.page();
    }
    Script::not_found()
}

/// An honest answer to the front page; to all else (robots.txt comes first) one with something
/// behind it.
fn first(asked: &Asked<'_>, more: impl FnOnce(Script) -> Script) -> Script {
    if asked.is_front() {
        return asked.page();
    }
    more(Script::not_found())
}

/// An honest answer that says this of its connection.
fn first_says(asked: &Asked<'_>, connection: &str) -> Script {
    let field = format!("Connection: {connection}\r\n");
    if asked.is_front() {
        return asked.page_with(field);
    }
    Script::answer("HTTP/1.1 404 Not Found", field, "no such page\n")
}
