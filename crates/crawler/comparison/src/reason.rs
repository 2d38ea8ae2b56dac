//! The difference that decides, as a value and as a sentence.

use std::fmt;

/// The difference that makes two pages distinct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A page was read only in part.
    PartlyRead,
    /// A number of the page, and the original's number in its place.
    Number(String, String),
    /// An address of the page, and the original's address in its place.
    Address(String, String),
    /// A name of the page, and the original's name in its place.
    Name(String, String),
    /// A passage of the page, and the original's passage with the same words but other signs.
    Sign(String, String),
    /// A heading of the page, and the original's heading.
    Heading(String, String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartlyRead => write!(f, "one of the two was read in part only"),
            Self::Number(one, other) => {
                write!(f, "a number differs: {one} here, {other} there")
            }
            Self::Address(one, other) => {
                write!(f, "an address differs: {one} here, {other} there")
            }
            Self::Name(one, other) if one.is_empty() => {
                write!(f, "a name differs: only the other adds \"{other}\"")
            }
            Self::Name(one, other) if other.is_empty() => {
                write!(f, "a name differs: only this page adds \"{one}\"")
            }
            Self::Name(one, other) => {
                write!(f, "a name differs: \"{one}\" here, \"{other}\" there")
            }
            Self::Sign(one, other) => {
                write!(f, "a sign differs: \"{one}\" here, \"{other}\" there")
            }
            Self::Heading(one, other) => {
                write!(f, "the headings differ: \"{one}\" here, \"{other}\" there")
            }
        }
    }
}
