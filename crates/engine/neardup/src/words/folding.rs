//! Folding of text in any script into a chunk with gaps between words.
//!
//! Characters are looked up one at a time ([`Letters`]), and their folded bytes are written. A gap
//! precedes a character that begins a word without white space (ideographs, Thai letters, ²; a
//! letter after such a character), and a character that does not belong to a word becomes a gap. So
//! starts and ends of words need not be decided here: masks over the finished chunk find them, 64
//! bytes at a time, as for ASCII. No branch depends on the letter; joining marks (`.` `’` `,`) and
//! characters that are not settled alone are handled [`aside`](Folding::aside).
//!
//! Unsettled text is left to the libraries: from the last certain end of a word, after white space
//! or before a character outside words, up to the next certain end. Invariant: the gaps separate
//! the words of [`NormalText`](crate::NormalText), in the same sequence.

use unicode_normalization::char::canonical_combining_class;

use super::spans::{BLOCK, CHUNK, ROOM, Spans};
use crate::text::letters::{BY_NUMBER, Class, Letter, Letters};
use crate::text::unicode::{MarkRole, each_word_by_the_libraries, mark_role, next_certain_end};

/// The byte for white space and for characters outside words: a word certainly ends there.
const CERTAIN_GAP: u8 = b' ';
/// The byte between words without another separator.
const GAP: u8 = 0;
/// Minimum number of bytes in a chunk that ends it at the next certain end.
const ENOUGH: usize = CHUNK - 512;
/// Maximum number of bytes in a chunk: a gap and a character still fit after them.
const FULL: usize = CHUNK - 8;
/// Minimum number of ASCII bytes that makes the switch to the ASCII path pay.
pub(crate) const ASCII_AGAIN: usize = 64;
/// Distance in bytes between two checks for ASCII.
const LOOK: usize = 4 * ASCII_AGAIN;

/// The result of folding the start of a text.
struct Folded {
    /// Number of bytes read; 0 if the first word does not fit.
    read: usize,
    /// Number of bytes written.
    written: usize,
    /// True if a word may consist of `_` only.
    underscores: bool,
}

/// Folds the start of `text`, which begins at a certain end of a word, into `room`, up to another
/// certain end.
fn fold(text: &str, room: &mut [u8; ROOM]) -> Folded {
    let mut folding = Folding {
        text,
        letters: Letters::new(),
        room,
        floor: Position::START,
        underscores: false,
    };
    let end = folding.run();
    Folded {
        read: end.at,
        written: end.filled,
        underscores: folding.underscores,
    }
}

impl Spans {
    /// Reads the start of a text in any script, folded, with gaps between words; returns the number
    /// of bytes read.
    pub(crate) fn fold(&mut self, text: &str) -> usize {
        let folded = fold(text, &mut self.lower);
        self.blocks = folded.written / BLOCK + 1;
        self.lower[folded.written..self.blocks * BLOCK].fill(b' ');
        self.underscores = folded.underscores;
        folded.read
    }
}

/// A position in the text and in the chunk, and the last classes.
#[derive(Clone, Copy)]
struct Position {
    at: usize,
    filled: usize,
    /// Class of the last character, as a set.
    last: u32,
    /// Class of the last character other than a mark, as a set.
    base: u32,
}

impl Position {
    const START: Position = Position {
        at: 0,
        filled: 0,
        last: set(&[Class::White]),
        base: set(&[Class::White]),
    };

    /// Creates a position after a certain end.
    fn certain(at: usize, filled: usize) -> Self {
        Self {
            at,
            filled,
            ..Self::START
        }
    }
}

struct Folding<'a> {
    text: &'a str,
    letters: Letters,
    room: &'a mut [u8; ROOM],
    /// Position after the last text left to the libraries, which is a certain end: the folding
    /// never goes back before it.
    floor: Position,
    underscores: bool,
}

/// Returns a set of classes: one bit per class.
const fn set(classes: &[Class]) -> u32 {
    let mut set = 0;
    let mut next = 0;
    while next < classes.len() {
        set |= 1 << classes[next] as u32;
        next += 1;
    }
    set
}

