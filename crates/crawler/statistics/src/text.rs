//! Texts of bounded length.

/// Returns the first `characters` characters of a text.
pub(crate) fn cut(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("über", 2), "üb");
        assert_eq!(cut("über", 4), "über");
        assert_eq!(cut("", 0), "");
    }
}
