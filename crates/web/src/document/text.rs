//! The words of a page, gathered line by line, each with where it stood.
//!
//! Only at the end of a page is it known whether there was a `<main>`, or where the prose is, so the lines are
//! gathered once and chosen from then; see `content`.

use super::regions::Regions;

/// The visible text of a page, line by line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) regions: Regions,
    /// What is being gathered: where it begins, and the rest of its line.
    start: usize,
    words: u32,
    linked: u32,
    place: u32,
    /// Whether white space stood before what comes next.
    space: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub start: usize,
    pub end: usize,
    pub words: u32,
    /// How many of its bytes are in links.
    pub linked: u32,
    pub place: u32,
    /// The innermost block that it stands in.
    pub region: u32,
}

impl Line {
    pub(crate) const fn is_in(&self, place: u32) -> bool {
        self.place & place != 0
    }

    pub(crate) const fn is_mostly_links(&self) -> bool {
        self.linked as usize * 2 > self.end - self.start
    }
}

impl Lines {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            lines: Vec::with_capacity(bytes / 64),
            ..Self::default()
        }
    }

    /// How many words the ended lines have.
    pub(crate) fn words(&self) -> usize {
        self.lines.iter().map(|line| line.words as usize).sum()
    }

    /// How much text there is, in bytes: an anchor begins here.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    /// The text from there on, without the space that was not yet written.
    pub(crate) fn since(&self, start: usize) -> &str {
        self.text[start.min(self.text.len())..].trim()
    }

    /// Adds text, its white space folded.
    pub(crate) fn push(&mut self, text: &str, place: u32, in_link: bool) {
        if place != self.place {
            self.end_line();
            self.place = place;
        }
        let before = self.text.len();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            // Control characters are white space too: nothing of them is visible.
            if bytes[at] <= b' ' {
                self.space = true;
                at += 1;
            } else {
                at = self.push_stretch(text, at);
            }
        }
        if in_link {
            self.linked += u32::try_from(self.text.len() - before).unwrap_or(u32::MAX);
        }
    }

    /// Adds words as long as single spaces part them, in one copy; where that ends.
    ///
    /// Nearly all text is so, and copying word by word took as long as building the tree.
    fn push_stretch(&mut self, text: &str, start: usize) -> usize {
        let bytes = text.as_bytes();
        let (mut at, mut word, mut words) = (start, start, 1);
        loop {
            match bytes.get(at) {
                Some(0x21..=0x7f) => at += 1,
                Some(b' ') if bytes.get(at + 1).is_some_and(|&next| next > b' ') => {
                    at += 1;
                    word = at;
                    words += 1;
                }
                Some(0x80..) => break,
                _ => {
                    self.push_run(&text[start..at], words);
                    return at;
                }
            }
        }
        if word > start {
            self.push_run(&text[start..word - 1], words - 1);
            self.space = true;
        }
        let length = bytes[word..]
            .iter()
            .position(|&byte| byte <= b' ')
            .unwrap_or(bytes.len() - word);
        self.push_wide(&text[word..word + length]);
        word + length
    }

    /// Adds a run with characters beyond ASCII, among which there may be other white space.
    fn push_wide(&mut self, run: &str) {
        for (index, run) in run.split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.space = true;
            }
            if run.is_empty() {
                continue;
            }
            // Ideographs and kana are words each; the rest of the run is one.
            let ideographs = run.chars().filter(|&c| is_ideographic(c)).count();
            let has_others = run.chars().any(|c| c.is_alphanumeric() && !is_ideographic(c));
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
                // It goes on with the word before it: `<b>w</b>ord`.
                self.words -= 1;
            }
        }
        self.space = false;
        self.text.push_str(run);
        self.words = self.words.saturating_add(words);
    }

    /// White space that no text node has: between two cells of a table.
    pub(crate) const fn space(&mut self) {
        self.space = true;
    }

    /// A block begins.
    pub(crate) fn open(&mut self, place: u32, signs: u32) {
        self.regions.open(place, signs, self.lines.len());
    }

    /// The block that began last ends.
    pub(crate) fn close(&mut self) {
        self.regions.close(self.lines.len());
    }

    /// Ends the line, if it was begun.
    pub(crate) fn end_line(&mut self) {
        self.space = false;
        if self.text.len() == self.start {
            return;
        }
        let (start, end) = (self.start, self.text.len());
        self.lines.push(Line {
            start,
            end,
            words: self.words,
            linked: self.linked,
            place: self.place,
            region: self.regions.current(),
        });
        self.text.push('\n');
        self.start = self.text.len();
        (self.words, self.linked) = (0, 0);
    }
}

/// Han, hiragana, katakana: written without spaces, so each is counted as a word.
const fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
