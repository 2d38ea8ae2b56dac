//! Digest authentication: a server that asks for it gets a proof of the password, never the
//! password.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use testkit::{Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, page, tree};

const OWN: &str = "own.test";
const PAGES: u64 = 7;
const PASSWORD: &str = "open 'sesame'";

fn hash(text: &str) -> String {
    HEXLOWER.encode(digest(&SHA256, text.as_bytes()).as_ref())
}

/// The door of a site: nonces with the counts of the requests that came with them.
#[derive(Default)]
struct Door {
    nonces: HashMap<String, HashSet<String>>,
}

/// The answer of a door to a request.
enum Admission {
    Open,
    Asked,
    Stale,
    Refused,
}

impl Door {
    /// Judges a request as RFC 7616 section 3.4 has it. A nonce lets in `uses` requests.
    fn judge(&mut self, request: &Request, uses: usize) -> Admission {
        let Some(field) = request.header("authorization") else {
            return Admission::Asked;
        };
        let Some(parameters) = field.strip_prefix("Digest ") else {
            return Admission::Refused;
        };
        let parameters: HashMap<&str, &str> = parameters
            .split(", ")
            .filter_map(|parameter| parameter.split_once('='))
            .map(|(name, value)| (name, value.trim_matches('"')))
            .collect();
        let text = |name: &str| parameters.get(name).copied().unwrap_or("missing");
        let of_login = hash(&format!("someone:the site:{PASSWORD}"));
        let of_request = hash(&format!("GET:{}", request.target));
        let expected = hash(&format!(
            "{of_login}:{}:{}:{}:auth:{of_request}",
            text("nonce"),
            text("nc"),
            text("cnonce")
        ));
        let is_right = text("response") == expected
            && text("username") == "someone"
            && text("realm") == "the site"
            && text("uri") == request.target
            && text("algorithm") == "SHA-256"
            && text("opaque") == "kept"
            && text("qop") == "auth";
        let Some(used) = self.nonces.get_mut(text("nonce")).filter(|_| is_right) else {
            return Admission::Refused;
        };
        match used.insert(text("nc").to_owned()) {
            false => Admission::Refused,
            true if used.len() > uses => Admission::Stale,
            true => Admission::Open,
        }
    }

    /// Returns a challenge with a nonce of its own.
    fn challenge(&mut self, more: &str) -> String {
        let nonce = format!("nonce {}", self.nonces.len());
        self.nonces.insert(nonce.clone(), HashSet::new());
        format!(
            "Digest realm=\"the site\", qop=\"auth,auth-int\", algorithm=SHA-256, \
             nonce=\"{nonce}\", opaque=\"kept\"{more}"
        )
    }
}

/// Returns a server whose pages are behind a door.
fn guarded(uses: usize) -> Server {
    let door = Arc::new(Mutex::new(Door::default()));
    Server::spawn_thread(Site::new(move |request| {
        let mut door = door.lock().unwrap();
        let more = match door.judge(request, uses) {
            Admission::Open if request.path() == "/robots.txt" => return Reply::status(404),
            Admission::Open => return tree(number_of(&request.target), PAGES),
            Admission::Stale => ", stale=true",
            Admission::Asked | Admission::Refused => "",
        };
        page(99, &["/nowhere"])
            .with_status(401)
            .header("WWW-Authenticate", "Negotiate")
            .header("WWW-Authenticate", door.challenge(more))
    }))
}

fn crawl(server: &Server, password: &str) -> Crawl {
    Crawl::polite(server, &[OWN], "50ms")
        .seeds(&[server.url(OWN, "/0")])
        .with(&["--delay-factor", "0"])
        .with(&["--http-user", &format!("someone:{password}")])
}

#[test]
fn a_site_behind_digest_authentication_is_crawled_politely_and_whole() {
    let server = guarded(usize::MAX);
    let crawl = crawl(&server, PASSWORD);
    assert_eq!(crawl.complete()["unique"], PAGES);
    crawl.is_sound();
    let log = server.log();
    let refused: Vec<&str> = log
        .iter()
        .filter(|hit| hit.status == 401)
        .map(|hit| hit.target.as_str())
        .collect();
    assert_eq!(refused, ["/robots.txt"], "the server asks once");
    let heads = log.request_heads(OWN);
    assert!(!heads.contains("Basic "), "{heads}");
    let arrivals: Vec<Duration> = log.of(OWN).map(|hit| hit.at).collect();
    let gaps: Vec<Duration> = arrivals.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        gaps.iter().all(|gap| *gap >= Duration::from_millis(50)),
        "{gaps:?}"
    );

    // The proof is archived no more than the password, and a page is archived as it was let in.
    for record in crawl.records() {
        let block = String::from_utf8_lossy(&record.block);
        assert!(!block.contains("response="), "{block}");
        assert!(!block.contains("HTTP/1.1 401"), "{block}");
    }
    let records = crawl.records_about(&server.url(OWN, "/3"));
    let request = records.iter().find(|record| record.kind() == "request");
    let head = String::from_utf8_lossy(&request.unwrap().block).into_owned();
    assert!(head.contains("\r\nauthorization: [not kept]\r\n"), "{head}");
}

#[test]
fn a_nonce_that_is_stale_is_replaced_and_no_page_is_lost() {
    let server = guarded(3);
    let crawl = crawl(&server, PASSWORD);
    assert_eq!(crawl.complete()["unique"], PAGES);
    let log = server.log();
    let refused = log.iter().filter(|hit| hit.status == 401).count();
    // robots.txt and seven pages: three with each nonce.
    assert_eq!((refused, log.len()), (3, 11));
}

#[test]
fn a_wrong_password_is_sent_once_for_each_request_and_named_as_the_reason() {
    let server = guarded(usize::MAX);
    let crawl = crawl(&server, "wrong");
    let run = crawl.run();
    assert_eq!(run.code, Some(3), "{run:?}");
    let visit = crawl.visit(&server.url(OWN, "/0"));
    assert_eq!(
        visit["reason"],
        "HTTP status 401 (asks for Negotiate, Digest)"
    );
    // robots.txt without the login and with it, and the page.
    assert_eq!(server.log().len(), 3);
    assert!(!run.errors.contains("wrong"), "{run:?}");
}

#[test]
fn a_login_of_netrc_answers_too_and_strangers_get_no_answer() {
    let (server, other) = (guarded(usize::MAX), guarded(usize::MAX));
    let crawl = Crawl::of(&server, &[OWN])
        .seeds(&[server.url(OWN, "/0"), other.url("other.test", "/0")])
        .with(&["--resolve", &other.resolve("other.test")])
        .with(&["--netrc=logins", "--tries", "1"]);
    crawl.write(
        "logins",
        format!("machine {OWN} login someone password \"{PASSWORD}\"\n"),
    );
    let summary = crawl.complete();
    assert_eq!(summary["unique"], PAGES, "{summary}");
    let heads = other.log().request_heads("other.test");
    assert!(
        !heads.is_empty() && !heads.to_lowercase().contains("authorization"),
        "{heads}"
    );
}
