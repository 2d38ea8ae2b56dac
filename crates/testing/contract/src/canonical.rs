//! Admissions of pages that name a canonical page.

use neardup::PageSignature;
use store::{ComparisonOptions, DuplicateScope};

use crate::admissions::{about, admitted, alike_by, claiming, kept, prose, signature};
use crate::backend::{Backend, Promise, Session};
use crate::earlier_crawls::{after, crawled_before};
use crate::fixtures::url;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_page_that_is_nearly_its_canonical_page_repeats_it_and_is_unique_without_that_claim,
    a_canonical_claim_without_a_similar_text_counts_for_nothing,
    a_page_of_another_domain_is_not_canonical,
    a_page_that_is_like_another_page_anyway_is_a_duplicate_of_that_one,
    a_duplicate_is_no_original_so_canonical_claims_form_no_chain,
    a_page_that_names_a_retained_page_is_compared_with_its_original,
    a_forgotten_canonical_page_has_no_duplicates,
);

pub(crate) const AFTER_OTHERS: &[Sentence] = &scenarios!(
    &[Promise::EarlierCrawls],
    a_canonical_page_of_an_earlier_crawl_counts_too,
);

/// The article of 120 words, followed by 31 words of its own: a resemblance of .79, too little for
/// texts of this length (.86) and enough for a canonical page (.76).
fn printed(number: u128) -> PageSignature {
    let others: String = (0..31)
        .map(|word| format!("print{number}x{word} "))
        .collect();
    signature(1_000 + number, &format!("{} {others}", prose("tea")))
}

/// Opens a crawl with one known article.
async fn with_article(backend: &dyn Backend, rules: ComparisonOptions) -> Box<dyn Session> {
    let session = alike_by(backend, rules).await;
    let verdict = admitted(session.index().as_ref(), ARTICLE, &about("tea", 1)).await;
    assert_eq!(verdict, "unique");
    session
}

const ARTICLE: &str = "http://www.a.test/article";
const OF_ARTICLE: &str = "duplicate of http://www.a.test/article by canonical";

async fn a_page_that_is_nearly_its_canonical_page_repeats_it_and_is_unique_without_that_claim(
    backend: &dyn Backend,
) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    for round in 0..2 {
        let print = "http://print.a.test/article";
        let verdict = claiming(index, print, &printed(1), ARTICLE).await;
        assert_eq!(verdict, OF_ARTICLE, "{round}");
    }
    let verdict = admitted(index, "http://a.test/other", &printed(2)).await;
    assert_eq!(verdict, "unique");
    for _ in 0..2 {
        let verdict = claiming(index, "http://a.test/other", &printed(2), ARTICLE).await;
        assert_eq!(verdict, "own", "it was admitted before");
    }
}

async fn a_canonical_claim_without_a_similar_text_counts_for_nothing(backend: &dyn Backend) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    let few = signature(9, "one two three four");
    assert_eq!(admitted(index, "http://a.test/few", &few).await, "unique");
    let (coffee, picture) = (about("coffee", 2), signature(3, ""));
    for (path, signature, canonical) in [
        ("coffee", coffee, ARTICLE),
        ("picture", picture, ARTICLE),
        // Too short to be judged by similarity.
        ("fewer", signature(4, "one two three"), "http://a.test/few"),
        // An unknown page.
        ("lost", printed(3), "http://a.test/nowhere"),
        // The page itself.
        ("self", printed(4), "http://a.test/self"),
    ] {
        let url = format!("http://a.test/{path}");
        let verdict = claiming(index, &url, &signature, canonical).await;
        assert_eq!(verdict, "unique", "{path}");
    }
}

async fn a_page_of_another_domain_is_not_canonical(backend: &dyn Backend) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    let verdict = claiming(index, "http://b.test/article", &printed(1), ARTICLE).await;
    assert_eq!(verdict, "unique");
    let by_host = ComparisonOptions {
        scope: DuplicateScope::Host,
        ..ComparisonOptions::default()
    };
    let session = with_article(backend, by_host).await;
    let index = session.index().as_ref();
    let verdict = claiming(index, "http://print.a.test/", &printed(1), ARTICLE).await;
    assert_eq!(verdict, "unique", "only pages of one host are compared");
    let verdict = claiming(index, "http://www.a.test/print", &printed(2), ARTICLE).await;
    assert_eq!(verdict, OF_ARTICLE);
}

async fn a_page_that_is_like_another_page_anyway_is_a_duplicate_of_that_one(backend: &dyn Backend) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    let verdict = admitted(index, "http://a.test/print", &printed(1)).await;
    assert_eq!(verdict, "unique");
    let mut again = printed(1);
    again.payload += 1_000;
    let verdict = claiming(index, "http://a.test/print2", &again, ARTICLE).await;
    assert_eq!(verdict, "duplicate of http://a.test/print");
}

/// Each page calls the previous one canonical. All except the first were dropped because of the
/// first page, and none because of another page.
async fn a_duplicate_is_no_original_so_canonical_claims_form_no_chain(backend: &dyn Backend) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    let copy = "http://a.test/copy";
    let verdict = claiming(index, copy, &printed(1), ARTICLE).await;
    assert_eq!(verdict, OF_ARTICLE);
    let verdict = claiming(index, "http://a.test/third", &printed(2), copy).await;
    assert_eq!(verdict, "unique", "a dropped page is unknown");
}

async fn a_page_that_names_a_retained_page_is_compared_with_its_original(backend: &dyn Backend) {
    let session = with_article(backend, kept(3)).await;
    let index = session.index().as_ref();
    let second = "http://a.test/second";
    for (url, number, canonical, expected) in [
        (
            second,
            1,
            ARTICLE,
            "2 of 3 of http://www.a.test/article by canonical",
        ),
        (
            second,
            1,
            ARTICLE,
            "2 of 3 of http://www.a.test/article by canonical",
        ),
        (
            "http://a.test/third",
            2,
            second,
            "3 of 3 of http://www.a.test/article by canonical",
        ),
        ("http://a.test/fourth", 3, second, OF_ARTICLE),
    ] {
        let verdict = claiming(index, url, &printed(number), canonical).await;
        assert_eq!(verdict, expected, "{url}");
    }
}

async fn a_forgotten_canonical_page_has_no_duplicates(backend: &dyn Backend) {
    let session = with_article(backend, ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    index.forget(url(ARTICLE).key()).await.unwrap();
    let verdict = claiming(index, "http://a.test/print", &printed(1), ARTICLE).await;
    assert_eq!(verdict, "unique");
}

async fn a_canonical_page_of_an_earlier_crawl_counts_too(backend: &dyn Backend) {
    let before = crawled_before(&[(ARTICLE, about("tea", 1))], 1).await;
    let session = after(backend, &[&before], ComparisonOptions::default()).await;
    let index = session.index().as_ref();
    let verdict = claiming(index, "http://a.test/print", &printed(1), ARTICLE).await;
    assert_eq!(verdict, OF_ARTICLE);
    let verdict = admitted(index, "http://a.test/other", &printed(2)).await;
    assert_eq!(verdict, "unique");
}
