//! Nodes that join, leave, and come back; and the limits of a crawl over all of them.

use std::collections::BTreeMap;

use testkit::Postgres;

use crate::support::shared_crawl::{SharedCrawl, Web, assert_exhausted};

const WEB: Web = Web {
    hosts: 40,
    pages: 3,
};

/// Returns the pages that were asked for more than once, with the number of requests.
fn asked_again(shared: &SharedCrawl) -> BTreeMap<(String, String), usize> {
    let mut asked = BTreeMap::new();
    for hit in shared.server.log().pages() {
        let page = (hit.host.clone(), hit.target.clone());
        *asked.entry(page).or_default() += 1;
    }
    asked.retain(|_, count| *count > 1);
    asked
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn nodes_join_and_leave_and_no_page_is_visited_twice() {
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB);
    let first = shared.start("n1");
    shared.wait_for("n1", "live");
    let second = shared.start("n2");
    shared.wait_for("n2", "live");
    shared.wait_for_requests(30);
    first.interrupt();
    let run = first.end();
    assert_eq!(run.code, Some(130), "{run:?}");
    assert_eq!(shared.node("n1").unwrap()["state"], "left");
    let third = shared.start("n3");
    assert_exhausted(&second.end());
    assert_exhausted(&third.end());
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
    assert_eq!(asked_again(&shared), BTreeMap::new());
    shared.was_polite();
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn the_name_of_a_dead_node_is_taken_again_and_only_what_was_in_flight_is_visited_twice() {
    const IN_FLIGHT: &str = "4";
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB).with(&["--concurrency", IN_FLIGHT]);
    let node = shared.start("n1");
    shared.wait_for("n1", "live");
    shared.wait_for_requests(20);
    node.kill();
    let mut again = shared.start("n1");
    again.wait_for_line("the previous term of node n1 has not expired: waiting for 2 s");
    assert_exhausted(&again.end());
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
    shared.verify_archive("n1");
    WEB.stands_once_in(&shared.archived(&["n1"]));
    let again = asked_again(&shared);
    let most: usize = IN_FLIGHT.parse().unwrap();
    assert!(again.len() <= most, "{again:?}");
    shared.was_polite();
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_node_that_names_no_seed_crawls_with_the_seeds_of_the_others() {
    // Without the seeds of the first node, the second one judged every link out of scope.
    let postgres = Postgres::shared();
    let mut shared = SharedCrawl::of(postgres, WEB);
    let hosts: Vec<String> = (0..WEB.hosts).map(Web::host).collect();
    let seeds: Vec<String> = hosts
        .iter()
        .map(|host| shared.server.url(host, "/0"))
        .collect();
    shared.crawl.write("seeds.txt", seeds.join("\n"));
    shared = shared.with(&["--scope", "host"]);
    let mut arguments = shared.arguments("n1", &shared.store);
    arguments.extend(["--seeds".to_owned(), "seeds.txt".to_owned()]);
    let first = shared.crawl.start_command(&arguments);
    shared.wait_for("n1", "live");
    let second = shared.crawl.start_command(&[
        "node",
        "--store",
        &shared.store,
        "--name",
        "n2",
        "--out",
        "n2",
        "--summary",
        "json",
    ]);
    assert_exhausted(&first.end());
    assert_exhausted(&second.end());
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
    let pages = |node| shared.node(node).unwrap()["pages"].as_u64().unwrap();
    assert!(pages("n2") > 0, "the second node took part");
    assert_eq!(pages("n1") + pages("n2"), WEB.all_pages());
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn all_nodes_together_visit_as_many_pages_as_the_limit_allows() {
    const LIMIT: u64 = 50;
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB).with(&["--max-pages", "50"]);
    let first = shared.start("n1");
    shared.wait_for("n1", "live");
    let others = [shared.start("n2"), shared.start("n3")];
    for node in [first].into_iter().chain(others) {
        let run = node.end();
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(run.summary()["finished"], "max-pages", "{run:?}");
    }
    assert_eq!(shared.verify()["pages"], LIMIT);
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_store_that_goes_away_within_a_term_costs_no_page_and_no_term() {
    let postgres = Postgres::start(&[]);
    // A term that outlasts the restart, on a busy machine too.
    let shared = SharedCrawl::of(&postgres, WEB).with(&["--term", "10m"]);
    let mut node = shared.start("n1");
    shared.wait_for("n1", "live");
    shared.wait_for_requests(20);
    postgres.crash();
    node.wait_for_line("the shared store is unreachable");
    postgres.restart();
    assert_exhausted(&node.end());
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
    assert_eq!(shared.node("n1").unwrap()["term"], 1);
    let log = std::fs::read_to_string(shared.directory("n1").join("crawl.log")).unwrap();
    assert!(log.contains("the shared store is back"), "{log}");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_control_file_in_the_store_is_applied_by_all_nodes_without_one_of_their_own() {
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, WEB);
    let order = |text: &str| {
        shared.crawl.write("order.toml", text);
        let arguments = ["control", "--store", &shared.store, "order.toml"];
        shared.crawl.run_command(&arguments)
    };
    order("pause = true").assert_error(2, "this store does not contain a crawl");
    std::fs::create_dir(shared.directory("own")).unwrap();
    std::fs::write(shared.directory("own").join("control.toml"), "pause = true").unwrap();
    let mut first = shared.start("n1");
    shared.wait_for("n1", "live");
    let mut own = shared.start("own");
    own.wait_for_line("control.toml applied");
    order("paws = true").assert_error(2, "order.toml: at line 1");
    let run = order("pause = true\n[host.\"h3.test\"]\ndelay = \"1s\"\n");
    assert_eq!(run.code, Some(0), "{run:?}");
    first.wait_for_line("control.toml applied");
    let run = order("");
    assert_eq!(run.code, Some(0), "{run:?}");
    first.wait_for_line("control.toml applied");
    std::fs::remove_file(shared.directory("own").join("control.toml")).unwrap();
    own.wait_for_line("control.toml applied");
    assert_exhausted(&first.end());
    assert_exhausted(&own.end());
    assert_eq!(shared.verify()["pages"], WEB.all_pages());
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn a_page_that_is_declared_distinct_in_the_store_is_visited_again_by_its_node() {
    let postgres = Postgres::shared();
    let web = Web { hosts: 3, pages: 3 };
    let shared = SharedCrawl::of(postgres, web);
    assert_exhausted(&shared.start("n1").end());
    let run = shared
        .crawl
        .run_command(&["duplicates", "--store", &shared.store]);
    let not_archived: serde_json::Value =
        serde_json::from_str(run.output.lines().next().unwrap()).unwrap();
    let url = not_archived["url"].as_str().unwrap();
    shared
        .crawl
        .write("order.toml", format!("distinct = [\"{url}\"]"));
    let arguments = ["control", "--store", &shared.store, "order.toml"];
    let run = shared.crawl.run_command(&arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = shared.start("n1").end();
    assert_exhausted(&run);
    assert!(run.errors.contains("is requeued"), "{run:?}");
    // The second term revoked a visit of the first: sums of a term below zero were lost.
    let count = |kind: &str| run.summary()[kind].as_u64().unwrap();
    let counts = [count("pages"), count("unique"), count("exact_duplicates")];
    assert_eq!(counts, [9, 8, 1], "{run:?}");
    let run = shared
        .crawl
        .run_command(&["why", "--store", &shared.store, url, "--format", "json"]);
    assert_eq!(run.json()["verdict"], "unique", "{run:?}");
    shared.verify();
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn pages_of_an_earlier_crawl_that_the_first_node_reads_are_not_archived_by_all_nodes() {
    let postgres = Postgres::shared();
    let web = Web {
        hosts: 12,
        pages: 3,
    };
    let shared = SharedCrawl::of(postgres, web);
    // The first five hosts, by one process.
    let mut earlier = vec!["--out".to_owned(), "earlier".to_owned()];
    let own = shared.arguments("", "");
    let term = own.iter().position(|argument| argument == "--term");
    let (before, after) = own[7..].split_at(term.unwrap() - 7);
    earlier.extend(before.iter().chain(&after[2..]).cloned());
    earlier.extend(["--exclude", "//h([5-9]|1[01])\\."].map(str::to_owned));
    let run = shared.crawl.run_command(&earlier);
    assert_eq!(run.summary()["unique"], 5 * 2 + 2, "{run:?}");

    let mut first = shared.arguments("n1", &shared.store);
    first.extend(["--against", "earlier"].map(str::to_owned));
    let first_node = shared.crawl.start_command(&first);
    shared.wait_for("n1", "live");
    let second = shared.start("n2");
    assert_exhausted(&first_node.end());
    assert_exhausted(&second.end());
    let verified = shared.verify();
    assert_eq!(verified["pages"], web.all_pages(), "{verified}");
    let visits = shared
        .crawl
        .json_lines(&["export", "--store", &shared.store]);
    let kept: Vec<&str> = visits
        .iter()
        .filter(|visit| visit["verdict"] == "unique")
        .map(|visit| visit["url"].as_str().unwrap())
        .collect();
    let of_earlier = |url: &&&str| (0..5).any(|host| url.contains(&format!("//h{host}.")));
    assert_eq!(kept.iter().filter(of_earlier).count(), 0, "{kept:?}");
    // Of each of the others two pages, and of like pages one; one of these is in the earlier crawl.
    assert_eq!(kept.len(), 7 * 2 + 2, "{kept:?}");
    // The same command goes on, and a node of a crawl without earlier ones is refused.
    assert_exhausted(&shared.crawl.run_command(&first));
    let other = SharedCrawl::of(postgres, web);
    assert_exhausted(&other.start("n1").end());
    let mut late = other.arguments("n2", &other.store);
    let directory = shared.directory("earlier");
    late.extend([
        "--against".to_owned(),
        directory.to_str().unwrap().to_owned(),
    ]);
    let run = other.crawl.run_command(&late);
    run.assert_error(2, "the crawl began without --against");
}

#[test]
#[cfg_attr(not(postgres), ignore = "PostgreSQL is not installed")]
fn nodes_go_by_the_clock_of_the_store() {
    // A host that moved between machines whose clocks differ was asked early by the difference.
    let postgres = Postgres::shared();
    let shared = SharedCrawl::of(postgres, Web { hosts: 2, pages: 3 });
    postgres.query(
        &shared.store,
        "CREATE SCHEMA ahead; \
         CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS \
         $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$",
    );
    let name = shared.store.rsplit('/').next().unwrap();
    let ahead = format!("ALTER DATABASE {name} SET search_path = ahead, pg_catalog, public");
    postgres.query(&shared.store, &ahead);
    let now = "SELECT extract(epoch FROM pg_catalog.clock_timestamp())";
    let now: f64 = postgres.query(&shared.store, now).parse().unwrap();
    let mut node = shared.start("n1");
    node.wait_for_line("behind the store's clock, which all nodes use");
    assert_exhausted(&node.end());
    let run = shared
        .crawl
        .run_command(&["export", "--store", &shared.store]);
    let first: serde_json::Value =
        serde_json::from_str(run.output.lines().next().unwrap()).unwrap();
    let fetched = first["fetched_at"].as_str().unwrap();
    let ahead = format!("SELECT extract(epoch FROM timestamptz '{fetched}') - {now}");
    let ahead: f64 = postgres.query(&shared.store, &ahead).parse().unwrap();
    assert!((3_590.0..7_000.0).contains(&ahead), "{ahead} s");
}
