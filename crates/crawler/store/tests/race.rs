//! Concurrent admissions of near-duplicates, on a disk.

#![expect(clippy::unwrap_used, reason = "what the test unwraps is part of it")]

use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::Page;
use neardup::{Features, HashKey, MatchKind, PageSignature, PageText, SignatureBuilder};
use store::{ComparisonOptions, EmbeddedStore, FrontierRules, NearDupIndex, StoreOptions, Verdict};
use testkit::Random;
use tokio::task::JoinSet;
use web::{CanonicalForm, PageUrl, Timestamp};

const PAIRS: usize = 24_000;
const WORKERS: usize = 16;
/// Words of a page; two siblings differ in the last one.
const WORDS: usize = 60;

fn options() -> StoreOptions {
    StoreOptions {
        rules: FrontierRules::default(),
        comparison: ComparisonOptions::default(),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: Timestamp::from_millis(1),
        disk: Arc::new(SystemDisk),
    }
}

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, &options()).unwrap()
}

/// Returns either page of a pair. Siblings are on two hosts.
fn page(pair: usize, sibling: usize) -> Page {
    let text = format!("http://h{sibling}.test/{pair}");
    let url = PageUrl::parse(&text, &CanonicalForm::default()).unwrap();
    Page {
        final_url: url.clone(),
        url,
        at: Timestamp::from_millis(7),
    }
}

/// Returns the signature of that page.
fn signature(signature_builder: &SignatureBuilder, pair: usize, sibling: usize) -> PageSignature {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "we",
    ];
    let mut random = Random::of(7, pair as u64);
    let mut text = String::new();
    for _ in 1..WORDS {
        let word = random.next();
        for place in [0, 4, 8, 12] {
            text.push_str(SYLLABLES[(word >> place & 15) as usize]);
        }
        text.push(' ');
    }
    text.push_str(["first", "second"][sibling]);
    let payload = (2 * pair + sibling) as u128;
    signature_builder.signature(payload, Some(PageText::of(&text)))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 16)]
async fn of_24_000_pairs_raced_by_16_workers_exactly_one_of_each_is_admitted() {
    let directory = tempfile::tempdir().unwrap();
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let store = Arc::new(open(directory.path()));
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let (store, signature_builder) = (Arc::clone(&store), signature_builder.clone());
        workers.spawn(async move {
            let mut verdicts = Vec::new();
            // Siblings follow each other, so two workers reach them at the same time.
            for number in (worker..2 * PAIRS).step_by(WORKERS) {
                let (pair, sibling) = (number / 2, number % 2);
                let signature = signature(&signature_builder, pair, sibling);
                let verdict = store
                    .admit(&page(pair, sibling), &signature, None)
                    .await
                    .unwrap();
                verdicts.push((pair, sibling, verdict));
            }
            verdicts
        });
    }
    let mut unique = vec![None; PAIRS];
    let mut repeated = vec![None; PAIRS];
    for (pair, sibling, verdict) in workers.join_all().await.into_iter().flatten() {
        match verdict {
            Verdict::Unique => {
                assert_eq!(unique[pair], None, "both of pair {pair} were admitted");
                unique[pair] = Some(sibling);
            }
            Verdict::Duplicate(original) => {
                assert!(
                    matches!(original.match_kind, MatchKind::Near { .. }),
                    "{original:?}"
                );
                assert_eq!(original.page, page(pair, 1 - sibling));
                repeated[pair] = Some(sibling);
            }
            other => panic!("{other:?} of {:?}", page(pair, sibling)),
        }
    }
    for pair in 0..PAIRS {
        assert!(
            unique[pair].is_some() && repeated[pair].is_some(),
            "pair {pair}"
        );
    }
    // The scheduler decides which of the two it is.

    // The next opening gives the same answer.
    drop(store);
    let store = open(directory.path());
    for pair in (0..PAIRS).step_by(97) {
        let first = unique[pair].unwrap();
        let again = store
            .admit(
                &page(pair, first),
                &signature(&signature_builder, pair, first),
                None,
            )
            .await;
        assert_eq!(again.unwrap(), Verdict::Own);
        let second = 1 - first;
        let again = store
            .admit(
                &page(pair, second),
                &signature(&signature_builder, pair, second),
                None,
            )
            .await;
        let Verdict::Duplicate(original) = again.unwrap() else {
            panic!("pair {pair} was forgotten");
        };
        assert_eq!(original.page, page(pair, first));
    }
}
