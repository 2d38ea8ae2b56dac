//! Earlier crawls: their kept pages count as admitted, and other bytes under an old URL are a new
//! version.

use std::sync::Arc;

use disk::SystemDisk;
use journal::{Fate, FinishedVisit, VisitRecord};
use neardup::{Features, HashKey, PageSignature};
use store::{
    ComparisonOptions, EarlierCrawls, EmbeddedStore, FrontierRules, NearDupIndex, Settlement,
    StoreOptions, Verdict,
};
use tempfile::TempDir;

use crate::admissions::{about, admitted, check, kept, nearly, original_of, page, signature};
use crate::backend::{Backend, Promise, Session, Setup};
use crate::fixtures::{at, lease, seed, settle, url, visit_record};
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[Promise::EarlierCrawls],
    a_page_is_separated_from_an_original_of_an_earlier_crawl,
    kept_pages_of_an_earlier_crawl_count_as_admitted,
    other_bytes_than_an_earlier_crawl_archived_are_a_new_version_whatever_else_they_are_like,
    a_new_version_is_an_original_of_this_crawl,
    ranks_of_an_earlier_crawl_are_taken_and_its_retained_pages_repeat_themselves,
    each_of_several_earlier_crawls_counts,
);

/// Admits and visits these pages in a separate store, which becomes an earlier crawl.
pub(crate) async fn crawled_before(pages: &[(&str, PageSignature)], per_cluster: u32) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        rules: FrontierRules::default(),
        comparison: kept(per_cluster),
        features: Features::default().to_string(),
        key: None,
        new_key: HashKey::new(7),
        earlier: None,
        keys_in_memory: true,
        tables: None,
        now: at(0),
        disk: Arc::new(SystemDisk),
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
        let visit = VisitRecord {
            kept: !matches!(verdict, Verdict::Duplicate(_)),
            fetched_at: at(7),
            ..visit_record(&lease, fate)
        };
        let settlement = Settlement::Done(FinishedVisit::new(visit));
        settle(&store, lease, settlement, 0).await;
    }
    directory
}

/// Opens a crawl that begins after the crawls in these directories.
pub(crate) async fn after(
    backend: &dyn Backend,
    directories: &[&TempDir],
    comparison: ComparisonOptions,
) -> Box<dyn Session> {
    let paths = directories
        .iter()
        .map(|directory| directory.path().to_owned());
    let (paths, features) = (paths.collect::<Vec<_>>(), Features::default().to_string());
    let earlier = EarlierCrawls::load(&paths, &features, comparison).unwrap();
    let setup = Setup {
        earlier: earlier.map(Arc::new),
        ..Setup::with_comparison(comparison)
    };
    backend.open(&setup).await
}

async fn a_page_is_separated_from_an_original_of_an_earlier_crawl(backend: &dyn Backend) {
    let before = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    let session = after(backend, &[&before], ComparisonOptions::default()).await;
    let (page, original) = (url("http://b.test/"), url("http://a.test/"));
    session.index().separate(&page, &original).await.unwrap();
    check(&*session, &[("http://b.test/", &nearly(2), "unique")]).await;
    let verdict = admitted(session.index().as_ref(), "http://c.test/", &about("tea", 9)).await;
    assert_eq!(verdict, "duplicate of http://a.test/");
}

async fn kept_pages_of_an_earlier_crawl_count_as_admitted(backend: &dyn Backend) {
    let pages = [
        ("http://a.test/", about("tea", 1)),
        ("http://a.test/excluded", nearly(1)),
    ];
    let before = crawled_before(&pages, 1).await;
    let coffee = about("coffee", 5);
    let session = after(backend, &[&before], ComparisonOptions::default()).await;
    for (url, signature) in [
        ("http://b.test/bytes", signature(1, "")),
        ("http://b.test/near", nearly(2)),
    ] {
        let original = original_of(&*session, url, &signature).await;
        let found = (original.page, original.earlier);
        assert_eq!(found, (page("http://a.test/"), true));
    }
    let pages = [
        ("http://a.test/new", &coffee, "unique"),
        (
            "http://b.test/new",
            &coffee,
            "duplicate of http://a.test/new",
        ),
    ];
    check(&*session, &pages).await;
}

async fn other_bytes_than_an_earlier_crawl_archived_are_a_new_version_whatever_else_they_are_like(
    backend: &dyn Backend,
) {
    let (tea, cake) = ("http://a.test/tea", "http://a.test/cake");
    let picture = "http://a.test/picture";
    let pages = [
        (tea, about("tea", 1)),
        (cake, about("cake", 2)),
        (picture, signature(3, "")),
    ];
    let before = crawled_before(&pages, 1).await;
    let session = after(backend, &[&before], ComparisonOptions::default()).await;
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
            let verdict = admitted(session.index().as_ref(), url, &signature).await;
            let is_expected = verdict.starts_with(&expected);
            assert!(is_expected, "{verdict} is not {expected}");
        }
    }
    // It has its old bytes again before any of these visits ended.
    let unchanged = (tea, &about("tea", 1), "duplicate of http://a.test/tea");
    check(&*session, &[unchanged]).await;
}

async fn a_new_version_is_an_original_of_this_crawl(backend: &dyn Backend) {
    let before = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    let rewritten = about("coffee", 2);
    let session = after(backend, &[&before], ComparisonOptions::default()).await;
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
    check(&*session, &pages).await;
    let key = url("http://a.test/").key();
    session.index().forget(key).await.unwrap();
    check(&*session, &[("http://d.test/", &rewritten, "unique")]).await;
}

async fn ranks_of_an_earlier_crawl_are_taken_and_its_retained_pages_repeat_themselves(
    backend: &dyn Backend,
) {
    let pages = [
        ("http://a.test/", about("tea", 1)),
        ("http://a.test/1", nearly(1)),
    ];
    let before = crawled_before(&pages, 2).await;
    let session = after(backend, &[&before], kept(3)).await;
    let itself = (
        "http://a.test/1",
        &nearly(1),
        "duplicate of http://a.test/1",
    );
    check(&*session, &[itself]).await;
    let original = original_of(&*session, "http://a.test/copy", &nearly(1)).await;
    let retained = Some(page("http://a.test/1"));
    assert_eq!(original.bytes, retained);
    let pages = [
        ("http://a.test/2", &nearly(2), "3 of 3 of http://a.test/"),
        ("http://a.test/3", &nearly(3), "duplicate of http://a.test/"),
    ];
    check(&*session, &pages).await;
}

async fn each_of_several_earlier_crawls_counts(backend: &dyn Backend) {
    let monday = crawled_before(&[("http://a.test/", about("tea", 1))], 1).await;
    let tuesday = crawled_before(&[("http://a.test/", about("coffee", 2))], 1).await;
    let session = after(backend, &[&monday, &tuesday], ComparisonOptions::default()).await;
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
    check(&*session, &pages).await;
}
