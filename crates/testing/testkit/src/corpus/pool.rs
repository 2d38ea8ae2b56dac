//! The text that pages are drawn from.
//!
//! Words follow Zipf's law over a large vocabulary. The pool has zones of two megabytes, each with
//! its own frequent words behind the function words that all share, and a page draws its sections
//! from one zone: so pages have subjects, and two of them have a few paragraphs in common at most
//! now and then. Sections lie in the pool as they are served, so that a page costs a dozen copies.

use std::ops::Range;

use crate::prose::coined;
use crate::random::Random;

/// The smallest and the largest pool, in bytes: one zone, and few enough for a processor's cache.
const SIZES: (usize, usize) = (ZONE_SIZE, 8 * ZONE_SIZE);
/// Bytes in a zone, about 4,300 paragraphs.
const ZONE_SIZE: usize = 2 << 20;
/// Invented words behind the function words.
const VOCABULARY: usize = 30_000;
/// Slots over which Zipf's law is spread: the rarest word has one or two.
const SLOTS: usize = 1 << 20;
/// The rotation of the ranks of invented words from zone to zone.
const TURN: usize = 463;
/// Sentences in a paragraph.
const SENTENCES: usize = 4;
/// Paragraphs in a section, at most.
const PARAGRAPHS: usize = 4;
/// Between two paragraphs of a section.
const BREAK: &[u8] = b"</p>\n<p>";

/// The hundred words that all English texts share, the most frequent first.
const FUNCTION_WORDS: &str = "the of and to in a is that for it as was with be by on not he his \
    but at are this have from or had an they which one you were all her she there would their we \
    him been has when who will no more if out so up said what its about than into them can only \
    other time new some could these two may first then do any like my now over such our man me \
    even most made after also did many off before must well back through years where much your way \
    down should because long each just state those people too world very";

/// Paragraph after paragraph, zone after zone.
pub(super) struct Pool {
    text: Vec<u8>,
    /// The offset of each paragraph.
    paragraphs: Vec<u32>,
    /// The paragraphs of each zone at which a section can begin.
    zones: Vec<Range<usize>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} bytes)", self.text.len())
    }
}

/// A part of a page's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    /// The sentence that stands in for the first one, or nothing.
    pub(super) instead: &'a [u8],
    /// The paragraphs, or what follows the sentence that was exchanged.
    pub(super) text: &'a [u8],
}

impl Pool {
    /// A pool for texts of `size` bytes in all.
    pub(super) fn new(size: usize, seed: u64) -> Self {
        let mut random = Random::of(seed, 0);
        let words = vocabulary(&mut random);
        let ranks = zipf(words.len());
        let function_words = words.len() - VOCABULARY;
        let size = size.clamp(SIZES.0, SIZES.1);
        let text = Vec::with_capacity(size + 4_096);
        let mut pool = Self {
            text,
            paragraphs: Vec::new(),
            zones: Vec::new(),
        };
        for zone in 0..size / ZONE_SIZE {
            let first = pool.paragraphs.len();
            let word = |rank: usize| match rank.checked_sub(function_words) {
                None => words[rank].as_str(),
                Some(rank) => words[function_words + (rank + zone * TURN) % VOCABULARY].as_str(),
            };
            while pool.text.len() < (zone + 1) * ZONE_SIZE {
                pool.paragraphs
                    .push(u32::try_from(pool.text.len()).expect("the pool is smaller than 4 GiB"));
                for _ in 0..SENTENCES {
                    write_sentence(&mut pool.text, &mut random, |random| {
                        word(random.pick(&ranks) as usize)
                    });
                }
                pool.text.extend_from_slice(BREAK);
            }
            pool.zones.push(first..pool.paragraphs.len() - PARAGRAPHS);
        }
        pool
    }

    pub(super) fn zone(&self, random: &mut Random) -> usize {
        random.below(self.zones.len())
    }

