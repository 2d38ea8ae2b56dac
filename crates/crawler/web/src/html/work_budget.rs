//! The cost of reading a page, counted in steps.
//!
//! Time is not a suitable limit, because the same page would be read differently on another
//! machine. So costs are counted. A step is the cost of a short token, about a hundred nanoseconds.
//! Plain text takes one step per sixty-four bytes, and each character that slows down a tokenizer
//! takes a step.
//!
//! Invariant: the time for a page is at most proportional to its steps, for any content;
//! `bench-bombs` measures it.

/// Maximum length of a token that costs one step, with any content.
const MAX_TOKEN_OF_ONE_STEP: usize = 256;

/// Bytes of plain text per step.
const STRIDE: usize = 64;

/// Steps per character reference.
const PER_REFERENCE: usize = 4;

/// Bytes of a script per step; it is searched for URLs.
const SCRIPT_STRIDE: usize = 16;

/// Remaining steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkBudget {
    left: usize,
}

impl WorkBudget {
    pub(crate) const fn new(steps: usize) -> Self {
        Self { left: steps }
    }

    /// Takes steps. Returns true if enough were left; otherwise takes all that were left.
    pub(crate) const fn take(&mut self, steps: usize) -> bool {
        let is_enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        is_enough
    }

    pub(crate) const fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Returns the steps of a tag or a comment. Each byte that separates attributes or may end a
/// comment is a step.
pub(crate) fn of_markup(markup: &str) -> usize {
    of(markup, |byte| {
        matches!(
            byte,
            b'\0'
                | b'\t'
                | b'\n'
                | b'\r'
                | b' '
                | b'!'
                | b'"'
                | b'&'
                | b'\''
                | b'-'
                | b'/'
                | b'<'
                | b'='
                | b']'
        )
    })
}

/// Returns the steps of text: none for short text, one for a `<` that does not begin a tag, several
/// per character reference.
pub(crate) fn of_text(text: &str) -> usize {
    usize::from(text.starts_with('<')) + text.len() / STRIDE + of_references(text)
}

/// Returns the steps of the character references in a text: the longest names are looked up letter
/// by letter.
pub(crate) fn of_references(text: &str) -> usize {
    PER_REFERENCE * count(text, |byte| byte == b'&')
}

/// Returns the number of matching bytes. The count of a chunk fits in a byte, so that one
/// instruction counts many: counting took half of the time of reading a plain page.
pub(crate) fn count(text: &str, is_counted: impl Fn(u8) -> bool) -> usize {
    let stretches = text.as_bytes().chunks(usize::from(u8::MAX));
    let counts = stretches.map(|stretch| {
        let count = |sum: u8, &byte: &u8| sum + u8::from(is_counted(byte));
        usize::from(stretch.iter().fold(0, count))
    });
    counts.sum()
}

/// Returns the steps of words that are copied.
pub(crate) const fn of_words(bytes: usize) -> usize {
    bytes / STRIDE
}

/// Returns the steps of a nested page before any of it is read.
pub(crate) const fn of_page(markup: &str) -> usize {
    4 + markup.len() / SCRIPT_STRIDE
}

/// Returns the steps of a script or of other raw text.
pub(crate) const fn of_raw(content: &str) -> usize {
    content.len() / SCRIPT_STRIDE
}

fn of(token: &str, is_step: impl Fn(u8) -> bool) -> usize {
    if token.len() <= MAX_TOKEN_OF_ONE_STEP {
        return 1;
    }
    1 + token.len() / STRIDE + token.bytes().filter(|&byte| is_step(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_allows_its_steps_and_not_one_more() {
        let mut budget = WorkBudget::new(3);
        assert!(budget.take(1) && budget.take(2) && budget.is_spent());
        assert!(!budget.take(1));
        let mut budget = WorkBudget::new(3);
        assert!(!budget.take(4) && budget.is_spent());
    }

    #[test]
    fn every_byte_of_a_long_text_can_be_counted() {
        for length in [0, 1, 254, 255, 256, 511, 10_000] {
            assert_eq!(count(&"a".repeat(length), |byte| byte == b'a'), length);
            assert_eq!(count(&"ab".repeat(length), |byte| byte == b'a'), length);
        }
    }

    #[test]
    fn each_byte_that_slows_a_tokenizer_is_a_step() {
        for (steps, expected) in [
            (of_markup("<a href=x y=z>"), 1),
            (
                of_markup(&format!("<p title='{}'>", "a".repeat(6_400))),
                106,
            ),
            (of_markup(&format!("<p {}>", "/".repeat(6_400))), 6_503),
            (of_text("a b"), 0),
            (of_text("< b"), 1),
            (of_text("a & b"), 4),
            (of_text(&"a b ".repeat(1_600)), 100),
            (of_raw(&"a".repeat(1_600)), 100),
        ] {
            assert_eq!(steps, expected);
        }
    }
}
