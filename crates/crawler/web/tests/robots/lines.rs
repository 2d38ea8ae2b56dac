//! Sections 2.2, 2.3 and 2.5: the syntax of a file, and the part of it that is read.

use web::{Grounds, MAX_ROBOTS_BYTES, RobotsRules, whole_lines};

use crate::{check, url};

#[test]
fn a_line_ends_in_any_of_three_ways_and_lines_are_counted() {
    let expected = [
        ("/a", false, "2 Disallow: /a"),
        ("/b", false, "5 Disallow: /b"),
        ("/c", true, "-"),
    ];
    for end in ["\n", "\r\n", "\r"] {
        let lines = ["User-agent: *", "Disallow: /a", "", "", "Disallow: /b"];
        check("2.2", lines.join(end), "x", &expected);
        check("2.2", lines.join(end) + end, "x", &expected);
    }
    check(
        "2.2",
        "User-agent: *\nDisallow: /a\r\n\r\n\nDisallow: /b",
        "x",
        &expected,
    );
    check(
        "2.2",
        "User-agent: *\rDisallow: /a\r\n\n\rDisallow: /b",
        "x",
        &expected,
    );
    check(
        "2.2",
        "User-agent: *\0Disallow: /a\0\0\0Disallow: /b",
        "x",
        &expected,
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    check(
        "2.3",
        "\u{feff}User-agent: *\nDisallow: /a",
        "x",
        &[("/a", false, "2 Disallow: /a")],
    );
    check("2.3", "\u{feff}", "x", &[("/a", true, "no group")]);
    // A truncated mark is skipped byte for byte while it matches, as in google/robotstxt.
    let rules = b"User-agent: *\nDisallow: /a".as_slice();
    for mark in [b"\xef".as_slice(), b"\xef\xbb"] {
        check(
            "2.3",
            [mark, rules].concat(),
            "x",
            &[("/a", false, "2 Disallow: /a")],
        );
    }
    for no_mark in [b"\xbb\xbf".as_slice(), b"\xbf", b"\xef\xbf", b"\xef\xef"] {
        let expected = [("/a", true, "no group")];
        check("2.3", [no_mark, rules].concat(), "x", &expected);
    }
    // Inside the file it is not a mark.
    check(
        "2.3",
        "User-agent: *\n\u{feff}Disallow: /a",
        "x",
        &[("/a", true, "-")],
    );
}

#[test]
fn white_space_and_case_do_not_matter_around_a_value() {
    for file in [
        "User-agent: *\nDisallow: /a",
        "USER-AGENT: *\nDISALLOW: /a",
        "uSeR-aGeNt:*\ndIsAlLoW:/a",
        "  user-agent  :\t * \n \t Disallow \t: \t/a \t",
        "User-agent: *\n\x0bDisallow: /a",
        "User-agent *\nDisallow /a",
        "user agent: *\ndisalow: /a",
        "useragent: *\ndissallow: /a",
        "User-agent: *\ndiasllow:/a",
    ] {
        let expected = if file.contains('\x0b') {
            (true, "-")
        } else {
            (false, "2 Disallow: /a")
        };
        check("2.2", file, "x", &[("/a", expected.0, expected.1)]);
    }
}

#[test]
fn a_line_that_is_not_a_record_is_skipped() {
    for line in [
        "foo: bar",
        "disallowed: /a",
        "disallow",
        "disallow:",
        "xdisallow: /a",
        "dis allow: /a",
        "Disallow=/a",
        "User-agents: y",
        "\u{a0}Disallow: /a",
    ] {
        check(
            "2.2",
            format!("User-agent: *\n{line}\nAllow: /b"),
            "x",
            &[("/a", true, "-"), ("/b", true, "3 Allow: /b")],
        );
    }
}

#[test]
fn any_bytes_are_a_robots_file() {
    for body in [
        &b""[..],
        b"\xff\xfe\x00",
        b"<html>not found</html>",
        b"User-agent",
        b"User-agent:",
        b":\n:::\n#",
        b"\r",
        b"\0",
    ] {
        check("2.3", body, "x", &[("/a", true, "no group")]);
    }
}

#[test]
fn a_file_is_read_up_to_the_limit_and_a_truncated_rule_is_ignored() {
    let rules = |filler: usize, rule: &str| {
        let mut file = format!("User-agent: *\n#{}\n", "x".repeat(filler - 16));
        assert_eq!(file.len(), filler);
        file.push_str(rule);
        assert!(whole_lines(file.as_bytes()).len() <= MAX_ROBOTS_BYTES);
        RobotsRules::parse(file.as_bytes(), "x")
    };
    for rule in ["Disallow: /a\n", "Disallow: /a\r", "Disallow: /a\0"] {
        let fits = MAX_ROBOTS_BYTES - rule.len();
        assert!(!rules(fits, rule).verdict(&url("/a")).allowed);
        // The line is whole although its line end is beyond the limit.
        assert!(!rules(fits + 1, rule).verdict(&url("/a")).allowed);
        assert!(rules(fits + 2, rule).verdict(&url("/a")).allowed);
        // A cut in the middle would make it `Disallow: /`.
        assert!(rules(fits + 2, rule).verdict(&url("/b")).allowed);
    }
    let one_line = "User-agent: *".to_owned() + &" ".repeat(MAX_ROBOTS_BYTES);
    assert_eq!(whole_lines(one_line.as_bytes()), b"");
    assert_eq!(
        RobotsRules::parse(one_line.as_bytes(), "x")
            .verdict(&url("/"))
            .grounds,
        Grounds::NoGroup
    );
}
