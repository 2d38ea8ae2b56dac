//! Values as people write them, in flags, in configuration files and in control.toml: `2h`, `3/s`.
//!
//! Invariant: a value that is written is read as the same value.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserializer, Serialize, Serializer, de};
use web::{CanonicalForm, Host, PageUrl};

/// A time span: `500ms`, `1s`, `2h 30m`; a bare number is seconds, as in wget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A number of requests per time: `3/s`, `30/m`; a bare number is per second. Kept as requests per
/// second, rounded up to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub NonZeroU32);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a time span");
        if let Ok(seconds) = text.parse::<f64>() {
            let span = Duration::try_from_secs_f64(seconds);
            return span.map(Self).map_err(|_out_of_range| wrong());
        }
        let span = humantime::parse_duration(text).map(Self);
        span.map_err(|error| format!("{}: {error} (for example 500ms, 1s, 2h)", wrong()))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rate = text.strip_suffix("/s").unwrap_or(text).trim().parse();
        rate.map(Self)
            .map_err(|_error| format!("{text:?} is not a rate (for example 3/s)"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

/// A value that is written as one word, both in flags and in files.
pub mod word {
    use super::*;

    /// Writes the value as its text.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<T: fmt::Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    /// Reads the value from its text.
    ///
    /// # Errors
    /// The text is not a valid value, or a number lacks a unit: the error shows the right spelling.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: fmt::Display>,
        D: Deserializer<'de>,
    {
        deserializer.deserialize_any(OneWord(PhantomData))
    }
}

/// Reads a value that is written as one word. For a number without quotes, and thus without a unit,
/// the error shows the right spelling.
struct OneWord<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> OneWord<T> {
    /// Returns the error for a number, with the first unit that makes it a value.
    fn unquoted<E: de::Error>(number: &dyn fmt::Display) -> E {
        let mut words = ["s", "B", "/s", ""]
            .iter()
            .map(|unit| format!("{number}{unit}"));
        match words.find(|word| word.parse::<T>().is_ok()) {
            Some(meant) => E::custom(format_args!("{number} must be written {meant:?}")),
            None => E::custom(format_args!("{number} is not a valid value")),
        }
    }
}

impl<T: FromStr<Err: fmt::Display>> de::Visitor<'_> for OneWord<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word in quotes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(Self::unquoted(&number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Err(Self::unquoted(&number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        Err(Self::unquoted(&number))
    }
}

/// [`word`] for an optional value.
pub mod maybe_word {
    use super::*;

    /// Writes the value as its text, if there is one.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(T::to_string).serialize(serializer)
    }

    /// Reads the value from its text.
    ///
    /// # Errors
    /// The same errors as [`word::deserialize`].
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: fmt::Display>,
        D: Deserializer<'de>,
    {
        // An absent key never gets here, and no file has a null.
        word::deserialize(deserializer).map(Some)
    }
}

/// Checks the delay factor.
///
/// # Errors
/// The allowed range, if the factor is outside it.
pub fn check_factor(factor: f64) -> Result<(), &'static str> {
    let is_possible = (0.0..=1000.0).contains(&factor);
    is_possible
        .then_some(())
        .ok_or("it must be from 0 to 1000; 5 is the default")
}

/// Checks the number of pages in flight.
///
/// # Errors
/// The allowed range, if the number is outside it.
pub fn check_concurrency(pages: usize) -> Result<(), &'static str> {
    let is_possible = (1..=10_000).contains(&pages);
    is_possible
        .then_some(())
        .ok_or("it must be from 1 to 10000 pages; 64 is the default")
}

/// Returns the host of a name; `None` if it has other parts of a URL.
#[must_use]
pub fn host_named(name: &str) -> Option<Host> {
    let url = PageUrl::parse(&format!("http://{name}/"), &CanonicalForm::keep_all()).ok()?;
    let is_bare = url.as_str() == format!("http://{}/", url.host());
    (is_bare && !name.contains('@')).then(|| url.host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_as_people_write_them() {
        for (name, host) in [
            ("Example.ORG", Some("example.org")),
            ("127.0.0.1", Some("127.0.0.1")),
            ("[::1]", Some("[::1]")),
            ("bücher.example", Some("xn--bcher-kva.example")),
            ("example.org:8080", None),
            ("example.org/a", None),
            ("user@example.org", None),
            ("example.org?", None),
            ("", None),
        ] {
            assert_eq!(host_named(name).as_ref().map(Host::as_str), host, "{name}");
        }
    }
}
