//! The cost of the store at its intended size: bytes of each table on disk, flushes, loading,
//! lookups.
//!
//! ```text
//! cargo run --release -p benches --bin bench-store -- verdicts [--count 10000000] \
//!     [--verdicts 320000] [--no-mirror]
//! cargo run --release -p benches --bin bench-store -- tables [--count 10000000] [--folds 3]
//! cargo run --release -p benches --bin bench-store -- frontier [--count 10000000] \
//!     [--hosts 100000] [--churn 1000000]
//! cargo run --release -p benches --bin bench-store -- cards [--count 1000000]
//! cargo run --release -p benches --bin bench-store -- shared [--signatures 1000000] [--nodes 4]
//! ```
//! All keys are random (uniform ones are the worst case for a sorted table). Each figure is of one
//! run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod frontier;
mod shared;
mod tables;
mod verdicts;

use std::error::Error;

use clap::Parser;

type Failure = Box<dyn Error>;

/// Measure the parts of the store
#[derive(Clone, Debug, Parser)]
enum Options {
    /// Durable verdicts among many pages
    Verdicts(verdicts::Options),
    /// Sorted tables in the database: four of fingerprints, eight of bands, one of URLs seen
    Tables(tables::Options),
    /// Pages to visit, and URLs seen
    Frontier(frontier::Options),
    /// Nodes that share a crawl, with their database
    Shared(shared::Options),
    /// The records that verification needs of each document
    Cards(tables::CardsOptions),
}

fn main() -> Result<(), Failure> {
    match Options::parse() {
        Options::Verdicts(options) => verdicts::measure(&options),
        Options::Tables(options) => tables::measure(&options),
        Options::Frontier(options) => frontier::measure(&options),
        Options::Shared(options) => shared::measure(&options),
        Options::Cards(options) => tables::measure_cards(&options),
    }
}
