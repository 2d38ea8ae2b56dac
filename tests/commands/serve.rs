//! `crawler serve` and `--serve`: a crawl in a browser, and actions from there.

use std::net::TcpListener;
use std::time::Duration;

use testkit::{Gate, Reply, Server, Site};

use crate::support::browser::Browser;
use crate::support::foreign_warc::gzip;
use crate::support::pages::{NONE, number_of, page, prose, tree_site};
use crate::support::{Crawl, Running};

const HOST: &str = "site.test";

/// Pages 0 to 5, each of which leads to the next and to a left-out one; page 1 waits at the gate.
fn chain(gate: &Gate) -> Site {
    let gate = gate.clone();
    Site::new(move |request| {
        if request.path() == "/robots.txt" {
            return Reply::status(404);
        }
        if request.path().starts_with("/calendar/") {
            return page(100, NONE);
        }
        let number = number_of(&request.target);
        let links = [format!("/{}", number + 1), format!("/calendar/{number}")];
        let links = if number < 5 { &links[..] } else { &[] };
        let reply = page(number, links);
        match number {
            1 => reply.hold(&gate),
            _ => reply,
        }
    })
}

/// Interrupts `crawler serve` and waits for its end.
fn end(running: Running) {
    running.interrupt();
    let run = running.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.output, "");
}

#[test]
fn a_crawl_that_has_ended_is_shown_searched_and_explained() {
    let server = Server::spawn_thread(tree_site(6));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    let overview = browser.get("/").text();
    assert!(overview.contains("Crawl · complete"), "{overview}");
    assert!(overview.contains("Verdicts of 6 URLs"), "{overview}");
    let word = prose(3, 1);
    let found = browser.get(&format!("/search?q={}", word.trim()));
    assert!(found.text().contains("Page 3"), "{}", found.text());
    assert!(
        found.body.contains(&format!("<mark>{}", word.trim())),
        "{}",
        found.body
    );
    let url = server.url(HOST, "/3");
    let page = browser.get(&format!("/page?url={url}")).text();
    for words in [
        "unique",
        "Page 3",
        "all digests match",
        "GET /3 HTTP/1.1",
        "Response 200",
        "text/html",
        &word,
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // The source is text: its markup is shown.
    assert!(page.contains("<title>Page 3</title>"), "{page}");
    let similar = browser.get(&format!("/similar?url={url}"));
    assert!(
        similar.text().contains("No page resembles it."),
        "{}",
        similar.text()
    );
    let unknown = browser.get("/page?url=http://elsewhere.test/").text();
    assert!(unknown.contains("not-queued"), "{unknown}");
    end(serving);
}

#[test]
fn a_journal_that_is_rebuilt_while_it_is_shown_is_read_again() {
    let server = Server::spawn_thread(tree_site(6));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    browser.wait_for("/", "Verdicts of 6 URLs");
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    browser.wait_for("/", "Verdicts of 6 URLs");
    assert_eq!(browser.get("/healthz").body, "ok\n");
    let page = browser.get(&format!("/page?url={}", server.url(HOST, "/5")));
    assert!(page.text().contains("Page 5"), "{}", page.text());
    end(serving);
}

#[test]
fn counts_move_in_the_dashboard_beside_a_running_crawl() {
    let gate = Gate::new();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let crawl = crawl.with(&["--exclude=/calendar/"]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    let overview = browser.get("/").text();
    assert!(overview.contains("Crawl · running"), "{overview}");
    assert!(overview.contains("Verdicts of 1 URL"), "{overview}");
    let metrics = browser.get("/metrics").body;
    assert!(metrics.contains("\ncrawler_running 1\n"), "{metrics}");
    assert!(
        !metrics.contains("crawler_process_resident_memory_bytes 0\n"),
        "{metrics}"
    );
    gate.open();
    assert_eq!(running.end().summary()["pages"], 6);
    let overview = browser.wait_for("/", "Verdicts of 6 URLs");
    assert!(overview.contains("Crawl · complete"), "{overview}");
    end(serving);
}

#[test]
fn actions_of_a_browser_are_applied_by_the_crawl_that_serves_it() {
    let gate = Gate::new();
    let server = Server::spawn_thread(chain(&gate));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let mut running = crawl.start_with(&["--serve"]);
    let browser = Browser::at(&mut running);
    gate.arrivals_blocking(1);
    browser.order("pause=true&delay=300ms");
    running.wait_for_line("control.toml applied: delay 300ms, pause");
    let overview = browser.get("/").text();
    assert!(overview.contains("Crawl · paused"), "{overview}");
    // It is named by its seeds, which are in a file.
    assert!(overview.contains(HOST), "{overview}");
    browser.order("exclude=%2Fcalendar%2F");
    running.wait_for_line("control.toml applied: delay 300ms, exclude \"/calendar/\", pause");
    browser.order("pause=false");
    running.wait_for_line("control.toml applied: delay 300ms, exclude \"/calendar/\"");
    gate.open();
    let run = running.end();
    assert_eq!(run.code, Some(0), "{run:?}");
    let log = server.log();
    let hits: Vec<_> = log.of(HOST).collect();
    assert!(
        hits[3..]
            .windows(2)
            .all(|two| two[1].at - two[0].at >= Duration::from_millis(300)),
        "{hits:?}"
    );
    let calendar = hits
        .iter()
        .filter(|hit| hit.target.starts_with("/calendar/"));
    assert!(calendar.count() <= 1, "{hits:?}");
    assert_eq!(
        std::fs::read_to_string(crawl.out().join("control.toml")).unwrap(),
        "delay = \"300ms\"\nexclude = [\"/calendar/\"]\n"
    );
    crawl.is_sound();
}

/// A dashboard that ended with its crawl left the open page at "running" for ever.
#[test]
fn on_a_terminal_the_dashboard_stays_after_the_crawl_and_shows_its_end() {
    let server = Server::spawn_thread(tree_site(3));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let crawl = crawl.with(&["--serve"]);
    let script = r#"exec script -qec "exec $0 $*" /dev/null >&2"#;
    let mut running = crawl.start_by(&["sh"], script);
    let browser = Browser::at(&mut running);
    running.wait_for_line("the crawl has ended; the dashboard stays until Ctrl-C");
    let overview = browser.get("/").text();
    assert!(overview.contains("Crawl · complete"), "{overview}");
    assert!(overview.contains("Verdicts of 3 URLs"), "{overview}");
    running.interrupt();
    let run = running.end();
    assert!(run.errors.contains("\"finished\":\"exhausted\""), "{run:?}");
    crawl.is_sound();
}

#[test]
fn failures_and_hosts_are_downloaded_as_csv_and_packed_pages_have_their_source() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/0" => {
            let links = page(0, &["/gone", "/error"]);
            Reply::document("text/html", gzip(links.body())).header("Content-Encoding", "gzip")
        }
        "/error" => Reply::status(500),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let crawl = crawl.with(&["--tries=1"]);
    crawl.complete();
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    let [start, gone] = ["/0", "/gone"].map(|path| server.url(HOST, path));
    let csv = browser.get("/visits.csv?kind=broken-links").body;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(lines[0].starts_with("url,final_url,status"), "{csv}");
    assert!(
        lines[1].starts_with(&format!("{gone},{gone},404,")),
        "{csv}"
    );
    assert!(lines[1].contains(&start), "{csv}");
    let all = browser.get("/visits.csv?kind=failures").body;
    assert_eq!(all.lines().count(), 3, "{all}");
    let source = browser.get(&format!("/page?url={start}")).text();
    assert!(source.contains("<title>Page 0</title>"), "{source}");
    let hosts = browser.get("/hosts.csv");
    assert!(hosts.head.contains("filename=\"hosts.csv\""), "{hosts:?}");
    let listed = crawl.run_command(&["status", "crawl", "--hosts", "--format", "csv"]);
    assert_eq!(hosts.body, listed.output);
    let others = browser.get("/hosts.csv?q=elsewhere").body;
    assert_eq!(others.lines().count(), 1, "{others}");
    end(serving);
}

