//! Differences within similar blocks: names, numbers and signs.

use std::ops::Range;

use differences::{Difference, RunKind};
use hashbrown::{HashMap, HashSet};

use crate::blocks::{
    Block, ComparedPage, LONG, SENTENCE, bag_of, bare, hash_of, is_ideograph, is_unspaced,
    place_of_value, spread,
};
use crate::parts::Left;
use crate::reason::Reason;

/// Maximum words of a run whose numbers are compared.
const SHORT_RUN: usize = 8;
/// Minimum number of places where a word replaces the same other word, to count as a name.
const MIN_TIMES: usize = 2;
/// Signs that separate words. Pages of one site vary them without meaning.
const SEPARATORS: [&str; 10] = ["|", "·", "•", "–", "—", "-", "»", "›", "/", ">"];
/// Maximum length of a name, in words.
const NAME: usize = 4;
/// Maximum words and marks on each side of a number that may belong to the same date.
const MAX_AROUND: usize = 4;
/// Maximum numbers of a page that may change on their own at a time: a counter, a time and a date.
pub(crate) const MAX_NUMBERS: usize = 3;
/// Maximum number of shared numbers that are examined.
const MAX_EQUAL: usize = 32;
/// Length of the text before and after a run that identifies its place, in bytes.
const NEAR: usize = 160;

/// Differences within similar blocks.
#[derive(Default)]
pub(crate) struct Differences<'a> {
    /// The two pages that are compared.
    pages: Option<(&'a ComparedPage, &'a ComparedPage)>,
    /// Words in place of others, with the number of times. For added words, one side is empty.
    names: HashMap<(String, String), usize>,
    pub(crate) number: Option<Reason>,
    /// True if signs may be markup.
    pub(crate) ignores_signs: bool,
    sign: Option<Reason>,
    heading: Option<Reason>,
    /// Words that both pages have in similar blocks.
    pub(crate) shared: usize,
    pub(crate) ours: usize,
    pub(crate) theirs: usize,
    /// Part of `ours` and `theirs` that is in sentences.
    pub(crate) ours_in_sentences: usize,
    pub(crate) theirs_in_sentences: usize,
    /// Words of differing numbers and dates, on both sides.
    pub(crate) of_numbers: usize,
    /// Words that replace others.
    pub(crate) replaced: usize,
    /// Places of numbers that differ in otherwise equal blocks, each with a hash of the page's
    /// value.
    pub(crate) places: Vec<(u64, u64)>,
    /// Places where other words replace each other, each with a hash of the page's words.
    pub(crate) names_at: Vec<(u64, u64)>,
    /// True if a number differs in any other place.
    pub(crate) has_other_number: bool,
}

impl<'a> Differences<'a> {
    /// Creates an empty set of differences between two pages.
    pub(crate) fn of(page: &'a ComparedPage, original: &'a ComparedPage) -> Self {
        Self {
            ignores_signs: page.is_plain || original.is_plain,
            pages: Some((page, original)),
            ..Self::default()
        }
    }

    /// Returns true for numbers that occur in the URLs of their pages: `Item 4711` at `/item/4711`.
    fn is_name_of_pages(&self, ours: &str, theirs: &str) -> bool {
        self.pages
            .is_some_and(|(page, original)| page.is_named_by(ours) && original.is_named_by(theirs))
    }

    /// Compares titles and headings. A name that differs in both counts once.
    pub(crate) fn headings(&mut self, page: &ComparedPage, original: &ComparedPage) {
        let mut both = Self {
            pages: self.pages,
            ..Self::default()
        };
        both.words(&page.title, &original.title, true, &|_| false);
        both.words(&page.heading, &original.heading, true, &|_| false);
        both.names.values_mut().for_each(|times| *times = 1);
        self.take_names(both);
        let (ours, theirs) = (&page.heading, &original.heading);
        let has_words = |text: &str| !bag_of(text).is_empty();
        let is_by_signs = !has_words(ours) || !has_words(theirs);
        if is_by_signs && ours != theirs && !ours.is_empty() && !theirs.is_empty() {
            self.heading = Some(Reason::Heading(ours.clone(), theirs.clone()));
        }
    }

    /// Takes over the names and the sign of other differences.
    fn take_names(&mut self, other: Self) {
        for (name, times) in other.names {
            *self.names.entry(name).or_default() += times;
        }
        self.sign = self.sign.take().or(other.sign);
    }

