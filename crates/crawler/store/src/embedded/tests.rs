//! The state that survives the end of a process, however it ends.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use journal::{Fate, FinishedVisit, Page, Relevance, Robots, StoreFault, VisitRecord};
use neardup::{Features, HashKey, PageText, SignatureBuilder};
use proptest::prelude::*;
use web::{Host, Pace};

use super::*;
use crate::fixtures::{again, at, done, done_with, leases, link, options, url, visit};
use crate::frontier::{Frontier, FrontierRules, LeaseFilter, Settlement, Supply};
use crate::near_dup::{NearDupIndex, Verdict};

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, &options(FrontierRules::default())).unwrap()
}

/// Kills the process: the store is dropped without a checkpoint, and sled's threads with it.
fn killed(store: EmbeddedStore) {
    drop(store);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for item in std::fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        if item.file_type().unwrap().is_dir() {
            copy(&item.path(), &target);
        } else {
            std::fs::copy(item.path(), target).unwrap();
        }
    }
}

fn agree(directory: &Path) {
    let audit = audit(directory).unwrap();
    assert!(audit.findings.is_empty(), "{:?}", audit.findings);
}

#[tokio::test]
async fn a_page_that_was_leased_and_not_settled_is_leased_again_by_the_next_process() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store
        .discover(vec![link("http://a.test/1", 0), link("http://b.test/1", 0)])
        .await
        .unwrap();
    let mut out = leases(&store, 0, 9).await;
    let settled = out.remove(0);
    let settlement = done_with(&settled, None, vec![link("http://a.test/2", 1)]);
    store
        .settle(settled, settlement, at(0).into())
        .await
        .unwrap();
    killed(store);

    let store = open(directory.path());
    assert_eq!(store.stats().totals.unique, 1);
    let mut again: Vec<_> = leases(&store, 0, 9)
        .await
        .iter()
        .map(|lease| lease.url().to_string())
        .collect();
    again.sort();
    assert_eq!(again, ["http://a.test/2", "http://b.test/1"]);
    assert_eq!(
        store
            .discover(vec![link("http://a.test/1", 0)])
            .await
            .unwrap(),
        0,
        "it was seen"
    );
}

#[tokio::test]
async fn the_next_session_knows_the_hosts_to_leave_alone_before_its_first_lease() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let rests = |answered: u64, wait: u64| Pace {
        ready: at(u64::MAX),
        wait: Duration::from_millis(wait),
        why: web::WaitReason::RetryAfter,
        answered: at(answered),
        ..Pace::default()
    };
    for (name, pace) in [
        ("long.test", rests(1_000, 9_000)),
        ("over.test", rests(1_000, 3_999)),
        ("just.test", rests(1_000, 4_001)),
        ("unasked.test", at(90_000).into()),
    ] {
        store
            .hosts()
            .record_pace(&Host::new(name), pace)
            .await
            .unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let options = StoreOptions {
        now: at(5_000),
        ..options(FrontierRules::default())
    };
    let store = EmbeddedStore::open(directory.path(), &options).unwrap();
    let mut resting = store.resting(at(5_000));
    resting.sort_by(|(one, _), (other, _)| one.cmp(other));
    let resting: Vec<_> = resting
        .iter()
        .map(|(host, pace)| (host.as_str(), pace.wait))
        .collect();
    let millis = Duration::from_millis;
    assert_eq!(
        resting,
        [("just.test", millis(4_001)), ("long.test", millis(9_000))]
    );
}

#[tokio::test]
async fn attempts_share_of_a_host_and_widened_scope_survive() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        per_host: 1,
        max_pages_per_host: Some(1),
        ..FrontierRules::default()
    };
    let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    store
        .discover(vec![
            link("http://a.test/1", 0),
            link("http://b.test/1", 0),
            link("http://b.test/2", 0),
        ])
        .await
        .unwrap();
    for lease in leases(&store, 0, 9).await {
        let settlement = match lease.url().host().as_str() {
            "a.test" => again(at(500)),
            _ => done(&lease),
        };
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    store.adopt_seed(&url("http://www.a.test/")).await.unwrap();
    killed(store);

    let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    assert_eq!(store.adopted_seeds(), [url("http://www.a.test/")]);
    assert_eq!(
        store.lease(at(499), 9, LeaseFilter::All).await.unwrap(),
        Supply::NothingBefore(at(500)),
        "b.test had its share"
    );
    assert_eq!(leases(&store, 500, 9).await[0].entry.attempts, 1);
}

