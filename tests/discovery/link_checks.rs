//! `--check-links`: links that leave the scope are checked once, as politely as pages are visited,
//! and shown wherever broken links are.

mod sessions;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Hit, Reply, Request, Server, Site};

use crate::support::pages::page;
use crate::support::{Crawl, json_lines};

const HOME: &str = "home.test";
const FAR: &str = "far.test";
const HOSTS: [&str; 5] = [HOME, FAR, "far-1.test", "far-2.test", "far-3.test"];

/// A site whose home page links to these URLs of the same server, and `far` for all other hosts.
fn serve(
    links: &'static [&'static str],
    far: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> Server {
    Server::spawn_thread(Site::new(move |request| {
        let port = request.port.expect("the server's port is not the default");
        match (&*request.host, request.path()) {
            (HOME, "/") => {
                let with_port = |link: &&str| link.replacen(".test", &format!(".test:{port}"), 1);
                let links: Vec<String> = links.iter().map(with_port).collect();
                page(1, &links)
            }
            (HOME, _) => Reply::status(404),
            _ => far(request),
        }
    }))
}

fn crawl_of(server: &Server) -> Crawl {
    Crawl::of(server, &HOSTS).seeds(&[server.url(HOME, "/")])
}

/// Returns the lines of the file of checks, by the path of the URL, with its host if that is not
/// `far.test`.
fn checks(crawl: &Crawl, server: &Server) -> BTreeMap<String, Value> {
    let file = crawl.out().join("link-checks.jsonl");
    let text = std::fs::read_to_string(file).expect("links were checked");
    let far = server.url(FAR, "");
    let named = json_lines(&text).into_iter().map(|check| {
        let url = check["url"].as_str().expect("every check has a URL");
        (url.replace(&far, ""), check)
    });
    named.collect()
}

/// Returns methods and paths of the requests for pages of a host.
fn requests(server: &Server, host: &str) -> Vec<String> {
    let log = server.log();
    let pages = log.of(host).filter(|hit| hit.target != "/robots.txt");
    let text = |hit: &Hit| format!("{} {}", hit.method, hit.target);
    pages.map(text).collect()
}

/// A host with a link for each verdict.
fn with_each_verdict(request: &Request) -> Reply {
    match (&*request.method, request.path()) {
        (_, "/robots.txt") => Reply::text("User-agent: *\nDisallow: /secret\n"),
        ("HEAD", "/no-head") => Reply::status(405),
        (_, "/fine" | "/no-head") => page(2, &["http://far.test/not-linked-from-the-crawl"]),
        (_, "/moved") => Reply::redirect(301, "/moved-again"),
        (_, "/moved-again") => Reply::redirect(302, "/fine"),
        (_, "/circle") => Reply::redirect(302, "/circle"),
        (_, "/login") => Reply::status(401),
        (_, "/999") => Reply::status(999),
        _ => Reply::status(404),
    }
}

