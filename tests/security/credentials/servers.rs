//! Two servers that may receive secrets, and one that tries to obtain them.

use std::sync::{Arc, OnceLock};

use testkit::{Gate, Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page};

pub(super) const OWN: &str = "own.test";
pub(super) const OTHER: &str = "other.test";
pub(super) const SAFE: &str = "safe.test";

pub(super) const HEADER: &str = "qT7xW2nB9vLmHeaderPzK4";
pub(super) const PASSWORD: &str = "rY3cM8jD5sQaPasswordVw1";
pub(super) const COOKIE: &str = "uF6hN4gZ1kXeCookieTb9";
pub(super) const SEED_LOGIN: &str = "oL2pE7aR8iYdSeedLoginGm5";
pub(super) const LINK_LOGIN: &str = "wC9tS3yU6bJfLinkLoginHq7";
pub(super) const REDIRECT_LOGIN: &str = "eV5rA1xO4nKzRedirectLoginMd2";

/// Secrets that the user gave, and secrets that strangers wrote into URLs.
pub(super) const GIVEN: [&str; 4] = [HEADER, PASSWORD, COOKIE, SEED_LOGIN];
pub(super) const STRANGE: [&str; 2] = [LINK_LOGIN, REDIRECT_LOGIN];

/// Three servers: own.test; own.test at another port, other.test, and safe.test over http;
/// safe.test over https.
pub(super) struct Web {
    pub(super) own: Server,
    pub(super) others: Server,
    pub(super) safe: Server,
    authority: String,
    pub(super) gate: Gate,
}

/// The addresses of the servers: known to their sites once all of them run.
#[derive(Clone)]
struct Places {
    own: String,
    own_with_login: String,
    port: String,
    other: String,
    other_with_login: String,
    safe: String,
    in_clear: String,
}

/// The site asks for the login, but only those who have another secret.
fn own_site(request: &Request, places: &Places, gate: &Gate) -> Reply {
    let Places { own, other, .. } = places;
    if request.header("x-token").is_some() && request.header("authorization").is_none() {
        return Reply::status(401).header("WWW-Authenticate", "Basic realm=\"own\"");
    }
    match request.path() {
        "/robots.txt" => Reply::text(format!(
            "User-agent: *\nDisallow: /no\nSitemap: {other}/sitemap.xml\nSitemap: \
             {own}/sitemap.txt\n"
        )),
        "/sitemap.txt" => Reply::text(format!("{own}/listed\n")),
        "/" => page(
            1,
            &[
                "/held",
                "/away",
                "/login-here",
                "/login-there",
                &format!("{other}/linked"),
                &format!("{}/linked", places.port),
                &format!("{}/linked", places.in_clear),
                &format!("{}/linked", places.safe),
                &format!("{}/mine", places.own_with_login),
                &format!("{}/theirs", places.other_with_login),
            ],
        ),
        "/held" => page(2, NONE).hold(gate),
        "/away" => Reply::redirect(302, format!("{other}/landed")),
        "/login-here" => Reply::redirect(
            301,
            format!(
                "{}/returned",
                places.own_with_login.replace(LINK_LOGIN, REDIRECT_LOGIN)
            ),
        ),
        "/login-there" => Reply::redirect(
            307,
            format!(
                "{}/trapped",
                places.other_with_login.replace(LINK_LOGIN, REDIRECT_LOGIN)
            ),
        ),
        _ => page(number(request), NONE),
    }
}

fn other_site(request: &Request, places: &Places) -> Reply {
    match (request.host.as_str(), request.path()) {
        (_, "/robots.txt") => Reply::status(404),
        (OTHER, "/sitemap.xml") => Reply::document(
            "application/xml",
            format!(
                "<urlset><url><loc>{}/from-sitemap</loc></url></urlset>",
                places.other_with_login
            ),
        ),
        (OTHER, "/linked") => page(3, &[&format!("{}/back", places.own), "/bounce"]),
        (OTHER, "/bounce") => Reply::redirect(302, format!("{}/bounced", places.own)),
        // Asks for a login, as a phisher does.
        (OTHER, "/landed") => page(4, NONE)
            .with_status(401)
            .header("WWW-Authenticate", "Basic realm=\"own\"")
            .header("Set-Cookie", "stranger=1; Domain=test"),
        _ => page(number(request), NONE),
    }
}

