//! `Retry-After` as it should not be (RFC 9110 section 10.2.3).

use super::mode::{Asked, Expect, Mode};
use super::script::Script;

const FAMILY: &str = "waits";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "retry-after-huge",
            "wants to be left alone for 30 years",
            Failed,
            |_| busy("999999999"),
        ),
        mode(
            "retry-after-overflow",
            "wants to be left alone longer than 64 bits can say",
            Failed,
            |_| busy("99999999999999999999999"),
        ),
        mode(
            "retry-after-negative",
            "wants to be asked 5 seconds ago",
            Failed,
            |_| busy("-5"),
        ),
        mode("retry-after-fraction", "Retry-After: 0.5", Failed, |_| {
            busy("0.5")
        }),
        mode("retry-after-garbage", "Retry-After: soon", Failed, |_| {
            busy("soon")
        }),
        mode("retry-after-far", "a date in the year 9999", Failed, |_| {
            busy("Fri, 31 Dec 9999 23:59:59 GMT")
        }),
        mode("retry-after-past", "a date in 1970", Failed, |_| {
            busy("Thu, 01 Jan 1970 00:00:00 GMT")
        }),
        mode(
            "retry-after-no-date",
            "a date that never was",
            Failed,
            |_| busy("Fri, 31 Feb 2026 25:61:61 GMT"),
        ),
        mode("retry-after-twice", "two waits that differ", Failed, |_| {
            Script::answer(
                "HTTP/1.1 503 Service Unavailable",
                "Retry-After: 0\r\nRetry-After: 999999999\r\n",
                "busy",
            )
        }),
        mode(
            "retry-after-binary",
            "a wait of bytes that are no text",
            Failed,
            |_| {
                Script::answer(
                    "HTTP/1.1 503 Service Unavailable",
                    b"Retry-After: \xff\xfe\r\n",
                    "busy",
                )
            },
        ),
        mode("retry-after-with-page", "200 with a wait", Page, |asked| {
            asked.page_with("Retry-After: 999999999\r\n")
        }),
        mode("too-many-requests", "429 for ever", Failed, |_| {
            Script::answer(
                "HTTP/1.1 429 Too Many Requests",
                "Retry-After: 999999999\r\n",
                "too many",
            )
        }),
    ]
}

fn busy(wait: &str) -> Script {
    Script::answer(
        "HTTP/1.1 503 Service Unavailable",
        format!("Retry-After: {wait}\r\n"),
        "busy",
    )
}
