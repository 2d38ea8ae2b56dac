//! Ids of documents: strings, and whole numbers that stay numbers in findings.

use std::fmt;
use std::ops::Deref;

/// The id of a document: its own, its path or its URI. The number 7 and the string "7" are two ids.
///
/// ```
/// use batch::DocumentId;
///
/// let (number, text) = (DocumentId::from(7_i64), DocumentId::from("7"));
/// assert_eq!((number.number(), text.number()), (Some(7), None));
/// assert_eq!((&*number, &*text), ("7", "7"));
/// assert_ne!(number, text);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DocumentId {
    /// The string, or the number in decimal digits.
    text: String,
    is_number: bool,
}

impl DocumentId {
    /// Returns the id for a whole number in decimal digits: a number if it fits in 64 bits, with or
    /// without a sign, else a string.
    #[must_use]
    pub fn of_digits(digits: String) -> Self {
        let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
        let number = digits.parse::<i128>().ok();
        match number.filter(|number| range.contains(number)) {
            Some(number) => Self::of_number(number),
            None => digits.into(),
        }
    }

    fn of_number(number: i128) -> Self {
        Self {
            text: number.to_string(),
            is_number: true,
        }
    }

    /// Returns the number, of 64 bits with or without a sign; `None` for a string.
    #[must_use]
    pub fn number(&self) -> Option<i128> {
        self.text.parse().ok().filter(|_| self.is_number)
    }

    /// Returns true if it is a number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        self.is_number
    }

    /// Returns the string, or the number in decimal digits.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }
}

impl Deref for DocumentId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<String> for DocumentId {
    fn from(text: String) -> Self {
        Self {
            text,
            is_number: false,
        }
    }
}

impl From<&str> for DocumentId {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<i64> for DocumentId {
    fn from(number: i64) -> Self {
        Self::of_number(number.into())
    }
}

impl From<u64> for DocumentId {
    fn from(number: u64) -> Self {
        Self::of_number(number.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_number_keeps_its_value_and_type(signed in any::<i64>(), unsigned in any::<u64>()) {
            prop_assert_eq!(DocumentId::from(signed).number(), Some(signed.into()));
            prop_assert_eq!(DocumentId::from(unsigned).number(), Some(unsigned.into()));
            let digits = DocumentId::of_digits(signed.to_string());
            prop_assert_eq!(digits, DocumentId::from(signed));
        }
    }

    #[test]
    fn digits_of_more_than_64_bits_and_words_are_strings() {
        for text in ["18446744073709551616", "-9223372036854775809", "", "seven"] {
            let id = DocumentId::of_digits(text.to_owned());
            assert_eq!(id, DocumentId::from(text));
        }
        assert_eq!(&*DocumentId::of_digits("007".to_owned()), "7");
    }
}
