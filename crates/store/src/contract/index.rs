//! Every sentence that [`NearDupIndex`] promises, held against every implementation.

use std::sync::Arc;

use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};
use tokio::task::JoinSet;

use super::{Subject, at, lease, options, row, seed, settle, subjects, subjects_with, url};
use crate::embedded::{EarlierCrawls, EmbeddedStore, StoreOptions};
use crate::frontier::{FinishedVisit, FrontierRules, Settlement};
use crate::near_dup::{NearDupIndex, Original, Page, Verdict};
use crate::rules::{DuplicateScope, LikenessRules};
use crate::visit_record::{Fate, VisitRecord};

/// Returns stores with these rules of likeness.
pub(super) fn alike_by(likeness: LikenessRules) -> Vec<Subject> {
    subjects_with(&StoreOptions {
        likeness,
        ..options(FrontierRules::default())
    })
}

fn page(name: &str) -> Page {
    Page {
        url: url(name),
        final_url: url(name),
        at: at(7),
    }
}

pub(super) fn signature(payload: u128, text: &str) -> PageSignature {
    SignatureBuilder::new(Features::default(), HashKey::ZERO)
        .signature(payload, Some(PageText::of(text)))
}

pub(super) fn prose(topic: &str) -> String {
    (0..120)
        .map(|word| format!("{topic}{} ", word * 7 % 113))
        .collect()
}

pub(super) fn about(topic: &str, payload: u128) -> PageSignature {
    signature(payload, &prose(topic))
}

/// Returns the text about tea without its first words: near the whole, with other bytes.
fn nearly(cut: usize) -> PageSignature {
    let text = prose("tea");
    let kept = text.split_inclusive(' ').skip(cut).collect::<String>();
    signature(1_000 + cut as u128, &kept)
}

/// Admits a page and returns its verdict in words.
pub(super) async fn admitted(
    index: &dyn NearDupIndex,
    url: &str,
    signature: &PageSignature,
) -> String {
    in_words(index.admit(&page(url), signature, None).await.unwrap())
}

/// Admits a page that names a canonical page, and returns its verdict in words.
pub(super) async fn claiming(
    index: &dyn NearDupIndex,
    name: &str,
    signature: &PageSignature,
    canonical: &str,
) -> String {
    let (page, canonical) = (page(name), url(canonical));
    let verdict = index.admit(&page, signature, Some(&canonical)).await;
    in_words(verdict.unwrap())
}

fn in_words(verdict: Verdict) -> String {
    let of = |original: &Original| match original.by_canonical {
        true => format!("{} by canonical", original.page.url),
        false => original.page.url.to_string(),
    };
    match verdict {
        Verdict::Unique => "unique".to_owned(),
        Verdict::Own => "own".to_owned(),
        Verdict::Duplicate(original) => format!("duplicate of {}", of(&original)),
        Verdict::Retained(original, retained) => {
            format!("{} of {} of {}", retained.rank, retained.of, of(&original))
        }
        Verdict::Changed(capture) => match capture.resemblance {
            Some(share) => format!("changed from {}, {share:.2}", capture.page.url),
            None => format!("changed from {}", capture.page.url),
        },
    }
}

/// Admits these pages one after another, and checks their verdicts.
async fn check(subject: &Subject, pages: &[(&str, &PageSignature, &str)]) {
    for (number, (url, signature, expected)) in pages.iter().enumerate() {
        let verdict = admitted(&*subject.index, url, signature).await;
        assert_eq!(verdict, *expected, "{}: {url} ({number})", subject.name);
    }
}

/// Admits a page that is a duplicate, and returns its original.
async fn original_of(subject: &Subject, url: &str, signature: &PageSignature) -> Original {
    let verdict = subject.index.admit(&page(url), signature, None).await;
    match verdict.unwrap() {
        Verdict::Duplicate(original) => *original,
        other => panic!("{}: {url} is {other:?}", subject.name),
    }
}

#[tokio::test]
async fn a_page_is_never_its_own_duplicate() {
    let (tea, coffee) = (about("tea", 1), about("coffee", 1));
    for subject in subjects(FrontierRules::default()) {
        let pages = [
            ("http://a.test/", &tea, "unique"),
            ("http://a.test/", &tea, "own"),
            ("http://a.test/", &coffee, "own"),
            ("http://a.test/", &nearly(1), "own"),
        ];
        check(&subject, &pages).await;
    }
}

