//! URLs of links that are not followed: their number, and the rule that keeps each one out.
//!
//! A link that is left out is not remembered one by one in the journal, because there can be any
//! number of them. While a crawl runs their URLs are counted, each once up to a bound; afterwards
//! the archived pages are read again and judged by the same rules.

use store::SkippedBy;
use web::{Document, Link, LinkKind, PageUrl, Scope, UrlKey};

use crate::policy::Policy;
use crate::runtime::telemetry::Counts;

/// The links of a page as they are sorted.
#[derive(Debug, Default)]
pub(crate) struct LinkTally {
    pub(crate) counts: Counts,
    /// Pages that are not visited for the sake of this link.
    pub(crate) unvisited: Vec<(SkippedBy, UrlKey)>,
}

impl LinkTally {
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
