//! Bodies that are not what they are called.

use super::mode::{Asked, Expect, Mode};
use super::script::Script;

const FAMILY: &str = "content";
/// A picture of one pixel, as far as the first chunk.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Page, answer)
    };
    vec![
        mode(
            "type-image-is-html",
            "a page that is called a picture",
            |asked| Script::document("image/png", "", asked.article("")),
        ),
        mode(
            "type-html-is-image",
            "a picture that is called a page",
            |asked| Script::page("", [PNG, asked.paragraph().as_bytes()].concat()),
        ),
        mode(
            "type-html-is-noise",
            "a mebibyte of noise that is called a page",
            |asked| {
                let mut random = crate::random::Random::of(5, 0);
                let noise: Vec<u8> = (0..1 << 17)
                    .flat_map(|_| random.next().to_le_bytes())
                    .collect();
                Script::page("", [asked.paragraph().as_bytes(), &noise].concat())
            },
        ),
        mode(
            "type-html-is-zip",
            "an archive that is called a page",
            |asked| {
                Script::page(
                    "",
                    [
                        &b"PK\x03\x04\x14\0\0\0\x08\0"[..],
                        asked.paragraph().as_bytes(),
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "type-html-is-program",
            "a program that is called a page",
            |asked| {
                Script::page(
                    "",
                    [
                        &b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"[..],
                        asked.paragraph().as_bytes(),
                    ]
                    .concat(),
                )
            },
        ),
        mode("type-none", "a page without a type", |asked| {
            Script::untyped("", asked.article(""))
        }),
        mode("type-empty", "a type without a value", |asked| {
            Script::document("", "", asked.article(""))
        }),
        mode("type-garbage", "a type that is none", |asked| {
            Script::document("//;;==text html/\"", "", asked.article(""))
        }),
        mode("type-binary", "a type of bytes that are no text", |asked| {
            Script::untyped(b"Content-Type: text/\xff\xfehtml\r\n", asked.article(""))
        }),
        mode("type-long", "a type with 30 KB of parameters", |asked| {
            let parameters: String = (0..2000).map(|n| format!("; a{n}=\"b;\"")).collect();
            Script::document(&format!("text/html{parameters}"), "", asked.article(""))
        }),
        mode(
            "type-multipart",
            "a page in parts that replace each other",
            |asked| {
                let part = format!(
                    "--x\r\nContent-Type: text/html\r\n\r\n{}\r\n",
                    asked.article("")
                );
                Script::document("multipart/x-mixed-replace; boundary=x", "", part.repeat(20))
            },
        ),
        mode("type-many", "types in a list", |asked| {
            Script::document("text/html, image/png, */*", "", asked.article(""))
        }),
        mode("type-pdf-hollow", "a PDF of one line", |asked| {
            Script::document(
                "application/pdf",
                "",
                format!("%PDF-1.7\n%{}\n", asked.mode.name),
            )
        }),
        mode(
            "type-xml-laughs",
            "a page in XML with entities of entities",
            |asked| {
                let mut entities = "<!ENTITY l0 \"lol\">".to_owned();
                for level in 1..12 {
                    entities += &format!(
                        "<!ENTITY l{level} \"{}\">",
                        format!("&l{};", level - 1).repeat(10)
                    );
                }
                let page = format!(
                    "<!DOCTYPE html [{entities}]>\
                     <html xmlns=\"http://www.w3.org/1999/xhtml\"><body>{} &l11;</body></html>",
                    asked.paragraph()
                );
                Script::document("application/xhtml+xml", "", page)
            },
        ),
        mode(
            "type-feed-broken",
            "a feed that is not well formed",
            |asked| {
                Script::document(
                    "application/rss+xml",
                    "",
                    format!("<rss><channel><item><link>/a</item>{}", asked.paragraph()),
                )
            },
        ),
        mode("type-json-nested", "brackets within brackets", |_| {
            Script::document("application/json", "", "[".repeat(500_000))
        }),
        mode(
            "type-archive",
            "an archive's records instead of a page",
            |asked| {
                let record =
                    "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n";
                Script::document("text/html", "", record.repeat(100) + &asked.paragraph())
            },
        ),
    ]
}
