//! Section 2.2.3: `#`, `$` and `*`.

use crate::{check, rules};

#[test]
fn a_comment_is_not_part_of_a_line() {
    let file = "User-agent: * # all\nDisallow: /a # not this\n# Disallow: /b\nDisallow: \
    /c#d\nDisallow: /e%23f";
    check(
        "2.2.3",
        file,
        "x",
        &[
            ("/a", false, "2 Disallow: /a"),
            ("/b", true, "-"),
            ("/cx", false, "4 Disallow: /c"),
            ("/e", true, "-"),
            ("/e%23f", false, "5 Disallow: /e%23f"),
        ],
    );
}

#[test]
fn a_dollar_at_the_end_is_the_end_of_the_url() {
    rules(
        "2.2.3",
        &["Disallow: /this/path/exactly$"],
        &[
            ("/this/path/exactly", false),
            ("/this/path/exactly/", true),
            ("/this/path/exactly?", false),
            ("/this/path/exactly?a", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /$"],
        &[("/", false), ("/a", true), ("/?a", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /a?b$"],
        &[("/a?b", false), ("/a?bc", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /a$ # end"],
        &[("/a", false), ("/ab", true)],
    );
}

#[test]
fn a_dollar_elsewhere_is_itself() {
    rules(
        "2.2.3",
        &["Disallow: /a$b"],
        &[
            ("/a$b", false),
            ("/a$bc", false),
            ("/a", true),
            ("/ab", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /a$$"],
        &[("/a$", false), ("/a", true), ("/a$$", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /a$*"],
        &[("/a$b", false), ("/ab", true)],
    );
}

#[test]
fn a_star_is_any_number_of_octets() {
    rules(
        "2.2.3",
        &["Disallow: /this/*/exactly"],
        &[
            ("/this/path/exactly", false),
            ("/this/very/long/path/exactly/so", false),
            ("/this//exactly", false),
            ("/this/exactly", true),
            ("/that/path/exactly", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /a*b"],
        &[("/ab", false), ("/axb", false), ("/a", true), ("/ba", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /fish*"],
        &[
            ("/fish", false),
            ("/fishheads/a", false),
            ("/Fish", true),
            ("/catfish", true),
        ],
    );
    rules("2.2.3", &["Disallow: *"], &[("/", false), ("/a?b", false)]);
    rules("2.2.3", &["Disallow: /*"], &[("/", false), ("/a", false)]);
    rules(
        "2.2.3",
        &["Disallow: */b"],
        &[("/b", false), ("/a/b", false), ("/ab", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /a**b"],
        &[("/ab", false), ("/axb", false), ("/b", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /*?"],
        // The question mark is sent.
        &[("/a?", false), ("/a?b", false), ("/a", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /*&sid="],
        &[("/a?b&sid=1", false), ("/a?sid=1", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /ab*ab"],
        &[("/abab", false), ("/ab", true), ("/aab", true)],
    );
}

#[test]
fn a_star_and_a_dollar_together() {
    rules(
        "2.2.3",
        &["Disallow: /*.php$"],
        &[
            ("/filename.php", false),
            ("/folder/filename.php", false),
            ("/a.php/b.php", false),
            ("/.php", false),
            ("/filename.php?parameters", true),
            ("/filename.php/", true),
            ("/filename.php5", true),
            ("/windows.PHP", true),
            ("/filename?php", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /fish*.php"],
        &[
            ("/fish.php", false),
            ("/fishheads/catfish.php?parameters", false),
            ("/Fish.PHP", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /a*$"],
        &[("/a", false), ("/abc", false), ("/b", true)],
    );
    rules(
        "2.2.3",
        &["Disallow: /a*a$"],
        &[
            ("/aa", false),
            ("/a", true),
            ("/aba", false),
            ("/abab", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /*a*b*c$"],
        &[
            ("/xaxbxc", false),
            ("/abc", false),
            ("/acb", true),
            ("/abcb", true),
        ],
    );
    // An earlier wildcard must leave enough text for the anchored end.
    rules(
        "2.2.3",
        &["Disallow: /*ab*ab$"],
        &[("/ab/ab/ab", false), ("/ab", true)],
    );
}

#[test]
fn special_characters_match_their_encoded_form() {
    rules(
        "2.2.3",
        &["Disallow: /path/file-with-a-%2A.html"],
        &[
            ("/path/file-with-a-*.html", false),
            ("/path/file-with-a-%2a.html", false),
            ("/path/file-with-a-b.html", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /path/foo-%24"],
        &[
            ("/path/foo-$", false),
            ("/path/foo-%24x", false),
            ("/path/foo-", true),
        ],
    );
    rules(
        "2.2.3",
        &["Disallow: /a%2A*%24$"],
        &[
            ("/a*b$", false),
            ("/a%2A%24", false),
            ("/ab$", true),
            ("/a*$x", true),
        ],
    );
    // A star in a URL is an octet like others.
    rules(
        "2.2.3",
        &["Disallow: /*/x"],
        &[("/*/x", false), ("/%2A/x", false)],
    );
}
