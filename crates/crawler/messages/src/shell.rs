//! Words of commands that can be pasted into a shell.

use std::borrow::Cow;
use std::path::Path;

use web::printable;

/// Returns a path as a word of a command that can be pasted into a shell (POSIX.1-2024, Shell
/// Command Language, section 2.2.2).
pub fn pasted(path: &Path) -> String {
    word_of_shell(&path.display().to_string())
}

/// Returns any text as a word of a command that can be pasted into a shell.
pub fn word_of_shell(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_./:=@%+,-".contains(c);
    let word: Cow<'_, str> = match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into(),
        false => format!("'{}'", text.replace('\'', "'\\''")).into(),
    };
    printable(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `crawler export /tmp/my crawl` was printed, which reads another directory when it is pasted.
    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in [
            ("crawl", "crawl"),
            ("/tmp/a-b_c.d", "/tmp/a-b_c.d"),
            ("/tmp/my crawl", "'/tmp/my crawl'"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("", "''"),
            ("größe", "größe"),
        ] {
            assert_eq!(pasted(Path::new(path)), word);
        }
    }
}
