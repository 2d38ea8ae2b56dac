//! The words of a page, and which of them are its own.
//!
//! Templates make different pages look alike, so a page is judged by its main content. Its author often says
//! where that is (`<main>`, `<article>`); where not, it is what is left without navigation, headers, footers,
//! forms and lines that are mostly links. What is left must be a text: under fifty words the whole page is
//! taken.
//!
//! A page is gathered as lines, each with where it stood. Only at the end is it known whether there was a
//! `<main>`, so the lines are gathered once and chosen from then.

use super::Own;

/// Under so many words a main content is none.
pub const MIN_MAIN_WORDS: usize = 50;

/// Where a line stood.
pub(crate) mod place {
    /// In `<main>` or `role=main`.
    pub(crate) const MAIN: u8 = 1;
    /// In `<article>`.
    pub(crate) const ARTICLE: u8 = 1 << 1;
    /// In what frames a page by the meaning of its elements: `<nav>`, `<aside>`, `role=banner`.
    pub(crate) const FRAME: u8 = 1 << 2;
    /// In what frames it by its class or name: `class=sidebar`.
    pub(crate) const HINT: u8 = 1 << 3;
    /// In a form.
    pub(crate) const FORM: u8 = 1 << 4;
}

/// The visible text of a page, line by line.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    text: String,
    lines: Vec<Line>,
    /// What is being gathered: where it begins, and the rest of its line.
    start: usize,
    words: u32,
    linked: u32,
    place: u8,
    /// Whether white space stood before what comes next.
    space: bool,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    end: usize,
    words: u32,
    /// How many of its bytes are in links.
    linked: u32,
    place: u8,
}

impl Line {
    const fn is_in(&self, place: u8) -> bool {
        self.place & place != 0
    }

    const fn is_mostly_links(&self) -> bool {
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

    /// How much text there is, in bytes: an anchor begins here.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    /// The text from there on, without the space that was not yet written.
    pub(crate) fn since(&self, start: usize) -> &str {
        self.text[start.min(self.text.len())..].trim()
    }

    /// Adds text, its white space folded.
    pub(crate) fn push(&mut self, text: &str, place: u8, in_link: bool) {
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
        });
        self.text.push('\n');
        self.start = self.text.len();
        (self.words, self.linked) = (0, 0);
    }

    /// Chooses what the page is judged by.
    pub(crate) fn finish(mut self) -> Texts {
        self.end_line();
        self.text.pop();
        let rule = self.rule();
        if self.lines.iter().all(|line| rule.chooses(line)) {
            return Texts {
                text: self.text,
                full: None,
                own: Own::Main,
            };
        }
        let words = self.words_by(rule);
        let own_text = self.gather(rule);
        if words >= MIN_MAIN_WORDS {
            return Texts {
                text: own_text,
                full: Some(self.text),
                own: Own::Main,
            };
        }
        let is_frame = words * 2 < self.words_of(|_| true);
        let own = if is_frame {
            Own::PageFallback { own_text }
        } else {
            Own::Main
        };
        Texts {
            text: self.text,
            full: None,
            own,
        }
    }

    /// How main content is told from the rest on this page.
    fn rule(&self) -> Rule {
        let framed = place::FRAME | place::HINT;
        for marked in [place::MAIN, place::ARTICLE] {
            let rule = Rule {
                marked: Some(marked),
                framed,
                links_frame: false,
            };
            let words = self.words_by(rule);
            if words >= MIN_MAIN_WORDS {
                // Lines of links among prose lead to other pages; a page of such lines is a list, and its
                // own.
                let prose = self.words_by(Rule {
                    links_frame: true,
                    ..rule
                });
                return Rule {
                    links_frame: prose * 2 >= words,
                    ..rule
                };
            }
        }
        // Some frameworks put the whole page into one form.
        let in_forms = self.words_of(|line| line.is_in(place::FORM));
        let forms_frame = in_forms * 2 < self.words_of(|_| true);
        let framed = if forms_frame { framed | place::FORM } else { framed };
        Rule {
            marked: None,
            framed,
            links_frame: true,
        }
    }

    fn words_by(&self, rule: Rule) -> usize {
        self.words_of(|line| rule.chooses(line))
    }

    fn words_of(&self, choose: impl Fn(&Line) -> bool) -> usize {
        self.lines
            .iter()
            .filter(|line| choose(line))
            .map(|line| line.words as usize)
            .sum()
    }

    fn gather(&self, rule: Rule) -> String {
        let mut text = String::with_capacity(self.text.len());
        for line in self.lines.iter().filter(|line| rule.chooses(line)) {
            text.push_str(&self.text[line.start..line.end]);
            text.push('\n');
        }
        text.pop();
        text
    }
}

/// Which lines are main content.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The place that a line must be in, where the author marked one.
    marked: Option<u8>,
    /// The places that it must not be in.
    framed: u8,
    /// Whether a line that is mostly links is left out.
    links_frame: bool,
}

impl Rule {
    fn chooses(self, line: &Line) -> bool {
        self.marked.is_none_or(|marked| line.is_in(marked))
            && !line.is_in(self.framed)
            && !(self.links_frame && line.is_mostly_links())
    }
}

/// What a page says.
pub(crate) struct Texts {
    pub text: String,
    /// The whole page, where that is more than `text`.
    pub full: Option<String>,
    pub own: Own,
}

/// Han, hiragana, katakana: written without spaces, so each is counted as a word.
const fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
