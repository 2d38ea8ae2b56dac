//! HSTS within a crawl: a host that asks for https is requested over http no more.

use testkit::{Proxy, Reply, Server, Site};

use crate::support::pages::{NONE, page};
use crate::support::{Crawl, KEY};

const HOST: &str = "site.test";

/// A host at the standard ports, behind a proxy that leads to the servers of the test.
struct Host {
    plain: Server,
    secure: Server,
    proxy: Proxy,
    authority: String,
}

/// Returns a host whose https pages have this field. They link to each other over http.
fn host(field: &'static str) -> Host {
    let plain = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/old" => page(7, NONE),
        path => Reply::redirect(301, format!("https://{HOST}{path}")),
    }));
    let site = Site::new(move |request| {
        let links = ["/one", "/two", "/moved", "/old"];
        let links = links.map(|path| format!("http://{HOST}{path}"));
        let reply = match request.path() {
            "/" => page(0, &[&links[..], &[format!("https://{HOST}/one")]].concat()),
            "/one" => page(1, &links),
            "/two" => page(2, NONE),
            "/moved" => Reply::redirect(302, format!("http://{HOST}/three")),
            "/three" => page(3, NONE),
            // Over https there is no such page.
            "/old" => Reply::redirect(302, format!("http://{HOST}/old")),
            _ => Reply::status(404),
        };
        match field {
            "" => reply,
            field => reply.header("Strict-Transport-Security", field),
        }
    });
    let (secure, authority) = Server::spawn_thread_tls(site, &[HOST]);
    let proxy = Proxy::before_both(plain.address(), secure.address(), None);
    Host {
        plain,
        secure,
        proxy,
        authority,
    }
}

impl Host {
    fn crawl(&self) -> Crawl {
        let crawl = Crawl::bare()
            .seeds(&[format!("http://{HOST}/")])
            .with(&["--contact=tests@example.org", "--summary=json"])
            .with(&["--delay=0", "--delay-factor=0", "--tries=1"])
            .with(&["--hash-key", KEY, "--ca-certificate", "ca.pem"])
            .with(&[format!("--proxy=http://{}", self.proxy.address())])
            .with(&["--resolve", &format!("{HOST}:80:93.184.216.34")])
            .with(&["--resolve", &format!("{HOST}:443:93.184.216.34")]);
        crawl.write("ca.pem", &self.authority);
        crawl
    }
}

#[test]
fn links_to_a_host_that_asks_for_https_are_requested_over_https() {
    let host = host("max-age=3600");
    let crawl = host.crawl();
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 5, "{summary}");
    let log = host.plain.log();
    // The seed was requested before the host could ask; the old page is nowhere else.
    assert_eq!(log.targets(HOST), ["/robots.txt", "/", "/old"]);
    for path in ["/", "/one", "/two", "/moved", "/three", "/old"] {
        assert_eq!(host.secure.log().count(HOST, path), 1, "{path}");
    }
    let visit = crawl.visit(&format!("http://{HOST}/two"));
    assert_eq!(visit["final_url"], format!("https://{HOST}/two"));
    assert_eq!(visit["verdict"], "unique");
    crawl.is_sound();

    // The journal can be rebuilt from an archive that has no request over http.
    let before = crawl.visits();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl", "--hash-key", KEY]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(crawl.visits(), before);
    crawl.is_sound();
}

#[test]
fn without_the_field_links_are_requested_as_written() {
    let host = host("");
    let summary = host.crawl().complete();
    assert_eq!(summary["unique"], 5, "{summary}");
    let log = host.plain.log();
    for path in ["/one", "/two", "/three"] {
        assert!(log.count(HOST, path) > 0, "{path}: {:?}", log.targets(HOST));
    }
}

#[test]
fn a_host_whose_certificate_is_not_verified_cannot_ask_for_https() {
    let host = host("max-age=3600");
    let crawl = host.crawl().with(&["--insecure-host", HOST]);
    assert_eq!(crawl.complete()["unique"], 5);
    assert!(host.plain.log().count(HOST, "/two") > 0);
}
