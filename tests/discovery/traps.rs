//! Sites without end, and the rules that bound them: docs/guide/traps.md.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testkit::traps::{HONEST, Trap, traps_and_honest};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

/// Pages of the honest host.
const PAGES: u64 = 100;
/// Hosts of one domain, in these tests.
const HOSTS: u64 = 20;
/// Names that a crawl may meet before it has [`HOSTS`] hosts: it finds eight more with each.
const NAMES: u64 = HOSTS * 9;

fn requests(server: &Server) -> BTreeMap<String, usize> {
    let mut requests = BTreeMap::new();
    for hit in server.log().pages() {
        let trap = Trap::ALL
            .iter()
            .find(|trap| hit.host.ends_with(trap.host()));
        let name = trap.map_or(hit.host.clone(), |trap| trap.host().to_owned());
        *requests.entry(name).or_insert(0) += 1;
    }
    requests
}

/// One page at a time, so that the order of like pages, and with it the followed links, is always
/// the same. With sixteen at a time a trap sometimes ended early, and that cost a release.
fn crawl_of_traps(server: &Server) -> Crawl {
    let mut names: Vec<String> = Trap::ALL
        .iter()
        .flat_map(|trap| trap.names(NAMES))
        .collect();
    names.push(HONEST.to_owned());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut seeds: Vec<String> = Trap::ALL
        .iter()
        .map(|trap| server.url(trap.host(), trap.entrance()))
        .collect();
    seeds.push(server.url(HONEST, "/guide/0"));
    Crawl::of(server, &names)
        .with(&["--scope", "domain", "--concurrency", "1"])
        .seeds(&seeds)
}

#[test]
fn six_traps_of_a_billion_pages_end_within_their_budgets_and_the_honest_host_is_crawled_whole() {
    let server = Server::spawn_thread(traps_and_honest(PAGES));
    let budgets = [
        "--max-pages-per-host",
        "300",
        "--max-hosts-per-domain",
        "20",
    ];
    let crawl = crawl_of_traps(&server).with(&budgets);
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");

    let requests = requests(&server);
    let honest: HashSet<String> = server
        .log()
        .targets(HONEST)
        .into_iter()
        .map(str::to_owned)
        .collect();
    for number in 0..PAGES {
        assert!(honest.contains(&format!("/guide/{number}")), "{number}");
    }
    for trap in Trap::ALL {
        assert!(requests[trap.host()] <= 300, "{trap:?}: {requests:?}");
    }
    assert!(requests[Trap::Names.host()] as u64 <= HOSTS, "{requests:?}");

    let patterns = crawl.json_lines(&["patterns", "crawl"]);
    for closed in [
        "copy-trap.test/item/{id}",
        "session-trap.test/page/{n}?visitor",
    ] {
        let report = patterns
            .iter()
            .find(|line| line["pattern"] == closed)
            .unwrap();
        assert_eq!(report["state"], "closed", "{report}");
        assert!(report["excluded"].as_u64().unwrap() > 100, "{report}");
        let examples = report["examples"].as_array().unwrap();
        assert_eq!(examples.len(), 3, "{report}");
        assert!(
            examples
                .iter()
                .all(|example| example["original"].is_string()),
            "{report}"
        );
    }
    for rule in ["repeated-path", "max-hosts-per-domain"] {
        let report = patterns
            .iter()
            .find(|line| line["trap"] == rule)
            .unwrap_or_else(|| panic!("{rule}"));
        assert!(report["links"].as_u64().unwrap() > 0, "{report}");
        assert!(
            !report["examples"].as_array().unwrap().is_empty(),
            "{report}"
        );
    }
    let honest = |line: &&Value| {
        line["pattern"]
            .as_str()
            .is_some_and(|name| name.starts_with(HONEST))
    };
    assert!(
        patterns
            .iter()
            .filter(honest)
            .all(|line| line["state"] == "open" && line["excluded"] == 0)
    );
    crawl.is_sound();
}

#[test]
fn without_trap_rules_each_trap_uses_up_its_budgets() {
    let server = Server::spawn_thread(traps_and_honest(PAGES));
    let budgets = [
        "--max-pages-per-host",
        "300",
        "--max-hosts-per-domain",
        "20",
    ];
    let crawl = crawl_of_traps(&server)
        .with(&budgets)
        .with(&["--traps", "off"]);
    crawl.complete();
    let requests = requests(&server);
    // The trap of sessions has ten pages with sixty links each, and no new page has links.
    for trap in [Trap::Calendar, Trap::Folders, Trap::Facets, Trap::Copies] {
        assert_eq!(requests[trap.host()], 300, "{trap:?}: {requests:?}");
    }
}

