//! The share of the duplicate filter in the cost of a crawl: the signature of each page, and its
//! lookup in the signature index.
//!
//! One thread makes the same calls as a crawl, on the same pages. Reading the page is part of any
//! crawl and is not counted, nor is the store's journal record of a verdict.

use std::error::Error;

use neardup::{Features, HashKey, PageText, SignatureBuilder, SignatureIndex, Thresholds};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use testkit::Corpus;
use web::{CanonicalForm, PageUrl, ReadLimits, ResponseMetadata};

/// Returns CPU seconds per 1,000 pages.
pub(crate) fn cpu_per_thousand(corpus: &Corpus) -> Result<f64, Box<dyn Error>> {
    let form = CanonicalForm::default();
    let limits = ReadLimits::default();
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let mut signature_index = SignatureIndex::new(Thresholds::default());
    let mut micros = 0;
    for page in 0..corpus.len() {
        let url = PageUrl::parse(&corpus.url(page, 80), &form)?;
        let html = corpus.html(page, 80);
        let hints = ResponseMetadata {
            agent: "crawler",
            content_type: Some("text/html; charset=utf-8"),
            ..ResponseMetadata::of(&url)
        };
        let document = web::read(&html, &hints, &form, &limits);
        let text = PageText::of(&document.text);
        // In place of the payload's digest, which any archive needs.
        let payload = page as u128;
        let before = cpu()?;
        let signature = signature_builder.signature(payload, Some(text));
        if signature_index.find(&signature).is_none() {
            signature_index.insert(page as u64, signature);
        }
        micros += cpu()? - before;
    }
    Ok(micros as f64 / 1e3 / corpus.len() as f64)
}

/// Returns the CPU microseconds of this thread.
fn cpu() -> Result<i64, Box<dyn Error>> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
    Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
}
