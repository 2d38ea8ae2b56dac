//! Cookies by the tables of RFC 6265, and against its rules asked one by one.

use proptest::prelude::*;
use web::PageUrl;

use super::super::cookies::{BadCookie, CookieError, read_cookies};
use super::{NOW, SecretField, Secrets, url, urls, value};

/// Returns the `Cookie` field of a request to `to`, in a crawl from `seeds` with a file of these
/// lines (`>` stands for a tab).
fn cookies(lines: &[&str], seeds: &[&str], to: &str) -> String {
    let file = lines.join("\n").replace('>', "\t");
    let read = read_cookies(file.as_bytes());
    assert_eq!(read.bad, [], "{lines:?}");
    let secrets = Secrets::new(Vec::new(), read.cookies, &urls(seeds));
    value(&secrets.headers_for(&url(to), NOW), "cookie")
}

#[test]
fn cookies_are_matched_by_rfc_6265() {
    let everywhere = [
        "https://example.org/",
        "http://example.org/",
        "https://www.example.org/",
        "http://www.example.org/",
    ];
    for (line, to, sent) in [
        // Domains, section 5.1.3.
        (
            "example.org>FALSE>/>FALSE>0>a>1",
            "https://example.org/",
            true,
        ),
        (
            "example.org>FALSE>/>FALSE>0>a>1",
            "https://www.example.org/",
            false,
        ),
        (
            ".example.org>FALSE>/>FALSE>0>a>1",
            "https://www.example.org/",
            false,
        ),
        (
            ".example.org>TRUE>/>FALSE>0>a>1",
            "https://www.example.org/",
            true,
        ),
        (
            "Example.ORG>true>/>false>0>a>1",
            "https://x.www.example.org/",
            true,
        ),
        (
            ".example.org>TRUE>/>FALSE>0>a>1",
            "https://example.org/",
            true,
        ),
        (
            ".www.example.org>TRUE>/>FALSE>0>a>1",
            "https://example.org/",
            false,
        ),
        (
            "#HttpOnly_.example.org>TRUE>/>FALSE>0>a>1",
            "https://example.org/",
            true,
        ),
        // Paths, section 5.1.4.
        (
            "example.org>FALSE>/docs>FALSE>0>a>1",
            "https://example.org/docs",
            true,
        ),
        (
            "example.org>FALSE>/docs>FALSE>0>a>1",
            "https://example.org/docs/x",
            true,
        ),
        (
            "example.org>FALSE>/docs>FALSE>0>a>1",
            "https://example.org/docs?x",
            true,
        ),
        (
            "example.org>FALSE>/docs>FALSE>0>a>1",
            "https://example.org/docsx",
            false,
        ),
        (
            "example.org>FALSE>/docs>FALSE>0>a>1",
            "https://example.org/Docs",
            false,
        ),
        (
            "example.org>FALSE>/docs/>FALSE>0>a>1",
            "https://example.org/docs/x",
            true,
        ),
        (
            "example.org>FALSE>/docs/>FALSE>0>a>1",
            "https://example.org/docs",
            false,
        ),
        (
            "example.org>FALSE>docs>FALSE>0>a>1",
            "https://example.org/any",
            true,
        ),
        // Secure, sections 4.1.2.5 and 5.4.
        (
            "example.org>FALSE>/>TRUE>0>a>1",
            "https://example.org/",
            true,
        ),
        (
            "example.org>FALSE>/>TRUE>0>a>1",
            "http://example.org/",
            false,
        ),
        (
            "example.org>FALSE>/>FALSE>0>a>1",
            "http://example.org/",
            true,
        ),
        // Expiry, section 5.3: 1,800,000,000 is now.
        (
            "example.org>FALSE>/>FALSE>1799999999>a>1",
            "https://example.org/",
            false,
        ),
        (
            "example.org>FALSE>/>FALSE>1800000000>a>1",
            "https://example.org/",
            false,
        ),
        (
            "example.org>FALSE>/>FALSE>1800000001>a>1",
            "https://example.org/",
            true,
        ),
        (
            "example.org>FALSE>/>FALSE>1800000001.5>a>1",
            "https://example.org/",
            true,
        ),
        (
            "example.org>FALSE>/>FALSE>9223372036854775807>a>1",
            "https://example.org/",
            true,
        ),
        (
            "example.org>FALSE>/>FALSE>-1>a>1",
            "https://example.org/",
            true,
        ),
    ] {
        assert_eq!(
            cookies(&[line], &everywhere, to),
            if sent { "a=1" } else { "" },
            "{line} to {to}"
        );
    }
}