/// A visit that did not end had dropped other pages because of a text that was never archived.
#[tokio::test]
async fn a_page_whose_text_has_changed_is_forgotten_and_judged_anew() {
    let (tea, coffee) = (about("tea", 1), about("coffee", 2));
    for subject in subjects(FrontierRules::default()) {
        let pages = [
            ("http://a.test/", &tea, "unique"),
            ("http://a.test/", &coffee, "unique"),
            ("http://a.test/", &coffee, "own"),
            ("http://b.test/", &coffee, "duplicate of http://a.test/"),
            ("http://c.test/", &tea, "unique"),
            ("http://a.test/", &tea, "duplicate of http://c.test/"),
            ("http://b.test/", &coffee, "unique"),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test]
async fn a_duplicate_points_at_the_original_and_a_forgotten_original_has_none() {
    let (first, again) = (about("tea", 1), about("tea", 2));
    for subject in subjects(FrontierRules::default()) {
        check(&subject, &[("http://a.test/", &first, "unique")]).await;
        for name in ["http://b.test/", "http://c.test/"] {
            let original = original_of(&subject, name, &again).await;
            assert_eq!(original.page, page("http://a.test/"), "{}", subject.name);
        }
        let key = url("http://a.test/").key();
        subject.index.forget(key).await.unwrap();
        check(&subject, &[("http://b.test/", &again, "unique")]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_like_pages_admitted_at_once_exactly_one_is_unique() {
    for subject in subjects(FrontierRules::default()) {
        let mut tasks = JoinSet::new();
        for worker in 0..16_u32 {
            for topic in 0..20_u32 {
                let index = Arc::clone(&subject.index);
                let name = format!("http://h{worker}.test/{topic}");
                let payload = u128::from(worker * 100 + topic);
                let signature = about(&format!("topic{topic}x"), payload);
                tasks.spawn(async move { admitted(&*index, &name, &signature).await });
            }
        }
        let verdicts = tasks.join_all().await;
        let unique = verdicts.iter().filter(|verdict| *verdict == "unique");
        assert_eq!(unique.count(), 20, "{}", subject.name);
    }
}

pub(super) fn kept(per_cluster: u32) -> LikenessRules {
    LikenessRules {
        per_cluster: per_cluster.try_into().unwrap(),
        ..LikenessRules::default()
    }
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
            for (kind, payloads) in [("bytes", [0; 4]), ("text", [10, 11, 12, 13])] {
                for (place, (name, original)) in names.iter().enumerate() {
                    let url = format!("{name}{kind}");
                    let signature = about(kind, payloads[place]);
                    let verdict = admitted(&*subject.index, &url, &signature).await;
                    let is_unique = place == 0 || place >= names.len() - apart;
                    let context = format!("{} by {scope}: {url}: {verdict}", subject.name);
                    assert_eq!(verdict == "unique", is_unique, "{context}");
                    assert!(is_unique || verdict.contains(original), "{context}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_page_belongs_to_the_host_of_its_final_url() {
    let rules = LikenessRules {
        scope: DuplicateScope::Host,
        ..LikenessRules::default()
    };
    let tea = about("tea", 1);
    for subject in alike_by(rules) {
        let moved = Page {
            final_url: url("http://b.test/"),
            ..page("http://a.test/")
        };
        subject.index.admit(&moved, &tea, None).await.unwrap();
        let pages = [
            ("http://a.test/2", &tea, "unique"),
            ("http://b.test/2", &tea, "duplicate of http://a.test/"),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test]
async fn the_first_duplicates_of_a_cluster_are_retained_and_keep_their_ranks() {
    let same_text = signature(2, &prose("tea").to_uppercase());
    let (tea, coffee) = (about("tea", 1), about("coffee", 9));
    for subject in alike_by(kept(3)) {
        let pages = [
            ("http://a.test/near", &nearly(1), "2 of 3 of http://a.test/"),
            ("http://a.test/same", &same_text, "3 of 3 of http://a.test/"),
            (
                "http://a.test/late",
                &nearly(2),
                "duplicate of http://a.test/",
            ),
        ];
        check(&subject, &[("http://a.test/", &tea, "unique")]).await;
        check(&subject, &pages).await;
        check(&subject, &pages).await;
        let pages = [
            // Whatever its text is now.
            ("http://a.test/near", &coffee, "2 of 3 of http://a.test/"),
            // Nothing is compared with retained duplicates.
            ("http://a.test/coffee", &coffee, "unique"),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test]
async fn the_same_bytes_again_take_no_rank_and_name_the_kept_page_with_these_bytes() {
    let tea = about("tea", 1);
    for subject in alike_by(kept(2)) {
        let pages = [
            ("http://a.test/", &tea, "unique"),
            ("http://a.test/copy", &tea, "duplicate of http://a.test/"),
            ("http://a.test/near", &nearly(1), "2 of 2 of http://a.test/"),
        ];
        check(&subject, &pages).await;
        let original = original_of(&subject, "http://a.test/third", &nearly(1)).await;
        let (first, near) = (page("http://a.test/"), page("http://a.test/near"));
        assert_eq!(original.page, first, "{}: never a duplicate", subject.name);
        assert_eq!(original.bytes, Some(near), "{}", subject.name);
    }
}

#[tokio::test]
async fn a_rank_that_is_freed_is_given_again() {
    for subject in alike_by(kept(3)) {
        let pages = [
            ("http://a.test/", &about("tea", 1), "unique"),
            ("http://a.test/1", &nearly(1), "2 of 3 of http://a.test/"),
            ("http://a.test/2", &nearly(2), "3 of 3 of http://a.test/"),
        ];
        check(&subject, &pages).await;
        let key = url("http://a.test/1").key();
        subject.index.forget(key).await.unwrap();
        let pages = [
            ("http://a.test/3", &nearly(3), "2 of 3 of http://a.test/"),
            ("http://a.test/4", &nearly(1), "duplicate of http://a.test/"),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_like_pages_at_once_no_more_than_the_limit_are_kept() {
    for subject in alike_by(kept(5)) {
        let mut tasks = JoinSet::new();
        for worker in 0..40_usize {
            let index = Arc::clone(&subject.index);
            let page = page(&format!("http://h{worker}.test/"));
            tasks
                .spawn(async move { index.admit(&page, &nearly(worker % 8), None).await.unwrap() });
        }
        let verdicts = tasks.join_all().await;
        let ranks = verdicts.iter().filter_map(|verdict| match verdict {
            Verdict::Unique => Some(1),
            Verdict::Retained(_, retained) => Some(retained.rank),
            _ => None,
        });
        let mut ranks: Vec<u32> = ranks.collect();
        ranks.sort_unstable();
        assert_eq!(ranks, [1, 2, 3, 4, 5], "{}", subject.name);
    }
}

/// Admits and visits these pages in a store of its own, which becomes an earlier crawl.
pub(super) async fn crawled_before(
    pages: &[(&str, PageSignature)],
    per_cluster: u32,
) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        likeness: kept(per_cluster),
        new_key: HashKey::new(7),
        ..options(FrontierRules::default())
    };
    let store = EmbeddedStore::open(directory.path(), &options).unwrap();
    for (name, signature) in pages {
        seed(&store, [name]).await;
        let lease = lease(&store, 0).await;
        let verdict = store.admit(&page(name), signature, None).await.unwrap();
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
        settle(&store, lease, settlement, 0).await;
    }
    directory
}

/// Returns stores that begin after the crawls in these directories.
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
async fn separated_pages_are_never_duplicates_of_each_other() {
    let (tea, again, mate) = (about("tea", 1), about("tea", 2), about("mate", 3));
    for subject in subjects(FrontierRules::default()) {
        let (first, second) = ("http://a.test/", "http://b.test/");
        let pages = [
            (first, &tea, "unique"),
            (second, &again, "duplicate of http://a.test/"),
            ("http://c.test/", &mate, "unique"),
        ];
        check(&subject, &pages).await;
        for _twice in 0..2 {
            let separated = subject.index.separate(&url(second), &url(first)).await;
            separated.unwrap();
        }
        let verdict = claiming(&*subject.index, second, &nearly(1), first).await;
        assert_eq!(verdict, "unique", "{}", subject.name);
        let pages = [
            // Every other page is compared with both.
            ("http://d.test/", &nearly(1), "duplicate of http://b.test/"),
            ("http://e.test/", &tea, "duplicate of http://a.test/"),
        ];
        check(&subject, &pages).await;
        // The original was not archived after all: it is not compared with the page either.
        subject.index.forget(url(first).key()).await.unwrap();
        check(&subject, &[(first, &nearly(1), "unique")]).await;
        // A page may still repeat a third one.
        subject.index.forget(url(second).key()).await.unwrap();
        check(&subject, &[(second, &mate, "duplicate of http://c.test/")]).await;
    }
}

#[tokio::test]
async fn a_page_is_separated_from_an_original_of_an_earlier_crawl() {
    let before = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let (page, original) = (url("http://b.test/"), url("http://a.test/"));
        subject.index.separate(&page, &original).await.unwrap();
        check(&subject, &[("http://b.test/", &nearly(2), "unique")]).await;
        let verdict = admitted(&*subject.index, "http://c.test/", &about("tea", 9)).await;
        assert_eq!(verdict, "duplicate of http://a.test/", "{}", subject.name);
    }
}

#[tokio::test]
async fn kept_pages_of_an_earlier_crawl_count_as_admitted() {
    let pages = [
        ("http://a.test/", about("tea", 1)),
        ("http://a.test/left-out", nearly(1)),
    ];
    let before = crawled_before(&pages, 1).await;
    let coffee = about("coffee", 5);
    for subject in after(&[&before], LikenessRules::default()) {
        for (url, signature) in [
            ("http://b.test/bytes", signature(1, "")),
            ("http://b.test/near", nearly(2)),
        ] {
            let original = original_of(&subject, url, &signature).await;
            let found = (original.page, original.earlier);
            assert_eq!(found, (page("http://a.test/"), true), "{}", subject.name);
        }
        let pages = [
            ("http://a.test/new", &coffee, "unique"),
            (
                "http://b.test/new",
                &coffee,
                "duplicate of http://a.test/new",
            ),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test]
async fn other_bytes_than_an_earlier_crawl_archived_are_a_new_version_whatever_else_they_are_like()
{
    let (tea, cake) = ("http://a.test/tea", "http://a.test/cake");
    let picture = "http://a.test/picture";
    let pages = [
        (tea, about("tea", 1)),
        (cake, about("cake", 2)),
        (picture, signature(3, "")),
    ];
    let before = crawled_before(&pages, 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let bytes_of_cake = PageSignature {
            payload: 2,
            ..nearly(20)
        };
        for (url, signature, resemblance) in [
            // A correction in one place. Such a page was dropped as a near-duplicate of itself.
            (tea, nearly(20), ", 0."),
            // The same text with another markup.
            (tea, about("tea", 9), ", 1.00"),
            // It has the bytes of another page now.
            (tea, bytes_of_cake, ", 0."),
            // It became a near-duplicate of another page.
            (cake, nearly(2), ", 0.00"),
            (picture, signature(4, ""), ""),
        ] {
            let expected = format!("changed from {url}{resemblance}");
            for _again in 0..2 {
                let verdict = admitted(&*subject.index, url, &signature).await;
                let is_expected = verdict.starts_with(&expected);
                assert!(is_expected, "{}: {verdict} is not {expected}", subject.name);
            }
        }
        // It has its old bytes again before any of these visits ended.
        let unchanged = (tea, &about("tea", 1), "duplicate of http://a.test/tea");
        check(&subject, &[unchanged]).await;
    }
}

#[tokio::test]
async fn a_new_version_is_an_original_of_this_crawl() {
    let before = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    let rewritten = about("coffee", 2);
    for subject in after(&[&before], LikenessRules::default()) {
        let pages = [
            (
                "http://a.test/",
                &rewritten,
                "changed from http://a.test/, 0.00",
            ),
            ("http://b.test/", &rewritten, "duplicate of http://a.test/"),
            // The earlier crawl has the old text.
            ("http://c.test/", &nearly(1), "duplicate of http://a.test/"),
        ];
        check(&subject, &pages).await;
        let key = url("http://a.test/").key();
        subject.index.forget(key).await.unwrap();
        check(&subject, &[("http://d.test/", &rewritten, "unique")]).await;
    }
}

#[tokio::test]
async fn ranks_of_an_earlier_crawl_are_taken_and_its_retained_pages_repeat_themselves() {
    let pages = [
        ("http://a.test/", about("tea", 1)),
        ("http://a.test/1", nearly(1)),
    ];
    let before = crawled_before(&pages, 2).await;
    for subject in after(&[&before], kept(3)) {
        let itself = (
            "http://a.test/1",
            &nearly(1),
            "duplicate of http://a.test/1",
        );
        check(&subject, &[itself]).await;
        let original = original_of(&subject, "http://a.test/copy", &nearly(1)).await;
        let retained = Some(page("http://a.test/1"));
        assert_eq!(original.bytes, retained, "{}", subject.name);
        let pages = [
            ("http://a.test/2", &nearly(2), "3 of 3 of http://a.test/"),
            ("http://a.test/3", &nearly(3), "duplicate of http://a.test/"),
        ];
        check(&subject, &pages).await;
    }
}

#[tokio::test]
async fn each_of_several_earlier_crawls_counts() {
    let monday = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    let tuesday = crawled_before(&[("http://a.test/", about("coffee", 2))], 1).await;
    for subject in after(&[&monday, &tuesday], LikenessRules::default()) {
        let pages = [
            // The newest capture counts, and the bytes of each.
            (
                "http://a.test/",
                &about("tea", 3),
                "changed from http://a.test/, 0.00",
            ),
            (
                "http://a.test/",
                &about("coffee", 3),
                "changed from http://a.test/, 1.00",
            ),
            (
                "http://a.test/",
                &about("tea", 1),
                "duplicate of http://a.test/",
            ),
            (
                "http://a.test/",
                &about("coffee", 2),
                "duplicate of http://a.test/",
            ),
        ];
        check(&subject, &pages).await;
    }
}
