//! Features: the parts of a text that are hashed into a fingerprint, and their weights.

use std::fmt;
use std::str::FromStr;

use crate::text::NormalText;

/// Maximum width of a shingle, in words or characters.
pub const MAX_WIDTH: usize = 64;

/// Number of words or characters per feature: 1 to [`MAX_WIDTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "usize", into = "usize"))]
pub struct Width(u8);

impl Width {
    /// Single words or characters.
    pub const ONE: Width = Width(1);

    /// Width of the shingles that decide about resemblance: five words. With three, texts on other
    /// subjects in the same phrases look more similar than they are (`docs/adr/0005`).
    pub const VERIFICATION: Width = Width(5);

    /// Width of the shingles in the system that clustered the web in 1997 (Broder, Glassman,
    /// Manasse and Zweig): ten words.
    pub const CLUSTERING_1997: Width = Width(10);

    /// Creates a width of `width` words or characters.
    ///
    /// # Errors
    /// [`UnknownFeatures::Width`] for 0 and for more than [`MAX_WIDTH`].
    pub fn new(width: usize) -> Result<Self, UnknownFeatures> {
        match u8::try_from(width) {
            Ok(narrow) if (1..=MAX_WIDTH).contains(&width) => Ok(Self(narrow)),
            _ => Err(UnknownFeatures::Width(width)),
        }
    }

    /// Returns the number of words or characters.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl TryFrom<usize> for Width {
    type Error = UnknownFeatures;

    fn try_from(width: usize) -> Result<Self, UnknownFeatures> {
        Self::new(width)
    }
}

impl From<Width> for usize {
    fn from(width: Width) -> usize {
        width.get()
    }
}

/// The unit of a feature, written `word:3` or `char:5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A number of consecutive words.
    Words(Width),
    /// A number of consecutive characters of the words joined by single spaces.
    Chars(Width),
}

/// Weight of a feature that occurs tf times in a text, written `none`, `tf`, `log-tf`, `tf-idf` or
/// `plain-tf-idf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// 1, for any tf.
    None,
    /// tf.
    Tf,
    /// 1 + ln tf, in steps of 1/1024, where tf above 255 counts as 255.
    LogTf,
    /// (1 + ln tf) · (1 + ln ((N+1) / (df+1))), in steps of 1/1024, where tf above 255 counts as
    /// 255, and df of N documents seen before have the feature (Manning, Raghavan and Schütze,
    /// *Introduction to Information Retrieval*, section 6.4.1, with one additional document that
    /// contains everything). A [`Fingerprinter`](crate::fingerprinter::Fingerprinter) has the
    /// documents; without any this is log-tf.
    TfIdf,
    /// tf · ln (N/df), in steps of 1/1024, where df of N documents have the feature, and a df of 0
    /// counts as 1 (Spärck Jones 1972; Salton and Buckley 1988). A feature of all documents has
    /// weight 0. Without a [`Fingerprinter`](crate::fingerprinter::Fingerprinter) this is tf.
    PlainTfIdf,
}

impl Weights {
    /// Returns true if the weights depend on the number of documents that have a feature.
    #[must_use]
    pub const fn needs_frequencies(self) -> bool {
        matches!(self, Self::TfIdf | Self::PlainTfIdf)
    }
}

/// Value of a bit whose ones and zeros weigh the same, written `drop` or `one`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ties {
    /// The bit is dropped: 0.
    #[default]
    Drop,
    /// 1, as in descriptions that take the sign of the sum and count 0 as positive.
    One,
}

/// The parameters digest of a fingerprint: features of one kind, weighted. Written `word:1+log-tf`;
/// `log-tf` is the default for the weights.
///
/// The default, single words weighted 1 + ln tf, finds the most: with raw tf, frequent function
/// words make unrelated pages similar.
///
/// ```
/// use neardup::{Features, HashKey, NormalText, UnknownFeatures};
///
/// let features: Features = "word:2+none".parse()?;
/// let fingerprint = features.fingerprint(&NormalText::of("To be or not to be"), HashKey::ZERO);
/// assert_eq!(fingerprint, features.fingerprint_of_text("to be, or not to be", HashKey::ZERO));
/// # Ok::<(), UnknownFeatures>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// The unit of a feature.
    pub unit: Unit,
    /// The weights of features.
    pub weights: Weights,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            unit: Unit::Words(Width::ONE),
            weights: Weights::LogTf,
        }
    }
}

