//! Snippets: the parts of texts that best match a query.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use tantivy::tokenizer::TokenStream;

use crate::query::clause::{Query, Words};
use crate::words::tokens::{PAIR, Tokens};

/// Approximate length of a snippet in bytes.
const LENGTH: usize = 240;

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Text of the part, on one line.
    pub text: String,
    /// Matches as byte ranges of `text`, ascending and disjoint.
    pub found: Vec<Range<usize>>,
    /// True if the text begins before the snippet.
    pub cut_before: bool,
    /// True if the text continues after the snippet.
    pub cut_behind: bool,
}

impl Snippet {
    /// Returns the matches as ranges of characters.
    #[must_use]
    pub fn highlights(&self) -> Vec<Range<usize>> {
        let characters = |bytes: usize| self.text[..bytes].chars().count();
        let ranges = self.found.iter();
        let ranges = ranges.map(|range| characters(range.start)..characters(range.end));
        ranges.collect()
    }
}

/// A maker of snippets for a query.
pub struct Snippets<'q> {
    words: Vec<&'q Words>,
}

impl<'q> Snippets<'q> {
    /// Returns the snippet maker of a query.
    #[must_use]
    pub fn of(query: &'q Query) -> Self {
        Self {
            words: query.words(),
        }
    }

    /// Returns the first part of `text` with the most different matches, or its beginning without a
    /// match.
    #[must_use]
    pub fn cut(&self, text: &str) -> Snippet {
        let found = self.find(text);
        let window = self.best_window(text, &found);
        let found = found.into_iter().map(|(_, place)| place);
        show(text, window, found)
    }

    /// Finds the words and phrases: returns the number and the range of each match.
    fn find(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        // Phrases and prefixes, by their first term.
        let mut firsts: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut open = Vec::new();
        for (number, words) in self.words.iter().enumerate() {
            let first = words.terms[0].1.as_str();
            if words.open && words.terms.len() == 1 {
                open.push((number, first));
            } else {
                firsts.entry(first).or_default().push(number);
            }
        }
        let spans = self.words.iter().map(|words| span(words));
        let longest = spans.max().unwrap_or_default();
        let mut recent = VecDeque::new();
        let mut found = Vec::new();
        let mut tokens = Tokens::of(text);
        while tokens.advance() {
            let token = tokens.token();
            let word = RecentToken {
                text: token.text.clone(),
                place: token.offset_from..token.offset_to,
            };
            let last = recent.back_mut();
            match last.filter(|last: &&mut RecentPosition| last.position == token.position) {
                Some(last) => last.tokens.push(word),
                None => {
                    if recent.len() > longest {
                        self.take_first(&recent, &firsts, &open, &mut found);
                        recent.pop_front();
                    }
                    recent.push_back(RecentPosition {
                        position: token.position,
                        tokens: vec![word],
                    });
                }
            }
        }
        while !recent.is_empty() {
            self.take_first(&recent, &firsts, &open, &mut found);
            recent.pop_front();
        }
        found
    }

    /// Adds the matches that begin at the oldest of the recent positions.
    fn take_first(
        &self,
        recent: &VecDeque<RecentPosition>,
        firsts: &HashMap<&str, Vec<usize>>,
        open: &[(usize, &str)],
        found: &mut Vec<(usize, Range<usize>)>,
    ) {
        for first in recent.front().into_iter().flat_map(|at| &at.tokens) {
            for (number, begins) in open {
                if first.text.starts_with(begins) {
                    found.push((*number, first.place.clone()));
                }
            }
            for &number in firsts.get(first.text.as_str()).into_iter().flatten() {
                if let Some(end) = end_of(self.words[number], recent) {
                    found.push((number, first.place.start..end));
                }
            }
        }
    }

    /// Returns the first window that begins with a match and contains the most different matches.
    fn best_window(&self, text: &str, found: &[(usize, Range<usize>)]) -> Range<usize> {
        let mut counts = vec![0_usize; self.words.len()];
        let (mut best, mut different, mut end) = ((0, 0..0), 0, 0);
        for (start, (number, place)) in found.iter().enumerate() {
            while let Some((entering, next)) = found.get(end)
                && (next.end <= place.start + LENGTH * 2 / 3 || end == start)
            {
                different += usize::from(counts[*entering] == 0);
                counts[*entering] += 1;
                end += 1;
            }
            if different > best.0 {
                best = (different, place.start..found[end - 1].1.end);
            }
            counts[*number] -= 1;
            different -= usize::from(counts[*number] == 0);
        }
        let (_, finds) = best;
        // A third of the remaining length goes before the matches, the rest after them.
        let spare = LENGTH.saturating_sub(finds.len());
        let start = text.floor_char_boundary(finds.start.saturating_sub(spare / 3));
        let end = text.ceil_char_boundary((finds.end + spare - spare / 3).min(text.len()));
        start..end.min(text.ceil_char_boundary(start + 2 * LENGTH))
    }
}

