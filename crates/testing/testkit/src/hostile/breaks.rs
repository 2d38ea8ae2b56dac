//! Connections that break: by a reset or by an orderly end, at any byte.

use std::borrow::Cow;

use bytes::Bytes;

use super::mode::{Asked, Expect, Mode, OwnPort, Place};
use super::script::Script;

const FAMILY: &str = "breaks";
/// The body of the answers that are broken at every byte: as short as a page can be.
const BODY: &str = "<title>t</title><p>some words, and a last one";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Truncated};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "reset-on-connect",
            "resets every connection before it is asked",
            Failed,
            |_| Script::new().reset(),
        )
        .at(Place::Own(OwnPort::Eager)),
        mode(
            "close-on-connect",
            "closes every connection before it is asked",
            Failed,
            |_| Script::new().close(),
        )
        .at(Place::Own(OwnPort::Eager)),
        mode(
            "reset-at-once",
            "resets instead of an answer",
            Failed,
            |_| Script::new().reset(),
        ),
        mode(
            "close-at-once",
            "closes instead of an answer",
            Failed,
            |_| Script::new().close(),
        ),
        mode(
            "reset-in-status-line",
            "resets within the status line",
            Failed,
            |_| Script::new().send("HTTP/1").reset(),
        ),
        mode(
            "close-in-status-line",
            "closes within the status line",
            Failed,
            |_| Script::only("HTTP/1"),
        ),
        mode(
            "reset-in-fields",
            "resets within the header",
            Failed,
            |_| Script::new().send("HTTP/1.1 200 OK\r\nContent-Ty").reset(),
        ),
        mode(
            "close-in-fields",
            "closes within the header",
            Failed,
            |_| Script::only("HTTP/1.1 200 OK\r\nContent-Ty"),
        ),
        mode(
            "reset-in-body",
            "resets within a body that has a length",
            FailedOrPage,
            |asked| half(asked).reset(),
        ),
        mode(
            "close-in-body",
            "closes within a body that has a length",
            Truncated,
            |asked| half(asked).close(),
        ),
        mode(
            "reset-in-endless-body",
            "resets within a body that the connection's end would end",
            FailedOrPage,
            |asked| Script::until_close("").send(asked.article("")).reset(),
        ),
        mode("close-in-chunk", "closes within a chunk", Truncated, |_| {
            Script::chunked("").send("1000\r\n<p>only so much").close()
        }),
        mode(
            "reset-once",
            "resets the first time, and answers from then on",
            FailedOrPage,
            |asked| {
                if asked.before == 0 {
                    return Script::new().reset();
                }
                asked.page()
            },
        ),
        mode(
            "close-every-other",
            "closes every other connection without an answer",
            FailedOrPage,
            |asked| {
                if asked.before.is_multiple_of(2) {
                    return Script::new().close();
                }
                asked.page()
            },
        ),
    ]
}

fn half(asked: &Asked<'_>) -> Script {
    let page = asked.article("");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
        page.len()
    );
    Script::new().send(head + &page[..page.len() / 2])
}

pub(super) fn at_every_byte() -> Vec<Mode> {
    /// A kind of answer: its name, itself, the bytes between its head and its first byte of content
    /// (none if only the connection's end ends it), and how it is broken off.
    type Kind = (
        &'static str,
        fn() -> Bytes,
        Option<usize>,
        fn(&Asked<'_>) -> Script,
    );
    let kinds: [Kind; 6] = [
        ("reset-length", with_length, Some(0), |asked| {
            cut(asked, &with_length()).reset()
        }),
        ("close-length", with_length, Some(0), |asked| {
            cut(asked, &with_length()).close()
        }),
        ("reset-chunked", in_chunks, Some(4), |asked| {
            cut(asked, &in_chunks()).reset()
        }),
        ("close-chunked", in_chunks, Some(4), |asked| {
            cut(asked, &in_chunks()).close()
        }),
        ("reset-open", until_close, None, |asked| {
            cut(asked, &until_close()).reset()
        }),
        ("close-open", until_close, None, |asked| {
            cut(asked, &until_close()).close()
        }),
    ];
    let mut modes = Vec::new();
    for (name, answer, before_content, script) in kinds {
        let length = answer().len();
        let head = length_of_head(&answer());
        for at in 0..=length {
            let expect = match at {
                // A reset may overtake what was sent before it, and a body without a length may end
                // anywhere.
                _ if at == length => Expect::FailedOrPage,
                _ => match before_content {
                    None if at >= head => Expect::FailedOrPage,
                    Some(bytes) if at > head + bytes && name.starts_with("reset") => {
                        Expect::FailedOrPage
                    }
                    // What came is kept.
                    Some(bytes) if at > head + bytes => Expect::Kept,
                    _ => Expect::Failed,
                },
            };
            modes.push(Mode {
                name: Cow::Owned(format!("{name}-{at}")),
                parameter: at,
                ..Mode::new(
                    FAMILY,
                    "",
                    "breaks off before the byte that its name ends with",
                    expect,
                    script,
                )
            });
        }
    }
    modes
}

fn cut(asked: &Asked<'_>, answer: &Bytes) -> Script {
    Script::new().send(answer.slice(..asked.mode.parameter))
}

fn with_length() -> Bytes {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    )
    .into()
}

fn in_chunks() -> Bytes {
    let (one, two) = BODY.split_at(20);
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: \
         chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
        one.len(),
        two.len()
    )
    .into()
}

fn until_close() -> Bytes {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{BODY}").into()
}

fn length_of_head(answer: &[u8]) -> usize {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
    end.map_or(answer.len(), |end| end + 4)
}
