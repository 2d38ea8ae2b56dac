//! Sites of which every page is known: the pages that say the same, and so the pages that a crawl
//! lost.
//!
//! Each is a small model of a real site on which leaving out duplicates cost pages: editions behind
//! equal index pages, templates with more words than their pages have of their own, links that
//! stand on copies only. A text is lost where a crawl archived none of the pages that have it
//! ([`KnownSite::lost`]); pages of one text are copies, and it does not matter which of them is
//! archived.
//!
//! No link names a host, so copies are equal to the byte wherever they are served.

mod editions;
mod forums;
mod reference;
mod shops;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;

use crate::{Reply, Site};

pub use editions::{half_translated, language_editions, mirror, thief, two_versions};
pub use forums::{deleted_threads, tag_twins, two_threads};
pub use reference::api_reference;
pub use shops::products;

/// A generated site, or several that belong together, with the truth about their pages.
#[derive(Clone, Debug, Default)]
pub struct KnownSite {
    seeds: Vec<String>,
    pages: BTreeMap<String, KnownPage>,
    /// The number of each text, by a name that the generator gave it.
    texts: HashMap<String, usize>,
}

#[derive(Clone, Debug)]
struct KnownPage {
    text: usize,
    body: Bytes,
}

impl KnownSite {
    /// Answers with the pages, and with 404 for all else.
    #[must_use]
    pub fn site(&self) -> Site {
        let pages: HashMap<String, Bytes> = self
            .pages
            .iter()
            .map(|(address, page)| (address.clone(), page.body.clone()))
            .collect();
        let pages = Arc::new(pages);
        Site::new(move |request| {
            let body = pages.get(&format!("{}{}", request.host, request.target));
            body.map_or_else(|| Reply::status(404), |body| Reply::html(body.clone()))
        })
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

    /// Adds a page. Pages of the same `text` say the same.
    fn add(&mut self, address: impl Into<String>, text: impl Into<String>, html: impl Into<Bytes>) {
        let next = self.texts.len();
        let text = *self.texts.entry(text.into()).or_insert(next);
        let page = KnownPage {
            text,
            body: html.into(),
        };
        let address = address.into();
        let replaced = self.pages.insert(address.clone(), page);
        assert!(replaced.is_none(), "{address} was added twice");
    }

    fn add_seed(&mut self, address: impl Into<String>) {
        self.seeds.push(address.into());
    }
}

/// The HTML of a page: title, what stands before the content, the content, what stands after it.
fn html(title: &str, before: &str, content: &str, after: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>{before}\n{content}\n{after}</body></html>\n"
    )
}

/// An unordered list of links: address and words.
fn link_list<H: AsRef<str>, W: AsRef<str>>(links: &[(H, W)]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    /// Every generated site.
    fn all() -> Vec<(&'static str, KnownSite)> {
        vec![
            ("api_reference", api_reference()),
            ("two_versions", two_versions(false)),
            ("two_versions, both seeds", two_versions(true)),
            ("language_editions", language_editions()),
            ("half_translated", half_translated()),
            ("mirror", mirror(400)),
            ("thief", thief(200)),
            ("two_threads", two_threads()),
            ("tag_twins", tag_twins()),
            ("deleted_threads", deleted_threads(300, 900)),
            ("products", products(200, 800, 120)),
        ]
    }

    /// Resolves a relative link without `..` or a scheme.
    fn resolve(address: &str, href: &str) -> String {
        let (host, path) = address.split_once('/').unwrap();
        let base = path.rsplit_once('/').map_or("", |(base, _)| base);
        let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
        if let Some(rooted) = href.strip_prefix('/') {
            return format!("{host}/{rooted}");
        }
        let mut rest = href;
        while let Some(up) = rest.strip_prefix("../") {
            parts.pop();
            rest = up;
        }
        parts.push(rest);
        format!("{host}/{}", parts.join("/"))
    }

    #[test]
    fn every_page_can_be_reached_from_the_seeds_and_no_link_is_broken() {
        for (name, known) in all() {
            let site = known.site();
            let mut queue: Vec<String> = known.seeds().to_vec();
            let mut seen: HashSet<String> = queue.iter().cloned().collect();
            while let Some(address) = queue.pop() {
                let reply = site.answer(&Request::get(&format!("http://{address}")));
                assert_eq!(reply.code(), 200, "{name}: {address}");
                let body = String::from_utf8(reply.body().to_vec()).unwrap();
                for rest in body.split(" href=\"").skip(1) {
                    let href = rest.split('"').next().unwrap().replace("&amp;", "&");
                    let target = resolve(&address, &href);
                    if seen.insert(target.clone()) {
                        queue.push(target);
                    }
                }
            }
            assert_eq!(seen.len(), known.len(), "{name}");
        }
    }

    #[test]
    fn a_site_is_the_same_each_time_and_pages_of_equal_bytes_have_one_text() {
        for ((name, one), (_, other)) in all().into_iter().zip(all()) {
            let mut text_of: HashMap<Bytes, usize> = HashMap::new();
            for (address, page) in &one.pages {
                assert_eq!(page.body, other.pages[address].body, "{name}: {address}");
                let text = *text_of.entry(page.body.clone()).or_insert(page.text);
                assert_eq!(text, page.text, "{name}: {address}");
            }
        }
    }

    #[test]
    fn a_text_is_lost_where_none_of_its_pages_was_archived() {
        let mut known = KnownSite::default();
        known.add("a.test/1", "one", "1");
        known.add("a.test/2", "one", "1");
        known.add("b.test/3", "three", "3");
        assert_eq!(known.lost(["a.test/2", "a.test/404"]), ["b.test/3"]);
        assert_eq!(known.lost([]), ["a.test/1", "b.test/3"]);
        assert!(known.say_the_same("a.test/1", "a.test/2"));
        assert!(!known.say_the_same("a.test/1", "b.test/3"));
        assert_eq!(
            (known.len(), known.texts(), known.hosts()),
            (3, 2, vec!["a.test", "b.test"])
        );
    }
}
