//! The table of chunks: the sections of each text, for retrieval and embeddings.
//!
//! A chunk ends before the next heading, so that it is about one subject; its headings tell which.
//! Invariant: the chunks of a text, one after the other, are the text.

use web::Timestamp;

use crate::extracted_text::ExtractedText;
use crate::table::{Column, Kind, Table, Value};

/// The sections of each text, in the order of the visits and of the text.
pub const CHUNKS: Table = Table {
    schema: "chunks/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("chunk", Kind::U64),
        Column::maybe("headings", Kind::Text),
        Column::always("text", Kind::Text),
        Column::always("words", Kind::U64),
        Column::maybe("language", Kind::Text),
        Column::maybe("title", Kind::Text),
        Column::maybe("kind", Kind::Text),
        Column::always("fetched_at", Kind::Time),
        Column::maybe("digest", Kind::Text),
        Column::always("cluster", Kind::Text),
    ],
};

/// A section of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextChunk<'a> {
    /// The `url` of the visit.
    pub url: &'a str,
    /// The number of the chunk in its text, from 1.
    pub number: u64,
    /// The heading of the section and those above it: `Guide > Install`; empty before the first.
    pub headings: String,
    /// The section as Markdown, with its heading.
    pub text: &'a str,
    page: &'a ExtractedText<'a>,
}

impl<'a> TextChunk<'a> {
    /// Returns the chunks of a text in Markdown.
    pub fn of(page: &'a ExtractedText<'a>) -> impl Iterator<Item = Self> {
        let sections = (1..).zip(sections(page.text));
        sections.map(move |(number, (headings, text))| Self {
            url: page.url,
            number,
            headings,
            text,
            page,
        })
    }

    /// Returns its fields, for [`CHUNKS`].
    #[must_use]
    pub fn fields(&self) -> [Option<Value<'_>>; CHUNKS.columns.len()] {
        let page = self.page;
        let fetched_at: Timestamp = page.fetched_at;
        [
            Some(Value::Text(self.url)),
            Some(Value::Number(self.number)),
            (!self.headings.is_empty()).then_some(Value::Text(&self.headings)),
            Some(Value::Text(self.text)),
            Some(Value::Number(self.text.split_whitespace().count() as u64)),
            page.language.map(Value::Text),
            page.title.map(Value::Text),
            page.kind.map(Value::Text),
            Some(Value::Time(fetched_at)),
            page.digest.map(Value::Text),
            Some(Value::Text(page.cluster)),
        ]
    }
}

/// Divides Markdown before its headings, each with the headings above it. A heading without text of
/// its own begins the section of the next one. The writer of Markdown marks all headings with `#`,
/// and all other lines that begin like one are escaped or in a fence.
fn sections(markdown: &str) -> Vec<(String, &str)> {
    let mut sections = Vec::new();
    let mut above: Vec<(usize, &str)> = Vec::new();
    let (mut start, mut at, mut has_text) = (0, 0, false);
    let mut fence: Option<&str> = None;
    for line in markdown.split_inclusive('\n') {
        let trimmed = line.trim_end();
        let heading = heading_of(trimmed).filter(|_| fence.is_none());
        if let Some((level, name)) = heading {
            if has_text {
                sections.push((path_of(&above), &markdown[start..at]));
                (start, has_text) = (at, false);
            }
            above.retain(|(other, _)| *other < level);
            above.push((level, name));
        } else {
            has_text |= !trimmed.is_empty();
            fence = match fence {
                Some(begin) if trimmed == begin => None,
                None => fence_of(trimmed),
                open => open,
            };
        }
        at += line.len();
    }
    if start < at {
        sections.push((path_of(&above), &markdown[start..]));
    }
    sections
}

/// Returns the level of a heading and its text.
fn heading_of(line: &str) -> Option<(usize, &str)> {
    let name = line.trim_start_matches('#');
    let level = line.len() - name.len();
    let is_heading = (1..=6).contains(&level) && name.starts_with(' ');
    is_heading.then(|| (level, name.trim()))
}

/// Returns the backticks that begin a fenced block.
fn fence_of(line: &str) -> Option<&str> {
    let ticks = line.len() - line.trim_start_matches('`').len();
    (ticks >= 3).then(|| &line[..ticks])
}

fn path_of(above: &[(usize, &str)]) -> String {
    let names: Vec<&str> = above.iter().map(|(_, name)| *name).collect();
    names.join(" > ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_divided_before_headings_and_each_part_knows_those_above_it() {
        let text =
            "Before.\n\n# Guide\n\n## Install\n\nRun it.\n\n### Linux\n\napt.\n\n## Use\n\nGo.\n";
        let found = sections(text);
        assert_eq!(
            found,
            [
                (String::new(), "Before.\n\n"),
                (
                    "Guide > Install".to_owned(),
                    "# Guide\n\n## Install\n\nRun it.\n\n"
                ),
                (
                    "Guide > Install > Linux".to_owned(),
                    "### Linux\n\napt.\n\n"
                ),
                ("Guide > Use".to_owned(), "## Use\n\nGo.\n"),
            ]
        );
    }

    #[test]
    fn a_comment_in_code_is_no_heading() {
        let text = "# Run\n\n````sh\n# a comment\n```\n# another\n````\n\nDone.\n";
        assert_eq!(sections(text), [("Run".to_owned(), text)]);
        assert_eq!(sections("#hashtag\n"), [(String::new(), "#hashtag\n")]);
        assert_eq!(sections(""), []);
    }

    proptest! {
        #[test]
        fn the_sections_of_a_text_are_the_text(
            lines in prop::collection::vec("(#{1,3} [a-c]{1,3}|[a-c ]{0,5}|`{3,4}(sh)?)", 0..20),
        ) {
            let text = lines.join("\n");
            let parts: Vec<&str> = sections(&text).into_iter().map(|(_, part)| part).collect();
            prop_assert!(parts.iter().all(|part| !part.is_empty()));
            prop_assert_eq!(parts.concat(), &*text);
        }
    }
}
