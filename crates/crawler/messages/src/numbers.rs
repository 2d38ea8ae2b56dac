//! Counts as people read them.

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
}
