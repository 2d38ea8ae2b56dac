//! The visible text of a page, gathered line by line with the position of each line.
//!
//! Only the end of a page reveals a `<main>` and the prose, so all lines are gathered before some
//! of them are chosen; see `content`.

use crate::html::limits::ReadLimits;
use crate::html::region_flags;
use crate::html::regions::Regions;
use crate::html::work_budget;

/// Minimum average bytes per line when the text limit is reached.
const BYTES_PER_LINE: usize = 8;

/// Minimum number of words in a line of prose, in a paragraph and elsewhere.
const PROSE_IN_PARAGRAPH: u32 = 5;
const PROSE_ELSEWHERE: u32 = 10;

/// The visible text of a page, line by line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) regions: Regions,
    /// Remaining bytes of text; non-ASCII bytes count twice.
    left: usize,
    is_full: bool,
    max_lines: usize,
    /// Start and counts of the line being gathered.
    start: usize,
    words: u32,
    linked: u32,
    flags: u32,
    /// True if white space precedes the next word.
    space: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub start: u32,
    pub end: u32,
    pub words: u32,
    /// Number of bytes of the line in links.
    pub linked: u32,
    pub flags: u32,
    /// Innermost block around the line.
    pub region: u32,
}

impl Line {
    pub(crate) const fn words(&self) -> usize {
        self.words as usize
    }

    pub(crate) const fn is_in(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    pub(crate) const fn is_mostly_links(&self) -> bool {
        self.linked as u64 * 2 > (self.end - self.start) as u64
    }

    /// Returns true for links without a sentence, such as entries of a menu.
    pub(crate) const fn is_short_link(&self) -> bool {
        self.is_mostly_links() && self.words < PROSE_ELSEWHERE
    }

    /// Returns the number of words in a line that looks like prose, and 0 for other lines.
    pub(crate) const fn prose(&self) -> usize {
        let least = match self.is_in(region_flags::PARAGRAPH) {
            true => PROSE_IN_PARAGRAPH,
            false => PROSE_ELSEWHERE,
        };
        let is_other = self.is_in(region_flags::HEADING) || self.is_mostly_links();
        match self.words >= least && !is_other {
            true => self.words(),
            false => 0,
        }
    }
}

impl Lines {
    /// Creates a buffer for about this many bytes of text.
    pub(crate) fn new(bytes: usize, limits: &ReadLimits) -> Self {
        let bytes = bytes.min(limits.text);
        Self {
            text: String::with_capacity(bytes),
            lines: Vec::with_capacity(bytes / 64),
            left: limits.text,
            max_lines: limits.text / BYTES_PER_LINE,
            ..Self::default()
        }
    }

    /// Returns true if some text exceeded the limit.
    pub(crate) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the number of words in the completed lines.
    pub(crate) fn words(&self) -> usize {
        self.lines.iter().map(Line::words).sum()
    }

    /// Returns the length of the text in bytes, as the start of an anchor.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the text from `start`, without pending white space.
    pub(crate) fn since(&self, start: usize) -> &str {
        self.text[start.min(self.text.len())..].trim()
    }

