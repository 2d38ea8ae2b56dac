//! Values as users write them: `2h`, `50MiB`, `3/s`, `on`. Flags and the configuration file use the
//! same syntax.

use std::fmt;
use std::str::FromStr;

use bytesize::ByteSize;
use clap::ValueEnum;
use neardup::HashKey;
use neardup::tables::{Plan, TableDesign};
pub use policy::values::{Rate, Span, maybe_word, word};
use serde::{Deserialize, Serialize};
use web::{InvalidLastmod, Lastmod};

/// A size: `50MiB`, `1.5 GB`; a bare number is bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// A number of things: `8000000`, `8_000_000`, `8e9`, `2^34`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

/// A share of a whole: `5%` or `0.05`, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

impl Share {
    /// Returns the share, from 0 to 1.
    pub const fn share(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
            None => text.parse(),
        };
        let share = share.ok().filter(|share| (0.0..=1.0).contains(share));
        let wrong = || format!("{text:?} is not a share from 0 to 1 (for example 5% or 0.05)");
        share.map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The treatment of cookies that servers set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CookieKeeping {
    /// They are sent back to their origins while the process runs.
    Session,
    /// They are not kept.
    Off,
}

/// The place of the keys that find near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignatureIndexPlace {
    /// In memory.
    Memory,
    /// In tables on disk.
    Disk,
}

/// Hash key of a crawl, as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub HashKey);

/// The number of permuted tables of fingerprints on disk: `auto`, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Four tables; the keys of each begin with a different quarter of the fingerprint. They
    /// support every distance.
    Auto,
    /// This number of tables, for the distance of the crawl.
    Count(usize),
}

/// A date as written, with one of the precisions that sitemaps allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Date {
    text: String,
    /// The parsed date.
    pub lastmod: Lastmod,
}

impl FromStr for Date {
    type Err = InvalidLastmod;