#[test]
fn each_link_that_leaves_the_scope_is_checked_and_gets_the_verdict_of_its_last_response() {
    const LINKS: &[&str] = &[
        "http://far.test/fine",
        "http://far.test/gone",
        "http://far.test/moved",
        "http://far.test/no-head",
        "http://far.test/login",
        "http://far.test/999",
        "http://far.test/circle",
        "http://far.test/secret",
        "http://far.test/fine",
        "http://home.test/missing",
    ];
    let server = serve(LINKS, with_each_verdict);
    let crawl = crawl_of(&server).with(&["--check-links"]);
    let summary = crawl.complete();
    let expected = json!({
        "checked": 7, "ok": 3, "broken": 1, "blocked": 2, "unknown": 1, "not_checked": 1,
    });
    assert_eq!(summary["links"], expected);
    assert_eq!(
        (&summary["pages"], &summary["hosts"]),
        (&json!(1), &json!(1))
    );

    let checks = checks(&crawl, &server);
    let result = |path: &str| {
        let check = &checks[path];
        (
            check["verdict"].clone(),
            check["method"].clone(),
            check["status"].clone(),
        )
    };
    for (path, verdict, method, status) in [
        ("/fine", "ok", json!("HEAD"), json!(200)),
        ("/gone", "broken", json!("GET"), json!(404)),
        ("/moved", "ok", json!("HEAD"), json!(200)),
        ("/no-head", "ok", json!("GET"), json!(200)),
        ("/login", "blocked", json!("HEAD"), json!(401)),
        ("/999", "blocked", json!("HEAD"), json!(999)),
        ("/circle", "unknown", json!("HEAD"), json!(302)),
        ("/secret", "not-checked", Value::Null, Value::Null),
    ] {
        assert_eq!(result(path), (json!(verdict), method, status), "{path}");
        assert_eq!(checks[path]["linked_from"], server.url(HOME, "/"));
    }
    let hop = |path: &str, status: u16| json!({"url": server.url(FAR, path), "status": status});
    let hops = json!([hop("/moved", 301), hop("/moved-again", 302)]);
    assert_eq!(checks["/moved"]["redirects"], hops);
    assert_eq!(checks["/moved"]["final_url"], server.url(FAR, "/fine"));
    let reason = checks["/secret"]["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("robots.txt: "), "{reason}");
    assert!(
        !requests(&server, FAR)
            .iter()
            .any(|request| request.contains("/secret"))
    );
    crawl.is_sound();
}

#[test]
fn a_broken_link_out_of_scope_is_in_the_audit_the_report_and_the_answers() {
    const LINKS: &[&str] = &["http://far.test/gone", "http://far.test/fine"];
    let server = serve(LINKS, |request| match request.path() {
        "/fine" => Reply::text("fine"),
        _ => Reply::status(410),
    });
    let crawl = crawl_of(&server).with(&["--check-links"]);
    crawl.complete();
    let gone = server.url(FAR, "/gone");
    let home = server.url(HOME, "/");

    let broken = [
        "export", "crawl", "--links", "--broken", "--format", "jsonl",
    ];
    let broken = crawl.json_lines(&broken);
    assert_eq!(broken.len(), 1, "{broken:?}");
    let row = (
        &broken[0]["source"],
        &broken[0]["target"],
        &broken[0]["anchor"],
    );
    assert_eq!(row, (&json!(home), &json!(gone), &json!("/gone")));
    assert_eq!(broken[0]["status"], 410);

    let audit = crawl.run_command(&["export", "crawl", "--audit", "-o", "audit/"]);
    assert_eq!(audit.code, Some(0), "{audit:?}");
    let sheet = std::fs::read_to_string(crawl.directory().join("audit/broken.csv"));
    let sheet = sheet.expect("the audit has the table");
    assert!(sheet.contains(&format!("{home},{gone},/gone")), "{sheet}");

    let report = crawl
        .run_command(&["report", "crawl", "--format", "json"])
        .json();
    assert_eq!(report["broken_links"]["total"], 1);
    assert_eq!(report["broken_links"]["listed"][0]["url"], gone);
    assert_eq!(report["broken_links"]["listed"][0]["via"], home);

    let why = crawl.run_command(&["why", "crawl", &gone]).json();
    assert_eq!(
        (&why["verdict"], &why["link_check"]["status"]),
        (&json!("not-queued"), &json!(410))
    );
    let why = crawl.run_command(&["why", "crawl", &gone, "--format", "table"]);
    assert!(why.output.contains("checked by GET on 2"), "{why:?}");
    let status = crawl.run_command(&["status", "crawl"]).json();
    assert_eq!(
        (&status["links"]["checked"], &status["links"]["broken"]),
        (&json!(2), &json!(1))
    );
}

#[test]
fn a_link_that_the_user_excludes_is_not_requested_even_behind_a_redirect() {
    const LINKS: &[&str] = &["http://far.test/logout", "http://far.test/hop"];
    let server = serve(LINKS, |request| match request.path() {
        "/hop" => Reply::redirect(302, "/logout"),
        _ => Reply::text("fine"),
    });
    let crawl = crawl_of(&server).with(&["--check-links", "--exclude", "/logout"]);
    crawl.complete();
    assert_eq!(requests(&server, FAR), ["HEAD /hop"]);
    let checks = checks(&crawl, &server);
    assert_eq!(checks.len(), 1, "{checks:?}");
    assert_eq!(checks["/hop"]["verdict"], "not-checked");
}

#[test]
fn a_body_that_get_brings_is_not_read_and_the_next_request_is_answered() {
    const LINKS: &[&str] = &["http://far.test/large", "http://far.test/fine"];
    let server = serve(LINKS, |request| match (&*request.method, request.path()) {
        ("HEAD", "/large") => Reply::status(403),
        (_, "/large") => Reply::text(vec![b'x'; 64 << 20]),
        (_, "/fine") => Reply::text("fine"),
        _ => Reply::status(404),
    });
    let crawl = crawl_of(&server).with(&["--check-links"]);
    assert_eq!(crawl.complete()["links"]["ok"], 2);
    let log = server.log();
    let large = log
        .of(FAR)
        .find(|hit| hit.target == "/large" && hit.method == "GET");
    assert!(
        !large.expect("GET follows").complete,
        "the body was received"
    );
}

#[test]
fn links_to_a_host_are_checked_one_at_a_time_and_with_its_delay() {
    const LINKS: &[&str] = &[
        "http://far.test/1",
        "http://far.test/2",
        "http://far.test/3",
        "http://far.test/4",
    ];
    let server = serve(LINKS, |_| {
        Reply::text("fine").delay(Duration::from_millis(20))
    });
    let crawl = Crawl::polite(&server, &HOSTS, "100ms").seeds(&[server.url(HOME, "/")]);
    let summary = crawl
        .with(&["--check-links", "--delay-factor=0"])
        .complete();
    assert_eq!(summary["links"]["ok"], 4);
    let log = server.log();
    assert_eq!(log.of(FAR).count(), 5, "robots.txt and four links");
    let times: Vec<Duration> = log.of(FAR).map(|hit| hit.at).collect();
    let least = Duration::from_millis(120);
    assert!(
        times.windows(2).all(|two| two[1] - two[0] >= least),
        "{times:?}"
    );
    assert_eq!(log.max_parallel(FAR), 1);
}

#[test]
fn a_host_that_asks_to_slow_down_is_asked_once_more_and_its_links_are_not_called_broken() {
    const LINKS: &[&str] = &["http://far-1.test/busy", "http://far-2.test/broken"];
    let server = serve(LINKS, |request| match request.path() {
        "/busy" => Reply::status(429).header("Retry-After", "1"),
        "/broken" => Reply::status(500),
        _ => Reply::status(404),
    });
    let crawl = crawl_of(&server).with(&["--check-links"]);
    crawl.complete();
    assert_eq!(requests(&server, "far-1.test"), ["HEAD /busy"; 2]);
    let log = server.log();
    let times: Vec<Duration> = log.of("far-1.test").map(|hit| hit.at).collect();
    assert!(times[2] - times[1] >= Duration::from_secs(1), "{times:?}");
    let checks = checks(&crawl, &server);
    assert_eq!(
        checks[&server.url("far-1.test", "/busy")]["verdict"],
        "unknown"
    );
    assert_eq!(
        checks[&server.url("far-2.test", "/broken")]["verdict"],
        "broken"
    );
}

#[test]
fn a_host_that_is_not_there_breaks_its_links() {
    let nowhere = Server::spawn_thread(Site::new(|_| Reply::status(404)));
    let refused = nowhere.url("far-1.test", "/x");
    let resolve = nowhere.resolve("far-1.test");
    drop(nowhere);
    let link = refused.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, &[&link]),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOME]).seeds(&[server.url(HOME, "/")]);
    let crawl = crawl.with(&["--check-links", "--resolve", &resolve]);
    assert_eq!(crawl.complete()["links"]["broken"], 1);
    let check = &checks(&crawl, &server)[&refused];
    let reason = check["reason"].as_str().expect("a reason");
    assert_eq!(
        (reason, &check["status"]),
        ("cannot connect: connection refused", &Value::Null)
    );
}

