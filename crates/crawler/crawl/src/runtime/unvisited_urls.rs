//! Counts of URLs that are linked but not visited.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use journal::ReasonKind;
use web::UrlKey;

/// Maximum number of URLs per kind that are counted. A full set takes 2 MB.
const MAX_URLS: usize = 100_000;

/// A count of different URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DistinctUrls {
    /// The number of different URLs.
    pub urls: u64,
    /// True if there may be more, because the count has reached its bound.
    pub at_least: bool,
}

/// The URLs of links that were not followed in this session, by kind.
#[derive(Debug)]
pub(crate) struct UnvisitedUrls {
    kinds: [Mutex<HashSet<UrlKey>>; ReasonKind::ALL.len()],
    most: usize,
}

impl Default for UnvisitedUrls {
    fn default() -> Self {
        Self {
            kinds: Default::default(),
            most: MAX_URLS,
        }
    }
}

impl UnvisitedUrls {
    /// Adds the URLs of one page.
    pub(crate) fn add(&self, urls: &[(ReasonKind, UrlKey)]) {
        for kind in ReasonKind::ALL {
            let mut new = urls.iter().filter(|(of, _)| *of == kind).peekable();
            if new.peek().is_none() {
                continue;
            }
            let mut known = self.kinds[kind as usize]
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            for (_, url) in new {
                if known.len() < self.most {
                    known.insert(*url);
                }
            }
        }
    }

    /// Counts the URLs of this kind.
    pub(crate) fn count(&self, kind: ReasonKind) -> DistinctUrls {
        let known = self.kinds[kind as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        DistinctUrls {
            urls: known.len() as u64,
            at_least: known.len() >= self.most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_counted_once_and_only_up_to_the_bound() {
        let unvisited = UnvisitedUrls {
            most: 3,
            ..UnvisitedUrls::default()
        };
        let urls = |keys: &[u64], kind| -> Vec<(ReasonKind, UrlKey)> {
            keys.iter()
                .map(|key| (kind, UrlKey::from_u64(*key)))
                .collect()
        };
        let count = |urls, at_least| DistinctUrls { urls, at_least };
        unvisited.add(&urls(&[1, 2, 2, 1], ReasonKind::Scope));
        unvisited.add(&urls(&[2], ReasonKind::Trap));
        assert_eq!(unvisited.count(ReasonKind::Scope), count(2, false));
        assert_eq!(unvisited.count(ReasonKind::Trap), count(1, false));
        unvisited.add(&urls(&[2, 3, 4, 5], ReasonKind::Scope));
        assert_eq!(unvisited.count(ReasonKind::Scope), count(3, true));
        assert_eq!(unvisited.count(ReasonKind::Limit), count(0, false));
    }
}
