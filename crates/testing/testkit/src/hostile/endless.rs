//! Answers that do not end, and answers that take too long. Each is paced, or as quick as the peer
//! reads it.

use std::time::Duration;

use super::mode::{Asked, Expect, Mode, OwnPort, Place};
use super::script::{ENDLESS, Piece, SLOW, Script, Step, TICK};

const FAMILY: &str = "endless";
/// Longer than any deadline in a test.
const LATE: Duration = Duration::from_secs(600);

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Page, Truncated};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    let never = |_: &Asked<'_>| Script::new().hang();
    vec![
        mode(
            "never-answers",
            "takes the request and says nothing",
            Failed,
            |_| Script::new().hang(),
        ),
        mode(
            "never-accepted",
            "listens, and never takes the connection",
            Failed,
            never,
        )
        .at(Place::Own(OwnPort::Unaccepted)),
        mode(
            "queue-full",
            "listens, and has no room for one more connection",
            Failed,
            never,
        )
        .at(Place::Own(OwnPort::Full)),
        mode("refused", "does not listen", Failed, never).at(Place::Own(OwnPort::Refused)),
        mode(
            "answers-too-late",
            "answers after ten minutes",
            Failed,
            |asked| Script::new().pause(LATE).send(asked.article("")).close(),
        ),
        mode(
            "half-open",
            "ends its side at once, and stays",
            Failed,
            |_| Script::new().then(Step::HalfClose).hang(),
        ),
        mode(
            "half-open-after-head",
            "ends its side behind the header, and stays",
            Failed,
            |_| head("Content-Length: 10\r\n").then(Step::HalfClose).hang(),
        ),
        mode(
            "half-open-after-body",
            "ends its side behind a page without a length, and stays",
            Page,
            |asked| {
                Script::until_close("")
                    .send(asked.article(""))
                    .then(Step::HalfClose)
                    .hang()
            },
        ),
        mode(
            "slow-status-line",
            "three letters a second from the first one on",
            Failed,
            |_| Script::new().drip(slowly("HTTP/1.1 200 OK\r\n"), SLOW),
        ),
        mode(
            "slow-fields",
            "three letters of its header a second",
            Failed,
            |_| {
                Script::new()
                    .send("HTTP/1.1 200 OK\r\n")
                    .drip(slowly("X-Field: value\r\n"), SLOW)
            },
        ),
        mode(
            "slow-body",
            "three letters of a page a second",
            Truncated,
            |_| head("Content-Length: 100000\r\n").drip(slowly("<p>slow</p>"), SLOW),
        ),
        mode(
            "slow-chunks",
            "three chunks of one letter a second",
            Truncated,
            |_| Script::chunked("").endless("1\r\na\r\n", SLOW),
        ),
        mode(
            "slow-then-done",
            "a page in four pieces with pauses, within any patience",
            Page,
            |asked| {
                let page = asked.article("");
                let (one, two) = page.split_at(page.len() / 2);
                head(&format!("Content-Length: {}\r\n", page.len()))
                    .pause(TICK)
                    .send(one.to_owned())
                    .pause(TICK)
                    .send(two.to_owned())
            },
        ),
        mode("head-then-nothing", "a header, and no body", Failed, |_| {
            head("Content-Length: 1000\r\n").hang()
        }),
        mode(
            "head-unfinished",
            "a header without the empty line, and nothing more",
            Failed,
            |_| {
                Script::new()
                    .send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
                    .hang()
            },
        ),
        mode(
            "endless-status-line",
            "a reason phrase without end",
            Failed,
            |_| {
                Script::new()
                    .send("HTTP/1.1 200 ")
                    .endless("OK ".repeat(2000), TICK)
            },
        ),
        mode(
            "endless-empty-lines",
            "empty lines before the status line, without end",
            Failed,
            |_| Script::new().endless("\r\n".repeat(2000), TICK),
        ),
        mode(
            "endless-fields",
            "header fields without end",
            Failed,
            |_| {
                let field = |number| format!("X-Field-{number}: {}\r\n", "f".repeat(200));
                Script::new().send("HTTP/1.1 200 OK\r\n").stream(
                    Piece::Numbered(field),
                    ENDLESS,
                    Duration::from_millis(2),
                )
            },
        ),
        mode(
            "endless-field-value",
            "a header field's value without end",
            Failed,
            |_| {
                Script::new()
                    .send("HTTP/1.1 200 OK\r\nX-Field: ")
                    .endless("v".repeat(8192), TICK)
            },
        ),
        mode(
            "endless-field-name",
            "a header field's name without end",
            Failed,
            |_| {
                Script::new()
                    .send("HTTP/1.1 200 OK\r\n")
                    .endless("N".repeat(8192), TICK)
            },
        ),
        mode(
            "endless-fields-fast",
            "header fields without end, as quickly as they are taken",
            Failed,
            |_| {
                let field = |number| format!("X-Field-{number}: {}\r\n", "f".repeat(2000));
                Script::new().send("HTTP/1.1 200 OK\r\n").stream(
                    Piece::Numbered(field),
                    ENDLESS,
                    Duration::ZERO,
                )
            },
        ),
        mode("endless-body", "a page without end", FailedOrPage, |_| {
            Script::until_close("").endless("<p>and more</p>\n".repeat(1000), TICK)
        }),
        mode(
            "endless-body-fast",
            "a page without end, as quickly as it is taken",
            FailedOrPage,
            |_| Script::until_close("").repeat("<p>and more</p>\n".repeat(1000), ENDLESS),
        ),
        mode("endless-chunks", "chunks without end", FailedOrPage, |_| {
            Script::chunked("").endless(format!("4000\r\n{}\r\n", "c".repeat(0x4000)), TICK)
        }),
        mode("endless-file", "a file without end", FailedOrPage, |_| {
            Script::new()
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: \
                     close\r\n\r\n",
                )
                .endless(vec![0xa5; 16 << 10], TICK)
        }),
        mode(
            "endless-continue",
            "100 Continue without end",
            Failed,
            |_| Script::new().endless("HTTP/1.1 100 Continue\r\n\r\n".repeat(20), TICK),
        ),
        mode(
            "endless-continue-fast",
            "100 Continue without end, as quickly as it is taken",
            Failed,
            |_| Script::new().repeat("HTTP/1.1 100 Continue\r\n\r\n".repeat(500), ENDLESS),
        ),
        mode(
            "endless-hints",
            "103 Early Hints without end, with a link each",
            Failed,
            |_| {
                let hint = |number| {
                    format!(
                        "HTTP/1.1 103 Early Hints\r\nLink: </{number}>; \
                         rel=preload\r\n\r\n"
                    )
                };
                Script::new().stream(Piece::Numbered(hint), ENDLESS, TICK)
            },
        ),
        mode(
            "endless-processing",
            "102 Processing every 300 ms, to seem alive",
            Failed,
            |_| Script::new().endless("HTTP/1.1 102 Processing\r\n\r\n", SLOW),
        ),
        mode(
            "endless-bytes",
            "random bytes without end instead of an answer",
            Failed,
            |_| {
                let noise = |number| {
                    let mut random = crate::random::Random::of(7, number);
                    (0..512)
                        .map(|_| char::from(random.below(128) as u8))
                        .collect()
                };
                Script::new().stream(Piece::Numbered(noise), ENDLESS, TICK)
            },
        ),
    ]
}

/// Returns the head of a page with these fields.
pub(super) fn head(fields: &str) -> Script {
    Script::new().send(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{fields}\r\n"
    ))
}

/// Enough of it to take ten minutes.
fn slowly(text: &str) -> String {
    text.chars().cycle().take(2000).collect()
}
