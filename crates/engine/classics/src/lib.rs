//! Algorithms of the literature that the verdict of a crawl does without, for comparison with it,
//! for plans, and for Python.
//!
//! - [`minhash`]: sets as minima, with b bits of each, super-shingles, and an index that finds the
//!   sets that contain most of a given set.
//! - [`samples`]: the samples of Broder (1997), of the least hashes and of those divisible by m.
//! - [`blocks`]: sorted tables of fingerprints in about half the space (Manku, Jain and Das Sarma
//!   2007).
//!
//! All of them work on values of [`neardup`]: sets of [`Shingles`](neardup::Shingles) and the bits
//! of fingerprints. Each estimator is tested against the theory of its paper, and returns its
//! standard error. Pure: no clock, no disk, no threads.
//!
//! ```
//! use classics::minhash::MinHasher;
//! use neardup::{Features, HashKey, NormalText, Shingles};
//!
//! let features: Features = "word:2".parse()?;
//! let hasher = MinHasher::default();
//! let of = |text| {
//!     let text = NormalText::of(text);
//!     hasher.of(&Shingles::of_unit(&text, features.unit, HashKey::ZERO))
//! };
//! let (one, other) = (of("a rose is a rose"), of("A rose is: a rose!"));
//! assert_eq!(one.resemblance(&other)?, 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Values that may be stored belong to a version of the engine, [`neardup::ALGORITHM`].

pub mod blocks;
pub mod minhash;
pub mod samples;

mod mix;
