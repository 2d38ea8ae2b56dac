//! Dates as pages write them: `2026-11-20T19:04:55Z`, `November 20, 2026`, `20.11.2026`.
//!
//! A date is the day as written, in the page's own time zone. Only forms with one meaning are read:
//! `03/04/2026` is a day in March or in April, so it is not a date.

use std::fmt;

use jiff::civil::Date;

/// Maximum length of a text that is searched for a date, in bytes.
const MAX_BYTES: usize = 128;

/// Years that a page may name. Other years are identifiers or empty values (`0001-01-01`).
const YEARS: std::ops::RangeInclusive<i16> = 1800..=2100;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageDate(Date);

/// ISO 8601, `2026-11-20`.
impl fmt::Display for PageDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%d"))
    }
}

impl PageDate {
    /// Returns the first date in a text.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        let parts = parts(&text[..text.floor_char_boundary(MAX_BYTES)]);
        (0..parts.len()).find_map(|at| of_parts(&parts[at..]))
    }

    /// Returns the days since 1970-01-01; earlier days are negative.
    #[must_use]
    pub fn days_since_1970(self) -> i32 {
        const EPOCH: Date = Date::constant(1970, 1, 1);
        EPOCH.until(self.0).map_or(0, |span| span.get_days())
    }

    /// Returns true if a word is the name of a month.
    pub(super) fn is_month(word: &str) -> bool {
        month(word.trim_end_matches(['.', ','])).is_some()
    }

    fn new(year: &str, month: i8, day: i8) -> Option<Self> {
        let year = year.parse().ok().filter(|year| YEARS.contains(year))?;
        let date = Date::new(year, month, day).ok()?;
        // The zero of Unix time is a missing value.
        (date != Date::constant(1970, 1, 1)).then_some(Self(date))
    }
}

/// A part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'t> {
    /// Digits, and the character behind them.
    Number(&'t str, Option<char>),
    Month(i8),
    Word,
}

/// Splits a text into numbers and words. Weekdays and the endings of ordinal numbers (`4th`) are
/// omitted.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut was_number = false;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let is_same = |c: char| {
            c.is_ascii_digit() == is_digit && c.is_alphanumeric() == first.is_alphanumeric()
        };
        let (part, after) = rest.split_at(rest.find(|c| !is_same(c)).unwrap_or(rest.len()));
        rest = after;
        if is_digit {
            parts.push(Part::Number(part, after.chars().next()));
        } else if first.is_alphanumeric() {
            let is_ending = was_number && ["st", "nd", "rd", "th", "er"].contains(&part);
            match month(part) {
                Some(month) => parts.push(Part::Month(month)),
                None if is_ending || matches!(part, "de" | "of") || is_weekday(part) => {}
                None => parts.push(Part::Word),
            }
        }
        was_number = is_digit;
    }
    parts
}

