//! Section 2.2.2: which rule decides.

use crate::{check, rules};

#[test]
fn a_rule_matches_every_url_that_begins_with_its_path() {
    rules(
        "2.2.2",
        &["Disallow: /", "Allow: /fish"],
        &[
            ("/fish", true),
            ("/fish.html", true),
            ("/fish/salmon.html", true),
            ("/fishheads", true),
            ("/fish.html?id=1", true),
            ("/Fish.asp", false),
            ("/catfish", false),
            ("/?id=fish", false),
            ("/", false),
        ],
    );
    rules(
        "2.2.2",
        &["Disallow: /", "Allow: /fish/"],
        &[
            ("/fish/", true),
            ("/fish/?salmon", true),
            ("/fish/a/b", true),
            ("/fish", false),
            ("/fish.html", false),
        ],
    );
    rules(
        "2.2.2",
        &["Disallow: /A"],
        &[("/a", true), ("/A", false), ("/Ab", false)],
    );
    rules(
        "2.2.2",
        &["Disallow: /a?b="],
        &[
            ("/a?b=1", false),
            ("/a?c=1", true),
            ("/a", true),
            ("/a?b", true),
        ],
    );
    rules(
        "2.2.2",
        &["Disallow: /?"],
        &[("/?a", false), ("/a?b", true), ("/", true)],
    );
    rules("2.2.2", &["Disallow: //a"], &[("//a", false), ("/a", true)]);
}

#[test]
fn the_rule_with_most_octets_wins_in_any_order() {
    for order in [
        [
            "Allow: /example/page/",
            "Disallow: /example/page/disallowed.gif",
        ],
        [
            "Disallow: /example/page/disallowed.gif",
            "Allow: /example/page/",
        ],
    ] {
        rules(
            "2.2.2",
            &order,
            &[
                ("/example/page/disallowed.gif", false),
                ("/example/page/other.gif", true),
            ],
        );
    }
    for order in [["Allow: /p", "Disallow: /"], ["Disallow: /", "Allow: /p"]] {
        rules("2.2.2", &order, &[("/page", true), ("/other", false)]);
    }
    rules(
        "2.2.2",
        &["Allow: /$", "Disallow: /"],
        &[("/", true), ("/page.html", false)],
    );
    rules(
        "2.2.2",
        &["Allow: /page", "Disallow: /*.htm"],
        &[("/page.htm", false), ("/page", true)],
    );
    rules(
        "2.2.2",
        &["Allow: /x/page.", "Disallow: /*.html"],
        &[("/x/page.html", true), ("/x/y.html", false)],
    );
    rules(
        "2.2.2",
        &["Disallow: /x", "Allow: /x/"],
        &[("/x", false), ("/x/", true), ("/xy", false)],
    );
    rules(
        "2.2.2",
        &["Allow: /a*******", "Disallow: /abc"],
        &[("/abc", true)],
    );
    // The length of the normalised path counts, so that encoding gives no advantage.
    rules(
        "2.2.2",
        &["Disallow: /%61%61%61", "Allow: /aaaa"],
        &[("/aaaa", true), ("/aaab", false)],
    );
    rules(
        "2.2.2",
        &["Disallow: /aa%62", "Allow: /aab"],
        &[("/aab", true)],
    );
}

#[test]
fn allow_wins_over_an_equally_specific_disallow() {
    for order in [
        ["Allow: /folder", "Disallow: /folder"],
        ["Disallow: /folder", "Allow: /folder"],
    ] {
        rules("2.2.2", &order, &[("/folder/page", true)]);
    }
    rules("2.2.2", &["Disallow: /", "Allow: /"], &[("/x", true)]);
    rules(
        "2.2.2",
        &["Disallow: /a*c", "Allow: /a*b"],
        &[("/abc", true), ("/acx", false)],
    );
    rules(
        "2.2.2",
        &["Disallow: /*b", "Allow: /ab"],
        &[("/ab", true), ("/bb", false)],
    );
}

#[test]
fn an_empty_rule_matches_nothing() {
    check(
        "2.2.2",
        "User-agent: *\nDisallow:",
        "x",
        &[("/a", true, "-")],
    );
    check(
        "2.2.2",
        "User-agent: *\nDisallow: # all",
        "x",
        &[("/a", true, "-")],
    );
    check(
        "2.2.2",
        "User-agent: *\nAllow:\nDisallow: /",
        "x",
        &[("/a", false, "3 Disallow: /")],
    );
    check(
        "2.2.2",
        "User-agent: *\nDisallow:\nDisallow: /a",
        "x",
        &[("/a", false, "3 Disallow: /a"), ("/b", true, "-")],
    );
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    let itself = "robots.txt itself may always be asked for";
    let file = "User-agent: *\nDisallow: /";
    check(
        "2.2.2",
        file,
        "x",
        &[
            ("/robots.txt", true, itself),
            ("/robots.txt?a", true, itself),
            ("/robots%2Etxt", true, itself),
            ("/Robots.txt", false, "2 Disallow: /"),
            ("/a/robots.txt", false, "2 Disallow: /"),
            ("/robots.txt.bak", false, "2 Disallow: /"),
        ],
    );
    check(
        "2.2.2",
        "User-agent: *\nDisallow: /robots.txt",
        "x",
        &[("/robots.txt", true, itself)],
    );
}

#[test]
fn a_path_without_a_leading_slash_gets_one() {
    rules("2.2.2", &["Disallow: a"], &[("/a", false), ("/b/a", true)]);
    rules("2.2.2", &["Disallow: $"], &[("/", false), ("/a", true)]);
    rules("2.2.2", &["Disallow: ?a"], &[("/?a", false), ("/a", true)]);
}

#[test]
fn of_equal_rules_the_first_is_quoted() {
    let file = "User-agent: *\nDisallow: /a\nDisallow: /a\nAllow: /b\nAllow: /b";
    check(
        "2.2.2",
        file,
        "x",
        &[("/a", false, "2 Disallow: /a"), ("/b", true, "4 Allow: /b")],
    );
}
