//! The fields that each origin gets, and the texts that are refused without being repeated.

use http::HeaderMap;
use requests::SecretFieldError;
use web::{CanonicalForm, PageUrl, Timestamp};

use super::cookies::read_cookies;
use super::*;

mod cookies;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
}

fn urls(texts: &[&str]) -> Vec<PageUrl> {
    texts.iter().map(|text| url(text)).collect()
}

fn field(text: &str) -> SecretField {
    SecretField::parse(text).unwrap()
}

fn value(said: &HeaderMap, name: &str) -> String {
    let values = said
        .get_all(name)
        .iter()
        .map(|value| value.to_str().unwrap().to_owned());
    values.collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_field_of_a_host_is_sent_over_https_and_to_origins_of_seeds_in_place_of_others() {
    let seeds = urls(&["http://www.a.test:8080/", "https://b.test/"]);
    let of_host = vec![field("X-Token: own"), field("X-More: 1")];
    let table = [("*.a.test".parse().unwrap(), of_host)]
        .into_iter()
        .collect();
    let secrets = Secrets::new(vec![field("X-Token: common")], Vec::new(), &seeds)
        .with_fields_of_hosts(table, &seeds);
    for (to, token) in [
        ("http://www.a.test:8080/x", "own"),
        ("https://www.a.test/", "own"),
        ("https://c.a.test/", "own"),
        ("http://www.a.test/", ""),
        ("http://c.a.test:8080/", ""),
        ("https://c.a.test:8443/", ""),
        ("https://a.test/", ""),
        ("https://bad-a.test/", ""),
        ("https://b.test/", "common"),
    ] {
        let said = secrets.headers_for(&url(to), NOW);
        assert_eq!(value(&said, "x-token"), token, "{to}");
        assert_eq!(
            value(&said, "x-more"),
            if token == "own" { "1" } else { "" },
            "{to}"
        );
    }
}

#[test]
fn a_field_is_sent_to_the_origins_of_the_seeds_only() {
    let seeds = urls(&["https://a.test/deep/x", "http://b.test:8080/"]);
    let secrets = Secrets::new(vec![field("X-Token: one")], Vec::new(), &seeds);
    for (to, is_sent) in [
        ("https://a.test/", true),
        ("https://a.test:443/other?q", true),
        ("http://b.test:8080/y", true),
        ("http://a.test/deep/x", false),
        ("https://a.test:8443/", false),
        ("http://a.test:443/", false),
        ("https://www.a.test/", false),
        ("https://a.test.evil.test/", false),
        ("https://b.test:8080/", false),
        ("http://b.test/", false),
        ("https://test/", false),
    ] {
        let said = secrets.headers_for(&url(to), NOW);
        assert_eq!(
            value(&said, "x-token"),
            if is_sent { "one" } else { "" },
            "{to}"
        );
    }
}

#[test]
fn a_field_that_names_its_origin_is_sent_there_only_even_without_a_seed_there() {
    let fields = vec![
        field("https://b.test X-Token: two"),
        field("HTTPS://A.test/   X-Token:three"),
        field("X-Token: a:b "),
    ];
    let secrets = Secrets::new(
        fields,
        Vec::new(),
        &urls(&["https://a.test/", "https://c.test/"]),
    );
    let said = |to| value(&secrets.headers_for(&url(to), NOW), "x-token");
    assert_eq!(said("https://a.test/"), "three | a:b");
    assert_eq!(said("https://b.test/"), "two");
    assert_eq!(said("https://c.test/"), "a:b");
    assert_eq!(said("https://d.test/"), "");
    assert_eq!(secrets.origins(), (3, 0));
}

#[test]
fn an_invalid_field_is_refused_without_quoting_it() {
    let long = format!("X-Long: SECRET{}", "x".repeat(8 << 10));
    for (text, message) in [
        ("SECRET", "'Name: value' or"),
        ("", "'Name: value' or"),
        (": SECRET", "must be a field name"),
        ("SECRET SECRET: x", "must be a field name"),
        ("X-Tök: SECRET", "must be a field name"),
        ("X-Token:", "x-token has no value"),
        ("X-Token: \t ", "x-token has no value"),
        ("X-Token: SECRET\r\nHost: evil.test", "the value of x-token"),
        ("X-Token: SEC\u{0}RET", "the value of x-token"),
        (&long, "the value of x-long"),
        ("Host: SECRET", "host cannot be set this way"),
        ("CONTENT-LENGTH: 1", "connection"),
        ("Transfer-Encoding: chunked", "connection"),
        ("Connection: close", "connection"),
        ("Accept-Encoding: br", "can decode"),
        ("Cookie: SECRET", "--load-cookies"),
        ("User-Agent: SECRET", "--user-agent"),
        ("Proxy-Authorization: SECRET", "--proxy"),
        ("Range: bytes=0-", "requested in full"),
        ("https://a.test/SECRET X-Token: x", "must be an origin"),
        ("https://u:SECRET@a.test X-Token: x", "must be an origin"),
        ("https://a.test?SECRET X-Token: x", "must be an origin"),
        ("https://[SECRET X-Token: x", "must be an origin"),
        ("https://a.test", "'Name: value' or"),
    ] {
        let error = SecretField::parse(text).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(error.to_string().contains(message), "{text:?}: {error}");
        assert!(!shown.contains("SECRET"), "{shown}");
    }
}

#[test]
fn basic_authentication_is_rfc_7617s() {
    // RFC 7617 sections 2 and 2.1.
    for (login, password, expected) in [
        (
            "Aladdin:open sesame",
            None,
            Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ),
        (
            "Aladdin",
            Some("open sesame"),
            Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ),
        ("test:123\u{a3}", None, Some("Basic dGVzdDoxMjPCow==")),
        ("u:p:q", None, Some("Basic dTpwOnE=")),
        ("https://a.test u:p", None, Some("Basic dTpw")),
        ("key:", None, Some("Basic a2V5Og==")),
        ("key", Some(""), Some("Basic a2V5Og==")),
        ("nobody", None, None),
    ] {
        let field = SecretField::basic(login, password).unwrap();
        let said = field.as_ref().map(|field| field.value().to_str().unwrap());
        assert_eq!(said, expected, "{login}");
    }
    for (login, password) in [
        ("u:p", Some("SECRET")),
        ("u:SEC\nRET", None),
        ("u", Some("SEC\u{7f}RET")),
    ] {
        let error = SecretField::basic(login, password).unwrap_err();
        assert_eq!(error, SecretFieldError::Login);
    }
}

#[test]
fn secrets_are_never_shown() {
    let file = "a.test\tFALSE\t/\tFALSE\t0\tSECRET3\tSECRET3";
    let read = read_cookies(file.as_bytes());
    let fields = vec![
        field("X-Token: SECRET1"),
        SecretField::basic("user:SECRET2", None).unwrap().unwrap(),
    ];
    let shown = format!("{read:?} {fields:?}");
    let secrets = Secrets::new(fields, read.cookies, &urls(&["http://a.test/"]));
    let said = secrets.headers_for(&url("http://a.test/"), NOW);
    assert_eq!(said.len(), 2);
    let login = secrets.login_for(&url("http://a.test/")).unwrap();
    assert_eq!(secrets.login_for(&url("https://a.test/")), None);
    let shown = format!("{shown} {secrets:?} {said:?} {login:?} {:?}", login.login());
    for secret in ["SECRET", "dXNlcjpTRUNSRVQy"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(said.values().all(http::HeaderValue::is_sensitive));
    assert!(login.value().is_sensitive());
    assert_eq!((secrets.origins(), secrets.cookies()), ((1, 1), (1, 1)));
}
