//! HTTPS, and HTTP/2 over it.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

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
    for hit in server.log().pages() {
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
fn an_untrusted_certificate_is_refused() {
    let (server, _authority) = server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries=1", "--ignore-robots"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&0.into(), &1.into())
    );
    assert!(
        crawl.visit(&server.url(HOST, "/"))["reason"]
            .as_str()
            .unwrap()
            .starts_with("TLS: the certificate's issuer is not trusted")
    );
    assert!(server.log().is_empty());
}

#[test]
fn an_insecure_host_is_archived_with_a_warning_and_the_archive_says_so() {
    let (server, _authority) = server();
    let crawl = Crawl::of(&server, &[HOST, "other.test"])
        .seeds(&[server.url(HOST, "/"), server.url("other.test", "/")])
        .with(&["--tries=1", "--ignore-robots", "--insecure-host", HOST]);
    let run = crawl.run();
    let summary = run.summary();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&3.into(), &1.into())
    );
    assert!(
        run.errors
            .contains("certificates of secure.test are NOT VERIFIED"),
        "{run:?}"
    );
    let reason = crawl.visit(&server.url("other.test", "/"))["reason"].clone();
    assert_eq!(reason, "TLS: the certificate's issuer is not trusted");
    let about = crawl
        .records()
        .into_iter()
        .find(|record| record.kind() == "warcinfo");
    let about = String::from_utf8(about.unwrap().block).unwrap();
    assert!(
        about.contains("insecure-host = [\"secure.test\"]"),
        "{about}"
    );
    crawl.is_sound();
}