    /// Returns the part of a text that may fit; most character references are a few letters long.
    pub(crate) fn wanted<'t>(&self, text: &'t str) -> &'t str {
        &text[..text.floor_char_boundary(self.left.saturating_mul(2).saturating_add(64))]
    }

    /// Adds text with folded white space, until the limit is reached.
    pub(crate) fn push(&mut self, text: &str, flags: u32, in_link: bool) {
        if self.is_full {
            return;
        }
        let end = end_of_share(text, self.left);
        self.is_full = end < text.len();
        let text = &text[..end];
        if flags != self.flags {
            self.end_line();
            self.flags = flags;
        }
        let before = self.text.len();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            // Control characters count as white space: they are invisible.
            if bytes[at] <= b' ' {
                self.space = true;
                at += 1;
            } else {
                at = self.push_stretch(text, at);
            }
        }
        self.left = self.left.saturating_sub(share_of(&self.text[before..]));
        if in_link {
            self.linked += within_u32(self.text.len() - before);
        }
    }

    /// Adds words separated by single spaces in one copy, and returns the position after them.
    ///
    /// Nearly all text has this form, and copying word by word took as long as building the tree.
    fn push_stretch(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let (mut at, mut spaces) = plain_pieces(bytes, start);
        loop {
            match bytes.get(at) {
                Some(0x21..=0x7f) => at += 1,
                Some(b' ') if bytes.get(at + 1).is_some_and(|&next| next > b' ') => {
                    at += 1;
                    spaces += 1;
                }
                Some(0x80..) => break,
                _ => {
                    self.push_run(&text[start..at], spaces + 1);
                    return at;
                }
            }
        }
        let last_space = bytes[start..at].iter().rposition(|&byte| byte == b' ');
        let word = last_space.map_or(start, |last| start + last + 1);
        if word > start {
            self.push_run(&text[start..word - 1], spaces);
            self.space = true;
        }
        let length = bytes[word..]
            .iter()
            .position(|&byte| byte <= b' ')
            .unwrap_or(bytes.len() - word);
        self.push_wide(&text[word..word + length]);
        word + length
    }

    /// Adds a run with non-ASCII characters, which may include other white space.
    fn push_wide(&mut self, run: &str) {
        for (index, run) in run.split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.space = true;
            }
            if run.is_empty() {
                continue;
            }
            // Each ideograph or kana is a word; the rest of the run is another word.
            let ideographs = run.chars().filter(|&c| is_ideographic(c)).count();
            let has_others = run
                .chars()
                .any(|c| c.is_alphanumeric() && !is_ideographic(c));
            let words = u32::try_from(ideographs)
                .unwrap_or(u32::MAX)
                .saturating_add(u32::from(has_others));
            self.push_run(run, words);
        }
    }

    fn push_run(&mut self, run: &str, words: u32) {
        if self.text.len() > self.start {
            if self.space {
                self.text.push(' ');
            } else if words > 0 && self.words > 0 {
                // It continues the word before it: `<b>w</b>ord`.
                self.words -= 1;
            }
        }
        self.space = false;
        self.text.push_str(run);
        self.words = self.words.saturating_add(words);
    }

    /// Adds white space that is not in a text node, such as between two cells of a table.
    pub(crate) const fn space(&mut self) {
        self.space = true;
    }

    /// Opens a block.
    pub(crate) fn open(&mut self, flags: u32, own_flags: u32, kind: u32) {
        self.regions.open(flags, own_flags, kind, self.lines.len());
    }

    /// Closes the innermost block.
    pub(crate) fn close(&mut self) {
        self.regions.close(self.lines.len());
    }

    /// Ends the current line, if any.
    pub(crate) fn end_line(&mut self) {
        self.space = false;
        if self.text.len() == self.start {
            return;
        }
        let (start, end) = (within_u32(self.start), within_u32(self.text.len()));
        self.lines.push(Line {
            start,
            end,
            words: self.words,
            linked: self.linked,
            flags: self.flags,
            region: self.regions.current(),
        });
        self.text.push('\n');
        self.is_full |= self.lines.len() >= self.max_lines;
        self.start = self.text.len();
        (self.words, self.linked) = (0, 0);
    }
}

/// Joins parts with single spaces, up to `most` characters.
pub(crate) fn joined<'t>(parts: impl Iterator<Item = &'t str>, most: usize) -> String {
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(part);
        // A character has at most four bytes.
        if text.len() > most.saturating_mul(4) {
            break;
        }
    }
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
    text
}

/// Bytes examined together; their spaces can be counted in a byte.
const PIECE: usize = 32;

/// Skips pieces of ASCII words with single spaces between them. Returns the position after them and
/// the number of spaces.
///
/// No branch depends on a single byte, so that one instruction compares many.
fn plain_pieces(bytes: &[u8], start: usize) -> (usize, u32) {
    let (mut at, mut spaces) = (start, 0);
    while let Some(piece) = bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<{ PIECE + 1 }>())
    {
        let (mut others, mut spaces_here) = (0, 0);
        for (&byte, &next) in piece[..PIECE].iter().zip(&piece[1..]) {
            let is_space = u8::from(byte == b' ');
            others |= u8::from(byte < b' ')
                | u8::from(!byte.is_ascii())
                | is_space & u8::from(next <= b' ');
            spaces_here += is_space;
        }
        if others != 0 {
            break;
        }
        at += PIECE;
        spaces += u32::from(spaces_here);
    }
    (at, spaces)
}

/// Returns the share of [`ReadLimits::text`] that a text uses: non-ASCII text is folded and split
/// by tables, which takes longer.
fn share_of(text: &str) -> usize {
    text.len() + work_budget::count(text, |byte| !byte.is_ascii())
}

/// Returns the end of the part of a text that fits the share.
pub(crate) fn end_of_share(text: &str, share: usize) -> usize {
    if text.len() <= share / 2 || share_of(text) <= share {
        return text.len();
    }
    let mut taken = 0;
    let fits = |&(_, c): &(usize, char)| {
        taken += if c.is_ascii() { 1 } else { 2 * c.len_utf8() };
        taken <= share
    };
    let last = text.char_indices().take_while(fits).last();
    last.map_or(0, |(at, c)| at + c.len_utf8())
}

/// Converts a count; the text of a page is capped far below 32 bits.
fn within_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns true for Han, hiragana and katakana, which are written without spaces; each character
/// counts as a word.
pub(crate) const fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
