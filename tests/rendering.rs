//! Pages that scripts fill, run by a real Chromium.
//!
//! Without a Chromium on PATH, these tests are ignored. `RENDERED_ROUTES` is the number of routes
//! of the application whose text and links are all compared (by default 24).

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::browser::Browser;
use crate::support::environment::of_environment;
use crate::support::pages::{html, prose};
use crate::support::{Crawl, KEY};

const HOST: &str = "app.test";
const OTHER: &str = "api.test";

/// An application. Its last two routes show the same, and robots.txt forbids the data of the one
/// before. Its routes are a tree, so these have no links.
#[derive(Clone, Copy)]
struct Application {
    routes: u64,
}

const SMALL: Application = Application { routes: 12 };

/// The script of the application. Each kind of page comes to its text in a way of its own.
const APP: &str = r##"
const number = Number(location.pathname.split('/').pop()) || 0;
const kinds = {
  // Data that is requested, as most frameworks do.
  0: async () => (await fetch('/data/' + number)).text(),
  // Data that comes late, after a timer.
  1: async () => {
    await new Promise(ready => setTimeout(ready, 300));
    return (await fetch('/data/' + number)).text();
  },
  // Data of another host, which allows it.
  2: () => new Promise(ready => {
    const request = new XMLHttpRequest();
    request.open('GET', OTHER + '/data/' + number);
    request.onload = () => ready(request.responseText);
    request.send();
  }),
  // A module that is imported.
  3: async () => (await import('/part.js')).text(number),
};
kinds[number % 4]().then(data => {
  const root = document.getElementById('root');
  const show = number % 8 < 4 ? root : root.attachShadow({ mode: 'open' });
  show.innerHTML = data;
  document.title = 'Route ' + number;
});
"##;

const PART: &str = "export const text = async number => (await fetch('/data/' + number)).text();";

fn shell() -> Reply {
    Reply::html(
        "<!DOCTYPE html><html><head><title>App</title><script src=/app.js defer></script></head>\
         <body><div id=root></div><noscript>Enable JavaScript.</noscript></body></html>",
    )
}

impl Application {
    fn copies(self) -> [u64; 2] {
        [self.routes - 2, self.routes - 1]
    }

    fn hidden(self) -> u64 {
        self.routes - 3
    }

    fn text_of(self, number: u64) -> String {
        prose(self.subject(number), 120)
    }

    fn subject(self, number: u64) -> u64 {
        number.min(self.copies()[0])
    }

    fn site(self) -> Site {
        Site::new(move |request| {
            let path = request.path();
            let port = request.port.unwrap_or_default();
            let number = path.rsplit('/').next().and_then(|last| last.parse().ok());
            match (path.split('/').nth(1).unwrap_or_default(), number) {
                ("robots.txt", _) => {
                    let hidden = self.hidden();
                    Reply::text(format!("User-agent: *\nDisallow: /data/{hidden}$\n"))
                }
                ("app.js", _) => {
                    let other = format!("const OTHER = 'http://{OTHER}:{port}';");
                    Reply::document("text/javascript", format!("{other}{APP}"))
                }
                ("part.js", _) => Reply::document("text/javascript", PART),
                ("data", Some(number)) => self.data(number),
                ("" | "route", _) => shell(),
                _ => Reply::status(404),
            }
        })
    }

    fn data(self, number: u64) -> Reply {
        let links: String = (2 * number + 1..=2 * number + 2)
            .filter(|next| *next < self.routes)
            .map(|next| format!("<a href=\"/route/{next}\">Next {next}</a> "))
            .collect();
        let heading = prose(self.subject(number) + 5_000, 2);
        let text = self.text_of(number);
        Reply::html(format!("<h1>Subject {heading}</h1><p>{text}</p>{links}"))
            .header("access-control-allow-origin", "*")
    }
}

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST, OTHER])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--render", "shells"])
}

fn route(server: &Server, number: u64) -> String {
    match number {
        0 => server.url(HOST, "/"),
        number => server.url(HOST, &format!("/route/{number}")),
    }
}

