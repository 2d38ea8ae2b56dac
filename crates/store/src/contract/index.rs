//! Every sentence that [`NearDupIndex`] promises, held against every implementation.

use std::sync::Arc;

use neardup::{Features, HashKey, SignatureBuilder};

use super::{Subject, at, find, leases, options, row, subjects, subjects_with, url};
use crate::embedded::{EarlierCrawls, EmbeddedStore, StoreOptions};
use crate::frontier::{FinishedVisit, Frontier, FrontierRules, Settlement};
use crate::near_dup::{NearDupIndex, Original, Page, Verdict};
use crate::rules::{DuplicateScope, LikenessRules};
use crate::visit_record::{Fate, VisitRecord};

/// Stores with these rules of likeness.
pub(super) fn alike_by(likeness: LikenessRules) -> Vec<Subject> {
    subjects_with(&StoreOptions {
        likeness,
        ..options(FrontierRules::default())
    })
}

pub(super) fn page(name: &str) -> Page {
    Page {
        url: url(name),
        final_url: url(name),
        at: at(7),
    }
}

pub(super) fn signature(payload: u128, text: &str) -> neardup::PageSignature {
    SignatureBuilder::new(Features::default(), HashKey::ZERO)
        .signature(payload, Some(neardup::PageText::of(text)))
}

pub(super) fn prose(topic: &str) -> String {
    (0..120)
        .map(|word| format!("{topic}{} ", word * 7 % 113))
        .collect()
}

#[tokio::test]
async fn a_page_is_never_its_own_duplicate() {
    for subject in subjects(FrontierRules::default()) {
        let index = &*subject.index;
        let first = signature(1, &prose("tea"));
        assert_eq!(admitted(index, "http://a.test/", &first).await, "unique");
        for look in [first, signature(1, &prose("coffee")), nearly(1)] {
            let again = admitted(index, "http://a.test/", &look).await;
            assert_eq!(again, "own", "{}", subject.name);
        }
    }
}

