//! UTF-16, in which Windows' Notepad saves a file.

use web::{RobotsRules, robots_text};

use crate::url;

const RULES: &str = "User-agent: *\r\nDisallow: /private\r\n";

#[test]
fn a_file_in_utf_16_is_decoded() {
    // No rule was found in it, and forbidden pages were fetched.
    let (little, big) = (u16::to_le_bytes, u16::to_be_bytes);
    for mark in ["", "\u{feff}"] {
        for bytes_of in [little, big] {
            let text = format!("{mark}{RULES}");
            let file: Vec<u8> = text.encode_utf16().flat_map(bytes_of).collect();
            let rules = RobotsRules::parse(&file, "FooBot");
            assert!(!rules.verdict(&url("/private")).allowed, "{file:?}");
            assert!(rules.verdict(&url("/open")).allowed, "{file:?}");
            assert_eq!(robots_text(&file), RULES.as_bytes());
        }
    }
}

/// Only the first two letters were looked at, and no rule was found behind a comment.
#[test]
fn utf_16_without_a_mark_is_recognized_behind_a_comment_in_any_language() {
    let (little, big) = (u16::to_le_bytes, u16::to_be_bytes);
    for comment in [
        "# 禁止訪問\r\n",
        "# 一律禁止\r\n",
        "禁止\r\n",
        "# über uns\r\n",
        "ж\r\n",
    ] {
        for bytes_of in [little, big] {
            let text = format!("{comment}{RULES}");
            let file: Vec<u8> = text.encode_utf16().flat_map(bytes_of).collect();
            let rules = RobotsRules::parse(&file, "FooBot");
            assert!(!rules.verdict(&url("/private")).allowed, "{comment:?}");
            assert!(rules.verdict(&url("/open")).allowed, "{comment:?}");
            assert_eq!(robots_text(&file), text.as_bytes());
        }
    }
}

/// The second mark made the first line meaningless, and with it the group.
#[test]
fn byte_order_marks_may_be_repeated() {
    for marks in 0..4 {
        let text = format!("{}{RULES}", "\u{feff}".repeat(marks));
        let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for file in [text.into_bytes(), utf_16] {
            let rules = RobotsRules::parse(&file, "FooBot");
            assert!(!rules.verdict(&url("/private")).allowed, "{marks}");
        }
    }
}

#[test]
fn a_line_that_is_cut_at_the_limit_is_not_read_in_utf_16_either() {
    let text = format!("\u{feff}{RULES}").repeat(20_000);
    let file: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cut = &file[..web::MAX_ROBOTS_BYTES + 1];
    assert!(robots_text(cut).ends_with(b"Disallow: /private\r"));
}

#[test]
fn other_files_stay_as_they_are() {
    for file in [
        &b""[..],
        b"a",
        b"\xff",
        b"User-agent: *\0Disallow: /",
        b"a\n\0",
        b"\0a\0\0b\0",
        b"\xef\xbb\xbfa",
    ] {
        assert_eq!(robots_text(file), file);
    }
}
