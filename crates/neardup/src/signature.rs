//! What is remembered of a page in order to recognise its like.

use serde::{Deserialize, Serialize};

use crate::bag::BagSketch;
use crate::features::Unit;
use crate::features::Weights;
use crate::features::Width;
use crate::fingerprint::Fingerprint;
use crate::fingerprinter::Fingerprinter;
use crate::key::HashKey;
use crate::mix::mix;
use crate::sketch::Sketch;
use crate::subject::Subject;
use crate::words::hashed::HashedText;

/// Texts with fewer words are compared exactly only: they have so few shingles that a phrase
/// decides.
pub const LEAST_WORDS: usize = 15;

/// All that the verdict about a page is made from. Values of different keys, features or
/// [`ALGORITHM`](crate::ALGORITHM)s must not meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSignature {
    /// Stands for the bytes of the body, such as [`HashKey::digest`] of them.
    pub payload: u128,
    /// The text's part; none for what is no text or has no words. It is boxed because half of the
    /// web is pictures.
    pub text: Option<Box<TextSignature>>,
}

/// The part of a signature that the text makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSignature {
    /// Stands for the normalised words in their order, and for the words that count in the subject:
    /// the same text under another heading is another text.
    pub digest: u128,
    /// How many words there are.
    pub words: u32,
    /// Stands for the words of the page's own text, where that must be equal as well.
    pub own: Option<u128>,
    /// The simhash, whatever the text's length.
    pub fingerprint: Fingerprint,
    /// Of the set of word 5-shingles; none where only the exact text may decide.
    pub sketch: Option<Sketch>,
    /// Of the words, counted; there where `sketch` is.
    pub bag: Option<BagSketch>,
    /// The words of heading and title; none where the page has neither.
    pub subject: Option<Subject>,
}

/// The text of a page, as extraction leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageText<'a> {
    /// What is judged: the main text, or everything on the page where there is too little of that.
    pub text: &'a str,
    /// The main text where it is short and the lesser part of `text`: boilerplate alone carries no
    /// verdict, so a near duplicate must have the same. If it has no words, `text` is all
    /// boilerplate and only exact equality counts.
    pub own: Option<&'a str>,
    /// The title, where the page has one: `<title>` in HTML.
    pub title: Option<&'a str>,
    /// The first heading of the main content, where there is one.
    pub heading: Option<&'a str>,
}

impl<'a> PageText<'a> {
    /// A text of which nothing else is known.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Makes signatures, all in the same way. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SignatureBuilder {
    fingerprinter: Fingerprinter,
    key: HashKey,
    halved: bool,
}

impl SignatureBuilder {
    /// A signature_builder whose fingerprints are made of [`Features`](crate::Features), or by a
    /// [`Fingerprinter`]; everything is hashed under `key`.
    #[must_use]
    pub fn new(fingerprinter: impl Into<Fingerprinter>, key: HashKey) -> Self {
        Self {
            fingerprinter: fingerprinter.into(),
            key,
            halved: false,
        }
    }

    /// The same with fingerprints of 32 bits: the upper half of each is 0 (see
    /// [`Fingerprint::halved`]). They save no memory here, but tell what systems with such
    /// fingerprints would find.
    #[must_use]
    pub fn halved(self) -> Self {
        Self {
            halved: true,
            ..self
        }
    }

    /// The fingerprint alone, in one pass where that is possible.
    #[must_use]
    pub fn fingerprint(&self, text: &str) -> Fingerprint {
        self.signed(self.fingerprinter.fingerprint_of_text(text, self.key))
    }

    fn signed(&self, fingerprint: Fingerprint) -> Fingerprint {
        if self.halved {
            Fingerprint::new(fingerprint.halved().as_u32().into())
        } else {
            fingerprint
        }
    }

    /// The signature of a page with this digest of its body and this text.
    #[must_use]
    pub fn signature(&self, payload: u128, text: Option<PageText<'_>>) -> PageSignature {
        let text = text.and_then(|page| self.text_signature(page));
        PageSignature {
            payload,
            text: text.map(Box::new),
        }
    }

    fn text_signature(&self, page: PageText<'_>) -> Option<TextSignature> {
        let text = HashedText::of(page.text, self.key);
        if text.is_empty() {
            return None;
        }
        let own = page.own.map(|own| HashedText::of(own, self.key));
        let may_resemble =
            text.len() >= LEAST_WORDS && own.as_ref().is_none_or(|own| !own.is_empty());
        let (bag, fingerprint) = self.bag_and_fingerprint(&text, page.text);
        let subject = Subject::of(page.title, page.heading, text.hashes(), self.key);
        Some(TextSignature {
            digest: digest(&text, subject.as_ref()),
            words: text.len() as u32,
            own: own.map(|own| own.digest()),
            fingerprint: self.signed(fingerprint),
            sketch: if may_resemble {
                Sketch::of_hashes(&text.runs(Width::VERIFICATION))
            } else {
                None
            },
            bag: bag.filter(|_| may_resemble),
            subject,
        })
    }

    fn bag_and_fingerprint(
        &self,
        hashed: &HashedText,
        text: &str,
    ) -> (Option<BagSketch>, Fingerprint) {
        let (bag, of_words) = hashed.bag_and_fingerprint();
        let features = self.fingerprinter.features();
        let fingerprint = match features.unit {
            Unit::Words(_) if !self.fingerprinter.needs_no_words() => None,
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

fn digest(text: &HashedText, subject: Option<&Subject>) -> u128 {
    let of_subject = subject.map_or(0, Subject::digest);
    let spread = |number: u64| if number == 0 { 0 } else { mix(number) };
    text.digest() ^ (u128::from(of_subject) << 64 | u128::from(spread(of_subject)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;

    fn text_signature(text: &str, own: Option<&str>) -> Option<Box<TextSignature>> {
        SignatureBuilder::new(Features::default(), HashKey::ZERO)
            .signature(
                7,
                Some(PageText {
                    own,
                    ..PageText::of(text)
                }),
            )
            .text
    }

    #[test]
    fn a_text_without_words_says_nothing() {
        assert_eq!(text_signature("", None), None);
        assert_eq!(text_signature(" — \u{0} ☃ ", Some("word")), None);
    }

    #[test]
    fn a_text_of_the_least_length_has_a_sketch_and_one_word_less_has_none() {
        let words: Vec<String> = (0..LEAST_WORDS).map(|n| format!("word{n}")).collect();
        let enough = text_signature(&words.join(" "), None).unwrap();
        assert_eq!(
            (enough.words as usize, enough.sketch.is_some()),
            (LEAST_WORDS, true)
        );
        let short = text_signature(&words[1..].join(" "), None).unwrap();
        assert_eq!(
            (short.words as usize, short.sketch.is_some()),
            (LEAST_WORDS - 1, false)
        );
        assert_ne!(short.fingerprint, Fingerprint::new(0));
    }

    #[test]
    fn a_page_without_a_word_of_its_own_is_compared_exactly_only() {
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
    fn a_signature_is_read_as_it_was_written_and_takes_little_more_than_its_sketch() {
        let text = "the page has words enough for a sketch ".repeat(4);
        let signature_builder = SignatureBuilder::new(Features::default(), HashKey::new(5));
        for text in [
            None,
            Some(PageText {
                text: &text,
                own: Some("words"),
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
