//! Settings that change while a crawl runs.
//!
//! A gate holds a page until the file is written and the crawl has reported the change, so that
//! everything after that page is requested under the new settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::{Gate, Reply, Server, Site};

use crate::support::pages::{NONE, number_of, page, tree_site};
use crate::support::{Crawl, Running};

const HOST: &str = "site.test";

/// Pages 0 to 5, each of which leads to the next; page 1 waits at the gate.
fn chain(gate: &Gate) -> Site {
    let gate = gate.clone();
    Site::new(move |request| {
        if request.path() == "/robots.txt" {
            return Reply::status(404);
        }
        let number = number_of(&request.target);
        let next = format!("/{}", number + 1);
        let reply = page(
            number,
            if number < 5 {
                std::slice::from_ref(&next)
            } else {
                &[]
            },
        );
        if number == 1 {
            reply.hold(&gate)
        } else {
            reply
        }
    })
}

fn order(crawl: &Crawl, text: &str) {
    crawl.write("crawl/control.toml", text);
}

/// Writes the file while the crawl runs, and waits until the crawl reports it.
fn order_now(crawl: &Crawl, running: &mut Running, text: &str, answer: &str) {
    order(crawl, text);
    running.wait_for_line(answer);
}

#[test]
fn a_longer_delay_applies_at_once() {
    let gate = Gate::new();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    order_now(
        &crawl,
        &mut running,
        "delay = \"400ms\"",
        "control.toml applied: delay 400ms",
    );
    gate.open();
    let run = running.end();
    assert_eq!(run.summary()["pages"], 6, "{run:?}");
    let log = server.log();
    let times: Vec<Duration> = log.of(HOST).map(|hit| hit.at).collect();
    assert_eq!(times.len(), 7);
    assert!(
        times[2..]
            .windows(2)
            .all(|two| two[1] - two[0] >= Duration::from_millis(400)),
        "{times:?}"
    );
    let logged = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    assert_eq!(logged.matches("control.toml applied").count(), 1);
    crawl.is_sound();
}

