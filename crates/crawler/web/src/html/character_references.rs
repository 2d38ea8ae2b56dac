//! Character references, resolved as the HTML standard specifies (from section 13.2.5.72).
//!
//! The tokenizer of the tree builder resolves references in its input. This module does so for text
//! that is read without a tree, so that both find the same links: `?a&copy=1` contains no ©,
//! `&#x2f;&sol;host` contains two slashes.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};
use memchr::memchr;

/// The context of a text: in attributes, fewer references without a semicolon are valid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextContext {
    Content,
    Attribute,
}

/// Resolves all character references and keeps invalid ones.
pub(crate) fn resolve(text: &str, context: TextContext) -> Cow<'_, str> {
    let Some(first) = memchr(b'&', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let mut resolved = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, first);
    loop {
        let length = match text.as_bytes().get(at + 1) {
            Some(b'#') => numeric(&text[at..]).map(|(c, length)| ([c, '\0'], length)),
            Some(byte) if byte.is_ascii_alphabetic() => named(&text[at..], context),
            _ => None,
        }
        .map_or(1, |([first, second], length)| {
            resolved.push_str(&text[copied..at]);
            resolved.push(first);
            if second != '\0' {
                resolved.push(second);
            }
            copied = at + length;
            length
        });
        at += length;
        match memchr(b'&', &text.as_bytes()[at..]) {
            Some(next) => at += next,
            None => break,
        }
    }
    resolved.push_str(&text[copied..]);
    Cow::Owned(resolved)
}

/// Returns the character of `&#47;` or `&#x2f`, and the length of the reference.
fn numeric(text: &str) -> Option<(char, usize)> {
    let (digits, radix, before) = match text.as_bytes().get(2) {
        Some(b'x' | b'X') => (&text[3..], 16, 3),
        _ => (&text[2..], 10, 2),
    };
    let mut code: u32 = 0;
    let mut length = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(radix)) {
        code = code.saturating_mul(radix).saturating_add(digit);
        length += 1;
    }
    if length == 0 {
        return None;
    }
    let semicolon = usize::from(digits[length..].starts_with(';'));
    let c = match code {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9f => C1_REPLACEMENTS[(code - 0x80) as usize]
            .or_else(|| char::from_u32(code))
            .unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((c, before + length + semicolon))
}

/// Returns the character or two characters of `&amp;` or `&amp`, and the length of the reference.
/// The longest name wins.
fn named(text: &str, context: TextContext) -> Option<([char; 2], usize)> {
    let bytes = text.as_bytes();
    let mut found = None;
    let mut end = 2;
    // The table also contains the beginnings of names, mapped to nothing, so a mismatch is noticed
    // at once.
    while end <= bytes.len() && text.is_char_boundary(end) {
        let Some(&(first, second)) = NAMED_ENTITIES.get(&text[1..end]) else {
            break;
        };
        if first != 0 {
            found = Some((first, second, end));
        }
        end += 1;
    }
    let (first, second, end) = found?;
    let is_whole = bytes[end - 1] == b';';
    let next = bytes.get(end);
    if context == TextContext::Attribute
        && !is_whole
        && next.is_some_and(|&byte| byte == b'=' || byte.is_ascii_alphanumeric())
    {
        return None;
    }
    Some(([char::from_u32(first)?, char::from_u32(second)?], end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_by_the_standard() {
        for (text, in_content, in_attribute) in [
            ("a", "a", "a"),
            ("&amp;&lt;", "&<", "&<"),
            ("?a&amp=1&ampb", "?a&=1&b", "?a&amp=1&ampb"),
            ("?a&copy=1", "?a©=1", "?a&copy=1"),
            ("&copy ", "© ", "© "),
            ("&notit;", "¬it;", "&notit;"),
            ("&notin;", "∉", "∉"),
            ("&sol;&colon;&Tab;", "/:\t", "/:\t"),
            ("&#47;&#x2F&#X2f;/", "////", "////"),
            (
                "&#0;&#xd800;&#99999999999;",
                "\u{fffd}\u{fffd}\u{fffd}",
                "\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("&#x80;", "€", "€"),
            ("&;&#;&#x;&é&", "&;&#;&#x;&é&", "&;&#;&#x;&é&"),
            ("&fjlig;", "fj", "fj"),
        ] {
            assert_eq!(resolve(text, TextContext::Content), in_content, "{text}");
            assert_eq!(
                resolve(text, TextContext::Attribute),
                in_attribute,
                "{text}"
            );
        }
    }
}