    /// Compares two similar blocks.
    pub(crate) fn pair(
        &mut self,
        ours: &Left<'_>,
        theirs: &Left<'_>,
        changes: &impl Fn(Option<u64>) -> bool,
    ) {
        if changes(ours.place) && changes(theirs.place) {
            return;
        }
        let is_frame = ours.is_frame || theirs.is_frame;
        let is_main = ours.block.is_main || theirs.block.is_main;
        if ours.block.shape == theirs.block.shape {
            self.shared += if is_frame { 0 } else { ours.block.words };
            for differing in ours.values_that_differ(theirs) {
                if self.number.is_some() && self.places.len() > MAX_NUMBERS {
                    break;
                }
                let is_name = self.is_name_of_pages(differing.ours, differing.theirs);
                let is_of_run = || is_in_changing_run(ours.block.text, &differing.at, changes);
                if !is_name && !changes(Some(differing.place)) && !is_of_run() {
                    if is_main || is_frame {
                        self.places.push((differing.place, hash_of(differing.ours)));
                    }
                    if is_main {
                        self.number.get_or_insert(differing.reason());
                    }
                }
            }
            return;
        }
        if !is_main || is_frame {
            return;
        }
        // The same few words in another order mean the same: `By wren, 5 May`. A name may be added.
        if ours.block.words.max(theirs.block.words) < LONG {
            let (one, other) = (bag_of(ours.block.text), bag_of(theirs.block.text));
            if is_within(&one, &other) || is_within(&other, &one) {
                let mut order = Self {
                    pages: self.pages,
                    ..Self::default()
                };
                order.words(ours.block.text, theirs.block.text, false, changes);
                self.take_names(order);
                self.operator(ours.block.text, theirs.block.text);
                let shared = one.len().min(other.len());
                self.shared += shared;
                self.ours += one.len() - shared;
                self.theirs += other.len() - shared;
                return;
            }
        }
        let before = (self.ours, self.theirs);
        self.words(ours.block.text, theirs.block.text, false, changes);
        if ours.block.words.min(theirs.block.words) >= SENTENCE {
            self.ours_in_sentences += self.ours - before.0;
            self.theirs_in_sentences += self.theirs - before.1;
        }
    }

    /// Records an operator that replaces another next to the same words, as in an index.
    fn operator(&mut self, ours: &str, theirs: &str) {
        let (one, other) = (operators_of(ours), operators_of(theirs));
        let is_separator = |operator: &&str| SEPARATORS.contains(operator);
        let are_separators = one.iter().chain(&other).all(is_separator);
        if one.len() == other.len() && one != other && !are_separators {
            let sign = Reason::Sign(shown(ours), shown(theirs));
            self.sign.get_or_insert(sign);
        }
    }

    /// Compares two texts word by word.
    fn words(
        &mut self,
        one: &str,
        other: &str,
        is_heading: bool,
        is_changing: &impl Fn(Option<u64>) -> bool,
    ) {
        let difference = Difference::of(one, other);
        let words = |kind| difference.runs().iter().filter(move |run| run.kind == kind);
        let same: usize = words(RunKind::Same).map(|run| run.words).sum();
        let all: usize = difference.runs().iter().map(|run| run.words).sum();
        // Repeated replacements of a word are names only if most of the text is equal.
        let has_names = is_heading || all < LONG || 2 * same > all;
        let mut runs = difference.runs().iter().peekable();
        while let Some(run) = runs.next() {
            let (ours, theirs) = (&one[run.a.clone()], &other[run.b.clone()]);
            match run.kind {
                RunKind::Same => {
                    if signs_of(ours) != signs_of(theirs) {
                        let sign = Reason::Sign(shown(ours), shown(theirs));
                        self.sign.get_or_insert(sign);
                    }
                    if !is_heading {
                        self.shared += run.words;
                    }
                }
                RunKind::OnlyA => {
                    let replaced = runs.next_if(|next| next.kind == RunKind::OnlyB);
                    let by = replaced.map_or("", |next| &other[next.b.clone()]);
                    let words = replaced.map_or(0, |next| next.words);
                    if self.is_name_of_pages(ours, by) {
                        continue;
                    }
                    let place = (run.a.clone(), replaced.map(|next| next.b.clone()));
                    if let (at, Some(by)) = place
                        && !is_heading
                    {
                        let place = place_of_run(one, &at, other, &by);
                        if place.is_some() && is_in_changing_run(one, &at, is_changing) {
                            continue;
                        }
                        let is_number =
                            self.number_in(whole_words(one, at), whole_words(other, by), place);
                        self.of_numbers += if is_number { run.words + words } else { 0 };
                        let name = place.filter(|_| !is_number);
                        self.names_at
                            .extend(name.map(|place| (place, hash_of(ours))));
                    }
                    self.replaced((ours, run.words), (by, words), is_heading, has_names);
                }
                RunKind::OnlyB => {
                    self.replaced(("", 0), (theirs, run.words), is_heading, has_names);
                }
            }
        }
    }

