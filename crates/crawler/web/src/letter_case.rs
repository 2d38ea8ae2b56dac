//! Comparisons without regard to ASCII case.

/// Returns true if `text` begins with `start`.
pub(crate) fn starts_with_ignore_case(text: impl AsRef<[u8]>, start: impl AsRef<[u8]>) -> bool {
    let (text, start) = (text.as_ref(), start.as_ref());
    let beginning = text.get(..start.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
}

/// Returns true if `word` is one of `words`.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| other.eq_ignore_ascii_case(word))
}
