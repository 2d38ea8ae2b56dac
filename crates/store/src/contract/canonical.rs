//! The promises of [`NearDupIndex`](crate::NearDupIndex) about pages that name a canonical page,
//! held against every implementation.

use super::Subject;
use super::index::{
    about, admitted, after, alike_by, claiming, crawled_before, kept, prose, signature,
};
use crate::rules::{DuplicateScope, LikenessRules};

/// The article with 31 words of its own behind its 120: a resemblance of .79, too little for texts
/// of this length (.86) and enough for a canonical page (.76).
fn printed(number: u128) -> neardup::PageSignature {
    let others: String = (0..31)
        .map(|word| format!("print{number}x{word} "))
        .collect();
    signature(1_000 + number, &format!("{} {others}", prose("tea")))
}

/// Returns stores in which one article is known.
async fn with_article(rules: LikenessRules) -> Vec<Subject> {
    let subjects = alike_by(rules);
    for subject in &subjects {
        let article = about("tea", 1);
        let verdict = admitted(&*subject.index, ARTICLE, &article).await;
        assert_eq!(verdict, "unique", "{}", subject.name);
    }
    subjects
}

const ARTICLE: &str = "http://www.a.test/article";
const OF_ARTICLE: &str = "duplicate of http://www.a.test/article by canonical";

#[tokio::test]
async fn a_page_that_is_nearly_its_canonical_page_repeats_it_and_is_unique_without_that_claim() {
    for subject in with_article(LikenessRules::default()).await {
        let (index, name) = (&*subject.index, subject.name);
        for round in 0..2 {
            let print = "http://print.a.test/article";
            let verdict = claiming(index, print, &printed(1), ARTICLE).await;
            assert_eq!(verdict, OF_ARTICLE, "{name} {round}");
        }
        let verdict = admitted(index, "http://a.test/other", &printed(2)).await;
        assert_eq!(verdict, "unique", "{name}");
        for _ in 0..2 {
            let verdict = claiming(index, "http://a.test/other", &printed(2), ARTICLE).await;
            assert_eq!(verdict, "own", "{name}: it was admitted before");
        }
    }
}

#[tokio::test]
async fn a_canonical_claim_without_a_similar_text_counts_for_nothing() {
    for subject in with_article(LikenessRules::default()).await {
        let (index, name) = (&*subject.index, subject.name);
        let few = signature(9, "one two three four");
        assert_eq!(admitted(index, "http://a.test/few", &few).await, "unique");
        let (coffee, picture) = (about("coffee", 2), signature(3, ""));
        for (path, signature, canonical) in [
            ("coffee", coffee, ARTICLE),
            ("picture", picture, ARTICLE),
            // Too short to be judged by likeness.
            ("fewer", signature(4, "one two three"), "http://a.test/few"),
            // An unknown page.
            ("lost", printed(3), "http://a.test/nowhere"),
            // The page itself.
            ("self", printed(4), "http://a.test/self"),
        ] {
            let url = format!("http://a.test/{path}");
            let verdict = claiming(index, &url, &signature, canonical).await;
            assert_eq!(verdict, "unique", "{name}: {path}");
        }
    }
}

#[tokio::test]
async fn a_page_of_another_domain_is_not_canonical() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        let verdict = claiming(index, "http://b.test/article", &printed(1), ARTICLE).await;
        assert_eq!(verdict, "unique", "{}", subject.name);
    }
    let by_host = LikenessRules {
        scope: DuplicateScope::Host,
        ..LikenessRules::default()
    };
    for subject in with_article(by_host).await {
        let (index, name) = (&*subject.index, subject.name);
        let verdict = claiming(index, "http://print.a.test/", &printed(1), ARTICLE).await;
        assert_eq!(
            verdict, "unique",
            "{name}: only pages of one host are compared"
        );
        let verdict = claiming(index, "http://www.a.test/print", &printed(2), ARTICLE).await;
        assert_eq!(verdict, OF_ARTICLE, "{name}");
    }
}

#[tokio::test]
async fn a_page_that_is_like_another_page_anyway_is_a_duplicate_of_that_one() {
    for subject in with_article(LikenessRules::default()).await {
        let (index, name) = (&*subject.index, subject.name);
        let verdict = admitted(index, "http://a.test/print", &printed(1)).await;
        assert_eq!(verdict, "unique", "{name}");
        let mut again = printed(1);
        again.payload += 1_000;
        let verdict = claiming(index, "http://a.test/print2", &again, ARTICLE).await;
        assert_eq!(verdict, "duplicate of http://a.test/print", "{name}");
    }
}

/// Each page calls the one before it canonical. All but the first were dropped because of it, and
/// none because of another one.
#[tokio::test]
async fn a_duplicate_is_no_original_so_canonical_claims_form_no_chain() {
    for subject in with_article(LikenessRules::default()).await {
        let (index, name) = (&*subject.index, subject.name);
        let copy = "http://a.test/copy";
        let verdict = claiming(index, copy, &printed(1), ARTICLE).await;
        assert_eq!(verdict, OF_ARTICLE, "{name}");
        let verdict = claiming(index, "http://a.test/third", &printed(2), copy).await;
        assert_eq!(verdict, "unique", "{name}: a dropped page is unknown");
    }
}

#[tokio::test]
async fn a_page_that_names_a_retained_page_is_compared_with_its_original() {
    for subject in with_article(kept(3)).await {
        let (index, name) = (&*subject.index, subject.name);
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
            assert_eq!(verdict, expected, "{name}: {url}");
        }
    }
}

#[tokio::test]
async fn a_forgotten_canonical_page_has_no_duplicates() {
    for subject in with_article(LikenessRules::default()).await {
        let (index, name) = (&*subject.index, subject.name);
        index.forget(super::url(ARTICLE).key()).await.unwrap();
        let verdict = claiming(index, "http://a.test/print", &printed(1), ARTICLE).await;
        assert_eq!(verdict, "unique", "{name}");
    }
}

#[tokio::test]
async fn a_canonical_page_of_an_earlier_crawl_counts_too() {
    let before = crawled_before(&[(ARTICLE, about("tea", 1))], 1).await;
    for subject in after(&[&before], LikenessRules::default()) {
        let (index, name) = (&*subject.index, subject.name);
        let verdict = claiming(index, "http://a.test/print", &printed(1), ARTICLE).await;
        assert_eq!(verdict, OF_ARTICLE, "{name}");
        let verdict = admitted(index, "http://a.test/other", &printed(2)).await;
        assert_eq!(verdict, "unique", "{name}");
    }
}