#[tokio::test]
async fn the_archive_ends_where_the_last_recorded_page_ends() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        per_host: 9,
        max_pages_per_host: None,
        ..FrontierRules::default()
    };
    let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    store
        .discover(
            (0..3)
                .map(|page| link(&format!("http://a.test/{page}"), 0))
                .collect(),
        )
        .await
        .unwrap();
    let mut out = leases(&store, 0, 9).await;
    let (third, _second_is_never_settled, first) = (out.remove(2), out.remove(1), out.remove(0));
    for (lease, archive_sequence) in [(third, 2), (first, 0)] {
        let settlement = done_with(&lease, Some(archive_sequence), vec![]);
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    killed(store);

    let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
    assert_eq!(
        store.archive_end().unwrap().end,
        100,
        "the third page's bytes come after the second's, which is not recorded"
    );
    assert_eq!(
        leases(&store, 0, 9).await.len(),
        2,
        "both are visited again"
    );
}

#[tokio::test]
async fn the_next_process_knows_admitted_pages_and_no_forgotten_ones() {
    let directory = tempfile::tempdir().unwrap();
    let about = |topic: &str| {
        let text: String = (0..100).map(|word| format!("{topic}{word} ")).collect();
        SignatureBuilder::new(Features::default(), HashKey::ZERO)
            .signature(topic.len() as u128, Some(PageText::of(&text)))
    };
    let page = |name: &str| Page {
        url: url(name),
        final_url: url(name),
        at: at(3),
    };
    let store = open(directory.path());
    store
        .admit(&page("http://a.test/tea"), &about("tea"), None)
        .await
        .unwrap();
    store
        .admit(&page("http://a.test/coffee"), &about("coffee"), None)
        .await
        .unwrap();
    store
        .forget(url("http://a.test/coffee").key())
        .await
        .unwrap();
    killed(store);

    let store = open(directory.path());
    assert_eq!(
        store
            .admit(&page("http://a.test/tea"), &about("tea"), None)
            .await
            .unwrap(),
        Verdict::Own
    );
    assert!(matches!(
        store
            .admit(&page("http://b.test/tea"), &about("tea"), None)
            .await
            .unwrap(),
        Verdict::Duplicate(_)
    ));
    assert_eq!(
        store
            .admit(&page("http://b.test/coffee"), &about("coffee"), None)
            .await
            .unwrap(),
        Verdict::Unique
    );
}

#[tokio::test]
async fn unreadable_tables_are_rebuilt_from_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store
        .discover(
            (0..50)
                .map(|page| link(&format!("http://h{page}.test/"), 0))
                .collect(),
        )
        .await
        .unwrap();
    for lease in leases(&store, 0, 20).await {
        let settlement = done(&lease);
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    store.checkpoint(None).await.unwrap();
    let before = store.stats();
    killed(store);
    for name in ["conf", "db"] {
        std::fs::write(directory.path().join("sled").join(name), b"not what it was").unwrap();
    }

    let store = open(directory.path());
    assert_eq!(store.stats(), before);
    assert!(
        directory.path().join("sled.unusable").exists(),
        "the old ones are kept"
    );
    killed(store);
    agree(directory.path());
}

#[tokio::test]
async fn duplicates_of_an_original_that_fails_are_visited_again_in_any_session() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let discovered = vec![
        link("http://a.test/original", 0),
        link("http://b.test/copy", 0).with_link_score(9),
    ];
    store.discover(discovered).await.unwrap();
    let text: String = (0..100).map(|word| format!("word{word} ")).collect();
    let text = PageText::of(&text);
    let signature =
        SignatureBuilder::new(Features::default(), HashKey::ZERO).signature(1, Some(text));
    let original = Page {
        url: url("http://a.test/original"),
        final_url: url("http://a.test/original"),
        at: at(3),
    };
    store.admit(&original, &signature, None).await.unwrap();
    let copy = leases(&store, 0, 9).await.pop().unwrap();
    let reached = url("http://b.test/on-the-way");
    assert!(store.claim(&copy, &reached).await.unwrap());
    let mut record = VisitRecord {
        duplicate_of: Some(original.url.clone()),
        ..visit(&copy, Fate::NearDuplicate)
    };
    record.details.relevance = Some(Relevance::from_thousandths(800));
    let settlement = Settlement::Done(FinishedVisit {
        reached: vec![reached.clone()],
        ..FinishedVisit::new(record)
    });
    store.settle(copy, settlement, at(0).into()).await.unwrap();
    store.flush().await.unwrap();
    killed(store);

    let store = open(directory.path());
    let totals = store.stats().totals;
    assert_eq!((totals.near_duplicates, totals.judged), (1, 1));
    store.forget(original.key()).await.unwrap();
    let totals = store.stats().totals;
    assert_eq!((totals.near_duplicates, totals.judged), (0, 0));
    killed(store);

    let store = open(directory.path());
    let again = leases(&store, 0, 9).await.pop().unwrap();
    assert_eq!(again.url(), &url("http://b.test/copy"));
    assert_eq!(again.discovered().link_score(), Some(9));
    let totals = store.stats().totals;
    assert_eq!((totals.near_duplicates, totals.judged), (0, 0));
    assert!(
        store.claim(&again, &reached).await.unwrap(),
        "its own redirect is not in its way"
    );
    killed(store);
    agree(directory.path());
}

