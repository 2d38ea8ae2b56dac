//! Size limits of an answer, and the offset of the next call.

use messages::{CommandError, fault};
use serde::Serialize;
use serde_json::{Map, Value};

/// Maximum size of a list or of a text in an answer, in bytes.
pub(crate) const MAX_BYTES: usize = 32 << 10;
/// Maximum number of entries of a list in an answer.
pub(crate) const MAX_ENTRIES: usize = 100;

/// An answer as a JSON object.
pub(crate) type Answer = Map<String, Value>;

/// Returns a list of the first items, and `next_offset` if there are more. `items` begin at
/// `offset`. The list has at least one item if there is one.
pub(crate) fn list(
    name: &str,
    items: impl IntoIterator<Item: Serialize>,
    offset: usize,
    limit: usize,
) -> Result<Answer, CommandError> {
    let mut items = items.into_iter();
    let (mut listed, mut bytes, mut next) = (Vec::new(), 0, None);
    for item in items.by_ref() {
        let item = json(&item)?;
        bytes += item.to_string().len();
        if listed.len() == limit.clamp(1, MAX_ENTRIES) || bytes > MAX_BYTES && !listed.is_empty() {
            next = Some(offset + listed.len());
            break;
        }
        listed.push(item);
    }
    let fields = [(name, listed.into()), ("next_offset", next.into())];
    Ok(fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect())
}

/// Returns the part of a text that begins at `offset`, and `next_offset` if there is more. Offsets
/// are in bytes; an offset within a character means the start of that character.
pub(crate) fn text(text: &str, offset: usize) -> Answer {
    let from = text.floor_char_boundary(offset.min(text.len()));
    let end = text.floor_char_boundary(text.len().min(from + MAX_BYTES));
    let next = (end < text.len()).then_some(end);
    let fields = [
        ("text", text[from..end].into()),
        ("offset", from.into()),
        ("next_offset", next.into()),
        ("length", text.len().into()),
    ];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// Returns a value as JSON, with the digits that commands print: `to_value` would widen scores.
pub(crate) fn json(value: &impl Serialize) -> Result<Value, CommandError> {
    let printed = serde_json::to_string(value);
    let read = printed.and_then(|printed| serde_json::from_str(&printed));
    read.map_err(|error| fault(&error))
}

/// Returns a value with fields as an answer.
pub(crate) fn object(value: &impl Serialize) -> Result<Answer, CommandError> {
    serde_json::from_value(json(value)?).map_err(|error| fault(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text to its end.
    fn read_all(whole: &str) -> (String, usize) {
        let (mut read, mut offset, mut calls) = (String::new(), 0, 0);
        loop {
            let part = text(whole, offset);
            read.push_str(part["text"].as_str().expect("a text"));
            calls += 1;
            match part["next_offset"].as_u64() {
                Some(next) => offset = next as usize,
                None => return (read, calls),
            }
        }
    }

    #[test]
    fn the_parts_of_a_text_are_the_text() {
        for (whole, calls) in [
            (String::new(), 1),
            ("x".repeat(MAX_BYTES), 1),
            ("x".repeat(MAX_BYTES + 1), 2),
            // Three bytes per character, so no part ends at the cap.
            ("€".repeat(MAX_BYTES), 4),
        ] {
            assert_eq!(read_all(&whole), (whole, calls));
        }
        assert_eq!(text("€", 2)["text"], "€");
        assert_eq!(text("abc", usize::MAX)["text"], "");
    }

    #[test]
    fn a_list_is_cut_by_its_limit_and_by_its_bytes() {
        let cut = |items: &[&str], limit| list("urls", items, 7, limit).expect("a list");
        assert_eq!(cut(&["a", "b"], 2)["next_offset"], Value::Null);
        assert_eq!(cut(&["a", "b", "c"], 2)["next_offset"], 9);
        assert_eq!(cut(&["a", "b"], 0)["next_offset"], 8);
        let long = "x".repeat(MAX_BYTES);
        assert_eq!(cut(&[&long, "b"], 2)["next_offset"], 8);
        let many = ["a"; MAX_ENTRIES + 1];
        assert_eq!(cut(&many, usize::MAX)["next_offset"], 7 + MAX_ENTRIES);
    }
}
