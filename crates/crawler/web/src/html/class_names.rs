//! Meanings of class names and ids in templates.
//!
//! Names consist of words (`article-body`, `relatedPosts`, `post__comments`), and few words matter:
//! the rules of Readability and of trafilatura list the same dozens. Only whole words match, so
//! `navy` is not navigation. Ids of sections are ignored: documentation derives them from headings,
//! and a section about comments is not a comment.

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
                let (before, word) = (&before[..length_before], &lower[..length]);
                flags |= of_word(word) | of_pair(before, word);
            }
            (before, length_before) = (lower, length);
        }
    }
    flags
}

fn of_word(word: &[u8]) -> u32 {
    match word {
        b"reviews" | b"questions" => region_flags::REVIEWS,
        b"accordion" | b"answer" | b"collapse" | b"faq" | b"faqs" | b"panel" | b"tab" | b"tabs" => {
            region_flags::FOLDED
        }
        b"facets" | b"refinements" | b"swatch" | b"swatches" | b"variants" => region_flags::FORM,
        b"comment" | b"comments" | b"commentlist" | b"disqus" | b"replies" | b"respond" => {
            region_flags::COMMENTS
        }
        b"compare" | b"crosssell" | b"latest" | b"outbrain" | b"popular" | b"recirc"
        | b"recommend" | b"recommendation" | b"recommendations" | b"recommended" | b"related"
        | b"similar" | b"taboola" | b"trending" | b"upsell" | b"zergnet" | b"readmore" => {
            region_flags::RELATED
        }
        b"addthis" | b"follow" | b"share" | b"sharebar" | b"sharedaddy" | b"shares"
        | b"sharing" | b"social" => region_flags::SHARE,
        b"badge" | b"breadcrumb" | b"breadcrumbs" | b"extras" | b"byline" | b"dateline"
        | b"datetime" | b"meta" | b"metadata" | b"pager" | b"pagination" | b"postmeta"
        | b"pubdate" | b"signature" | b"tags" | b"timestamp" => region_flags::METADATA,
        b"advert" | b"advertisement" | b"banner" | b"btn" | b"button" | b"consent" | b"cookie"
        | b"cookies" | b"disclaimer" | b"gdpr" | b"login" | b"modal" | b"newsletter"
        | b"paywall" | b"popup" | b"promo" | b"promotion" | b"signup" | b"sponsor"
        | b"sponsored" | b"subscribe" | b"subscription" => region_flags::PROMOTION,
        b"caption" | b"captions" | b"copyright" | b"credit" | b"credits" | b"legal" => {
            region_flags::CAPTION
        }
        b"footer" | b"masthead" | b"megamenu" | b"menu" | b"nav" | b"navbar" | b"navigation"
        | b"sidebar" | b"skip" | b"toolbar" | b"topbar" => region_flags::HINT,
        b"toc" => region_flags::CONTENTS,
        b"articlebody" | b"articlecontent" | b"articletext" | b"storybody" => region_flags::BODY,
        _ => 0,
    }
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
