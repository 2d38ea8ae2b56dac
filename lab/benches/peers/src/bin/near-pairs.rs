//! Near-duplicates of a corpus by find-simdoc, the program around all-pairs-hamming: 1-bit MinHash
//! sketches, all pairs of which are joined. One of the peers of `dedup/compare.py`.
//!
//! `cargo run --release --bin near-pairs -- --threshold 0.8 --output FILE DOCUMENTS.jsonl…` writes
//! the id of each document that resembles an earlier one that stays, one a line. Words are what
//! spaces separate; sketches have 20 × 64 bits, as in the documentation of find-simdoc.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use find_simdoc::JaccardSearcher;
use serde::Deserialize;

/// Words of a shingle.
const SHINGLE: usize = 5;
/// Words of 64 bits in a sketch.
const CHUNKS: usize = 20;
const SEED: u64 = 42;

/// A line of the corpus.
#[derive(Deserialize)]
struct Document {
    id: String,
    text: String,
}

/// The arguments of all runners; those that this one does not need are skipped.
struct Arguments {
    threshold: f64,
    output: PathBuf,
    documents: Vec<PathBuf>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let (mut threshold, mut output, mut documents) = (None, None, Vec::new());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--threshold" => threshold = Some(value()?.parse()?),
                "--output" => output = Some(PathBuf::from(value()?)),
                "--cores" | "--work" => drop(value()?),
                _ => documents.push(PathBuf::from(word)),
            }
        }
        Ok(Self {
            threshold: threshold.ok_or("--threshold is missing")?,
            output: output.ok_or("--output is missing")?,
            documents,
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut ids = Vec::new();
    let mut broken = None;
    let lines = arguments.documents.iter().flat_map(|path| lines(path));
    let texts = lines.map_while(|line| {
        match line.and_then(|line| Ok(serde_json::from_str::<Document>(&line)?)) {
            Ok(mut document) => {
                ids.push(document.id);
                if document.text.is_empty() {
                    // The library refuses an empty text.
                    document.text.push(' ');
                }
                Some(document.text)
            }
            Err(error) => {
                broken = Some(error.to_string());
                None
            }
        }
    });
    let searcher = JaccardSearcher::new(SHINGLE, Some(' '), Some(SEED))?
        .build_sketches_in_parallel(texts, CHUNKS)?;
    if let Some(error) = broken {
        return Err(error.into());
    }
    let mut pairs: Vec<(usize, usize)> = searcher
        .search_similar_pairs(1.0 - arguments.threshold)
        .into_iter()
        .map(|(one, other, _)| (one.max(other), one.min(other)))
        .collect();
    pairs.sort_unstable();
    let mut gone = HashSet::new();
    let mut output = BufWriter::new(File::create(&arguments.output)?);
    for (later, earlier) in pairs {
        if !gone.contains(&earlier) && gone.insert(later) {
            writeln!(output, "{}", ids[later])?;
        }
    }
    output.flush()?;
    Ok(())
}

/// Returns the lines of a file; the first is an error if the file cannot be opened.
fn lines(path: &Path) -> Box<dyn Iterator<Item = io::Result<String>> + Send> {
    match File::open(path) {
        Ok(file) => Box::new(BufReader::new(file).lines()),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}
