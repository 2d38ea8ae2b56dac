//! Promises of `PageUrl`: one spelling for each address.

use proptest::prelude::*;
use url::Position;
use web::{CanonicalForm, Host, MAX_URL_BYTES, PageUrl, UrlError, UrlKey, surt_key};

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn a_url_has_one_spelling() {
    for (text, canonical) in [
        // the URL standard
        ("HTTP://EXAMPLE.org", "http://example.org/"),
        ("  http://example.org/\n", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/%2e%2E/c", "http://example.org/c"),
        ("http://Bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0::1]/", "http://[2001:db8::1]/"),
        ("http://example.org\\a", "http://example.org/a"),
        ("http://example.org/é?ü", "http://example.org/%C3%A9?%C3%BC"),
        // parts that do not belong to a page's address
        ("http://example.org/a#b", "http://example.org/a"),
        ("http://user:secret@example.org/", "http://example.org/"),
        ("http://example.org./", "http://example.org/"),
        ("http://example.org..:8080/", "http://example.org:8080/"),
        ("http://1.2.3.4../", "http://1.2.3.4/"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org?#x", "http://example.org/"),
        // percent-encoding
        (
            "http://example.org/%7euser/%c3%a9",
            "http://example.org/~user/%C3%A9",
        ),
        ("http://example.org/?a=%7e%2f", "http://example.org/?a=~%2F"),
        // parameters
        (
            "http://example.org/?utm_source=a&b=1&UTM_Medium=c",
            "http://example.org/?b=1",
        ),
        ("http://example.org/?%75tm_source=a", "http://example.org/"),
        (
            "http://example.org/?fbclid=1&gclid=2",
            "http://example.org/",
        ),
        (
            "http://example.org/?b=2&a=1&&c",
            "http://example.org/?a=1&b=2&c",
        ),
        (
            "http://example.org/a;jsessionid=1f?x=1",
            "http://example.org/a?x=1",
        ),
        (
            "http://example.org/a;JSESSIONID=1;v=2/b",
            "http://example.org/a;v=2/b",
        ),
        (
            "http://example.org/a/..;jsessionid=1/b",
            "http://example.org/b",
        ),
        // The percent sign of the dropped session kept the `e` encoded: it was no fixed point.
        (
            "http://example.org/;jsessionid=1%;%65",
            "http://example.org/;e",
        ),
        (
            "http://example.org/?ASPSESSIONIDABCD=1&sid=2&ref=3",
            "http://example.org/?ref=3&sid=2",
        ),
    ] {
        assert_eq!(url(text).as_str(), canonical, "{text}");
        assert_eq!(url(canonical).as_str(), canonical, "{text}, again");
    }
}

/// Every picture of an image server that signs its addresses was answered with 403, and a site that
/// redirects to its own spelling was lost as a circle: the canonical text was sent.
#[test]
fn a_request_is_what_was_written() {
    let signed = "http://example.org/a.jpg?w=12&h=6&s=0f8fad5bd9cb469fa16570867728950e";
    for (text, request) in [
        (signed, signed),
        (
            "http://example.org/b?b=2&a=1",
            "http://example.org/b?b=2&a=1",
        ),
        ("http://example.org/b?", "http://example.org/b?"),
        ("http://example.org/%7eb", "http://example.org/%7eb"),
        ("http://example.org/%C3%a9", "http://example.org/%C3%a9"),
        (
            "http://example.org/a;jsessionid=1",
            "http://example.org/a;jsessionid=1",
        ),
        // What the URL standard resolves or removes is not sent.
        (
            "HTTP://user:secret@example.org.:80/a/../b?b&a#c",
            "http://example.org/b?b&a",
        ),
        (
            "http://example.org/é?b=ü&a",
            "http://example.org/%C3%A9?b=%C3%BC&a",
        ),
        // The standard encodes the first, browsers both; queries keep them.
        (
            "http://example.org/a^b|c?d^e|f",
            "http://example.org/a%5Eb%7Cc?d^e|f",
        ),
    ] {
        assert_eq!(url(text).request().as_str(), request, "{text}");
        assert_eq!(url(request).request().as_str(), request, "{text}, again");
        assert_eq!(url(text).origin(), url(url(text).as_str()).origin());
    }
    for (text, plain) in [
        ("/a;jsessionid=1?b", Some("/a?b")),
        (
            "/a?b=2&sid=0f8fad5bd9cb469fa16570867728950e&c=3",
            Some("/a?b=2&c=3"),
        ),
        ("/a?utm_source=x", Some("/a")),
        ("/a?c=3&utm_source=x&b=2", None),
        ("/a?c=3&b=2", None),
        ("/a?b", None),
    ] {
        let plain = plain.map(|path| url(&format!("http://example.org{path}")));
        let found = url(&format!("http://example.org{text}")).without_dropped_parts();
        assert_eq!(found, plain, "{text}");
        assert!(found.is_none_or(|plain| !plain.is_spelled_otherwise()));
    }
    let page = url("http://example.org/a;jsessionid=1?b");
    let next = page.join("?page=2", &CanonicalForm::default()).unwrap();
    assert_eq!(next.as_str(), "http://example.org/a?page=2");
    assert_eq!(next.request_target(), "/a;jsessionid=1?page=2");
}

#[test]
fn a_url_that_is_not_a_page_is_refused_with_its_reason() {
    let form = CanonicalForm::default();
    for (text, finding) in [
        ("", "not a URL"),
        ("example.org/a", "not a URL"),
        ("http://", "not a URL"),
        ("http://./example.org/", "not a URL"),
        ("http://1.2.3.4.5../", "not a URL"),
        ("http://exa mple.org/", "not a URL"),
        (
            "ftp://example.org/",
            "the scheme \"ftp\" is not http or https",
        ),
        (
            "mailto:a@example.org",
            "the scheme \"mailto\" is not http or https",
        ),
    ] {
        let error = PageUrl::parse(text, &form).expect_err(text);
        assert_eq!(error.to_string(), finding, "{text}");
    }
}

#[test]
fn a_url_may_have_8192_bytes_and_not_one_more() {
    let form = CanonicalForm::default();
    let longest = format!("http://example.org/{}", "a".repeat(MAX_URL_BYTES - 19));
    assert_eq!(longest.len(), MAX_URL_BYTES);
    assert_eq!(url(&longest).as_str(), longest);
    let too_long = format!("{longest}a");
    assert_eq!(
        PageUrl::parse(&too_long, &form),
        Err(UrlError::TooLong(MAX_URL_BYTES + 1))
    );
    // Short as written, too long once its characters are percent-encoded.
    let accents = format!("http://example.org/{}", "é".repeat(2_000));
    assert_eq!(
        PageUrl::parse(&accents, &form),
        Err(UrlError::TooLong(19 + 2_000 * 6))
    );
}

#[test]
fn a_reference_is_resolved_and_made_canonical() {
    let page = url("http://example.org/a/b?c");
    let form = CanonicalForm::default();
    for (reference, resolved) in [
        ("d", "http://example.org/a/d"),
        ("../d#x", "http://example.org/d"),
        ("?utm_campaign=x", "http://example.org/a/b"),
        ("//www.example.org:80/%7e", "http://www.example.org/~"),
        ("", "http://example.org/a/b?c"),
        // The `url` crate refuses these two, and browsers accept them.
        ("///www.example.org/e", "http://www.example.org/e"),
        (" /\\//www.example.org", "http://www.example.org/"),
    ] {
        assert_eq!(
            page.join(reference, &form).unwrap().as_str(),
            resolved,
            "{reference}"
        );
    }
    assert!(matches!(
        page.join("javascript:void(0)", &form),
        Err(UrlError::Scheme(_))
    ));
}

#[test]
fn the_user_chooses_the_list_of_parameters() {
    let form = CanonicalForm::new(["sid", "x_*"]);
    let parse = |text| PageUrl::parse(text, &form).unwrap().to_string();
    assert_eq!(
        parse("http://example.org/?sid=1&x_a=2&utm_source=3"),
        "http://example.org/?utm_source=3"
    );
}

#[test]
fn a_route_of_an_application_belongs_to_a_url_only_if_scripts_are_run() {
    let (plain, routes) = (
        CanonicalForm::default(),
        CanonicalForm::default().keep_routes(true),
    );
    for (text, canonical) in [
        ("http://a.test/#/b?c", "http://a.test/#/b?c"),
        ("http://a.test/?utm_id=1#!b c", "http://a.test/#!b%20c"),
        ("http://a.test/#part", "http://a.test/"),
        ("http://a.test/#", "http://a.test/"),
    ] {
        let url = PageUrl::parse(text, &routes).unwrap();
        assert_eq!(url.as_str(), canonical);
        assert!(url.request().fragment().is_none(), "it is never sent");
        assert!(url.without_spelling().request().fragment().is_none());
        assert_eq!(PageUrl::parse(canonical, &routes).as_ref(), Ok(&url));
        let stored = PageUrl::of_stored(&url.to_stored()).unwrap();
        assert_eq!((stored.request(), &stored), (url.request(), &url));
        let unrouted = PageUrl::parse(text, &plain).unwrap();
        assert_eq!(unrouted.as_str(), "http://a.test/");
    }
    let route = PageUrl::parse("http://a.test/app#/b", &routes).unwrap();
    let next = |link| route.join(link, &routes).unwrap().to_string();
    assert_eq!(next("#/c"), "http://a.test/app#/c");
    assert_eq!(next("d"), "http://a.test/d");
    assert_eq!(next(""), "http://a.test/app");
}

#[test]
fn a_stored_url_is_read_unchanged_under_any_list_of_parameters() {
    let kept = PageUrl::parse(
        "http://example.org/?utm_source=x",
        &CanonicalForm::keep_all(),
    )
    .unwrap();
    let json = serde_json::to_string(&kept).unwrap();
    assert_eq!(json, r#""http://example.org/?utm_source=x""#);
    assert_eq!(serde_json::from_str::<PageUrl>(&json).unwrap(), kept);
    assert!(serde_json::from_str::<PageUrl>(r#""ftp://example.org/""#).is_err());
}

/// Computed by another implementation (the reference's Python binding). On disk in every crawl: if
/// this test fails, stores that exist no longer know their own URLs.
#[test]
fn the_key_of_a_url_never_changes() {
    for (text, key) in [
        ("http://example.org/", 0xb73d_c5b0_66f5_3581_u64),
        ("https://example.org/", 0x8e2c_3c29_14c7_cb49),
        (
            "http://xn--bcher-kva.example/%C3%A9?a=1&b=2",
            0x7657_5a39_ee3d_b991,
        ),
    ] {
        assert_eq!(
            format!("{}", url(text).key()),
            format!("{key:016x}"),
            "{text}"
        );
        assert_eq!(UrlKey::from_u64(key).as_u64(), key);
    }
    assert_eq!(serde_json::to_string(&UrlKey::from_u64(7)).unwrap(), "7");
}

#[test]
fn a_url_says_whom_to_ask() {
    for (text, host, authority, origin, domain) in [
        (
            "http://www.Example.co.uk/x",
            "www.example.co.uk",
            "www.example.co.uk",
            "http://www.example.co.uk",
            "example.co.uk",
        ),
        (
            "https://a.b.example.org:8443/",
            "a.b.example.org",
            "a.b.example.org:8443",
            "https://a.b.example.org:8443",
            "example.org",
        ),
        (
            "http://127.0.0.1:8080/",
            "127.0.0.1",
            "127.0.0.1:8080",
            "http://127.0.0.1:8080",
            "127.0.0.1",
        ),
        ("http://[::1]/", "[::1]", "[::1]", "http://[::1]", "[::1]"),
        ("http://co.uk/", "co.uk", "co.uk", "http://co.uk", "co.uk"),
        (
            "http://localhost/",
            "localhost",
            "localhost",
            "http://localhost",
            "localhost",
        ),
        (
            "http://a.github.io/",
            "a.github.io",
            "a.github.io",
            "http://a.github.io",
            "a.github.io",
        ),
    ] {
        let url = url(text);
        assert_eq!(url.host(), Host::new(host), "{text}");
        assert_eq!(url.authority(), authority, "{text}");
        assert_eq!(url.origin(), origin, "{text}");
        assert_eq!(url.registrable_domain(), domain, "{text}");
    }
    assert_eq!(Host::new("EXAMPLE.org").as_str(), "example.org");
}

/// Expectations of the `surt` package 0.3.1 (pywb's canonicaliser), with exceptions as noted.
#[test]
fn an_archive_key_equals_that_of_replay_tools() {
    for (text, key) in [
        ("http://example.com/", "com,example)/"),
        ("https://example.com/", "com,example)/"),
        (
            "http://www.example.com:8080/A/B/?b=2&a=1",
            "com,example:8080)/a/b?a=1&b=2",
        ),
        ("http://www2.example.co.uk/x", "uk,co,example)/x"),
        ("http://www.com/", "com)/"),
        ("http://wwwx.example.com/", "com,example,wwwx)/"),
        ("http://example.com/a//b/", "com,example)/a/b"),
        ("http://example.com/a///", "com,example)/a"),
        ("http://example.com/a/%2E%2E/b", "com,example)/b"),
        ("http://example.com/%252541", "com,example)/a"),
        (
            "http://example.com/caf%C3%A9?q=%E4%BD%A0",
            "com,example)/caf%c3%a9?q=%e4%bd%a0",
        ),
        (
            "http://example.com/a%20b?c+d=%20",
            "com,example)/a%20b?c+d=%20",
        ),
        ("http://example.com/%23x%3F", "com,example)/%23x?"),
        ("http://example.com/?b&a&a=&a=1", "com,example)/?a&a=&a=1&b"),
        (
            "http://example.com/?x=1&sid=0123456789abcdef0123456789abcdef&y=2",
            "com,example)/?x=1&y=2",
        ),
        (
            "http://example.com/?x=1&PHPSESSID=0123456789abcdef0123456789abcdef",
            "com,example)/?&x=1",
        ),
        (
            "http://example.com/?cfid=12&cftoken=ab&z=1",
            "com,example)/?z=1",
        ),
        (
            "http://example.com/?ASPSESSIONIDABCDEFGH=abcdefghijklmnopqrstuvwx",
            "com,example)/",
        ),
        (
            "http://example.com/app/(S(4hqa0555fwsecu455xqckv45))/page.aspx?x",
            "com,example)/app/page.aspx?x",
        ),
        (
            "http://example.com/app/(4hqa0555fwsecu455xqckv45)/page.aspx",
            "com,example)/app/page.aspx",
        ),
        ("http://example.com/a;v=1/b", "com,example)/a;v=1/b"),
        ("http://example.com/?&&b=1&a=2", "com,example)/?&&a=2&b=1"),
        ("http://example.com/?a=%26&%61=1", "com,example)/?&a=&a=1"),
        ("http://[2001:db8::1]:8080/x", "2001:db8::1:8080)/x"),
        ("http://xn--bcher-kva.example/", "example,xn--bcher-kva)/"),
        (
            "http://a.b.c.example.com/%7Euser",
            "com,example,c,b,a)/~user",
        ),
        ("http://example.com/..a/%2e%2e/b", "com,example)/b"),
        ("http://example.com/%2F%2F/a", "com,example)/a"),
        ("http://example.com/a%5Cb", "com,example)/a\\b"),
        ("http://example.com/|a^b`", "com,example)/|a^b`"),
        ("http://example.com/%2E%2E%2F%2E%2E%2Fa", "com,example)/a"),
        ("http://example.com/?=x&y", "com,example)/?=x&y"),
        ("http://example.com/?a=b=c&a=b", "com,example)/?a=b&a=b=c"),
        ("http://example.com/%", "com,example)/%25"),
        ("http://192.168.1.254/info/", "254,1,168,192)/info"),
    ] {
        let url = PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap();
        assert_eq!(surt_key(url.request().as_str()), key, "{text}");
    }
}

/// Text that is likely to be a URL with something wrong in it.
fn nearly_a_url() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "%",
        "%2",
        "%2e",
        "%2E",
        "%65",
        "%32",
        "%41",
        "%7E",
        "%c3",
        "/",
        "//",
        ".",
        "..",
        ";",
        ";jsessionid=1",
        "?",
        "&",
        "=",
        "utm_source",
        "a",
        "2",
        "e",
        "é",
        "#",
        "@",
        ":",
        ":80",
        "\\",
        " ",
        "\t",
        "|",
        "*",
        "+",
        "gclid=1",
        "&b=",
        "&a[]=",
        "&c",
    ]);
    let host = prop::sample::select(vec![
        "example.org",
        "EXAMPLE.org.",
        "1.2.3.4..",
        "[::1]",
        "Bücher.example",
        "a..b",
        "u:p@example.org",
        "example.org:80",
        ".",
    ]);
    (host, prop::collection::vec(piece, 0..12))
        .prop_map(|(host, pieces)| format!("http://{host}/{}", pieces.concat()))
}

/// Parameters of different names, each with a value or none of them with one, and the same in
/// another order.
fn parameters() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let names = prop::collection::btree_set("[a-zA-Z_-][a-zA-Z0-9_.%-]{0,5}", 1..8);
    (names, any::<bool>())
        .prop_map(|(names, have_values)| {
            let end = if have_values { "=x/y,z" } else { "" };
            let names = names
                .into_iter()
                .filter(|name| have_values || !name.contains(['.', '%']));
            names
                .map(|name| format!("{}{end}", name.replace('%', "%20")))
                .collect()
        })
        .prop_flat_map(|parameters: Vec<String>| {
            (Just(parameters.clone()), Just(parameters).prop_shuffle())
        })
}

proptest! {
    #[test]
    fn the_order_of_parameters_is_not_part_of_an_address((one, other) in parameters()) {
        let parse = |parameters: &[String], form: &CanonicalForm| {
            PageUrl::parse(&format!("http://example.org/?{}", parameters.join("&")), form).unwrap()
        };
        let form = CanonicalForm::default();
        prop_assert_eq!(parse(&one, &form), parse(&other, &form));
        let kept = form.clone().sort_parameters(false);
        prop_assert_eq!(parse(&other, &kept) == parse(&one, &kept), one == other);
    }

    #[test]
    fn canonical_text_is_its_own_canonical_form(text in nearly_a_url()) {
        let form = CanonicalForm::default();
        if let Ok(url) = PageUrl::parse(&text, &form) {
            prop_assert_eq!(PageUrl::parse(url.as_str(), &form), Ok(url.clone()));
            let again = PageUrl::parse(url.as_str(), &CanonicalForm::keep_all());
            prop_assert_eq!(again, Ok(url.clone()));
            prop_assert_eq!(url.join("", &form), Ok(url));
        }
    }

    #[test]
    fn a_request_is_fit_to_send_and_comes_back_from_every_encoding(text in nearly_a_url()) {
        let form = CanonicalForm::default();
        if let Ok(url) = PageUrl::parse(&text, &form) {
            let request = url.request();
            prop_assert!(request.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert!(request.fragment().is_none() && request.username().is_empty());
            prop_assert!(request.password().is_none() && !request.path().contains(['^', '|']));
            let before = |url: &url::Url| url[..Position::BeforePath].to_owned();
            prop_assert_eq!(before(request), before(url.as_url()));
            let bytes = postcard::to_stdvec(&url).unwrap();
            let binary: PageUrl = postcard::from_bytes(&bytes).unwrap();
            let again = PageUrl::parse(request.as_str(), &form).unwrap();
            for same in [PageUrl::of_stored(&url.to_stored()).unwrap(), binary, again] {
                prop_assert_eq!(&same, &url);
                prop_assert_eq!(same.request(), url.request());
            }
            let json = serde_json::to_string(&url).unwrap();
            let plain: PageUrl = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(plain.request(), url.as_url());
        }
    }

    #[test]
    fn any_stored_text_is_read_or_refused(text in "\\PC{0,30}\n?\\PC{0,30}") {
        if let Ok(url) = PageUrl::of_stored(&format!("http://a.test/{text}")) {
            prop_assert!(url.request().as_str().is_ascii());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        if let Ok(url) = PageUrl::parse(&text, &CanonicalForm::default()) {
            prop_assert!(surt_key(url.request().as_str()).contains(')'));
        }
    }
}
