//! A linear scanner of HTML tokens: it finds the bounds of tags, and does not interpret them.
//!
//! The scanner has two uses. It runs ahead of the tree builder, to notice a tag with a hundred
//! thousand attributes before the tree builder sees it. And it reads the rest of a page after the
//! tree builder was stopped. Both uses must agree with the parser about the end of a tag. So the
//! scanner has the states of the HTML standard (section 13.2.5, "Tokenization"), except for states
//! that only classify errors.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::html::character_references::{self, TextContext};
use crate::letter_case::{is_one_of, starts_with_ignore_case};

/// One token in the data state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// Text with unresolved character references.
    Text(&'t str),
    /// A start tag.
    Start(Tag<'t>),
    /// An end tag.
    End(Tag<'t>),
    /// A comment, a document type, a processing instruction or a CDATA section.
    Markup(&'t str),
}

/// A tag as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// The name as written.
    pub name: &'t str,
    /// The text between the name and the closing `>`.
    pub inside: &'t str,
    /// Number of attributes, including repeated ones.
    pub attributes: usize,
    /// Bytes of the tag's name and of its attributes' names.
    pub names: usize,
    /// True if it ends before the text does.
    pub is_whole: bool,
    /// True if it ends with `/>`.
    pub closes_itself: bool,
}

/// Maximum number of attributes; a tag with more extends to the end of the text.
const MAX_ATTRIBUTES: usize = 100_000;

/// A reader of tokens from the start of a text to its end.
#[derive(Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// True inside SVG and MathML, where CDATA sections exist; elsewhere they are comments.
    pub foreign: bool,
}

impl<'t> Scanner<'t> {
    pub(crate) const fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            foreign: false,
        }
    }

    /// Returns the offset of the first unread byte.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// Returns the text read since an earlier offset.
    pub(crate) fn since(&self, before: usize) -> &'t str {
        &self.text[before..self.at]
    }

    /// Returns true if the next token would be a CDATA section in foreign content.
    pub(crate) fn is_at_cdata(&self) -> bool {
        self.text.as_bytes()[self.at..].starts_with(b"<![CDATA[")
    }

    /// Reads the next token in the data state.
    pub(crate) fn next(&mut self) -> Option<Token<'t>> {
        let rest = self
            .text
            .as_bytes()
            .get(self.at..)
            .filter(|rest| !rest.is_empty())?;
        Some(match rest {
            [b'<', b'a'..=b'z' | b'A'..=b'Z', ..] => Token::Start(self.tag(1)),
            [b'<', b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => Token::End(self.tag(2)),
            [b'<', b'!', ..] => Token::Markup(self.declaration()),
            [b'<', b'?', ..] | [b'<', b'/', _, ..] => Token::Markup(self.through(">", 2)),
            _ => {
                // A `<` that begins no tag is text.
                let after = char_len(rest[0]);
                let end = memchr(b'<', &rest[after..]);
                let end = end.map_or(self.text.len(), |end| self.at + after + end);
                Token::Text(self.take(end))
            }
        })
    }

    /// Reads raw text, as in a script, up to (not including) the end tag with this name, or to the
    /// end.
    pub(crate) fn raw(&mut self, name: &str) -> &'t str {
        let mut from = self.at;
        while let Some(found) = memchr(b'<', &self.text.as_bytes()[from..]) {
            let end = from + found;
            let after = self.text.as_bytes()[end + 1..].strip_prefix(b"/");
            if after.is_some_and(|after| begins_with_name(after, name.as_bytes())) {
                return self.take(end);
            }
            from = end + 1;
        }
        self.take(self.text.len())
    }

    /// Reads the content of a script up to its end tag. After `<!-- <script>`, a `</script>` before
    /// `-->` ends only the inner script (sections 13.2.5.20 to 31).
    pub(crate) fn script(&mut self) -> &'t str {
        let bytes = self.text.as_bytes();
        let (mut in_comment, mut in_script) = (false, false);
        let mut at = self.at;
        while let Some(found) = memchr2(b'<', b'-', &bytes[at..]) {
            at += found;
            let rest = &bytes[at..];
            if rest.starts_with(b"<!--") {
                in_comment = true;
                // The dashes may also end it: `<!-->`.
                at += 2;
                continue;
            }
            if rest.starts_with(b"-->") {
                (in_comment, in_script) = (false, false);
            } else if begins_with_name(rest, b"</script") {
                if !in_script {
                    return self.take(at);
                }
                in_script = false;
            } else if in_comment && begins_with_name(rest, b"<script") {
                in_script = true;
            }
            at += 1;
        }
        self.take(self.text.len())
    }

    /// Reads the rest of the text.
    pub(crate) fn plain(&mut self) -> &'t str {
        self.take(self.text.len())
    }

    fn take(&mut self, end: usize) -> &'t str {
        let taken = &self.text[self.at..end];
        self.at = end;
        taken
    }

    /// Reads through the next `mark` after `skip` bytes.
    fn through(&mut self, mark: &str, skip: usize) -> &'t str {
        let from = (self.at + skip).min(self.text.len());
        let end = self.text[from..]
            .find(mark)
            .map_or(self.text.len(), |found| from + found + mark.len());
        self.take(end)
    }

    fn declaration(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        if rest.starts_with("<!--") {
            return self.comment();
        }
        if self.foreign && rest.starts_with("<![CDATA[") {
            return self.through("]]>", 9);
        }
        self.through(">", 2)
    }

    /// Reads a comment, which ends at the first `-->` or `--!>`; `<!-->` and `<!--->` are complete.
    fn comment(&mut self) -> &'t str {
        // Searches for `>` instead of dashes, so that a comment of dashes is skipped at once.
        let mut from = self.at + 4;
        while let Some(found) = memchr(b'>', &self.text.as_bytes()[from..]) {
            let end = from + found;
            let ends = |mark: &str, start: usize| {
                self.text.as_bytes()[start..end].ends_with(mark.as_bytes())
            };
            if ends("--", self.at + 2) || ends("--!", self.at + 4) {
                return self.take(end + 1);
            }
            from = end + 1;
        }
        self.take(self.text.len())
    }

    /// Reads a tag whose name begins after `skip` bytes.
    fn tag(&mut self, skip: usize) -> Tag<'t> {
        let name_at = self.at + skip;
        let mut attributes = Attributes {
            text: &self.text[name_at..],
            at: 0,
        };
        let name = attributes.until(|byte| is_space(byte) || matches!(byte, b'/' | b'>'));
        let inside_at = attributes.at;
        let (mut count, mut names, mut last_at) = (0, name.len(), inside_at);
        while let Some((name, _)) = attributes.next() {
            count += 1;
            names += name.len();
            last_at = attributes.at;
            if count > MAX_ATTRIBUTES {
                attributes.at = attributes.text.len();
            }
        }
        let end = name_at + attributes.at;
        let closes_itself = attributes.text[last_at..attributes.at].ends_with('/');
        let inside = &self.text[name_at + inside_at..end];
        // Skips the `>`, which is missing only at the end of the text.
        self.at = (end + 1).min(self.text.len());
        Tag {
            name,
            inside,
            attributes: count,
            names,
            is_whole: end < self.text.len(),
            closes_itself,
        }
    }
}

