//! Admission of pages to a near-duplicate index, and verdicts in words.

use journal::Page;
use neardup::{Features, HashKey, PageSignature, PageText, SignatureBuilder};
use store::{ComparisonOptions, NearDupIndex, Original, Verdict};

use crate::backend::{Backend, Session, Setup};
use crate::fixtures::{at, url};

/// Opens a new crawl with these comparison options.
pub(crate) async fn alike_by(
    backend: &dyn Backend,
    comparison: ComparisonOptions,
) -> Box<dyn Session> {
    backend.open(&Setup::with_comparison(comparison)).await
}

pub(crate) fn page(name: &str) -> Page {
    Page {
        url: url(name),
        final_url: url(name),
        at: at(7),
    }
}

pub(crate) fn signature(payload: u128, text: &str) -> PageSignature {
    SignatureBuilder::new(Features::default(), HashKey::ZERO)
        .signature(payload, Some(PageText::of(text)))
}

pub(crate) fn prose(topic: &str) -> String {
    (0..120)
        .map(|word| format!("{topic}{} ", word * 7 % 113))
        .collect()
}

pub(crate) fn about(topic: &str, payload: u128) -> PageSignature {
    signature(payload, &prose(topic))
}

/// Returns the text about tea without its first words: similar to the whole text, with other bytes.
pub(crate) fn nearly(cut: usize) -> PageSignature {
    let text = prose("tea");
    let kept = text.split_inclusive(' ').skip(cut).collect::<String>();
    signature(1_000 + cut as u128, &kept)
}

/// Admits a page and returns its verdict in words.
pub(crate) async fn admitted(
    index: &dyn NearDupIndex,
    url: &str,
    signature: &PageSignature,
) -> String {
    in_words(index.admit(&page(url), signature, None).await.unwrap())
}

/// Admits a page that names a canonical page, and returns its verdict in words.
pub(crate) async fn claiming(
    index: &dyn NearDupIndex,
    name: &str,
    signature: &PageSignature,
    canonical: &str,
) -> String {
    let (page, canonical) = (page(name), url(canonical));
    let verdict = index.admit(&page, signature, Some(&canonical)).await;
    in_words(verdict.unwrap())
}

pub(crate) fn in_words(verdict: Verdict) -> String {
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
pub(crate) async fn check(session: &dyn Session, pages: &[(&str, &PageSignature, &str)]) {
    for (number, (url, signature, expected)) in pages.iter().enumerate() {
        let verdict = admitted(session.index().as_ref(), url, signature).await;
        assert_eq!(verdict, *expected, "{url} ({number})");
    }
}

/// Admits a duplicate page, and returns its original.
pub(crate) async fn original_of(
    session: &dyn Session,
    url: &str,
    signature: &PageSignature,
) -> Original {
    let verdict = session.index().admit(&page(url), signature, None).await;
    match verdict.unwrap() {
        Verdict::Duplicate(original) => *original,
        other => panic!("{url} is {other:?}"),
    }
}

pub(crate) fn kept(per_cluster: u32) -> ComparisonOptions {
    ComparisonOptions {
        per_cluster: per_cluster.try_into().unwrap(),
        ..ComparisonOptions::default()
    }
}
