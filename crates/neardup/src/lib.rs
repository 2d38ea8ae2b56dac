//! Near-duplicate detection: decides how similar two texts are, and finds similar ones among
//! millions.
//!
//! ```
//! let texts = ["To be, or not to be", "Much ado about nothing", "to be or not to be!"];
//! for (text, repeats) in texts.iter().zip(neardup::dedup(texts)) {
//!     match repeats {
//!         Some(original) => println!("{text:?} repeats text {original}"),
//!         None => println!("{text:?} is new"),
//!     }
//! }
//! ```
//!
//! An index with ids of your own, which can be asked and changed:
//!
//! ```
//! use neardup::{HashKey, SignatureBuilder, TextIndex, Thresholds};
//!
//! // Runs of four characters, of which near duplicates share three fifths, in texts of any length.
//! let features: neardup::Features = "char:4".parse()?;
//! let builder = SignatureBuilder::new(features, HashKey::ZERO)
//!     .shingled_by(features.unit)
//!     .least_words(1);
//! let mut index = TextIndex::new(builder, Thresholds::new(3, 0.6)?);
//! index.insert("a.txt", "the quick brown fox jumps over the lazy dog");
//! index.insert("b.txt", "an entirely different sentence");
//! let found = index.find_all("the quick brown fox jumped over the lazy dog");
//! assert_eq!(found.iter().map(|found| *found.of).collect::<Vec<_>>(), ["a.txt"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pure: no clock, no disk, no threads. The pieces stand alone, from the text upwards:
//!
//! - [`NormalText`]: the words of a text, case folded and composed; or the tokens of a tokenizer of
//!   your own.
//! - [`Features`] → [`Fingerprint`]: a simhash, 64 bits that differ in few places if the texts
//!   differ little (Charikar 2002); [`WeightedFeatures`] has the exact cosine that it estimates.
//! - [`Fingerprinter`]: a simhash without [`StopWords`], or weighted by [`DocumentFrequencies`].
//! - [`PermutedTables`], [`QuarterTables`]: all fingerprints within *k* bits of a given one (Manku,
//!   Jain and Das Sarma 2007).
//! - [`Shingles`]: exact resemblance and containment (Broder 1997); [`Sketch`]: an estimate in 160
//!   bytes.
//! - [`MinHash`], [`BBitMinHash`], [`SuperShingles`], [`MinS`], [`ModM`], [`Sketch1997`]: other
//!   samples of sets in use, each tested against its theory, and each with its standard error;
//!   [`ContainmentIndex`]: the sets that contain most of a given one.
//! - [`ExactFingerprint`]: an equality test that compares texts only if their hashes are equal.
//! - [`Subject`]: the words of title and heading that name a page; [`BagSketch`]: the multiset of a
//!   text's words, in 68 bytes.
//! - [`KeyTable`], [`SeenKeys`]: exact keys of many millions of pages, in 5 to 6 bytes each.
//! - [`SignatureBuilder`] → [`PageSignature`] → [`SignatureIndex`], and [`TextIndex`], which owns
//!   both: the verdict. Fingerprints and sketch bands propose candidates, sketches decide (Henzinger
//!   2006: either alone is wrong every other time).
//!
//! With the feature `serde`, values can be serialized: fingerprints as digits in text formats, and
//! whatever is read is checked.
//!
//! Every hash is keyed by a [`HashKey`]; every value that may be stored belongs to a version,
//! [`ALGORITHM`].

// From text to words.
mod stop_words;
mod text;
mod word_shingles;
mod words;

// From words to a fingerprint (simhash).
mod exact_fingerprint;
mod features;
mod fingerprint;
mod fingerprinter;
mod frequencies;
mod key;
mod simhash;
mod weighted_features;

// Resemblance, exact and estimated.
mod bag;
mod band_design;
mod min_s;
mod minhash;
mod mod_m;
mod shingles;
mod similarity;
mod sketch;
mod sketch_1997;
mod subject;

// Tables that find what is near.
pub mod blocks;
mod keys;
mod partition;
mod tables;

// The verdict about pages.
mod clusters;
mod criterion;
mod recipe;
mod signature;
mod signature_index;
mod text_index;
mod thresholds;

// Shared parts.
mod ids;
mod logarithm;
mod mix;
#[cfg(feature = "serde")]
mod serialized;
mod simd;

// From text to words.
pub use stop_words::{StopWords, UnknownLanguage};
pub use text::{MAX_TEXT, NormalText};
pub use word_shingles::word_shingles;
pub use words::HashedText;

// From words to a fingerprint (simhash).
pub use exact_fingerprint::ExactFingerprint;
pub use features::{Features, MAX_WIDTH, Unit, UnknownFeatures, Weights, Width};
pub use fingerprint::{Fingerprint, Fingerprint32, NotAFingerprint};
pub use fingerprinter::{Fingerprinter, InvalidFingerprinter};
pub use frequencies::{DocumentFrequencies, FrequenciesError, MAX_TERM, MAX_TERMS};
pub use key::HashKey;
pub use weighted_features::WeightedFeatures;

// Resemblance, exact and estimated.
pub use bag::{BAG_BYTES, BagSketch};
pub use band_design::{BANDS, BandDesign, DEFAULT_RECALL, InvalidBandDesign};
pub use min_s::{InvalidSample, MAX_MIN_SAMPLE, MinS};
pub use minhash::{
    BBitMinHash, BitsKept, Contained, ContainmentIndex, DEFAULT_MINIMA, Family, Grouping,
    Incomparable, InvalidGrouping, InvalidMinHash, MAX_MINIMA, MinHash, MinHasher, NotAMinHash,
    SuperShingles,
};
pub use mod_m::{DifferentModuli, InvalidModulus, MAX_MOD_SAMPLE, ModM};
pub use shingles::Shingles;
pub use sketch::{SKETCH_BYTES, Sketch};
pub use sketch_1997::{InvalidBits, NotASketch1997, Sketch1997};
pub use subject::{MAX_SUBJECT_BYTES, MAX_SUBJECT_WORDS, Subject};

// Tables that find what is near.
pub use keys::{KeyTable, MAX_PER_KEY, NotAscending, SeenKeys, ShortKey};
pub use partition::Partition;
pub use tables::{
    CANDIDATES, InvalidDesign, MAX_DISTANCE, MAX_EQUAL, MAX_TABLES, Neighbour, Pair, Permutation,
    PermutedTables, Plan, QuarterTables, TableDesign, each_pair,
};

// The verdict about pages.
pub use clusters::{Clusters, Groups, NotAnOriginal};
pub use criterion::Criterion;
pub use recipe::Recipe;
pub use signature::{
    BandedSignature, LEAST_WORDS, PageSignature, PageText, SignatureBuilder, TextSignature,
};
pub use signature_index::{MAX_PER_BAND, SignatureIndex};
pub use text_index::{IndexText, OtherRecipe, TextIndex, dedup};
pub use thresholds::{InvalidThresholds, Likeness, Match, Thresholds};

// Shared parts.
pub use simd::instructions::Instructions;

/// The version of everything that this crate computes and others store: digests, fingerprints and
/// sketches.
///
/// Values of different versions must never be compared. The golden files pin the values of a
/// version; a change of any value raises the number.
pub const ALGORITHM: u16 = 3;
