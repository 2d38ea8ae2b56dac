//! The statements of a page about itself, as values.

use crate::html::page_date::PageDate;

/// Statements of a page about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageFields {
    /// Its authors, separated by `; `.
    pub author: Option<String>,
    /// The day when it was published.
    pub published: Option<PageDate>,
    /// The day of its last change.
    pub modified: Option<PageDate>,
    /// Its summary.
    pub description: Option<String>,
    /// The name of its site.
    pub site: Option<String>,
    /// The URL of its main picture.
    pub image: Option<String>,
    /// Its type: a name of schema.org (`NewsArticle`), else of Open Graph (`article`).
    pub kind: Option<String>,
    /// The URL of its licence, else the name.
    pub license: Option<String>,
    /// Its keywords, separated by `; `.
    pub tags: Option<String>,
}
