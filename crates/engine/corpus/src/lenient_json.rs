//! Values that programs write although they are not JSON: `NaN`, `Infinity`, and halves of
//! surrogate pairs.
//!
//! Python's `json.dumps` writes them all by default.
//!
//! Invariant: mended bytes have the length of the original ones, so that positions stay valid in
//! the original.

use std::ops::Range;

/// An escape of one UTF-16 code unit: `\\uXXXX`.
const ESCAPE: usize = 6;

/// Returns bytes without such values: numbers such as `NaN` become empty arrays, and halves of
/// surrogate pairs the replacement character. Returns `None` if the bytes contain no such value.
pub(crate) fn mended(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended = json.to_owned();
    let mut at = 0;
    while at < json.len() {
        let rest = &json[at..];
        at += match rest[0] {
            b'"' => {
                let length = string_length(rest);
                replace_halves(&mut mended[at..at + length]);
                length
            }
            b'N' | b'I' | b'-' => {
                let values: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
                let value = values.into_iter().find(|value| rest.starts_with(value));
                let length = value.map_or(1, <[u8]>::len);
                if value.is_some() {
                    empty_array(&mut mended, at..at + length);
                }
                length
            }
            _ => 1,
        };
    }
    (mended != json).then_some(mended)
}

fn empty_array(bytes: &mut [u8], place: Range<usize>) {
    bytes[place.clone()].fill(b' ');
    bytes[place.start] = b'[';
    bytes[place.end - 1] = b']';
}

/// Returns the length of the string that begins here, with its quotes; up to the end if the closing
/// quote is missing.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Replaces halves of surrogate pairs in a string.
fn replace_halves(string: &mut [u8]) {
    let mut at = 0;
    while at < string.len() {
        let Some(unit) = escaped_unit(&string[at..]) else {
            at += if string[at] == b'\\' { 2 } else { 1 };
            continue;
        };
        let next = escaped_unit(&string[at + ESCAPE..]);
        let is_pair = |next: u16| (0xd800..0xdc00).contains(&unit) && is_trailing(next);
        if next.is_some_and(is_pair) {
            at += 2 * ESCAPE;
            continue;
        }
        if (0xd800..0xdc00).contains(&unit) || is_trailing(unit) {
            string[at + 2..at + ESCAPE].copy_from_slice(b"fffd");
        }
        at += ESCAPE;
    }
}

fn is_trailing(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}

/// Returns the code unit of an escape that begins here.
fn escaped_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_keep_their_length(json in r#"(?s)[-NaIfinty"\\\\ud83dc: \[\]{}]{0,60}"#) {
            if let Some(mended) = mended(json.as_bytes()) {
                prop_assert_eq!(mended.len(), json.len());
            }
        }
    }
}
