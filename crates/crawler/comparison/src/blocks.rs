//! A page as a list of blocks.

use std::borrow::Cow;
use std::ops::Range;

use hashbrown::HashSet;
use neardup::{HashKey, NormalText};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Minimum words of a long block. A text of this length under many headings is boilerplate.
pub(crate) const LONG: usize = 10;
/// Minimum words of a sentence; shorter lines are bylines and labels.
pub(crate) const SENTENCE: usize = 6;
/// Minimum words of a sentence; shorter lines are bylines and labels.
const MIN_WORDS_WITHOUT_SENTENCES: usize = 25;
/// … if at most one word in this many has a capital or ends with a mark.
const MARKED_PART: usize = 50;
/// Maximum words of a heading. A text without lines is not a heading.
const LONGEST_HEADING: usize = 50;
/// Placeholders of a number and of an address in a shape.
const NUMBER: char = '\u{0}';
const ADDRESS: &str = "\u{1}";

/// The texts of a page, as its reader extracts them.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageParts<'a> {
    /// URL of the page; empty for a file. A number in it names the page and is not a fact.
    pub url: &'a str,
    /// Title of the page.
    pub title: Option<&'a str>,
    /// First heading of the page.
    pub heading: Option<&'a str>,
    /// Main content, one block per line.
    pub main: &'a str,
    /// Judged text, one block per line: everything outside the boilerplate that the page declares.
    pub judged: &'a str,
    /// True if the text is only a part of the page.
    pub is_partial: bool,
    /// True for plain text, such as the source of a page: its signs may be markup.
    pub is_plain: bool,
}

/// A page to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedPage {
    pub(crate) title: String,
    pub(crate) heading: String,
    /// The texts of all blocks, one after the other: a page takes one allocation, not one for each
    /// block.
    text: String,
    /// Blocks of the compared text, in page order.
    blocks: Vec<StoredBlock>,
    /// Numbers in the page's URL, without leading zeros.
    pub(crate) numbers_of_url: HashSet<String>,
    pub(crate) is_partial: bool,
    pub(crate) is_plain: bool,
    /// True for words without sentences, folded or stemmed before: nobody can know what a number or
    /// a name in them belongs to.
    pub(crate) lacks_sentences: bool,
}

/// A block of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Text of the block, with folded white space.
    pub text: &'a str,
    /// Hash of the text, character by character.
    pub hash: u64,
    /// Hash of the text with a placeholder for each number and each address.
    pub shape: u64,
    /// Number of words.
    pub words: usize,
    /// True for a block of the main content.
    pub is_main: bool,
}

/// A block without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoredBlock {
    /// End of its text in the text of all blocks. It begins at the end of the block before.
    end: usize,
    hash: u64,
    shape: u64,
    words: usize,
    is_main: bool,
}

impl ComparedPage {
    /// Returns a page as a list of blocks.
    #[must_use]
    pub fn of(parts: &PageParts<'_>) -> Self {
        // If the two texts are equal, one is enough.
        let main: Option<HashSet<u64>> = (parts.main != parts.judged)
            .then(|| lines(parts.main).map(|line| hash_of(&line)).collect());
        let mut text = String::with_capacity(parts.judged.len());
        let mut blocks = Vec::new();
        for line in lines(parts.judged) {
            text.push_str(&line);
            blocks.push(StoredBlock::of(&line, text.len(), main.as_ref()));
        }
        // Blocks within the main content belong to it: the price below a heading.
        let first = blocks.iter().position(|block| block.is_main);
        let last = blocks
            .iter()
            .rposition(|block| block.is_main && block.words >= LONG);
        if let (Some(first), Some(last)) = (first, last)
            && let Some(within) = blocks.get_mut(first..last)
        {
            within.iter_mut().for_each(|block| block.is_main = true);
        }
        Self {
            title: folded(
                parts
                    .title
                    .filter(|title| words_in(title) <= LONGEST_HEADING)
                    .unwrap_or_default(),
            )
            .into_owned(),
            heading: match (parts.heading, blocks.first()) {
                (Some(heading), _) if words_in(heading) > LONGEST_HEADING => String::new(),
                (Some(heading), _) => folded(heading).into_owned(),
                (None, Some(first)) if parts.is_plain && first.words <= LONGEST_HEADING => {
                    bare(&text[..first.end]).to_owned()
                }
                (None, _) => String::new(),
            },
            text,
            blocks,
            numbers_of_url: numbers_in(parts.url).map(str::to_owned).collect(),
            is_partial: parts.is_partial,
            is_plain: parts.is_plain,
            lacks_sentences: lacks_sentences(parts),
        }
    }