#[tokio::test]
async fn the_next_session_reads_robots_txt_from_the_journal() {
    let directory = tempfile::tempdir().unwrap();
    let robots = |text: &str| Robots {
        text: Some(text.into()),
        until: at(9),
    };
    let store = open(directory.path());
    store
        .hosts()
        .record_robots("http://a.test", robots("old"))
        .await
        .unwrap();
    store
        .hosts()
        .record_robots("http://b.test", robots("b"))
        .await
        .unwrap();
    store.flush().await.unwrap();
    store
        .hosts()
        .record_robots("http://a.test", robots("new"))
        .await
        .unwrap();
    killed(store);
    let store = open(directory.path());
    assert_eq!(
        store.hosts().robots("http://a.test").await.unwrap(),
        Some(robots("new"))
    );
    assert_eq!(
        store.hosts().robots("http://b.test").await.unwrap(),
        Some(robots("b"))
    );
    assert_eq!(store.hosts().robots("http://c.test").await.unwrap(), None);
}

/// A crawl was stopped while the clock was a month ahead. When the clock was right again, the crawl
/// waited a month for its hosts.
#[tokio::test]
async fn a_clock_that_was_set_back_makes_no_wait_longer_than_the_maximum() {
    const MONTH: u64 = 30 * 24 * 3600 * 1000;
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        max_wait: Duration::from_secs(60),
        ..FrontierRules::default()
    };
    let open_at = |now| {
        let options = StoreOptions {
            now: at(now),
            ..options(rules.clone())
        };
        EmbeddedStore::open(directory.path(), &options).unwrap()
    };
    let store = open_at(MONTH);
    let discovered =
        ["http://a.test/1", "http://a.test/2", "http://b.test/1"].map(|url| link(url, 0));
    store.discover(discovered.to_vec()).await.unwrap();
    for lease in leases(&store, MONTH, 2).await {
        let (settlement, ready) = match lease.url().host().as_str() {
            "a.test" => (done(&lease), at(MONTH + 1000)),
            _ => (again(at(MONTH + 2000)), at(MONTH)),
        };
        store.settle(lease, settlement, ready.into()).await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);

    let store = open_at(5);
    assert_eq!(
        store.lease(at(60_004), 9, LeaseFilter::All).await.unwrap(),
        Supply::NothingBefore(at(60_005))
    );
    assert_eq!(leases(&store, 60_005, 9).await.len(), 2);
}

