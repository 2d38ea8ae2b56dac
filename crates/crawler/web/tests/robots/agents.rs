//! Sections 2.1 and 2.2.1: groups and the crawlers that they apply to.

use crate::check;

#[test]
fn a_group_applies_to_the_crawlers_that_it_names() {
    let file = "User-agent: FooBot\nDisallow: /a";
    check(
        "2.2.1",
        file,
        "FooBot",
        &[("/a", false, "2 Disallow: /a"), ("/b", true, "-")],
    );
    check("2.2.1", file, "foobot", &[("/a", false, "2 Disallow: /a")]);
    check("2.2.1", file, "FOOBOT", &[("/a", false, "2 Disallow: /a")]);
    check("2.2.1", file, "BarBot", &[("/a", true, "no group")]);
    check("2.2.1", file, "Foo", &[("/a", true, "no group")]);
    check("2.2.1", file, "FooBot-Images", &[("/a", true, "no group")]);
    check("2.2.1", file, "MyFooBot", &[("/a", true, "no group")]);
    check("2.2.1", file, "", &[("/a", true, "no group")]);
}

#[test]
fn a_name_in_the_file_is_cut_to_its_product_token() {
    for named in [
        "FooBot/2.1",
        "FooBot/2.1 (+https://foo.example)",
        "foobot 2",
        "FooBot*",
        " \tFooBot\t ",
        "FooBot # of Foo",
        "FooBot, BarBot",
        "FooBot.",
    ] {
        let file = format!("User-agent: {named}\nDisallow: /a");
        check("2.2.1", file, "FooBot", &[("/a", false, "2 Disallow: /a")]);
    }
    for other in [
        "Foo Bot", "Foo_Bot", "Foo-Bot", "/FooBot", "FooBot2", "", "ツ",
    ] {
        let file = format!("User-agent: {other}\nDisallow: /a");
        check("2.2.1", file, "FooBot", &[("/a", true, "no group")]);
    }
}

#[test]
fn the_crawlers_own_name_is_cut_to_its_product_token() {
    let file = "User-agent: foo-bot_2\nDisallow: /a";
    for agent in [
        "foo-bot_2",
        "Foo-Bot_2/1.0",
        "Foo-Bot_2 (+https://foo.example)",
        " foo-bot_2",
    ] {
        check("2.2.1", file, agent, &[("/a", false, "2 Disallow: /a")]);
    }
}

#[test]
fn without_a_group_that_names_the_crawler_the_group_for_all_counts() {
    let file = "User-agent: BarBot\nAllow: /\n\nUser-agent: *\nDisallow: /a";
    check(
        "2.2.1",
        file,
        "FooBot",
        &[("/a", false, "5 Disallow: /a"), ("/b", true, "-")],
    );
    check("2.2.1", file, "BarBot", &[("/a", true, "2 Allow: /")]);
    check("2.2.1", file, "*", &[("/a", false, "5 Disallow: /a")]);
    check(
        "2.2.1",
        "User-agent: * (all)\nDisallow: /a",
        "x",
        &[("/a", false, "2 Disallow: /a")],
    );
}

#[test]
fn a_group_that_names_the_crawler_replaces_the_group_for_all() {
    let ours_last = "User-agent: *\nDisallow: /\n\nUser-agent: FooBot\nDisallow: /a";
    check(
        "2.2.1",
        ours_last,
        "FooBot",
        &[("/a", false, "5 Disallow: /a"), ("/b", true, "-")],
    );
    check(
        "2.2.1",
        ours_last,
        "BarBot",
        &[("/b", false, "2 Disallow: /")],
    );
    let ours_first = "User-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /";
    check(
        "2.2.1",
        ours_first,
        "FooBot",
        &[("/a", false, "2 Disallow: /a"), ("/b", true, "-")],
    );
    let empty = "User-agent: *\nDisallow: /\n\nUser-agent: FooBot";
    check("2.2.1", empty, "FooBot", &[("/a", true, "-")]);
    let nothing = "User-agent: *\nDisallow: /\n\nUser-agent: FooBot\nDisallow:";
    check("2.2.1", nothing, "FooBot", &[("/a", true, "-")]);
    // The group that names us may stand among groups for all.
    let both = "User-agent: *\nUser-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b";
    check(
        "2.2.1",
        both,
        "FooBot",
        &[("/a", false, "3 Disallow: /a"), ("/b", true, "-")],
    );
    check(
        "2.2.1",
        both,
        "BarBot",
        &[
            ("/a", false, "3 Disallow: /a"),
            ("/b", false, "6 Disallow: /b"),
        ],
    );
}

