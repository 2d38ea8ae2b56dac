//! The scope of a crawl.

use std::collections::BTreeSet;

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::page;

const HOSTS: [&str; 3] = ["site.test", "www.site.test", "other.test"];

/// Three hosts with the same paths, all linked from everywhere.
fn server() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let port = request.port.unwrap();
        let mut links = vec![
            "/".to_owned(),
            "/docs/".to_owned(),
            "/docs/a".to_owned(),
            "/blog/b".to_owned(),
        ];
        links.extend(HOSTS.map(|host| format!("http://{host}:{port}/docs/a")));
        let known = HOSTS.iter().position(|host| **host == request.host);
        match (known, request.path()) {
            (Some(host), path @ ("/" | "/docs/" | "/docs/a" | "/blog/b")) => page(
                (host * 10 + path.len()) as u64 * 7 + u64::from(path.starts_with("/b")),
                &links,
            ),
            _ => Reply::status(404),
        }
    }))
}

/// Returns the pages that a crawl of `site.test/docs/` with these options visits, as host and path.
fn visited(options: &[&str]) -> BTreeSet<String> {
    let server = server();
    let crawl = Crawl::of(&server, &HOSTS)
        .seeds(&[server.url("site.test", "/docs/")])
        .with(options);
    crawl.complete();
    let port = format!(":{}", server.port());
    crawl
        .verdicts()
        .keys()
        .map(|url| url.replace("http://", "").replace(&port, ""))
        .collect()
}

fn set(pages: &[&str]) -> BTreeSet<String> {
    pages.iter().map(|page| (*page).to_owned()).collect()
}

fn all_of(hosts: &[&str]) -> BTreeSet<String> {
    let paths = ["/", "/docs/", "/docs/a", "/blog/b"];
    hosts
        .iter()
        .flat_map(|host| paths.map(|path| format!("{host}{path}")))
        .collect()
}

#[test]
fn a_seed_lets_in_its_host_by_default() {
    assert_eq!(visited(&[]), all_of(&["site.test"]));
    assert_eq!(visited(&["--scope", "host"]), all_of(&["site.test"]));
}

#[test]
fn scope_domain_lets_in_subdomains() {
    assert_eq!(
        visited(&["--scope", "domain"]),
        all_of(&["site.test", "www.site.test"])
    );
}

#[test]
fn scope_prefix_lets_in_the_folder_of_the_seed() {
    assert_eq!(
        visited(&["--scope", "prefix"]),
        set(&["site.test/docs/", "site.test/docs/a"])
    );
}

#[test]
fn scope_any_lets_in_everything() {
    assert_eq!(visited(&["--scope", "any"]), all_of(&HOSTS));
}

#[test]
fn include_narrows_the_scope_and_seeds_are_always_in_it() {
    assert_eq!(
        visited(&["--include", "/blog/"]),
        set(&["site.test/docs/", "site.test/blog/b"])
    );
}

#[test]
fn exclude_wins_over_include() {
    assert_eq!(
        visited(&["--exclude", "/docs/a$", "--exclude", "/blog"]),
        set(&["site.test/", "site.test/docs/"])
    );
    assert_eq!(
        visited(&["--include", "/docs/", "--exclude", "/docs/a"]),
        set(&["site.test/docs/"])
    );
}

#[test]
fn spellings_of_one_url_are_requested_once() {
    let spellings = [
        "/a",
        "/a#top",
        "/./a",
        "/b/../a",
        "/%61",
        "/a?utm_source=x",
        "/a?fbclid=1#x",
    ];
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, &spellings),
        "/a" => page(2, &spellings),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &["site.test"]).seeds(&[server.url("SITE.test", "")]);
    assert_eq!(crawl.complete()["pages"], 2);
    let log = server.log();
    assert_eq!(log.pages_of("site.test"), ["/", "/a"]);
}