    /// Returns sections of `paragraphs` paragraphs, until they have `size` bytes.
    pub(super) fn sections(
        &self,
        zone: usize,
        random: &mut Random,
        paragraphs: usize,
        size: usize,
    ) -> Vec<Section<'_>> {
        let mut sections = Vec::with_capacity(size / (256 * paragraphs));
        let mut left = size;
        while left > 0 {
            let section = self.section(zone, random, paragraphs);
            let text = &section[..section.len().min(end_of_paragraph(section, left))];
            left = left.saturating_sub(text.len());
            sections.push(Section { instead: &[], text });
        }
        sections
    }

    /// The section with its first sentence exchanged for another one of the zone.
    pub(super) fn with_another_sentence<'a>(
        &'a self,
        zone: usize,
        random: &mut Random,
        section: Section<'a>,
    ) -> Section<'a> {
        let old = first_sentence(section.text);
        let mut instead = old;
        while instead == old {
            instead = first_sentence(self.section(zone, random, 1));
        }
        Section {
            instead,
            text: &section.text[old.len()..],
        }
    }

    fn section(&self, zone: usize, random: &mut Random, paragraphs: usize) -> &[u8] {
        let first = self.zones[zone].start + random.below(self.zones[zone].len());
        let (start, end) = (
            self.paragraphs[first],
            self.paragraphs[first + paragraphs.min(PARAGRAPHS)],
        );
        &self.text[start as usize..end as usize - BREAK.len()]
    }
}

/// Returns the end of the paragraph that has the byte at `place`.
fn end_of_paragraph(section: &[u8], place: usize) -> usize {
    let after = section.get(place..).unwrap_or_default();
    after
        .windows(BREAK.len())
        .position(|window| window == BREAK)
        .map_or(section.len(), |end| place + end)
}

fn first_sentence(text: &[u8]) -> &[u8] {
    let end = text.windows(2).position(|two| two == b". ");
    &text[..end.map_or(text.len(), |end| end + 2)]
}

/// The first `count` words of a text, without the punctuation behind them.
pub(super) fn first_words(text: &[u8], count: usize) -> &[u8] {
    let spaces = text.iter().enumerate().filter(|(_, byte)| **byte == b' ');
    let end = spaces.map(|(place, _)| place).nth(count - 1);
    let words = &text[..end.unwrap_or(text.len())];
    words.strip_suffix(b",").unwrap_or(words)
}

/// A sentence of eight to twenty-four words, and a space.
fn write_sentence<'a>(
    text: &mut Vec<u8>,
    random: &mut Random,
    mut word: impl FnMut(&mut Random) -> &'a str,
) {
    let length = 8 + random.below(17);
    let start = text.len();
    for place in 0..length {
        if place > 0 {
            text.extend_from_slice(if random.below(12) == 0 { b", " } else { b" " });
        }
        text.extend_from_slice(word(random).as_bytes());
    }
    text[start].make_ascii_uppercase();
    text.extend_from_slice(b". ");
}

/// The function words and then invented ones, each once.
fn vocabulary(random: &mut Random) -> Vec<String> {
    let mut words: Vec<String> = FUNCTION_WORDS
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let mut seen: std::collections::HashSet<String> = words.iter().cloned().collect();
    let enough = words.len() + VOCABULARY;
    while words.len() < enough {
        let syllables = 2 + random.below(2);
        let word = coined(random, syllables);
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// Ranks, each as often as Zipf's law says: to pick one of these is to draw a word. Only divisions
/// and sums, which are the same on every machine.
fn zipf(words: usize) -> Vec<u16> {
    let total: f64 = (1..=words).map(|rank| 1.0 / rank as f64).sum();
    let mut slots = Vec::with_capacity(SLOTS);
    let mut cumulated = 0.0;
    for rank in 0..words {
        cumulated += 1.0 / (rank + 1) as f64;
        let until = (cumulated / total * SLOTS as f64) as usize;
        slots.resize(
            until.max(slots.len()),
            u16::try_from(rank).expect("the vocabulary is smaller than 65,536 words"),
        );
    }
    slots
}