/// Returns the date that begins with the first part.
fn of_parts(parts: &[Part<'_>]) -> Option<PageDate> {
    use Part::{Month, Number, Word};
    match *parts {
        [Number(all, _), ..] if matches!(all.len(), 8 | 14) => {
            PageDate::new(&all[..4], small(&all[4..6])?, small(&all[6..8])?)
        }
        [Number(year, one), Number(month, other), Number(day, _), ..] if year.len() == 4 => {
            let is_date = one == other && matches!(one, Some('-' | '/' | '.'));
            is_date.then(|| PageDate::new(year, small(month)?, small(day)?))?
        }
        // Between the Chinese and Japanese characters for year, month and day.
        [
            Number(year, Some('年')),
            Word,
            Number(month, Some('月')),
            Word,
            Number(day, _),
            ..,
        ] => PageDate::new(year, small(month)?, small(day)?),
        [Number(year, _), Month(month), Number(day, _), ..]
        | [Number(day, _), Month(month), Number(year, _), ..]
        | [Month(month), Number(day, _), Number(year, _), ..]
            if year.len() == 4 =>
        {
            PageDate::new(year, month, small(day)?)
        }
        [
            Number(one, Some(sign)),
            Number(other, behind),
            Number(year, _),
            ..,
        ] if year.len() == 4 && behind == Some(sign) => {
            let (one, other) = (small(one)?, small(other)?);
            match sign {
                '.' => PageDate::new(year, other, one),
                '-' | '/' if one > 12 || one == other => PageDate::new(year, other, one),
                '-' | '/' if other > 12 => PageDate::new(year, one, other),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a number of one or two digits.
fn small(digits: &str) -> Option<i8> {
    (digits.len() <= 2).then(|| digits.parse().ok()).flatten()
}

/// Returns the number of a month by its name in English, German, French or Spanish.
fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january jan januar janvier enero",
        "february feb februar février febrero",
        "march mar märz mrz mars marzo",
        "april apr avril abril",
        "may mai mayo",
        "june jun juni juin junio",
        "july jul juli juillet julio",
        "august aug août agosto",
        "september sep sept septembre septiembre",
        "october oct oktober okt octobre octubre",
        "november nov novembre noviembre",
        "december dec dezember dez décembre diciembre",
    ];
    let word = word.to_lowercase();
    let found = MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| name == word))?;
    i8::try_from(found + 1).ok()
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let word = word.to_ascii_lowercase();
    DAYS.iter()
        .any(|day| word == *day || word.starts_with(day) && word.ends_with("day"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Option<String> {
        PageDate::find(text).map(|date| date.to_string())
    }

    #[test]
    fn a_date_with_one_meaning_is_read() {
        for (text, expected) in [
            ("2025-09-04", "2025-09-04"),
            ("2025-09-04T23:30:00-05:00", "2025-09-04"),
            ("2025-9-4 10:00", "2025-09-04"),
            ("2025/09/04", "2025-09-04"),
            ("20250904", "2025-09-04"),
            ("20250904231500", "2025-09-04"),
            ("Thu, 04 Sep 2025 10:00:00 GMT", "2025-09-04"),
            ("Thursday, September 4th, 2025 at 3:04 pm", "2025-09-04"),
            ("Published on Sept. 4, 2025", "2025-09-04"),
            ("4 september 2025", "2025-09-04"),
            ("2025 Sep 4", "2025-09-04"),
            ("04-Sep-2025", "2025-09-04"),
            ("04.09.2025, 10:00", "2025-09-04"),
            ("13/09/2025", "2025-09-13"),
            ("09/13/2025", "2025-09-13"),
            ("09/09/2025", "2025-09-09"),
            ("2025年9月4日", "2025-09-04"),
            ("Updated: 29 February 2024", "2024-02-29"),
            ("24. Februar 2020, 10 Uhr", "2020-02-24"),
            ("le 1er août 2020", "2020-08-01"),
            ("4 de mayo de 2022", "2022-05-04"),
            ("1850-01-02", "1850-01-02"),
        ] {
            assert_eq!(found(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not_a_date() {
        for text in [
            "",
            "at 2021 5:11:10",
            "1 2 2025",
            "2025",
            "2025-09",
            "September 2025",
            "03/04/2025",
            "2023-02-29",
            "2025-13-01",
            "0001-01-01T00:00:00",
            "1970-01-01T00:00:00Z",
            "1799-12-31",
            "2101-01-01",
            "99999999",
            "call 555 12 1234",
            "in 3 days",
            "4 Sep",
            "Sep 4",
            "1756979100",
            "12345-09-04",
            "2025-009-04",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        let late = format!("{}2025-09-04", " ".repeat(MAX_BYTES));
        assert_eq!(found(&late), None);
        assert!(found(&late[MAX_BYTES - (MAX_BYTES - 10)..]).is_some());
    }

    proptest! {
        #[test]
        fn every_day_is_read_as_it_is_written_in_each_form(
            year in 1801_i16..=2100, month in 1_i8..=12, day in 1_i8..=28,
        ) {
            let date = Date::new(year, month, day).unwrap();
            for form in [
                "%Y-%m-%d", "%Y%m%d", "%d.%m.%Y", "%B %d, %Y", "%a, %d %b %Y 01:02:03 +0000",
                "%Y-%m-%dT%H:%M:%SZ", "%Y/%m/%d", "%Y年%m月%d日",
            ] {
                let text = date.strftime(form).to_string();
                let expected = (date != Date::constant(1970, 1, 1)).then_some(PageDate(date));
                prop_assert_eq!(PageDate::find(&text), expected, "{}", text);
            }
            let days = PageDate(date).days_since_1970();
            prop_assert_eq!(
                Date::constant(1970, 1, 1) + jiff::Span::new().days(days),
                date
            );
        }

        #[test]
        fn any_text_can_be_searched(text in "([0-9]{1,5}|[-/., :年月]|Sep|th|\\PC){0,40}") {
            let _any = PageDate::find(&text);
        }
    }
}
