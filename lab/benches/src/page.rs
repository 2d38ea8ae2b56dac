//! The cost of a page before it is admitted, step by step: the digest of its payload, reading, the
//! signature, and the comparison of texts: blocks and their keys for every page, a decision for
//! each candidate.
//!
//! One thread makes the same calls as a crawl, on the pages of the crawl's benchmark. The best of
//! the rounds counts for each page and step, so a busy machine gives nearly the same figures as a
//! quiet one.
//!
//! ```text
//! cargo run --release -p benches --bin bench-page -- [--pages 200] [--rounds 9] [FILE.html …]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use comparison::{Frames, HostFrame};
use neardup::{Features, HashKey, PageText, SignatureBuilder};
use sinks::PayloadDigest;
use testkit::Corpus;
use web::{CanonicalForm, PageUrl, ReadLimits, ResponseMetadata};

/// Lookup keys of each kind that a crawl asks for.
const LOOKED_UP: usize = 48;

/// Measure the cost of reading a page
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Generated pages of each shape
    #[arg(long, default_value_t = 200)]
    pages: usize,
    /// Rounds, of which the best counts
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Own pages, instead
    files: Vec<PathBuf>,
}

/// The steps, in the order of a page's life.
#[derive(Clone, Copy, Default)]
struct Steps {
    bytes: usize,
    digest: Duration,
    read: Duration,
    signature: Duration,
    /// The blocks of a page, their lookup keys, and what the frame learns from them.
    blocks: Duration,
    /// A decision on the page and itself.
    decision: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    println!("µs a page            KiB   digest     read   signature   blocks   decision");
    if !options.files.is_empty() {
        let pages = options.files.iter().map(std::fs::read);
        let pages: Vec<Vec<u8>> = pages.collect::<Result<_, _>>()?;
        return tell("files", &pages, options.rounds);
    }
    for (name, corpus) in [
        ("plain", Corpus::plain(options.pages, 1)),
        ("real-shaped", Corpus::real_shaped(options.pages, 1)),
    ] {
        let pages: Vec<Vec<u8>> = (0..corpus.len())
            .map(|page| corpus.html(page, 80).to_vec())
            .collect();
        tell(name, &pages, options.rounds)?;
    }
    Ok(())
}

fn tell(name: &str, pages: &[Vec<u8>], rounds: usize) -> Result<(), Box<dyn Error>> {
    let url = PageUrl::parse("http://w00.corpus.test/p/000000", &CanonicalForm::default())?;
    let mut sum = Steps::default();
    for page in pages {
        let steps = measure(page, &url, rounds);
        sum.bytes += steps.bytes;
        sum.digest += steps.digest;
        sum.read += steps.read;
        sum.signature += steps.signature;
        sum.blocks += steps.blocks;
        sum.decision += steps.decision;
    }
    let micros = |sum: Duration| sum.as_secs_f64() * 1e6 / pages.len() as f64;
    println!(
        "{name:<18} {:>6.1} {:>8.1} {:>8.1} {:>11.1} {:>8.1} {:>10.1}",
        sum.bytes as f64 / 1024.0 / pages.len() as f64,
        micros(sum.digest),
        micros(sum.read),
        micros(sum.signature),
        micros(sum.blocks),
        micros(sum.decision)
    );
    Ok(())
}

fn measure(page: &[u8], url: &PageUrl, rounds: usize) -> Steps {
    let (form, limits) = (CanonicalForm::default(), ReadLimits::default());
    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let hints = ResponseMetadata {
        agent: "crawler",
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(url)
    };
    let mut best = Steps {
        bytes: page.len(),
        digest: Duration::MAX,
        read: Duration::MAX,
        signature: Duration::MAX,
        blocks: Duration::MAX,
        decision: Duration::MAX,
    };
    for _ in 0..rounds.max(1) {
        let (digest, took) = timed(|| PayloadDigest::of(black_box(page)));
        best.digest = best.digest.min(took);
        let (document, took) = timed(|| web::read(black_box(page), &hints, &form, &limits));
        best.read = best.read.min(took);
        let text = crawl_text(&document);
        let (signature, took) = timed(|| signature_builder.signature(1, Some(text)));
        best.signature = best.signature.min(took);
        let (blocks, took) = timed(|| {
            let blocks = reading::compared_page(url.as_str(), &document, true);
            let mut frame = HostFrame::default();
            let keys = blocks.keys(LOOKED_UP, LOOKED_UP, &frame);
            frame.learn(&blocks);
            black_box(keys);
            blocks
        });
        best.blocks = best.blocks.min(took);
        let other = blocks.clone();
        let frames = Frames::default();
        let (decision, took) = timed(|| comparison::decide(&blocks, &other, frames, false));
        best.decision = best.decision.min(took);
        black_box((digest, signature, decision));
    }
    best
}

fn crawl_text(document: &web::Document) -> PageText<'_> {
    PageText::of(&document.text)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark is about time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed())
}