fn safe_site(request: &Request, places: &Places) -> Reply {
    match request.path() {
        "/robots.txt" => Reply::status(404),
        "/" => page(5, &["/down", "/deep/in"]),
        "/down" => Reply::redirect(302, format!("{}/down", places.in_clear)),
        _ => page(number(request), NONE),
    }
}

/// Returns a different text for each host and path, so that no page is a duplicate.
fn number(request: &Request) -> u64 {
    let place = format!("{}{:?}{}", request.host, request.port, request.target);
    place.bytes().fold(1000, |number, byte| {
        number * 31 % 1_000_003 + u64::from(byte)
    })
}

impl Web {
    pub(super) fn new() -> Self {
        let places: Arc<OnceLock<Places>> = Arc::default();
        let gate = Gate::new();
        let known = |places: &Arc<OnceLock<Places>>| places.get().unwrap().clone();
        let (at, held) = (Arc::clone(&places), gate.clone());
        let own = Server::spawn_thread(Site::new(move |request| {
            own_site(request, &known(&at), &held)
        }));
        let at = Arc::clone(&places);
        let others =
            Server::spawn_thread(Site::new(move |request| other_site(request, &known(&at))));
        let at = Arc::clone(&places);
        let (safe, authority) = Server::spawn_thread_tls(
            Site::new(move |request| safe_site(request, &known(&at))),
            &[SAFE],
        );
        let bare = |url: String| url.trim_end_matches('/').to_owned();
        let with_login = |url: &str| url.replace("://", &format!("://someone:{LINK_LOGIN}@"));
        let (own_origin, other) = (bare(own.url(OWN, "/")), bare(others.url(OTHER, "/")));
        let there = Places {
            own_with_login: with_login(&own_origin),
            own: own_origin,
            port: bare(others.url(OWN, "/")),
            other_with_login: with_login(&other),
            other,
            safe: bare(safe.url(SAFE, "/")),
            in_clear: bare(others.url(SAFE, "/")),
        };
        assert!(places.set(there).is_ok());
        Self {
            own,
            others,
            safe,
            authority,
            gate,
        }
    }

    /// Returns a crawl from own.test and safe.test, the origins of the secrets.
    pub(super) fn crawl(&self) -> Crawl {
        let seed = self.own.url(OWN, "/");
        let seed = seed.replace("://", &format!("://someone:{SEED_LOGIN}@"));
        let crawl = Crawl::of(&self.own, &[OWN])
            .seeds(&[seed, self.safe.url(SAFE, "/")])
            .with(&[
                "--scope",
                "any",
                "--ca-certificate",
                "ca.pem",
                "--tries",
                "1",
            ])
            .with(&["--resolve", &self.others.resolve(OWN)])
            .with(&["--resolve", &self.others.resolve(OTHER)])
            .with(&["--resolve", &self.others.resolve(SAFE)])
            .with(&["--resolve", &self.safe.resolve(SAFE)]);
        crawl.write("ca.pem", &self.authority);
        crawl.write(
            "cookies.txt",
            format!(
                "# Netscape HTTP Cookie File\n{OWN}\tFALSE\t/\tFALSE\t0\tsession\t{COOKIE}\n\
                 .{SAFE}\tTRUE\t/\tTRUE\t0\tsession\t{COOKIE}\nnonsense {COOKIE}\n"
            ),
        );
        crawl.write("headers.txt", format!("# ours\nX-Token: {HEADER}\n"));
        crawl.write("password.txt", format!("{PASSWORD}\n"));
        crawl
    }
}
