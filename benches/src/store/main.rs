//! The cost of the store at the size that it is made for: bytes of each table on disk, flushes,
//! loading, lookups.
//!
//! ```text
//! cargo run --release -p benches --bin bench-store -- verdicts [--count 10000000] \
//!     [--verdicts 320000] [--no-mirror]
//! cargo run --release -p benches --bin bench-store -- tables [--count 10000000] [--folds 3]
//! cargo run --release -p benches --bin bench-store -- frontier [--count 10000000] \
//!     [--hosts 100000] [--churn 1000000]
//! cargo run --release -p benches --bin bench-store -- cards [--count 1000000]
//! ```
//! Everything is random (uniform keys are the worst case for a sorted table); every figure is of
//! one run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod frontier;
mod tables;
mod verdicts;

use std::error::Error;

use clap::Parser;

type Failure = Box<dyn Error>;

/// Measure the parts of the store
#[derive(Clone, Debug, Parser)]
enum Wish {
    /// Durable verdicts among many pages
    Verdicts(verdicts::Wish),
    /// Sorted tables in the database: four of fingerprints, eight of bands, one of URLs seen
    Tables(tables::Wish),
    /// Pages to visit, and URLs seen
    Frontier(frontier::Wish),
    /// The records that verification needs of each document
    Cards(tables::CardsWish),
}

fn main() -> Result<(), Failure> {
    match Wish::parse() {
        Wish::Verdicts(wish) => verdicts::measure(&wish),
        Wish::Tables(wish) => tables::measure(&wish),
        Wish::Frontier(wish) => frontier::measure(&wish),
        Wish::Cards(wish) => tables::measure_cards(&wish),
    }
}