const MARKS: u32 = set(&[Class::Mark, Class::OrderedMark]);
const ORDERED: u32 = set(&[Class::OrderedMark]);
const SPEAKING: u32 = set(&[Class::Letter, Class::Hebrew, Class::Number]);
const CERTAIN_ENDS: u32 = set(&[Class::White, Class::Break, Class::Alone]);

/// The handling of a character, by the classes before it.
#[derive(Clone, Copy)]
struct Rule {
    /// Preceding classes that require handling the character [`aside`](Folding::aside).
    aside: u32,
    /// Classes of the preceding base that require a gap before the character.
    gap: u32,
    /// All bits for a mark, which leaves the base unchanged.
    mark: u32,
}

/// Rules by the number of the class.
const RULES: [Rule; BY_NUMBER.len()] = {
    let mut rules = [Rule {
        aside: u32::MAX,
        gap: 0,
        mark: 0,
    }; BY_NUMBER.len()];
    let alone = set(&[Class::Alone]);
    (
        rules[Class::White as usize].aside,
        rules[Class::Break as usize].aside,
    ) = (0, 0);
    rules[Class::Alone as usize] = Rule {
        aside: 0,
        gap: u32::MAX,
        mark: 0,
    };
    let sticky = Rule {
        aside: 0,
        gap: alone,
        mark: 0,
    };
    rules[Class::Letter as usize] = sticky;
    rules[Class::Hebrew as usize] = sticky;
    rules[Class::Number as usize] = sticky;
    rules[Class::Underscore as usize].gap = alone;
    rules[Class::SilentLetter as usize].aside = !SPEAKING;
    let mark = Rule {
        aside: !(SPEAKING | alone | MARKS),
        gap: 0,
        mark: u32::MAX,
    };
    rules[Class::Mark as usize] = mark;
    rules[Class::OrderedMark as usize] = mark;
    rules[Class::OrderedMark as usize].aside |= ORDERED;
    rules
};

/// Reads and writes plain characters from `place` on, while they begin before `end` and less than
/// `most` is filled. Stops at a character that is handled aside or whose class is in `stop`;
/// returns true if there is such a character. `MUCH_ASCII` pays among ASCII letters, but not for
/// the spaces between other letters.
#[inline(never)]
fn plain<const MUCH_ASCII: bool>(
    bytes: &[u8],
    letters: &mut Letters,
    room: &mut [u8; ROOM],
    place: &mut Position,
    (end, most): (usize, usize),
    stop: u32,
) -> bool {
    let mut here = *place;
    let mut found = false;
    while here.at < end && here.filled < most {
        if MUCH_ASCII
            && stop == 0
            && bytes[here.at] < 0x80
            && let Some(eight) = bytes[here.at..].first_chunk()
            && write_ascii(letters, room, &mut here, *eight)
        {
            continue;
        }
        let (letter, length) = letters.first_of_four(four_from(bytes, here.at));
        let rule = RULES[letter.class_number()];
        let class = 1 << letter.class_number();
        if rule.aside & here.last | class & stop != 0 {
            found = true;
            break;
        }
        write(room, &mut here, letter, length);
    }
    *place = here;
    found
}

/// Writes a letter, a mark that belongs to the character before it, or a gap.
#[inline(always)]
fn write(room: &mut [u8; ROOM], place: &mut Position, letter: Letter, length: usize) {
    let rule = RULES[letter.class_number()];
    let gap = usize::from(rule.gap & place.base != 0);
    let bytes = u64::from(u32::from_le_bytes(letter.folded())) << (8 * gap);
    // Always less than a chunk; the modulus spares a bounds check.
    let filled = place.filled % CHUNK;
    room[filled..filled + 8].copy_from_slice(&bytes.to_le_bytes());
    place.filled += gap + letter.folded_len();
    place.at += length;
    place.last = 1 << letter.class_number();
    place.base = place.base & rule.mark | place.last & !rule.mark;
}

