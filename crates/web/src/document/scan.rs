//! A linear reader of HTML tokens: where tags begin and end, and nothing about what they mean.
//!
//! Two uses. It runs ahead of the tree builder, so that a tag with a hundred thousand attributes is noticed
//! before the tree builder sees it. And it reads what is left of a page after the tree builder was stopped.
//! Both need to agree with the parser about where a tag ends, so the states are those of the HTML standard
//! (section 13.2.5, "Tokenization"), without the parts that only name what was wrong.

use std::borrow::Cow;

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
}

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

    /// Reads raw text, as in a script, up to the end tag with this name (not with it), or to the end.
    pub(crate) fn raw(&mut self, name: &str) -> &'t str {
        let mut from = self.at;
        while let Some(found) = self.text[from..].find("</") {
            let end = from + found;
            let after = &self.text.as_bytes()[end + 2..];
            let is_name = after
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
            let is_whole = after
                .get(name.len())
                .is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'));
            if is_name && is_whole {
                return self.take(end);
            }
            from = end + 2;
        }
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
        let mut from = self.at + 2;
        while let Some(found) = self.text[from..].find("--") {
            let dashes = from + found;
            match &self.text.as_bytes()[dashes + 2..] {
                [b'>', ..] => return self.take(dashes + 3),
                [b'!', b'>', ..] if dashes >= self.at + 4 => return self.take(dashes + 4),
                _ => from = dashes + 1,
            }
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
        let mut count = 0;
        while attributes.next().is_some() {
            count += 1;
        }
        let end = name_at + attributes.at;
        let inside = &self.text[name_at + inside_at..end];
        // Past the `>`, which is missing at the end of the text only.
        self.at = (end + 1).min(self.text.len());
        Tag {
            name,
            inside,
            attributes: count,
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
        Some(resolve_references(value))
    }

    /// Whether the tag has one of these names.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.name.eq_ignore_ascii_case(name))
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

/// Resolves numeric character references and the named ones that matter in URLs and plain prose. The others
/// stay: this is what is read of a page that was built to break its reader.
pub(crate) fn resolve_references(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        resolved.push_str(&rest[..at]);
        rest = &rest[at..];
        let (c, length) = reference(rest).unwrap_or(('&', 1));
        resolved.push(c);
        rest = &rest[length..];
    }
    resolved.push_str(rest);
    Cow::Owned(resolved)
}

/// The character that a reference at the start of the text stands for, and the reference's length.
fn reference(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 12;
    let end = text.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let c = match &text[1..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        name => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
                .filter(|&c| c != '\0')
                .unwrap_or(char::REPLACEMENT_CHARACTER)
        }
    };
    Some((c, end + 1))
}
