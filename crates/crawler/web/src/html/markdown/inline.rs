//! Parts of a line: emphasis, code and links.
//!
//! A `*` is a delimiter only between certain characters (CommonMark 0.31, section 6.2). If the
//! delimiters of a part would remain visible, the part is written without them: its words matter
//! more than its form.

use std::cmp::Reverse;

use crate::html::markdown::escape::{self, Place};
use crate::html::markdown::structure::Inline;

/// A part of the text with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
    pub form: Inline,
}

/// Appends the part `from..to` of a text, which is a line or a cell of a line. Spans are nested or
/// disjoint; only their overlap with the part counts. `target` returns the target of a link, or
/// `None` if the link has no usable target.
pub(crate) fn push(
    out: &mut String,
    line: &str,
    spans: &[Span],
    in_table: bool,
    mut target: impl FnMut(usize) -> Option<String>,
) {
    let spans = well_formed(line, spans);
    // Ends of open spans, with the text to write there.
    let mut ends: Vec<(usize, String)> = Vec::new();
    let mut in_link = false;
    let mut at = 0;
    let mut place = Place { in_link, in_table };
    for span in spans {
        while let Some((end, closing)) = ends.pop_if(|(end, _)| *end <= span.start) {
            escape::push(out, line, at, end, place);
            out.push_str(&closing);
            at = end;
            in_link &= !closing.starts_with(']');
            place.in_link = in_link;
        }
        if span.start < at {
            // Inside a code span, no other form exists.
            continue;
        }
        escape::push(out, line, at, span.start, place);
        at = span.start;
        match span.form {
            Inline::Code => {
                escape::push_code(out, &line[span.start..span.end], place);
                at = span.end;
            }
            Inline::Strong => {
                out.push_str("**");
                ends.push((span.end, "**".to_owned()));
            }
            Inline::Emphasis => {
                out.push('*');
                ends.push((span.end, "*".to_owned()));
            }
            Inline::Link(number) => {
                if let Some(target) = target(number).filter(|_| !in_link) {
                    if out.ends_with('!') {
                        // After a `!`, it would be a picture.
                        out.pop();
                        out.push_str("\\!");
                    }
                    out.push('[');
                    in_link = true;
                    place.in_link = true;
                    ends.push((span.end, format!("]({target})")));
                }
            }
        }
    }
    while let Some((end, closing)) = ends.pop() {
        escape::push(out, line, at, end, place);
        out.push_str(&closing);
        at = end;
        place.in_link &= !closing.starts_with(']');
    }
    escape::push(out, line, at, line.len(), place);
}

/// Returns the spans that can be written, trimmed of white space, the outer ones first.
fn well_formed(line: &str, spans: &[Span]) -> Vec<Span> {
    let trim = |span: &Span| {
        let (start, end) = (span.start.min(line.len()), span.end.min(line.len()));
        let text = line.get(start..end)?;
        let start = end - text.trim_start().len();
        let end = start + text.trim().len();
        (start < end).then_some(Span {
            start,
            end,
            ..*span
        })
    };
    let mut trimmed: Vec<Span> = spans.iter().filter_map(trim).collect();
    trimmed.sort_by_key(|span| (span.start, Reverse(span.end), span.form));
    let marked = MarkedEnds::of(&trimmed);
    let mut kept: Vec<Span> = Vec::with_capacity(trimmed.len());
    let (mut emphasised_to, mut code_to) = (None, None);
    for (index, span) in trimmed.iter().enumerate() {
        let is_kept = match span.form {
            Inline::Link(_) => true,
            // Two adjacent fences would merge into one.
            Inline::Code => code_to.replace(span.end) != Some(span.start),
            Inline::Strong | Inline::Emphasis => {
                let mut outer = kept.iter().rev().take(NESTED);
                let is_nested = outer.any(|outer| outer.end >= span.end)
                    || trimmed
                        .get(index + 1)
                        .is_some_and(|next| next.start < span.end);
                // So would two runs of delimiters.
                let is_kept = emphasised_to != Some(span.start)
                    && can_be_emphasised(line, span, is_nested, &marked);
                if is_kept {
                    emphasised_to = emphasised_to.max(Some(span.end));
                }
                is_kept
            }
        };
        if is_kept {
            kept.push(*span);
        }
    }
    kept
}

/// Maximum nesting of spans: a link, strong text and emphasised text.
const NESTED: usize = 3;

/// Ends of links and code, next to brackets and fences.
struct MarkedEnds {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl MarkedEnds {
    fn of(spans: &[Span]) -> Self {
        let marked = spans
            .iter()
            .filter(|span| matches!(span.form, Inline::Link(_) | Inline::Code));
        let (starts, mut ends): (Vec<_>, Vec<_>) =
            marked.map(|span| (span.start, span.end)).unzip();
        ends.sort_unstable();
        Self { starts, ends }
    }
}

/// Returns true if CommonMark recognises delimiters at the ends of the span. This condition is
/// stricter than in CommonMark: the first delimiter can only open and the last can only close,
/// unless the span is a lone part of a word.
fn can_be_emphasised(line: &str, span: &Span, is_nested: bool, marked: &MarkedEnds) -> bool {
    let text = &line[span.start..span.end];
    let before = line[..span.start].chars().next_back();
    let behind = line[span.end..].chars().next();
    let is_word = |end: Option<char>| end.is_some_and(char::is_alphanumeric);
    let first_is_word = is_word(text.chars().next());
    let last_is_word = is_word(text.chars().next_back());
    let is_apart = |outside: Option<char>, end_is_word: bool| {
        outside.is_none_or(|c| {
            c.is_whitespace() || c.is_ascii_punctuation() && c != '*' && end_is_word
        })
    };
    let starts_marked = marked.starts.binary_search(&span.start).is_ok();
    let ends_marked = marked.ends.binary_search(&span.end).is_ok();
    let is_set_apart = |outside, end_is_word, is_marked| match is_marked {
        // A bracket or a fence is outside or inside the delimiter.
        true => outside_is_space(outside) && end_is_word,
        false => is_apart(outside, end_is_word),
    };
    if is_set_apart(before, first_is_word, starts_marked)
        && is_set_apart(behind, last_is_word, ends_marked)
    {
        return true;
    }
    !is_nested && first_is_word && last_is_word
}

fn outside_is_space(outside: Option<char>) -> bool {
    outside.is_none_or(char::is_whitespace)
}
