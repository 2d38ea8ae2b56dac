//! The name of a pattern, and the reasons that contain it.

use std::fmt;

use serde::{Deserialize, Serialize};
use web::{Host, UrlPattern};

use crate::visit_record::{Fate, VisitRecord};

/// A pattern of a host: `a.test/forum/{n}?page`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatternName {
    /// The host.
    pub host: Host,
    /// The pattern below it.
    pub pattern: UrlPattern,
}

impl PatternName {
    /// Parses a name as it is printed; returns none if it has no path.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (host, pattern) = text.split_at(text.find('/')?);
        (!host.is_empty()).then(|| Self {
            host: Host::new(host),
            pattern: UrlPattern::from_text(pattern),
        })
    }

    /// Returns the pattern that left out the URL of a visit record.
    #[must_use]
    pub fn that_left_out(row: &VisitRecord) -> Option<Self> {
        let reason = row.reason.as_deref();
        let reason = reason.filter(|_| row.fate == Fate::Excluded)?;
        let prefixes = [CLOSED, SPENT, OF_DUPLICATES];
        let rest = prefixes
            .iter()
            .find_map(|prefix| reason.strip_prefix(prefix))?;
        Self::from_text(rest.split_once(": ")?.0)
    }
}

impl fmt::Display for PatternName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.host, self.pattern.as_str())
    }
}

/// Prefixes of the reasons for URLs left out. Patterns have no spaces, so the rest can be parsed.
pub(crate) const CLOSED: &str = "pattern closed: ";
pub(crate) const SPENT: &str = "pattern budget: ";
pub(crate) const OF_DUPLICATES: &str = "links of duplicates: ";
