//! Admissions: of several like pages, exactly one is new, even if they are admitted concurrently,
//! and the first of its duplicates are retained.

use std::sync::Arc;

use journal::Page;
use store::{ComparisonOptions, DuplicateScope, FrontierRules, Verdict};
use tokio::task::JoinSet;

use crate::admissions::{
    about, admitted, alike_by, check, claiming, kept, nearly, original_of, page, prose, signature,
};
use crate::backend::Backend;
use crate::fixtures::{begin, url};
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_page_is_never_its_own_duplicate,
    a_page_whose_text_has_changed_is_forgotten_and_judged_anew,
    a_duplicate_points_at_the_original_and_a_forgotten_original_has_none,
    of_many_like_pages_admitted_at_once_exactly_one_is_unique,
    pages_are_compared_within_the_crawl_the_domain_or_the_host,
    a_page_belongs_to_the_host_of_its_final_url,
    the_first_duplicates_of_a_cluster_are_retained_and_keep_their_ranks,
    the_same_bytes_again_take_no_rank_and_name_the_kept_page_with_these_bytes,
    a_rank_that_is_freed_is_given_again,
    of_many_like_pages_at_once_no_more_than_the_limit_are_kept,
    separated_pages_are_never_duplicates_of_each_other,
);

async fn a_page_is_never_its_own_duplicate(backend: &dyn Backend) {
    let (tea, coffee) = (about("tea", 1), about("coffee", 1));
    let session = begin(backend, FrontierRules::default()).await;
    let pages = [
        ("http://a.test/", &tea, "unique"),
        ("http://a.test/", &tea, "own"),
        ("http://a.test/", &coffee, "own"),
        ("http://a.test/", &nearly(1), "own"),
    ];
    check(&*session, &pages).await;
}

/// A visit that did not end had dropped other pages because of a text that was never archived.
async fn a_page_whose_text_has_changed_is_forgotten_and_judged_anew(backend: &dyn Backend) {
    let (tea, coffee) = (about("tea", 1), about("coffee", 2));
    let session = begin(backend, FrontierRules::default()).await;
    let pages = [
        ("http://a.test/", &tea, "unique"),
        ("http://a.test/", &coffee, "unique"),
        ("http://a.test/", &coffee, "own"),
        ("http://b.test/", &coffee, "duplicate of http://a.test/"),
        ("http://c.test/", &tea, "unique"),
        ("http://a.test/", &tea, "duplicate of http://c.test/"),
        ("http://b.test/", &coffee, "unique"),
    ];
    check(&*session, &pages).await;
}

async fn a_duplicate_points_at_the_original_and_a_forgotten_original_has_none(
    backend: &dyn Backend,
) {
    let (first, again) = (about("tea", 1), about("tea", 2));
    let session = begin(backend, FrontierRules::default()).await;
    check(&*session, &[("http://a.test/", &first, "unique")]).await;
    for name in ["http://b.test/", "http://c.test/"] {
        let original = original_of(&*session, name, &again).await;
        assert_eq!(original.page, page("http://a.test/"));
    }
    let key = url("http://a.test/").key();
    session.index().forget(key).await.unwrap();
    check(&*session, &[("http://b.test/", &again, "unique")]).await;
}

async fn of_many_like_pages_admitted_at_once_exactly_one_is_unique(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let mut tasks = JoinSet::new();
    for worker in 0..16_u32 {
        for topic in 0..20_u32 {
            let index = Arc::clone(session.index());
            let name = format!("http://h{worker}.test/{topic}");
            let payload = u128::from(worker * 100 + topic);
            let signature = about(&format!("topic{topic}x"), payload);
            tasks.spawn(async move { admitted(&*index, &name, &signature).await });
        }
    }
    let verdicts = tasks.join_all().await;
    let unique = verdicts.iter().filter(|verdict| *verdict == "unique");
    assert_eq!(unique.count(), 20);
}

async fn pages_are_compared_within_the_crawl_the_domain_or_the_host(backend: &dyn Backend) {
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
        let rules = ComparisonOptions {
            scope,
            ..ComparisonOptions::default()
        };
        let session = alike_by(backend, rules).await;
        for (kind, payloads) in [("bytes", [0; 4]), ("text", [10, 11, 12, 13])] {
            for (place, (name, original)) in names.iter().enumerate() {
                let url = format!("{name}{kind}");
                let signature = about(kind, payloads[place]);
                let verdict = admitted(session.index().as_ref(), &url, &signature).await;
                let is_unique = place == 0 || place >= names.len() - apart;
                let context = format!("{scope}: {url}: {verdict}");
                assert_eq!(verdict == "unique", is_unique, "{context}");
                assert!(is_unique || verdict.contains(original), "{context}");
            }
        }
    }
}

async fn a_page_belongs_to_the_host_of_its_final_url(backend: &dyn Backend) {
    let rules = ComparisonOptions {
        scope: DuplicateScope::Host,
        ..ComparisonOptions::default()
    };
    let tea = about("tea", 1);
    let session = alike_by(backend, rules).await;
    let moved = Page {
        final_url: url("http://b.test/"),
        ..page("http://a.test/")
    };
    session.index().admit(&moved, &tea, None).await.unwrap();
    let pages = [
        ("http://a.test/2", &tea, "unique"),
        ("http://b.test/2", &tea, "duplicate of http://a.test/"),
    ];
    check(&*session, &pages).await;
}