#[test]
fn an_address_or_a_token_that_cannot_be_used_is_refused_with_a_remedy() {
    let server = Server::spawn_thread(tree_site(1));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl
        .run_command(&["serve", "crawl"])
        .assert_error(2, "does not exist");
    let crawl_here = ["--serve=192.0.2.1:80", "--token-file=token"];
    crawl.write("token", "0123456789abcdef\n");
    crawl.write("short", "secret");
    crawl.run_with(&crawl_here).assert_error(2, "192.0.2.1:80");
    assert!(
        !crawl.out().exists(),
        "nothing begins before the dashboard listens"
    );
    crawl.complete();
    for (arguments, words) in [
        (&["--listen", "nowhere"][..], "nowhere"),
        (&["--listen", "0.0.0.0:0"], "no token is set"),
        (&["--token-file", "missing"], "missing"),
        (&["--token-file", "short"], "characters, got 6"),
    ] {
        let arguments = [&["serve", "crawl"], arguments].concat();
        let refused = crawl.run_command(&arguments);
        refused.assert_error(2, words);
        assert!(!refused.errors.contains("secret"), "{refused:?}");
    }
}

#[test]
fn an_address_in_use_is_named() {
    let server = Server::spawn_thread(tree_site(1));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = crawl.run_command(&["serve", "crawl", "--listen", &address]);
    refused.assert_error(2, &format!("cannot listen on {address}"));
}

#[test]
fn a_chosen_token_is_not_printed_and_is_needed_for_changes() {
    let server = Server::spawn_thread(tree_site(1));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    crawl.write("token", "chosen-0123456789\n");
    let mut serving = crawl.start_command(&["serve", "crawl", "--token-file", "token"]);
    let (mut browser, target) = Browser::without_token(&mut serving);
    assert_eq!(target, "/?token=…");
    assert_eq!(browser.get("/healthz").body, "ok\n");
    assert_eq!(browser.post("/controls/preview", "pause=true").status, 403);
    browser.enter("/?token=chosen-0123456789");
    browser.order("pause=true");
    end(serving);
}
