//! URLs of links that are not followed: their number, and the rule that keeps each one out.
//!
//! A link that is left out is not remembered one by one in the journal, because there can be any
//! number of them. While a crawl runs their URLs are counted, each once up to a bound; afterwards
//! the archived pages are read again and judged by the same rules.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use store::SkippedBy;
use web::{Document, Link, LinkKind, PageUrl, Scope, UrlKey};

use crate::{Counts, Policy};

/// URLs of a kind that are told apart; further ones are not counted. A set of so many takes 2 MB.
const MOST: usize = 100_000;

/// A count of different URLs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distinct {
    /// The number of those that were told apart.
    pub urls: u64,
    /// There may be more: so many were told apart as can be.
    pub at_least: bool,
}

/// The URLs of links that were not followed in this session, by kind.
#[derive(Debug)]
pub(crate) struct Unvisited {
    kinds: [Mutex<HashSet<UrlKey>>; SkippedBy::ALL.len()],
    most: usize,
}

impl Default for Unvisited {
    fn default() -> Self {
        Self {
            kinds: Default::default(),
            most: MOST,
        }
    }
}

impl Unvisited {
    /// Adds the URLs of one page.
    pub(crate) fn add(&self, urls: &[(SkippedBy, UrlKey)]) {
        for kind in SkippedBy::ALL {
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
    pub(crate) fn count(&self, kind: SkippedBy) -> Distinct {
        let known = self.kinds[kind as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Distinct {
            urls: known.len() as u64,
            at_least: known.len() >= self.most,
        }
    }
}

/// The links of a page as they are sorted.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) counts: Counts,
    /// Pages that are not visited for the sake of this link.
    pub(crate) unvisited: Vec<(SkippedBy, UrlKey)>,
}

impl Sorted {
    /// Counts a link that leads out of the scope.
    pub(crate) fn out_of_scope(&mut self, url: &PageUrl) {
        self.counts.links_out_of_scope += 1;
        self.unvisited.push((SkippedBy::Scope, url.key()));
    }

    /// Counts a link that is too far from a seed.
    pub(crate) fn too_deep(&mut self, url: &PageUrl) {
        self.counts.links_too_deep += 1;
        self.unvisited.push((SkippedBy::Limit, url.key()));
    }

    /// Counts what a host lists beyond what one host may.
    pub(crate) fn too_many(&mut self, url: &PageUrl) {
        self.counts.links_too_many += 1;
        self.unvisited.push((SkippedBy::Limit, url.key()));
    }

    /// Counts a link that was taken for a trap.
    pub(crate) fn trap(&mut self, url: &PageUrl) {
        self.counts.links_to_traps += 1;
        self.unvisited.push((SkippedBy::Trap, url.key()));
    }
}

/// Returns the rule that keeps a link of a page out of the queue, with the reason; none where no
/// rule does, and for what is no link to a page. `depth` is that of the page.
#[must_use]
pub fn why_unvisited(
    policy: &Policy,
    scope: &Scope,
    page: &PageUrl,
    depth: u32,
    document: &Document,
    link: &Link,
) -> Option<(SkippedBy, String)> {
    if link.kind == LinkKind::Requisite {
        return None;
    }
    if let Err(out_of_scope) = scope.judge(&link.url) {
        return Some((SkippedBy::Scope, out_of_scope.to_string()));
    }
    if let Some(trap) = policy
        .traps
        .as_ref()
        .and_then(|rules| rules.judge(&link.url, Some(page)))
    {
        return Some((SkippedBy::Trap, trap.to_string()));
    }
    if document.directives.nofollow && !policy.ignore_robots {
        let reason = "its page asks not to follow its links (robots: nofollow)";
        return Some((SkippedBy::Page, reason.to_owned()));
    }
    if link.relations.has_any_of(policy.skip_relations) {
        let reason = format!("its page asks not to follow this link (rel={})", link.rel);
        return Some((SkippedBy::Page, reason));
    }
    let max = policy.max_depth.filter(|max| depth >= *max)?;
    Some((
        SkippedBy::Limit,
        format!("it is {} links from a seed (--max-depth {max})", depth + 1),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_counted_once_and_beyond_the_bound_not_at_all() {
        let unvisited = Unvisited {
            most: 3,
            ..Unvisited::default()
        };
        let urls = |keys: &[u64], kind| -> Vec<(SkippedBy, UrlKey)> {
            keys.iter()
                .map(|key| (kind, UrlKey::from_u64(*key)))
                .collect()
        };
        let count = |urls, at_least| Distinct { urls, at_least };
        unvisited.add(&urls(&[1, 2, 2, 1], SkippedBy::Scope));
        unvisited.add(&urls(&[2], SkippedBy::Trap));
        assert_eq!(unvisited.count(SkippedBy::Scope), count(2, false));
        assert_eq!(unvisited.count(SkippedBy::Trap), count(1, false));
        unvisited.add(&urls(&[2, 3, 4, 5], SkippedBy::Scope));
        assert_eq!(unvisited.count(SkippedBy::Scope), count(3, true));
        assert_eq!(unvisited.count(SkippedBy::Limit), count(0, false));
    }
}