/// A visit that did not end had dropped others for the sake of a text that was never archived.
#[tokio::test]
async fn a_page_that_looks_different_now_is_forgotten_and_judged_anew() {
    for subject in subjects(FrontierRules::default()) {
        let index = &*subject.index;
        let (tea, coffee) = (signature(1, &prose("tea")), signature(2, &prose("coffee")));
        let name = subject.name;
        assert_eq!(admitted(index, "http://a.test/", &tea).await, "unique");
        assert_eq!(
            admitted(index, "http://a.test/", &coffee).await,
            "unique",
            "{name}"
        );
        assert_eq!(
            admitted(index, "http://a.test/", &coffee).await,
            "own",
            "{name}"
        );
        let repeated = admitted(index, "http://b.test/", &coffee).await;
        assert_eq!(repeated, "duplicate of http://a.test/", "{name}");
        assert_eq!(
            admitted(index, "http://c.test/", &tea).await,
            "unique",
            "{name}"
        );
        let turned = admitted(index, "http://a.test/", &tea).await;
        assert_eq!(turned, "duplicate of http://c.test/", "{name}");
        assert_eq!(
            admitted(index, "http://b.test/", &coffee).await,
            "unique",
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_duplicate_points_at_the_original_and_a_forgotten_original_at_nothing() {
    for subject in subjects(FrontierRules::default()) {
        let text = prose("tea");
        subject
            .index
            .admit(&page("http://a.test/"), &signature(1, &text), None)
            .await
            .unwrap();
        for name in ["http://b.test/", "http://c.test/"] {
            let verdict = subject
                .index
                .admit(&page(name), &signature(2, &text), None)
                .await
                .unwrap();
            let Verdict::Duplicate(original) = verdict else {
                panic!("{}: {name} is {verdict:?}", subject.name)
            };
            assert_eq!(original.page, page("http://a.test/"), "{}", subject.name);
        }
        subject
            .index
            .forget(url("http://a.test/").key())
            .await
            .unwrap();
        let verdict = subject
            .index
            .admit(&page("http://b.test/"), &signature(2, &text), None)
            .await
            .unwrap();
        assert_eq!(verdict, Verdict::Unique, "{}", subject.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_like_pages_admitted_at_once_exactly_one_is_unique() {
    for subject in subjects(FrontierRules::default()) {
        let mut tasks = tokio::task::JoinSet::new();
        for worker in 0..16_u32 {
            for topic in 0..20_u32 {
                let index = Arc::clone(&subject.index);
                let name = format!("http://h{worker}.test/{topic}");
                let look = signature(
                    u128::from(worker * 100 + topic),
                    &prose(&format!("topic{topic}x")),
                );
                tasks.spawn(async move { index.admit(&page(&name), &look, None).await.unwrap() });
            }
        }
        let verdicts = tasks.join_all().await;
        let unique = verdicts
            .iter()
            .filter(|verdict| **verdict == Verdict::Unique)
            .count();
        assert_eq!(unique, 20, "{}", subject.name);
    }
}

/// The index's answer in a word: what it was, and of which page.
async fn admitted(index: &dyn NearDupIndex, name: &str, look: &neardup::PageSignature) -> String {
    verdict_in_words(index.admit(&page(name), look, None).await.unwrap())
}

pub(super) fn verdict_in_words(verdict: Verdict) -> String {
    let of = |original: &Original| {
        let how = if original.by_canonical {
            " by canonical"
        } else {
            ""
        };
        format!("{}{how}", original.page.url)
    };
    match verdict {
        Verdict::Unique => "unique".to_owned(),
        Verdict::Own => "own".to_owned(),
        Verdict::Duplicate(original) => format!("duplicate of {}", of(&original)),
        Verdict::Retained(original, retained) => {
            format!("{} of {} of {}", retained.rank, retained.of, of(&original))
        }
        Verdict::Changed(capture) => {
            let resemblance = capture.resemblance.map(|share| format!(", {share:.2}"));
            format!(
                "changed from {}{}",
                capture.page.url,
                resemblance.unwrap_or_default()
            )
        }
    }
}

pub(super) fn kept(per_cluster: u32) -> LikenessRules {
    LikenessRules {
        per_cluster: per_cluster.try_into().unwrap(),
        ..LikenessRules::default()
    }
}

/// The text about tea with so many words cut off: near the whole, and other bytes.
fn nearly(cut: usize) -> neardup::PageSignature {
    let text = prose("tea");
    let kept = text.split_inclusive(' ').skip(cut).collect::<String>();
    signature(1_000 + cut as u128, &kept)
}

#[tokio::test]
async fn pages_are_compared_within_the_crawl_the_domain_or_the_host() {
    let names = [
        ("http://a.one.test/", "unique"),
        ("http://a.one.test:8080/other", "a.one.test"),
        ("http://b.one.test/", "a.one.test"),
        ("http://two.test/", "a.one.test"),
    ];
    for (scope, apart) in [
        (DuplicateScope::Crawl, 0),
        (DuplicateScope::Domain, 1),
        (DuplicateScope::Host, 2),
    ] {
        let rules = LikenessRules {
            scope,
            ..LikenessRules::default()
        };
        for subject in alike_by(rules) {
            for (kind, looks) in [("bytes", [0; 4]), ("text", [10, 11, 12, 13])] {
                for (place, (name, original)) in names.iter().enumerate() {
                    let url = format!("{name}{kind}");
                    let look = signature(u128::from(looks[place] as u8), &prose(kind));
                    let told = admitted(&*subject.index, &url, &look).await;
                    let unique = place == 0 || place >= names.len() - apart;
                    assert_eq!(
                        told == "unique",
                        unique,
                        "{} by {scope}: {url}: {told}",
                        subject.name
                    );
                    assert!(unique || told.contains(original), "{told}");
                }
            }
        }
    }
}

#[tokio::test]
async fn where_the_text_was_found_says_which_host_it_belongs_to() {
    let rules = LikenessRules {
        scope: DuplicateScope::Host,
        ..LikenessRules::default()
    };
    for subject in alike_by(rules) {
        let look = signature(1, &prose("tea"));
        let moved = Page {
            final_url: url("http://b.test/"),
            ..page("http://a.test/")
        };
        subject.index.admit(&moved, &look, None).await.unwrap();
        assert_eq!(
            admitted(&*subject.index, "http://a.test/2", &look).await,
            "unique"
        );
        let told = admitted(&*subject.index, "http://b.test/2", &look).await;
        assert_eq!(told, "duplicate of http://a.test/", "{}", subject.name);
    }
}

#[tokio::test]
async fn so_many_of_a_kind_are_retained_and_keep_their_ranks() {
    for subject in alike_by(kept(3)) {
        let index = &*subject.index;
        let whole = signature(1, &prose("tea"));
        assert_eq!(admitted(index, "http://a.test/", &whole).await, "unique");
        for round in 0..2 {
            let near = admitted(index, "http://a.test/near", &nearly(1)).await;
            assert_eq!(near, "2 of 3 of http://a.test/", "{} {round}", subject.name);
            let same_text = signature(2, &prose("tea").to_uppercase());
            let same_text = admitted(index, "http://a.test/same", &same_text).await;
            assert_eq!(
                same_text, "3 of 3 of http://a.test/",
                "{} {round}",
                subject.name
            );
            let full = admitted(index, "http://a.test/late", &nearly(2)).await;
            assert_eq!(
                full, "duplicate of http://a.test/",
                "{} {round}",
                subject.name
            );
        }
        let changed = admitted(index, "http://a.test/near", &signature(9, &prose("coffee"))).await;
        assert_eq!(
            changed, "2 of 3 of http://a.test/",
            "whatever it looks like now"
        );
        let other = admitted(
            index,
            "http://a.test/coffee",
            &signature(9, &prose("coffee")),
        )
        .await;
        assert_eq!(other, "unique", "who is retained is not compared with");
    }
}

#[tokio::test]
async fn the_same_bytes_again_take_no_seat_and_name_who_has_them() {
    for subject in alike_by(kept(2)) {
        let index = &*subject.index;
        let whole = signature(1, &prose("tea"));
        admitted(index, "http://a.test/", &whole).await;
        let copy = admitted(index, "http://a.test/copy", &whole).await;
        assert_eq!(copy, "duplicate of http://a.test/", "{}", subject.name);
        admitted(index, "http://a.test/near", &nearly(1)).await;
        let verdict = index
            .admit(&page("http://a.test/third"), &nearly(1), None)
            .await
            .unwrap();
        let Verdict::Duplicate(original) = verdict else {
            panic!("{}: {verdict:?}", subject.name)
        };
        assert_eq!(
            original.page,
            page("http://a.test/"),
            "never of another duplicate"
        );
        assert_eq!(
            original.bytes,
            Some(page("http://a.test/near")),
            "{}",
            subject.name
        );
    }
}

#[tokio::test]
async fn a_seat_that_is_given_back_is_given_again() {
    for subject in alike_by(kept(3)) {
        let index = &*subject.index;
        admitted(index, "http://a.test/", &signature(1, &prose("tea"))).await;
        admitted(index, "http://a.test/1", &nearly(1)).await;
        admitted(index, "http://a.test/2", &nearly(2)).await;
        index.forget(url("http://a.test/1").key()).await.unwrap();
        let again = admitted(index, "http://a.test/3", &nearly(3)).await;
        assert_eq!(again, "2 of 3 of http://a.test/", "{}", subject.name);
        let bytes = admitted(index, "http://a.test/4", &nearly(1)).await;
        assert_eq!(bytes, "duplicate of http://a.test/", "{}", subject.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_like_pages_at_once_exactly_so_many_are_kept() {
    for subject in alike_by(kept(5)) {
        let mut tasks = tokio::task::JoinSet::new();
        for worker in 0..40_usize {
            let index = Arc::clone(&subject.index);
            tasks.spawn(async move {
                let name = format!("http://h{worker}.test/");
                index
                    .admit(&page(&name), &nearly(worker % 8), None)
                    .await
                    .unwrap()
            });
        }
        let verdicts = tasks.join_all().await;
        let mut ranks: Vec<u32> = verdicts
            .iter()
            .filter_map(|verdict| match verdict {
                Verdict::Retained(_, retained) => Some(retained.rank),
                _ => None,
            })
            .collect();
        ranks.sort_unstable();
        assert_eq!(ranks, [2, 3, 4, 5], "{}", subject.name);
        let unique = verdicts
            .iter()
            .filter(|verdict| **verdict == Verdict::Unique);
        assert_eq!(unique.count(), 1, "{}", subject.name);
    }
}

/// A store in which these pages were admitted and visited; then the memory of an earlier crawl.
pub(super) async fn crawled_before(
    pages: &[(&str, neardup::PageSignature)],
    per_cluster: u32,
) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        likeness: kept(per_cluster),
        new_key: HashKey::new(7),
        ..options(FrontierRules::default())
    };
    let store = EmbeddedStore::open(directory.path(), &options).unwrap();
    for (name, look) in pages {
        store.discover(vec![find(name, 0)]).await.unwrap();
        let lease = leases(&store, 0, 1).await.remove(0);
        let verdict = store.admit(&page(name), look, None).await.unwrap();
        let fate = match verdict {
            Verdict::Unique | Verdict::Own => Fate::Unique,
            Verdict::Changed(_) => Fate::Changed,
            _ => Fate::NearDuplicate,
        };
        let row = VisitRecord {
            kept: !matches!(verdict, Verdict::Duplicate(_)),
            fetched_at: at(7),
            ..row(&lease, fate)
        };
        let settlement = Settlement::Done(FinishedVisit::new(row));
        store.settle(lease, settlement, at(0).into()).await.unwrap();
    }
    directory
}

/// Stores that begin after the crawls in these directories.
pub(super) fn after(directories: &[&tempfile::TempDir], likeness: LikenessRules) -> Vec<Subject> {
    let paths: Vec<_> = directories
        .iter()
        .map(|directory| directory.path().to_owned())
        .collect();
    let options = options(FrontierRules::default());
    let earlier = EarlierCrawls::load(&paths, &options.features, likeness).unwrap();
    subjects_with(&StoreOptions {
        likeness,
        earlier: earlier.map(Arc::new),
        ..options
    })
}

#[tokio::test]
async fn kept_pages_of_an_earlier_crawl_count_as_admitted() {
    let pages = [
        ("http://a.test/", signature(1, &prose("tea"))),
        ("http://a.test/left-out", nearly(1)),
    ];
    let before = crawled_before(&pages, 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let index = &*subject.index;
        for (name, look) in [
            ("http://b.test/bytes", signature(1, "")),
            ("http://b.test/near", nearly(2)),
        ] {
            let verdict = index.admit(&page(name), &look, None).await.unwrap();
            let Verdict::Duplicate(original) = verdict else {
                panic!("{}: {name} is {verdict:?}", subject.name)
            };
            assert_eq!(original.page, page("http://a.test/"), "{}", subject.name);
            assert!(original.earlier, "{}", subject.name);
        }
        let new = signature(5, &prose("coffee"));
        assert_eq!(admitted(index, "http://a.test/new", &new).await, "unique");
        assert_eq!(
            admitted(index, "http://b.test/new", &new).await,
            "duplicate of http://a.test/new"
        );
    }
}

#[tokio::test]
async fn other_bytes_than_an_earlier_crawl_archived_are_a_new_version_whatever_else_they_are_like()
{
    let pages = [
        ("http://a.test/tea", signature(1, &prose("tea"))),
        ("http://a.test/cake", signature(2, &prose("cake"))),
        ("http://a.test/picture", signature(3, "")),
    ];
    let before = crawled_before(&pages, 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let (index, name) = (&*subject.index, subject.name);
        let bytes_of_cake = neardup::PageSignature {
            payload: 2,
            ..nearly(20)
        };
        for (path, look, expected) in [
            // A correction in one place: nearly what it was. It was thrown away as a near-duplicate
            // of itself.
            ("tea", nearly(20), "changed from http://a.test/tea, 0."),
            // The text is the same, and the markup another.
            (
                "tea",
                signature(9, &prose("tea")),
                "changed from http://a.test/tea, 1.00",
            ),
            // It has the bytes of another page now.
            ("tea", bytes_of_cake, "changed from http://a.test/tea, 0."),
            // It became a near-duplicate of another page.
            ("cake", nearly(2), "changed from http://a.test/cake, 0.00"),
            (
                "picture",
                signature(4, ""),
                "changed from http://a.test/picture",
            ),
        ] {
            let url = format!("http://a.test/{path}");
            for _again in 0..2 {
                let told = admitted(index, &url, &look).await;
                assert!(
                    told.starts_with(expected),
                    "{name}: {told} is not {expected}"
                );
            }
        }
        // It went back to what it was, before any of these visits ended.
        let unchanged = admitted(index, "http://a.test/tea", &signature(1, &prose("tea"))).await;
        assert_eq!(unchanged, "duplicate of http://a.test/tea", "{name}");
    }
}

#[tokio::test]
async fn a_new_version_is_an_original_of_this_crawl() {
    let before = crawled_before(&[("http://a.test/", signature(1, &prose("tea")))], 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let (index, name) = (&*subject.index, subject.name);
        let rewritten = signature(2, &prose("coffee"));
        let told = admitted(index, "http://a.test/", &rewritten).await;
        assert_eq!(told, "changed from http://a.test/, 0.00", "{name}");
        let copy = admitted(index, "http://b.test/", &rewritten).await;
        assert_eq!(copy, "duplicate of http://a.test/", "{name}");
        let old_text = admitted(index, "http://c.test/", &nearly(1)).await;
        assert_eq!(
            old_text, "duplicate of http://a.test/",
            "{name}: the earlier crawl has it"
        );
        index.forget(url("http://a.test/").key()).await.unwrap();
        assert_eq!(
            admitted(index, "http://d.test/", &rewritten).await,
            "unique",
            "{name}"
        );
    }
}

#[tokio::test]
async fn ranks_that_an_earlier_crawl_gave_are_taken_and_who_has_one_repeats_itself() {
    let pages = [
        ("http://a.test/", signature(1, &prose("tea"))),
        ("http://a.test/1", nearly(1)),
    ];
    let before = crawled_before(&pages, 2).await;
    for subject in after(&[&before], kept(3)) {
        let index = &*subject.index;
        let itself = admitted(index, "http://a.test/1", &nearly(1)).await;
        assert_eq!(itself, "duplicate of http://a.test/1", "{}", subject.name);
        let copy = index
            .admit(&page("http://a.test/copy"), &nearly(1), None)
            .await
            .unwrap();
        let Verdict::Duplicate(original) = copy else {
            panic!("{copy:?}")
        };
        assert_eq!(
            original.bytes,
            Some(page("http://a.test/1")),
            "{}",
            subject.name
        );
        let third = admitted(index, "http://a.test/2", &nearly(2)).await;
        assert_eq!(third, "3 of 3 of http://a.test/", "{}", subject.name);
        let full = admitted(index, "http://a.test/3", &nearly(3)).await;
        assert_eq!(full, "duplicate of http://a.test/", "{}", subject.name);
    }
}

#[tokio::test]
async fn of_several_earlier_crawls_each_counts() {
    let monday = crawled_before(&[("http://a.test/", signature(1, &prose("tea")))], 1).await;
    let tuesday = crawled_before(&[("http://a.test/", signature(2, &prose("coffee")))], 1).await;
    for subject in after(&[&monday, &tuesday], LikenessRules::default()) {
        for (payload, topic, expected) in [
            // The newest capture counts, and the bytes of any.
            (3, "tea", "changed from http://a.test/, 0.00"),
            (3, "coffee", "changed from http://a.test/, 1.00"),
            (1, "tea", "duplicate of http://a.test/"),
            (2, "coffee", "duplicate of http://a.test/"),
        ] {
            let look = signature(payload, &prose(topic));
            let told = admitted(&*subject.index, "http://a.test/", &look).await;
            assert_eq!(told, expected, "{}: {topic}", subject.name);
        }
    }
}