    /// Returns true if a text has numbers but no letters, and all its numbers are in the page's
    /// URL.
    pub(crate) fn is_named_by(&self, text: &str) -> bool {
        !text.chars().any(char::is_alphabetic)
            && numbers_in(text).next().is_some()
            && numbers_in(text).all(|number| self.numbers_of_url.contains(number))
    }

    /// Returns true for plain text.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Returns about the page's memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let names = self.title.capacity() + self.heading.capacity();
        let blocks = self.blocks.capacity() * size_of::<StoredBlock>();
        size_of::<Self>() + names + self.text.capacity() + blocks
    }

    /// Returns the blocks in page order.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let mut start = 0;
        self.blocks.iter().map(move |block| {
            let text = &self.text[start..block.end];
            start = block.end;
            Block {
                text,
                hash: block.hash,
                shape: block.shape,
                words: block.words,
                is_main: block.is_main,
            }
        })
    }

    /// Returns a hash of the page's name: the words of its heading, or of its title. A name that
    /// consists of signs counts as it is.
    #[must_use]
    pub fn content(&self) -> u64 {
        let name = match self.heading.is_empty() {
            true => &self.title,
            false => &self.heading,
        };
        let words = NormalText::of(name);
        match words.is_empty() {
            true => hash_of(name),
            false => words
                .words()
                .fold(0, |hash, word| spread(hash ^ hash_of(word))),
        }
    }
}

impl StoredBlock {
    /// Creates a block with this text, which ends at `end` of the text of all blocks. `main` has
    /// the hashes of the main content, unless all blocks belong to it.
    fn of(text: &str, end: usize, main: Option<&HashSet<u64>>) -> Self {
        let hash = hash_of(text);
        Self {
            end,
            hash,
            shape: match has_values(text) {
                true => hash_of(&shape_of(text)),
                false => hash,
            },
            words: words_in(text),
            is_main: main.is_none_or(|main| main.contains(&hash)),
        }
    }
}

impl<'a> Block<'a> {
    /// Returns a hash of the block's words, without signs and case.
    pub(crate) fn words_hash(&self) -> u64 {
        bag_of(self.text)
            .into_iter()
            .fold(self.words as u64, |sum, word| {
                sum.wrapping_add(spread(word))
            })
    }

    /// Returns true if the block contains a number or an address.
    pub(crate) fn has_values(&self) -> bool {
        self.shape != self.hash
    }

    /// Returns true if the block contains an address.
    pub(crate) fn has_address(&self) -> bool {
        self.text.split(' ').any(is_address)
    }

    /// Returns the numbers and addresses in the block, in text order.
    pub(crate) fn values(&self) -> Vec<Value<'a>> {
        let mut values = Vec::new();
        let mut start = 0;
        for word in self.text.split_inclusive(' ') {
            if is_address(word) {
                values.push(Value {
                    start,
                    text: word.trim_end(),
                    is_address: true,
                    context: context(self.text, start, start + word.len()),
                });
                start += word.len();
                continue;
            }
            let mut rest = start;
            for part in word.split_inclusive(|c: char| !c.is_numeric()) {
                let number = part.trim_end_matches(|c: char| !c.is_numeric());
                if !number.is_empty() {
                    values.push(Value {
                        start: rest,
                        text: number,
                        is_address: false,
                        context: context(self.text, rest, rest + number.len()),
                    });
                }
                rest += part.len();
            }
            start += word.len();
        }
        values
    }
}

/// A number or an address in a block, which the block's shape leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    /// Position in the block, in bytes.
    pub(crate) start: usize,
    pub(crate) text: &'a str,
    pub(crate) is_address: bool,
    /// Hash of the words directly before and after the value; `None` if these are too short.
    pub(crate) context: Option<u64>,
}