/// Returns the bounds of all runs of `width` characters; a shorter text is one run.
fn char_shingle_spans(text: &str, width: Width) -> impl Iterator<Item = (usize, usize)> {
    let starts = text.char_indices().map(|(at, _)| at);
    let ends = text
        .char_indices()
        .map(|(at, _)| at)
        .skip(width.get())
        .chain([text.len()]);
    // In a shorter text, `ends` holds only the end of the text; an empty text has no start.
    starts.zip(ends)
}

impl Unit {
    /// Returns the bounds of each feature in the text's words, joined by single spaces, in text
    /// order and with repetitions.
    pub(crate) fn spans(self, text: &NormalText) -> Vec<(usize, usize)> {
        match self {
            Unit::Words(width) => {
                let words: Vec<(usize, usize)> = text.spans().collect();
                let run = |run: &[(usize, usize)]| (run[0].0, run[run.len() - 1].1);
                match words.len() {
                    0 => Vec::new(),
                    count => words.windows(width.get().min(count)).map(run).collect(),
                }
            }
            Unit::Chars(width) => char_shingle_spans(text.as_str(), width).collect(),
        }
    }
}

/// A specification of unknown features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownFeatures {
    /// A width of 0 or above [`MAX_WIDTH`].
    #[error("the width of a feature must be between 1 and {MAX_WIDTH}, got {0}")]
    Width(usize),
    /// Not `word:W` or `char:K`.
    #[error("unknown feature `{0}`: use `word:W` or `char:K` with W and K from 1 to {MAX_WIDTH}")]
    Unit(String),
    /// Unknown weights.
    #[error("unknown weights `{0}`: use `none`, `tf`, `log-tf`, `tf-idf` or `plain-tf-idf`")]
    Weights(String),
    /// Neither `drop` nor `one`.
    #[error("unknown ties `{0}`: use `drop` or `one`")]
    Ties(String),
}

impl FromStr for Unit {
    type Err = UnknownFeatures;

    fn from_str(written: &str) -> Result<Self, UnknownFeatures> {
        let unknown = || UnknownFeatures::Unit(quoted(written));
        let (kind, width) = written.split_once(':').ok_or_else(unknown)?;
        let make = match kind {
            "word" => Unit::Words,
            "char" => Unit::Chars,
            _ => return Err(unknown()),
        };
        if width.is_empty() || !width.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unknown());
        }
        // Digits that overflow count as too wide, like 65.
        Width::new(width.parse().unwrap_or(usize::MAX)).map(make)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::Words(width) => write!(f, "word:{}", width.get()),
            Unit::Chars(width) => write!(f, "char:{}", width.get()),
        }
    }
}

impl FromStr for Weights {
    type Err = UnknownFeatures;

    fn from_str(written: &str) -> Result<Self, UnknownFeatures> {
        match written {
            "none" => Ok(Weights::None),
            "tf" => Ok(Weights::Tf),
            "log-tf" => Ok(Weights::LogTf),
            "tf-idf" => Ok(Weights::TfIdf),
            "plain-tf-idf" => Ok(Weights::PlainTfIdf),
            _ => Err(UnknownFeatures::Weights(quoted(written))),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Weights::None => "none",
            Weights::Tf => "tf",
            Weights::LogTf => "log-tf",
            Weights::TfIdf => "tf-idf",
            Weights::PlainTfIdf => "plain-tf-idf",
        })
    }
}

impl FromStr for Ties {
    type Err = UnknownFeatures;

    fn from_str(written: &str) -> Result<Self, UnknownFeatures> {
        match written {
            "drop" | "zero" => Ok(Self::Drop),
            "one" => Ok(Self::One),
            _ => Err(UnknownFeatures::Ties(quoted(written))),
        }
    }
}

impl fmt::Display for Ties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drop => "drop",
            Self::One => "one",
        })
    }
}

impl FromStr for Features {
    type Err = UnknownFeatures;

    fn from_str(written: &str) -> Result<Self, UnknownFeatures> {
        let (unit, weights) = written.split_once('+').unwrap_or((written, "log-tf"));
        Ok(Self {
            unit: unit.parse()?,
            weights: weights.parse()?,
        })
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.unit, self.weights)
    }
}

