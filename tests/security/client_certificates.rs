//! `--client-cert` and `--client-key`: certificates by which the crawler identifies itself.

use testkit::{ClientIdentity, Server};

use crate::support::Crawl;
use crate::support::pages::tree_site;

const HOST: &str = "clients.test";

/// Returns a crawl of a server that refuses clients without a certificate.
fn crawl(server: &Server, identity: &ClientIdentity) -> Crawl {
    let crawl = Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--ca-certificate", "ca.pem", "--tries=1", "--ignore-robots"]);
    crawl.write("ca.pem", &identity.authority);
    crawl.write("me.pem", &identity.certificate);
    crawl.write("me.key", &identity.key);
    crawl.write(
        "both.pem",
        format!("{}{}", identity.certificate, identity.key),
    );
    crawl
}

#[test]
fn a_server_that_asks_for_a_certificate_is_shown_it() {
    let (server, identity) = Server::spawn_thread_tls_for_clients(tree_site(3), &[HOST]);
    let without = crawl(&server, &identity).complete();
    assert_eq!(
        (&without["pages"], &without["failed"]),
        (&0.into(), &1.into())
    );
    for options in [
        &["--client-cert", "me.pem", "--client-key", "me.key"][..],
        &["--client-cert", "both.pem"],
    ] {
        let crawl = crawl(&server, &identity).with(options);
        assert_eq!(crawl.complete()["pages"], 3, "{options:?}");
        crawl.is_sound();
    }
    let of_host = crawl(&server, &identity).with(&["--config", "hosts.toml"]);
    of_host.write(
        "hosts.toml",
        "[host.\"clients.test\"]\nclient-cert = \"both.pem\"\n",
    );
    assert_eq!(of_host.complete()["pages"], 3);
}

#[test]
fn files_that_are_no_certificate_and_key_are_refused() {
    let (server, identity) = Server::spawn_thread_tls_for_clients(tree_site(1), &[HOST]);
    let (_other, stranger) = Server::spawn_thread_tls_for_clients(tree_site(1), &[HOST]);
    for (options, words) in [
        (
            &["--client-key", "me.key"][..],
            "--client-key needs --client-cert",
        ),
        (&["--client-cert", "missing"], "missing"),
        (
            &["--client-cert", "me.pem"],
            "cannot read a PEM private key",
        ),
        (
            &["--client-cert", "me.pem", "--client-key", "strange.key"],
            "cannot be used",
        ),
    ] {
        let crawl = crawl(&server, &identity);
        crawl.write("strange.key", &stranger.key);
        crawl.run_with(options).assert_error(2, words);
    }
}
