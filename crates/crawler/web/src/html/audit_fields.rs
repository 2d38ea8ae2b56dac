//! The parts of a page that an audit of its site checks: description, main headings and
//! translations.
//!
//! Unlike [`PageFields`](crate::PageFields), these are the exact places that search engines read:
//! `<meta name=description>`, `<h1>` and `<link rel=alternate hreflang>`.
//!
//! Invariant: a page cannot make this expensive. The tree is walked once, and the number of
//! translations and the length of each text have limits.

use html5ever::{local_name, ns};
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use crate::html::elements::attribute;
use crate::html::lines::joined;
use crate::html::relations::has_relation;
use crate::url::page_url::PageUrl;

/// Maximum number of translations of a page.
const MAX_TRANSLATIONS: usize = 1_000;

/// Maximum length of a language tag in characters: BCP 47 section 4.4.1 expects 35.
const MAX_LANGUAGE: usize = 40;

/// Maximum number of pieces of text in a heading.
const MAX_PIECES: usize = 1_000;

/// The parts of a page that an audit checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFields {
    /// The first `<meta name=description>` that is not blank.
    pub description: Option<String>,
    /// Number of `<h1>` elements.
    pub h1_count: u32,
    /// The text of the first `<h1>`.
    pub h1: Option<String>,
    /// The translations that the page names, including itself.
    pub translations: Vec<Translation>,
}

/// A page that another page names as its translation (`hreflang`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The value of `hreflang`, in lower case: a language tag or `x-default`.
    pub language: String,
    /// The translation.
    pub url: PageUrl,
}

impl AuditFields {
    /// Reads the fields in the markup of a page. Texts have at most `chars` characters; `resolve`
    /// returns the URL of a reference in the page.
    pub(crate) fn read(
        &mut self,
        html: &Html,
        chars: usize,
        resolve: impl Fn(&str) -> Option<PageUrl>,
    ) {
        for node in html.tree.root().descendants() {
            let Node::Element(element) = node.value() else {
                continue;
            };
            if element.name.ns != ns!(html) {
                continue;
            }
            match element.name.local {
                local_name!("meta") if self.description.is_none() && is_description(element) => {
                    self.description = attribute(element, "content")
                        .and_then(|text| folded(text.split_whitespace(), chars));
                }
                local_name!("h1") => {
                    self.h1_count += 1;
                    if let Some(heading) = ElementRef::wrap(node).filter(|_| self.h1_count == 1) {
                        let text: String = heading.text().take(MAX_PIECES).collect();
                        self.h1 = folded(text.split_whitespace(), chars);
                    }
                }
                local_name!("link") => {
                    let value = |name| attribute(element, name).unwrap_or_default();
                    self.translate(value("rel"), value("hreflang"), || resolve(value("href")));
                }
                _ => {}
            }
        }
    }

    /// Adds the target of a link if it is a translation.
    pub(crate) fn translate(
        &mut self,
        rel: &str,
        hreflang: &str,
        target: impl FnOnce() -> Option<PageUrl>,
    ) {
        let language = hreflang.trim();
        let is_tag = (1..=MAX_LANGUAGE).contains(&language.len());
        if is_tag
            && has_relation(rel, "alternate")
            && self.translations.len() < MAX_TRANSLATIONS
            && let Some(url) = target()
        {
            let language = language.to_ascii_lowercase();
            self.translations.push(Translation { language, url });
        }
    }
}

fn is_description(element: &Element) -> bool {
    attribute(element, "name").is_some_and(|name| name.trim().eq_ignore_ascii_case("description"))
}

/// Returns words as one text; `None` if there are none.
fn folded<'t>(words: impl Iterator<Item = &'t str>, chars: usize) -> Option<String> {
    Some(joined(words, chars)).filter(|text| !text.is_empty())
}