/// A crawl ran for a day in the future. When the clock was right again, the crawl fetched nothing
/// for an hour, silently, although the waits in its journal were short.
#[tokio::test]
async fn under_a_clock_that_was_set_back_each_wait_keeps_its_recorded_length() {
    const DAY: u64 = 24 * 3600 * 1000;
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        min_wait: Duration::from_secs(1),
        ..FrontierRules::default()
    };
    let open_at = |now| {
        let options = StoreOptions {
            now: at(now),
            ..options(rules.clone())
        };
        EmbeddedStore::open(directory.path(), &options).unwrap()
    };
    // The session ends in order or dies, with its changes flushed or not.
    for (in_order, flushed) in [(true, false), (false, true), (false, false)] {
        let name = format!("h{}{}.test", u8::from(in_order), u8::from(flushed));
        let store = open_at(DAY);
        assert_eq!(store.clock_behind(), Duration::ZERO, "{name}");
        let discovered = ["1", "2"].map(|page| link(&format!("http://{name}/{page}"), 0));
        store.discover(discovered.to_vec()).await.unwrap();
        let lease = leases(&store, DAY + 1_000, 9)
            .await
            .into_iter()
            .find(|lease| lease.url().host().as_str() == name)
            .unwrap();
        let pace = Pace {
            wait: Duration::from_secs(2),
            answered: at(DAY + 1_000),
            ..at(DAY + 3_000).into()
        };
        let again = again(at(DAY + 9_000));
        store.settle(lease, again, pace).await.unwrap();
        if flushed {
            store.flush().await.unwrap();
        }
        if in_order {
            store.close().await.unwrap();
        }
        drop(store);

        let store = open_at(5);
        assert_eq!(
            store.clock_behind(),
            Duration::from_millis(DAY + 995),
            "{name}"
        );
        let host = store
            .hosts()
            .pace(&Host::new(&name))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((host.ready, host.answered), (at(2_005), at(5)), "{name}");
        let first = store.lease(at(2_004), 9, LeaseFilter::All).await.unwrap();
        assert_eq!(first, Supply::NothingBefore(at(2_005)), "{name}");
        let ready = leases(&store, 2_005, 9).await;
        assert!(
            ready
                .iter()
                .any(|lease| lease.url().as_str().ends_with("/2")),
            "{name}"
        );
        for lease in ready {
            let settlement = done(&lease);
            store
                .settle(lease, settlement, at(2_005).into())
                .await
                .unwrap();
        }
        // The postponed page has waited for eight seconds from then on, too.
        let last = store.lease(at(8_004), 9, LeaseFilter::All).await.unwrap();
        assert_eq!(last, Supply::NothingBefore(at(8_005)), "{name}");
        for lease in leases(&store, 8_005, 9).await {
            let settlement = done(&lease);
            store
                .settle(lease, settlement, at(8_005).into())
                .await
                .unwrap();
        }
        store.close().await.unwrap();
        drop(store);
        agree(directory.path());
        // It is reported once: the next session finds nothing behind.
        let store = open_at(9_000);
        assert_eq!(store.clock_behind(), Duration::ZERO, "{name}");
        store.close().await.unwrap();
    }
}

/// A host that answers in 400 ms and asks for a wait of 2 s was requested after 1 s, the delay,
/// when a kill came in between.
#[tokio::test]
async fn after_a_death_a_host_rests_for_the_wait_of_its_last_response() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules {
        min_wait: Duration::from_secs(1),
        ..FrontierRules::default()
    };
    let open_at = |now| {
        let options = StoreOptions {
            now: at(now),
            ..options(rules.clone())
        };
        EmbeddedStore::open(directory.path(), &options).unwrap()
    };
    let store = open_at(0);
    let pages = [
        "http://slow.test/1",
        "http://slow.test/2",
        "http://silent.test/1",
    ];
    let pages = pages.iter().chain(&["http://unasked.test/1"]);
    store
        .discover(pages.map(|page| link(page, 0)).collect())
        .await
        .unwrap();
    let slow = Pace {
        wait: Duration::from_secs(2),
        why: web::WaitReason::Slowness,
        answered: at(400),
        ..at(2_400).into()
    };
    let mut out = leases(&store, 0, 2).await;
    let lease = out.remove(0);
    assert_eq!(lease.url().host().as_str(), "slow.test");
    let settlement = done(&lease);
    store.settle(lease, settlement, slow).await.unwrap();
    // A host that is requested for the first time, and has not answered when the process dies.
    let silent = Pace::unanswered(at(9_400), rules.min_wait);
    store
        .hosts()
        .record_pace(&Host::new("silent.test"), silent)
        .await
        .unwrap();
    let patient = Pace {
        wait: Duration::from_secs(60),
        why: web::WaitReason::RetryAfter,
        ..slow
    };
    store
        .hosts()
        .record_pace(&Host::new("patient.test"), patient)
        .await
        .unwrap();
    let out = leases(&store, 9_000, 9).await;
    assert!(
        out.iter()
            .any(|lease| lease.url().host().as_str() == "slow.test"),
        "{out:?}"
    );
    killed(store);

    let store = open_at(10_000);
    assert!(store.after_a_death());
    let mut ready = Vec::new();
    for name in ["unasked.test", "slow.test", "silent.test"] {
        let pace = store.hosts().pace(&Host::new(name)).await.unwrap().unwrap();
        ready.push((name, pace.ready));
    }
    // The delay; the wait of the last response; five times the 600 ms since the request.
    let expected = [
        ("unasked.test", at(11_000)),
        ("slow.test", at(12_000)),
        ("silent.test", at(13_000)),
    ];
    assert_eq!(ready, expected);
    let resting = store.resting(at(11_500));
    let ends = |name: &str| {
        let mut found = resting.iter().filter(|(host, _)| host.as_str() == name);
        found.next().map(|(_, pace)| pace.answered + pace.wait)
    };
    assert_eq!(ends("slow.test"), Some(at(12_000)));
    // A longer wait is not cut short for hosts that share it.
    assert_eq!(ends("patient.test"), Some(at(60_400)));
}

