//! The chunked transfer coding, spoilt (RFC 9112 section 7.1).

use super::mode::{Asked, Expect, Mode};
use super::script::{Piece, SLOW, Script, TICK};

const FAMILY: &str = "chunks";

pub(super) fn modes() -> Vec<Mode> {
    use Expect::{FailedOrPage, Page, Truncated};
    let mode = |name, does, expect, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, expect, answer)
    };
    vec![
        mode(
            "chunk-size-no-number",
            "a chunk whose size is a word",
            Truncated,
            |asked| then(asked, "zebra\r\n").close(),
        ),
        mode(
            "chunk-size-negative",
            "a chunk of -5 bytes",
            Truncated,
            |asked| then(asked, "-5\r\nabcde\r\n").close(),
        ),
        mode(
            "chunk-size-overflow",
            "a chunk of more bytes than 64 bits can count",
            Truncated,
            |asked| then(asked, "fffffffffffffffff\r\nabc").close(),
        ),
        mode(
            "chunk-size-huge",
            "promises a chunk of 2^63 - 1 bytes, sends three and closes",
            Truncated,
            |asked| then(asked, "7fffffffffffffff\r\nabc").close(),
        ),
        mode(
            "chunk-size-missing",
            "an empty line where a chunk's size should be",
            Truncated,
            |asked| then(asked, "\r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-size-prefixed",
            "a chunk's size as 0x5",
            Truncated,
            |asked| then(asked, "0x5\r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-size-spaced",
            "spaces and tabs around a chunk's size",
            FailedOrPage,
            |asked| then(asked, "5 \t \r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-size-leading-space",
            "a space before a chunk's size",
            FailedOrPage,
            |asked| then(asked, " 5\r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-size-endless",
            "a chunk's size of endless zeros",
            Truncated,
            |asked| then(asked, "").endless("0".repeat(4096), TICK),
        ),
        mode(
            "chunk-size-slow",
            "the digits of a chunk's size, very slowly",
            Truncated,
            |asked| {
                then(asked, "")
                    .drip("0".repeat(1000), SLOW)
                    .send("5\r\nabcde\r\n0\r\n\r\n")
            },
        ),
        mode(
            "chunk-without-line-end",
            "a chunk that is not followed by CRLF",
            Truncated,
            |asked| then(asked, "5\r\nabcde0\r\n\r\n").close(),
        ),
        mode(
            "chunk-bare-line-feeds",
            "LF alone after sizes and chunks",
            FailedOrPage,
            |asked| then(asked, "5\nabcde\n0\n\n").close(),
        ),
        mode(
            "chunk-longer-than-said",
            "a chunk with more bytes than it says",
            Truncated,
            |asked| then(asked, "5\r\nabcdefghij\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-shorter-than-said",
            "a chunk with fewer bytes than it says, then the end",
            Truncated,
            |asked| then(asked, "50\r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-last-missing",
            "closes without the last chunk",
            Truncated,
            |asked| then(asked, "").close(),
        ),
        mode(
            "chunk-last-hangs",
            "never sends the last chunk, and stays",
            Truncated,
            |asked| then(asked, "").hang(),
        ),
        mode(
            "chunk-last-without-end",
            "the last chunk without the empty line behind it",
            FailedOrPage,
            |asked| then(asked, "0\r\n").close(),
        ),
        mode(
            "chunk-extension-endless",
            "an endless chunk extension",
            Truncated,
            |asked| then(asked, "5").endless(";padding=\"padding\"".repeat(200), TICK),
        ),
        mode(
            "chunk-extensions-on-each",
            "40,000 chunks of one byte with an extension of 100 each",
            FailedOrPage,
            |_| {
                let chunk = format!("1;{}=x\r\na\r\n", "x".repeat(98));
                Script::chunked("").repeat(chunk.repeat(40), 1000).chunk("")
            },
        ),
        mode(
            "chunk-extension-odd",
            "quotes, NUL and CR in a chunk extension",
            FailedOrPage,
            |asked| then(asked, "5;a=\"\0\\\"\r;b\x7f\r\nabcde\r\n0\r\n\r\n").close(),
        ),
        mode(
            "chunk-trailers-endless",
            "endless trailers",
            Truncated,
            |asked| {
                let trailer = |number| format!("X-Trailer-{number}: {}\r\n", "t".repeat(500));
                then(asked, "0\r\n").stream(Piece::Numbered(trailer), super::script::ENDLESS, TICK)
            },
        ),
        mode(
            "chunk-trailer-endless",
            "one trailer whose value does not end",
            Truncated,
            |asked| then(asked, "0\r\nX-Trailer: ").endless("t".repeat(8192), TICK),
        ),
        mode(
            "chunk-trailers-many",
            "2,000 trailers",
            FailedOrPage,
            |asked| {
                let trailer = |number| format!("X-Trailer-{number}: t\r\n");
                then(asked, "0\r\n")
                    .stream(Piece::Numbered(trailer), 2000, std::time::Duration::ZERO)
                    .send("\r\n")
            },
        ),
        mode(
            "chunk-trailer-forged",
            "trailers that name a length, a type and a cookie",
            FailedOrPage,
            |asked| {
                then(
                    asked,
                    "0\r\nContent-Length: 3\r\nContent-Type: image/png\r\nSet-Cookie: a=b\r\n\r\n",
                )
            },
        ),
        mode("chunk-one-byte-each", "every byte a chunk", Page, |asked| {
            let page = asked.article("");
            let chunks = page
                .bytes()
                .map(|byte| [b"1\r\n", &[byte][..], b"\r\n"].concat());
            Script::chunked("")
                .send(chunks.collect::<Vec<_>>().concat())
                .chunk("")
        }),
        mode(
            "chunk-sizes-in-pieces",
            "line ends of chunks split between packets",
            Page,
            |asked| {
                let page = asked.article("");
                Script::chunked("")
                    .drip(format!("{:x}\r\n", page.len()), TICK)
                    .send(page)
                    .drip("\r\n0\r\n\r\n", TICK)
            },
        ),
    ]
}

/// The mode's page as a good chunk, and then this.
fn then(asked: &Asked<'_>, junk: &'static str) -> Script {
    Script::chunked("").chunk(asked.article("")).send(junk)
}
