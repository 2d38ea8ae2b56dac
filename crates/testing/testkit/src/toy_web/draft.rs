//! The demonstration web while it is written: pages, and what becomes of each.

use std::collections::BTreeMap;

use crate::http::Reply;

/// The fate of a page in a crawl of [`ToyWeb::seeds`](super::ToyWeb::seeds) with the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Host name and target, such as `library.test/calendar?month=2024-05`.
    pub page: String,
    /// Its fate.
    pub fate: Fate,
}

/// The fate of a page; other pages are named as in [`Truth::page`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It says what no other page says, and is kept.
    Unique,
    /// It is no HTML, and is kept.
    File,
    /// It equals this page byte for byte, and is left out with its links.
    ExactCopy(String),
    /// It differs from this page in a date, a counter or the name of a month, and is left out with
    /// its links.
    NearCopy(String),
    /// It redirects to this page.
    Redirect(String),
    /// It is not there: 404.
    Missing,
    /// It must never be asked for.
    Untouchable(Reason),
}

/// A reason for which a page must never be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `robots.txt` disallows it.
    Robots,
    /// All links to it say nofollow, in the link, the page or its header.
    Nofollow,
    /// Only pages that are not archived link to it.
    BehindCopy,
    /// No link leads there once `<base>` is taken into account.
    WrongBase,
}

/// The web while it is written.
pub(super) struct Draft {
    pub(super) pages: BTreeMap<String, Reply>,
    pub(super) truth: Vec<Truth>,
}

impl Draft {
    pub(super) fn add(&mut self, page: impl Into<String>, reply: Reply, fate: Fate) {
        let page = page.into();
        self.pages.insert(page.clone(), reply);
        self.truth.push(Truth { page, fate });
    }

    /// Something that is no page of the crawl, such as `robots.txt`.
    pub(super) fn add_aside(&mut self, page: &str, reply: Reply) {
        self.pages.insert(page.into(), reply);
    }
}