    fn replaced(
        &mut self,
        ours: (&str, usize),
        theirs: (&str, usize),
        is_heading: bool,
        has_names: bool,
    ) {
        let longest = ours.1.max(theirs.1);
        if !is_heading {
            self.ours += ours.1;
            self.theirs += theirs.1;
        }
        if !is_heading && ours.1 > 0 && theirs.1 > 0 {
            self.replaced += longest;
        }
        if has_names && longest <= NAME && !is_letter(ours.0, theirs.0) {
            let name = distinguishing(&ours.0.to_lowercase(), &theirs.0.to_lowercase());
            *self.names.entry(name).or_default() += 1;
        }
    }

    /// Records the numbers that differ between two short passages. Returns true if there are any.
    fn number_in(&mut self, ours: &str, theirs: &str, place: Option<u64>) -> bool {
        let words = |passage: &str| passage.split_whitespace().count();
        let (one, other) = (numbers_of(ours), numbers_of(theirs));
        let both_have = !one.is_empty() && !other.is_empty();
        let is_short = words(ours).max(words(theirs)) <= SHORT_RUN;
        let differ = both_have && values_of(&one) != values_of(&other) && is_short;
        if differ {
            let number = Reason::Number(one.join(" "), other.join(" "));
            self.number.get_or_insert(number);
            match place {
                Some(place) => self.places.push((place, hash_of(ours))),
                None => self.has_other_number = true,
            }
        }
        differ
    }

    /// Returns true if the blocks differ in something that counts.
    pub(crate) fn has_some(&self) -> bool {
        let has_fact = self.number.is_some() || self.sign.is_some() || !self.names.is_empty();
        has_fact || self.ours + self.theirs + self.replaced > 0
    }

    /// Returns the name or sign that differs.
    pub(crate) fn name(&mut self) -> Option<Reason> {
        let named = self
            .names
            .iter()
            .filter(|((one, other), times)| **times >= MIN_TIMES && one != other)
            .max_by(|one, other| one.1.cmp(other.1).then_with(|| other.0.cmp(one.0)));
        let named = named.map(|((one, other), _)| Reason::Name(one.clone(), other.clone()));
        let sign = self.sign.take().filter(|_| !self.ignores_signs);
        named.or(self.heading.take()).or(sign)
    }
}

/// Returns the differing parts of two names: `Lazy` and `Strict` for `Control.Monad.Lazy` and
/// `Control.Monad.Strict`.
fn distinguishing(one: &str, other: &str) -> (String, String) {
    let parts = |name: &str| -> Vec<String> {
        let parts = name.split(|c: char| !c.is_alphanumeric());
        let parts = parts.filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (ours, theirs) = (parts(one), parts(other));
    let is_same = |(one, other): &(&String, &String)| one == other;
    let head = ours.iter().zip(&theirs).take_while(is_same).count();
    let (ours, theirs) = (&ours[head..], &theirs[head..]);
    let backwards = ours.iter().rev().zip(theirs.iter().rev());
    let tail = backwards.take_while(is_same).count();
    let joined = |parts: &[String]| parts[..parts.len() - tail].join(" ");
    (joined(ours), joined(theirs))
}

/// Returns the place of a differing run, from the text before and after it; `None` if this text
/// differs, too, or has too few letters.
fn place_of_run(one: &str, at: &Range<usize>, other: &str, by: &Range<usize>) -> Option<u64> {
    let place = Surroundings::of(one, at).place((0, 0));
    place.filter(|_| place == Surroundings::of(other, by).place((0, 0)))
}

/// Returns true for a part of a run that changes on its own: the day in `updated on 5 May 2024`,
/// where whole dates differ in other pairs.
fn is_in_changing_run(
    text: &str,
    at: &Range<usize>,
    is_changing: &impl Fn(Option<u64>) -> bool,
) -> bool {
    places_around(text, at).any(|place| is_changing(Some(place)))
}

/// Returns the places of all runs that a part of a text may belong to.
fn places_around<'a>(text: &'a str, at: &Range<usize>) -> impl Iterator<Item = u64> + use<'a> {
    let surroundings = Surroundings::of(text, at);
    let around = (0..=MAX_AROUND).flat_map(|left| (0..=MAX_AROUND).map(move |right| (left, right)));
    around.filter_map(move |wider| surroundings.place(wider))
}

/// Returns the known places of the numbers in blocks that both pages have.
pub(crate) fn places_of_numbers(
    blocks: &[Block<'_>],
    is_known: impl Fn(u64) -> bool,
) -> HashSet<u64> {
    let values = blocks
        .iter()
        .flat_map(|block| block.values().into_iter().map(move |value| (block, value)));
    let places = values.take(MAX_EQUAL).flat_map(|(block, value)| {
        let around = places_around(block.text, &value.range());
        around.chain([value.place(block)])
    });
    places.filter(|place| is_known(*place)).collect()
}

/// Words and marks around a part of a text, the nearest first.
struct Surroundings<'a> {
    before: Vec<&'a str>,
    behind: Vec<&'a str>,
}

