//! A linear reader of HTML tokens: where tags begin and end, and nothing about what they mean.
//!
//! Two uses. It runs ahead of the tree builder, so that a tag with a hundred thousand attributes is
//! noticed before the tree builder sees it. And it reads what is left of a page after the tree
//! builder was stopped. Both need to agree with the parser about where a tag ends, so the states
//! are those of the HTML standard (section 13.2.5, "Tokenization"), without the parts that only
//! name what was wrong.

use std::borrow::Cow;

use crate::html::character_references::{self, TextContext};

/// One token in the data state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// Text, character references not resolved.
    Text(&'t str),
    /// A start tag.
    Start(Tag<'t>),
    /// An end tag.
    End(Tag<'t>),
    /// A comment, a document type, a processing instruction or a CDATA section.
    Markup(&'t str),
}

/// A tag as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag<'t> {
    /// The name, in the case in which it was written.
    pub name: &'t str,
    /// What stands between the name and the closing `>`.
    pub inside: &'t str,
    /// How many attributes there are, repeated ones included.
    pub attributes: usize,
    /// Bytes of its own name and theirs.
    pub names: usize,
    /// Whether it ends before the text does.
    pub is_whole: bool,
    /// Whether it ends with `/>`.
    pub closes_itself: bool,
}

/// A tag with more attributes has no end: it takes what is left of the text.
const MOST_ATTRIBUTES: usize = 100_000;

/// Reads tokens from the start of a text to its end.
#[derive(Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// Whether a CDATA section is one: only inside SVG and MathML. Elsewhere it is a comment.
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

    /// The first byte that was not read.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    /// What was read since then.
    pub(crate) fn since(&self, before: usize) -> &'t str {
        &self.text[before..self.at]
    }

    /// Whether the next token is what would be a CDATA section in foreign content.
    pub(crate) fn is_at_cdata(&self) -> bool {
        self.text.as_bytes()[self.at..].starts_with(b"<![CDATA[")
    }

    /// The next token, read as in the data state.
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
                let end = self.text[self.at + char_len(rest[0])..].find('<');
                let end = end.map_or(self.text.len(), |end| self.at + char_len(rest[0]) + end);
                Token::Text(self.take(end))
            }
        })
    }

    /// Reads raw text, as in a script, up to the end tag with this name (not with it), or to the
    /// end.
    pub(crate) fn raw(&mut self, name: &str) -> &'t str {
        let mut from = self.at;
        while let Some(found) = self.text[from..].find('<') {
            let end = from + found;
            let after = self.text.as_bytes()[end + 1..].strip_prefix(b"/");
            if after.is_some_and(|after| begins_with_name(after, name.as_bytes())) {
                return self.take(end);
            }
            from = end + 1;
        }
        self.take(self.text.len())
    }

    /// Reads the content of a script, up to the end tag that ends it: between `<!-- <script>` and
    /// `-->` none does (sections 13.2.5.20 to 31).
    pub(crate) fn script(&mut self) -> &'t str {
        let bytes = self.text.as_bytes();
        let (mut in_comment, mut in_script) = (false, false);
        let mut at = self.at;
        while let Some(found) = bytes[at..]
            .iter()
            .position(|byte| matches!(byte, b'<' | b'-'))
        {
            at += found;
            let rest = &bytes[at..];
            if rest.starts_with(b"<!--") {
                in_comment = true;
                // The dashes may be those that end it: `<!-->`.
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

    /// Reads all that is left.
    pub(crate) fn plain(&mut self) -> &'t str {
        self.take(self.text.len())
    }

    fn take(&mut self, end: usize) -> &'t str {
        let taken = &self.text[self.at..end];
        self.at = end;
        taken
    }

    /// Reads to the end of the next `mark`, which is looked for after `skip` bytes.
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

    /// A comment ends at the first `-->` or `--!>`; `<!-->` and `<!--->` are whole.
    fn comment(&mut self) -> &'t str {
        // Angles are looked for, and not dashes: a comment of nothing but dashes is passed in one
        // stride.
        let mut from = self.at + 4;
        while let Some(found) = self.text[from..].find('>') {
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

    /// A tag whose name begins after `skip` bytes.
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
            if count > MOST_ATTRIBUTES {
                attributes.at = attributes.text.len();
            }
        }
        let end = name_at + attributes.at;
        let closes_itself = attributes.text[last_at..attributes.at].ends_with('/');
        let inside = &self.text[name_at + inside_at..end];
        // Past the `>`, which is missing at the end of the text only.
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
    /// The names and values of the attributes, as written.
    pub(crate) fn attributes(&self) -> Attributes<'t> {
        Attributes {
            text: self.inside,
            at: 0,
        }
    }

    /// The value of the first attribute with this name, its character references resolved.
    pub(crate) fn value(&self, name: &str) -> Option<Cow<'t, str>> {
        let (_, value) = self
            .attributes()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))?;
        Some(character_references::resolve(value, TextContext::Attribute))
    }

    /// Whether the tag has one of these names.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.name.eq_ignore_ascii_case(name))
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
            Some(quote @ (b'"' | b'\'')) => char::from(quote),
            Some(b'>') => return "",
            _ => return self.until(|byte| is_space(byte) || byte == b'>'),
        };
        let from = self.at + 1;
        let length = self.text[from..].find(quote);
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
            // An equals sign in the first place is the name's.
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
    let is_name = bytes
        .get(..start.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(start));
    is_name
        && bytes
            .get(start.len())
            .is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
}

/// ASCII white space as the standard has it; a carriage return is read as a line feed.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\x0c' | b'\r' | b' ')
}

/// The length of the character that begins with this byte.
const fn char_len(byte: u8) -> usize {
    match byte {
        0x00..=0x7f => 1,
        0x80..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
    }
}
