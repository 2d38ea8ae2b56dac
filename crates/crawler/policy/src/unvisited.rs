//! The rule that leaves out a link of a page.
//!
//! The journal does not record excluded links one by one, because their number is unlimited. So
//! archived pages are read again and judged by the rules of the crawl.

use journal::ReasonKind;
use web::{Document, Link, LinkKind, PageUrl, Scope};

use crate::policy::Policy;

/// Returns the rule that leaves out a link of a page, with the reason; `None` if no rule does, and
/// for page requisites. `depth` is the page's depth.
#[must_use]
pub fn why_unvisited(
    policy: &Policy,
    scope: &Scope,
    page: &PageUrl,
    depth: u32,
    document: &Document,
    link: &Link,
) -> Option<(ReasonKind, String)> {
    if link.kind == LinkKind::Requisite {
        return None;
    }
    if let Err(out_of_scope) = scope.judge(&link.url) {
        return Some((ReasonKind::Scope, out_of_scope.to_string()));
    }
    if let Some(trap) = policy.trap(page, &link.url) {
        return Some((ReasonKind::Trap, trap.to_string()));
    }
    if document.directives.nofollow && !policy.ignore_robots {
        let reason = "its page asks not to follow its links (robots: nofollow)";
        return Some((ReasonKind::Page, reason.to_owned()));
    }
    if link.relations.has_any_of(policy.skip_relations) {
        let reason = format!(
            "its page asks not to follow this link (rel={})",
            link.relations
        );
        return Some((ReasonKind::Page, reason));
    }
    let max = policy.max_depth.filter(|max| depth >= *max)?;
    Some((
        ReasonKind::Limit,
        format!("it is {} links from a seed (--max-depth {max})", depth + 1),
    ))
}