#[test]
fn a_cookie_is_sent_only_where_a_seed_has_its_scheme_port_and_domain() {
    let host_only = &["example.org>FALSE>/>FALSE>0>a>1"][..];
    let domain = &[".example.org>TRUE>/>FALSE>0>a>1"][..];
    for (file, seed, to, sent) in [
        (
            host_only,
            "https://example.org/",
            "https://example.org/x",
            true,
        ),
        (
            host_only,
            "https://example.org/",
            "http://example.org/",
            false,
        ),
        (
            host_only,
            "https://example.org/",
            "https://example.org:8443/",
            false,
        ),
        (
            host_only,
            "https://www.example.org/",
            "https://example.org/",
            false,
        ),
        (
            host_only,
            "https://other.test/",
            "https://example.org/",
            false,
        ),
        (
            domain,
            "https://www.example.org/",
            "https://files.example.org/",
            true,
        ),
        (
            domain,
            "https://www.example.org/",
            "https://example.org/",
            true,
        ),
        (
            domain,
            "https://www.example.org/",
            "http://www.example.org/",
            false,
        ),
        (
            domain,
            "https://www.example.org/",
            "https://www.example.org:8443/",
            false,
        ),
        (
            domain,
            "https://evilexample.org/",
            "https://example.org/",
            false,
        ),
        (
            domain,
            "https://www.example.org/",
            "https://evilexample.org/",
            false,
        ),
    ] {
        assert_eq!(
            cookies(file, &[seed], to),
            if sent { "a=1" } else { "" },
            "{seed} {to}"
        );
    }
    let address = ["127.0.0.1>TRUE>/>FALSE>0>a>1", "[::1]>FALSE>/>FALSE>0>b>2"];
    let seeds = ["http://127.0.0.1:80/", "http://[::1]/"];
    assert_eq!(cookies(&address, &seeds, "http://127.0.0.1/"), "a=1");
    assert_eq!(cookies(&address, &seeds, "http://[::1]/"), "b=2");
}

#[test]
fn longer_paths_come_first_and_a_later_line_replaces_an_earlier_one() {
    let lines = [
        "# Netscape HTTP Cookie File",
        "",
        ".a.test>TRUE>/>FALSE>0>first>1",
        "a.test>FALSE>/>FALSE>0>second>2",
        "a.test>FALSE>/x/y>FALSE>0>deep>3",
        "a.test>FALSE>/x>FALSE>0>first>4",
        "a.test>FALSE>/>FALSE>0>empty",
        "a.test>FALSE>/>FALSE>0>first>new",
    ];
    let seeds = ["http://a.test/"];
    assert_eq!(
        cookies(&lines, &seeds, "http://a.test/x/y/z"),
        "deep=3; first=4; first=new; second=2; empty="
    );
}

#[test]
fn a_bad_line_is_reported_by_its_number_and_the_others_are_read() {
    for (line, why) in [
        ("nothing", CookieError::Fields(1)),
        ("a.test FALSE / FALSE 0 a 1", CookieError::Fields(1)),
        ("a.test>FALSE>/>FALSE>0>a>1>2", CookieError::Fields(8)),
        ("a.test>YES>/>FALSE>0>a>1", CookieError::Flag),
        ("a.test>FALSE>/>>0>a>1", CookieError::Flag),
        (">FALSE>/>FALSE>0>a>1", CookieError::Domain),
        ("a.test/x>FALSE>/>FALSE>0>a>1", CookieError::Domain),
        ("u@a.test>FALSE>/>FALSE>0>a>1", CookieError::Domain),
        ("a.test:80>FALSE>/>FALSE>0>a>1", CookieError::Domain),
        (".co.uk>TRUE>/>FALSE>0>a>1", CookieError::PublicSuffix),
        (".com>TRUE>/>FALSE>0>a>1", CookieError::PublicSuffix),
        (".github.io>TRUE>/>FALSE>0>a>1", CookieError::PublicSuffix),
        ("a.test>FALSE>/>FALSE>never>a>1", CookieError::Expiry),
        ("a.test>FALSE>/>FALSE>>a>1", CookieError::Expiry),
        ("a.test>FALSE>/>FALSE>0>>1", CookieError::Unsayable),
        ("a.test>FALSE>/>FALSE>0>a=b>1", CookieError::Unsayable),
        ("a.test>FALSE>/>FALSE>0>a>1;b=2", CookieError::Unsayable),
        ("a.test>FALSE>/>FALSE>0>a>1\rX: y", CookieError::Unsayable),
        ("a.test>FALSE>/>FALSE>0>__Secure-a>1", CookieError::Prefix),
        ("a.test>TRUE>/>TRUE>0>__Host-a>1", CookieError::Prefix),
        ("a.test>FALSE>/x>TRUE>0>__Host-a>1", CookieError::Prefix),
    ] {
        let file =
            format!("# file\r\n{line}\r\na.test>FALSE>/>FALSE>0>good>1\r\n").replace('>', "\t");
        let read = read_cookies(file.as_bytes());
        assert_eq!(read.bad, [BadCookie { line: 2, why }], "{line}");
        assert_eq!(read.cookies.len(), 1, "{line}");
    }
    let at_cap = format!("a.test\tFALSE\t/\tFALSE\t0\tabcd\t{}", "x".repeat(4092));
    assert_eq!(read_cookies(at_cap.as_bytes()).bad, []);
    assert_eq!(
        read_cookies(format!("{at_cap}x").as_bytes()).bad[0].why,
        CookieError::TooLong
    );
}

