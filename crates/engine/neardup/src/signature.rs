//! Signatures: the part of a page that is remembered to recognise its duplicates.

use crate::bag::BagSketch;
use crate::band_design::{BandDesign, MINIMA};
use crate::features::{Unit, Weights, Width};
use crate::fingerprint::{Fingerprint, FingerprintBits};
use crate::fingerprinter::Fingerprinter;
use crate::key::HashKey;
use crate::mix::mix;
use crate::parameters_digest::{Parameter, ParametersDigest};
use crate::short_shingles::ShortShingles;
use crate::sketch::{Sketch, minima_of};
use crate::text::NormalText;
use crate::title_terms::TitleTerms;
use crate::weighted_features::WeightedFeatures;
use crate::words::hashed::HashedText;

/// Minimum number of words of a text that may have near duplicates. Shorter texts are only compared
/// exactly: they have so few shingles that a phrase decides.
pub const MIN_WORDS: usize = 15;

/// Everything that the verdict about a page is based on. Values of different keys, features or
/// [`ALGORITHM`](crate::ALGORITHM)s must not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PageSignature {
    /// A digest of the body, such as [`HashKey::digest`].
    pub payload: u128,
    /// Signature of the text; `None` if the page has no text or no words. Boxed, because half of
    /// the web's resources are images.
    pub text: Option<Box<TextSignature>>,
}

/// The part of a signature that is made from the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TextSignature {
    /// Digest of the sequence of normalised words and of the required title terms: the
    /// same text under another heading is another text.
    pub digest: u128,
    /// Number of words.
    pub words: u32,
    /// Digest of the main content, if it must be equal as well.
    pub main_content: Option<u128>,
    /// Simhash, for texts of any length.
    pub fingerprint: Fingerprint,
    /// Sketch of the set of word 5-shingles, or of the builder's shingles; `None` if only the exact
    /// text decides.
    pub sketch: Option<Sketch>,
    /// Sketch of the multiset of words; present if `sketch` is.
    pub bag: Option<BagSketch>,
    /// Words of heading and title; `None` if the page has neither.
    pub title_terms: Option<TitleTerms>,
}

/// A signature with the keys that make it a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandedSignature {
    /// The signature.
    pub signature: PageSignature,
    /// Key of each band of a [`BandDesign`]; empty if only exact equality counts.
    pub bands: Box<[u32]>,
    /// Shingles of the sketch, if the builder [keeps them](SignatureBuilder::keeping_shingles):
    /// they give an exact resemblance.
    pub shingles: Option<ShortShingles>,
}

/// Adds the bands of the sketch, [`BandDesign::SKETCH`], without shingles.
impl From<PageSignature> for BandedSignature {
    fn from(signature: PageSignature) -> Self {
        let sketch = signature
            .text
            .as_deref()
            .and_then(|text| text.sketch.as_ref());
        Self {
            bands: sketch.map_or_else(Box::<[u32]>::default, |sketch| Box::new(sketch.band_keys())),
            signature,
            shingles: None,
        }
    }
}

/// Text of a page, as extracted.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// Judged text: the main content, or everything on the page if the main content is too short.
    pub text: &'a str,
    /// Main content, if it is short and the smaller part of `text`. Boilerplate alone cannot
    /// decide, so a near duplicate must have the same main content. If it contains no words, `text`
    /// is all boilerplate and only exact equality counts.
    pub main_content: Option<&'a str>,
    /// Title (`<title>` in HTML), if any.
    pub title: Option<&'a str>,
    /// First heading of the main content, if any.
    pub heading: Option<&'a str>,
}

