//! Near-duplicate detection: decides how similar two texts are, and finds similar texts among
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
//! An index with your own ids, which can be queried and changed:
//!
//! ```
//! use neardup::{HashKey, SignatureBuilder, TextIndex, Thresholds};
//!
//! // Runs of four characters, of which near duplicates share three fifths, in texts of any length.
//! let features: neardup::Features = "char:4".parse()?;
//! let builder = SignatureBuilder::new(features, HashKey::ZERO)
//!     .shingled_by(features.unit)
//!     .min_words(1);
//! let mut index = TextIndex::new(builder, Thresholds::new(3, 0.6)?);
//! index.insert("a.txt", "the quick brown fox jumps over the lazy dog");
//! index.insert("b.txt", "an entirely different sentence");
//! let found = index.find_all("the quick brown fox jumped over the lazy dog");
//! assert_eq!(found.iter().map(|found| *found.of).collect::<Vec<_>>(), ["a.txt"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pure: no clock, no disk, no threads. The pieces can be used separately, from the text upwards:
//!
//! - [`NormalText`]: the words of a text, case folded and composed; or the tokens of a tokenizer of
//!   your own. [`word_ranges`]: their places in the text.
//! - [`Features`] → [`Fingerprint`]: a simhash, 64 bits that differ in few places if the texts
//!   differ little (Charikar 2002); [`WeightedFeatures`] has the exact cosine that it estimates.
//! - [`Fingerprinter`]: a simhash without [`StopWords`], or weighted by
//!   [`DocumentFrequencies`](frequencies::DocumentFrequencies).
//! - [`Shingles`]: exact resemblance and containment (Broder 1997); [`Sketch`]: an estimate in 160
//!   bytes.
//! - [`ExactFingerprint`]: an equality test that compares texts only if their hashes are equal.
//! - [`TitleTerms`]: the words of title and heading that name a page; [`BagSketch`]: the multiset
//!   of a text's words, in 68 bytes.
//! - [`SignatureBuilder`] → [`PageSignature`] → [`SignatureIndex`], and [`TextIndex`], which owns
//!   both: the verdict. Fingerprints and sketch bands propose candidates, sketches decide
//!   (Henzinger 2006: either alone is wrong every other time). [`TextPair`]: each step of the
//!   decision on two texts.
//!
//! Separate modules, in addition to the verdict:
//!
//! - [`tables`]: all fingerprints within *k* bits of a given one (Manku, Jain and Das Sarma 2007);
//!   [`keys`]: exact keys of many millions of pages, in 5 to 6 bytes each.
//! - [`similarity`] and [`permutations`]: the minima of any set of numbers, from which sketches and
//!   MinHashes are made.
//! - [`clusters`]: groups of connected documents.
//! - [`frequencies`]: the number of documents that contain each word.
//!
//! With the feature `serde`, values can be serialized: fingerprints as digits in text formats. All
//! input is checked.
//!
//! Every hash is keyed by a [`HashKey`]; every value that may be stored belongs to a version,
//! [`ALGORITHM`].

// From text to words.
mod stop_words;
mod text;
mod words;

// From words to a fingerprint (simhash).
mod exact_fingerprint;
mod features;
mod fingerprint;
mod fingerprinter;
pub mod frequencies;
mod key;
mod simhash;
mod weighted_features;

// Resemblance, exact and estimated.
mod bag;
mod band_design;
pub mod permutations;
mod shingles;
mod short_shingles;
pub mod similarity;
mod sketch;
mod title_terms;

// Tables that find near fingerprints.
pub mod keys;
mod partition;
pub mod tables;

// The verdict about pages.
pub mod clusters;
mod parameters_digest;
mod signature;
mod signature_index;
mod text_index;
mod text_pair;
mod thresholds;

// Shared parts.
mod ids;
mod logarithm;
mod mix;
#[cfg(feature = "serde")]
mod serialized;
mod simd;

// From text to words.
pub use stop_words::StopWords;
#[cfg(feature = "stop-words")]
pub use stop_words::UnknownLanguage;
pub use text::{MAX_TEXT, NormalText, word_ranges};
pub use words::HashedText;

// From words to a fingerprint (simhash).
pub use exact_fingerprint::ExactFingerprint;
pub use features::{Features, MAX_WIDTH, Ties, Unit, UnknownFeatures, Weights, Width};
pub use fingerprint::{Fingerprint, FingerprintBits, InvalidBits, NotAFingerprint};
pub use fingerprinter::{Fingerprinter, InvalidFingerprinter};
pub use key::HashKey;
pub use weighted_features::WeightedFeatures;

// Resemblance, exact and estimated.
pub use bag::{BAG_BYTES, BagSketch};
pub use band_design::{BANDS, BandDesign, DEFAULT_RECALL, InvalidBandDesign};
pub use shingles::Shingles;
pub use short_shingles::ShortShingles;
pub use sketch::{SKETCH_BYTES, Sketch};
pub use title_terms::{MAX_TITLE_TERMS, MAX_TITLE_TERMS_BYTES, TitleTerms};

// Tables that find near fingerprints.
pub use partition::Partition;

// The verdict about pages.
pub use parameters_digest::{Parameter, ParametersDigest};
pub use signature::{
    BandedSignature, MIN_WORDS, PageSignature, PageText, SignatureBuilder, TextSignature,
};
pub use signature_index::{MAX_PER_BAND, SignatureIndex};
pub use text_index::{IndexText, OtherParameters, TextIndex, dedup};
pub use text_pair::TextPair;
pub use thresholds::{InvalidThresholds, Match, MatchKind, Thresholds};

// Shared parts.
pub use simd::instructions::Instructions;

/// Version of everything that this crate computes and others store: digests, fingerprints and
/// sketches.
///
/// Values of different versions must never be compared. The golden files pin the values of a
/// version; a change of any value raises the number.
pub const ALGORITHM: u16 = 3;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeExamples;
