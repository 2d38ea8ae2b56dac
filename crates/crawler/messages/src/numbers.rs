//! Counts, durations and lines as people read them.

use std::time::Duration;

/// Returns a count with its noun: `1 page`, `2,310 pages`.
pub fn counted(count: u64, noun: &str) -> String {
    counted_as(count, noun, &format!("{noun}s"))
}

/// Returns a count with its noun, whose plural is irregular: `1 match`, `2,310 matches`.
pub fn counted_as(count: u64, singular: &str, plural: &str) -> String {
    match count {
        1 => format!("1 {singular}"),
        more => format!("{} {plural}", grouped(more)),
    }
}

/// Returns a number with commas as thousands separators.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a duration with its two largest units: `23 h 59 min`.
pub fn lasting(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let first = units.iter().position(|(count, _)| *count > 0).unwrap_or(3);
    let (count, unit) = units[first];
    match units.get(first + 1) {
        Some((less, smaller)) if *less > 0 => format!("{count} {unit} {less} {smaller}"),
        _ => format!("{count} {unit}"),
    }
}

/// Width of a line, in characters.
const WIDTH: usize = 80;

/// Wraps a line at words. Continuation lines are indented; a longer word gets its own line.
pub fn wrapped(line: &str, indent: usize) -> String {
    let start = line.len() - line.trim_start().len();
    let (mut text, mut column) = (String::with_capacity(line.len()), 0);
    for (number, word) in line.split(' ').enumerate() {
        let width = word.chars().count();
        let is_first = number == 0 || column <= indent.max(start);
        if !is_first && width > 0 && column + 1 + width > WIDTH {
            text.push_str(&format!("\n{:indent$}{word}", ""));
            column = indent + width;
            continue;
        }
        let gap = usize::from(number > 0);
        text.push_str(&format!("{:gap$}{word}", ""));
        column += gap + width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_a_group() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "page"), "1 page");
        assert_eq!(counted(2_310, "page"), "2,310 pages");
    }
    #[test]
    fn a_duration_is_spelt_by_its_two_largest_units() {
        const DAY: u64 = 24 * 3600;
        for (seconds, words) in [
            (0, "0 s"),
            (7, "7 s"),
            (60, "1 min"),
            (3599, "59 min 59 s"),
            (DAY - 60, "23 h 59 min"),
            (DAY, "1 d"),
            (31 * DAY + 3600, "31 d 1 h"),
        ] {
            assert_eq!(lasting(Duration::from_secs(seconds)), words);
        }
    }

    #[test]
    fn a_line_is_wrapped_between_words_and_its_columns_stay() {
        let word = "w".repeat(9);
        let words = [word.as_str(); 9].join(" ");
        let eight = [word.as_str(); 8].join(" ");
        let long = "x".repeat(99);
        for (line, indent, lines) in [
            (String::new(), 0, String::new()),
            (eight.clone(), 0, eight.clone()),
            (words.clone(), 2, format!("{eight}\n  {word}")),
            ("  a   b".to_owned(), 4, "  a   b".to_owned()),
            (format!("  a  {long}"), 5, format!("  a  {long}")),
            (format!("a {long} b"), 0, format!("a\n{long}\nb")),
        ] {
            assert_eq!(wrapped(&line, indent), lines);
        }
    }
}