impl<'a> PageText<'a> {
    /// Creates a page of `text` only.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// A builder of signatures with one set of features and one key. Cheap to clone.
///
/// ```
/// use neardup::{Features, HashKey, PageText, SignatureBuilder};
///
/// let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
/// let payload = HashKey::ZERO.digest(b"<p>Two words");
/// let signature = builder.signature(payload, Some(PageText::of("Two words")));
/// assert_eq!(signature.text.map(|text| text.words), Some(2));
/// ```
#[derive(Clone, Debug)]
pub struct SignatureBuilder {
    fingerprinter: Fingerprinter,
    key: HashKey,
    bits: FingerprintBits,
    shingles: Unit,
    keeps_shingles: bool,
    min_words: usize,
}

impl SignatureBuilder {
    /// Creates a builder whose fingerprints are made from [`Features`](crate::features::Features)
    /// or by a [`Fingerprinter`]; everything is hashed with `key`.
    #[must_use]
    pub fn new(fingerprinter: impl Into<Fingerprinter>, key: HashKey) -> Self {
        Self {
            fingerprinter: fingerprinter.into(),
            key,
            bits: FingerprintBits::ALL,
            shingles: Unit::Words(Width::VERIFICATION),
            keeps_shingles: false,
            min_words: MIN_WORDS,
        }
    }

    /// Makes sketches of these shingles instead of runs of five words. The default
    /// [`Thresholds`](crate::Thresholds) are tuned to five words: set a resemblance.
    #[must_use]
    pub fn shingled_by(self, shingles: Unit) -> Self {
        Self { shingles, ..self }
    }

    /// Keeps the shingles of each sketch in [banded signatures](Self::banded_signature), in four
    /// bytes each. Signatures and the parameters digest do not change otherwise.
    #[must_use]
    pub fn keeping_shingles(self) -> Self {
        Self {
            keeps_shingles: true,
            ..self
        }
    }

    /// Sets the minimum number of words of texts that may have near duplicates, instead of
    /// [`MIN_WORDS`].
    #[must_use]
    pub fn min_words(self, min_words: usize) -> Self {
        Self { min_words, ..self }
    }

    /// Limits fingerprints to this number of bits: the upper bits are 0 (see
    /// [`Fingerprint::lowest`]). This saves no memory, but shows the results of systems with such
    /// fingerprints.
    #[must_use]
    pub fn bits(self, bits: FingerprintBits) -> Self {
        Self { bits, ..self }
    }

    /// Returns the parameters digest of the signatures: only signatures with equal parameters
    /// digests are comparable.
    #[must_use]
    pub fn parameters_digest(&self) -> ParametersDigest {
        let mut parameters_digest = self.fingerprint_digest();
        if self.min_words != MIN_WORDS {
            parameters_digest.add("least words", self.min_words as u64);
        }
        match self.shingles {
            Unit::Words(Width::VERIFICATION) => {}
            Unit::Words(width) => parameters_digest.add("word shingles", width.get() as u64),
            Unit::Chars(width) => parameters_digest.add("character shingles", width.get() as u64),
        }
        parameters_digest
    }

    /// Returns the parameters digest of only the fingerprints, independent of shingles and least
    /// words.
    #[must_use]
    pub fn fingerprint_digest(&self) -> ParametersDigest {
        let mut parameters_digest = ParametersDigest::new(self.fingerprinter.clone(), self.key);
        if self.bits != FingerprintBits::ALL {
            parameters_digest.add("bits", self.bits.get().into());
        }
        parameters_digest
    }

    /// Returns the parameters digest of the fingerprints in words.
    #[must_use]
    pub fn fingerprint_parameters(&self) -> Vec<Parameter> {
        let mut parts = ParametersDigest::parts(self.fingerprinter.clone(), self.key);
        parts.push(Parameter {
            name: "bits",
            value: self.bits.get().to_string(),
        });
        parts
    }

    /// Returns the weighted features that a fingerprint is made from.
    #[must_use]
    pub fn weighted_features(&self, text: &NormalText) -> WeightedFeatures {
        WeightedFeatures::of(text, &self.fingerprinter, self.key)
    }

