//! `--netrc`: logins from a file, each for its own machine.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use testkit::{Server, Site};

use crate::support::Crawl;
use crate::support::pages::{anchor, html, tree_site};

const OWN: &str = "own.test";
const OTHER: &str = "other.test";
/// `me:hidden` in base64.
const LOGIN: &str = "Basic bWU6aGlkZGVu";

fn crawl(server: &Server, netrc: &str, mode: u32) -> Crawl {
    let crawl = Crawl::of(server, &[OWN, OTHER])
        .seeds(&[server.url(OWN, "/0")])
        .with(&["--scope", "any", "--netrc=logins"]);
    let path = crawl.write("logins", netrc);
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    crawl
}

#[test]
fn a_login_is_sent_to_its_machine_alone() {
    let server = Server::spawn_thread(Site::new(|request| {
        let link = format!("http://{OTHER}:{}/1", request.port.unwrap());
        match request.host.as_str() {
            // Over http, a login is sent once the server asks for it.
            OWN if request.header("authorization").is_none() => {
                testkit::Reply::status(401).header("WWW-Authenticate", "Basic realm=\"x\"")
            }
            OWN => testkit::Reply::html(html("", &anchor(&link))),
            _ => testkit::Reply::html(html("", "<p>Another</p>")),
        }
    }));
    let netrc = "machine own.test login me password hidden\n\
                 machine other.test login me password hidden\n";
    let run = crawl(&server, netrc, 0o600).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        server.log().request_heads(OWN).contains(LOGIN),
        "{}",
        server.log().request_heads(OWN)
    );
    // It is no seed, and asked over http.
    assert!(
        !server.log().request_heads(OTHER).is_empty()
            && !server.log().request_heads(OTHER).contains("Basic")
    );
    assert!(
        !run.errors.contains("other users of this machine"),
        "{run:?}"
    );
}

#[test]
fn others_who_can_read_the_file_and_a_login_for_all_hosts_are_warned_of() {
    let server = Server::spawn_thread(tree_site(1));
    let run = crawl(&server, "default login me password hidden\n", 0o644).run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.errors.contains("`chmod 600` it"), "{run:?}");
    assert!(
        run.errors
            .contains("the default entry of logins is not used"),
        "{run:?}"
    );
    assert!(!server.log().request_heads(OWN).contains("Basic"));
    assert!(!run.errors.contains("hidden"));
}

#[test]
fn mistakes_are_named_without_a_word_of_the_file() {
    let server = Server::spawn_thread(tree_site(1));
    let run = crawl(&server, "machine own.test\nlogin me hidden\n", 0o600).run();
    run.assert_error(2, "--netrc: logins, line 2");
    assert!(!run.errors.contains("hidden"), "{run:?}");
    let both = crawl(&server, "", 0o600).run_with(&["--http-user", "a:b"]);
    both.assert_error(2, "--netrc");
    Crawl::bare()
        .run_command(&["http://a.test/", "--netrc=missing"])
        .assert_error(2, "--netrc: cannot read missing");
}
