//! The promises of [`NearDupIndex`] about pages that name a canonical page, held against every
//! implementation.

use super::Subject;
use super::index::{
    after, alike_by, crawled_before, kept, page, prose, signature, verdict_in_words,
};
use crate::near_dup::NearDupIndex;
use crate::rules::{DuplicateScope, LikenessRules};

/// The article with 31 words of its own behind its 120: a resemblance of .79, too little for texts
/// of this length (.86) and enough for a canonical page (.76).
fn printed(number: u128) -> neardup::PageSignature {
    let others: String = (0..31)
        .map(|word| format!("print{number}x{word} "))
        .collect();
    signature(1_000 + number, &format!("{} {others}", prose("tea")))
}

async fn admitted(
    index: &dyn NearDupIndex,
    name: &str,
    look: &neardup::PageSignature,
    canonical: Option<&str>,
) -> String {
    let canonical = canonical.map(super::url);
    let verdict = index
        .admit(&page(name), look, canonical.as_ref())
        .await
        .unwrap();
    verdict_in_words(verdict)
}

/// Stores in which one article is known.
async fn with_article(rules: LikenessRules) -> Vec<Subject> {
    let subjects = alike_by(rules);
    for subject in &subjects {
        let article = signature(1, &prose("tea"));
        let told = admitted(&*subject.index, "http://www.a.test/article", &article, None).await;
        assert_eq!(told, "unique", "{}", subject.name);
    }
    subjects
}

const ARTICLE: Option<&str> = Some("http://www.a.test/article");
const OF_ARTICLE: &str = "duplicate of http://www.a.test/article by canonical";

#[tokio::test]
async fn a_page_that_is_nearly_the_one_it_calls_canonical_repeats_it_and_is_new_without_that_word()
{
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        for round in 0..2 {
            let told = admitted(index, "http://print.a.test/article", &printed(1), ARTICLE).await;
            assert_eq!(told, OF_ARTICLE, "{} {round}", subject.name);
        }
        let told = admitted(index, "http://a.test/other", &printed(2), None).await;
        assert_eq!(told, "unique", "{}", subject.name);
        for _ in 0..2 {
            let told = admitted(index, "http://a.test/other", &printed(2), ARTICLE).await;
            assert_eq!(told, "own", "{}: it was admitted before", subject.name);
        }
    }
}

#[tokio::test]
async fn the_word_of_a_page_counts_for_nothing_without_its_text() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        let few = signature(9, "one two three four");
        assert_eq!(
            admitted(index, "http://a.test/few", &few, None).await,
            "unique"
        );
        for (name, look, canonical) in [
            (
                "http://a.test/coffee",
                signature(2, &prose("coffee")),
                ARTICLE,
            ),
            ("http://a.test/picture", signature(3, ""), ARTICLE),
            // Too short to be judged by likeness.
            (
                "http://a.test/fewer",
                signature(4, "one two three"),
                Some("http://a.test/few"),
            ),
            // Nobody knows that one.
            (
                "http://a.test/lost",
                printed(3),
                Some("http://a.test/nowhere"),
            ),
            // A page does not testify for itself.
            ("http://a.test/self", printed(4), Some("http://a.test/self")),
        ] {
            let told = admitted(index, name, &look, canonical).await;
            assert_eq!(told, "unique", "{}: {name}", subject.name);
        }
    }
}

#[tokio::test]
async fn a_page_of_another_domain_is_not_canonical() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        let told = admitted(index, "http://b.test/article", &printed(1), ARTICLE).await;
        assert_eq!(told, "unique", "{}", subject.name);
    }
    let by_host = LikenessRules {
        scope: DuplicateScope::Host,
        ..LikenessRules::default()
    };
    for subject in with_article(by_host).await {
        let index = &*subject.index;
        let told = admitted(index, "http://print.a.test/", &printed(1), ARTICLE).await;
        assert_eq!(
            told, "unique",
            "{}: only pages of one host are compared",
            subject.name
        );
        let told = admitted(index, "http://www.a.test/print", &printed(2), ARTICLE).await;
        assert_eq!(told, OF_ARTICLE, "{}", subject.name);
    }
}

#[tokio::test]
async fn what_is_like_another_page_anyway_is_told_of_that_one() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        assert_eq!(
            admitted(index, "http://a.test/print", &printed(1), None).await,
            "unique"
        );
        let mut again = printed(1);
        again.payload += 1_000;
        let told = admitted(index, "http://a.test/print2", &again, ARTICLE).await;
        assert_eq!(told, "duplicate of http://a.test/print", "{}", subject.name);
    }
}

/// Each page calls the one before it canonical; all but the first were dropped for its sake, and
/// none for another's.
#[tokio::test]
async fn a_duplicate_is_nobodys_original_so_words_make_no_chain() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        let copy = "http://a.test/copy";
        assert_eq!(
            admitted(index, copy, &printed(1), ARTICLE).await,
            OF_ARTICLE
        );
        let told = admitted(index, "http://a.test/third", &printed(2), Some(copy)).await;
        assert_eq!(
            told, "unique",
            "{}: a page that was dropped is unknown",
            subject.name
        );
    }
}

#[tokio::test]
async fn who_names_a_page_that_was_retained_is_compared_with_its_original() {
    for subject in with_article(kept(3)).await {
        let index = &*subject.index;
        let second = "http://a.test/second";
        for _ in 0..2 {
            let told = admitted(index, second, &printed(1), ARTICLE).await;
            assert_eq!(
                told, "2 of 3 of http://www.a.test/article by canonical",
                "{}",
                subject.name
            );
        }
        let told = admitted(index, "http://a.test/third", &printed(2), Some(second)).await;
        assert_eq!(
            told, "3 of 3 of http://www.a.test/article by canonical",
            "{}",
            subject.name
        );
        let told = admitted(index, "http://a.test/fourth", &printed(3), Some(second)).await;
        assert_eq!(told, OF_ARTICLE, "{}", subject.name);
    }
}

#[tokio::test]
async fn a_canonical_page_that_was_forgotten_drops_nobody() {
    for subject in with_article(LikenessRules::default()).await {
        let index = &*subject.index;
        index
            .forget(super::url("http://www.a.test/article").key())
            .await
            .unwrap();
        let told = admitted(index, "http://a.test/print", &printed(1), ARTICLE).await;
        assert_eq!(told, "unique", "{}", subject.name);
    }
}

#[tokio::test]
async fn a_canonical_page_of_an_earlier_crawl_counts_too() {
    let before = crawled_before(
        &[("http://www.a.test/article", signature(1, &prose("tea")))],
        1,
    )
    .await;
    for subject in after(&[&before], LikenessRules::default()) {
        let index = &*subject.index;
        let told = admitted(index, "http://a.test/print", &printed(1), ARTICLE).await;
        assert_eq!(told, OF_ARTICLE, "{}", subject.name);
        let told = admitted(index, "http://a.test/other", &printed(2), None).await;
        assert_eq!(told, "unique", "{}", subject.name);
    }
}
