//! The rule that leaves out a link of a page.
//!
//! The journal does not record excluded links one by one, because their number is unlimited. So
//! archived pages are read again and judged by the rules of the crawl.

use journal::{ReasonKind, VisitRecord};
use web::{Document, Link, LinkKind, PageUrl, Scope};

use crate::off_scope::links_off_scope;
use crate::policy::Policy;

/// A visited page whose links are judged.
#[derive(Clone, Copy, Debug)]
pub struct LinkingPage<'a> {
    /// Its final URL.
    pub url: &'a PageUrl,
    /// Its number of links from a seed.
    pub depth: u32,
    /// Its number of links off the scope.
    pub off_scope: u8,
}

impl<'a> LinkingPage<'a> {
    /// Returns the page of a visit.
    #[must_use]
    pub fn of(visit: &'a VisitRecord, scope: &Scope) -> Self {
        let url = visit.final_url.as_ref().unwrap_or(&visit.url);
        Self {
            url,
            depth: visit.depth,
            off_scope: links_off_scope(scope, visit.details.off_scope, url),
        }
    }
}

/// Returns the rule that leaves out a link of a page, with the reason; `None` if no rule does, and
/// for page requisites.
#[must_use]
pub fn why_unvisited(
    policy: &Policy,
    scope: &Scope,
    page: LinkingPage<'_>,
    document: &Document,
    link: &Link,
) -> Option<(ReasonKind, String)> {
    if link.kind == LinkKind::Requisite {
        return None;
    }
    if let Err(out_of_scope) = policy.hop(scope, page.off_scope, &link.url) {
        return Some((ReasonKind::Scope, out_of_scope.to_string()));
    }
    if let Some(trap) = policy.trap(page.url, &link.url) {
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
    let depth = page.depth + 1;
    let max = policy.depth.of(&link.url).filter(|max| depth > *max)?;
    let rule = match policy.depth.of_prefixes.get(&link.url) {
        Some(_) => format!("max-depth {max} of its [prefix] table"),
        None => format!("--max-depth {max}"),
    };
    let plural = if depth == 1 { "" } else { "s" };
    let reason = format!("it is {depth} link{plural} from a seed ({rule})");
    Some((ReasonKind::Limit, reason))
}