    /// Returns only the fingerprint, in one pass if possible.
    #[must_use]
    pub fn fingerprint(&self, text: &str) -> Fingerprint {
        let fingerprint = self.fingerprinter.fingerprint_of_text(text, self.key);
        fingerprint.lowest(self.bits)
    }

    /// Returns the fingerprint of a text that is normalised, or made of tokens.
    #[must_use]
    pub fn fingerprint_of_words(&self, words: &NormalText) -> Fingerprint {
        let fingerprint = self.fingerprinter.fingerprint(words, self.key);
        fingerprint.lowest(self.bits)
    }

    /// Returns a digest of everything in `page`, for texts without a separate body.
    pub(crate) fn payload(&self, page: &PageText<'_>) -> u128 {
        let parts = [page.main_content, page.title, page.heading];
        let of_parts = parts.iter().zip(1..).fold(0, |sum: u128, (part, turn)| {
            let digest = part.map_or(0, |part| self.key.digest(part.as_bytes()));
            sum ^ digest.rotate_left(turn)
        });
        self.key.digest(page.text.as_bytes()) ^ of_parts
    }

    /// Returns the signature of a page with this text and with `payload` as the digest of its body.
    #[must_use]
    pub fn signature(&self, payload: u128, text: Option<PageText<'_>>) -> PageSignature {
        let hashed = text.map(|page| self.hashed(page.text));
        self.signature_of_hashed(payload, text.zip(hashed.as_ref()))
    }

    /// Returns the words of a text, hashed with the key of the signatures.
    #[must_use]
    pub fn hashed(&self, text: &str) -> HashedText {
        HashedText::of(text, self.key)
    }

