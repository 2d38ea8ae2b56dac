//! HTTPS, and HTTP/2 over it.

use testkit::{Reply, Server, Site};

use crate::pages::{NONE, page};
use crate::support::Crawl;

const HOST: &str = "secure.test";

fn server() -> (Server, String) {
    let site = Site::pages([
        ("/", page(0, &["/a", "/b"])),
        ("/a", page(1, NONE).chunked(10)),
        ("/b", Reply::redirect(302, "/c")),
        ("/c", page(2, NONE)),
    ]);
    Server::spawn_thread_tls(site, &[HOST])
}

#[test]
fn a_site_over_http_2_is_archived_as_it_was_sent() {
    let (server, authority) = server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--ca-certificate", "ca.pem"]);
    crawl.write("ca.pem", authority);
    assert_eq!(crawl.complete()["pages"], 3);
    let mut compared = 0;
    for hit in server.log().iter().filter(|hit| hit.target != "/robots.txt") {
        let records = crawl.records_about(&server.url(HOST, &hit.target));
        assert_eq!(records[0].kind(), "response");
        assert_eq!(records[0].field("WARC-Protocol"), Some("h2"));
        assert_eq!(records[0].head_and_payload().unwrap().1, hit.body);
        compared += 1;
    }
    assert_eq!(compared, 4);
    crawl.is_sound();
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_not_trusted() {
    let (server, _authority) = server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--ignore-robots"]);
    let summary = crawl.complete();
    assert_eq!((&summary["pages"], &summary["failed"]), (&0.into(), &1.into()));
    assert!(
        crawl.row(&server.url(HOST, "/"))["reason"]
            .as_str()
            .unwrap()
            .starts_with("TLS: ")
    );
    assert!(server.log().is_empty());
}
