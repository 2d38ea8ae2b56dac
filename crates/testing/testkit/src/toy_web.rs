//! A small web with everything in it that a polite crawler meets, and the truth about every page.
//!
//! Four host names, one server. `original.test` is kept again at `mirror.test`, byte for byte or
//! with another date and counter. `manual.test` has pages that share a long navigation and differ
//! in what they say. `library.test` has a section that robots may not enter, a calendar without
//! end, pages in several charsets, redirects, a dead link, files that are no HTML, and links that
//! are not to be followed.
//!
//! What a crawl has to come to does not depend on chance: a copy is linked only from the page it is
//! a copy of, so the original is always met first.

mod charsets;
mod draft;
mod pages;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::http::{Reply, Site};
use crate::log::Log;
pub use charsets::{CharsetPage, Declared};
use draft::Draft;
pub use draft::{Fate, Reason, Truth};

/// The host names, in the order of [`ToyWeb::seeds`].
const HOSTS: [&str; 4] = [
    "original.test",
    "mirror.test",
    "manual.test",
    "library.test",
];
/// Stands for the port until a page is served.
const PORT: &[u8] = b"@PORT@";

/// The demonstration web.
#[derive(Clone, Debug)]
pub struct ToyWeb {
    pages: Arc<BTreeMap<String, Reply>>,
    truth: Vec<Truth>,
}

/// The number of pages with each fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// [`Fate::Unique`]
    pub unique: usize,
    /// [`Fate::File`]
    pub files: usize,
    /// [`Fate::ExactCopy`]
    pub exact_copies: usize,
    /// [`Fate::NearCopy`]
    pub near_copies: usize,
    /// [`Fate::Redirect`]
    pub redirects: usize,
    /// [`Fate::Missing`]
    pub missing: usize,
    /// [`Fate::Untouchable`]; those listed, for the calendar has no end.
    pub untouchable: usize,
}

impl Default for ToyWeb {
    fn default() -> Self {
        Self::new()
    }
}

impl ToyWeb {
    /// The web, always the same.
    #[must_use]
    pub fn new() -> Self {
        let mut draft = Draft {
            pages: BTreeMap::new(),
            truth: Vec::new(),
        };
        pages::original_and_mirror(&mut draft);
        pages::manual(&mut draft);
        pages::library(&mut draft);
        charsets::add(&mut draft);
        Self {
            pages: Arc::new(draft.pages),
            truth: draft.truth,
        }
    }

    /// The host names.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        HOSTS.map(str::to_owned).to_vec()
    }

    /// Returns the seeds of a crawl of the whole web: a page of each host.
    #[must_use]
    pub fn seeds(&self, port: u16) -> Vec<String> {
        let first = [
            "original.test/",
            "mirror.test/notice.html",
            "manual.test/",
            "library.test/",
        ];
        first.map(|page| self.url(page, port)).to_vec()
    }

    /// The URL of a page that is named as in [`Truth::page`].
    #[must_use]
    pub fn url(&self, page: &str, port: u16) -> String {
        let (host, path) = page.split_once('/').unwrap_or((page, ""));
        format!("http://{host}:{port}/{path}")
    }

    /// The web as a site.
    #[must_use]
    pub fn site(&self) -> Site {
        let pages = Arc::clone(&self.pages);
        Site::new(move |request| {
            let name = format!("{}{}", request.host, request.target);
            let found = pages.get(&name).cloned().or_else(|| pages::calendar(&name));
            let mut reply = found.unwrap_or_else(|| Reply::status(404));
            reply.body = with_port(&reply.body, request.port.unwrap_or(80)).into();
            reply
        })
    }

    /// Returns the fate of each page.
    #[must_use]
    pub fn truth(&self) -> &[Truth] {
        &self.truth
    }

    /// Returns the fate of one page; `None` if it is not listed.
    #[must_use]
    pub fn fate(&self, page: &str) -> Option<&Fate> {
        self.truth
            .iter()
            .find(|truth| truth.page == page)
            .map(|truth| &truth.fate)
    }

    /// The pages in charsets other than plain UTF-8.
    #[must_use]
    pub fn charset_pages(&self) -> &'static [CharsetPage] {
        charsets::PAGES
    }

    /// Counts the pages with each fate.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for truth in &self.truth {
            *match truth.fate {
                Fate::Unique => &mut tally.unique,
                Fate::File => &mut tally.files,
                Fate::ExactCopy(_) => &mut tally.exact_copies,
                Fate::NearCopy(_) => &mut tally.near_copies,
                Fate::Redirect(_) => &mut tally.redirects,
                Fate::Missing => &mut tally.missing,
                Fate::Untouchable(_) => &mut tally.untouchable,
            } += 1;
        }
        tally
    }

    /// Returns the faults of a complete crawl as the server saw it, a sentence each: pages that
    /// were not requested, requested twice, or requested and not allowed. `robots.txt`,
    /// `sitemap.xml` and the like do not count.
    #[must_use]
    pub fn faults(&self, log: &Log) -> Vec<String> {
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        for hit in log {
            *asked
                .entry(format!("{}{}", hit.host, hit.target))
                .or_default() += 1;
        }
        let mut faults = Vec::new();
        for Truth { page, fate } in &self.truth {
            match (asked.remove(page).unwrap_or(0), fate) {
                (0, Fate::Untouchable(_)) => {}
                (_, Fate::Untouchable(reason)) => {
                    faults.push(format!("{page} was asked for ({reason:?})"));
                }
                (1, _) => {}
                (0, _) => faults.push(format!("{page} was not asked for")),
                (times, _) => faults.push(format!("{page} was asked for {times} times")),
            }
        }
        const ASIDE: [&str; 4] = [
            "/robots.txt",
            "/sitemap.xml",
            "/favicon.ico",
            "/.well-known/",
        ];
        asked.retain(|page, _| {
            !HOSTS.iter().any(|host| {
                page.strip_prefix(host)
                    .is_some_and(|target| ASIDE.iter().any(|aside| target.starts_with(aside)))
            })
        });
        faults.extend(
            asked
                .into_keys()
                .map(|page| format!("{page} was asked for and is not linked")),
        );
        faults
    }
}

fn with_port(body: &[u8], port: u16) -> Vec<u8> {
    let mut rest = body;
    let mut done = Vec::with_capacity(body.len());
    while let Some(place) = rest.windows(PORT.len()).position(|window| window == PORT) {
        done.extend_from_slice(&rest[..place]);
        done.extend_from_slice(port.to_string().as_bytes());
        rest = &rest[place + PORT.len()..];
    }
    done.extend_from_slice(rest);
    done
}

#[cfg(test)]
mod tests;
