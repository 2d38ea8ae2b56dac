use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Reads a head that is whole.
fn mended(bytes: &[u8]) -> Next {
    next(bytes, &mut Searched::default(), true)
}

#[track_caller]
fn check(head: &str, expected: &str, warnings: &[Warning]) {
    let Next::Response(mended) = mended(head.as_bytes()) else {
        panic!("{head:?} is not read");
    };
    assert_eq!(String::from_utf8_lossy(&mended.head), expected, "{head:?}");
    assert_eq!(mended.warnings, warnings, "{head:?}");
    assert_eq!(mended.length, head.len());
}

#[test]
fn status_lines_are_read_as_browsers_read_them() {
    let odd = &[Warning::StatusLine][..];
    for (line, expected, warnings) in [
        ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK", &[][..]),
        ("HTTP/1.1 200", "HTTP/1.1 200 ", &[]),
        ("HTTP/1.0 404 Not\tFound", "HTTP/1.0 404 Not\tFound", &[]),
        ("HTTP/1.1 200OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1200 OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1  200  OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1\t200\tOK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1 0200 OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1 OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.1", "HTTP/1.1 200 ", odd),
        ("http/1.1 200 ok", "HTTP/1.1 200 ok", odd),
        ("HTTP/1 200 OK", "HTTP/1.0 200 OK", odd),
        ("HTTP/2 200", "HTTP/1.1 200 ", odd),
        ("HTTP/2.0 301 Moved", "HTTP/1.1 301 Moved", odd),
        ("HTTP/0.9 200 OK", "HTTP/1.0 200 OK", odd),
        ("HTTP 200 OK", "HTTP/1.0 200 OK", odd),
        ("ICY 200 OK", "HTTP/1.0 200 OK", odd),
        ("HTTP/1.1 200 O\x01K", "HTTP/1.1 200 O K", odd),
        ("HTTP/1.10 200 OK", "HTTP/1.1 200 OK", odd),
        ("HTTP/1.01 \t404 Gone", "HTTP/1.0 404 Gone", odd),
        ("\u{feff}HTTP/1.1 200 OK", "HTTP/1.1 200 OK", odd),
        (" HTTP/1.1 200 OK", "HTTP/1.1 200 OK", odd),
        ("HT\r\nHTTP/1.1 200 OK", "HTTP/1.1 200 OK", odd),
    ] {
        for end in ["\r\n\r\n", "\n\n", "\r\r\n\r\r\n", "\n\r\n"] {
            check(
                &format!("{line}{end}"),
                &format!("{expected}\r\n\r\n"),
                warnings,
            );
        }
        let after_blank_lines = format!("\r\n\n{line}\r\n\r\n");
        check(&after_blank_lines, &format!("{expected}\r\n\r\n"), warnings);
    }
    for line in [
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000",
        "HTTP/1.1 099",
        "HTTP/1.120 OK",
        "     HTTP/1.1 200 OK",
        "<html>HTTP/1.1 200 OK",
        " ICY 200 OK",
        "SSH-2.0-x",
        "<html>",
        "\0",
    ] {
        assert_eq!(
            mended(format!("{line}\r\n\r\n").as_bytes()),
            Next::Foreign,
            "{line}"
        );
    }
}

/// One line of a script that printed a warning before its fields lost every page of its server:
/// "the response is not valid HTTP".
#[test]
fn a_malformed_line_costs_itself_and_no_more() {
    let (line, control) = (&[Warning::HeaderLine][..], &[Warning::ControlCharacter][..]);
    for (fields, expected, warnings) in [
        ("X-A : b", "X-A: b", line),
        ("X-Time(ms): 12", "", line),
        (
            "PHP Warning: PHP Startup: Unable to load in Unknown on line 0",
            "",
            line,
        ),
        ("<!DOCTYPE html>", "", line),
        ("no colon", "", line),
        (": no name", "", line),
        ("HTTP/1.1 200 OK", "", line),
        ("Gr\u{f6}\u{df}e: 1", "", line),
        (" a: fold before all fields", "", line),
        ("X (y): 1\r\n a fold of a skipped line", "", line),
        ("X-A: a\r\n b\r\n\tc ", "X-A: a b c", &[]),
        ("X-A:b", "X-A: b", &[]),
        ("X-A:", "X-A: ", &[]),
        ("X-A: Gr\u{f6}\u{df}e", "X-A: Gr\u{f6}\u{df}e", &[]),
        ("X-A: b\x01c\0d", "X-A: b c d", control),
        ("X-A: b\rc", "X-A: b c", control),
        ("Set-Cookie: a=\x01b", "", control),
    ] {
        let expected = match expected {
            "" => String::new(),
            field => format!("{field}\r\n"),
        };
        check(
            &format!("HTTP/1.1 200 OK\r\n{fields}\r\nX: last\r\n\r\n"),
            &format!("HTTP/1.1 200 OK\r\n{expected}X: last\r\n\r\n"),
            warnings,
        );
    }
}

