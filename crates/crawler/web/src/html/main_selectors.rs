//! Selectors of main content, which a user sets for difficult sites. Extraction works on most sites
//! and fails on some. For those, a CSS selector names the elements with the content: `#content`,
//! `wiki.example.org=div.page > article` for one host (`*.example.org=` for its subdomains), or
//! `https://example.org/wiki/=article` for the pages below a URL. The first selector that matches
//! anything on a page selects all elements that it matches; they are both the main content and the
//! text of the verdict. Every element of a page is matched, and a hostile page may be slow to
//! match. So selectors that examine the siblings or descendants of an element are rejected:
//! `:has()`, `:nth-child()` and the like, `~`.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use ego_tree::NodeId;
use scraper::{ElementRef, Html, Selector};

use crate::html::limits::ReadLimits;
use crate::html::tree::{self, Parsed};
use crate::html::work_budget::WorkBudget;
use crate::letter_case::is_one_of;
use crate::url::host_table::HostPattern;
use crate::url::page_url::PageUrl;
use crate::url::url_prefix::UrlPrefix;

/// Selectors of main content, tried in this order. Clones share them.
#[derive(Clone, Default)]
pub struct MainSelectors(Arc<[MainSelector]>);

struct MainSelector {
    /// The selector as given.
    text: Box<str>,
    /// Its pages; `None` for any.
    pages: Option<Pages>,
    selector: Selector,
}

/// The pages of a selector.
enum Pages {
    OfHost(HostPattern),
    Below(UrlPrefix),
}

impl Pages {
    fn parse(text: &str) -> Option<Self> {
        match text.contains("://") {
            true => text.parse().map(Self::Below).ok(),
            false => text.parse().map(Self::OfHost).ok(),
        }
    }

    fn contain(&self, page: &PageUrl) -> bool {
        match self {
            Self::OfHost(pattern) => pattern.matches(&page.host()),
            Self::Below(prefix) => prefix.matches(page),
        }
    }
}

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSelector {
    /// It is not CSS.
    #[error("{text:?} is not a CSS selector: {why}")]
    Malformed {
        /// The selector.
        text: String,
        /// The parser's message.
        why: String,
    },
    /// A part of the selector makes reading hostile pages slow.
    #[error(
        "{text:?}: {part} takes too long on some pages; use names, classes, ids, attributes, ` ` \
         and `>`"
    )]
    Slow {
        /// The selector.
        text: String,
        /// The part of it.
        part: String,
    },
    /// The part before `=` is neither a host nor the beginning of a URL.
    #[error(
        "{text:?}: {host:?} is not a host and not the beginning of a URL; the forms are CSS, \
         HOST=CSS and URL=CSS"
    )]
    Host {
        /// The selector.
        text: String,
        /// The part before `=`.
        host: String,
    },
}

/// Pseudo-classes that depend on an element, its parent and the adjacent sibling only.
const QUICK: &[&str] = &[
    "first-child",
    "last-child",
    "only-child",
    "root",
    "not",
    "is",
    "where",
];

impl MainSelectors {
    /// Parses selectors of the forms `CSS`, `HOST=CSS` and `URL=CSS`.
    ///
    /// # Errors
    ///
    /// [`BadSelector`] for the first unusable selector.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, BadSelector> {
        let selectors: Result<Vec<_>, _> = texts
            .iter()
            .map(|text| MainSelector::parse(text.as_ref().trim()))
            .collect();
        Ok(Self(selectors?.into()))
    }

    /// Returns the first element that the first matching selector for a page matches.
    pub(super) fn first<'h>(&self, html: &'h Html, page: &PageUrl) -> Option<ElementRef<'h>> {
        let mut selectors = self.0.iter().filter(|selector| selector.is_for(page));
        selectors.find_map(|selector| html.select(&selector.selector).next())
    }

    /// Returns true if a selector for a page needs attributes that are otherwise omitted.
    pub(super) fn need_data(&self, page: &PageUrl) -> bool {
        let mut selectors = self.0.iter().filter(|selector| selector.is_for(page));
        selectors.any(MainSelector::needs_data)
    }

    /// Returns the selectors as they were given.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|selector| &*selector.text)
    }
}

impl fmt::Debug for MainSelectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.texts()).finish()
    }
}

impl PartialEq for MainSelectors {
    fn eq(&self, other: &Self) -> bool {
        self.texts().eq(other.texts())
    }
}

impl Eq for MainSelectors {}