#[test]
fn a_private_address_is_not_requested() {
    let server = serve(&["http://far.test/x"], |_| Reply::text("fine"));
    let crawl = crawl_of(&server);
    crawl.complete();
    let guarded = crawl.run_with(&["--check-links", "--allow-private=false"]);
    assert_eq!(guarded.code, Some(0), "{guarded:?}");
    assert_eq!(server.log().of(FAR).count(), 0);
    let check = &checks(&crawl, &server)["/x"];
    assert_eq!(check["verdict"], "not-checked");
    let reason = check["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("127.0.0.1 is a loopback address"),
        "{reason}"
    );
}

/// A page that redirects out of scope was visited, but is not a page of the crawl. The audit lost
/// the link to it.
#[test]
fn a_page_that_redirects_out_of_scope_is_checked_to_its_end_and_is_a_broken_link() {
    let server = Server::spawn_thread(Site::new(|request| {
        let port = request.port.expect("the server's port is not the default");
        match (&*request.host, request.path()) {
            (HOME, "/") => page(1, &["/out"]),
            (HOME, "/out") => Reply::redirect(302, format!("http://{FAR}:{port}/gone")),
            _ => Reply::status(404),
        }
    }));
    let crawl = crawl_of(&server).with(&["--check-links"]);
    assert_eq!(crawl.complete()["links"]["broken"], 1);
    let check = &checks(&crawl, &server)[&server.url(HOME, "/out")];
    assert_eq!(check["final_url"], server.url(FAR, "/gone"));
    let broken = [
        "export", "crawl", "--links", "--broken", "--format", "jsonl",
    ];
    let broken = crawl.json_lines(&broken);
    assert_eq!(
        (broken.len(), &broken[0]["status"]),
        (1, &json!(404)),
        "{broken:?}"
    );
}