impl Value<'_> {
    /// Returns the value's place in pages with this block.
    pub(crate) fn place(&self, block: &Block<'_>) -> u64 {
        place_of_value(self.context.unwrap_or(block.shape))
    }

    /// Returns the value's byte range in the block.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// Returns a hash of the words directly before and after a byte range of a text; `None` if neither
/// has at least three letters.
fn context(text: &str, start: usize, end: usize) -> Option<u64> {
    let is_break = |c: char| c == ' ' || c.is_numeric();
    let before = text[..start].trim_end();
    let before = before.rsplit(is_break).next().unwrap_or_default();
    let behind = text[end..].trim_start();
    let behind = behind.split(is_break).next().unwrap_or_default();
    let is_word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).count() > 2;
    let tells = is_word(before) || is_word(behind);
    tells.then(|| spread(hash_of(before)) ^ hash_of(behind))
}

/// Returns the runs of digits in a text, without leading zeros.
fn numbers_in(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_numeric());
    runs.filter(|run| !run.is_empty())
        .map(|run| run.trim_start_matches('0'))
}

fn is_address(word: &str) -> bool {
    word.contains("://") || word.starts_with("www.")
}

fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.lines().map(folded).filter(|line| !line.is_empty())
}

/// Returns the hash of a line as a block or, if it is long, its shape.
pub(crate) fn line_key(line: &str) -> u64 {
    let line = folded(line);
    let block = StoredBlock::of(&line, line.len(), None);
    match block.words >= LONG {
        true => block.shape,
        false => block.hash,
    }
}

/// Returns a text with each run of white space as one space, in Unicode's form NFC: editors encode
/// the same letter in several ways.
fn folded(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() && is_nfc_quick(text.chars()) != IsNormalized::Yes {
        let composed: String = text.nfc().collect();
        return Cow::Owned(without_spare_space(&composed).into_owned());
    }
    without_spare_space(text)
}

