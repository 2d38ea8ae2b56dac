//! Malformed status lines and unsolicited statuses (RFC 9112 section 4, RFC 9110 section 15).

use super::mode::{Asked, Expect, Mode};
use super::script::{Piece, Script};

const FAMILY: &str = "statuses";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode("status-0", "HTTP/1.1 0", Failed, |asked| {
            under(asked, "HTTP/1.1 0 Zero")
        }),
        mode("status-000", "HTTP/1.1 000", Failed, |asked| {
            under(asked, "HTTP/1.1 000 Zero")
        }),
        mode("status-99", "HTTP/1.1 99", Failed, |asked| {
            under(asked, "HTTP/1.1 99 Nearly")
        }),
        mode("status-099", "HTTP/1.1 099", Failed, |asked| {
            under(asked, "HTTP/1.1 099 Nearly")
        }),
        mode("status-600", "HTTP/1.1 600", Failed, |asked| {
            under(asked, "HTTP/1.1 600 Beyond")
        }),
        mode(
            "status-999",
            "HTTP/1.1 999, which a well-known site sends to crawlers",
            Failed,
            |asked| under(asked, "HTTP/1.1 999 Request denied"),
        ),
        mode("status-1000", "HTTP/1.1 1000", Failed, |asked| {
            under(asked, "HTTP/1.1 1000 Far beyond")
        }),
        mode("status-negative", "HTTP/1.1 -200", Page, |asked| {
            under(asked, "HTTP/1.1 -200 OK")
        }),
        mode("status-fraction", "HTTP/1.1 200.5", Page, |asked| {
            under(asked, "HTTP/1.1 200.5 OK")
        }),
        mode("status-word", "HTTP/1.1 OK", Page, |asked| {
            under(asked, "HTTP/1.1 OK")
        }),
        mode(
            "status-missing",
            "a status line that ends after the version",
            Page,
            |asked| under(asked, "HTTP/1.1"),
        ),
        mode(
            "reason-missing",
            "a status without a reason",
            Page,
            |asked| under(asked, "HTTP/1.1 200"),
        ),
        mode("reason-long", "a reason of 20 KB", FailedOrPage, |asked| {
            under(asked, &format!("HTTP/1.1 200 {}", "OK ".repeat(7000)))
        }),
        mode(
            "reason-binary",
            "a reason of bytes that are no text",
            FailedOrPage,
            |asked| {
                Script::only(
                    [
                        b"HTTP/1.1 200 \xff\xfe\x80\x81\r\nContent-Type: text/html\r\n\r\n",
                        asked.article("").as_bytes(),
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "reason-escapes",
            "escape sequences of a terminal in the reason",
            FailedOrPage,
            |asked| under(asked, "HTTP/1.1 200 \x1b[2J\x1b]0;owned\x07"),
        ),
        mode(
            "version-0-9",
            "a page without any header, as in HTTP/0.9",
            Failed,
            |asked| Script::only(asked.article("")),
        ),
        mode("version-3-7", "HTTP/3.7", Page, |asked| {
            under(asked, "HTTP/3.7 200 OK")
        }),
        mode(
            "version-2-in-text",
            "HTTP/2 in a status line",
            Page,
            |asked| under(asked, "HTTP/2 200 OK"),
        ),
        mode("version-1-0", "HTTP/1.0", Page, |asked| {
            under(asked, "HTTP/1.0 200 OK").close()
        }),
        mode("version-lower-case", "http/1.1", Page, |asked| {
            under(asked, "http/1.1 200 ok")
        }),
        mode(
            "version-radio",
            "ICY 200 OK, as old radio stations say",
            Page,
            |asked| under(asked, "ICY 200 OK"),
        ),
        mode(
            "garbage-before-status",
            "bytes before the status line",
            Failed,
            |asked| under(asked, "garbage HTTP/1.1 200 OK"),
        ),
        mode(
            "blank-line-before-status",
            "an empty line before the status line",
            FailedOrPage,
            |asked| under(asked, "\r\nHTTP/1.1 200 OK"),
        ),
        mode("status-tabs", "tabs in the status line", Page, |asked| {
            under(asked, "HTTP/1.1\t200\tOK")
        }),
        mode("answers-as-ssh", "the greeting of SSH", Failed, |_| {
            Script::new().send("SSH-2.0-OpenSSH_9.9\r\n").hang()
        }),
        mode(
            "answers-as-mail",
            "the greeting of a mail server",
            Failed,
            |_| Script::only("220 mail.hostile.test ESMTP\r\n500 unrecognised command\r\n"),
        ),
        mode(
            "answers-as-http-2",
            "a frame of HTTP/2 to a request of HTTP/1.1",
            Failed,
            |_| {
                Script::only(
                    &[
                        0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    ][..],
                )
            },
        ),
        mode(
            "answers-the-request",
            "says what it heard, as an echo server does",
            Failed,
            |asked| Script::only(asked.request.head.clone()),
        ),
        mode(
            "status-204-with-body",
            "204 No Content with a page",
            FailedOrPage,
            |asked| under(asked, "HTTP/1.1 204 No Content").close(),
        ),
        mode(
            "status-205-with-body",
            "205 Reset Content with a page",
            FailedOrPage,
            |asked| under(asked, "HTTP/1.1 205 Reset Content").close(),
        ),
        mode(
            "status-304-unasked",
            "304 Not Modified, though nothing was said of an earlier visit",
            Failed,
            |_| Script::new().send("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n"),
        ),
        mode(
            "status-304-with-body",
            "304 Not Modified with a page",
            Failed,
            |asked| under(asked, "HTTP/1.1 304 Not Modified").close(),
        ),
        mode(
            "status-206-unasked",
            "206 Partial Content of a page that nobody wanted in part",
            FailedOrPage,
            |asked| {
                let body = asked.article("");
                Script::answer(
                    "HTTP/1.1 206 Partial Content",
                    format!("Content-Range: bytes 0-{}/1000000\r\n", body.len() - 1),
                    body,
                )
            },
        ),
        mode(
            "status-206-lies",
            "206 Partial Content with a range that cannot be",
            FailedOrPage,
            |asked| {
                Script::answer(
                    "HTTP/1.1 206 Partial Content",
                    "Content-Range: bytes 9-3/2\r\n",
                    asked.article(""),
                )
            },
        ),
        mode("status-401", "asks for a password", Failed, |_| {
            Script::answer(
                "HTTP/1.1 401 Unauthorized",
                "WWW-Authenticate: Basic realm=\"\\\"x\"\r\n",
                "who are you?",
            )
        }),
        mode(
            "status-401-flood",
            "asks for a password in a hundred ways",
            Failed,
            |_| {
                let challenges: String = (0..100)
                    .map(|n| format!("WWW-Authenticate: Scheme{n} realm=\"{n}\"\r\n"))
                    .collect();
                Script::answer("HTTP/1.1 401 Unauthorized", challenges, "who are you?")
            },
        ),
        mode(
            "status-407",
            "poses as a proxy that asks for a password",
            Failed,
            |_| {
                Script::answer(
                    "HTTP/1.1 407 Proxy Authentication Required",
                    "Proxy-Authenticate: Basic realm=x\r\n",
                    "pay first",
                )
            },
        ),
        mode(
            "status-101",
            "changes to a protocol that nobody asked for",
            Failed,
            |_| {
                let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: \
                    websocket\r\n\r\n";
                Script::new().send(head).hang()
            },
        ),
        mode(
            "status-103-then-page",
            "Early Hints, then the page",
            Page,
            |asked| {
                after(
                    asked,
                    "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; \
                     rel=preload\r\n\r\n",
                )
            },
        ),
        mode(
            "status-100-then-page",
            "100 Continue, which nobody waited for, then the page",
            Page,
            |asked| after(asked, "HTTP/1.1 100 Continue\r\n\r\n"),
        ),
        mode(
            "status-199-then-page",
            "199, then the page",
            FailedOrPage,
            |asked| after(asked, "HTTP/1.1 199 Something\r\n\r\n"),
        ),
        mode(
            "status-100-many-then-page",
            "5,000 times 100 Continue, then the page",
            FailedOrPage,
            |asked| {
                let mut script = Script::new().stream(
                    Piece::Same("HTTP/1.1 100 Continue\r\n\r\n".into()),
                    5000,
                    std::time::Duration::ZERO,
                );
                script.0.extend(asked.page().0);
                script
            },
        ),
        mode("status-402", "wants to be paid", Failed, |_| {
            Script::answer("HTTP/1.1 402 Payment Required", "", "crawler-price: USD 5")
        }),
        mode("status-418", "is a teapot", Failed, |_| {
            Script::answer("HTTP/1.1 418 I'm a teapot", "", "short and stout")
        }),
        mode("status-451", "is forbidden by law", Failed, |_| {
            Script::answer("HTTP/1.1 451 Unavailable For Legal Reasons", "", "no")
        }),
        mode(
            "status-500-with-page",
            "500 with a page that looks fine",
            Failed,
            |asked| under(asked, "HTTP/1.1 500 Internal Server Error"),
        ),
        mode(
            "status-404-that-is-a-page",
            "a good page under 404",
            Failed,
            |asked| under(asked, "HTTP/1.1 404 Not Found"),
        ),
    ]
}

/// The mode's page under this status line.
fn under(asked: &Asked<'_>, status_line: &str) -> Script {
    Script::answer(
        status_line,
        "Content-Type: text/html\r\n",
        asked.article(""),
    )
}

/// The mode's page behind this.
fn after(asked: &Asked<'_>, first: &'static str) -> Script {
    let mut script = Script::new().send(first);
    script.0.extend(asked.page().0);
    script
}