#[test]
fn a_shorter_delay_is_no_finding_of_verify() {
    let gate = Gate::new();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::polite(&server, &[HOST], "1s").with(&["--delay-factor", "0"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    order_now(
        &crawl,
        &mut running,
        "delay = \"10ms\"",
        "control.toml applied: delay 10ms",
    );
    gate.open();
    assert_eq!(running.end().summary()["pages"], 6);
    crawl.is_sound();
}

#[test]
fn a_host_may_have_its_own_delay() {
    let hosts = ["slow.test", "quick.test"];
    let server = Server::spawn_thread(tree_site(4));
    let crawl = Crawl::of(&server, &hosts)
        .with(&["--on-duplicate", "follow"])
        .seeds(&hosts.map(|host| server.url(host, "/0")));
    std::fs::create_dir(crawl.out()).unwrap();
    order(&crawl, "[host.\"SLOW.test\"]\ndelay = \"300ms\"");
    let run = crawl.run();
    assert!(
        run.errors
            .contains("control.toml applied: delay 300ms for slow.test"),
        "{run:?}"
    );
    let log = server.log();
    for host in hosts {
        assert_eq!(log.of(host).count(), 5, "{host}");
    }
    let times: Vec<Duration> = log.of("slow.test").map(|hit| hit.at).collect();
    assert!(
        times
            .windows(2)
            .all(|two| two[1] - two[0] >= Duration::from_millis(300)),
        "{times:?}"
    );
}

#[test]
fn queued_urls_are_excluded_at_once_and_later_links_are_let_in_again() {
    let (first, second) = (Gate::new(), Gate::new());
    let (one, two) = (first.clone(), second.clone());
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(0, &["/a", "/private/queued", "/b"]),
        "/a" => page(1, &["/private/found-meanwhile"]).hold(&one),
        "/b" => page(
            2,
            &[
                "/private/found-meanwhile",
                "/private/found-later",
                "/leads-there",
            ],
        )
        .hold(&two),
        "/leads-there" => Reply::redirect(302, "/private/reached"),
        path if path.starts_with("/private/") => page(path.len() as u64 + 100, NONE),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).with(&["--concurrency-per-host", "1"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/")]);
    let mut running = crawl.start();
    first.arrivals_blocking(1);
    order_now(
        &crawl,
        &mut running,
        "exclude = ['/private/']",
        "applied: exclude \"/private/\"",
    );
    first.open();
    second.arrivals_blocking(1);
    let why = crawl
        .run_command(&[
            "why",
            "crawl",
            &server.url(HOST, "/private/found-meanwhile"),
            "--format",
            "json",
        ])
        .json();
    assert!(
        why["reason"]
            .as_str()
            .unwrap()
            .starts_with("excluded by control.toml"),
        "{why}"
    );
    let status = crawl.run_command(&["status", "crawl"]).json();
    assert_eq!(
        status["control"],
        serde_json::json!({"exclude": ["/private/"]})
    );
    std::fs::remove_file(crawl.out().join("control.toml")).unwrap();
    running.wait_for_line("control.toml applied: no overrides");
    second.open();
    let run = running.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    let log = server.log();
    for (path, times) in [
        ("queued", 0),
        ("found-meanwhile", 1),
        ("found-later", 1),
        ("reached", 1),
    ] {
        assert_eq!(
            log.count(HOST, &format!("/private/{path}")),
            times,
            "{path}"
        );
    }
    let visit = crawl.visit(&server.url(HOST, "/private/queued"));
    assert_eq!(
        (&visit["verdict"], &visit["reason"]),
        (
            &"excluded".into(),
            &"excluded by control.toml: the expression \"/private/\" matches it".into()
        )
    );
    assert_eq!(
        crawl.run_command(&["status", "crawl"]).json()["control"],
        serde_json::Value::Null
    );
    crawl.is_sound();
}

#[test]
fn a_pause_lasts_until_it_is_ended_and_an_invalid_file_does_not_end_it() {
    let gate = Gate::new();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start();
    gate.arrivals_blocking(1);
    order_now(
        &crawl,
        &mut running,
        "pause = true",
        "control.toml applied: pause",
    );
    gate.open();
    // Twice: in these seconds an unpaused crawl would have requested everything.
    for (text, finding) in [
        (
            "pause = true\ndelya = \"1s\"",
            "is invalid and was not applied; the previous settings stay in effect: at line 2, \
             column 1: unknown field `delya`",
        ),
        (
            "pause = perhaps",
            "is invalid and was not applied; the previous settings stay in effect: at line 1",
        ),
    ] {
        order_now(&crawl, &mut running, text, finding);
        assert_eq!(server.log().count(HOST, "/2"), 0);
    }
    assert_eq!(
        crawl.run_command(&["status", "crawl"]).json()["control"],
        serde_json::json!({"pause": true})
    );
    assert!(!running.has_ended());
    order_now(
        &crawl,
        &mut running,
        "pause = false",
        "control.toml applied: no overrides",
    );
    let run = running.end();
    assert_eq!(
        (run.code, &run.summary()["pages"]),
        (Some(0), &6.into()),
        "{run:?}"
    );
    assert_eq!(
        run.errors.matches("was not applied").count(),
        2,
        "each is reported once: {run:?}"
    );
}

#[test]
fn a_paused_crawl_can_be_interrupted_and_stays_paused() {
    let gate = Gate::new();
    gate.open();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    std::fs::create_dir(crawl.out()).unwrap();
    order(&crawl, "pause = true");
    for rate in 1..=2 {
        let mut running = crawl.start();
        running.wait_for_line("control.toml applied: ");
        let (text, answer) = (
            format!("pause = true\nrate = \"{rate}/s\""),
            format!("applied: rate {rate}/s, pause"),
        );
        order_now(&crawl, &mut running, &text, &answer);
        running.interrupt();
        let run = running.end();
        assert_eq!(run.summary()["finished"], "interrupted", "{run:?}");
    }
    assert!(server.log().is_empty());
    order(&crawl, "");
    assert_eq!(crawl.complete()["pages"], 6);
}

#[test]
fn concurrency_can_be_changed_while_the_crawl_runs() {
    let hosts = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|name| format!("{name}.test"));
    let hosts = hosts.each_ref().map(String::as_str);
    let (gate, asked) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let (held, count) = (gate.clone(), Arc::clone(&asked));
    let server = Server::spawn_thread(Site::new(move |request| {
        count.fetch_add(1, Ordering::SeqCst);
        page(u64::from(request.host.as_bytes()[0]), NONE).hold(&held)
    }));
    let crawl = Crawl::of(&server, &hosts)
        .with(&["--ignore-robots"])
        .seeds(&hosts.map(|host| server.url(host, "/")));
    std::fs::create_dir(crawl.out()).unwrap();
    order(
        &crawl,
        "concurrency = 1\nrate = \"1000/s\"\nmax-delay = \"1s\"\ndelay-factor = 0.5",
    );
    let mut running = crawl.start();
    running.wait_for_line("applied: delay-factor 0.5, max-delay 1s, concurrency 1, rate 1000/s");
    gate.arrivals_blocking(1);
    // In these seconds an unlimited crawl would have requested everything. An exchange that does
    // not move for two seconds gives its slot to others, at most three.
    order_now(
        &crawl,
        &mut running,
        "concurrency = 0",
        "at line 1: concurrency 0 is not valid",
    );
    let asked = asked.load(Ordering::SeqCst);
    assert!((1..=4).contains(&asked), "{asked}");
    order_now(
        &crawl,
        &mut running,
        "concurrency = 8",
        "applied: concurrency 8",
    );
    gate.arrivals_blocking(8);
    gate.open();
    assert_eq!(running.end().summary()["pages"], 8);
}

#[test]
fn the_control_file_is_read_before_the_first_request_and_must_be_valid_then() {
    let server = Server::spawn_thread(tree_site(3));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    std::fs::create_dir(crawl.out()).unwrap();
    order(&crawl, "pause = false\nexclude = [\n\"/1\",\n\"(\"]");
    crawl.run().assert_error(
        2,
        "control.toml: at line 4: \"(\" is not a valid expression",
    );
    assert!(!crawl.out().join("state").exists());
    order(&crawl, "exclude = [\"/1\"]");
    assert_eq!(crawl.complete()["pages"], 2);
    assert_eq!(server.log().count(HOST, "/1"), 0);
    // The same holds when the crawl continues.
    order(&crawl, "exclude = [\"/3\"]");
    let more = [server.url(HOST, "/3"), server.url(HOST, "/1")];
    assert_eq!(crawl.run_with(&more).summary()["pages"], 3);
    assert_eq!(
        (
            server.log().count(HOST, "/1"),
            server.log().count(HOST, "/3")
        ),
        (1, 0)
    );
}
