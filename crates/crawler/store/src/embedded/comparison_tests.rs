//! Signatures survive the end of a process, and those of an earlier crawl are taken over.

use std::path::Path;
use std::sync::Arc;

use journal::{Page, StoreFault};
use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};

use super::{EarlierCrawls, EmbeddedStore, StoreOptions, audit};
use crate::fixtures::{at, options, url};
use crate::frontier::FrontierRules;
use crate::near_dup::{NearDupIndex, Verdict};
use crate::rules::{ComparisonOptions, DuplicateScope};

/// Returns the signature of nearly the same text in other bytes each time.
fn like(payload: u8) -> PageSignature {
    let text: String = (0..100).map(|word| format!("word{word} ")).collect();
    let text = format!("{text} {payload}");
    SignatureBuilder::new(Features::default(), HashKey::ZERO)
        .signature(u128::from(payload), Some(PageText::of(&text)))
}

fn page_of(name: &str) -> Page {
    Page {
        url: url(name),
        final_url: url(name),
        at: at(3),
    }
}

#[tokio::test]
async fn ranks_are_counted_over_all_processes_and_over_rebuilt_tables() {
    let three = |directory: &Path| {
        let options = StoreOptions {
            comparison: ComparisonOptions {
                per_cluster: 3.try_into().unwrap(),
                ..ComparisonOptions::default()
            },
            ..options(FrontierRules::default())
        };
        EmbeddedStore::open(directory, &options).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let mut verdicts = Vec::new();
    // Two processes admit each page: the first is killed before the page is settled.
    for (round, name) in ["a", "b", "b", "c", "c", "d", "a"].into_iter().enumerate() {
        let store = three(directory.path());
        let signature = like(name.as_bytes()[0]);
        let verdict = store
            .admit(&page_of(&format!("http://{name}.test/")), &signature, None)
            .await
            .unwrap();
        verdicts.push(match verdict {
            Verdict::Unique => "unique".to_owned(),
            Verdict::Own => "own".to_owned(),
            Verdict::Duplicate(original) => format!("of {}", original.page.url),
            Verdict::Retained(original, retained) => {
                format!("{} of {}", retained.rank, original.page.url)
            }
            Verdict::Changed(capture) => format!("changed from {}", capture.page.url),
        });
        drop(store);
        if round % 2 == 1 {
            std::fs::remove_dir_all(directory.path().join("sled")).unwrap();
        }
    }
    let of_a = ["2 of http://a.test/", "3 of http://a.test/"];
    assert_eq!(
        verdicts,
        [
            "unique",
            of_a[0],
            of_a[0],
            of_a[1],
            of_a[1],
            "of http://a.test/",
            "own"
        ]
    );
    let findings = audit(directory.path()).unwrap().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

#[tokio::test]
async fn a_crawl_that_continues_under_another_scope_is_compared_under_that_one() {
    let under = |directory: &Path, scope| {
        let options = StoreOptions {
            comparison: ComparisonOptions {
                scope,
                ..ComparisonOptions::default()
            },
            ..options(FrontierRules::default())
        };
        EmbeddedStore::open(directory, &options).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    for (scope, name, unique) in [
        (DuplicateScope::Host, "http://a.test/", true),
        (DuplicateScope::Host, "http://b.test/", true),
        (DuplicateScope::Crawl, "http://c.test/", false),
        (DuplicateScope::Host, "http://d.test/", true),
    ] {
        let store = under(directory.path(), scope);
        let verdict = store.admit(&page_of(name), &like(1), None).await.unwrap();
        assert_eq!(verdict == Verdict::Unique, unique, "{name}: {verdict:?}");
        drop(store);
    }
}

#[test]
fn a_crawl_keeps_the_key_that_it_began_with() {
    let directory = tempfile::tempdir().unwrap();
    let with = |key: Option<u64>| {
        let options = StoreOptions {
            key: key.map(HashKey::new),
            new_key: HashKey::new(99),
            ..options(FrontierRules::default())
        };
        EmbeddedStore::open(directory.path(), &options).map(|store| store.key().as_u64())
    };
    assert_eq!(with(Some(5)).unwrap(), 5);
    assert_eq!(with(None).unwrap(), 5);
    let refused = with(Some(6)).unwrap_err();
    assert!(matches!(refused, StoreFault::Key), "{refused}");
    assert_eq!(with(Some(5)).unwrap(), 5);
}

#[test]
fn incomparable_crawls_do_not_count_as_seen() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (directory, key) in [(&one, 1), (&two, 2)] {
        let begun = StoreOptions {
            key: Some(HashKey::new(key)),
            ..options(FrontierRules::default())
        };
        drop(EmbeddedStore::open(directory.path(), &begun).unwrap());
    }
    let load = |directories: &[&tempfile::TempDir], features: &str| {
        let paths: Vec<_> = directories
            .iter()
            .map(|one| one.path().to_owned())
            .collect();
        EarlierCrawls::load(&paths, features, ComparisonOptions::default())
    };
    let features = Features::default().to_string();
    let earlier = load(&[&one], &features).unwrap().map(Arc::new);
    assert!(load(&[], &features).unwrap().is_none());
    for (refused, words) in [
        (load(&[&one, &two], &features).unwrap_err(), "--hash-key"),
        (load(&[&one], "char:5").unwrap_err(), "char:5"),
    ] {
        assert!(
            matches!(refused, StoreFault::Incomparable { .. }),
            "{refused}"
        );
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let third = tempfile::tempdir().unwrap();
    let asking = |key| StoreOptions {
        key,
        earlier: earlier.clone(),
        ..options(FrontierRules::default())
    };
    let refused = EmbeddedStore::open(third.path(), &asking(Some(HashKey::new(3)))).err();
    assert!(matches!(refused, Some(StoreFault::Incomparable { .. })));
    let refused = EmbeddedStore::open(two.path(), &asking(None)).err();
    assert!(matches!(refused, Some(StoreFault::Incomparable { .. })));
    let begun = EmbeddedStore::open(third.path(), &asking(None)).unwrap();
    assert_eq!(begun.key(), HashKey::new(1), "it takes the earlier crawl's");
}

#[test]
fn a_running_crawl_does_not_count_as_seen_and_one_without_a_lock_file_does() {
    let directory = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(directory.path(), &options(FrontierRules::default())).unwrap();
    let paths = [directory.path().to_owned()];
    let features = Features::default().to_string();
    let load = || EarlierCrawls::load(&paths, &features, ComparisonOptions::default());
    assert!(matches!(load(), Err(StoreFault::InUse { .. })));
    drop(store);
    assert!(load().unwrap().unwrap().is_empty());
    std::fs::remove_file(directory.path().join("lock")).unwrap();
    assert!(load().unwrap().is_some());
    assert!(
        !directory.path().join("lock").exists(),
        "nothing is written there"
    );
}
