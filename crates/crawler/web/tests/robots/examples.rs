//! The standard's own examples.

use crate::check;

/// Section 5.1, Simple Example.
const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: \
/publications/\n\n\
                      User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\n\
                      Allow:/example/allowed.gif\n\n\
                      User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
                      User-Agent: quxbot\n\nEOF";

#[test]
fn simple_example_for_all() {
    check(
        "5.1",
        SIMPLE,
        "otherbot",
        &[
            ("/a.gif", false, "2 Disallow: *.gif$"),
            ("/a.gif?b", true, "-"),
            ("/example/page.html", false, "3 Disallow: /example/"),
            ("/example/a.gif", false, "3 Disallow: /example/"),
            ("/publications/", true, "4 Allow: /publications/"),
            ("/publications/a.gif", true, "4 Allow: /publications/"),
            ("/", true, "-"),
        ],
    );
}

#[test]
fn simple_example_for_foobot() {
    check(
        "5.1",
        SIMPLE,
        "foobot",
        &[
            ("/", false, "7 Disallow: /"),
            ("/publications/", false, "7 Disallow: /"),
            ("/example/page.html", true, "8 Allow: /example/page.html"),
            (
                "/example/allowed.gif",
                true,
                "9 Allow: /example/allowed.gif",
            ),
            ("/example/other.gif", false, "7 Disallow: /"),
        ],
    );
}

#[test]
fn simple_example_for_barbot_and_bazbot() {
    for agent in ["barbot", "BazBot"] {
        check(
            "5.1",
            SIMPLE,
            agent,
            &[
                (
                    "/example/page.html",
                    false,
                    "13 Disallow: /example/page.html",
                ),
                ("/example/", true, "-"),
                ("/a.gif", true, "-"),
            ],
        );
    }
}

#[test]
fn simple_example_for_quxbot() {
    check(
        "5.1",
        SIMPLE,
        "quxbot",
        &[("/example/page.html", true, "-"), ("/a.gif", true, "-")],
    );
}

#[test]
fn longest_match() {
    let file =
        "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    check(
        "5.2",
        file,
        "foobot",
        &[
            (
                "/example/page/disallowed.gif",
                false,
                "3 Disallow: /example/page/disallowed.gif",
            ),
            ("/example/page/", true, "2 Allow: /example/page/"),
            (
                "/example/page/disallowed.jpg",
                true,
                "2 Allow: /example/page/",
            ),
            ("/example/", true, "-"),
        ],
    );
}

#[test]
fn groups_that_are_combined() {
    let file = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: \
    ExampleBot\ndisallow: /baz\n";
    check(
        "2.2.1",
        file,
        "ExampleBot",
        &[
            ("/foo", false, "2 Disallow: /foo"),
            ("/bar", false, "3 Disallow: /bar"),
            ("/baz", false, "6 Disallow: /baz"),
            ("/qux", true, "-"),
        ],
    );
}

#[test]
fn the_group_for_all_applies_if_no_other_matches() {
    let file =
        "user-agent: *\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n";
    check(
        "2.2.1",
        file,
        "ExampleBot",
        &[("/foo", true, "-"), ("/baz", false, "6 Disallow: /baz")],
    );
    check(
        "2.2.1",
        file,
        "OtherBot",
        &[("/foo", false, "2 Disallow: /foo"), ("/baz", true, "-")],
    );
}

#[test]
fn special_characters() {
    let file = "user-agent: *\ndisallow: /\nallow: / # comment in line\n# comment on its own line\n\
                disallow: /this/path/exactly$\ndisallow: /that/*/exactly";
    check(
        "2.2.3",
        file,
        "x",
        &[
            ("/a", true, "3 Allow: /"),
            (
                "/this/path/exactly",
                false,
                "5 Disallow: /this/path/exactly$",
            ),
            ("/this/path/exactly/", true, "3 Allow: /"),
            ("/that/path/exactly/", false, "6 Disallow: /that/*/exactly"),
        ],
    );
}

#[test]
fn a_sitemap_does_not_end_a_group() {
    let file = "user-agent: ExampleBot\ndisallow: /foo\nSitemap: \
    https://example.org/sitemap.xml\ndisallow: /bar";
    check(
        "2.2.4",
        file,
        "ExampleBot",
        &[("/bar", false, "4 Disallow: /bar")],
    );
}
