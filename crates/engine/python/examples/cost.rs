//! The cost of the engine without Python, on the documents of `bench.py`: one text a line. Prints
//! lines of a name and the nanoseconds a document, the best of five rounds.

#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, and has no directory of its own"
)]

use std::hint::black_box;
use std::io::Write;
use std::num::NonZeroUsize;
use std::time::Instant;

use batch::dedup::{Document, FindingKind, Options, run};
use batch::{BatchError, Control};
use classics::minhash::{Family, MinHasher};
use neardup::{
    Features, HashKey, HashedText, PageText, SignatureBuilder, SignatureIndex, Thresholds, Width,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("the file of documents is missing")?;
    let corpus = std::fs::read_to_string(path)?;
    let texts: Vec<&str> = corpus.lines().collect();
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let sign = |text: &str| {
        let payload = HashKey::ZERO.digest(text.as_bytes());
        builder.signature(payload, Some(PageText::of(text)))
    };
    let hasher = MinHasher::new(Family::Fast, 128)?;
    let width = Width::VERIFICATION;
    let mut out = std::io::stdout();
    let mut report = |name: &str, of: &mut dyn FnMut(&str)| {
        let best = (0..5).map(|_| {
            let begun = Instant::now();
            texts.iter().for_each(|text| of(text));
            begun.elapsed().as_nanos() as f64 / texts.len() as f64
        });
        writeln!(out, "{name} {:.0}", best.fold(f64::INFINITY, f64::min))
    };
    report("simhash", &mut |text| {
        black_box(Features::default().fingerprint_of_text(text, HashKey::ZERO));
    })?;
    report("minhash", &mut |text| {
        let members = HashedText::of(text, HashKey::ZERO).runs(width);
        black_box(hasher.of_members(&members, members.len() as u64));
    })?;
    let mut index = SignatureIndex::new(Thresholds::default());
    for (number, text) in (0..).zip(&texts) {
        index.insert(number, sign(text));
    }
    report("query", &mut |text| {
        black_box(index.find(&sign(text)));
    })?;
    drop(index);
    // On one thread, as `dedup(…, threads=1)`.
    let mut options = Options::new(FindingKind::Duplicates, std::env::temp_dir());
    options.workers = NonZeroUsize::MIN;
    let begun = Instant::now();
    let documents = texts.iter().enumerate().map(|(number, text)| {
        let payload = HashKey::ZERO.digest(text.as_bytes());
        let page = Some(PageText::of(text));
        Ok::<_, BatchError>(Document {
            id: number.to_string().into(),
            signature: builder.banded_signature(payload, page, options.bands),
        })
    });
    run(documents, &options, Control::none(), |_| Ok(()))?;
    let each = begun.elapsed().as_nanos() as f64 / texts.len() as f64;
    writeln!(out, "dedup {each:.0}")?;
    Ok(())
}
