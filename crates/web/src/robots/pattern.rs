//! Whether a rule's path matches a URL's (RFC 9309 sections 2.2.2 and 2.2.3).
//!
//! Both are brought into one spelling first, so that it does not matter who encoded what:
//!
//! - what is unreserved, or reserved without being a delimiter of paths and queries, is decoded:
//!   `%61` is `a`, `%2A` a star that is no wildcard;
//! - what is neither is encoded, with upper-case digits: `ツ` is `%E3%83%84`, a space `%20`;
//! - the delimiters `/ ? # & = +` stay as they are, encoded or not: `/a%2Fb` is not `/a/b`. In a
//!   query, `/` and `?` delimit nothing (RFC 3986 section 3.4), and the standard's own example
//!   takes `?baz=https://foo.bar` and `?baz=https%3A%2F%2Ffoo.bar` for one: so where either has one
//!   encoded in its query, it is compared decoded as well.

use std::fmt;

/// Stands for a star that is a wildcard: it ends a line, so it is in no value, and in no URL
/// either.
const WILDCARD: char = '\0';

/// What it costs to begin looking for a literal, in octets looked at: measured, 8 ns beside half a
/// nanosecond.
const LOOK: usize = 16;

/// The path of a rule, in the spelling in which it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    text: Box<str>,
    /// Whether it must reach to the end of the URL.
    anchored: bool,
    octets: u32,
}

/// The path and query of a URL, in the spelling in which they are compared.
pub(super) struct Target {
    text: String,
    /// With the slashes and question marks of its query decoded, where that makes a difference.
    decoded: Option<String>,
}

impl Pattern {
    /// Reads the value of a rule: none if it is empty, which matches nothing; a second one where
    /// decoding the query of the path makes a difference.
    pub(super) fn parse(value: &[u8]) -> [Option<Self>; 2] {
        if value.is_empty() {
            return [None, None];
        }
        let (path, anchored) = match value.strip_suffix(b"$") {
            Some(path) => (path, true),
            None => (value, false),
        };
        let mut text = String::with_capacity(path.len() + 1);
        if !path.starts_with(b"/") && !path.starts_with(b"*") {
            text.push('/');
        }
        let mut wildcards = 0;
        for (index, literal) in path.split(|&byte| byte == b'*').enumerate() {
            if index > 0 {
                wildcards += 1;
                // Any number of stars in a row means one.
                if !text.ends_with(WILDCARD) {
                    text.push(WILDCARD);
                }
            }
            spell(literal, &mut text);
        }
        let kept = text.matches(WILDCARD).count();
        let octets = text.len() - kept + wildcards + usize::from(anchored);
        let pattern = |text: String| Self {
            text: text.into(),
            anchored,
            octets: u32::try_from(octets).unwrap_or(u32::MAX),
        };
        let decoded = decode_query(&text).map(&pattern);
        [Some(pattern(text)), decoded]
    }

    /// How specific it is (section 2.2.2).
    pub(super) const fn octets(&self) -> u32 {
        self.octets
    }

    /// Whether it matches. Takes what that costs off `work`; where that becomes zero, the answer
    /// means nothing.
    pub(super) fn matches(&self, target: &Target, work: &mut usize) -> bool {
        let decoded = target.decoded.as_deref();
        self.is_in(&target.text, work) || decoded.is_some_and(|text| self.is_in(text, work))
    }

    /// What stands between two wildcards is looked for from left to right, and taken where it is
    /// found first: that leaves most for what comes after it.
    fn is_in(&self, target: &str, work: &mut usize) -> bool {
        let mut literals = self.text.split(WILDCARD);
        let first = literals.next().unwrap_or_default();
        spend(work, 1);
        let Some(mut rest) = target.strip_prefix(first) else {
            return false;
        };
        let Some(last) = literals.next_back() else {
            return !self.anchored || rest.is_empty();
        };
        for literal in literals {
            let after = rest.split_once(literal).map(|(_, after)| after);
            let left = after.map_or(0, str::len);
            spend(work, LOOK + literal.len() + rest.len() - left);
            let Some(after) = after else { return false };
            rest = after;
        }
        if self.anchored {
            return rest.ends_with(last);
        }
        spend(work, LOOK + last.len() + rest.len());
        rest.contains(last)
    }
}

impl Target {
    pub(super) fn new(path_and_query: &str) -> Self {
        let mut text = String::with_capacity(path_and_query.len());
        spell(path_and_query.as_bytes(), &mut text);
        let decoded = decode_query(&text);
        Self { text, decoded }
    }
}

/// As it could stand in a file.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let literal = self.text.replace('*', "%2A").replace('$', "%24");
        f.write_str(&literal.replace(WILDCARD, "*"))?;
        f.write_str(if self.anchored { "$" } else { "" })
    }
}

fn spend(work: &mut usize, steps: usize) {
    *work = work.saturating_sub(steps);
}

/// Appends octets in the spelling in which they are compared.
fn spell(octets: &[u8], text: &mut String) {
    let mut rest = octets;
    while let Some((&octet, after)) = rest.split_first() {
        rest = after;
        if octet != b'%' {
            push(octet, is_data(octet) || is_delimiter(octet), text);
            continue;
        }
        match after
            .split_at_checked(2)
            .and_then(|(digits, after)| Some((decode(digits)?, after)))
        {
            Some((encoded, after)) => {
                rest = after;
                push(encoded, is_data(encoded), text);
            }
            None => text.push('%'),
        }
    }
}

fn push(octet: u8, plain: bool, text: &mut String) {
    if plain {
        text.push(char::from(octet));
    } else {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let digit = |four_bits: u8| char::from(DIGITS[usize::from(four_bits)]);
        text.extend(['%', digit(octet >> 4), digit(octet & 15)]);
    }
}

fn decode(digits: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(digits[at]).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// Unreserved (RFC 3986 section 2.3), or reserved without delimiting anything here.
const fn is_data(octet: u8) -> bool {
    octet.is_ascii_alphanumeric()
        || matches!(octet, b'-' | b'.' | b'_' | b'~')
        || is_reserved_data(octet)
}

const fn is_reserved_data(octet: u8) -> bool {
    matches!(
        octet,
        b':' | b'@' | b'[' | b']' | b'!' | b'$' | b'\'' | b'(' | b')' | b'*' | b',' | b';'
    )
}

const fn is_delimiter(octet: u8) -> bool {
    matches!(octet, b'/' | b'?' | b'#' | b'&' | b'=' | b'+')
}

/// The same with the slashes and question marks of its query decoded; `None` where there are none
/// to decode.
fn decode_query(text: &str) -> Option<String> {
    let (path, query) = text.split_once('?')?;
    let has_encoded = query.contains("%2F") || query.contains("%3F");
    has_encoded.then(|| format!("{path}?{}", query.replace("%2F", "/").replace("%3F", "?")))
}
