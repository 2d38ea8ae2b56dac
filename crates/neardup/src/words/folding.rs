//! Text of any script, folded into a chunk in which words are what stands between gaps.
//!
//! A character at a time is looked up ([`Letters`]), and its folded bytes are written: in front of what begins a word
//! without white space (ideographs, Thai letters, ²; a letter behind one of them) goes a gap, and what is in no word is
//! one. So where words start and end need not be decided here: masks over the finished chunk tell, 64 bytes at a time,
//! as they do for ASCII. There is no branch on what a letter is; joining marks (`.` `’` `,`) and what is not settled by
//! one character go [`aside`](Folding::aside).
//!
//! What is not settled is left to the libraries: from the last certain end of a word, which is behind white space or
//! before a character of no word, up to the next. Invariant: between gaps stand the words of
//! [`NormalText`](crate::NormalText), in order.

use super::spans::{CHUNK, ROOM};
use crate::text::letters::{Class, Letter, Letters};
use crate::text::unicode::{Joint, each_word_by_the_libraries, is_in_order, joint, next_certain_end};

/// Stands for white space and for what is in no word: a word ends there in any case.
const CERTAIN_GAP: u8 = b' ';
/// Stands between words that nothing else parts.
const GAP: u8 = 0;
/// A chunk that holds so much is finished at the next certain end.
const ENOUGH: usize = CHUNK - 512;
/// So much it may hold at most: a gap and a character fit behind it.
const FULL: usize = CHUNK - 8;
/// So many bytes of ASCII are worth the change to the way for ASCII, and so many bytes apart they are looked for.
pub(crate) const ASCII_AGAIN: usize = 64;

/// What became of the start of a text.
pub(crate) struct Folded {
    /// How many bytes of it were read; none if the first word does not fit.
    pub(crate) read: usize,
    /// How many bytes were written.
    pub(crate) written: usize,
    /// Whether a word may be nothing but `_`.
    pub(crate) underscores: bool,
}

/// Folds the start of `text`, which begins where a word ends in any case, into `room`, up to another such place.
pub(crate) fn fold(text: &str, room: &mut [u8; ROOM]) -> Folded {
    let mut folding = Folding {
        text,
        letters: Letters::new(),
        room,
        floor: Place::START,
        underscores: false,
    };
    let end = folding.run();
    Folded {
        read: end.at,
        written: end.filled,
        underscores: folding.underscores,
    }
}

/// How far text was read and chunk written, and what was read last.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    filled: usize,
    last: Class,
    /// The last one that is no mark.
    base: Class,
}

impl Place {
    const START: Place = Place {
        at: 0,
        filled: 0,
        last: Class::White,
        base: Class::White,
    };
}

struct Folding<'a> {
    text: &'a str,
    letters: Letters,
    room: &'a mut [u8; ROOM],
    /// Where the libraries left off, a certain end: nothing goes back behind it.
    floor: Place,
    underscores: bool,
}

/// A bit for each class.
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
const STICKY: u32 = set(&[Class::Letter, Class::Hebrew, Class::Number, Class::Underscore]);
const CERTAIN_ENDS: u32 = set(&[Class::White, Class::Break, Class::Alone]);
/// What marks may stand on without a question.
const CARRIERS: u32 = set(&[Class::Alone, Class::Letter, Class::Hebrew, Class::Number]) | MARKS;

/// For each class, a bit for each class behind which it needs to be looked at.
const ASIDE: [u32; 16] = {
    let mut aside = [u32::MAX; 16];
    let plain = [
        Class::White,
        Class::Break,
        Class::Alone,
        Class::Letter,
        Class::Hebrew,
        Class::Number,
    ];
    let mut next = 0;
    while next < plain.len() {
        aside[plain[next] as usize] = 0;
        next += 1;
    }
    aside[Class::Mark as usize] = !CARRIERS;
    aside[Class::OrderedMark as usize] = !CARRIERS | set(&[Class::OrderedMark]);
    aside
};

#[inline(always)]
fn is_in(set: u32, class: Class) -> bool {
    set >> class as u32 & 1 != 0
}