impl<'a> Surroundings<'a> {
    fn of(text: &'a str, at: &Range<usize>) -> Self {
        let from = text.floor_char_boundary(at.start.saturating_sub(NEAR));
        let to = text.floor_char_boundary(at.end.saturating_add(NEAR));
        let mut before = tokens(&text[from..at.start]);
        before.reverse();
        let behind = tokens(&text[at.end..to]);
        Self { before, behind }
    }

    /// Returns the place of the part, widened by `left` words and marks before it and `right` after
    /// it. Only the next two words or marks on each side matter, with any digits. `None` if they
    /// have too few letters.
    fn place(&self, (left, right): (usize, usize)) -> Option<u64> {
        let (before, behind) = (two(&self.before, left), two(&self.behind, right));
        let letters = before.chars().chain(behind.chars());
        let tells = letters.filter(|c| c.is_alphabetic()).count() > 2;
        tells.then(|| place_of_value(spread(hash_of(&before)) ^ hash_of(&behind)))
    }
}

/// Skips words or marks and returns the next two, with each number as 0.
fn two(tokens: &[&str], skipped: usize) -> String {
    let two = tokens.iter().skip(skipped).take(2);
    let masked = two.map(|token| match token.contains(char::is_numeric) {
        true => "0",
        false => token,
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// Returns the words and marks of a text.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let is_other = |c: char| c.is_whitespace() || c.is_alphanumeric() != is_word;
        let (token, behind) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

/// Returns true if only a letter of a script without spaces differs: a typo. An ideograph in place
/// of another is another word: 左 and 右.
fn is_letter(ours: &str, theirs: &str) -> bool {
    let is_one = |text: &str| text.chars().nth(1).is_none() && text.chars().all(is_unspaced);
    let is_word = |text: &str| text.chars().any(is_ideograph);
    is_one(ours) && is_one(theirs) && !(is_word(ours) && is_word(theirs))
}

/// Returns true for a character that ends a number or a name in code: white space, or a character
/// of a script without spaces.
fn is_end(c: char) -> bool {
    c.is_whitespace() || is_unspaced(c)
}

/// Returns the whole words of a part of a text.
fn whole_words(text: &str, part: Range<usize>) -> &str {
    let start = text[..part.start].char_indices().rfind(|(_, c)| is_end(*c));
    let end = text[part.end..].find(is_end);
    let start = start.map_or(0, |(at, c)| at + c.len_utf8());
    text[start..end.map_or(text.len(), |at| part.end + at)].trim()
}

/// Returns true if an ascending multiset is contained in another.
fn is_within(one: &[u64], other: &[u64]) -> bool {
    let mut rest = other.iter();
    one.iter().all(|word| rest.any(|theirs| theirs == word))
}

/// Returns the words with digits in a run.
fn numbers_of(run: &str) -> Vec<&str> {
    let words = run.split(is_end);
    let with_digits = words.filter(|word| word.contains(char::is_numeric));
    with_digits.map(bare).collect()
}

/// Returns the parts of words that contain digits, each with its letters: `i386` of
/// `debian-i386-netinst`. A typo next to it does not make another number.
fn values_of<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let parts = words
        .iter()
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    parts
        .filter(|part| part.contains(char::is_numeric))
        .collect()
}

/// Returns the words of a text that consist of signs alone.
fn operators_of(text: &str) -> Vec<&str> {
    let words = text.split_whitespace();
    words
        .filter(|word| !word.chars().any(char::is_alphanumeric))
        .collect()
}

/// Returns the meaningful signs of a passage: arithmetic, currency and operator signs, and a minus
/// before a number, but not punctuation, quotation marks and title separators.
fn signs_of(passage: &str) -> Vec<char> {
    const MEANING: &str = "+±×÷=<>≤≥≠&^~%‰#@−";
    let mut signs = Vec::new();
    let mut before = ' ';
    let mut chars = passage.chars().peekable();
    while let Some(c) = chars.next() {
        let is_money = "$€£¥₹₽₩".contains(c);
        let is_minus = c == '-'
            && !before.is_alphanumeric()
            && chars.peek().is_some_and(|next| next.is_numeric());
        if is_money || is_minus || MEANING.contains(c) {
            signs.push(c);
        }
        before = c;
    }
    signs
}

/// Returns the beginning of a passage, for display.
fn shown(passage: &str) -> String {
    const SHOWN: usize = 40;
    let passage = passage.trim();
    match passage.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &passage[..end]),
        None => passage.to_owned(),
    }
}