/// Items that are all the same until they are renewed, with a page that links to them. With fewer
/// items all would be visited in the end.
fn catalogue(items: u64, renewed: Arc<AtomicBool>) -> Site {
    Site::new(move |request| {
        let links: Vec<String> = (0..items)
            .map(|item| format!("/item/{}", 10_000 + item))
            .collect();
        let number = request
            .target
            .rsplit('/')
            .next()
            .and_then(|number| number.parse().ok());
        match number.unwrap_or(u64::MAX) {
            _ if request.target == "/robots.txt" => Reply::status(404),
            0 => page(0, &links),
            number if request.target == "/about/7" => page(number, NONE),
            number if renewed.load(Ordering::Relaxed) => page(number, NONE),
            number => Reply::html(html(
                "<title>Item</title>",
                &format!("<p>{}</p><p>Item {number}</p>", prose(1, 300)),
            )),
        }
    })
}

#[test]
fn a_closed_pattern_is_reported_and_its_urls_are_visited_once_it_is_reopened() {
    let renewed = Arc::new(AtomicBool::new(false));
    let server = Server::spawn_thread(catalogue(480, Arc::clone(&renewed)));
    let crawl = Crawl::of(&server, &["shop.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[
            server.url("shop.test", "/0"),
            server.url("shop.test", "/about/7"),
        ]);
    crawl.complete();
    let visited = |server: &Server| {
        server
            .log()
            .targets("shop.test")
            .iter()
            .filter(|target| target.starts_with("/item/"))
            .count()
    };
    let before = visited(&server);
    assert!((100..480).contains(&before), "{before}");
    let excluded = 480 - before as u64;

    let pattern = "shop.test/item/{n}";
    let patterns = crawl.json_lines(&["patterns", "crawl"]);
    assert_eq!(patterns[0]["pattern"], pattern, "{patterns:?}");
    assert_eq!(
        (&patterns[0]["state"], &patterns[0]["excluded"]),
        (&"closed".into(), &excluded.into())
    );
    let status = crawl.run_command(&["status", "crawl"]).json();
    assert_eq!(
        (&status["closed_patterns"], &status["excluded_by_pattern"]),
        (&1.into(), &excluded.into())
    );
    let table = crawl
        .run_command(&["status", "crawl", "--format", "table"])
        .output;
    assert!(
        table.contains(&format!("1 closed, {excluded} URLs excluded")),
        "{table}"
    );
    let why = crawl
        .run_command(&["why", "crawl", &server.url("shop.test", "/item/10479")])
        .json();
    assert_eq!(why["verdict"], "excluded", "{why}");
    let reason = why["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("pattern closed: shop.test/item/{n}: "),
        "{reason}"
    );

    crawl
        .run_command(&["patterns", "crawl", "--reopen", "shop.test/nothing"])
        .assert_error(2, "is not a URL pattern of this crawl");
    renewed.store(true, Ordering::Relaxed);
    let reopened = crawl.run_command(&["patterns", "crawl", "--reopen", pattern]);
    assert_eq!(reopened.code, Some(0), "{reopened:?}");
    assert!(
        reopened
            .errors
            .contains(&format!("{excluded} excluded URLs are queued")),
        "{reopened:?}"
    );
    assert_eq!(
        crawl.run_command(&["status", "crawl"]).json()["queued"],
        excluded
    );
    let summary = crawl.complete();
    assert_eq!(visited(&server), 480);
    assert_eq!(
        (&summary["excluded"], &summary["unique"]),
        (&0.into(), &(excluded + 3).into())
    );
    assert_eq!(crawl.json_lines(&["patterns", "crawl"])[0]["state"], "open");
    crawl.is_sound();
}