/// Writes the ASCII letters, digits and spaces at the start of `eight`; returns true if there were
/// any. Writes nothing and returns false if they need a gap before them.
#[inline(always)]
fn write_ascii(
    letters: &Letters,
    room: &mut [u8; ROOM],
    place: &mut Position,
    eight: [u8; 8],
) -> bool {
    let bytes = u64::from_le_bytes(eight);
    // Sums reach the top bit of a byte where its lower seven bits are large enough.
    let at_least = |bytes: u64, least: u8| (bytes & (EACH * 0x7f)) + EACH * u64::from(0x80 - least);
    let between = |bytes, first, last: u8| at_least(bytes, first) & !at_least(bytes, last + 1);
    let ascii = !bytes & (EACH * 0x80);
    let alphabetic = between(bytes | (EACH * 0x20), b'a', b'z') & ascii;
    let space = !at_least(bytes ^ (EACH * u64::from(b' ')), 1);
    let taken = (alphabetic | between(bytes, b'0', b'9') | space) & ascii;
    let count = ((taken ^ (EACH * 0x80)).trailing_zeros() / 8) as usize;
    if count == 0 || place.base & set(&[Class::Alone]) != 0 {
        return false;
    }
    // A letter's bit for the lower case is two below its top bit.
    let lower = bytes | alphabetic >> 2;
    let filled = place.filled % CHUNK;
    room[filled..filled + 8].copy_from_slice(&lower.to_le_bytes());
    place.filled += count;
    place.at += count;
    place.last = 1 << letters.of_ascii(eight[count - 1]).class_number();
    place.base = place.last;
    true
}

const EACH: u64 = 0x0101_0101_0101_0101;