impl Folding<'_> {
    fn run(&mut self) -> Place {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut place = Place::START;
        let mut look = bytes.len().min(ASCII_AGAIN);
        let mut most = ENOUGH;
        // Whether to stop at the next certain end.
        let mut stop = false;
        loop {
            while place.at < look && place.filled < most {
                let (letter, length) = self.letters.first_of_four(four_from(bytes, place.at));
                let class = letter.class();
                if stop && is_in(CERTAIN_ENDS, class) {
                    return place;
                }
                if is_in(ASIDE[class as usize], place.last) {
                    let mut here = place;
                    if !self.aside(&mut here, letter, length) {
                        return self.last_certain_end(here);
                    }
                    place = here;
                } else {
                    self.write(&mut place, letter, length);
                }
            }
            if place.at >= bytes.len() {
                return place;
            }
            if place.filled >= most {
                if stop {
                    return self.last_certain_end(place);
                }
                (stop, most, look) = (true, FULL, bytes.len());
            } else if is_ascii_for_long(&bytes[place.at..]) {
                (stop, most, look) = (true, FULL, bytes.len());
            } else {
                look = bytes.len().min(place.at + ASCII_AGAIN);
            }
        }
    }

    /// Writes a letter, a mark that belongs to what is before it, or a gap.
    #[inline(always)]
    fn write(&mut self, place: &mut Place, letter: Letter, length: usize) {
        let class = letter.class();
        let alone = class == Class::Alone;
        let gap = usize::from(alone | ((place.base == Class::Alone) & is_in(STICKY, class)));
        if let Some(room) = self.room[place.filled..].first_chunk_mut::<5>() {
            room[0] = GAP;
            if let Some(room) = room[gap..].first_chunk_mut() {
                *room = letter.folded();
            }
        }
        place.filled += gap + letter.folded_len();
        place.at += length;
        place.last = class;
        place.base = if is_in(MARKS, class) { place.base } else { class };
    }

    /// Writes what has to be looked at; tells whether it fits.
    #[inline(never)]
    fn aside(&mut self, place: &mut Place, letter: Letter, length: usize) -> bool {
        let bytes = self.text.as_bytes();
        match letter.class() {
            // Other ones are of several bytes; where a word is nothing but these, the libraries know.
            Class::Underscore if length == 1 => {
                self.underscores = true;
                self.write(place, letter, length);
            }
            Class::OrderedMark if place.last == Class::OrderedMark && is_in_order(self.text, place.at) => {
                self.write(place, letter, length);
            }
            // What it parts is to be compared without it.
            Class::Invisible if place.last != Class::OrderedMark => place.at += length,
            class @ (Class::MidLetter
            | Class::MidNumber
            | Class::MidBoth
            | Class::SingleQuote
            | Class::DoubleQuote) => {
                let after = self.letters.first_of(&bytes[place.at + length..]);
                let after = after.map_or(Class::White, |(letter, _)| letter.class());
                let base = place.base;
                match joint(base, class, after) {
                    Joint::Joins => {
                        self.write(place, letter, length);
                        place.base = base;
                    }
                    Joint::EndsWith => {
                        self.write(place, letter, length);
                        self.part(place);
                    }
                    Joint::Parts => {
                        place.at += length;
                        self.part(place);
                    }
                    Joint::Unsettled => return self.unsettled(place),
                }
            }
            _ => return self.unsettled(place),
        }
        true
    }

    /// Ends the word, without a certain end in the text.
    fn part(&mut self, place: &mut Place) {
        self.room[place.filled] = GAP;
        place.filled += 1;
        (place.last, place.base) = (Class::Break, Class::Break);
    }

    /// Leaves everything from the last certain end to the next to the libraries; tells whether it fits.
    #[cold]
    fn unsettled(&mut self, place: &mut Place) -> bool {
        let end = next_certain_end(&mut self.letters, self.text, place.at);
        let start = self.last_certain_end(*place);
        let mut filled = start.filled;
        let mut fits = true;
        each_word_by_the_libraries(&self.text[start.at..end], |word| {
            fits &= filled + word.len() + 2 <= FULL;
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
        *place = Place {
            at: end,
            filled: filled + 1,
            ..Place::START
        };
        self.floor = *place;
        true
    }

    /// The last place before this one where a word ends in any case.
    #[cold]
    fn last_certain_end(&mut self, place: Place) -> Place {
        let written = &self.room[self.floor.filled..place.filled];
        let Some(gap) = written.iter().rposition(|&byte| byte == CERTAIN_GAP) else {
            return self.floor;
        };
        let read = &self.text[self.floor.at..place.at];
        for (at, c) in read.char_indices().rev() {
            let at = self.floor.at + at;
            let letter = self.letters.first_of(&self.text.as_bytes()[at..]);
            let at = match letter.map(|(letter, _)| letter.class()) {
                Some(Class::White) => at + c.len_utf8(),
                Some(Class::Break) => at,
                _ => continue,
            };
            return Place {
                at,
                filled: self.floor.filled + gap + 1,
                ..Place::START
            };
        }
        self.floor
    }
}

/// The four bytes at `at`, or what there is and zeros.
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

fn is_ascii_for_long(bytes: &[u8]) -> bool {
    bytes
        .first_chunk::<ASCII_AGAIN>()
        .is_some_and(|next| next.is_ascii())
}
