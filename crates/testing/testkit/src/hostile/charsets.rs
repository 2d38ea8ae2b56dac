//! Charsets that are not what they are called.

use super::mode::{Asked, Expect, Mode};
use super::script::Script;

const FAMILY: &str = "charsets";

pub(super) fn modes() -> Vec<Mode> {
    let mode = |name, does, answer: fn(&Asked<'_>) -> Script| {
        Mode::new(FAMILY, name, does, Expect::Page, answer)
    };
    vec![
        mode(
            "charset-utf-16-as-utf-8",
            "UTF-16 without a byte order mark that is called UTF-8",
            |asked| named("utf-8", wide(&asked.article(""), u16::to_le_bytes)),
        ),
        mode(
            "charset-utf-16-unmarked",
            "UTF-16 in the other order than is usual",
            |asked| named("utf-16", wide(&asked.article(""), u16::to_be_bytes)),
        ),
        mode(
            "charset-utf-32",
            "UTF-32, which browsers do not read",
            |asked| {
                named(
                    "utf-32",
                    asked
                        .article("")
                        .chars()
                        .flat_map(|letter| (letter as u32).to_be_bytes())
                        .collect::<Vec<u8>>(),
                )
            },
        ),
        mode("charset-utf-7", "UTF-7, in which a script hides", |asked| {
            named(
                "utf-7",
                asked.article("+ADw-script+AD4-alert(1)+ADw-/script+AD4-"),
            )
        }),
        mode("charset-unknown", "a charset that nobody knows", |asked| {
            named("x-klingon", asked.article("naïve"))
        }),
        mode(
            "charset-name-odd",
            "a charset's name of 10 KB, quotes and commas",
            |asked| {
                named(
                    &format!("\"{}\", '';=;", "utf-8".repeat(2000)),
                    asked.article(""),
                )
            },
        ),
        mode(
            "charset-mark-against-field",
            "a byte order mark of UTF-8 under the name of UTF-16",
            |asked| named("utf-16le", format!("\u{feff}{}", asked.article(""))),
        ),
        mode(
            "charset-two-marks",
            "the byte order marks of UTF-16 and of UTF-8",
            |asked| {
                named(
                    "utf-8",
                    [
                        &[0xff, 0xfe, 0xef, 0xbb, 0xbf][..],
                        asked.article("").as_bytes(),
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "charset-meta-against-field",
            "a declaration in the page against the field",
            |asked| named("utf-8", asked.article("<meta charset=shift_jis>für")),
        ),
        mode(
            "charset-meta-thousandfold",
            "a thousand declarations, each another",
            |asked| {
                let metas: String = (0..1000)
                    .map(|n| format!("<meta charset=windows-12{:02}>", n % 60))
                    .collect();
                Script::document("text/html", "", metas + &asked.article(""))
            },
        ),
        mode(
            "charset-iso-2022-jp",
            "escapes of ISO-2022-JP that swallow quotes and tags",
            |asked| {
                named(
                    "iso-2022-jp",
                    asked.article(
                        "<a href=\"\x1b$B\"><img src=x \
                         onerror=alert(1)>\x1b(B\">x</a>\x1b(J\x1b$@\x1b",
                    ),
                )
            },
        ),
        mode(
            "charset-hz",
            "HZ, which is read as a mistake for its harm",
            |asked| named("hz-gb-2312", asked.article("~{VPND~}~{")),
        ),
        mode(
            "charset-replacement",
            "ISO-2022-KR, of which a browser reads nothing",
            |asked| named("iso-2022-kr", asked.article("\x0e!!\x0f")),
        ),
        mode(
            "charset-cut",
            "a letter of three bytes of which two come",
            |asked| {
                named(
                    "utf-8",
                    [asked.article("").as_bytes(), b"\xe2\x82"].concat(),
                )
            },
        ),
        mode(
            "charset-overlong",
            "overlong and impossible UTF-8",
            |asked| {
                named(
                    "utf-8",
                    [
                        asked.article("").as_bytes(),
                        &b"\xc0\xaf\xe0\x80\xaf\xf8\x88\x80\x80\x80\xed\xa0\x80\xff"[..],
                    ]
                    .concat(),
                )
            },
        ),
        mode("charset-nuls", "a NUL after every letter", |asked| {
            named(
                "utf-8",
                asked
                    .article("")
                    .bytes()
                    .flat_map(|byte| [byte, 0])
                    .collect::<Vec<u8>>(),
            )
        }),
        mode(
            "charset-all-bytes",
            "every byte from 0 to 255, thousandfold",
            |asked| {
                let bytes: Vec<u8> = (0..=255).cycle().take(256_000).collect();
                named("", [asked.article("").as_bytes(), &bytes].concat())
            },
        ),
        mode(
            "charset-multi-byte-lead",
            "lead bytes of Shift JIS before every bracket",
            |asked| {
                named(
                    "shift_jis",
                    [
                        asked.article("").as_bytes(),
                        &b"\x81<a href=/x\x81>\x81<\x81/a\x81>".repeat(1000)[..],
                    ]
                    .concat(),
                )
            },
        ),
        mode(
            "charset-invisible",
            "letters that cannot be seen, and that turn the direction",
            |asked| {
                named(
                    "utf-8",
                    asked.article(&"\u{202e}\u{200b}\u{2066}\u{feff}\u{e0041}".repeat(2000)),
                )
            },
        ),
        mode(
            "charset-accents",
            "one letter with 100,000 accents",
            |asked| {
                named(
                    "utf-8",
                    asked.article(&format!("Z{}", "\u{0301}".repeat(100_000))),
                )
            },
        ),
    ]
}

fn named(charset: &str, body: impl AsRef<[u8]>) -> Script {
    Script::document(&format!("text/html; charset={charset}"), "", body)
}

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}