impl Folding<'_> {
    fn run(&mut self) -> Position {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut place = Position::START;
        // End of the bytes to read before the next check, and whether many of them are ASCII.
        let mut look = bytes.len().min(LOOK);
        let mut much_ascii = ascii_among_the_next(bytes) > ASCII_AGAIN / 2;
        let mut most = ENOUGH;
        // Classes to stop at: none, or the classes of a certain end.
        let mut stop = 0;
        loop {
            let plain = if much_ascii {
                plain::<true>
            } else {
                plain::<false>
            };
            let bounds = (look, most);
            let found = plain(
                bytes,
                &mut self.letters,
                self.room,
                &mut place,
                bounds,
                stop,
            );
            if found {
                let (letter, length) = self.letters.first_of_four(four_from(bytes, place.at));
                if 1 << letter.class_number() & stop != 0 {
                    return place;
                }
                if !self.aside(&mut place, letter, length) {
                    return self.last_certain_end(place);
                }
                continue;
            }
            if place.at >= bytes.len() {
                return place;
            }
            if place.filled >= most && stop != 0 {
                return self.last_certain_end(place);
            }
            let ascii = ascii_among_the_next(&bytes[place.at..]);
            if place.filled >= most || ascii == ASCII_AGAIN {
                (stop, most, look) = (CERTAIN_ENDS, FULL, bytes.len());
            } else {
                look = bytes.len().min(place.at + LOOK);
                much_ascii = ascii > ASCII_AGAIN / 2;
            }
        }
    }

    fn write(&mut self, place: &mut Position, letter: Letter, length: usize) {
        write(self.room, place, letter, length);
    }

    /// Writes a character that needs a closer look; returns true if it fits.
    #[inline(never)]
    fn aside(&mut self, place: &mut Position, letter: Letter, length: usize) -> bool {
        let bytes = self.text.as_bytes();
        let after_ordered = place.last & ORDERED != 0;
        match letter.class() {
            // Other underscores have several bytes; words that consist only of these are left to
            // the libraries.
            Class::Underscore if length == 1 => {
                self.underscores = true;
                self.write(place, letter, length);
                true
            }
            Class::OrderedMark if after_ordered => {
                self.write(place, letter, length);
                self.put_in_order(place)
            }
            // The parts on both sides are compared as if the character were absent.
            Class::Invisible if !after_ordered => {
                place.at += length;
                true
            }
            class @ (Class::MidLetter
            | Class::MidNumber
            | Class::MidBoth
            | Class::SingleQuote
            | Class::DoubleQuote) => {
                let after = self.letters.first_of(&bytes[place.at + length..]);
                let after = after.map_or(Class::White, |(letter, _)| letter.class());
                let base = place.base;
                match mark_role(base_class(base), class, after) {
                    MarkRole::Joins => {
                        self.write(place, letter, length);
                        place.base = base;
                    }
                    MarkRole::EndsWord => {
                        self.write(place, letter, length);
                        self.part(place);
                    }
                    MarkRole::Breaks => {
                        place.at += length;
                        self.part(place);
                    }
                    MarkRole::Unsettled => return self.unsettled(place),
                }
                true
            }
            _ => self.unsettled(place),
        }
    }

    /// Ends the word, without a certain end in the text.
    fn part(&mut self, place: &mut Position) {
        self.room[place.filled] = GAP;
        *place = Position::certain(place.at, place.filled + 1);
    }

    /// Sorts the ordered marks that end here into canonical order without the libraries: they are
    /// settled, so nothing composes with them.
    fn put_in_order(&mut self, place: &mut Position) -> bool {
        let mut marks = [(0, Letter::UNSETTLED); 4];
        let mut first = marks.len();
        for c in self.text[..place.at].chars().rev() {
            let (letter, _) = self.letters.of(c);
            if letter.class() != Class::OrderedMark {
                break;
            }
            let Some(next) = first.checked_sub(1) else {
                return self.unsettled(place);
            };
            first = next;
            marks[first] = (canonical_combining_class(c), letter);
        }
        let marks = &mut marks[first..];
        marks.sort_by_key(|&(order, _)| order);
        let mut end = place.filled;
        for (_, letter) in marks.iter().rev() {
            let start = end - letter.folded_len();
            self.room[start..end].copy_from_slice(&letter.folded()[..letter.folded_len()]);
            end = start;
        }
        true
    }

    /// Leaves the text from the last certain end to the next to the libraries; returns true if it
    /// fits.
    #[cold]
    fn unsettled(&mut self, place: &mut Position) -> bool {
        let end = next_certain_end(&mut self.letters, self.text, place.at);
        let start = self.last_certain_end(*place);
        let mut filled = start.filled;
        let mut fits = true;
        each_word_by_the_libraries(&self.text[start.at..end], |word| {
            // A mark makes a word of anything, even of a control character.
            let like_gaps = word.iter().any(|&byte| byte <= CERTAIN_GAP);
            fits &= filled + word.len() + 2 <= FULL && !like_gaps;
            if fits {
                self.room[filled] = GAP;
                self.room[filled + 1..][..word.len()].copy_from_slice(word);
                filled += 1 + word.len();
            }
        });
        if !fits {
            return false;
        }
        self.room[filled] = GAP;
        *place = Position::certain(end, filled + 1);
        self.floor = *place;
        true
    }

    /// Returns the last position before this one where a word certainly ends.
    #[cold]
    fn last_certain_end(&mut self, place: Position) -> Position {
        let written = &self.room[self.floor.filled..place.filled];
        let Some(gap) = written.iter().rposition(|&byte| byte == CERTAIN_GAP) else {
            return self.floor;
        };
        let filled = self.floor.filled + gap + 1;
        let mut at = place.at;
        for c in self.text[self.floor.at..place.at].chars().rev() {
            let end = at;
            at -= c.len_utf8();
            match self.letters.of(c).0.class() {
                Class::White => return Position::certain(end, filled),
                Class::Break => return Position::certain(at, filled),
                _ => {}
            }
        }
        self.floor
    }
}

/// Returns the class of a base; a silent letter counts as a letter.
fn base_class(base: u32) -> Class {
    match BY_NUMBER[base.trailing_zeros() as usize % BY_NUMBER.len()] {
        Class::SilentLetter => Class::Letter,
        class => class,
    }
}

/// Returns the four bytes at `at`, padded with zeros at the end.
#[inline(always)]
fn four_from(bytes: &[u8], at: usize) -> [u8; 4] {
    match bytes[at..].first_chunk() {
        Some(four) => *four,
        None => {
            let mut four = [0; 4];
            four.iter_mut()
                .zip(&bytes[at..])
                .for_each(|(to, from)| *to = *from);
            four
        }
    }
}

/// Returns the number of ASCII bytes among the next [`ASCII_AGAIN`]; 0 if there are fewer bytes.
fn ascii_among_the_next(bytes: &[u8]) -> usize {
    let next = bytes.first_chunk::<ASCII_AGAIN>();
    next.map_or(0, |next| next.iter().filter(|byte| byte.is_ascii()).count())
}
