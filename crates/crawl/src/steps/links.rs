//! Link discovery: the links of a page that are queued as pages or as requisites.

use std::sync::Arc;

use store::{DiscoveredUrl, Lease, LeftOut, StoreFault};
use web::{Document, Exchange, Link, LinkKind, PageUrl, Scope, Trap};

use crate::context::CrawlContext;
use crate::policy::Policy;
use crate::steps::admission::Admission;
use crate::steps::listings;
use crate::steps::reading::Reading;
use crate::steps::requisites::Requisites;
use crate::steps::unvisited::LinkTally;

/// The links of a page that lead further.
#[derive(Debug, Default)]
pub(crate) struct Outlinks {
    /// The links to visit: the canonical page, then the others in the order of the page.
    pub(crate) discovered: Vec<DiscoveredUrl>,
    /// The links that were left out as traps.
    pub(crate) left_out: Vec<LeftOut>,
}

/// Returns the links of a page to visit, in order; the frontier drops those it knows. Queues the
/// entries of a sitemap or feed at once.
pub(crate) async fn discover(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    reading: &Reading,
    admission: &Admission,
) -> Result<Outlinks, StoreFault> {
    let Some(document) = &reading.document else {
        return Ok(Outlinks::default());
    };
    let mut tally = LinkTally::default();
    tally.counts.links_found = document.links.len() as u64;
    let following = admission.following;
    let rules = FollowRules {
        pages: following.leads_on(),
        requisites: admission.is_shown,
    };
    let mut outlinks = Outlinks::default();
    if rules.pages || rules.requisites {
        let scope = context.scope();
        let (policy, find) = (&context.policy, lease.discovered().clone());
        outlinks = to_visit(
            policy, &scope, &find, &page.url, document, rules, &mut tally,
        );
        outlinks.discovered = following.queued(outlinks.discovered);
    }
    if let Some(kind) = reading.listing.filter(|_| rules.pages) {
        listings::discover(context, lease, page, kind, following, &mut tally).await?;
    }
    if !rules.pages {
        let counts = &mut tally.counts;
        counts.links_nofollow = counts
            .links_found
            .saturating_sub(outlinks.discovered.len() as u64);
    }
    context.telemetry.add(&tally.counts);
    context.telemetry.add_unvisited(&tally.unvisited);
    Ok(outlinks)
}

/// The links of a page that may be queued.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowRules {
    /// True if links to pages are queued.
    pub(crate) pages: bool,
    /// True if requisites are queued.
    pub(crate) requisites: bool,
}

/// The decision about a link.
#[derive(Clone, Copy, Debug)]
enum LinkDecision {
    Page,
    Requisite,
    NotFollowed,
    NoFollow,
    TooDeep,
    OutOfScope,
}

/// Returns the links to visit of a document at `page`, which was queued as `from`.
pub(crate) fn to_visit(
    policy: &Policy,
    scope: &Scope,
    from: &DiscoveredUrl,
    page: &PageUrl,
    document: &Document,
    rules: FollowRules,
    tally: &mut LinkTally,
) -> Outlinks {
    let mut outlinks = Outlinks::default();
    let mut requisites = 0;
    for link in &document.links {
        let steps = match decide(policy, scope, from, link, rules) {
            LinkDecision::Page => 0,
            LinkDecision::Requisite => from.requisite + 1,
            out => {
                count(out, link, tally);
                continue;
            }
        };
        requisites += usize::from(steps > 0);
        let rule = if requisites > Requisites::MOST_PER_PAGE && steps > 0 {
            Some(Requisites::RULE)
        } else {
            trap(policy, page, &link.url).map(Trap::as_str)
        };
        if let Some(rule) = rule {
            if steps == 0 {
                tally.trap(&link.url);
            } else {
                tally.counts.links_to_traps += 1;
            }
            leave_out(&mut outlinks.left_out, rule, &link.url);
            continue;
        }
        let find = DiscoveredUrl::new(link.url.clone(), from.depth + 1, Some(page.clone()));
        outlinks.discovered.push(find.needed(steps));
    }
    // Its copies are recognized by the canonical page, once that is visited.
    let canonical = document.canonical.as_ref();
    if let Some(place) = outlinks
        .discovered
        .iter()
        .position(|find| Some(&find.url) == canonical)
    {
        outlinks.discovered[..=place].rotate_right(1);
    }
    outlinks
}

/// Decides about a link. A needed link is a requisite, whatever else it is. Frames are requisites
/// if requisites are fetched, and pages otherwise.
fn decide(
    policy: &Policy,
    scope: &Scope,
    from: &DiscoveredUrl,
    link: &Link,
    rules: FollowRules,
) -> LinkDecision {
    let is_part = link.is_needed
        && rules.requisites
        && from.requisite < Requisites::MOST_STEPS
        && policy.page_requisites.let_in(scope, &link.url);
    if is_part {
        LinkDecision::Requisite
    } else if link.kind == LinkKind::Requisite {
        LinkDecision::OutOfScope
    } else if !rules.pages {
        LinkDecision::NotFollowed
    } else if link.relations.has_any_of(policy.skip_relations) {
        LinkDecision::NoFollow
    } else if policy.max_depth.is_some_and(|max| from.depth >= max) {
        LinkDecision::TooDeep
    } else if scope.judge(&link.url).is_err() {
        LinkDecision::OutOfScope
    } else {
        LinkDecision::Page
    }
}

fn count(decision: LinkDecision, link: &Link, tally: &mut LinkTally) {
    match decision {
        LinkDecision::TooDeep => tally.too_deep(&link.url),
        // Requisites are no pages.
        LinkDecision::OutOfScope if link.kind == LinkKind::Requisite => {
            tally.counts.links_out_of_scope += 1;
        }
        LinkDecision::OutOfScope => tally.out_of_scope(&link.url),
        // Pages whose links are not followed are counted with the page.
        LinkDecision::NoFollow
        | LinkDecision::NotFollowed
        | LinkDecision::Page
        | LinkDecision::Requisite => tally.counts.links_nofollow += 1,
    }
}

fn trap(policy: &Policy, page: &PageUrl, link: &PageUrl) -> Option<Trap> {
    policy.traps.as_ref()?.judge(link, Some(page))
}

/// Counts a link that is left out, with the others of its rule.
fn leave_out(left_out: &mut Vec<LeftOut>, rule: &str, link: &PageUrl) {
    if let Some(group) = left_out.iter_mut().find(|group| group.rule == rule) {
        group.links += 1;
        return;
    }
    left_out.push(LeftOut {
        rule: rule.to_owned(),
        links: 1,
        example: link.clone(),
    });
}