/// Tokens at one position: a word, and its part at this position.
struct RecentPosition {
    position: usize,
    tokens: Vec<RecentToken>,
}

struct RecentToken {
    text: String,
    place: Range<usize>,
}

/// Returns the end of these words, if they match from the first of the recent positions.
fn end_of(words: &Words, recent: &VecDeque<RecentPosition>) -> Option<usize> {
    let base = words.terms[0].0;
    let last = words.terms.len() - 1;
    let mut end = None;
    for (which, (at, term)) in words.terms.iter().enumerate() {
        let is_term = |seen: &&RecentToken| match words.open && which == last {
            true => seen.text.starts_with(term.as_str()),
            false => seen.text == *term,
        };
        end = Some(
            recent
                .get(at - base)?
                .tokens
                .iter()
                .find(is_term)?
                .place
                .end,
        );
    }
    // Second half of a closed pair.
    let half = recent.get(span(words)).filter(|_| ends_in_pair(words));
    let half = half.and_then(|at| Some(at.tokens.first()?.place.end));
    half.or(end)
}

/// Returns true if the last term is a closed pair.
fn ends_in_pair(words: &Words) -> bool {
    let last = &words.terms[words.terms.len() - 1];
    !last.1.ends_with(PAIR) && last.1.contains(PAIR)
}

/// Returns the number of positions between the first and the last piece of the words; the second
/// half of a closed pair adds one.
fn span(words: &Words) -> usize {
    let (first, last) = (&words.terms[0], &words.terms[words.terms.len() - 1]);
    last.0 - first.0 + usize::from(ends_in_pair(words))
}

/// Returns `window` of `text` on one line, cut between words if there is a space nearby.
fn show(text: &str, window: Range<usize>, found: impl Iterator<Item = Range<usize>>) -> Snippet {
    const NEAR: usize = 24;
    let mut window = window;
    if window.start > 0 {
        let near =
            &text[window.start..text.floor_char_boundary((window.start + NEAR).min(window.end))];
        if let Some((at, space)) = near.char_indices().find(|(_, c)| c.is_whitespace()) {
            window.start += at + space.len_utf8();
        }
    }
    if window.end < text.len() {
        let from = text.ceil_char_boundary(window.end.saturating_sub(NEAR).max(window.start));
        if let Some(at) = text[from..window.end].rfind(char::is_whitespace) {
            window.end = from + at;
        }
    }
    let mut found: Vec<Range<usize>> = found
        .map(|place| place.start.max(window.start)..place.end.min(window.end))
        .filter(|place| !place.is_empty())
        .collect();
    found.sort_by_key(|place| (place.start, place.end));
    let mut snippet = Snippet {
        cut_before: window.start > 0,
        cut_behind: window.end < text.len(),
        ..Snippet::default()
    };
    let mut places = found.into_iter().peekable();
    let mut open: Option<(usize, usize)> = None;
    let mut space = true;
    for (at, c) in text[window.clone()].char_indices() {
        let at = window.start + at;
        if let Some((start, end)) = open
            && at >= end
        {
            snippet.found.push(start..snippet.text.len());
            open = None;
        }
        while let Some(place) = places.next_if(|place| place.start <= at) {
            open = match open {
                Some((start, end)) => Some((start, end.max(place.end))),
                None => Some((snippet.text.len(), place.end)),
            };
        }
        if c.is_whitespace() {
            if !space {
                snippet.text.push(' ');
            }
            space = true;
        } else {
            snippet.text.push(c);
            space = false;
        }
    }
    if let Some((start, _)) = open {
        snippet.found.push(start..snippet.text.len());
    }
    snippet.text.truncate(snippet.text.trim_end().len());
    // The window may cut the last match after a space.
    for place in &mut snippet.found {
        place.end = place.end.min(snippet.text.len());
    }
    snippet.found.retain(|place| !place.is_empty());
    snippet
}