#[test]
fn a_second_process_learns_the_holder_of_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let _held = open(directory.path());
    let refused = EmbeddedStore::open(directory.path(), &options(FrontierRules::default()))
        .err()
        .unwrap();
    let holder = format!("(process {}", std::process::id());
    assert!(refused.to_string().contains(&holder), "{refused}");
}

#[test]
fn other_features_than_those_of_the_crawl_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    killed(open(directory.path()));
    let other = StoreOptions {
        features: "char:5".to_owned(),
        ..options(FrontierRules::default())
    };
    let refused = EmbeddedStore::open(directory.path(), &other).err().unwrap();
    assert!(
        matches!(
            refused,
            StoreFault::Setting {
                setting: "--features",
                ..
            }
        ),
        "{refused}"
    );
}

#[test]
fn a_history_can_be_read_while_the_store_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        store
            .discover(vec![link("http://a.test/", 0)])
            .await
            .unwrap();
        let lease = leases(&store, 0, 1).await.remove(0);
        let settlement = done(&lease);
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    });
    let visits: Vec<_> = journal::visits(directory.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(visits.len(), 1);
    assert_eq!(visits[0].fate, Fate::Unique);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The directory is copied at a random moment, as a crash would leave it, and opened: tables
    /// and journal agree, and every page is settled or waits.
    #[test]
    fn a_crash_at_any_moment_leaves_a_store_that_agrees_with_its_journal(
        pages in 5..40_usize, checkpoint_every in 1..15_usize, crash_at in 0..40_usize,
        postpone in 2..6_usize,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let crashed = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = Arc::new(open(directory.path()));
        let settled = runtime.block_on(async {
            let seeds = (0..pages).map(|page| link(&format!("http://h{page}.test/"), 0));
            store.discover(seeds.collect()).await.unwrap();
            let mut settled = 0;
            for (step, lease) in leases(&*store, 0, pages).await.into_iter().enumerate() {
                if step == crash_at {
                    break;
                }
                let settlement = if step % postpone == 0 {
                    again(at(step as u64))
                } else {
                    settled += 1;
                    Settlement::Done(FinishedVisit {
                        finds: vec![link(&format!("http://h{step}.test/more"), 1)],
                        reached: vec![url(&format!("http://h{step}.test/reached"))],
                        ..FinishedVisit::new(visit(&lease, Fate::Unique))
                    })
                };
                store.settle(lease, settlement, at(0).into()).await.unwrap();
                if step % checkpoint_every == 0 {
                    store.checkpoint(None).await.unwrap();
                }
            }
            settled
        });
        copy(directory.path(), crashed.path());
        let opened = open(crashed.path());
        prop_assert_eq!(opened.stats().totals.unique, settled as u64);
        let queued = opened.stats().queued;
        prop_assert_eq!(queued, pages as u64, "each settled page brought one more");
        drop(opened);
        agree(crashed.path());
    }
}

/// Tables of a crawl by time do not count the URLs of a host by priority.
#[tokio::test]
async fn a_crawl_that_goes_on_best_first_has_the_best_hosts_first_whatever_its_tables_count() {
    let directory = tempfile::tempdir().unwrap();
    let rules = |best_first| FrontierRules {
        best_first,
        ..FrontierRules::default()
    };
    let scored = |(host, score): &(&str, u8)| {
        link(&format!("http://{host}.test/{score}"), 1).with_link_score(*score)
    };
    for (best_first, found, expected) in [
        (
            false,
            vec![("a", 30), ("b", 20), ("c", 10)],
            "http://a.test/30",
        ),
        (true, vec![("a", 25)], "http://c.test/10"),
        (true, vec![("c", 31)], "http://b.test/20"),
        (false, vec![("b", 5)], "http://a.test/25"),
        (true, vec![("a", 9)], "http://b.test/5"),
    ] {
        let store = EmbeddedStore::open(directory.path(), &options(rules(best_first))).unwrap();
        let found = found.iter().map(scored).collect();
        store.discover(found).await.unwrap();
        let lease = leases(&store, 0, 1).await.remove(0);
        assert_eq!(lease.url().as_str(), expected);
        let settlement = done(&lease);
        store.settle(lease, settlement, at(0).into()).await.unwrap();
        store.flush().await.unwrap();
        store.close().await.unwrap();
        drop(store);
        agree(directory.path());
    }
}
