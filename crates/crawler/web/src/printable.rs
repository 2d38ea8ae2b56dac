//! Text from the web, made safe for a line of output.
//!
//! A page can put control characters into its title, and a terminal obeys them: they move its
//! cursor, change its title, type into its input (ECMA-48; the C1 controls U+0080 to U+009F need no
//! escape character). Other characters change the direction of the following text, so that one name
//! looks like another (Boucher and Anderson, "Trojan Source", USENIX Security 2023); browsers obey
//! those, too.

/// Returns true if a terminal obeys the character, or if it changes the direction of the following
/// text.
#[must_use]
pub fn is_command(character: char) -> bool {
    character.is_control()
        // Line and paragraph separator; embeddings, overrides and isolates of the bidirectional
        // algorithm (UAX 9).
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes text from the web for a line of output: each character for which [`is_command`] is true
/// as `\u{202e}`, line ends and tabs as `\n` and `\t`.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match is_command(character) {
            true => safe.extend(character.escape_default()),
            false => safe.push(character),
        }
    }
    safe
}