impl<'t> Tag<'t> {
    /// Returns the names and values of the attributes as written.
    pub(crate) fn attributes(&self) -> Attributes<'t> {
        Attributes {
            text: self.inside,
            at: 0,
        }
    }

    /// Returns the value of the first attribute with this name, with character references resolved.
    pub(crate) fn value(&self, name: &str) -> Option<Cow<'t, str>> {
        let (_, value) = self
            .attributes()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(character_references::resolve(value, TextContext::Attribute))
    }

    /// Returns true if the tag's name is one of `names`.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        is_one_of(self.name, names)
    }
}

/// The attributes of a tag, up to its `>`.
#[derive(Clone, Debug)]
pub(crate) struct Attributes<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Attributes<'t> {
    fn until(&mut self, stop: impl Fn(u8) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(stop).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn value(&mut self) -> &'t str {
        self.until(|byte| !is_space(byte));
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            Some(b'>') => return "",
            _ => return self.until(|byte| is_space(byte) || byte == b'>'),
        };
        let from = self.at + 1;
        let length = memchr(quote, &self.text.as_bytes()[from..]);
        let end = length.map_or(self.text.len(), |length| from + length);
        self.at = (end + 1).min(self.text.len());
        &self.text[from..end]
    }
}

impl<'t> Iterator for Attributes<'t> {
    type Item = (&'t str, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        self.until(|byte| !is_space(byte) && byte != b'/');
        let start = self.at;
        match self.peek()? {
            b'>' => return None,
            // A leading equals sign belongs to the name.
            b'=' => self.at += 1,
            _ => {}
        }
        self.until(|byte| is_space(byte) || matches!(byte, b'/' | b'>' | b'='));
        let name = &self.text[start..self.at];
        let mut after = self.clone();
        after.until(|byte| !is_space(byte));
        if after.peek() != Some(b'=') {
            return Some((name, ""));
        }
        self.at = after.at + 1;
        Some((name, self.value()))
    }
}

fn begins_with_name(bytes: &[u8], start: &[u8]) -> bool {
    starts_with_ignore_case(bytes, start)
        && bytes
            .get(start.len())
            .is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
}

/// Returns true for ASCII white space as in the standard; a carriage return counts as a line feed.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// Returns the length of the character that begins with this byte.
const fn char_len(byte: u8) -> usize {
    match byte {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}
