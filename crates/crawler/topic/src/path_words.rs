//! The words of a URL's path: names of directories and files.
//!
//! Names combine words in many ways, so they are split at all punctuation marks, and between small
//! and capital letters. A name of several words is also a word as a whole: `/JavaScript` gives
//! *JavaScript*, *Java* and *Script*.

use web::PageUrl;

/// Maximum bytes that are read of a path.
pub(crate) const MAX_PATH_BYTES: usize = 1_024;

/// Returns the words of a URL's path, decoded, with spaces between them.
pub(crate) fn words_of_path(url: &PageUrl) -> String {
    let path = url.as_url().path();
    let path = decoded(&path[..path.floor_char_boundary(MAX_PATH_BYTES)]);
    let mut words = String::with_capacity(2 * path.len());
    for name in path.split(|c: char| !c.is_alphanumeric()) {
        words.push_str(name);
        words.push(' ');
        add_parts(name, &mut words);
    }
    words
}

/// Adds the parts of a name, if it has several.
fn add_parts(name: &str, words: &mut String) {
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut letters = name.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_small_after = letters.peek().is_some_and(|(_, next)| next.is_lowercase());
        let begins_part = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || is_small_after);
        if begins_part {
            words.push_str(&name[start..at]);
            words.push(' ');
            start = at;
        }
        before = Some(letter);
    }
    if start > 0 {
        words.push_str(&name[start..]);
        words.push(' ');
    }
}

/// Decodes a percent-encoded text.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        let decoded = match after {
            [high, low, ..] if *byte == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match decoded {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the value of a hexadecimal digit.
fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use web::CanonicalForm;

    fn check(path: &str, expected: &str) {
        let url = format!("https://tidal.example{path}");
        let url = PageUrl::parse(&url, &CanonicalForm::default()).unwrap();
        let words = words_of_path(&url);
        let words: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{path}");
    }

    #[test]
    fn the_words_of_a_path_stand_between_marks_and_are_decoded() {
        check("/tidal_power.html", "tidal power html");
        check("/a-b/c+d?tidal=1", "a b c d");
        check("/gezeiten/m%C3%BChle", "gezeiten mühle");
        check("/100%25", "100");
        check("/%ff%fe", "");
    }

    #[test]
    fn a_name_with_capitals_is_a_word_and_its_parts_are_words_too() {
        check("/JavaScript", "JavaScript Java Script");
        check("/SSLSocketFactory", "SSLSocketFactory SSL Socket Factory");
        check("/GTlsCertificate", "GTlsCertificate G Tls Certificate");
        check("/HTML5Parser", "HTML5Parser HTML5 Parser");
        check("/README", "README");
        check("/Fl%C3%BCsseUndMeere", "FlüsseUndMeere Flüsse Und Meere");
    }

    #[test]
    fn bytes_beyond_the_most_are_not_read() {
        let padding = "x".repeat(MAX_PATH_BYTES - 2);
        check(&format!("/{padding}/tidal"), &padding);
    }
}
