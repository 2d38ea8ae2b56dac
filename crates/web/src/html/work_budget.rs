//! What it costs to read a page, counted in steps.
//!
//! Time cannot be a limit: the same page would be read differently on another machine. So what
//! takes time is counted. A step is what a short token costs, some hundred nanoseconds; plain text
//! is read sixty-four bytes a step, and characters that bring a tokenizer out of its stride are a
//! step each.
//!
//! Invariant: whatever a page is made of, the time that it takes is at most proportional to its
//! steps; `bench-bombs` measures it.

/// Up to this length a token is one step, whatever it is made of.
const SHORT: usize = 256;

/// Bytes of plain text for a step.
const STRIDE: usize = 64;

/// Steps of a reference to a character.
const PER_REFERENCE: usize = 4;

/// Bytes of a script for a step: it is looked through for URLs.
const SCRIPT_STRIDE: usize = 16;

/// Steps that may still be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkBudget {
    left: usize,
}

impl WorkBudget {
    pub(crate) const fn new(steps: usize) -> Self {
        Self { left: steps }
    }

    /// Takes steps; whether there were so many. If not, none are left.
    pub(crate) const fn take(&mut self, steps: usize) -> bool {
        let is_enough = steps <= self.left;
        self.left = self.left.saturating_sub(steps);
        is_enough
    }

    pub(crate) const fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Steps of a tag or a comment. What parts attributes and what may end a comment is a step each.
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

/// Steps of text: none if it is short, one for a `<` that begins no tag, some for each reference to
/// a character.
pub(crate) fn of_text(text: &str) -> usize {
    usize::from(text.starts_with('<')) + text.len() / STRIDE + of_references(text)
}

/// Steps of the references to characters in a text: the longest names are looked up letter by
/// letter.
pub(crate) fn of_references(text: &str) -> usize {
    PER_REFERENCE * count(text, |byte| byte == b'&')
}

/// How many bytes are so. The counts of a stretch fit into a byte, so that many are made in one
/// instruction: half of what it took to read a plain page was counting.
pub(crate) fn count(text: &str, is_counted: impl Fn(u8) -> bool) -> usize {
    let stretches = text.as_bytes().chunks(usize::from(u8::MAX));
    let counts = stretches.map(|stretch| {
        let count = |sum: u8, &byte: &u8| sum + u8::from(is_counted(byte));
        usize::from(stretch.iter().fold(0, count))
    });
    counts.sum()
}

/// Steps of a page in a page, before any of it is read.
pub(crate) const fn of_page(markup: &str) -> usize {
    4 + markup.len() / SCRIPT_STRIDE
}

/// Steps of a script or of what else is no markup.
pub(crate) const fn of_raw(content: &str) -> usize {
    content.len() / SCRIPT_STRIDE
}

fn of(token: &str, is_step: impl Fn(u8) -> bool) -> usize {
    if token.len() <= SHORT {
        return 1;
    }
    1 + token.len() / STRIDE + token.bytes().filter(|&byte| is_step(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_as_many_steps_as_it_is_given_and_not_one_more() {
        let mut budget = WorkBudget::new(3);
        assert!(budget.take(1) && budget.take(2) && budget.is_spent());
        assert!(!budget.take(1));
        let mut budget = WorkBudget::new(3);
        assert!(!budget.take(4) && budget.is_spent());
    }

    #[test]
    fn what_is_counted_may_be_every_byte_of_a_long_text() {
        for length in [0, 1, 254, 255, 256, 511, 10_000] {
            assert_eq!(count(&"a".repeat(length), |byte| byte == b'a'), length);
            assert_eq!(count(&"ab".repeat(length), |byte| byte == b'a'), length);
        }
    }

    #[test]
    fn what_brings_a_tokenizer_out_of_its_stride_is_a_step_each() {
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
