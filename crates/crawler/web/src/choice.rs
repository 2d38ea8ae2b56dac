//! Options whose value is one word of a few.

use std::fmt::Display;

/// A word that is not among the values of an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not {choices}")]
pub struct UnknownChoice {
    word: String,
    /// The words that were right, as in "on or off".
    choices: String,
}

/// Returns the choice that displays as `word`.
///
/// # Errors
/// [`UnknownChoice`] if no choice displays as the word.
///
/// # Panics
/// There is no choice.
pub fn parse_choice<T: Display, const N: usize>(
    word: &str,
    choices: [T; N],
) -> Result<T, UnknownChoice> {
    let words = choices.each_ref().map(T::to_string);
    let known = choices
        .into_iter()
        .find(|choice| choice.to_string() == word);
    known.ok_or_else(|| {
        let (last, others) = words.split_last().expect("an option has choices");
        UnknownChoice {
            word: word.to_owned(),
            choices: format!("{} or {last}", others.join(", ")),
        }
    })
}
