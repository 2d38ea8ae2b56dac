//! The similarity of two texts as a person sees it, computed in the slow and obvious way, to check
//! the generated pages.

use std::collections::HashSet;

use crate::random::fnv;

/// The text of a page without markup, scripts and styles.
pub(crate) fn visible_text(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let skipped = ["script", "style", "title"]
            .into_iter()
            .find(|name| tag.starts_with(name));
        let after = match skipped {
            Some(name) => tag
                .split_once(&format!("</{name}"))
                .map_or("", |(_, after)| after),
            None => tag,
        };
        rest = after.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text between `<main` and `</main>`.
pub(crate) fn main_text(html: &str) -> String {
    let main = html
        .split_once("<main")
        .and_then(|(_, rest)| rest.split_once("</main>"))
        .map_or("", |(main, _)| main);
    visible_text(&format!("<main{main}"))
}

/// The share of their shingles that two texts have in common (Broder 1997).
pub(crate) fn resemblance(one: &Shingles, other: &Shingles) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    common as f64 / all.max(1) as f64
}

/// The set of three words in a row, in lower case, each as a 64-bit hash.
pub(crate) type Shingles = HashSet<u64>;

/// The word 3-shingles of a text.
pub(crate) fn shingles(text: &str) -> Shingles {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words
        .windows(3)
        .map(|three| fnv(&three.join(" ")))
        .collect()
}

#[test]
fn markup_is_no_text() {
    let html = "<title>no</title><p class=a>one <b>two</b></p><script>if (a<b) {}</script>\n three";
    assert_eq!(visible_text(html), "one two three");
    assert_eq!(main_text("a <main id=x>one <p>two</main> b"), "one two");
}

#[test]
fn resemblance_is_the_share_of_common_shingles() {
    for (one, other, expected) in [
        ("a b c d", "A, b. c d", 1.0),
        ("a b c d", "a b c e", 1.0 / 3.0),
        ("a b c", "d e f", 0.0),
    ] {
        assert_eq!(resemblance(&shingles(one), &shingles(other)), expected);
    }
}
