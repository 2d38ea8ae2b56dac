//! Decides how alike two texts are, and finds the like among millions.
//!
//! Pure: no clock, no disk, no threads. The pieces stand alone, from the text upwards:
//!
//! - [`NormalText`]: what of a text counts — its words, lower-cased.
//! - [`Features`] → [`Fingerprint`]: 64 bits that differ little where texts differ little (Charikar
//!   2002).
//! - [`Fingerprinter`]: the same without [`StopWords`], or weighted by [`DocumentFrequencies`].
//! - [`PermutedTables`]: all fingerprints within *k* bits of a given one (Manku, Jain and Das Sarma
//!   2007).
//! - [`Shingles`]: exact resemblance and containment (Broder 1997); [`Sketch`]: an estimate in 160
//!   bytes.
//! - [`MinHash`], [`BBitMinHash`], [`SuperShingles`], [`MinS`], [`ModM`]: the other samples of sets
//!   in use, each with its theory tested; [`ExactFingerprint`]: equality, which is compared only
//!   where it is likely.
//! - [`Subject`]: the words of title and heading that name a page; [`BagSketch`]: the words of a
//!   text, counted, in 68 bytes.
//! - [`KeyTable`], [`SeenKeys`]: exact keys of many millions of pages, in 5 to 6 bytes each.
//! - [`SignatureBuilder`] → [`PageSignature`] → [`SignatureIndex`]: the verdict. Fingerprints and
//!   sketch bands propose, sketches decide (Henzinger 2006: either alone is wrong every other
//!   time).
//!
//! ```
//! use neardup::{Features, SignatureIndex, HashKey, Likeness, PageText, SignatureBuilder, Thresholds};
//!
//! let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
//! let paint = |payload: &str| {
//!     let text = PageText::of(payload);
//!     signature_builder.signature(HashKey::ZERO.digest(payload.as_bytes()), Some(text))
//! };
//! let mut signature index = SignatureIndex::new(Thresholds::default());
//! signature index.insert(1, paint("To be, or not to be: that is the question."));
//! let found = signature index.find(&paint("to be or not to be — that is the question"));
//! assert_eq!(found.map(|found| (found.of, found.likeness)), Some((1, Likeness::SameText)));
//! ```
//!
//! Everything that is hashed is hashed under a [`HashKey`], and everything that may be stored obeys
//! [`ALGORITHM`].

mod bag;
pub mod blocks;
mod capped_bytes;
mod clusters;
mod exact_fingerprint;
mod features;
mod fingerprint;
mod fingerprinter;
mod frequencies;
mod ids;
mod key;
mod keys;
mod logarithm;
mod min_s;
mod minhash;
mod mix;
mod mod_m;
mod partition;
mod shingles;
mod signature;
mod signature_index;
mod simd;
mod simhash;
mod similarity;
mod sketch;
mod stop_words;
mod subject;
mod tables;
mod text;
mod thresholds;
mod word_shingles;
mod words;

pub use bag::{BAG_BYTES, BagSketch};
pub use clusters::{Clusters, Groups, NotAnOriginal, Representatives};
pub use exact_fingerprint::ExactFingerprint;
pub use features::{Features, MAX_WIDTH, Unit, UnknownFeatures, Weights, Width};
pub use fingerprint::{Fingerprint, Fingerprint32, NotAFingerprint};
pub use fingerprinter::{Fingerprinter, InvalidFingerprinter};
pub use frequencies::{DocumentFrequencies, FrequenciesError, MAX_TERM, MAX_TERMS};
pub use key::HashKey;
pub use keys::{KeyTable, MAX_PER_KEY, NotAscending, SeenKeys, ShortKey};
pub use min_s::{InvalidSample, MAX_MIN_SAMPLE, MinS};
pub use minhash::{
    BBitMinHash, BitsKept, DEFAULT_MINIMA, Family, Grouping, Incomparable, InvalidGrouping,
    InvalidMinHash, MAX_MINIMA, MinHash, MinHasher, NotAMinHash, SuperShingles,
};
pub use mod_m::{DifferentModuli, InvalidModulus, MAX_MOD_SAMPLE, ModM};
pub use partition::Partition;
pub use shingles::Shingles;
pub use signature::{LEAST_WORDS, PageSignature, PageText, SignatureBuilder, TextSignature};
pub use signature_index::{MAX_PER_BAND, SignatureIndex};
pub use simd::instructions::Instructions;
pub use sketch::{BANDS, SKETCH_BYTES, Sketch};
pub use stop_words::{StopWords, UnknownLanguage};
pub use subject::{MAX_SUBJECT_BYTES, MAX_SUBJECT_WORDS, Subject};
pub use tables::{
    CANDIDATES, InvalidDesign, MAX_DISTANCE, MAX_EQUAL, MAX_TABLES, Neighbour, Pair, Permutation,
    PermutedTables, Plan, QuarterTables, TableDesign, each_pair,
};
pub use text::{MAX_TEXT, NormalText};
pub use thresholds::{InvalidThresholds, Likeness, Match, Thresholds};
pub use word_shingles::word_shingles;
pub use words::HashedText;

/// The version of everything that this crate computes and others store: digests, fingerprints and
/// sketches.
///
/// Values of different versions must never be compared. The golden files pin what a version means;
/// whoever changes a value raises the number.
pub const ALGORITHM: u16 = 3;