fn without_spare_space(text: &str) -> Cow<'_, str> {
    let has_other_space = match text.is_ascii() {
        true => count_of(text.as_bytes(), |byte| matches!(byte, b'\t'..=b'\r')) > 0,
        false => text.contains(|c: char| c.is_whitespace() && c != ' '),
    };
    let are_spaces = |before: u8, byte: u8| before == b' ' && byte == b' ';
    let has_spare_space = text.starts_with(' ')
        || text.ends_with(' ')
        || count_of_pairs(text.as_bytes(), are_spaces) > 0;
    match !has_other_space && !has_spare_space {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// Returns a run without the marks around it.
pub(crate) fn bare(run: &str) -> &str {
    run.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns true for a text that contains a number or an address; otherwise it is its own shape.
fn has_values(text: &str) -> bool {
    let has_number = match text.is_ascii() {
        true => count_of(text.as_bytes(), |byte| byte.is_ascii_digit()) > 0,
        false => text.contains(char::is_numeric),
    };
    has_number || text.contains("://") || text.contains("www.")
}

fn shape_of(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        if is_address(word) {
            shape.push_str(ADDRESS);
            continue;
        }
        for c in word.chars() {
            match c.is_numeric() {
                true if shape.ends_with(NUMBER) => {}
                true => shape.push(NUMBER),
                false => shape.push(c),
            }
        }
    }
    shape
}

/// Returns true for a folded text: without title and heading, with nearly no capitals and nearly no
/// marks after words, in a script with both. In prose, every tenth word has a mark.
fn lacks_sentences(parts: &PageParts<'_>) -> bool {
    if parts.title.is_some() || parts.heading.is_some() {
        return false;
    }
    let is_mark = |word: &str| word.ends_with(['.', ',', ';', ':', '!', '?', ')', '"']);
    let (mut words, mut cased, mut signs) = (0, 0, 0);
    for word in parts.judged.split_whitespace() {
        let is_capital = word.contains(char::is_uppercase);
        words += 1;
        cased += usize::from(is_capital || word.contains(char::is_lowercase));
        signs += usize::from(is_capital || is_mark(word));
    }
    words >= MIN_WORDS_WITHOUT_SENTENCES && 2 * cased > words && MARKED_PART * signs <= words
}

/// Returns the number of words: runs without white space, or the characters of a script without
/// spaces. Counts in a single pass, for weights.
pub(crate) fn words_in(text: &str) -> usize {
    if text.is_ascii() {
        return ascii_words_in(text.as_bytes());
    }
    let mut words = 0;
    let mut is_inside = false;
    for c in text.chars() {
        match (is_unspaced(c), c.is_alphanumeric()) {
            (true, _) => {
                words += 1;
                is_inside = false;
            }
            (false, true) => {
                words += usize::from(!is_inside);
                is_inside = true;
            }
            (false, false) => is_inside = is_inside && !c.is_whitespace(),
        }
    }
    words
}

/// Returns the number of runs without white space that contain a letter or digit.
fn ascii_words_in(bytes: &[u8]) -> usize {
    // Plain comparisons vectorize; sets of characters do not.
    let is_space = |byte: u8| byte <= b' ';
    let is_word = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10;
    let begins = |before: u8, byte: u8| is_space(before) & !is_space(byte);
    let is_odd = |before: u8, byte: u8| begins(before, byte) & !is_word(byte);
    let has_none = |at: usize| {
        let run = bytes[at..].iter();
        let mut run = run.take_while(|byte| !is_space(**byte));
        !run.any(|byte| is_word(*byte))
    };
    let Some(first) = bytes.first() else { return 0 };
    let mut words = usize::from(!is_space(*first) && !has_none(0));
    for start in (1..bytes.len()).step_by(PIECE) {
        let end = bytes.len().min(start + PIECE);
        let piece = &bytes[start - 1..end];
        words += count_of_pairs(piece, begins);
        // Few runs begin with a sign, and most of these continue with a letter.
        if count_of_pairs(piece, is_odd) > 0 {
            let odd = (start..end).filter(|at| is_odd(bytes[at - 1], bytes[*at]));
            words -= odd.filter(|at| has_none(*at)).count();
        }
    }
    words
}

/// Bytes counted at a time: the count fits a `u8`, so that the loop vectorizes.
const PIECE: usize = u8::MAX as usize;

/// Returns the number of bytes that satisfy `is_so`.
fn count_of(bytes: &[u8], is_so: impl Fn(u8) -> bool) -> usize {
    let pieces = bytes.chunks(PIECE);
    let counts = pieces.map(|piece| piece.iter().map(|byte| u8::from(is_so(*byte))).sum::<u8>());
    counts.map(usize::from).sum()
}

/// Returns the number of bytes that satisfy `are_so` together with the byte before.
fn count_of_pairs(bytes: &[u8], are_so: impl Fn(u8, u8) -> bool) -> usize {
    let behind = bytes.get(1..).unwrap_or_default();
    let pieces = bytes.chunks(PIECE).zip(behind.chunks(PIECE));
    let counts = pieces.map(|(before, piece)| {
        let pairs = before.iter().zip(piece);
        pairs
            .map(|(before, byte)| u8::from(are_so(*before, *byte)))
            .sum::<u8>()
    });
    counts.map(usize::from).sum()
}

/// Returns true for a character of a script without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff)
        || is_ideograph(c)
}

/// Returns true for a character that forms a word alone.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0x2_0000..=0x3_ffff)
}

pub(crate) fn hash_of(text: &str) -> u64 {
    HashKey::ZERO.digest(text.as_bytes()) as u64
}

/// Returns the place of a number or an address with this context.
pub(crate) fn place_of_value(context: u64) -> u64 {
    spread(context.wrapping_add(2))
}

/// Spreads a hash, so that a sum of hashes depends on each.
pub(crate) fn spread(hash: u64) -> u64 {
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29
}

/// Returns the hashes of the words of a text, ascending.
pub(crate) fn bag_of(text: &str) -> Vec<u64> {
    let mut bag: Vec<u64> = NormalText::of(text).words().map(hash_of).collect();
    bag.sort_unstable();
    bag
}
