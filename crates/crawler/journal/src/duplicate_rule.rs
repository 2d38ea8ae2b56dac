//! The rules that find a page to be a duplicate of another.
//!
//! A visit record has the rule as a field; its reason says the same for people. The words that such
//! reasons have in common are constants of this module.

use serde::{Deserialize, Serialize};

/// Start of the reason of a page with the same bytes as another.
pub const SAME_BYTES: &str = "the same bytes";
/// Start of the reason of a page with the same text as another.
pub const SAME_TEXT: &str = "the same text";
/// End of the clause in the reason of a page that is near enough only to the page that it calls
/// canonical.
pub const OF_CANONICAL: &str = " that it calls canonical";

/// Start of the reason of a page whose content is part of another's.
pub const CONTAINED_IN: &str = "all of its content is in";
/// Start of the reason of a page without any significant difference from another.
pub const SAME_CONTENT: &str = "the same content as";

/// The rule that found a page to be a duplicate of another. The order is on disk (postcard).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DuplicateRule {
    /// The same bytes, or not modified since an earlier crawl according to the server.
    SameBytes,
    /// The same text in other bytes.
    SameText,
    /// Nearly the same text.
    Near,
    /// Near enough only to the page that it calls canonical.
    ByCanonical,
    /// The same content by a comparison of the texts.
    SameContent,
}

impl DuplicateRule {
    /// All rules.
    pub const ALL: [Self; 5] = [
        Self::SameBytes,
        Self::SameText,
        Self::Near,
        Self::ByCanonical,
        Self::SameContent,
    ];
}
