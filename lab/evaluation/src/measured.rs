//! The measures of a set: everything that a verdict could be made from, computed once.

use std::cmp::Reverse;

use neardup::{
    Features, Fingerprint, HashKey, NormalText, PageSignature, Shingles, SignatureBuilder, Sketch,
    Width,
};

use crate::configuration::{FEATURES, LARGER_SKETCH, WIDTHS};
use crate::minima::Minima;
use crate::oracle::{self, resemblance_of_counts};
use crate::sets::page::Page;
use crate::sets::set::Set;
use crate::threads;

/// The least resemblance of pairs that are considered, in 3-shingles: no threshold below is in
/// question.
pub(crate) const FLOOR: f64 = 0.5;

/// Words of a page that would be stored to recognise its subject.
pub(crate) const FREQUENT: usize = 32;

/// The pages of a set, judged by their main text or by all of it.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) pages: Vec<MeasuredPage>,
    /// All pairs from [`FLOOR`] on.
    pub(crate) near: Vec<Near>,
}

#[derive(Debug)]
pub(crate) struct MeasuredPage {
    /// The signature that the crawler remembers.
    pub(crate) signature: PageSignature,
    /// A digest of all words of the page, main text or not.
    pub(crate) full: u128,
    /// True if its main text must be equal as well and has no words.
    pub(crate) own_is_empty: bool,
    /// The number of judged words.
    pub(crate) words: usize,
    /// One for each of [`FEATURES`].
    pub(crate) fingerprints: Vec<Fingerprint>,
    counts: Vec<(u64, u32)>,
    /// The most frequent words in order, at most [`FREQUENT`].
    frequent: Vec<(u64, u32)>,
    /// One for each of [`WIDTHS`].
    shingles: [Measures; WIDTHS.len()],
}

/// Shingles of one width, with their sketches.
#[derive(Debug)]
struct Measures {
    exact: Shingles,
    sketch: Option<Sketch>,
    larger: Option<Minima>,
}

/// Two pages and their resemblance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub(crate) a: u32,
    pub(crate) b: u32,
    /// The resemblance of their counted words.
    pub(crate) words: f64,
    /// True if one text repeats a word that is not among the frequent ones of the other.
    pub(crate) other_frequent: bool,
    /// The largest count of a word that the other text lacks, and its share of the words of its
    /// text.
    pub(crate) exclusive: (u32, f64),
    /// One for each of [`WIDTHS`].
    pub(crate) shingles: [Resemblances; WIDTHS.len()],
}

/// The resemblance in shingles of one width, and estimates of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resemblances {
    pub(crate) exact: f64,
    pub(crate) sketch: f64,
    pub(crate) larger: f64,
}

impl Near {
    /// Returns true if one text repeats a word that the other lacks: at least three times, and as
    /// at least every hundredth word.
    pub(crate) fn has_another_subject(&self) -> bool {
        self.exclusive.0 >= 3 && self.exclusive.1 >= 0.01
    }
}

impl Measured {
    pub(crate) fn of(set: &Set, main_content: bool, features: &[Features], key: HashKey) -> Self {
        let pages = threads::each(set.pages.len(), |number| {
            MeasuredPage::of(&set.pages[number], main_content, features, key)
        });
        let sets: Vec<&[u64]> = pages
            .iter()
            .map(|page| page.shingles[0].exact.hashes())
            .collect();
        let resembling = oracle::resembling(&sets, FLOOR);
        let near = threads::each(resembling.len(), |number| {
            let pair = resembling[number];
            let (one, two) = (&pages[pair.a as usize], &pages[pair.b as usize]);
            Near {
                a: pair.a,
                b: pair.b,
                words: resemblance_of_counts(&one.counts, &two.counts),
                other_frequent: has_other_frequent(one, two) || has_other_frequent(two, one),
                exclusive: exclusive(one, two),
                shingles: std::array::from_fn(|width| {
                    one.shingles[width].compared_with(&two.shingles[width])
                }),
            }
        });
        Self { pages, near }
    }

