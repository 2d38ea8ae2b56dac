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

/// An application. Its last routes, a tenth of them, show the same as the one before, and
/// robots.txt forbids the data of the route before that. Its routes are a tree, so these have no
/// links.
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
  // Work that is scheduled by messages, as React does.
  4: () => new Promise(ready => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => fetch('/data/' + number).then(data => ready(data.text()));
    requestAnimationFrame(() => channel.port2.postMessage(null));
  }),
  // The next part of a list, once its end is in view.
  5: () => new Promise(ready => {
    const end = document.body.appendChild(document.createElement('div'));
    new IntersectionObserver(async (entries, observer) => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      observer.disconnect();
      ready((await fetch('/data/' + number)).text());
    }).observe(end);
  }),
  // A frame that sends what it has requested.
  6: () => new Promise(ready => {
    const frame = document.createElement('iframe');
    addEventListener('message', event => { frame.remove(); ready(event.data); });
    frame.src = '/frame/' + number;
    document.body.append(frame);
  }),
  // Data past a service worker that is wanted and does not run.
  7: async () => {
    navigator.serviceWorker?.register('/worker.js').catch(() => {});
    return (await fetch('/data/' + number)).text();
  },
};
kinds[number % 8]().then(data => {
  const root = document.getElementById('root');
  const show = number % 16 < 8 ? root : root.attachShadow({ mode: 'open' });
  show.innerHTML = data;
  document.title = 'Route ' + number;
});
"##;

const PART: &str = "export const text = async number => (await fetch('/data/' + number)).text();";

const FRAME: &str = "<script>fetch(location.pathname.replace('frame', 'data'))\
    .then(data => data.text()).catch(() => '').then(text => parent.postMessage(text))</script>";

fn shell() -> Reply {
    Reply::html(
        "<!DOCTYPE html><html><head><title>App</title><script src=/app.js defer></script></head>\
         <body><div id=root></div><noscript>Enable JavaScript.</noscript></body></html>",
    )
}

impl Application {
    /// Returns the first of the routes that show the same.
    fn copied(self) -> u64 {
        self.routes - 1 - (self.routes / 10).max(1)
    }

    fn hidden(self) -> u64 {
        self.copied() - 1
    }

    fn text_of(self, number: u64) -> String {
        prose(self.subject(number), 120)
    }

    fn subject(self, number: u64) -> u64 {
        number.min(self.copied())
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
                ("frame", _) => Reply::html(FRAME),
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

    // What a route shows is its text, and all of its copies are dropped.
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
    let alike = (application.copied()..routes).map(|number| crawl.visit(&route(&server, number)));
    let alike: Vec<Value> = alike.collect();
    assert!(
        alike.iter().all(|page| page["rendered"] == "yes"),
        "{alike:?}"
    );
    let of_verdict = |verdict: &str| {
        alike
            .iter()
            .filter(|page| page["verdict"] == verdict)
            .count()
    };
    assert_eq!(of_verdict("unique"), 1, "{alike:?}");
    assert_eq!(of_verdict("exact-duplicate"), alike.len() - 1, "{alike:?}");

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
fn a_site_without_scripts_is_crawled_as_without_a_browser() {
    let site = || {
        Site::new(|request| match request.path() {
            "/robots.txt" => Reply::status(404),
            "/" => Reply::html(html(
                "",
                &format!("<p>{}</p><a href=/b>b</a>", prose(1, 80)),
            )),
            _ => Reply::html(html("", &format!("<p>{}</p>", prose(2, 80)))),
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

/// Vue and others began with routes behind `#`: to a crawler that drops fragments, the whole
/// application is one page.
#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn routes_behind_a_hash_are_pages_of_one_document() {
    const APP: &str = r#"
        const number = Number(location.hash.split('/').pop()) || 0;
        fetch('/data/' + number).then(data => data.text()).then(data => {
          document.getElementById('root').innerHTML = data;
        });
    "#;
    let server = Server::spawn_thread(Site::new(|request| {
        let number = request.path().rsplit('/').next().unwrap_or_default();
        match (request.path(), number.parse::<u64>()) {
            ("/robots.txt", _) => Reply::status(404),
            ("/app.js", _) => Reply::document("text/javascript", APP),
            ("/", _) => shell(),
            (_, Ok(number)) => {
                let (text, next) = (prose(number, 80), (number + 1) % 5);
                Reply::html(format!("<p>{text}</p><a href=\"#/part/{next}\">next</a>"))
            }
            _ => Reply::status(404),
        }
    }));
    let crawl = crawl(&server);
    let summary = crawl.complete();
    // The first one has two URLs.
    assert_eq!(
        (&summary["unique"], &summary["exact_duplicates"]),
        (&5.into(), &1.into())
    );
    let exported = texts(&crawl);
    for number in [1, 4] {
        let url = server.url(HOST, &format!("/#/part/{number}"));
        let page = exported.iter().find(|page| page["url"] == url.as_str());
        let text = page
            .and_then(|page| page["text"].as_str())
            .unwrap_or_default();
        assert!(text.contains(prose(number, 80).trim()), "{url}: {text:?}");
    }
    assert_eq!(server.log().count(HOST, "/app.js"), 1);
    crawl.is_sound();
    let before = crawl.visits();
    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(crawl.visits(), before);
    crawl.is_sound();
}

/// A counter of visitors is on most pages of the web, and rendering them all costs hundreds of
/// times the crawl.
#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn pages_whose_scripts_bring_nothing_are_rendered_three_times_and_patterns_shows_it() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/" => {
            let links = (1..=6).map(|number| format!("<a href=/help/{number}>{number}</a> "));
            Reply::html(html("", &links.collect::<String>()))
        }
        "/counter.js" => Reply::document("text/javascript", "document.title += '!'"),
        path => {
            let number = path.rsplit('/').next().and_then(|last| last.parse().ok());
            let text = prose(number.unwrap_or_default(), 80);
            let counter = "<script src=/counter.js></script>";
            Reply::html(html(counter, &format!("<p>{text}</p>")))
        }
    }));
    let crawl = crawl(&server).with(&["--concurrency-per-host=1"]);
    assert_eq!(crawl.complete()["rendered"], 3);
    assert_eq!(server.log().count(HOST, "/counter.js"), 1);
    let patterns = crawl.json_lines(&["patterns", "crawl"]);
    let help = patterns
        .iter()
        .find(|found| found["pattern"] == "app.test/help/{n}");
    let expected = serde_json::json!({ "use": "static", "rendered": 3, "adding": 0 });
    assert_eq!(help.expect("its pattern is listed")["scripts"], expected);
}

