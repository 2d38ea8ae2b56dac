//! The error of an option whose value is none of its words.

/// A word that is not among the values of an option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not {choices}")]
pub struct UnknownChoice {
    word: String,
    choices: &'static str,
}

impl UnknownChoice {
    /// Names the `word` and the `choices` that were right, as in "on or off".
    pub(crate) fn new(word: &str, choices: &'static str) -> Self {
        let word = word.to_owned();
        Self { word, choices }
    }
}