/// Returns the texts of `export --text`, by URL.
fn texts(crawl: &Crawl) -> Vec<Value> {
    crawl.json_lines(&["export", "crawl", "--text"])
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn every_route_of_an_application_is_archived_searched_and_followed_by_what_it_shows() {
    let routes = of_environment("RENDERED_ROUTES").unwrap_or(24);
    let application = Application { routes };
    let server = Server::spawn_thread(application.site());
    let crawl = crawl(&server);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], routes, "{summary}");
    assert_eq!(summary["rendered"], routes, "{summary}");
    let hidden = format!("/data/{}", application.hidden());
    for host in [HOST, OTHER] {
        assert_eq!(server.log().count(host, &hidden), 0, "by robots.txt");
    }

    // What a route shows is its text, and its copy is dropped.
    let exported = texts(&crawl);
    for number in 0..application.hidden() {
        let url = route(&server, number);
        let page = exported.iter().find(|page| page["url"] == url.as_str());
        let text = page.map_or("", |page| page["text"].as_str().unwrap_or_default());
        assert!(
            text.contains(application.text_of(number).trim()),
            "{url}: {text:?}"
        );
    }
    let mut copies = application
        .copies()
        .map(|number| crawl.visit(&route(&server, number)));
    copies.sort_by_key(|copy| copy["verdict"].as_str().map(str::to_owned));
    assert_eq!(copies[0]["verdict"], "exact-duplicate", "{copies:?}");
    assert_eq!(copies[1]["verdict"], "unique", "{copies:?}");
    assert!(
        copies.iter().all(|copy| copy["rendered"] == "yes"),
        "{copies:?}"
    );

    // Scripts were requested once, data once per route, pages never again.
    let log = server.log();
    assert_eq!(log.count(HOST, "/app.js"), 1);
    assert_eq!(log.count(HOST, "/part.js"), 1);
    for hit in &log {
        let requests = log.of(&hit.host).filter(|other| other.target == hit.target);
        assert_eq!(requests.count(), 1, "{} {}", hit.host, hit.target);
    }

    // Commands read what the scripts showed.
    let word = application
        .text_of(5)
        .split(' ')
        .next()
        .unwrap_or_default()
        .to_owned();
    let hits = crawl.json_lines(&["search", "crawl", &word]);
    let urls: BTreeSet<&str> = hits.iter().filter_map(|hit| hit["url"].as_str()).collect();
    assert!(urls.contains(route(&server, 5).as_str()), "{hits:?}");
    let why = crawl.run_command(&["why", "crawl", &route(&server, 5)]);
    assert!(why.output.contains("its scripts were run"), "{why:?}");
    crawl.is_sound();

    // A journal that is rebuilt from the archive says the same.
    let before = crawl.visits();
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(crawl.visits(), before);
    crawl.is_sound();
    let again = crawl.complete();
    assert_eq!(again["pages"], routes, "nothing is left: {again}");
    assert_eq!(server.log().len(), log.len(), "nothing is requested again");
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn a_site_without_such_pages_is_crawled_as_without_a_browser() {
    let site = || {
        Site::new(|request| match request.path() {
            "/robots.txt" => Reply::status(404),
            "/" => Reply::html(html(
                "",
                &format!("<p>{}</p><a href=/b>b</a>", prose(1, 80)),
            )),
            _ => Reply::html(html(
                "<script src=/analytics.js></script>",
                &format!("<p>{}</p>", prose(2, 80)),
            )),
        })
    };
    let (plain, rendered) = (Server::spawn_thread(site()), Server::spawn_thread(site()));
    let without = Crawl::of(&plain, &[HOST]).seeds(&[plain.url(HOST, "/")]);
    assert_eq!(without.complete()["rendered"], 0);
    let with = crawl(&rendered);
    assert_eq!(with.complete()["rendered"], 0);
    let (without, with) = (plain.log(), rendered.log());
    assert_eq!(without.targets(HOST), with.targets(HOST));
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn requests_of_scripts_keep_the_delay_of_their_host() {
    let server = Server::spawn_thread(SMALL.site());
    let delay = Duration::from_millis(120);
    let crawl = Crawl::polite(&server, &[HOST, OTHER], "120ms")
        .seeds(&[server.url(HOST, "/")])
        .with(&["--delay-factor=0", "--render=shells", "--max-pages=6"]);
    crawl.complete();
    let log = server.log();
    assert!(log.len() > 12, "{}", log.len());
    for host in [HOST, OTHER] {
        let early: Vec<Duration> = log
            .intervals(host)
            .into_iter()
            .filter(|interval| *interval < delay)
            .collect();
        assert_eq!(early, [] as [Duration; 0], "{host}");
    }
}

/// Returns the processes of browsers with this mark in their command line.
fn browsers(mark: &str) -> Vec<String> {
    let listed = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let marked = listed.lines().filter(|line| line.contains(mark));
    marked.map(str::to_owned).collect()
}

/// A browser costs hundreds of megabytes: crawl4ai left 46 processes behind in 15 days.
#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn a_killed_crawl_leaves_no_browser_and_loses_no_page() {
    let gate = Gate::new();
    let held = gate.clone();
    let site = SMALL.site();
    let server = Server::spawn_thread(Site::new(move |request| {
        let reply = site.answer(request);
        match request.path() {
            "/data/3" => reply.hold(&held),
            _ => reply,
        }
    }));
    let mark = "killed-crawl-test";
    let crawl = crawl(&server).with(&["--user-agent", "killed-crawl-test/1.0 (+a@b.example)"]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    assert_ne!(browsers(mark), [] as [String; 0], "a browser runs");
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let metrics = Browser::at(&mut serving).get("/metrics").body;
    let memory = metrics
        .lines()
        .find_map(|line| line.strip_prefix("crawler_browser_memory_bytes "));
    let memory: u64 = memory.unwrap().parse().unwrap();
    assert!(memory > 50 << 20, "{memory}");
    serving.kill();
    running.kill();
    // The kernel ends the processes of a namespace one after the other.
    let mut left = browsers(mark);
    for _ in 0..10_000 {
        if left.is_empty() {
            break;
        }
        std::thread::yield_now();
        left = browsers(mark);
    }
    assert_eq!(left, [] as [String; 0]);
    gate.open();
    let summary = crawl.complete();
    assert_eq!(summary["pages"], SMALL.routes, "{summary}");
    crawl.is_sound();
}

#[test]
fn a_missing_browser_is_an_error_that_names_the_remedy() {
    let server = Server::spawn_thread(SMALL.site());
    let crawl = crawl(&server).with(&["--browser", "/nowhere/chromium"]);
    let ended = crawl.run();
    ended.assert_error(2, "/nowhere/chromium");
    ended.assert_error(2, "--browser");
    assert!(!crawl.out().exists(), "no directory is made");
    assert_eq!(server.log().len(), 0, "nothing is requested");
}

#[test]
fn the_archive_preset_says_what_it_does_about_scripts() {
    let server = Server::spawn_thread(SMALL.site());
    let directory = tempfile::tempdir().unwrap();
    let browser = directory.path().join("browser");
    std::fs::write(&browser, "").unwrap();
    let browser = browser.to_str().unwrap();
    let says = |more: &[&str]| {
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        crawl.with(more).run().errors
    };
    let found = says(&["--preset=archive", "--browser", browser]);
    let advice = format!("archived as received; add --render shells to run these in {browser}\n");
    assert!(found.contains(&advice), "{found}");
    let missing = says(&["--preset=archive", "--browser=/nowhere/chromium"]);
    let remedy = "/nowhere/chromium is not a file: name a Chromium with --browser";
    assert!(missing.contains(remedy), "{missing}");
    for chosen in [
        &["--preset=archive", "--render=off", "--browser", browser][..],
        &["--preset=focused", "--browser", browser],
        &["--preset=archive", "--quiet", "--browser", browser],
    ] {
        let silent = says(chosen);
        assert!(!silent.contains("--render shells"), "{chosen:?}: {silent}");
    }
}
