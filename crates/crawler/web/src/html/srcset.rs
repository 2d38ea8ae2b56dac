//! The candidates of a `srcset` (HTML standard, "parse a srcset attribute").

/// Returns the URLs in document order; candidates with invalid descriptors are skipped.
pub(crate) fn candidates(srcset: &str) -> impl Iterator<Item = &str> {
    let mut rest = srcset;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
            if rest.is_empty() {
                return None;
            }
            let end = rest
                .find(|c: char| c.is_ascii_whitespace())
                .unwrap_or(rest.len());
            let url = &rest[..end];
            rest = &rest[end..];
            let alone = url.trim_end_matches(',');
            if alone.len() < url.len() {
                return Some(alone);
            }
            let length = descriptors_length(rest);
            let descriptors = &rest[..length];
            rest = &rest[length..];
            if descriptors.split_ascii_whitespace().all(is_descriptor) {
                return Some(url);
            }
        }
    })
}

/// Returns the length up to the next comma outside parentheses.
fn descriptors_length(text: &str) -> usize {
    let mut is_inside = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => is_inside = true,
            b')' => is_inside = false,
            b',' if !is_inside => return at,
            _ => {}
        }
    }
    text.len()
}

/// Returns true for `2x`, `640w` and `480h`.
fn is_descriptor(word: &str) -> bool {
    let Some(number) = word.strip_suffix(['x', 'w', 'h']) else {
        return false;
    };
    number
        .parse::<f64>()
        .is_ok_and(|number| number.is_finite() && number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::candidates;

    #[test]
    fn candidates_are_separated_by_commas_after_spaces() {
        for (srcset, urls) in [
            ("", &[][..]),
            (" , ", &[]),
            ("a", &["a"]),
            ("a 1x, b 2x", &["a", "b"]),
            ("a,b", &["a,b"]),
            ("a, b", &["a", "b"]),
            ("a,, b", &["a", "b"]),
            ("\n a 640w 480h,\tb 1.5x ,c", &["a", "b", "c"]),
            ("a 1y, b", &["b"]),
            ("a (1x, 2x), b 2x", &["b"]),
            (
                "data:image/png;base64,AAAA 1x, b 2x",
                &["data:image/png;base64,AAAA", "b"],
            ),
        ] {
            assert_eq!(candidates(srcset).collect::<Vec<_>>(), urls, "{srcset}");
        }
    }
}