#[test]
fn a_line_of_control_toml_reopens_a_pattern_once() {
    let renewed = Arc::new(AtomicBool::new(false));
    let server = Server::spawn_thread(catalogue(480, Arc::clone(&renewed)));
    let crawl = Crawl::of(&server, &["shop.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[server.url("shop.test", "/0")]);
    let excluded = crawl.complete()["excluded"].as_u64().unwrap();
    assert!(excluded > 100, "{excluded}");
    crawl.write(
        "crawl/control.toml",
        "reopen = [\"shop.test/item/{n}\", \"shop.test/nothing\"]",
    );
    let run = crawl.run();
    for sentence in [
        &format!("shop.test/item/{{n}} is open again, and {excluded} excluded URLs are queued"),
        "shop.test/nothing is not a URL pattern of this crawl",
    ] {
        assert!(run.errors.contains(sentence), "{run:?}");
    }
    // They bring nothing new yet, so the pattern is closed again. The line stays in the file.
    let requests = server.log().targets("shop.test").len();
    let run = crawl.run();
    assert!(!run.errors.contains("is open again"), "{run:?}");
    assert_eq!(server.log().targets("shop.test").len(), requests);
    crawl.is_sound();
}

#[test]
fn a_crawl_that_is_killed_while_it_closes_patterns_ends_with_the_same_result() {
    let server = Server::spawn_thread(catalogue(460, Arc::default()));
    let crawl = Crawl::of(&server, &["shop.test"]).seeds(&[server.url("shop.test", "/0")]);
    for limit in ["40", "90", "105"] {
        crawl.run_with(&["--max-pages", limit]);
    }
    drop(crawl.start().kill());
    crawl.run_with(&["--max-pages", "1000"]);
    let patterns = crawl.json_lines(&["patterns", "crawl"]);
    assert_eq!(
        (&patterns[0]["pattern"], &patterns[0]["state"]),
        (&"shop.test/item/{n}".into(), &"closed".into())
    );
    let counts =
        [&patterns[0]["visited"], &patterns[0]["excluded"]].map(|count| count.as_u64().unwrap());
    assert_eq!(counts[0] + counts[1], 460, "{counts:?}");
    crawl.is_sound();
}

#[test]
fn a_pattern_has_a_budget_and_urls_beyond_it_name_it_as_the_reason() {
    let server = Server::spawn_thread(catalogue(20, Arc::new(AtomicBool::new(true))));
    let budget = [
        "--max-pages-per-pattern",
        "5",
        "--concurrency",
        "1",
        "--concurrency-per-host",
        "1",
    ];
    let crawl = Crawl::of(&server, &["shop.test"])
        .with(&budget)
        .seeds(&[server.url("shop.test", "/0")]);
    assert_eq!(crawl.complete()["pages"], 6);
    let why = crawl
        .run_command(&["why", "crawl", &server.url("shop.test", "/item/10019")])
        .json();
    let reason = "pattern budget: shop.test/item/{n}: it had its 5 pages (--max-pages-per-pattern)";
    assert_eq!(why["reason"], reason);
    let higher = ["--max-pages-per-pattern", "12"];
    crawl.run_command(&["patterns", "crawl", "--reopen", "shop.test/item/{n}"]);
    assert_eq!(
        crawl.run_with(&higher[..0]).summary()["pages"],
        6,
        "the budget is unchanged"
    );
    crawl.run_command(&["patterns", "crawl", "--reopen", "shop.test/item/{n}"]);
    let kept = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(kept.contains("max-pages-per-pattern = 5"), "{kept}");
}

#[test]
fn why_names_the_trap_rule_of_a_link() {
    let server = Server::spawn_thread(Site::pages([
        (
            "/0",
            page(
                0,
                &[
                    "/img/img/img/1",
                    "/list?a=1&a=1&a=1",
                    "http://b.site.test/",
                    "/1",
                ],
            ),
        ),
        ("/1", page(1, NONE)),
    ]));
    let crawl = Crawl::of(&server, &["site.test"])
        .with(&["--scope", "domain", "--max-hosts-per-domain", "1"])
        .seeds(&[server.url("site.test", "/0")]);
    assert_eq!(crawl.complete()["pages"], 2);
    for (url, words) in [
        (
            server.url("site.test", "/img/img/img/1"),
            "(trap rule repeated-path)",
        ),
        (
            server.url("site.test", "/list?a=1&a=1&a=1"),
            "(trap rule repeated-parameter)",
        ),
        (
            "http://b.site.test/".to_owned(),
            "has reached --max-hosts-per-domain 1 (",
        ),
    ] {
        let why = crawl.run_command(&["why", "crawl", &url]).json();
        assert_eq!(why["verdict"], "not-queued", "{why}");
        assert!(why["reason"].as_str().unwrap().contains(words), "{why}");
    }
    let status = crawl.run_command(&["status", "crawl"]).json();
    let expected =
        serde_json::json!({"max-hosts-per-domain": 1, "repeated-parameter": 1, "repeated-path": 1});
    assert_eq!(status["excluded_links"], expected);
    let off = Crawl::of(&server, &["site.test"])
        .with(&["--traps", "off"])
        .seeds(&[server.url("site.test", "/0")]);
    assert_eq!(
        off.complete()["failed"],
        2,
        "they are requested, and missing"
    );
}
