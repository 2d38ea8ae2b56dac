//! Tables that find all fingerprints within *k* bits of a given one without reading the whole set.
//!
//! A [`TableDesign`] is a set of permuted tables that finds everything, a [`Plan`] chooses a design
//! for a number of pages, and [`PermutedTables`] hold any design in sorted tables (Manku, Jain and
//! Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007, section 3). [`QuarterTables`]
//! are the default in memory: four tables whose buckets need no search and whose scans read two
//! bytes per fingerprint. [`each_pair`] finds all pairs, [`first_not_below`] a value in a sorted
//! table.

mod batch;
mod buckets;
mod build;
pub(crate) mod design;
mod interpolation;
mod lanes;
#[cfg(test)]
mod oracle;
mod order;
mod pairs;
mod permutation;
mod permuted;
mod plan;
mod probes;
pub(crate) mod quarters;
#[cfg(test)]
mod quarters_tests;
mod segment;
mod sorted;

pub(crate) use lanes::prefetch;

pub use design::{InvalidDesign, MAX_DISTANCE, MAX_TABLES, TableDesign};
pub use interpolation::first_not_below;
pub use pairs::{Pair, each_pair};
pub use permutation::Permutation;
pub use permuted::{MAX_EQUAL, Neighbour, PermutedTables};
pub use plan::{CANDIDATES, Plan};
pub use quarters::QuarterTables;
