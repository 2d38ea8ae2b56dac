//! Access by the socket: hosts, origins, the token, and limits.

use web::{Clock, Timestamp};
use web_ui::{DashboardServer, ServeError, ServeOptions, Token};

use crate::client::{Served, TOKEN};
use crate::crawl::CrawlFixture;

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    for target in [
        "/",
        "/style.css",
        "/live.js",
        "/metrics",
        "/nothing",
        "/controls",
    ] {
        let answer = served.get(target).await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'self'; "),
            "{target}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{target}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{target}");
        }
        // Forms send their origin only under this policy.
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
    }
}

#[tokio::test]
async fn a_capture_needs_its_key_and_can_do_nothing() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    for target in [
        "/replay/key/20261130050606/http://site.test/",
        "/replay/key",
        "/replay/",
    ] {
        let answer = served.get_as_owner(target).await;
        assert_eq!(answer.status, 403, "{target}: {answer:?}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.ends_with("; sandbox"), "{policy}");
        assert!(!policy.contains("allow-"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    let wrong = served.get("/replay?url=http://site.test/&at=2026").await;
    assert_eq!(wrong.status, 400, "{wrong:?}");
    assert!(wrong.text().contains("14 digits"), "{wrong:?}");
}

#[tokio::test]
async fn a_page_has_no_inline_script_and_refers_to_our_own_files_only() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    for target in ["/", "/controls", "/search", "/duplicates"] {
        let page = served.get_as_owner(target).await;
        for element in page.elements() {
            for forbidden in [
                "style=",
                "onclick",
                "onload",
                "http:",
                "https:",
                "javascript:",
            ] {
                let is_link = element.contains("/page?url=");
                // The URL of an order is a value that is sent to us, and nothing is loaded from it.
                let is_value = element.starts_with("<input") && !element.contains("src=");
                assert!(
                    is_link || is_value || !element.contains(forbidden),
                    "{target}: {element}"
                );
            }
        }
        assert!(!page.body.contains("<style"), "{target}");
        // A page that answers a question is not fetched again.
        let script = if target == "/search" {
            None
        } else {
            Some("/live.js")
        };
        assert_eq!(
            page.attribute("script", "src").as_deref(),
            script,
            "{target}"
        );
    }
}

#[tokio::test]
async fn a_foreign_host_is_refused_with_a_sentence_and_a_refusal_reveals_nothing() {
    let served = Served::of(CrawlFixture::saying("the title")).await;
    let port = served.address.port();
    for host in ["evil.test", &format!("evil.test:{port}"), "127.0.0.1"] {
        let host = format!("Host: {host}");
        let answer = served.send("GET /", &[&host, &served.cookie()], "").await;
        assert_eq!(answer.status, 421);
        assert!(answer.body.contains("is not the address of this dashboard"));
        assert!(!answer.body.contains("the title"));
    }
    let named = format!("Host: localhost:{port}");
    assert_eq!(served.send("GET /", &[&named], "").await.status, 200);
}

#[tokio::test]
async fn nothing_is_written_without_the_token_or_from_another_page() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let (host, cookie, origin) = (served.host(), served.cookie(), served.origin());
    for fields in [
        &[&*host, FORM][..],
        &[&host, &origin, FORM],
        &[&host, &cookie, FORM],
        &[&host, &cookie, "Origin: http://evil.test", FORM],
        &[
            &host,
            &cookie,
            "Origin: null",
            "Sec-Fetch-Site: cross-site",
            FORM,
        ],
        &["Host: evil.test", &cookie, "Origin: http://evil.test", FORM],
    ] {
        for target in ["/controls", "/controls/preview"] {
            let first = format!("POST {target}");
            let answer = served.send(&first, fields, "base=&pause=true").await;
            assert!(
                matches!(answer.status, 403 | 421),
                "{fields:?}: {}",
                answer.status
            );
        }
    }
    assert!(!served.crawl.path("control.toml").exists());
}

#[tokio::test]
async fn the_printed_url_leads_to_a_cookie_and_to_the_page_without_the_token() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let answer = served.get(&format!("/controls?token={TOKEN}")).await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), Some("/controls"));
    let cookie = answer.header("set-cookie").unwrap();
    let attributes: Vec<&str> = cookie.split("; ").skip(1).collect();
    assert_eq!(attributes, ["Path=/", "HttpOnly", "SameSite=Strict"]);
    assert_eq!(served.get("/?token=wrong").await.status, 403);
    let (reader, owner) = (
        served.get("/controls").await,
        served.get_as_owner("/controls").await,
    );
    assert!(reader.text().contains("You can look, but not change"));
    assert!(!owner.text().contains("You can look, but not change"));
    assert!(!owner.body.contains(TOKEN));
}

#[tokio::test]
async fn a_long_request_is_refused() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let long = format!("base=&exclude={}", "x".repeat(128 << 10));
    let answer = served.post("/controls/preview", &long).await;
    assert_eq!(answer.status, 413);
    let target = format!("/search?q={}", "x".repeat(60 << 10));
    assert!(matches!(served.get(&target).await.status, 414 | 431));
    let put = served.send("PUT /controls", &[&served.host()], "").await;
    assert_eq!(put.status, 403);
}

#[tokio::test]
async fn listening_beyond_loopback_needs_a_chosen_token_and_an_address_has_one_server() {
    let crawl = CrawlFixture::saying("x");
    let clock = || Clock::fixed(Timestamp::from_millis(0));
    let open = async |listen: &str, token: Token| {
        let listen = listen.parse().unwrap();
        let options = ServeOptions { listen, token };
        DashboardServer::open(&options, crawl.watched(), clock())
            .await
            .map(|_server| ())
    };
    let fresh = || Token::of_random([7; 16]);
    let refused = open("0.0.0.0:0", fresh()).await.unwrap_err();
    assert!(
        matches!(refused, ServeError::BeyondLoopback(_)),
        "{refused}"
    );
    open("0.0.0.0:0", Token::parse(TOKEN).unwrap())
        .await
        .unwrap();
    let served = Served::of(CrawlFixture::saying("x")).await;
    let refused = open(&served.address.to_string(), fresh())
        .await
        .unwrap_err();
    assert!(matches!(refused, ServeError::Listen { .. }), "{refused}");
}
