//! Comparison with two oracles: the `robotxt` crate, and a matcher too simple to be wrong.

use proptest::prelude::*;
use robotxt::Robots;
use web::RobotsRules;

use crate::url;

/// A path that begins with a slash, of these pieces.
fn path(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..8)
        .prop_map(|pieces| format!("/{}", pieces.concat()))
}

const IN_RULES: &[&str] = &[
    "a", "b", "ab", "/", "*", "*", "$", ".", "?", "%61", "%2f", "ツ", "%e3", " ",
];
const IN_URLS: &[&str] = &[
    "a", "b", "ab", "/", "a/", ".", "a?b", "%2F", "ツ", "%E3", "%20",
];

fn file() -> impl Strategy<Value = String> {
    let agent = prop::sample::select(&["*", "FooBot", "foobot", "BarBot"][..])
        .prop_map(|name| format!("User-agent: {name}\n"));
    let rule = (
        prop::sample::select(&["Allow", "Disallow", "Disallow"][..]),
        path(IN_RULES),
    )
        .prop_map(|(verb, path)| format!("{verb}: {path}\n"));
    let other = prop::sample::select(
        &[
            "\n",
            "# comment\n",
            "Sitemap: https://a.example/\n",
            "Disallow:\n",
        ][..],
    );
    let line = prop_oneof![2 => agent, 6 => rule, 1 => other.prop_map(str::to_owned)];
    prop::collection::vec(line, 0..30).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn robotxt_says_the_same(file in file(), path in path(IN_URLS)) {
        let url = url(&path);
        // The oracle distinguishes an encoded slash in a query.
        let query = url.as_url().query().unwrap_or_default();
        prop_assume!(!query.contains(['/', '?']) && !query.contains("%2F"));
        let ours = RobotsRules::parse(file.as_bytes(), "FooBot").verdict(&url);
        let theirs = Robots::parse(file.as_bytes(), "FooBot");
        prop_assert_eq!(ours.allowed, theirs.is_url_allowed(url.as_url()), "{} in\n{}", url, file);
    }

    #[test]
    fn a_rule_matches_exactly_where_an_exhaustive_matcher_does(
        rule in "[ab/*$]{0,9}",
        path in "[ab/]{0,9}",
    ) {
        let (rule, path) = (format!("/{rule}"), format!("/{path}"));
        let url = url(&path);
        let file = format!("User-agent: *\nDisallow: {rule}");
        let verdict = RobotsRules::parse(file.as_bytes(), "x").verdict(&url);
        let matches = simply(rule.as_bytes(), url.as_url().path().as_bytes());
        prop_assert_eq!(!verdict.allowed, matches, "{} and {}", rule, url);
    }

    #[test]
    fn any_bytes_are_a_robots_file(
        body in prop::collection::vec(any::<u8>(), 0..300),
        path in path(IN_URLS),
    ) {
        let rules = RobotsRules::parse(&body, "x");
        prop_assert_eq!(rules.verdict(&url(&path)), rules.verdict(&url(&path)));
    }

    #[test]
    fn a_quoted_rule_has_the_meaning_of_the_original(
        rule in path(IN_RULES),
        path in path(IN_URLS),
    ) {
        let verdict = |rule: &str| RobotsRules::parse(format!("User-agent: *\nDisallow: \
        {rule}").as_bytes(), "x").verdict(&url(&path));
        let found = verdict(&rule);
        if let Some(quoted) = found.rule() {
            prop_assert_eq!(verdict(&quoted.pattern), found.clone());
        }
    }
}

/// Returns true if a rule's path matches, trying every expansion of the stars.
fn simply(rule: &[u8], path: &[u8]) -> bool {
    match (rule, path) {
        ([], _) => true,
        ([b'$'], _) => path.is_empty(),
        ([b'*', rule @ ..], _) => (0..=path.len()).any(|skipped| simply(rule, &path[skipped..])),
        ([octet, rule @ ..], [first, path @ ..]) => octet == first && simply(rule, path),
        (_, []) => false,
    }
}
