//! The name of a pattern.

use std::fmt;

use serde::{Deserialize, Serialize};
use web::{Host, UrlPattern};

/// A pattern of a host: `a.test/forum/{n}?page`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatternName {
    /// The host.
    pub host: Host,
    /// The pattern below that host.
    pub pattern: UrlPattern,
}

impl PatternName {
    /// Parses a name as it is printed; returns `None` if it lacks a path.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (host, pattern) = text.split_at(text.find('/')?);
        (!host.is_empty()).then(|| Self {
            host: Host::new(host),
            pattern: UrlPattern::from_text(pattern),
        })
    }
}

impl fmt::Display for PatternName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.host, self.pattern.as_str())
    }
}
