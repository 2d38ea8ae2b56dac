//! The seam behind which likeness is remembered.

use async_trait::async_trait;
use neardup::{Likeness, Portrait};
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use crate::StoreFault;

/// A page that asks to be admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// As it was queued: this names the page.
    pub url: PageUrl,
    /// Where its text was found, after redirects.
    pub final_url: PageUrl,
    /// When it was asked for.
    pub at: Timestamp,
}

impl Page {
    /// The page's name in the tables.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        self.url.key()
    }
}

/// The page that an admitted page turned out to repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    /// The page that was admitted first.
    pub page: Page,
    /// In what the two are alike.
    pub likeness: Likeness,
}

/// What `admit` decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing like it was known; from now on it is.
    Unique,
    /// This very page was admitted before, by a visit that did not end: it is still new.
    Own,
    /// It repeats an earlier page.
    Duplicate(Box<Original>),
}

/// Which pages were admitted, and what they looked like.
#[async_trait]
pub trait NearDupIndex: Send + Sync {
    /// Decides whether a page is new, and remembers it if so: one step, so that of any number of like pages
    /// that are admitted at the same time exactly one is [`Verdict::Unique`].
    ///
    /// - Idempotent: the same URL again is [`Verdict::Own`], whatever it looks like now; a page is never its own duplicate.
    /// - Only unique pages are remembered: a duplicate points at an original, never at another duplicate.
    /// - [`Verdict::Duplicate`] is given only once the original's own admission is durable.
    async fn admit(&self, page: &Page, portrait: &Portrait) -> Result<Verdict, StoreFault>;

    /// Takes an admission back, because the page could not be had after all. Unknown pages are no error.
    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault>;
}
