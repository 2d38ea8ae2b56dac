//! Rules by which a page was found to repeat another.
//!
//! Journals of formats before 8 have no field for the rule, nor has the record of a revocation. The
//! rule is recognised there by the words of the reason, which are constants of this module; the
//! crawl writes the reasons with them, and a test holds the two together.

use serde::{Deserialize, Serialize};

/// The beginning of the reason of a page with the bytes of another.
pub const SAME_BYTES: &str = "the same bytes";
/// The beginning of the reason of a page with the text of another.
pub const SAME_TEXT: &str = "the same text";
/// The end of the clause in the reason of a page that is near enough only to the page that it calls
/// canonical.
pub const OF_CANONICAL: &str = " that it calls canonical";

/// The beginning of the reason of a page whose content is part of another's.
pub const CONTAINED_IN: &str = "all of its content is in";
/// The beginning of the reason of a page that differs from another in nothing of weight.
pub const SAME_CONTENT: &str = "the same content as";

/// The rule by which a page was found to repeat another. The order is on disk (postcard).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum DuplicateRule {
    /// The same bytes, or not modified since an earlier crawl by the word of the server.
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
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SameBytes,
        Self::SameText,
        Self::Near,
        Self::ByCanonical,
        Self::SameContent,
    ];

    /// Returns the word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameBytes => "same-bytes",
            Self::SameText => "same-text",
            Self::Near => "near",
            Self::ByCanonical => "by-canonical",
            Self::SameContent => "same-content",
        }
    }
}
