//! Section 2.2.2: it does not matter who percent-encoded what.

use crate::rules;

/// A rule with the first path matches a URL with the second.
fn alike(section: &str, in_rule: &str, in_url: &str) {
    rules(
        section,
        &[&format!("Disallow: {in_rule}")],
        &[(in_url, false)],
    );
}

fn different(section: &str, in_rule: &str, in_url: &str) {
    rules(
        section,
        &[&format!("Disallow: {in_rule}")],
        &[(in_url, true)],
    );
}

#[test]
fn the_table_of_the_standard_holds() {
    alike("2.2.2", "/foo/bar?baz=quz", "/foo/bar?baz=quz");
    for in_rule in [
        "/foo/bar?baz=https://foo.bar",
        "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
    ] {
        for in_url in [
            "/foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
            "/foo/bar?baz=https:%2f/foo.bar",
        ] {
            alike("2.2.2", in_rule, in_url);
        }
    }
    for in_rule in ["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"] {
        for in_url in ["/foo/bar/ツ", "/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"] {
            alike("2.2.2", in_rule, in_url);
        }
    }
    for in_rule in ["/foo/bar/%62%61%7A", "/foo/bar/baz", "/foo/bar/%62a%7a"] {
        for in_url in ["/foo/bar/baz", "/foo/bar/%62%61%7A", "/foo/bar/b%61z"] {
            alike("2.2.2", in_rule, in_url);
        }
    }
}

#[test]
fn unreserved_octets_are_the_same_encoded() {
    for (raw, encoded) in [
        ("-", "%2D"),
        (".", "%2e"),
        ("_", "%5F"),
        ("~", "%7E"),
        ("a", "%61"),
        ("Z", "%5A"),
        ("0", "%30"),
    ] {
        alike("2.2.2", &format!("/x{raw}y"), &format!("/x{encoded}y"));
        alike("2.2.2", &format!("/x{encoded}y"), &format!("/x{raw}y"));
    }
}

#[test]
fn reserved_octets_that_delimit_nothing_are_the_same_encoded() {
    for (raw, encoded) in [
        (":", "%3A"),
        ("@", "%40"),
        ("[", "%5B"),
        ("]", "%5d"),
        ("!", "%21"),
        ("$", "%24"),
        ("'", "%27"),
        ("(", "%28"),
        (")", "%29"),
        (",", "%2C"),
        (";", "%3b"),
    ] {
        for (before, after) in [("/x", "y"), ("/x?a=", "y")] {
            let (plain, coded) = (
                format!("{before}{raw}{after}"),
                format!("{before}{encoded}{after}"),
            );
            for (in_rule, in_url) in [
                (&plain, &coded),
                (&coded, &plain),
                (&plain, &plain),
                (&coded, &coded),
            ] {
                alike("2.2.2", in_rule, in_url);
            }
        }
    }
}

#[test]
fn a_delimiter_differs_from_its_encoded_form() {
    for (raw, encoded) in [("/", "%2F"), ("?", "%3F")] {
        different("2.2.2", &format!("/x{raw}y"), &format!("/x{encoded}y"));
        different("2.2.2", &format!("/x{encoded}y"), &format!("/x{raw}y"));
        alike(
            "2.2.2",
            &format!("/x{encoded}y"),
            &format!("/x{}y", encoded.to_lowercase()),
        );
    }
    for (raw, encoded) in [("&", "%26"), ("=", "%3D"), ("+", "%2B")] {
        different("2.2.2", &format!("/x?a{raw}y"), &format!("/x?a{encoded}y"));
        different("2.2.2", &format!("/x?a{encoded}y"), &format!("/x?a{raw}y"));
    }
    different("2.2.2", "/x%23y", "/x");
    alike("2.2.2", "/x%23y", "/x%23y");
}

#[test]
fn slashes_and_question_marks_delimit_nothing_in_a_query() {
    for in_rule in [
        "/x?u=a/b?c",
        "/x?u=a%2Fb%3Fc",
        "/x?u=a%2fb?c",
        "/*/b?c",
        "/*%2Fb%3Fc",
        "*?u=*/b?c$",
    ] {
        alike("2.2.2", in_rule, "/x?u=a%2Fb%3Fc");
    }
    for in_rule in ["/x?u=a/b?c", "/x?u=a%2Fb%3Fc", "/*/b?c", "*?u=*%2Fb?c$"] {
        alike("2.2.2", in_rule, "/x?u=a/b?c");
    }
}

#[test]
fn characters_that_no_url_may_have_are_encoded() {
    for (in_rule, in_url) in [
        ("/a b", "/a%20b"),
        ("/a\"b", "/a%22b"),
        ("/a<b>", "/a%3Cb%3E"),
        ("/a{b}", "/a%7Bb%7D"),
        ("/a|b", "/a|b"),
        ("/a|b", "/a%7Cb"),
        ("/a^b", "/a%5Eb"),
        ("/a`b", "/a%60b"),
        ("/s?q='x'", "/s?q='x'"),
        ("/s?q=ä", "/s?q=%C3%A4"),
        ("/a%", "/a%"),
        ("/a%zz", "/a%zz"),
        ("/a%2", "/a%2"),
        ("/a%00b", "/a%00b"),
    ] {
        alike("2.2.2", in_rule, in_url);
    }
    // Octets that are not UTF-8 are compared like others.
    let file = b"User-agent: *\nDisallow: /\xe9t\xe9";
    crate::check(
        "2.2.2",
        file,
        "x",
        &[("/%E9t%e9", false, "2 Disallow: /%E9t%E9")],
    );
}
