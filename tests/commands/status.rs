//! `status` as a view of the journal: a recount of `export`, while the crawl runs and after a kill.

use serde_json::Value;

use crate::support::Crawl;
use crate::support::request_quota::{HOST, PAGES, RequestQuota};

/// Compares `status` with a recount of `export`. The crawl makes no progress meanwhile.
fn status_is_a_recount(crawl: &Crawl) -> Value {
    let status = crawl.run_command(&["status", "crawl"]).json();
    let visits = crawl.visits();
    let verdicts = |words: &[&str]| {
        let counted = visits.iter().filter(|visit| {
            let verdict = visit["verdict"].as_str().unwrap();
            words.contains(&verdict)
        });
        counted.count() as u64
    };
    for (name, words) in [
        (
            "pages",
            &["unique", "changed", "exact-duplicate", "near-duplicate"][..],
        ),
        ("unique", &["unique"]),
        ("changed", &["changed"]),
        ("exact_duplicates", &["exact-duplicate"]),
        ("near_duplicates", &["near-duplicate"]),
        ("failed", &["failed"]),
        ("excluded", &["excluded"]),
    ] {
        assert_eq!(status[name], verdicts(words), "{name}: {status}");
    }
    let bytes: u64 = visits
        .iter()
        .map(|visit| visit["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(status["bytes"], bytes);
    let last = visits
        .last()
        .map_or(&Value::Null, |visit| &visit["fetched_at"]);
    assert_eq!(&status["last_visit_at"], last);
    let hosts = crawl.json_lines(&["status", "crawl", "--hosts", "--format", "json"]);
    let sum = |name: &str| -> u64 { hosts.iter().map(|host| host[name].as_u64().unwrap()).sum() };
    assert_eq!(status["pages"], sum("pages"));
    assert_eq!(status["queued"], sum("waiting"));
    status
}

#[test]
fn status_equals_a_recount_of_the_export_while_the_crawl_runs_and_after_kills() {
    let (quota, server) = RequestQuota::server();
    // One page at a time: while its answer is held, nothing changes.
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--concurrency=1"]);
    for requests in [4, 7, 1, 12] {
        let gate = quota.set(requests);
        let running = crawl.start();
        gate.arrivals_blocking(1);
        status_is_a_recount(&crawl);
        running.kill();
        status_is_a_recount(&crawl);
    }
    quota.set(usize::MAX);
    crawl.complete();
    let status = status_is_a_recount(&crawl);
    assert_eq!(status["pages"], PAGES);
    assert_eq!(status["queued"], 0);
}
