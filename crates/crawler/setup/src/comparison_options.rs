//! Options that define near-duplicates: the features of fingerprints, and the criterion that
//! decides.
//!
//! Invariant: an option that is given decides. Without options, a crawl's features, shingles and
//! thresholds apply. `--features` also sets the shingles of resemblance; then a resemblance of 0.80
//! replaces thresholds that are tuned to runs of five words.

use std::path::PathBuf;

use batch::dedup::Verification;
use clap::Args;
use corpus::{InputOptions, Reader};
use messages::{CommandError, usage};
use neardup::{
    BandDesign, DEFAULT_RECALL, Features, Fingerprint, FingerprintBits, HashKey, MIN_WORDS,
    SignatureBuilder, Thresholds, Ties, Unit, Width,
};
use settings::features::FeatureSettings;
use settings::values::Switch;

/// The options of a fingerprint.
#[derive(Debug, Args)]
pub struct FeatureArgs {
    /// Features of fingerprints: word:1, word:3, char:5, … [default: word:1]. If given, also the
    /// shingles of resemblance [default: word:5]
    #[arg(long, value_name = "UNIT:N")]
    features: Option<Features>,
    /// Weights of features that occur tf times in the text and in df of N documents [default:
    /// log-tf]: none (1), tf, log-tf (1 + ln tf), tf-idf ((1 + ln tf) · (1 + ln ((N+1)/(df+1)))),
    /// plain-tf-idf (tf · ln (N/df)); rounded to 1/1024, and ln tf is at most ln 255
    #[arg(long, value_name = "WEIGHTS")]
    weights: Option<neardup::Weights>,
    /// Value of fingerprint bits whose features balance: one, or drop (0)
    #[arg(long, value_name = "RULE", default_value_t)]
    ties: Ties,
    /// Exclude the stop words of this language (en, de, …) from fingerprints
    #[arg(long, value_name = "LANG")]
    stop_words: Option<String>,
    /// With tf-idf and plain-tf-idf: file with the number of documents that contain each word, from
    /// `crawler frequencies` [default: counted in these documents]
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// Bits of a fingerprint, 8 to 64; lower widths keep the lowest bits
    #[arg(long, value_name = "BITS", default_value = "64")]
    bits: FingerprintBits,
}

impl FeatureArgs {
    /// Returns the builder of signatures for these documents, under the zero key. If words are
    /// weighted by document frequency, reads all documents first.
    pub fn signature_builder(
        &self,
        paths: &[PathBuf],
        input: &mut InputOptions,
        reader: &Reader,
    ) -> Result<SignatureBuilder, CommandError> {
        let features = self.features.unwrap_or_default();
        let features = Features {
            weights: self.weights.unwrap_or(features.weights),
            ..features
        };
        let settings = FeatureSettings::new(
            features,
            self.stop_words.as_deref(),
            self.frequencies.as_deref(),
        )?;
        let fingerprinter = settings
            .ties(self.ties)
            .learned_from(paths, input, reader)?
            .fingerprinter()?;
        let builder = SignatureBuilder::new(fingerprinter, HashKey::ZERO);
        Ok(builder.shingled_by(self.shingles()).bits(self.bits))
    }

    /// Returns true if any feature option is given.
    pub fn is_given(&self) -> bool {
        self.features.is_some()
            || self.weights.is_some()
            || self.stop_words.is_some()
            || self.frequencies.is_some()
            || self.ties != Ties::default()
            || self.bits != FingerprintBits::ALL
    }

    /// Returns the number of bits of a fingerprint.
    pub fn bits(&self) -> FingerprintBits {
        self.bits
    }

    /// Returns a fingerprint as hexadecimal digits.
    pub fn digits(&self, fingerprint: Fingerprint) -> String {
        fingerprint.digits(self.bits)
    }

    /// Returns the shingles of resemblance and containment.
    pub fn shingles(&self) -> Unit {
        self.features
            .map_or(Unit::Words(Width::VERIFICATION), |features| features.unit)
    }
}

/// The options of a verdict.
#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// Bits that two fingerprints may differ in, 0 to 7
    #[arg(long, value_name = "K", default_value_t = 3)]
    distance: u32,
    /// Minimum resemblance of near duplicates, 0 to 1 [default: by length: 1 under 50 words, 0.90
    /// under 100, 0.86 under 350, 0.80 otherwise; in prose, also 0.87 of the counted words; with
    /// --features: 0.80]
    #[arg(long, value_name = "R")]
    resemblance: Option<f64>,
    /// Confirm candidates by comparing their texts. off: fingerprints within --distance decide
    /// alone [default: on]
    #[arg(long, value_name = "ON|OFF", conflicts_with = "resemblance")]
    verify: Option<Switch>,
    /// Minimum number of words of near duplicates; shorter documents are compared for equality only
    /// [default: 15]
    #[arg(long, value_name = "N")]
    pub min_words: Option<usize>,
}

/// Minimum resemblance of near-duplicates if the shingles differ from a crawl's.
const OF_OTHER_SHINGLES: f64 = 0.8;

impl VerdictArgs {
    /// Returns the minimum number of words of near duplicates.
    pub fn min_words(&self) -> usize {
        self.min_words.unwrap_or(MIN_WORDS)
    }

    /// Returns the criterion of near duplicates.
    pub fn criterion(&self, features: &FeatureArgs) -> Result<Thresholds, CommandError> {
        let criterion = match self.is_verified() {
            false => Thresholds::within(self.distance),
            true => Thresholds::new(self.distance, self.asked_resemblance(features)),
        };
        criterion.map_err(|error| CommandError::of_usage(&error))
    }

    /// Returns the resemblance that decides; `None` if a crawl's thresholds decide.
    pub fn asked_resemblance(&self, features: &FeatureArgs) -> Option<f64> {
        self.resemblance
            .or_else(|| features.features.map(|_| OF_OTHER_SHINGLES))
    }

    /// Returns the measure that decides about candidates. This is the exact resemblance if a
    /// resemblance is given, unless `exact` is off.
    pub fn verification(
        &self,
        features: &FeatureArgs,
        exact: Option<Switch>,
    ) -> Result<Verification, CommandError> {
        let is_asked = self.asked_resemblance(features).is_some() && self.is_verified();
        match exact.map(Switch::is_on) {
            Some(true) if !is_asked => Err(usage(
                "--exact on requires --resemblance or --features".to_owned(),
            )
            .with_remedy(
                "give --resemblance; the default thresholds by length only apply to \
                estimates",
            )),
            Some(false) => Ok(Verification::Sketches),
            _ if is_asked => Ok(Verification::Shingles),
            _ => Ok(Verification::Sketches),
        }
    }

    fn is_verified(&self) -> bool {
        self.verify.is_none_or(Switch::is_on)
    }

    /// Returns the bands that find candidates, and the resemblance that they are designed for. If a
    /// crawl's thresholds decide, these are the bands of a crawl.
    pub fn bands(
        &self,
        features: &FeatureArgs,
        recall: Option<f64>,
    ) -> Result<(BandDesign, f64), CommandError> {
        let Some(resemblance) = self.asked_resemblance(features) else {
            return Ok((BandDesign::SKETCH, OF_LONG_TEXTS));
        };
        let recall = recall.unwrap_or(DEFAULT_RECALL);
        let design = BandDesign::for_resemblance(resemblance, recall)
            .map_err(|error| CommandError::of_usage(&error))?;
        Ok((design, resemblance))
    }
}

/// Minimum resemblance of long near-duplicates in a crawl.
const OF_LONG_TEXTS: f64 = 0.8;
