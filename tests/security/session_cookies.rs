//! `--cookies session`: cookies that servers set are sent back to their origins.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{anchor, html};

const OWN: &str = "own.test";
const OTHER: &str = "other.test";

/// Returns a site whose second page is shown to those who come back with the cookie of the first.
fn server() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let has_cookie = String::from_utf8_lossy(&request.head).contains("id=hidden-one");
        let port = request.port.unwrap();
        match (request.host.as_str(), request.path()) {
            (_, "/robots.txt") => Reply::text("User-agent: *\nAllow: /\n"),
            (OWN, "/") => {
                let other = anchor(&format!("http://{OTHER}:{port}/"));
                let links = format!("{}{other}", anchor("/member"));
                Reply::html(html("", &format!("<p>Welcome</p>{links}")))
                    .header("Set-Cookie", "id=hidden-one; Path=/; HttpOnly")
            }
            (OWN, "/member") if has_cookie => Reply::html(html("", "<p>For members</p>")),
            (OWN, _) => Reply::status(403),
            _ => Reply::html(html("", "<p>Another site</p>")),
        }
    }))
}

fn crawl(server: &Server, cookies: &str) -> Crawl {
    Crawl::of(server, &[OWN, OTHER])
        .seeds(&[server.url(OWN, "/")])
        .with(&["--scope", "any", "--concurrency", "1", "--cookies", cookies])
}

#[test]
fn a_cookie_comes_back_to_its_origin_and_its_value_is_in_no_archived_request() {
    let server = server();
    let crawl = crawl(&server, "session");
    assert_eq!(crawl.complete()["pages"], 3);
    assert_eq!(crawl.visit(&server.url(OWN, "/member"))["status"], 200);
    assert!(
        !server.log().request_heads(OTHER).contains("cookie"),
        "{}",
        server.log().request_heads(OTHER)
    );
    let records = crawl.records_about(&server.url(OWN, "/member"));
    let requests = records.iter().filter(|record| record.kind() == "request");
    let requests: Vec<_> = requests
        .map(|record| String::from_utf8_lossy(&record.block).into_owned())
        .collect();
    assert!(!requests.is_empty());
    for request in requests {
        assert!(request.contains("cookie: [not kept]\r\n"), "{request}");
        assert!(!request.contains("hidden"), "{request}");
    }
    crawl.is_sound();
}

#[test]
fn without_the_option_no_cookie_is_kept() {
    let server = server();
    let crawl = crawl(&server, "off");
    crawl.complete();
    assert_eq!(crawl.visit(&server.url(OWN, "/member"))["status"], 403);
    assert!(!server.log().request_heads(OWN).contains("hidden"));
}
