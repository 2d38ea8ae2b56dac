//! Texts, names of features, and files of document frequencies.

use std::sync::{Arc, LazyLock};

use neardup::frequencies::DocumentFrequencies;
use neardup::{
    Features, Fingerprinter, HashKey, NormalText, PageText, Shingles, SignatureBuilder, StopWords,
    Width,
};

const FEATURES: [&str; 8] = [
    "word:1",
    "word:3+none",
    "word:64+tf",
    "char:1+tf",
    "char:5",
    "word:1+tf-idf",
    "word:2+plain-tf-idf",
    "char:4+tf-idf",
];

static STOP_WORDS: LazyLock<[Arc<StopWords>; 3]> = LazyLock::new(|| {
    ["en", "ja", "th"]
        .map(|code| Arc::new(StopWords::of_language(code).expect("a language with a list")))
});

/// Reads any bytes as a text, as features and as a file of document frequencies.
pub fn features(bytes: &[u8]) {
    let [choice, bytes @ ..] = bytes else { return };
    let text = String::from_utf8_lossy(bytes);

    check_words(&text);

    let _ = text.parse::<Features>();
    let features: Features = FEATURES[usize::from(choice % 8)]
        .parse()
        .expect("features that exist");
    check_fingerprints(&text, features, usize::from(choice / 8));

    let mut counted = Vec::from(b"documents\t7\n");
    counted.extend_from_slice(bytes);
    for file in [bytes, &counted] {
        if let Ok(frequencies) = DocumentFrequencies::read(file) {
            check_round_trip(&frequencies);
        }
    }
}

/// Asserts that words are neither empty nor hold white space, which separates them.
fn check_words(text: &str) {
    let whole = NormalText::of(text);
    assert_eq!(whole.words().count(), whole.len());
    let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
    assert!(whole.words().all(is_word));
    assert_eq!(whole.words().collect::<Vec<_>>().join(" "), whole.as_str());
    // The fast paths see much text at once, this one a piece at a time.
    let pieces: Vec<NormalText> = text.split_whitespace().map(NormalText::of).collect();
    let parted: Vec<&str> = pieces.iter().flat_map(NormalText::words).collect();
    assert_eq!(whole.words().collect::<Vec<_>>(), parted);
}

fn check_fingerprints(text: &str, features: Features, choice: usize) {
    let normal = NormalText::of(text);
    let stop_words = STOP_WORDS.get(choice % 4).cloned();
    let mut frequencies = DocumentFrequencies::new(features.unit);
    text.lines()
        .for_each(|line| frequencies.learn(&NormalText::of(line)));
    check_round_trip(&frequencies);
    let frequencies = Some(Arc::new(frequencies)).filter(|_| features.weights.needs_frequencies());
    let fingerprinter =
        Fingerprinter::new(features, stop_words, frequencies).expect("all that it needs");
    let fingerprint = fingerprinter.fingerprint(&normal, HashKey::new(1));
    assert_eq!(
        fingerprint,
        fingerprinter.fingerprint(&NormalText::of(text), HashKey::new(1))
    );

    let width = Width::new(1 + choice % 64).expect("1 to 64");
    let shingles = Shingles::of(&normal, width, HashKey::ZERO);
    assert!(shingles.len() <= normal.len());
    let page = PageText::of(text);
    let signature = SignatureBuilder::new(features, HashKey::ZERO).signature(0, Some(page));
    assert_eq!(signature.text.is_some(), !normal.is_empty());
}

fn check_round_trip(frequencies: &DocumentFrequencies) {
    let mut file = Vec::new();
    frequencies
        .write(&mut file)
        .expect("memory takes everything");
    let again = DocumentFrequencies::read(&file[..]).expect("what was written can be read");
    assert_eq!(again.documents(), frequencies.documents());
    assert_eq!(again.unit(), frequencies.unit());
    assert!(again.len() <= frequencies.len());
}