async fn the_first_duplicates_of_a_cluster_are_retained_and_keep_their_ranks(
    backend: &dyn Backend,
) {
    let same_text = signature(2, &prose("tea").to_uppercase());
    let (tea, coffee) = (about("tea", 1), about("coffee", 9));
    let session = alike_by(backend, kept(3)).await;
    let pages = [
        ("http://a.test/near", &nearly(1), "2 of 3 of http://a.test/"),
        ("http://a.test/same", &same_text, "3 of 3 of http://a.test/"),
        (
            "http://a.test/late",
            &nearly(2),
            "duplicate of http://a.test/",
        ),
    ];
    check(&*session, &[("http://a.test/", &tea, "unique")]).await;
    check(&*session, &pages).await;
    check(&*session, &pages).await;
    let pages = [
        // Regardless of its text now.
        ("http://a.test/near", &coffee, "2 of 3 of http://a.test/"),
        // Pages are not compared with retained duplicates.
        ("http://a.test/coffee", &coffee, "unique"),
    ];
    check(&*session, &pages).await;
}

async fn the_same_bytes_again_take_no_rank_and_name_the_kept_page_with_these_bytes(
    backend: &dyn Backend,
) {
    let tea = about("tea", 1);
    let session = alike_by(backend, kept(2)).await;
    let pages = [
        ("http://a.test/", &tea, "unique"),
        ("http://a.test/copy", &tea, "duplicate of http://a.test/"),
        ("http://a.test/near", &nearly(1), "2 of 2 of http://a.test/"),
    ];
    check(&*session, &pages).await;
    let original = original_of(&*session, "http://a.test/third", &nearly(1)).await;
    let (first, near) = (page("http://a.test/"), page("http://a.test/near"));
    assert_eq!(original.page, first, "never a duplicate");
    assert_eq!(original.bytes, Some(near));
}

async fn a_rank_that_is_freed_is_given_again(backend: &dyn Backend) {
    let session = alike_by(backend, kept(3)).await;
    let pages = [
        ("http://a.test/", &about("tea", 1), "unique"),
        ("http://a.test/1", &nearly(1), "2 of 3 of http://a.test/"),
        ("http://a.test/2", &nearly(2), "3 of 3 of http://a.test/"),
    ];
    check(&*session, &pages).await;
    let key = url("http://a.test/1").key();
    session.index().forget(key).await.unwrap();
    let pages = [
        ("http://a.test/3", &nearly(3), "2 of 3 of http://a.test/"),
        ("http://a.test/4", &nearly(1), "duplicate of http://a.test/"),
    ];
    check(&*session, &pages).await;
}

async fn of_many_like_pages_at_once_no_more_than_the_limit_are_kept(backend: &dyn Backend) {
    let session = alike_by(backend, kept(5)).await;
    let mut tasks = JoinSet::new();
    for worker in 0..40_usize {
        let index = Arc::clone(session.index());
        let page = page(&format!("http://h{worker}.test/"));
        tasks.spawn(async move { index.admit(&page, &nearly(worker % 8), None).await.unwrap() });
    }
    let verdicts = tasks.join_all().await;
    let ranks = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Unique => Some(1),
        Verdict::Retained(_, retained) => Some(retained.rank),
        _ => None,
    });
    let mut ranks: Vec<u32> = ranks.collect();
    ranks.sort_unstable();
    assert_eq!(ranks, [1, 2, 3, 4, 5]);
}

async fn separated_pages_are_never_duplicates_of_each_other(backend: &dyn Backend) {
    let (tea, again, mate) = (about("tea", 1), about("tea", 2), about("mate", 3));
    let session = begin(backend, FrontierRules::default()).await;
    let (first, second) = ("http://a.test/", "http://b.test/");
    let pages = [
        (first, &tea, "unique"),
        (second, &again, "duplicate of http://a.test/"),
        ("http://c.test/", &mate, "unique"),
    ];
    check(&*session, &pages).await;
    for _twice in 0..2 {
        let separated = session.index().separate(&url(second), &url(first)).await;
        separated.unwrap();
    }
    let verdict = claiming(session.index().as_ref(), second, &nearly(1), first).await;
    assert_eq!(verdict, "unique");
    let pages = [
        // Every other page is compared with both.
        ("http://d.test/", &nearly(1), "duplicate of http://b.test/"),
        ("http://e.test/", &tea, "duplicate of http://a.test/"),
    ];
    check(&*session, &pages).await;
    // The original was not archived in the end, so it is not compared with the page either.
    session.index().forget(url(first).key()).await.unwrap();
    check(&*session, &[(first, &nearly(1), "unique")]).await;
    // A page may still repeat a third page.
    session.index().forget(url(second).key()).await.unwrap();
    check(&*session, &[(second, &mate, "duplicate of http://c.test/")]).await;
}
