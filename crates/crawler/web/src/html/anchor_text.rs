//! The anchor text of a link.

use crate::html::lines::joined;

/// Returns the anchor text of a link, at most `most` characters: its words, or else the alternative
/// texts of its pictures (HTML Standard, section 4.8.4.4.2).
pub(crate) fn of(words: &str, alternatives: &str, most: usize) -> String {
    if words.is_empty() {
        return folded(alternatives, most);
    }
    let words = words.chars().take(most);
    words.map(|c| if c == '\n' { ' ' } else { c }).collect()
}

/// Returns the words of an attribute, separated by single spaces.
pub(crate) fn folded(text: &str, most: usize) -> String {
    // Control characters are white space, as in the text of a page.
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    joined(words.filter(|word| !word.is_empty()), most)
}
