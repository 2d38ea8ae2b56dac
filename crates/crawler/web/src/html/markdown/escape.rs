//! Escapes text that would otherwise be Markdown markup (CommonMark 0.31, sections 2.4 and 2.5).
//!
//! As little as possible is escaped, because people read the text in this form, too: `snake_case`
//! and `[1]` remain unchanged.

/// Context of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Inside the text of a link, where brackets have a meaning.
    pub in_link: bool,
    /// Inside a table, where `|` ends a cell.
    pub in_table: bool,
}

/// Appends a part of a line, escaped. The part begins at `start` of the whole `line`; only the
/// first part of a line may begin a block.
pub(crate) fn push(out: &mut String, line: &str, start: usize, end: usize, place: Place) {
    let block = match start {
        0 => begins_block(line),
        _ => None,
    };
    let before = line[..start].chars().next_back();
    let mut previous = before;
    for (offset, character) in line[start..end].char_indices() {
        let at = start + offset;
        let rest = &line[at + character.len_utf8()..];
        let next = rest.chars().next();
        let is_markup = match character {
            '*' | '`' => true,
            '\\' => next.is_none_or(|next| next.is_ascii_punctuation()) || at + 1 == end,
            // It has no meaning inside a word.
            '_' => !(is_of_word(previous) && is_of_word(next)),
            '[' => place.in_link || start == 0 && offset == 0 || previous == Some('!'),
            ']' => place.in_link || matches!(next, Some('(' | '[' | ':')),
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(next)),
            '&' => is_reference(rest),
            '~' => previous == Some('~') || next == Some('~'),
            '|' => place.in_table,
            _ => false,
        };
        if is_markup || block == Some(at) {
            out.push('\\');
        }
        out.push(character);
        previous = Some(character);
    }
}

/// Returns the position of the character to escape, to prevent the line from beginning a block.
fn begins_block(line: &str) -> Option<usize> {
    let rest_is_space = |at: usize| line[at..].chars().next().is_none_or(char::is_whitespace);
    let first = line.chars().next()?;
    let run = line.len() - line.trim_start_matches(first).len();
    let begins = match first {
        '#' => run <= 6 && rest_is_space(run),
        // A list, a thematic break, or the underline of a heading.
        '+' => rest_is_space(1),
        '-' => rest_is_space(1) || is_made_of(line, "-:|"),
        '=' => is_made_of(line, "="),
        // The columns of a table.
        ':' => is_made_of(line, "-:|"),
        '>' | '|' => true,
        '0'..='9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let is_mark = matches!(line.as_bytes().get(digits), Some(b'.' | b')'));
            return (digits <= 9 && is_mark && rest_is_space(digits + 1)).then_some(digits);
        }
        _ => false,
    };
    begins.then_some(0)
}

fn is_made_of(line: &str, characters: &str) -> bool {
    line.chars()
        .all(|c| characters.contains(c) || c.is_whitespace())
}

fn is_of_word(character: Option<char>) -> bool {
    character.is_some_and(char::is_alphanumeric)
}

/// Returns true if the text after a `&` makes it a character reference (section 2.5).
fn is_reference(rest: &str) -> bool {
    let name = rest.split(';').next().unwrap_or_default();
    let is_name = |name: &str| {
        let name = name.strip_prefix('#').unwrap_or(name);
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    // The longest name has 31 letters.
    name.len() < rest.len() && name.len() <= 32 && is_name(name)
}

/// Appends a code span (section 6.1) with this content.
pub(crate) fn push_code(out: &mut String, code: &str, place: Place) {
    let mut longest = 0;
    let mut run = 0;
    for character in code.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    // Parsers remove one space at each end.
    let needs_space = code.starts_with('`') || code.ends_with('`');
    let space = if needs_space { " " } else { "" };
    out.push_str(&fence);
    out.push_str(space);
    if place.in_table {
        out.push_str(&code.replace('|', "\\|"));
    } else {
        out.push_str(code);
    }
    out.push_str(space);
    out.push_str(&fence);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let mut out = String::new();
        push(&mut out, line, 0, line.len(), Place::default());
        assert_eq!(out, expected, "{line}");
    }

    #[test]
    fn text_that_would_be_markup_is_escaped_and_other_text_is_not() {
        for (line, expected) in [
            ("a *b* `c`", "a \\*b\\* \\`c\\`"),
            ("snake_case _x_", "snake_case \\_x\\_"),
            ("as in [1], [a](b)", "as in [1], [a\\](b)"),
            ("[a]: b", "\\[a\\]: b"),
            ("a < b <c> &amp; & R&D;", "a < b \\<c> \\&amp; & R\\&D;"),
            ("C:\\dir \\* x\\", "C:\\dir \\\\\\* x\\\\"),
            ("# one", "\\# one"),
            ("#one", "#one"),
            ("####### seven", "####### seven"),
            ("- a", "\\- a"),
            ("-5", "-5"),
            ("---", "\\---"),
            ("===", "\\==="),
            ("> a", "\\> a"),
            ("1. a", "1\\. a"),
            ("12) a", "12\\) a"),
            ("1.5 a", "1.5 a"),
            ("1234567890. a", "1234567890. a"),
            ("~~~", "\\~\\~\\~"),
            ("é + ü", "é + ü"),
        ] {
            check(line, expected);
        }
    }

    #[test]
    fn a_code_span_has_a_longer_fence_than_its_content() {
        for (code, expected) in [
            ("a*b", "`a*b`"),
            ("a`b", "``a`b``"),
            ("`", "`` ` ``"),
            ("``x", "``` ``x ```"),
        ] {
            let mut out = String::new();
            push_code(&mut out, code, Place::default());
            assert_eq!(out, expected);
        }
    }
}
