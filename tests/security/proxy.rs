//! Proxies: every request goes through the proxy, and its credentials reach nobody else.

use std::fs;
use std::path::Path;

use testkit::{Proxy, Server};

use crate::support::Crawl;
use crate::support::pages::tree_site;

const PAGES: u64 = 7;
const PASSWORD: &str = "xyzzy-plugh-4711";

fn crawl(proxy: &str) -> Crawl {
    Crawl::bare()
        .seeds(&["http://site.test/0"])
        .with(&[
            "--contact=tests@example.org",
            "--summary=json",
            "--delay=0",
            "--delay-factor=0",
        ])
        .with(&["--resolve=site.test:80:93.184.216.34", "--ignore-robots"])
        .with(&["--proxy", proxy])
}

/// Returns the content of every file below `directory`.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    all
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[test]
fn a_crawl_goes_through_its_proxy_and_sends_the_credentials_only_there() {
    let server = Server::spawn_thread(tree_site(PAGES));
    for kind in ["http", "socks5", "socks5h"] {
        let proxy = Proxy::before(server.address(), Some(&format!("crawler:{PASSWORD}")));
        let address = proxy.address();
        let crawl = crawl(&format!("{kind}://crawler:{PASSWORD}@{address}"));
        let run = crawl.run();
        assert_eq!(run.summary()["pages"], PAGES, "{kind} {run:?}");
        assert!(!proxy.asked().is_empty());
        crawl.is_sound();

        let kept = fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
        let shown = format!("proxy = \"{kind}://{address}\"");
        assert!(kept.contains(&shown), "{kept}");
        let mut told = files(&crawl.out());
        told.push(("its output".to_owned(), format!("{run:?}").into_bytes()));
        for record in crawl.records() {
            let at = format!("the archive, {}", record.kind());
            assert_eq!(
                record.field("WARC-IP-Address"),
                None,
                "the address of the server is unknown"
            );
            told.push((at, record.block));
        }
        for hit in server.log().iter() {
            told.push(("what the server saw".to_owned(), hit.request_head.to_vec()));
        }
        for (place, bytes) in told {
            // "crawler:PASSWORD" in Base64 begins and ends like this in any position.
            for secret in [
                PASSWORD,
                "Y3Jhd2xlcjp4eXp6eS",
                "roxy-Authorization",
                "roxy-authorization",
            ] {
                assert!(!contains(&bytes, secret), "{kind}: {secret} is in {place}");
            }
        }
    }
}

#[test]
fn a_crawl_never_bypasses_its_proxy() {
    let server = Server::spawn_thread(tree_site(PAGES));
    let proxy = Proxy::before(server.address(), Some("crawler:another"));
    let crawl = crawl(&format!("http://{}", proxy.address())).with(&["--tries=1"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&0.into(), &1.into())
    );
    assert_eq!(
        crawl.visit("http://site.test/0")["reason"],
        "the proxy: it requires a user and a password"
    );
    assert!(server.log().is_empty());
}

#[test]
fn a_host_has_its_own_proxy_or_none() {
    let pages = ["/0", "/1", "/2"];
    let server = Server::spawn_thread(tree_site(PAGES));
    let (common, own) = (
        Proxy::before(server.address(), None),
        Proxy::before(server.address(), Some(&format!("crawler:{PASSWORD}"))),
    );
    let port = server.port();
    let seeds = ["common.test", "www.own.test", "direct.own.test"]
        .map(|host| format!("http://{host}:{port}/0"));
    let crawl = Crawl::of(&server, &["common.test", "www.own.test", "direct.own.test"])
        .seeds(&seeds)
        .with(&["--max-depth=1", "--ignore-robots", "--config=hosts.toml"])
        .with(&["--duplicate-links=follow"]);
    crawl.write(
        "hosts.toml",
        format!(
            "proxy = \"http://{}\"\n[host.\"*.own.test\"]\n\
             proxy = \"http://crawler:{PASSWORD}@{}\"\n\
             [host.\"direct.own.test\"]\nproxy = \"none\"\n",
            common.address(),
            own.address()
        ),
    );
    assert_eq!(
        crawl.complete()["unique"],
        3,
        "the hosts have the same pages"
    );
    let asked = |host: &str| pages.map(|page| format!("GET http://{host}:{port}{page}"));
    for (proxy, host) in [(&common, "common.test"), (&own, "www.own.test")] {
        let mut seen = proxy.asked();
        seen.sort();
        assert_eq!(seen, asked(host), "{host}");
    }
    assert_eq!(server.log().pages_of("direct.own.test").len(), 3);
    assert_eq!(server.log().len(), 9);

    let kept = fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    let shown = format!("proxy = \"http://{}\"", own.address());
    assert!(kept.contains(&shown), "{kept}");
    for (place, bytes) in files(&crawl.out()) {
        assert!(!contains(&bytes, PASSWORD), "{place}");
    }
}

#[test]
fn an_invalid_proxy_is_refused_without_printing_its_password() {
    for proxy in [
        format!("ftp://crawler:{PASSWORD}@proxy.test"),
        format!("crawler:{PASSWORD}@proxy.test:80/x"),
    ] {
        let run = crawl(&proxy).run();
        run.assert_error(2, "--proxy");
        assert!(!run.errors.contains(PASSWORD), "{run:?}");
    }
}
