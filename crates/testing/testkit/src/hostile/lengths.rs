//! Lengths of bodies that servers declare and do not keep (RFC 9112 section 6).

use super::endless::head;
use super::mode::{Asked, Expect, Mode};
use super::script::{Script, TICK};

const FAMILY: &str = "lengths";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{FailedOrPage, Page, Truncated};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "length-too-long",
            "promises 100 bytes more than it sends, and closes",
            Truncated,
            |asked| said(asked, |length| field(&(length + 100).to_string())).close(),
        ),
        mode(
            "length-too-short",
            "sends more than it promised",
            Page,
            |asked| said(asked, |length| field(&(length - 20).to_string())).close(),
        ),
        mode(
            "length-zero-with-body",
            "promises nothing and sends a page",
            Page,
            |asked| said(asked, |_| field("0")).close(),
        ),
        mode("length-negative", "Content-Length: -1", Page, |asked| {
            said(asked, |_| field("-1")).close()
        }),
        mode(
            "length-huge",
            "promises 2^63 - 1 bytes, sends a page and closes",
            Truncated,
            |asked| said(asked, |_| field("9223372036854775807")).close(),
        ),
        mode(
            "length-overflow",
            "promises more bytes than 64 bits can count",
            Page,
            |asked| said(asked, |_| field("99999999999999999999999999")).close(),
        ),
        mode(
            "lengths-differ",
            "two lengths, of which one is right",
            Page,
            |asked| {
                said(asked, |length| {
                    [field("7"), field(&length.to_string())].concat()
                })
                .close()
            },
        ),
        mode(
            "lengths-agree",
            "the right length, twice",
            FailedOrPage,
            |asked| said(asked, |length| field(&length.to_string()).repeat(2)).close(),
        ),
        mode("length-plus", "a length with a plus sign", Page, |asked| {
            said(asked, |length| field(&format!("+{length}"))).close()
        }),
        mode(
            "length-list-agrees",
            "the right length twice in one field",
            FailedOrPage,
            |asked| said(asked, |length| field(&format!("{length}, {length}"))).close(),
        ),
        mode(
            "length-list-differs",
            "two lengths in one field",
            Page,
            |asked| said(asked, |length| field(&format!("{length}, 7"))).close(),
        ),
        mode(
            "length-hexadecimal",
            "Content-Length: 0x40",
            Page,
            |asked| said(asked, |_| field("0x40")).close(),
        ),
        mode("length-word", "Content-Length: many", Page, |asked| {
            said(asked, |_| field("many")).close()
        }),
        mode(
            "length-empty",
            "a length field without a value",
            FailedOrPage,
            |asked| said(asked, |_| field("")).close(),
        ),
        mode(
            "length-padded",
            "the right length with leading zeros and spaces around",
            Page,
            |asked| said(asked, |length| field(&format!("   0000{length}   "))).close(),
        ),
        mode(
            "length-and-chunks",
            "a wrong length beside a chunked coding, which wins",
            FailedOrPage,
            |asked| {
                Script::chunked("Content-Length: 7\r\n")
                    .chunk(asked.article(""))
                    .chunk("")
            },
        ),
        mode(
            "length-never-reached",
            "promises a terabyte and sends it, slowly",
            Truncated,
            |_| head(&field("1099511627776")).endless("<p>more</p>".repeat(1000), TICK),
        ),
        mode(
            "length-stops-short",
            "sends half of what it promised, and nothing more",
            Truncated,
            |asked| {
                let page = asked.article("");
                head(&field(&page.len().to_string()))
                    .send(page[..page.len() / 2].to_owned())
                    .hang()
            },
        ),
        mode(
            "transfer-unknown",
            "a transfer coding that nobody knows",
            FailedOrPage,
            |asked| said(asked, |_| "Transfer-Encoding: frobnicated\r\n".into()).close(),
        ),
        mode(
            "transfer-chunked-twice",
            "Transfer-Encoding: chunked, chunked",
            FailedOrPage,
            |asked| chunks_as(asked, "Transfer-Encoding: chunked, chunked\r\n"),
        ),
        mode(
            "transfer-chunked-not-last",
            "Transfer-Encoding: chunked, gzip",
            FailedOrPage,
            |asked| chunks_as(asked, "Transfer-Encoding: chunked, gzip\r\n"),
        ),
        mode(
            "transfer-gzip",
            "names a gzip transfer coding that is not there",
            FailedOrPage,
            |asked| chunks_as(asked, "Transfer-Encoding: gzip, chunked\r\n"),
        ),
        mode(
            "transfer-identity",
            "Transfer-Encoding: identity, which was abolished",
            FailedOrPage,
            |asked| said(asked, |_| "Transfer-Encoding: identity\r\n".into()).close(),
        ),
        mode(
            "transfer-in-http-1-0",
            "chunks under HTTP/1.0, which has none",
            FailedOrPage,
            |asked| {
                let page = asked.article("");
                let head = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: \
                    chunked\r\n\r\n";
                Script::new().send(head).chunk(page).chunk("").close()
            },
        ),
        mode(
            "transfer-smuggled",
            "a chunked coding behind a vertical tab, beside a length",
            FailedOrPage,
            |asked| {
                said(asked, |length| {
                    format!(
                        "Transfer-Encoding: \x0bchunked\r\n{}",
                        field(&length.to_string())
                    )
                })
                .close()
            },
        ),
    ]
}

fn field(length: &str) -> String {
    format!("Content-Length: {length}\r\n")
}

/// Returns the mode's page behind header fields made for its length.
fn said(asked: &Asked<'_>, fields: impl FnOnce(usize) -> String) -> Script {
    let page = asked.article("");
    head(&fields(page.len())).send(page)
}

fn chunks_as(asked: &Asked<'_>, field: &str) -> Script {
    head(field).chunk(asked.article("")).chunk("").close()
}