    /// Returns all pairs that share a band of their sketches of [`WIDTHS`]`[width]`, each once, the
    /// lower number first.
    pub(crate) fn sharing_a_band(&self, width: usize) -> Vec<(u32, u32)> {
        let mut keys: Vec<(u64, u32)> = Vec::new();
        for (number, page) in (0..).zip(&self.pages) {
            if let Some(sketch) = &page.shingles[width].sketch {
                keys.extend(sketch.bands().iter().map(|&band| (band, number)));
            }
        }
        keys.sort_unstable();
        let mut pairs = Vec::new();
        for same in keys.chunk_by(|one, two| one.0 == two.0) {
            for (place, &(_, a)) in same.iter().enumerate() {
                pairs.extend(same[place + 1..].iter().map(|&(_, b)| (a, b)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

impl MeasuredPage {
    fn of(page: &Page, main_content: bool, features: &[Features], key: HashKey) -> Self {
        let judged = page.judged(main_content);
        let text = NormalText::of(judged.text);
        let counts = counts(&text, key);
        let mut frequent = counts.clone();
        frequent.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        frequent.truncate(FREQUENT);
        Self {
            signature: SignatureBuilder::new(Features::default(), key)
                .signature(page.payload, Some(judged)),
            full: NormalText::of(page.full()).digest(key),
            own_is_empty: judged
                .main_content
                .is_some_and(|own| NormalText::of(own).is_empty()),
            words: text.len(),
            fingerprints: features
                .iter()
                .map(|features| features.fingerprint(&text, key))
                .collect(),
            counts,
            frequent,
            shingles: WIDTHS.map(|width| Measures::of(&text, width, key)),
        }
    }
}

impl Measures {
    fn of(text: &NormalText, width: usize, key: HashKey) -> Self {
        let width = Width::new(width).expect("the widths of the configuration exist");
        let exact = Shingles::of(text, width, key);
        Self {
            sketch: Sketch::of(&exact),
            larger: (!exact.is_empty()).then(|| Minima::of(exact.hashes(), LARGER_SKETCH)),
            exact,
        }
    }

    fn compared_with(&self, other: &Self) -> Resemblances {
        let sketches = self.sketch.as_ref().zip(other.sketch.as_ref());
        let larger = self.larger.as_ref().zip(other.larger.as_ref());
        Resemblances {
            exact: self.exact.resemblance(&other.exact),
            sketch: sketches.map_or(0.0, |(one, two)| one.resemblance(two)),
            larger: larger.map_or(0.0, |(one, two)| one.resemblance(two)),
        }
    }
}

/// Returns each word of a text with its count, in the order of their hashes.
fn counts(text: &NormalText, key: HashKey) -> Vec<(u64, u32)> {
    let mut words: Vec<u64> = text
        .words()
        .map(|word| key.digest(word.as_bytes()) as u64)
        .collect();
    words.sort_unstable();
    words
        .chunk_by(|one, two| one == two)
        .map(|same| (same[0], same.len() as u32))
        .collect()
}

/// The features that fingerprints are compared for.
pub(crate) fn features() -> Vec<Features> {
    FEATURES
        .iter()
        .map(|written| {
            written
                .parse()
                .expect("the features of the configuration exist")
        })
        .collect()
}

/// Returns the largest count, in either text, of a word that the other lacks, and its share of the
/// text.
fn exclusive(one: &MeasuredPage, two: &MeasuredPage) -> (u32, f64) {
    let most = |one: &MeasuredPage, two: &MeasuredPage| {
        let lacks = |word: &u64| {
            two.counts
                .binary_search_by_key(word, |(held, _)| *held)
                .is_err()
        };
        let counts = one
            .counts
            .iter()
            .filter(|(word, _)| lacks(word))
            .map(|(_, count)| *count);
        let most = counts.max().unwrap_or(0);
        (most, f64::from(most) / one.words.max(1) as f64)
    };
    let (mine, theirs) = (most(one, two), most(two, one));
    if mine.1 >= theirs.1 { mine } else { theirs }
}

/// Returns true if `one` repeats a word that is not among the most frequent ones of `two`:
/// [`Near::has_another_subject`] with only the words that could be remembered of a page.
fn has_other_frequent(one: &MeasuredPage, two: &MeasuredPage) -> bool {
    // The last words that are stored of one text may be just beyond the limit of the other.
    let candidates = one.frequent.iter().take(FREQUENT / 2);
    candidates
        .filter(|(_, count)| *count >= 3 && *count as usize * 100 >= one.words)
        .any(|(word, _)| two.frequent.iter().all(|(known, _)| known != word))
}
