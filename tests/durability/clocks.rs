//! Clocks that were set between two sessions.

use std::sync::Arc;
use std::time::Duration;

use disk::SystemDisk;
use journal::DiscoveredUrl;
use neardup::{Features, HashKey};
use store::{
    ComparisonOptions, EmbeddedStore, Frontier, FrontierRules, LeaseFilter, Settlement,
    StoreOptions, Supply,
};
use testkit::{Server, Site};
use web::{CanonicalForm, Pace, PageUrl, Timestamp};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HOST: &str = "tree.test";

/// Runs a session at `now` in which a page is postponed, and its host paused, for these times.
async fn session(crawl: &Crawl, now: Timestamp, page: &str, wait: Duration, in_order: bool) {
    let options = StoreOptions {
        rules: FrontierRules::default(),
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now,
        disk: Arc::new(SystemDisk),
    };
    let store = EmbeddedStore::open(&crawl.out().join("state"), &options).unwrap();
    let url = PageUrl::parse(page, &CanonicalForm::default()).unwrap();
    store
        .discover(vec![DiscoveredUrl::new(url.clone(), 0, None)])
        .await
        .unwrap();
    let Supply::Leases(leases) = store.lease(now + wait, 99, LeaseFilter::All).await.unwrap()
    else {
        panic!("the crawl is complete");
    };
    for lease in leases {
        let pace = Pace {
            wait,
            answered: now,
            ..(now + wait).into()
        };
        let again = Settlement::Again {
            at: now + 2 * wait,
            reason: journal::Reason::said("no answer"),
            counts: true,
        };
        store.settle(lease, again, pace).await.unwrap();
    }
    if in_order {
        store.close().await.unwrap();
    } else {
        store.sync().await.unwrap();
    }
}

/// A clock was a day ahead and was set back: the crawl then silently fetched nothing for the
/// longest wait of any rule, an hour.
#[test]
fn a_crawl_whose_clock_was_a_day_ahead_continues_at_once_with_a_warning() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for in_order in [true, false] {
        let server = Server::spawn_thread(Site::new(|request| tree(number_of(&request.target), 7)));
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
        assert_eq!(crawl.run_with(&["--max-pages", "1"]).summary()["pages"], 1);
        let visited = crawl.visit(&server.url(HOST, "/0"));
        let visited: Timestamp = visited["fetched_at"].as_str().unwrap().parse().unwrap();
        let tomorrow = visited + Duration::from_secs(24 * 3600);
        let page = server.url(HOST, "/1");
        let wait = Duration::from_millis(20);
        runtime.block_on(session(&crawl, tomorrow, &page, wait, in_order));

        let run = crawl.run_with(&["--max-pages", "99"]);
        assert_eq!(
            (run.code, run.summary()["pages"].as_u64()),
            (Some(0), Some(7)),
            "{run:?}"
        );
        let warnings = run
            .errors
            .lines()
            .filter(|line| line.contains("behind the last run"));
        let warnings: Vec<&str> = warnings.collect();
        assert_eq!(warnings.len(), 1, "{run:?}");
        assert!(
            warnings[0].contains("the clock is 23 h 59 min behind"),
            "{warnings:?}"
        );
        let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
        assert_eq!(log.matches("behind the last run").count(), 1);
        crawl.is_sound();
        // The next run does not report it again.
        assert!(!crawl.run().errors.contains("behind the last run"));
    }
}
