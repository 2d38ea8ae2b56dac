//! The treatment of pages off topic.

use std::fmt;
use std::str::FromStr;

use web::{UnknownChoice, parse_choice};

/// A choice of what happens to pages off topic. Their links are followed either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OffTopic {
    /// They are not archived.
    #[default]
    Drop,
    /// They are archived, and marked as off topic; they are not compared with other pages.
    Keep,
}

impl fmt::Display for OffTopic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
        })
    }
}

impl FromStr for OffTopic {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        parse_choice(word, [Self::Drop, Self::Keep])
    }
}
