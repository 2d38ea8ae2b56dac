//! Rules by which a page was found to repeat another.
//!
//! Journals of formats before 8 have no field for the rule, nor has the record of a revocation. The
//! rule is recognised there by the words of the reason, which are constants of this module; the
//! crawl writes the reasons with them, and a test holds the two together.

use serde::{Deserialize, Serialize};

use crate::visit_record::{Fate, VisitRecord};

/// The beginning of the reason of a page with the bytes of another.
pub const SAME_BYTES: &str = "the same bytes";
/// The beginning of the reason of a page with the text of another.
pub const SAME_TEXT: &str = "the same text";
/// The end of the clause in the reason of a page that is near enough only to the page that it calls
/// canonical.
pub const OF_CANONICAL: &str = " that it calls canonical";

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
}

impl DuplicateRule {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::SameBytes,
        Self::SameText,
        Self::Near,
        Self::ByCanonical,
    ];

    /// Returns the word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SameBytes => "same-bytes",
            Self::SameText => "same-text",
            Self::Near => "near",
            Self::ByCanonical => "by-canonical",
        }
    }

    /// Returns the rule by which a visit's page repeats another; none if it repeats none.
    #[must_use]
    pub fn of(row: &VisitRecord) -> Option<Self> {
        row.details.rule.or_else(|| Self::of_reason(row))
    }

    /// Returns the rule that the reason of a record without details begins with.
    fn of_reason(row: &VisitRecord) -> Option<Self> {
        let reason = row.reason.as_deref().unwrap_or_default();
        match row.fate {
            Fate::ExactDuplicate if reason.starts_with(SAME_TEXT) => Some(Self::SameText),
            Fate::ExactDuplicate => Some(Self::SameBytes),
            Fate::NearDuplicate if reason.contains(OF_CANONICAL) => Some(Self::ByCanonical),
            Fate::NearDuplicate => Some(Self::Near),
            Fate::Unique | Fate::Changed | Fate::Failed | Fate::Excluded => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;
    use crate::discovered_url::DiscoveredUrl;

    #[test]
    fn a_rule_is_recognised_by_the_fate_and_the_reason() {
        let url = PageUrl::parse("http://a.test/1", &CanonicalForm::default()).unwrap();
        for (fate, reason, rule) in [
            (
                Fate::ExactDuplicate,
                "the same bytes; let through: 2 of 3 of its kind",
                Some(DuplicateRule::SameBytes),
            ),
            (
                Fate::ExactDuplicate,
                "not modified since 2026-11-23; it repeats itself in an earlier crawl",
                Some(DuplicateRule::SameBytes),
            ),
            (
                Fate::ExactDuplicate,
                "the same text; the original is in an earlier crawl",
                Some(DuplicateRule::SameText),
            ),
            (
                Fate::NearDuplicate,
                "resemblance 0.91, 2 bits apart",
                Some(DuplicateRule::Near),
            ),
            (
                Fate::NearDuplicate,
                "resemblance 0.75 with the page that it calls canonical, 9 bits apart",
                Some(DuplicateRule::ByCanonical),
            ),
            (Fate::Unique, "the same bytes", None),
            (Fate::Changed, "other bytes; the same text", None),
        ] {
            let found = DiscoveredUrl::new(url.clone(), 0, None);
            let mut row = VisitRecord::new(found, fate, Timestamp::default());
            row.reason = Some(reason.to_owned());
            assert_eq!(DuplicateRule::of(&row), rule, "{reason}");
        }
    }
}
