//! Meanings of class names and ids in templates.
//!
//! Names consist of words (`article-body`, `relatedPosts`, `post__comments`), and few words matter:
//! the rules of Readability and of trafilatura list the same dozens. Only whole words match, so
//! `navy` is not navigation. Ids of sections are ignored: documentation derives them from headings,
//! and a section about comments is not a comment.

use std::sync::LazyLock;

use html5ever::local_name;
use scraper::node::Element;

use crate::html::region_flags;

/// Maximum length of a known word.
const LONGEST: usize = 16;

/// Returns the flags that the class and the id of a block give to its content.
pub(crate) fn of_block(element: &Element) -> u32 {
    let mut flags = 0;
    let mut id = None;
    let mut is_section = element.name.local == local_name!("section");
    for (name, value) in &element.attrs {
        match name.local {
            local_name!("class") => {
                flags |= of_names(value);
                is_section |= value.split_ascii_whitespace().any(|name| name == "section");
            }
            local_name!("id") => id = Some(value),
            _ => {}
        }
    }
    if let Some(id) = id
        && !is_section
    {
        flags |= of_names(id);
    }
    flags
}

fn of_names(names: &str) -> u32 {
    let mut flags = 0;
    for name in names.split_ascii_whitespace() {
        let mut before = [0; LONGEST];
        let mut length_before = 0;
        let words = Words {
            rest: name.as_bytes(),
        };
        for word in words {
            let length = word.len().min(LONGEST);
            let mut lower = [0; LONGEST];
            lower[..length].copy_from_slice(&word[..length]);
            lower.make_ascii_lowercase();
            if word.len() <= LONGEST {
                flags |= of_word(lower) | of_pair(&before[..length_before], &lower[..length]);
            }
            (before, length_before) = (lower, length);
        }
    }
    flags
}

/// Words, by the flag that they give.
const WORDS: &[(u32, &str)] = &[
    (region_flags::REVIEWS, "reviews questions"),
    (
        region_flags::FOLDED,
        "accordion answer collapse faq faqs panel tab tabs",
    ),
    (
        region_flags::FORM,
        "facets refinements swatch swatches variants",
    ),
    (
        region_flags::COMMENTS,
        "comment comments commentlist disqus replies respond",
    ),
    (
        region_flags::RELATED,
        "compare crosssell latest outbrain popular recirc recommend recommendation \
         recommendations recommended related similar taboola trending upsell zergnet readmore",
    ),
    (
        region_flags::SHARE,
        "addthis follow share sharebar sharedaddy shares sharing social",
    ),
    (
        region_flags::METADATA,
        "badge breadcrumb breadcrumbs extras byline dateline datetime meta metadata pager \
         pagination postmeta pubdate signature tags timestamp",
    ),
    (
        region_flags::PROMOTION,
        "advert advertisement banner btn button consent cookie cookies disclaimer gdpr login \
         modal newsletter paywall popup promo promotion signup sponsor sponsored subscribe \
         subscription",
    ),
    (
        region_flags::CAPTION,
        "caption captions copyright credit credits legal",
    ),
    (
        region_flags::HINT,
        "footer masthead megamenu menu nav navbar navigation sidebar skip toolbar topbar",
    ),
    (region_flags::CONTENTS, "toc"),
    (
        region_flags::BODY,
        "articlebody articlecontent articletext storybody",
    ),
];

/// The same, padded with zeros and sorted.
static SORTED: LazyLock<Vec<([u8; LONGEST], u32)>> = LazyLock::new(|| {
    let mut sorted = Vec::new();
    for &(flag, words) in WORDS {
        sorted.extend(
            words
                .split_ascii_whitespace()
                .map(|word| (padded(word), flag)),
        );
    }
    sorted.sort_unstable();
    sorted
});

fn padded(word: &str) -> [u8; LONGEST] {
    let mut padded = [0; LONGEST];
    padded[..word.len()].copy_from_slice(word.as_bytes());
    padded
}

/// Returns the flags of a word, padded with zeros. Comparing it with every known word in turn took
/// a tenth of the time of reading a real page.
fn of_word(word: [u8; LONGEST]) -> u32 {
    let number = u128::from_be_bytes(word);
    let found = SORTED.binary_search_by_key(&number, |&(known, _)| u128::from_be_bytes(known));
    found.map_or(0, |index| SORTED[index].1)
}

fn of_pair(first: &[u8], second: &[u8]) -> u32 {
    match (first, second) {
        (b"article" | b"entry" | b"post" | b"story", b"body" | b"content" | b"text") => {
            region_flags::BODY
        }
        (b"also", b"like") | (b"most" | b"you", b"read") | (b"read", b"more" | b"next") => {
            region_flags::RELATED
        }
        // Excludes `not-footer`, which names the rest of a page.
        (b"" | b"doc" | b"global" | b"main" | b"page" | b"site" | b"the", b"footer") => {
            region_flags::FOOT
        }
        (b"about", b"author") | (b"author", b"bio") => region_flags::METADATA,
        _ => 0,
    }
}

/// The words of a name: runs of letters and digits, split before capitals in `camelCase`.
struct Words<'n> {
    rest: &'n [u8],
}

impl<'n> Iterator for Words<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        let start = self.rest.iter().position(u8::is_ascii_alphanumeric)?;
        let run = &self.rest[start..];
        let mut end = 1;
        while end < run.len() && run[end].is_ascii_alphanumeric() {
            if run[end].is_ascii_uppercase() && run[end - 1].is_ascii_lowercase() {
                break;
            }
            end += 1;
        }
        self.rest = &run[end..];
        Some(&run[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_are_found_in_any_joining() {
        for (names, flags) in [
            ("relatedPosts", region_flags::RELATED),
            ("c-related__posts x", region_flags::RELATED),
            ("post-content", region_flags::BODY),
            ("ArticlePage-articleBody", region_flags::BODY),
            ("post content", 0),
            ("entry-comments", region_flags::COMMENTS),
            ("Comments", region_flags::COMMENTS),
            ("navy", 0),
            ("footer", region_flags::HINT | region_flags::FOOT),
            ("site-footer", region_flags::HINT | region_flags::FOOT),
            ("wsite-not-footer", region_flags::HINT),
            ("has-sidebar", region_flags::HINT),
            ("sidebar", region_flags::HINT),
            ("unrelated", 0),
            ("", 0),
            ("--", 0),
            ("\u{e9}share\u{e9}", region_flags::SHARE),
            ("averyveryverylongwordthatisnothing", 0),
        ] {
            assert_eq!(of_names(names), flags, "{names}");
        }
    }
}
