//! The growth of `batch::dedup`: documents with planted copies, in a fixed budget of memory.
//!
//! Every tenth document is a copy of the one nine before it, with words replaced so that their
//! 5-shingles have a resemblance of .5 to 1. The time has two parts: making signatures (all cores)
//! and comparing; the growth is that of comparing. The peak is the kernel's (VmHWM), reset before
//! each size.
//!
//! ```text
//! cargo run --release -p benches --bin bench-dedup -- \
//!     [--documents 5000,10000,20000,40000] [--memory-mib 1] [--resemblance 0.8] [--pairs]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use batch::dedup::{self, Document, Finding, FindingKind, Options};
use batch::{BatchError, Control};
use clap::Parser;
use neardup::{
    BandDesign, DEFAULT_RECALL, Features, HashKey, PageText, SignatureBuilder, Thresholds,
};
use testkit::Random;
use tokio::time::Instant;

/// Measure the growth of deduplication
#[derive(Clone, Debug, Parser)]
struct Wish {
    /// Numbers of documents
    #[arg(long, default_value = "5000,10000,20000,40000", value_delimiter = ',')]
    documents: Vec<u64>,
    /// Words of a document (350 are about 2 KB)
    #[arg(long, default_value_t = 350)]
    words: u64,
    /// Budget of memory, in MiB
    #[arg(long, default_value_t = 1)]
    memory_mib: usize,
    /// Least resemblance of duplicates; the crawl's thresholds and bands without it
    #[arg(long)]
    resemblance: Option<f64>,
    /// All pairs instead of duplicates
    #[arg(long)]
    pairs: bool,
}

/// The resemblances of copies, one after another.
const PLANTED: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Documents that a thread makes at once.
const AT_ONCE: u64 = 512;

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark has no directory of its own"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let wish = Wish::parse();
    let kind = if wish.pairs {
        FindingKind::Pairs
    } else {
        FindingKind::Duplicates
    };
    let mut options = Options::new(kind, std::env::temp_dir());
    options.memory = wish.memory_mib << 20;
    options.workers = std::thread::available_parallelism()?;
    options.criterion = Thresholds::new(3, wish.resemblance)?;
    if let Some(resemblance) = wish.resemblance {
        options.bands = BandDesign::for_resemblance(resemblance, DEFAULT_RECALL)?;
    }
    let design = options.bands;
    println!("{} bands of {} rows", design.bands(), design.rows());
    println!(
        " documents   signatures s   comparing s   growth   found of copies at J {PLANTED:?}   \
         spilled MiB   peak MiB"
    );
    let mut before: Option<f64> = None;
    for &documents in &wish.documents {
        // Resets VmHWM (proc(5)).
        std::fs::write("/proc/self/clear_refs", "5")?;
        let made = signatures(documents, wish.words, design, options.workers);
        let mut waited = Duration::ZERO;
        let mut found = [0_u64; PLANTED.len()];
        let begun = Instant::now();
        let stream = made.into_iter().flatten().map(Ok);
        let mut stream = Waiting {
            inner: stream,
            waited: &mut waited,
        };
        let summary =
            dedup::run::<BatchError>(&mut stream, &options, Control::none(), |finding| {
                let later = match &finding {
                    Finding::Duplicate(duplicate) => duplicate.document,
                    Finding::Pair(pair) => pair.b,
                    Finding::Cluster(_) | Finding::Original(_) => return Ok(()),
                };
                if let Ok(number) = later.parse::<u64>() {
                    found[(number / 10) as usize % PLANTED.len()] += 1;
                }
                Ok(())
            })?;
        let comparing = (begun.elapsed() - waited).as_secs_f64();
        let planted = documents / 10 / PLANTED.len() as u64;
        let shares = found.map(|found| format!("{:.3}", found as f64 / planted.max(1) as f64));
        let growth = before.map_or(String::new(), |before| format!("{:.2}", comparing / before));
        println!(
            "{documents:>10} {:>14.1} {comparing:>13.2} {growth:>8}   {}   {:>8} {:>10}",
            waited.as_secs_f64(),
            shares.join(" "),
            summary.spilled >> 20,
            peak_mib()?,
        );
        before = Some(comparing);
    }
    Ok(())
}

/// An iterator that measures how long it is waited for.
struct Waiting<'w, I> {
    inner: I,
    waited: &'w mut Duration,
}

impl<I: Iterator> Iterator for Waiting<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let begun = Instant::now();
        let item = self.inner.next();
        *self.waited += begun.elapsed();
        item
    }
}

/// Makes the signatures of all documents on `workers` threads, in order: worker *w* of *n* makes
/// the chunks w, w + n, w + 2n.
fn signatures(documents: u64, words: u64, design: BandDesign, workers: NonZeroUsize) -> Chunks {
    let receivers = (0..workers.get() as u64).map(|worker| {
        let (sender, receiver) = sync_channel(4);
        std::thread::spawn(move || {
            let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
            let starts = (0..documents).step_by(AT_ONCE as usize);
            for start in starts.skip(worker as usize).step_by(workers.get()) {
                let chunk = start..documents.min(start + AT_ONCE);
                if sender
                    .send(chunk_of(chunk, words, &builder, design))
                    .is_err()
                {
                    return;
                }
            }
        });
        receiver
    });
    Chunks {
        receivers: receivers.collect(),
        next: 0,
    }
}

struct Chunks {
    receivers: Vec<Receiver<Vec<Document>>>,
    next: usize,
}

impl Iterator for Chunks {
    type Item = Vec<Document>;

    fn next(&mut self) -> Option<Vec<Document>> {
        let chunk = self.receivers[self.next].recv().ok()?;
        self.next = (self.next + 1) % self.receivers.len();
        Some(chunk)
    }
}

fn chunk_of(
    numbers: Range<u64>,
    words: u64,
    builder: &SignatureBuilder,
    design: BandDesign,
) -> Vec<Document> {
    let document = |number: u64| {
        let text = text_of(number, words);
        let payload = HashKey::ZERO.digest(format!("{number}").as_bytes());
        Document {
            id: number.to_string().into(),
            signature: builder.banded_signature(payload, Some(PageText::of(&text)), design),
        }
    };
    numbers.map(document).collect()
}

/// The text of a document: words of its own, or those of an earlier one but for a run that is
/// replaced, which costs four shingles more than it has words.
fn text_of(number: u64, words: u64) -> String {
    let is_copy = number % 10 == 9;
    let original = if is_copy { number - 9 } else { number };
    let mut random = Random::of(1, original);
    let mut drawn: Vec<u64> = (0..words).map(|_| random.next() % 50_000).collect();
    if is_copy {
        let resemblance = PLANTED[(number / 10) as usize % PLANTED.len()];
        let shingles = (words - 4) as f64;
        let lost = shingles * (1.0 - resemblance) / (1.0 + resemblance);
        let replaced = (lost - 4.0).max(0.0).round() as usize;
        let mut random = Random::of(2, number);
        for word in drawn.iter_mut().skip(20).take(replaced) {
            *word = 50_000 + random.next() % 50_000;
        }
    }
    drawn.iter().map(|word| format!("w{word} ")).collect()
}

fn peak_mib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("no VmHWM")?.trim().parse::<u64>()? >> 10)
}