    fn from_str(text: &str) -> Result<Self, InvalidLastmod> {
        let (lastmod, text) = (text.parse()?, text.to_owned());
        Ok(Self { text, lastmod })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// More pages than any crawl has, so that no design is excluded for having too few tables.
const ANY_NUMBER_OF_PAGES: u64 = 1 << 40;

/// Maximum number of tables on disk.
const MAX_TABLES: usize = 128;

impl Tables {
    /// Returns the design with this number of tables; `None` for the default design.
    ///
    /// # Errors
    /// No design for this distance has this number of tables. The text lists the possible numbers.
    pub fn design(self, distance: u32) -> Result<Option<TableDesign>, String> {
        let Self::Count(count) = self else {
            return Ok(None);
        };
        let plan =
            Plan::new(ANY_NUMBER_OF_PAGES, distance, 64).map_err(|error| error.to_string())?;
        let designs = plan.options().iter().filter(|design| {
            let tables = design.tables().len();
            !design.levels().is_empty() && tables <= MAX_TABLES
        });
        let mut numbers = vec!["auto".to_owned()];
        for design in designs {
            let tables = design.tables().len();
            if tables == count {
                return Ok(Some(design.clone()));
            }
            numbers.push(tables.to_string());
        }
        Err(format!(
            "designs for distance {distance} exist with {} tables; compare them with `crawler plan \
             --pages N --distance {distance}`",
            numbers.join(", ")
        ))
    }
}

impl FromStr for Tables {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let count = text.parse().map(Self::Count);
        count.map_err(|_error| format!("tables must be auto or a number, got {text:?}"))
    }
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Count(count) => write!(f, "{count}"),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = text.parse().map(|size: ByteSize| Self(size.as_u64()));
        size.map_err(|_error| format!("{text:?} is not a size (for example 50MiB, 10GiB)"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Exact, because the text will be parsed again.
        for (unit, name) in [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
            if self.0 > 0 && self.0.is_multiple_of(unit) {
                return write!(f, "{}{name}", self.0 / unit);
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a count (for example 8000000, 8e9, 2^34)");
        let plain = text.replace('_', "");
        if let Some((base, exponent)) = plain.split_once('^') {
            let power = base.parse::<u64>().ok().zip(exponent.parse().ok());
            let power = power.and_then(|(base, exponent)| base.checked_pow(exponent));
            return power.map(Self).ok_or_else(wrong);
        }
        if let Ok(count) = plain.parse() {
            return Ok(Self(count));
        }
        match plain.parse::<f64>() {
            Ok(count) if count >= 0.0 && count < u64::MAX as f64 && count.fract() == 0.0 => {
                Ok(Self(count as u64))
            }
            _ => Err(wrong()),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `from_str_radix` alone would accept a sign.
        let well_formed = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(key) if well_formed => Ok(Self(HashKey::new(key))),
            // The text is not repeated, because keys are secrets.
            _ => Err("a key must be 16 hexadecimal digits".to_owned()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.as_u64())
    }
}

impl Switch {
    /// Returns the word of the value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }

    /// Returns true for `On`.
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn spans_sizes_and_rates_are_read_as_people_write_them() {
        let span = |text: &str| text.parse::<Span>().unwrap().0;
        assert_eq!(span("500ms"), Duration::from_millis(500));
        assert_eq!(span("2h"), Duration::from_secs(7200));
        assert_eq!(span("0"), Duration::ZERO);
        assert_eq!(span("1.5"), Duration::from_millis(1500));
        let size = |text: &str| text.parse::<Size>().unwrap().0;
        assert_eq!(size("50MiB"), 50 << 20);
        assert_eq!(size("10GiB"), 10 << 30);
        assert_eq!(size("1000"), 1000);
        assert_eq!("3/s".parse::<Rate>().unwrap().0.get(), 3);
    }

    #[test]
    fn counts_are_read_as_people_write_them() {
        let count = |text: &str| text.parse::<Count>().map(|count| count.0);
        for (text, expected) in [
            ("0", 0),
            ("8_000_000", 8_000_000),
            ("8e9", 8_000_000_000),
            ("1.5e3", 1_500),
            ("2^34", 1 << 34),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for wrong in ["", "-1", "1.5", "2^64", "1e20", "nan", "inf", "many"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_written_value_is_read_as_the_same_value() {
        for bytes in [0, 1, 1023, 1024, 50 << 20, 10 << 30, (1 << 30) + 1] {
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)));
        }
        for millis in [0, 1, 999, 1000, 61_000, 7_200_500] {
            let span = Span(Duration::from_millis(millis));
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        for number in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
            let key = Key(HashKey::new(number));
            assert_eq!(key.to_string().parse(), Ok(key));
        }
    }

    #[test]
    fn a_number_of_tables_is_a_design_for_the_distance_or_refused() {
        let design = |text: &str, distance| text.parse::<Tables>().unwrap().design(distance);
        assert_eq!(design("auto", 7), Ok(None));
        for (count, levels) in [("4", &[4][..]), ("10", &[5]), ("16", &[4, 4]), ("20", &[6])] {
            assert_eq!(
                design(count, 3).unwrap().unwrap().levels(),
                levels,
                "{count}"
            );
        }
        for (count, distance) in [("0", 3), ("1", 3), ("5", 3), ("4", 7), ("330", 7)] {
            let refused = design(count, distance).unwrap_err();
            assert!(refused.contains("auto, "), "{refused}");
        }
        for text in ["auto", "4"] {
            assert_eq!(text.parse::<Tables>().unwrap().to_string(), text);
        }
        assert!("four".parse::<Tables>().is_err());
    }

    #[test]
    fn a_number_without_a_unit_is_refused_with_the_way_to_write_it() {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        struct File {
            #[serde(default, with = "maybe_word", rename = "delay")]
            _delay: Option<Span>,
            #[serde(default, with = "maybe_word", rename = "max-size")]
            _size: Option<Size>,
            #[serde(default, with = "maybe_word", rename = "rate")]
            _rate: Option<Rate>,
            #[serde(default, with = "maybe_word", rename = "tables")]
            _tables: Option<Tables>,
        }
        for (line, words) in [
            ("delay = 5", "5 must be written \"5s\""),
            ("delay = 1.5", "1.5 must be written \"1.5s\""),
            ("tables = 4.5", "4.5 is not a valid value"),
            ("max-size = 1000", "must be written \"1000B\""),
            ("rate = 3", "must be written \"3/s\""),
            ("tables = 4", "must be written \"4\""),
            ("delay = true", "expected a word in quotes"),
        ] {
            let refused = toml::from_str::<File>(line).unwrap_err().to_string();
            assert!(refused.contains(words), "{line}: {refused}");
        }
        toml::from_str::<File>("delay = \"5s\"\nrate = \"3/s\"").unwrap();
    }

    #[test]
    fn text_that_is_not_a_value_is_refused() {
        assert!("soon".parse::<Span>().is_err());
        assert!("-1".parse::<Span>().is_err());
        assert!("much".parse::<Size>().is_err());
        assert!("0/s".parse::<Rate>().is_err());
        for wrong in [
            "",
            "0",
            "+00000000000000a",
            "00000000000000000",
            "000000000000000g",
        ] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong}");
        }
    }
}
