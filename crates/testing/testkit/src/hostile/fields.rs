//! Header fields that break the rules, or all bounds (RFC 9112 section 5).

use super::mode::{Asked, Expect, Mode};
use super::script::{Piece, Script};

const FAMILY: &str = "fields";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{Failed, FailedOrPage, Page};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode("field-nul", "a NUL in a field's value", Page, |asked| {
            asked.page_with("X-Field: a\0b\r\n")
        }),
        mode(
            "field-folded",
            "a value over three lines, as was once allowed",
            Page,
            |asked| asked.page_with("X-Field: one\r\n two\r\n\tthree\r\n"),
        ),
        mode(
            "field-without-colon",
            "a line without a colon",
            Page,
            |asked| asked.page_with("this is no field\r\n"),
        ),
        mode(
            "field-space-before-colon",
            "a space before the colon",
            Page,
            |asked| asked.page_with("X-Field : value\r\n"),
        ),
        mode(
            "field-empty-name",
            "a field without a name",
            Page,
            |asked| asked.page_with(": value\r\n"),
        ),
        mode("field-name-spaced", "a name with a space", Page, |asked| {
            asked.page_with("X Field: value\r\n")
        }),
        mode(
            "field-name-binary",
            "a name of bytes that are no letters",
            Page,
            |asked| asked.page_with(b"X-\xc3\xa9\xff: value\r\n"),
        ),
        mode(
            "field-value-binary",
            "a value of bytes that are no text",
            Page,
            |asked| {
                asked.page_with(
                    [
                        b"X-Field: ",
                        &(0x80..=0xff).collect::<Vec<u8>>()[..],
                        b"\r\n",
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "field-value-controls",
            "control characters in a value",
            FailedOrPage,
            |asked| asked.page_with("X-Field: \x01\x02\x1b[31m\x7f\r\n"),
        ),
        mode(
            "field-carriage-return-alone",
            "CR alone in a value, with a forged field behind it",
            FailedOrPage,
            |asked| asked.page_with("X-Field: a\rX-Forged: b\r\n"),
        ),
        mode(
            "field-line-feeds-alone",
            "LF alone at the end of every line",
            FailedOrPage,
            |asked| {
                let page = asked.article("");
                let head = format!(
                    "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: {}\n\n",
                    page.len()
                );
                Script::new().send(head + &page)
            },
        ),
        mode(
            "field-line-ends-mixed",
            "CR CR LF at the end of a line",
            FailedOrPage,
            |asked| asked.page_with("X-Field: a\r\r\n"),
        ),
        mode(
            "field-two-types",
            "two types that contradict each other",
            Page,
            |asked| asked.page_with("Content-Type: image/png\r\n"),
        ),
        mode(
            "fields-257",
            "257 fields, one more than we take",
            FailedOrPage,
            |asked| asked.page_with(many(255)),
        ),
        mode("fields-10000", "10,000 fields", Failed, |asked| {
            asked.page_with(many(10_000))
        }),
        mode(
            "fields-same-name",
            "200 fields of one name",
            Page,
            |asked| asked.page_with("X-Field: value\r\n".repeat(200)),
        ),
        mode("field-name-60k", "a name of 60 KB", FailedOrPage, |asked| {
            asked.page_with(format!("{}: value\r\n", "N".repeat(60_000)))
        }),
        mode(
            "field-name-70k",
            "a name of 70 KB, longer than HTTP libraries hold",
            Failed,
            |asked| asked.page_with(format!("{}: value\r\n", "N".repeat(70_000))),
        ),
        mode(
            "field-value-60k",
            "a value of 60 KB",
            FailedOrPage,
            |asked| asked.page_with(format!("X-Field: {}\r\n", "v".repeat(60_000))),
        ),
        mode("field-value-300k", "a value of 300 KB", Failed, |asked| {
            asked.page_with(format!("X-Field: {}\r\n", "v".repeat(300_000)))
        }),
        mode("fields-16m", "16 MiB of header", Failed, |_| {
            let field = |number| format!("X-{number}: {}\r\n", "v".repeat(16 << 10));
            Script::new()
                .send("HTTP/1.1 200 OK\r\n")
                .stream(Piece::Numbered(field), 1024, std::time::Duration::ZERO)
                .send("\r\n")
        }),
        mode(
            "field-cookies",
            "200 cookies of 200 bytes, for any domain",
            Page,
            |asked| {
                let cookies = (0..200).map(|n| {
                    format!(
                        "Set-Cookie: c{n}={}; Domain=.test; Path=/\r\n",
                        "c".repeat(200)
                    )
                });
                asked.page_with(cookies.collect::<String>())
            },
        ),
        mode(
            "field-cookie-odd",
            "a cookie with line ends encoded, and one without a name",
            Page,
            |asked| asked.page_with("Set-Cookie: a=b%0d%0aX-Forged:%201\r\nSet-Cookie: =;;;==\r\n"),
        ),
        mode("field-dates-odd", "dates that never were", Page, |asked| {
            asked.page_with(
                "Date: yesterday\r\nLast-Modified: Fri, 31 Feb 99999 25:61:61 \
                GMT\r\nExpires: -1\r\nAge: -5\r\n",
            )
        }),
        mode(
            "field-etag-odd",
            "an ETag with quotes, spaces and 30 KB",
            Page,
            |asked| asked.page_with(format!("ETag: W/\"\"{}\" \"\r\n", "e".repeat(30_000))),
        ),
        mode(
            "field-links",
            "60 KB of links in the header",
            FailedOrPage,
            |asked| {
                let links: Vec<String> = (0..1500)
                    .map(|n| format!("<http://x/{n}>; rel=next"))
                    .collect();
                asked.page_with(format!("Link: {}\r\n", links.join(", ")))
            },
        ),
        mode(
            "field-link-unclosed",
            "a link in the header that is not closed",
            Page,
            |asked| asked.page_with("Link: </a; rel=\"next, <<<>>>;;; ;=\"\\\"\r\n"),
        ),
        mode(
            "field-robots-flood",
            "X-Robots-Tag 200 times, for others",
            Page,
            |asked| {
                asked.page_with(
                    "X-Robots-Tag: otherbot: noindex, nofollow, unavailable_after: 1 Jan 99999\r\n"
                        .repeat(200),
                )
            },
        ),
        mode(
            "field-disposition",
            "a file name that climbs out of its folder",
            Page,
            |asked| {
                asked.page_with(
                    "Content-Disposition: attachment; \
                    filename=\"../../../etc/passwd\"; filename*=UTF-8''%00%0d%0a\r\n",
                )
            },
        ),
        mode(
            "field-location-of-content",
            "says that the page is another's",
            Page,
            |asked| asked.page_with("Content-Location: http://example.com/\r\n"),
        ),
        mode(
            "field-alternative-service",
            "sends us to other ports by Alt-Svc",
            Page,
            |asked| {
                asked.page_with(
                    "Alt-Svc: h2=\"localhost:1\"; ma=99999999, h3=\":1\"\r\nUpgrade: h2c\r\n",
                )
            },
        ),
        mode(
            "field-warc-forged",
            "fields that look like those of an archive",
            Page,
            |asked| {
                asked.page_with(
                    "WARC-Type: response\r\nWARC-Target-URI: \
                     http://example.com/\r\nWARC-Record-ID: <x>\r\n",
                )
            },
        ),
    ]
}

fn many(count: usize) -> String {
    (0..count)
        .map(|number| format!("X-{number}: v\r\n"))
        .collect()
}