/// Returns the beginning of a wrong argument, long enough to recognise it.
fn quoted(argument: &str) -> String {
    argument.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::HashKey;
    use crate::{Fingerprint, FingerprintBits};
    use proptest::prelude::*;

    fn fingerprint(features: &str, text: &str) -> Fingerprint {
        features
            .parse::<Features>()
            .unwrap()
            .fingerprint(&NormalText::of(text), HashKey::ZERO)
    }

    #[test]
    fn features_are_read_as_they_are_written() {
        for written in [
            "word:1+log-tf",
            "word:64+none",
            "char:5+tf",
            "word:1+tf-idf",
            "char:3+plain-tf-idf",
        ] {
            assert_eq!(written.parse::<Features>().unwrap().to_string(), written);
        }
        assert_eq!("word:1".parse(), Ok(Features::default()));
        assert_eq!(
            "char:5".parse::<Features>().unwrap().to_string(),
            "char:5+log-tf"
        );
    }

    #[test]
    fn invalid_features_are_refused_with_the_valid_forms() {
        let message = |wrong: &str| wrong.parse::<Features>().unwrap_err().to_string();
        assert_eq!(
            message("word:0"),
            "the width of a feature must be between 1 and 64, got 0"
        );
        assert_eq!(
            message("char:65"),
            "the width of a feature must be between 1 and 64, got 65"
        );
        for wrong in [
            "", "word", "word:", "word:+3", "word:-1", "words:3", "line:1", "word:3:4",
        ] {
            assert!(
                message(wrong).contains("unknown feature"),
                "{wrong}: {}",
                message(wrong)
            );
        }
        assert!(message("word:99999999999999999999").contains("between 1 and 64"));
        assert_eq!(
            message("word:1+idf"),
            "unknown weights `idf`: use `none`, `tf`, `log-tf`, `tf-idf` or `plain-tf-idf`"
        );
    }

    #[test]
    fn texts_without_words_have_fingerprint_zero() {
        for features in ["word:1", "word:3+none", "char:5+tf"] {
            assert_eq!(fingerprint(features, ""), Fingerprint::new(0));
            assert_eq!(fingerprint(features, " ... "), Fingerprint::new(0));
        }
    }

    #[test]
    fn a_text_of_one_word_has_the_hash_of_that_word_at_any_width_in_words() {
        let hash = Fingerprint::new(HashKey::ZERO.token(b"alone"));
        for features in ["word:1", "word:3+none", "word:64+tf", "char:64"] {
            assert_eq!(fingerprint(features, "Alone!"), hash, "{features}");
        }
    }

    #[test]
    fn one_word_a_million_times_has_the_fingerprint_of_one() {
        let text = "again ".repeat(1_000_000);
        for features in ["word:1", "word:1+none", "word:1+tf"] {
            assert_eq!(fingerprint(features, &text), fingerprint(features, "again"));
        }
        assert_eq!(
            fingerprint("word:3", &text),
            fingerprint("word:3", "again again again")
        );
    }

    #[test]
    fn german_sentences_of_one_meaning_are_nearer_to_each_other_than_to_a_third() {
        let one = "Wenn jeder an sich denkt, ist an alle gedacht";
        let two = "Wenn jeder an sich denkt, ist an jeden gedacht";
        let third = "Sein oder nicht sein";
        for features in [
            "word:1",
            "word:1+none",
            "word:1+tf",
            "char:5",
            "char:3+none",
        ] {
            let [one, two, third] = [one, two, third].map(|text| fingerprint(features, text));
            let near = one.distance(two);
            assert!(
                near < one.distance(third) && near < two.distance(third),
                "{features}: {near}"
            );
            let half = FingerprintBits::new(32).unwrap();
            let [one, two, third] = [one, two, third].map(|one| one.lowest(half));
            let near = one.distance(two);
            assert!(
                near < one.distance(third) && near < two.distance(third),
                "{features}, 32 bits: {near}"
            );
        }
    }

    #[test]
    fn another_key_gives_another_fingerprint() {
        let text = NormalText::of("to be or not to be");
        let features = Features::default();
        assert_ne!(
            features.fingerprint(&text, HashKey::ZERO),
            features.fingerprint(&text, HashKey::new(1))
        );
    }

    proptest! {
        #[test]
        fn characters_are_taken_in_every_window(text in "[a-zéЖ東]{1,30}", width in 1_usize..8) {
            let width = Width::new(width).unwrap();
            let chars: Vec<char> = text.chars().collect();
            let expected: Vec<String> = chars
                .windows(width.get().min(chars.len()))
                .map(|window| window.iter().collect())
                .collect();
            let found: Vec<&str> = char_shingle_spans(&text, width)
                .map(|(start, end)| &text[start..end])
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