#[test]
fn groups_of_one_name_are_one_group() {
    let file = "User-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /c\n\n\
                User-agent: foobot/2\nDisallow: /b\nAllow: /a/open";
    let expected = [
        ("/a", false, "2 Disallow: /a"),
        ("/b", false, "8 Disallow: /b"),
        ("/c", true, "-"),
        ("/a/open", true, "9 Allow: /a/open"),
    ];
    check("2.2.1", file, "FooBot", &expected);
    let everybodys = "User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b";
    let expected = [
        ("/a", false, "2 Disallow: /a"),
        ("/b", false, "5 Disallow: /b"),
    ];
    check("2.2.1", everybodys, "FooBot", &expected);
}

#[test]
fn a_group_has_one_name_or_several_and_ends_at_a_name_after_a_rule() {
    let file = "User-agent: FooBot\n\nUser-agent: BarBot\nDisallow: /a\nUser-agent: \
    BazBot\nDisallow: /b\n\nAllow: /c";
    for agent in ["FooBot", "BarBot"] {
        check(
            "2.1",
            file,
            agent,
            &[("/a", false, "4 Disallow: /a"), ("/b", true, "-")],
        );
    }
    check(
        "2.1",
        file,
        "BazBot",
        &[
            ("/a", true, "-"),
            ("/b", false, "6 Disallow: /b"),
            ("/c", true, "8 Allow: /c"),
        ],
    );
    // An empty rule is a rule.
    let file = "User-agent: FooBot\nDisallow:\nUser-agent: BarBot\nDisallow: /a";
    check("2.1", file, "FooBot", &[("/a", true, "-")]);
    // An invalid name begins a group, too.
    let file = "User-agent: FooBot\nDisallow: /a\nUser-agent:\nDisallow: /b";
    check("2.1", file, "FooBot", &[("/b", true, "-")]);
}

#[test]
fn rules_before_the_first_name_apply_to_no_crawler() {
    let file = "Disallow: /a\nAllow: /b\nUser-agent: FooBot\nDisallow: /c";
    check(
        "2.1",
        file,
        "FooBot",
        &[("/a", true, "-"), ("/c", false, "4 Disallow: /c")],
    );
    check("2.1", "Disallow: /a", "FooBot", &[("/a", true, "no group")]);
    check("2.1", "", "FooBot", &[("/a", true, "no group")]);
}

#[test]
fn other_records_do_not_interfere() {
    for other in [
        "Sitemap: https://example.org/s.xml",
        "Crawl-delay: 1",
        "Host: example.org",
        "Noindex: /a",
        "Clean-param: id /a",
        "Request-rate: 1/5",
        "nonsense",
        ": /a",
        "# comment",
        "",
    ] {
        let within_names = format!("User-agent: FooBot\n{other}\nUser-agent: BarBot\nDisallow: /a");
        check(
            "2.2.4",
            &within_names,
            "FooBot",
            &[("/a", false, "4 Disallow: /a")],
        );
        check(
            "2.2.4",
            &within_names,
            "BarBot",
            &[("/a", false, "4 Disallow: /a")],
        );
        let within_rules = format!("User-agent: FooBot\nDisallow: /b\n{other}\nDisallow: /a");
        check(
            "2.2.4",
            &within_rules,
            "FooBot",
            &[
                ("/a", false, "4 Disallow: /a"),
                ("/b", false, "2 Disallow: /b"),
            ],
        );
    }
}