    /// Returns the [`signature`](Self::signature) of a page whose text is already
    /// [`hashed`](Self::hashed), because the caller also needs the hashes for something else.
    #[must_use]
    pub fn signature_of_hashed(
        &self,
        payload: u128,
        text: Option<(PageText<'_>, &HashedText)>,
    ) -> PageSignature {
        let text = text.and_then(|(page, hashed)| self.text_signature(page, hashed));
        PageSignature {
            payload,
            text: text.map(|(text, _)| Box::new(text)),
        }
    }

    /// Returns the signature of a text whose words come from the caller's own tokenizer (see
    /// [`NormalText::of_tokens`]), without title terms and main content. For a [`NormalText`] of a
    /// text, it is the [`signature`](Self::signature) of that text.
    #[must_use]
    pub fn signature_of_words(&self, payload: u128, words: &NormalText) -> PageSignature {
        let hashed = HashedText::of_normal(words, self.key);
        if hashed.is_empty() {
            return PageSignature {
                payload,
                text: None,
            };
        }
        let may_resemble = hashed.len() >= self.min_words;
        let sketch = || minima_of(&self.shingles.hashes(words, self.key));
        let (bag, _) = hashed.bag_and_fingerprint();
        let text = TextSignature {
            digest: hashed.digest(),
            words: hashed.len() as u32,
            main_content: None,
            fingerprint: self.fingerprint_of_words(words),
            sketch: may_resemble
                .then(sketch)
                .flatten()
                .map(|minima| Sketch::of_minima(&minima)),
            bag: bag.filter(|_| may_resemble),
            title_terms: None,
        };
        PageSignature {
            payload,
            text: Some(Box::new(text)),
        }
    }

    /// Returns the same signature of a page as [`signature`](Self::signature), with keys for the
    /// bands of this design.
    #[must_use]
    pub fn banded_signature(
        &self,
        payload: u128,
        text: Option<PageText<'_>>,
        design: BandDesign,
    ) -> BandedSignature {
        let signed = text.and_then(|page| self.text_signature(page, &self.hashed(page.text)));
        let (text, shingles) = signed.unzip();
        let shingles = shingles.flatten();
        let bands = shingles
            .as_ref()
            .map(|sampled| design.keys(&sampled.minima));
        BandedSignature {
            signature: PageSignature {
                payload,
                text: text.map(Box::new),
            },
            bands: bands.unwrap_or_default(),
            shingles: shingles
                .filter(|_| self.keeps_shingles)
                .map(|sampled| ShortShingles::of_hashes(&sampled.hashes)),
        }
    }

    /// Returns the signature of a text, and its shingles if it has a sketch.
    fn text_signature(
        &self,
        page: PageText<'_>,
        text: &HashedText,
    ) -> Option<(TextSignature, Option<SampledShingles>)> {
        if text.is_empty() {
            return None;
        }
        let main_content = page
            .main_content
            .map(|content| HashedText::of(content, self.key));
        let may_resemble = text.len() >= self.min_words
            && main_content
                .as_ref()
                .is_none_or(|content| !content.is_empty());
        let (bag, fingerprint) = self.bag_and_fingerprint(text, page.text);
        let title_terms = TitleTerms::of(page.title, page.heading, text.hashes(), self.key);
        let shingles = may_resemble.then(|| self.shingle_hashes(text, page.text));
        let shingles = shingles.and_then(SampledShingles::of);
        let signature = TextSignature {
            digest: digest(text, title_terms.as_ref()),
            words: text.len() as u32,
            main_content: main_content.map(|content| content.digest()),
            fingerprint: fingerprint.lowest(self.bits),
            sketch: shingles
                .as_ref()
                .map(|sampled| Sketch::of_minima(&sampled.minima)),
            bag: bag.filter(|_| may_resemble),
            title_terms,
        };
        Some((signature, shingles))
    }

    fn shingle_hashes(&self, hashed: &HashedText, text: &str) -> Vec<u64> {
        match self.shingles {
            Unit::Words(width) => hashed.runs(width),
            Unit::Chars(_) => self.shingles.hashes(&NormalText::of(text), self.key),
        }
    }

    fn bag_and_fingerprint(
        &self,
        hashed: &HashedText,
        text: &str,
    ) -> (Option<BagSketch>, Fingerprint) {
        let (bag, of_words) = hashed.bag_and_fingerprint();
        let features = self.fingerprinter.features();
        let fingerprint = match features.unit {
            Unit::Words(_) if !self.fingerprinter.is_plain() => None,
            Unit::Words(Width::ONE) if features.weights == Weights::LogTf => Some(of_words),
            Unit::Words(width) => Some(hashed.fingerprint(width, features.weights)),
            Unit::Chars(_) => None,
        };
        (
            bag,
            fingerprint.unwrap_or_else(|| self.fingerprinter.fingerprint_of_text(text, self.key)),
        )
    }
}

/// The shingles of a text, and the samples that its sketch and its bands are made from.
struct SampledShingles {
    /// In text order and with repetitions.
    hashes: Vec<u64>,
    minima: [u64; MINIMA],
}

impl SampledShingles {
    /// Samples shingles; returns `None` if `hashes` is empty.
    fn of(hashes: Vec<u64>) -> Option<Self> {
        let minima = minima_of(&hashes)?;
        Some(Self { hashes, minima })
    }
}

fn digest(text: &HashedText, title_terms: Option<&TitleTerms>) -> u128 {
    let of_terms = title_terms.map_or(0, TitleTerms::digest);
    let spread = |number: u64| if number == 0 { 0 } else { mix(number) };
    text.digest() ^ (u128::from(of_terms) << 64 | u128::from(spread(of_terms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::shingles::Shingles;

    fn text_signature(text: &str, main_content: Option<&str>) -> Option<Box<TextSignature>> {
        SignatureBuilder::new(Features::default(), HashKey::ZERO)
            .signature(
                7,
                Some(PageText {
                    main_content,
                    ..PageText::of(text)
                }),
            )
            .text
    }

    #[test]
    fn a_text_without_words_has_no_signature() {
        assert_eq!(text_signature("", None), None);
        assert_eq!(text_signature(" — \u{0} ☃ ", Some("word")), None);
    }

    #[test]
    fn a_text_of_the_least_length_has_a_sketch_and_one_word_less_has_none() {
        let words: Vec<String> = (0..MIN_WORDS).map(|n| format!("word{n}")).collect();
        let enough = text_signature(&words.join(" "), None).unwrap();
        assert_eq!(
            (enough.words as usize, enough.sketch.is_some()),
            (MIN_WORDS, true)
        );
        let short = text_signature(&words[1..].join(" "), None).unwrap();
        assert_eq!(
            (short.words as usize, short.sketch.is_some()),
            (MIN_WORDS - 1, false)
        );
        assert_ne!(short.fingerprint, Fingerprint::new(0));
    }

    #[test]
    fn another_floor_and_other_shingles_decide_if_they_are_asked_for() {
        let signature = |builder: &SignatureBuilder, text| {
            let signature = builder.signature(0, Some(PageText::of(text)));
            signature.text.and_then(|text| text.sketch)
        };
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let (one, two) = ("a rose is a rose", "a rose is a rosé");
        assert_eq!(signature(&builder, one), None);
        let lower = builder.clone().min_words(1);
        let resemblance = |builder: &SignatureBuilder| {
            let sketches = signature(builder, one).zip(signature(builder, two));
            sketches.map(|(one, two)| one.resemblance(&two))
        };
        assert!(resemblance(&lower) < Some(0.2));
        let by_characters = lower.shingled_by(Unit::Chars(Width::new(3).unwrap()));
        let text = NormalText::of(one);
        let shingles = Shingles::of_unit(&text, Unit::Chars(Width::new(3).unwrap()), HashKey::ZERO);
        assert_eq!(signature(&by_characters, one), Sketch::of(&shingles));
        assert!(resemblance(&by_characters) > Some(0.5));
    }

    #[test]
    fn a_page_whose_main_content_has_no_words_is_compared_exactly_only() {
        let menu = "home about contact imprint ".repeat(20);
        assert!(text_signature(&menu, None).unwrap().sketch.is_some());
        assert!(
            text_signature(&menu, Some("imprint"))
                .unwrap()
                .sketch
                .is_some()
        );
        assert!(
            text_signature(&menu, Some(" ... "))
                .unwrap()
                .sketch
                .is_none()
        );
    }

    #[test]
    fn the_signature_of_the_words_of_a_text_is_that_of_the_text() {
        let text = "A text, of many words; 猫 and ΟΔΥΣΣΕΥΣ as well. ".repeat(3);
        let builder = || SignatureBuilder::new(Features::default(), HashKey::new(5));
        for text in ["", "few words", &text] {
            for builder in [
                builder(),
                builder()
                    .bits(FingerprintBits::new(32).unwrap())
                    .min_words(40),
                builder().shingled_by("char:5".parse().unwrap()),
                builder().shingled_by("word:1".parse().unwrap()),
            ] {
                assert_eq!(
                    builder.signature_of_words(3, &NormalText::of(text)),
                    builder.signature(3, Some(PageText::of(text)))
                );
            }
        }
    }

    #[test]
    fn a_signature_is_read_as_it_was_written_and_takes_little_more_than_its_sketch() {
        let text = "the page has words enough for a sketch ".repeat(4);
        let signature_builder = SignatureBuilder::new(Features::default(), HashKey::new(5));
        for text in [
            None,
            Some(PageText {
                text: &text,
                main_content: Some("words"),
                title: Some("A page for a sketch, and enough other words"),
                heading: Some("This page has a heading of its own"),
            }),
            Some(PageText::of("few")),
        ] {
            let signature = signature_builder.signature(u128::MAX, text);
            let written = postcard::to_allocvec(&signature).unwrap();
            assert_eq!(
                postcard::from_bytes::<PageSignature>(&written).unwrap(),
                signature
            );
            assert!(written.len() <= 370, "{}", written.len());
        }
    }
}
