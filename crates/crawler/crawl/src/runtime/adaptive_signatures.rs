//! Signatures of pages; with tf-idf weights, learned word frequencies.
//!
//! Signatures are comparable if they are built with the same weights, and frequencies drift while
//! they are learned. So a new builder begins only when the number of pages has doubled, starting at
//! 1,000: nine times on the way to half a million pages. A page and its copy may still be on two
//! sides of such a step; then the unweighted bands of their sketches match.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use neardup::frequencies::DocumentFrequencies;
use neardup::{
    Features, Fingerprinter, HashKey, HashedText, InvalidFingerprinter, NormalText, PageSignature,
    PageText, SignatureBuilder, StopWords,
};

/// Number of pages before the first use of learned frequencies.
const FIRST_LESSON: u64 = 1_000;

/// The builder of a crawl's signatures.
#[derive(Debug)]
pub struct AdaptiveSignatures {
    builder: RwLock<SignatureBuilder>,
    learning: Option<Learning>,
}

#[derive(Debug)]
struct Learning {
    features: Features,
    stop_words: Option<Arc<StopWords>>,
    key: HashKey,
    learned: Mutex<Learned>,
}

#[derive(Debug)]
struct Learned {
    frequencies: DocumentFrequencies,
    /// The page count that starts the next builder.
    next: u64,
}

impl AdaptiveSignatures {
    /// Returns signatures from one builder for all pages.
    #[must_use]
    pub fn new(builder: SignatureBuilder) -> Self {
        Self {
            builder: RwLock::new(builder),
            learning: None,
        }
    }

    /// Returns signatures of `features` weighted by tf-idf, which continue to learn from
    /// `frequencies`.
    ///
    /// # Errors
    /// [`InvalidFingerprinter`] if the features have other weights, or the frequencies belong to
    /// other features.
    pub fn learning(
        features: Features,
        stop_words: Option<Arc<StopWords>>,
        key: HashKey,
        frequencies: DocumentFrequencies,
    ) -> Result<Self, InvalidFingerprinter> {
        let known = Arc::new(frequencies.clone());
        let first = Fingerprinter::new(features, stop_words.clone(), Some(known))?;
        let learned = Learned {
            next: FIRST_LESSON.max(2 * frequencies.documents()),
            frequencies,
        };
        Ok(Self {
            builder: RwLock::new(SignatureBuilder::new(first, key)),
            learning: Some(Learning {
                features,
                stop_words,
                key,
                learned: Mutex::new(learned),
            }),
        })
    }

    /// Returns true if each page that is read changes the weights.
    pub(crate) fn learns(&self) -> bool {
        self.learning.is_some()
    }

    /// Hashes the words of a text for its signature.
    pub(crate) fn hashed(&self, text: &str) -> HashedText {
        self.builder().hashed(text)
    }

    /// Builds the signature of a page with this digest of its body and this text, which is
    /// [hashed](Self::hashed) already, and learns from the text.
    pub(crate) fn signature(
        &self,
        payload: u128,
        text: Option<(PageText<'_>, &HashedText)>,
    ) -> PageSignature {
        let builder = self.builder();
        if let (Some(learning), Some((page, _))) = (&self.learning, text)
            && let Some(better) = learning.learn(page.text)
        {
            *self.builder.write().unwrap_or_else(PoisonError::into_inner) = better;
        }
        builder.signature_of_hashed(payload, text)
    }

    fn builder(&self) -> SignatureBuilder {
        let builder = self.builder.read().unwrap_or_else(PoisonError::into_inner);
        builder.clone()
    }

    /// Returns the learned frequencies; `None` if the weights need none.
    #[must_use]
    pub fn frequencies(&self) -> Option<DocumentFrequencies> {
        let learning = self.learning.as_ref()?;
        let learned = learning
            .learned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Some(learned.frequencies.clone())
    }
}

impl Learning {
    /// Counts one more page; returns the builder that begins with it, if one does.
    fn learn(&self, text: &str) -> Option<SignatureBuilder> {
        let text = NormalText::of(text);
        let text = match &self.stop_words {
            Some(stop_words) => stop_words.taken_from(&text),
            None => text,
        };
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        learned.frequencies.learn(&text);
        if learned.frequencies.documents() < learned.next {
            return None;
        }
        learned.next *= 2;
        let known = Arc::new(learned.frequencies.clone());
        let fingerprinter = Fingerprinter::new(self.features, self.stop_words.clone(), Some(known));
        // The same features were possible before.
        fingerprinter
            .ok()
            .map(|fingerprinter| SignatureBuilder::new(fingerprinter, self.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(adaptive_signatures: &AdaptiveSignatures, text: &str) -> neardup::Fingerprint {
        let page = (PageText::of(text), &adaptive_signatures.hashed(text));
        adaptive_signatures
            .signature(0, Some(page))
            .text
            .unwrap()
            .fingerprint
    }

    fn learning() -> AdaptiveSignatures {
        let features: Features = "word:1+tf-idf".parse().unwrap();
        let none = DocumentFrequencies::new(features.unit);
        AdaptiveSignatures::learning(features, None, HashKey::ZERO, none).unwrap()
    }

    #[test]
    fn frequent_words_lose_weight_from_the_thousandth_page_on() {
        let adaptive_signatures = learning();
        let text = "the one and the other of the two and the rest of them";
        let at_first = fingerprint(&adaptive_signatures, text);
        for _ in 1..FIRST_LESSON / 2 {
            fingerprint(&adaptive_signatures, "the and of");
            assert_eq!(fingerprint(&adaptive_signatures, text), at_first);
        }
        assert_eq!(
            adaptive_signatures.frequencies().unwrap().documents(),
            FIRST_LESSON - 1
        );
        fingerprint(&adaptive_signatures, "the");
        assert_ne!(fingerprint(&adaptive_signatures, text), at_first);
    }

    #[test]
    fn learning_resumes_from_stored_frequencies() {
        let adaptive_signatures = learning();
        for page in 0..FIRST_LESSON {
            fingerprint(&adaptive_signatures, &format!("the page {page}"));
        }
        let frequencies = adaptive_signatures.frequencies().unwrap();
        assert_eq!(frequencies.documents(), FIRST_LESSON);
        let features: Features = "word:1+tf-idf".parse().unwrap();
        let resumed =
            AdaptiveSignatures::learning(features, None, HashKey::ZERO, frequencies).unwrap();
        let text = "the page of the book";
        assert_eq!(
            fingerprint(&resumed, text),
            fingerprint(&adaptive_signatures, text)
        );
    }

    #[test]
    fn weights_other_than_tf_idf_learn_nothing() {
        let features = Features::default();
        let none = DocumentFrequencies::new(features.unit);
        assert!(AdaptiveSignatures::learning(features, None, HashKey::ZERO, none).is_err());
        let adaptive_signatures =
            AdaptiveSignatures::new(SignatureBuilder::new(features, HashKey::ZERO));
        fingerprint(&adaptive_signatures, "text");
        assert_eq!(adaptive_signatures.frequencies(), None);
    }
}