#[test]
fn a_cookie_of_a_public_suffix_is_sent_to_that_host_only() {
    let line = ["github.io>FALSE>/>FALSE>0>a>1"];
    assert_eq!(
        cookies(&line, &["https://github.io/"], "https://github.io/"),
        "a=1"
    );
    assert_eq!(
        cookies(
            &line,
            &["https://github.io/", "https://x.github.io/"],
            "https://x.github.io/"
        ),
        ""
    );
}

#[test]
fn the_cookie_field_is_capped_and_has_the_cookies_of_the_longest_paths() {
    let value = "v".repeat(3000);
    let lines: Vec<String> = (0..4)
        .map(|depth| {
            format!(
                "a.test>FALSE>{}>FALSE>0>c{depth}>{value}",
                "/x".repeat(depth)
            )
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let sent = cookies(&lines, &["http://a.test/"], "http://a.test/x/x/x");
    let names: Vec<&str> = sent.split("; ").map(|cookie| &cookie[..2]).collect();
    assert_eq!(names, ["c3", "c2"]);
}

/// Few enough hosts, ports and paths to meet.
fn any_url() -> impl Strategy<Value = PageUrl> {
    let scheme = prop_oneof![Just("http"), Just("https")];
    let host = prop_oneof![
        Just("a.example"),
        Just("b.a.example"),
        Just("ba.example"),
        Just("c.b.a.example"),
        Just("127.0.0.1"),
        Just("7.0.0.1"),
    ];
    let port = prop_oneof![Just(""), Just(":80"), Just(":443"), Just(":81")];
    let path = prop_oneof![Just("/"), Just("/x"), Just("/x/y"), Just("/xy")];
    (scheme, host, port, path)
        .prop_map(|(scheme, host, port, path)| url(&format!("{scheme}://{host}{port}{path}")))
}

/// Domain, subdomains, path, https only, seconds after now.
fn any_cookie() -> impl Strategy<Value = (&'static str, bool, &'static str, bool, i64)> {
    let domain = prop_oneof![
        Just("a.example"),
        Just("b.a.example"),
        Just("127.0.0.1"),
        Just("7.0.0.1"),
    ];
    let path = prop_oneof![Just("/"), Just("/x"), Just("/x/")];
    (domain, any::<bool>(), path, any::<bool>(), -1..2_i64)
}

proptest! {
    /// The rules once more, cookie by cookie and seed by seed, without an index.
    #[test]
    fn a_request_has_exactly_the_cookies_that_pass_each_rule(
        made in proptest::collection::vec(any_cookie(), 0..6),
        seeds in proptest::collection::vec(any_url(), 0..4),
        to in any_url(),
    ) {
        let mut file = String::new();
        for (number, (domain, subdomains, path, secure, after)) in made.iter().enumerate() {
            let expires = 1_800_000_000 + after;
            file += &format!("{domain}\t{subdomains}\t{path}\t{secure}\t{expires}\tc{number}\tv\n");
        }
        let read = read_cookies(file.as_bytes());
        prop_assert!(read.bad.is_empty());
        let secrets = Secrets::new(Vec::new(), read.cookies, &seeds);

        let is_of = |url: &PageUrl, domain: &str, subdomains: bool| {
            let host = url.host();
            let is_name = !domain.starts_with(|first: char| first.is_ascii_digit());
            let below = is_name && host.as_str().ends_with(&format!(".{domain}"));
            host.as_str() == domain || subdomains && below
        };
        let place = |url: &PageUrl| {
            let url = url.as_url();
            (url.scheme().to_owned(), url.port_or_known_default())
        };
        let mut expected: Vec<(usize, usize)> = Vec::new();
        for (number, (domain, subdomains, path, secure, after)) in made.iter().enumerate() {
            let seeded = seeds
                .iter()
                .any(|seed| is_of(seed, domain, *subdomains) && place(seed) == place(&to));
            let asked = to.as_url().path();
            let folder = format!("{}/", path.trim_end_matches('/'));
            let below = asked == *path || asked.starts_with(&folder);
            let https = to.as_url().scheme() == "https";
            let is_sent = *after > 0 && (https || !secure);
            if seeded && below && is_of(&to, domain, *subdomains) && is_sent {
                expected.push((path.len(), number));
            }
        }
        expected.sort_by_key(|(length, number)| (std::cmp::Reverse(*length), *number));
        let expected: Vec<String> = expected
            .iter()
            .map(|(_, number)| format!("c{number}=v"))
            .collect();
        let said = secrets.headers_for(&to, NOW);
        prop_assert_eq!(value(&said, "cookie"), expected.join("; "));
    }

    #[test]
    fn any_bytes_are_a_file_of_cookies_and_any_text_is_a_field_or_an_error(
        file in proptest::collection::vec(any::<u8>(), 0..400),
        text in ".*",
        seed in any_url(),
    ) {
        let read = read_cookies(&file);
        let fields = SecretField::parse(&text).into_iter().collect();
        let secrets = Secrets::new(fields, read.cookies, std::slice::from_ref(&seed));
        prop_assert!(secrets.headers_for(&seed, NOW).values().all(http::HeaderValue::is_sensitive));
    }
}
