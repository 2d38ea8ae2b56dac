//! Pages with the truth about their texts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;

use crate::http::{Reply, Site};

/// A generated site, or several that belong together, with the truth about their pages.
#[derive(Clone, Debug, Default)]
pub struct KnownSite {
    seeds: Vec<String>,
    pub(super) pages: BTreeMap<String, KnownPage>,
    /// The number of each text, by a name that the generator gave it.
    texts: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
pub(super) struct KnownPage {
    pub(super) text: usize,
    pub(super) body: Bytes,
    /// True for plain text; a page is HTML otherwise.
    is_plain: bool,
}

impl KnownSite {
    /// Answers with the pages, and with 404 for all else.
    #[must_use]
    pub fn site(&self) -> Site {
        let pages = Arc::new(self.pages.clone());
        Site::new(
            move |request| match pages.get(&format!("{}{}", request.host, request.target)) {
                Some(page) if page.is_plain => Reply::text(page.body.clone()),
                Some(page) => Reply::html(page.body.clone()),
                None => Reply::status(404),
            },
        )
    }

    /// The host names, in order.
    #[must_use]
    pub fn hosts(&self) -> Vec<&str> {
        let hosts: BTreeSet<&str> = self
            .addresses()
            .filter_map(|address| address.split('/').next())
            .collect();
        hosts.into_iter().collect()
    }

    /// The addresses that a crawl begins at: `host/path`, without scheme and port.
    #[must_use]
    pub fn seeds(&self) -> &[String] {
        &self.seeds
    }

    /// All addresses, in order.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.pages.keys().map(String::as_str)
    }

    /// The number of pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Returns true where there is no page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The number of different texts.
    #[must_use]
    pub fn texts(&self) -> usize {
        self.texts.len()
    }

    /// Returns true where two pages say the same.
    #[must_use]
    pub fn say_the_same(&self, one: &str, other: &str) -> bool {
        match (self.pages.get(one), self.pages.get(other)) {
            (Some(one), Some(other)) => one.text == other.text,
            _ => false,
        }
    }

    /// The texts that none of the archived pages has: the first address of each.
    #[must_use]
    pub fn lost<'a>(&self, archived: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        let mut had: HashSet<usize> = archived
            .into_iter()
            .filter_map(|address| Some(self.pages.get(address)?.text))
            .collect();
        let missing = self.pages.iter().filter(|(_, page)| had.insert(page.text));
        missing.map(|(address, _)| address.as_str()).collect()
    }

    /// The archived pages whose text an archived page before them has.
    #[must_use]
    pub fn repeats<'a>(&self, archived: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
        let mut had = HashSet::new();
        let pages = archived.into_iter().filter(|address| {
            let page = self.pages.get(*address);
            page.is_some_and(|page| !had.insert(page.text))
        });
        pages.collect()
    }

    /// The view that an address shows: without its numbers and titles, which name a content.
    #[must_use]
    pub fn view_of(address: &str) -> String {
        let is_title = |segment: &str| segment.contains('_');
        let segments = address.split_inclusive(['/', '?']);
        let view: String = segments.filter(|segment| !is_title(segment)).collect();
        view.replace(|letter: char| letter.is_ascii_digit(), "")
    }

    /// Adds a page. Pages of the same `text` say the same.
    pub(super) fn add(
        &mut self,
        address: impl Into<String>,
        text: impl Into<String>,
        html: impl Into<Bytes>,
    ) {
        self.insert(address.into(), text.into(), html.into(), false);
    }

    /// Adds a page of plain text.
    pub(super) fn add_plain(
        &mut self,
        address: impl Into<String>,
        text: impl Into<String>,
        plain: impl Into<Bytes>,
    ) {
        self.insert(address.into(), text.into(), plain.into(), true);
    }

    fn insert(&mut self, address: String, text: String, body: Bytes, is_plain: bool) {
        let next = self.texts.len();
        let text = *self.texts.entry(text).or_insert(next);
        let page = KnownPage {
            text,
            body,
            is_plain,
        };
        let is_new = !self.pages.contains_key(&address);
        assert!(is_new, "{address} was added twice");
        self.pages.insert(address, page);
    }

    pub(super) fn add_seed(&mut self, address: impl Into<String>) {
        self.seeds.push(address.into());
    }
}

/// The HTML of a page: title, what stands before the content, the content, what stands after it.
pub(super) fn html(title: &str, before: &str, content: &str, after: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head>\
         <meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>{before}\n{content}\n{after}</body></html>\n"
    )
}

/// An unordered list of links: address and words.
pub(super) fn link_list<H: AsRef<str>, W: AsRef<str>>(links: &[(H, W)]) -> String {
    let mut list = String::from("<ul>");
    for (href, words) in links {
        let _infallible = write!(
            list,
            "<li><a href=\"{}\">{}</a></li>",
            href.as_ref(),
            words.as_ref()
        );
    }
    list.push_str("</ul>");
    list
}
