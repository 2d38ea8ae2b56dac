//! Pages, as the index of signatures names them.

use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

/// A page to be admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Its URL as it was queued, which identifies the page.
    pub url: PageUrl,
    /// The URL of its text, after redirects.
    pub final_url: PageUrl,
    /// The time of the request.
    pub at: Timestamp,
}

impl Page {
    /// Returns the key of its URL, its name in the tables.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        self.url.key()
    }
}