#[test]
fn one_rule_for_the_end_of_the_body_is_left() {
    let (length, transfer) = (
        &[Warning::ContentLength][..],
        &[Warning::TransferEncoding][..],
    );
    for (fields, expected, warnings) in [
        ("Content-Length: 10", "Content-Length: 10", &[][..]),
        ("Content-Length: 10, 10", "content-length: 10", &[]),
        (
            "Content-Length: 10\r\nContent-Length: 10",
            "content-length: 10",
            &[],
        ),
        (
            "Content-Length: 10\r\nContent-Length: 12",
            "content-length: 12",
            length,
        ),
        ("Content-Length: -1", "", length),
        ("Content-Length: +1", "", length),
        ("Content-Length: 1e3", "", length),
        ("Content-Length: 99999999999999999999", "", length),
        // The engine keeps the two greatest for itself: "the response's header fields are too
        // large".
        ("Content-Length: 18446744073709551615", "", length),
        ("Content-Length: 18446744073709551614", "", length),
        ("Content-Length: 9223372036854775808", "", length),
        (
            "Content-Length: 9223372036854775807",
            "Content-Length: 9223372036854775807",
            &[],
        ),
        ("Content-Length: 5, 9223372036854775808", "", length),
        ("Content-Length:", "", length),
        ("Content-Length: 10, many", "", length),
        (
            "Transfer-Encoding: Chunked",
            "transfer-encoding: chunked",
            &[],
        ),
        (
            "Transfer-Encoding: chunked, chunked",
            "transfer-encoding: chunked",
            transfer,
        ),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "transfer-encoding: chunked",
            length,
        ),
        (
            "Transfer-Encoding: identity\r\nContent-Length: 5",
            "Content-Length: 5",
            transfer,
        ),
        ("Transfer-Encoding: none", "", transfer),
        (
            "Transfer-Encoding: gzip",
            "content-encoding: gzip",
            transfer,
        ),
        (
            "Transfer-Encoding: gzip, chunked",
            "content-encoding: gzip\r\ntransfer-encoding: chunked",
            transfer,
        ),
    ] {
        let expected = match expected {
            "" => String::new(),
            fields => format!("{fields}\r\n"),
        };
        check(
            &format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n"),
            &format!("HTTP/1.1 200 OK\r\n{expected}\r\n"),
            warnings,
        );
    }
}

#[test]
fn chunks_of_http_1_0_are_recognized_by_the_content() {
    let head = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (content, has_ended, expected) in [
        ("", false, None),
        ("1f", false, None),
        ("1f\r\n", false, Some("HTTP/1.1")),
        ("0\r\n\r\n", true, Some("HTTP/1.1")),
        ("<html>", false, Some("HTTP/1.0")),
        ("face to face", false, Some("HTTP/1.1")),
        ("face", true, Some("HTTP/1.0")),
        ("", true, Some("HTTP/1.0")),
    ] {
        let bytes = format!("{head}{content}");
        match next(bytes.as_bytes(), &mut Searched::default(), has_ended) {
            Next::Response(mended) => {
                let version = String::from_utf8_lossy(&mended.head[..8]).into_owned();
                assert_eq!(Some(version.as_str()), expected, "{content:?}");
                assert_eq!(mended.length, head.len());
            }
            other => assert_eq!((other, expected), (Next::Incomplete, None), "{content:?}"),
        }
    }
}

#[test]
fn what_came_is_a_response_as_long_as_it_may_be_one() {
    for (came, expected) in [
        ("", Came::Nothing),
        ("\r\n\n", Came::Nothing),
        ("\r\nH", Came::Response),
        ("http/1.1 2000", Came::Response),
        ("IC", Came::Response),
        ("\u{feff}", Came::Other),
        ("\u{feff}HTT", Came::Response),
        ("-->\nHTTP/1.1 200 OK", Came::Response),
        ("HTML", Came::Other),
        ("</html>\n", Came::Other),
    ] {
        assert_eq!(beginning(came.as_bytes()), expected, "{came:?}");
    }
}

#[test]
fn interim_responses_are_skipped_and_101_is_not() {
    let hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200";
    assert_eq!(mended(hint), Next::Interim(hint.len() - 12));
    assert!(matches!(
        mended(b"HTTP/1.1 101 X\r\n\r\n"),
        Next::Response(_)
    ));
}

fn a_piece() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "HTTP/1.1 200 OK",
        "HTTP/1.0 ",
        "\r\n",
        "\n",
        "\r",
        " ",
        ":",
        ",",
        "a: b",
        "0",
        "200",
        "Content-Length: ",
        "Transfer-Encoding: ",
        "chunked",
        "gzip",
        "12",
        "Set-Cookie: a=b",
    ];
    prop_oneof![
        4 => prop::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
    ]
}

proptest! {
    #[test]
    fn a_mended_head_is_mended_no_further(pieces in vec(a_piece(), 0..40)) {
        let bytes = [b"HTTP/1.1 200 ".to_vec(), pieces.concat()].concat();
        if let Next::Response(once) = mended(&bytes) {
            let again = [&once.head[..], &bytes[once.length..]].concat();
            let Next::Response(twice) = mended(&again) else {
                panic!("{:?}", String::from_utf8_lossy(&once.head));
            };
            prop_assert_eq!(twice.head, once.head);
            prop_assert_eq!(twice.warnings, []);
        }
    }

    #[test]
    fn the_packets_of_a_head_make_no_difference(
        pieces in vec(a_piece(), 0..40),
        cuts in vec(1..30_usize, 1..30),
    ) {
        let bytes = pieces.concat();
        let (mut searched, mut length) = (Searched::default(), 0);
        let mut cuts = cuts.into_iter().cycle();
        let found = loop {
            length = bytes.len().min(length + cuts.next().unwrap());
            let found = next(&bytes[..length], &mut searched, length == bytes.len());
            if found != Next::Incomplete || length == bytes.len() {
                break found;
            }
        };
        match (found, mended(&bytes)) {
            (Next::Response(some), Next::Response(all)) => {
                prop_assert_eq!((some.length, some.head), (all.length, all.head));
            }
            (some, all) => prop_assert_eq!(some, all),
        }
    }
}
