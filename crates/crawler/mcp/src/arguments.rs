//! The arguments of the tools. Their comments are part of the schemas that agents read.

use rmcp::schemars::JsonSchema;
use serde::Deserialize;

/// Entries of a list if the agent does not say how many.
const ENTRIES: usize = 10;

const fn entries() -> usize {
    ENTRIES
}

/// The arguments of a tool without arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct NoArgs {}

/// The arguments of `search`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct SearchArgs {
    /// Words that must all be on a page; "a phrase"; -without; one OR other; title:word;
    /// host:example.org; lang:en; after:2026-01-31; before:2026-02-28
    pub(crate) query: String,
    /// Maximum number of hits, 1 to 100
    #[serde(default = "entries")]
    pub(crate) limit: usize,
    /// Number of hits to skip: next_offset of the answer before
    #[serde(default)]
    pub(crate) offset: usize,
}

/// The arguments of `page`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct PageArgs {
    /// URL of the page, with http:// or https://
    pub(crate) url: String,
    /// Bytes of the text to skip: next_offset of the answer before
    #[serde(default)]
    pub(crate) offset: usize,
}

/// The arguments of `links`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct LinksArgs {
    /// URL of an archived page, with http:// or https://
    pub(crate) url: String,
    /// Maximum number of links, 1 to 100
    #[serde(default = "entries")]
    pub(crate) limit: usize,
    /// Number of links to skip: next_offset of the answer before
    #[serde(default)]
    pub(crate) offset: usize,
}

/// The arguments of `similar`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct SimilarArgs {
    /// URL of an archived page; give either url or text
    #[serde(default)]
    pub(crate) url: Option<String>,
    /// A text to compare with all pages; give either url or text
    #[serde(default)]
    pub(crate) text: Option<String>,
    /// Maximum number of pages, 1 to 100
    #[serde(default = "entries")]
    pub(crate) limit: usize,
    /// Number of pages to skip: next_offset of the answer before
    #[serde(default)]
    pub(crate) offset: usize,
}

/// The arguments of `changes`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "rmcp::schemars")]
pub(crate) struct ChangesArgs {
    /// Only changes of this kind: new, changed, moved, gone, unchanged or unknown
    #[serde(default)]
    pub(crate) change: Option<String>,
    /// Maximum number of changes, 1 to 100
    #[serde(default = "entries")]
    pub(crate) limit: usize,
    /// Number of changes to skip: next_offset of the answer before
    #[serde(default)]
    pub(crate) offset: usize,
}