impl MainSelector {
    fn parse(text: &str) -> Result<Self, BadSelector> {
        // In CSS the equals sign is always between brackets.
        let is_pages = |text: &str| {
            let is_address = text.starts_with('[') && text.ends_with(']') || text.contains("://");
            !text.contains(['[', '(']) || is_address
        };
        let (pages, css) = match text.split_once('=').filter(|(pages, _)| is_pages(pages)) {
            Some((pages, css)) => {
                let parsed = Pages::parse(pages.trim());
                let pages = parsed.ok_or_else(|| BadSelector::Host {
                    text: text.to_owned(),
                    host: pages.trim().to_owned(),
                })?;
                (Some(pages), css.trim())
            }
            None => (None, text),
        };
        if let Some(part) = slow_part(css) {
            return Err(BadSelector::Slow {
                text: text.to_owned(),
                part,
            });
        }
        let selector = Selector::parse(css).map_err(|error| BadSelector::Malformed {
            text: text.to_owned(),
            why: error.to_string(),
        })?;
        Ok(Self {
            text: text.into(),
            pages,
            selector,
        })
    }

    fn is_for(&self, page: &PageUrl) -> bool {
        let pages = self.pages.as_ref();
        pages.is_none_or(|pages| pages.contain(page))
    }

    /// Returns true if the selector needs attributes that are otherwise omitted.
    fn needs_data(&self) -> bool {
        self.text.to_ascii_lowercase().contains("[data-")
    }
}

/// Returns the first part of a selector that examines more than an element, its ancestors and the
/// adjacent sibling.
fn slow_part(css: &str) -> Option<String> {
    let (mut quote, mut brackets) = (None, 0_usize);
    let mut rest = css.char_indices();
    while let Some((at, c)) = rest.next() {
        match (quote, c) {
            (_, '\\') => _ = rest.next(),
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => brackets += 1,
            (None, ']') => brackets = brackets.saturating_sub(1),
            (None, '~') if brackets == 0 => return Some("~".to_owned()),
            (None, ':') if brackets == 0 => {
                let name = css[at + 1..].trim_start_matches(':');
                let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                let name = &name[..end.unwrap_or(name.len())];
                if !is_one_of(name, QUICK) {
                    return Some(format!(":{name}"));
                }
            }
            _ => {}
        }
    }
    None
}

/// The selectors that apply to a page.
pub(super) struct Selection<'h> {
    selectors: Vec<&'h MainSelector>,
}

impl<'h> Selection<'h> {
    pub(super) fn of(main: Option<&'h MainSelectors>, page: &PageUrl) -> Self {
        let all = main.map_or(&[][..], |main| &main.0);
        Self {
            selectors: all
                .iter()
                .filter(|selector| selector.is_for(page))
                .collect(),
        }
    }

    /// Parses a page and keeps all attributes that the selectors need, or all.
    pub(super) fn parse(
        &self,
        text: &str,
        keeps_all: bool,
        limits: &ReadLimits,
        budget: &mut WorkBudget,
    ) -> Parsed {
        if keeps_all || self.selectors.iter().any(|selector| selector.needs_data()) {
            tree::parse_with_html5ever(text, limits, budget)
        } else {
            tree::parse(text, limits, budget)
        }
    }

    /// Returns the elements that the first matching selector matches.
    pub(super) fn find(&self, html: &Html) -> HashSet<NodeId> {
        let matches = |selector: &&MainSelector| -> HashSet<NodeId> {
            html.select(&selector.selector)
                .map(|element| element.id())
                .collect()
        };
        let mut found = self.selectors.iter().map(matches);
        found.find(|found| !found.is_empty()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_read_or_refused_with_its_reason() {
        for (text, finding) in [
            ("#content", None),
            ("main > article.post, div[role=main]", None),
            ("a.b:not(.c):first-child + p", None),
            ("[title='a ~ b:has(c)']", None),
            ("example.org=#content", None),
            ("EXAMPLE.org = [id=content]", None),
            ("[::1]=#content", None),
            ("div[", Some("is not a CSS selector")),
            ("", Some("is not a CSS selector")),
            ("p ~ p", Some("~ takes too long")),
            ("div:has(p)", Some(":has takes too long")),
            ("li:nth-child(2n)", Some(":nth-child takes too long")),
            ("p::before", Some(":before takes too long")),
            ("exa mple=p", Some("\"exa mple\" is not a host")),
            ("example.org:80/x=p", Some("is not a host")),
        ] {
            let error = MainSelectors::parse(&[text])
                .err()
                .map(|error| error.to_string());
            match (error, finding) {
                (None, None) => {}
                (Some(error), Some(finding)) => {
                    assert!(error.contains(finding), "{text}: {error}");
                }
                (error, _) => panic!("{text}: {error:?}"),
            }
        }
    }
}