/// Returns the lines of the index of a crawl.
fn index(crawl: &Crawl) -> Vec<String> {
    let index = std::fs::read_to_string(crawl.out().join("archive/index.cdxj")).unwrap();
    index.lines().map(str::to_owned).collect()
}

/// Checks that each command reads an archive as before: the records of it may be new to it.
fn is_read_by_all_commands(crawl: &Crawl) {
    crawl.is_sound();
    let (before, indexed) = (crawl.visits(), index(crawl));
    for command in [
        &["rebuild", "crawl", "--from-archive", "--hash-key", KEY][..],
        &["index", "crawl"],
        &["reindex", "crawl"],
        &["unpack", "crawl", "--output", "site"],
        &["wacz", "crawl", "--output", "crawl.wacz"],
        &["verify", "crawl.wacz"],
    ] {
        let run = crawl.run_command(command);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    assert_eq!(crawl.visits(), before);
    assert_eq!(index(crawl), indexed);
    crawl.is_sound();
}

#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn a_picture_of_each_archived_page_follows_its_dom() {
    let server = Server::spawn_thread(SMALL.site());
    let crawl = crawl(&server).with(&["--screenshots", "--max-pages=4"]);
    let summary = crawl.complete();
    assert_eq!(summary["unique"], 4, "{summary}");
    let lines = index(&crawl);
    let pictures = lines.iter().filter(|line| line.starts_with("urn:view:"));
    assert!(
        pictures
            .clone()
            .all(|line| line.contains("\"mime\": \"image/png\"")),
        "{lines:?}"
    );
    assert_eq!(pictures.count(), 4, "{lines:?}");
    is_read_by_all_commands(&crawl);
}

/// An application that sends JSON, and gets a redirect and then its text.
const POSTING: &str = "<!DOCTYPE html><html><head><title>App</title><script>
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    fetch('/graphql', { ...json, body: JSON.stringify({ query: 'tide', page: [1, 2] }) })
      .then(response => response.text())
      .then(text => { document.getElementById('root').innerHTML = text });
    </script></head><body><div id=root></div></body></html>";

#[test]
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn a_page_shows_what_its_post_brings_if_posts_are_sent() {
    let site = || {
        Site::new(|request| match (request.method.as_str(), request.path()) {
            (_, "/") => Reply::html(POSTING),
            ("POST", "/graphql") => Reply::redirect(307, "/answer"),
            ("POST", "/answer") => {
                let body = String::from_utf8_lossy(&request.body);
                Reply::html(format!("<p>{body} {}", prose(7, 80)))
            }
            _ => Reply::status(404),
        })
    };
    let without = Server::spawn_thread(site());
    crawl(&without).complete();
    assert_eq!(without.log().count(HOST, "/graphql"), 0);

    let server = Server::spawn_thread(site());
    let crawl = crawl(&server).with(&["--render-post"]);
    crawl.complete();
    let text = texts(&crawl)[0]["text"].to_string();
    assert!(text.contains(prose(7, 80).trim()), "{text}");
    let lines = index(&crawl);
    for path in ["graphql", "answer"] {
        assert_eq!(server.log().count(HOST, &format!("/{path}")), 1);
        let key = format!("/{path}?__wb_method=post&page=1&page.2_=2&query=tide ");
        let line = lines.iter().find(|line| line.contains(&key));
        assert!(line.is_some(), "{lines:?}");
    }
    is_read_by_all_commands(&crawl);
}

#[test]
fn the_options_of_rendered_pages_need_them() {
    let server = Server::spawn_thread(SMALL.site());
    for option in ["--screenshots", "--render-post"] {
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        let ended = crawl.with(&[option]).run();
        ended.assert_error(2, &format!("{option} needs --render"));
        assert!(ended.errors.contains("--render shells"), "{ended:?}");
    }
    assert_eq!(server.log().len(), 0, "nothing is requested");
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
#[cfg_attr(not(has_chromium), ignore = "Chromium is not installed")]
fn the_dashboard_replays_a_page_as_its_scripts_left_it() {
    let server = Server::spawn_thread(SMALL.site());
    let crawl = crawl(&server);
    crawl.complete();
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    let view = browser.get(&format!("/replay?url={}", route(&server, 1)));
    let frame = browser.get(&view.frames()[0]);
    assert!(frame.text().contains(SMALL.text_of(1).trim()), "{frame:?}");
    for removed in ["Enable JavaScript", "<script"] {
        assert!(!frame.body.contains(removed), "{removed}: {frame:?}");
    }
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
