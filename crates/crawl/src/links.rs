//! Which links of a page are queued: those that lead on, and those that it needs to be shown.

use std::sync::Arc;

use store::{DiscoveredUrl, Lease, LeftOut, StoreFault};
use web::{Document, Exchange, Link, LinkKind, PageUrl, Scope, Trap};

use crate::admission::Judgement;
use crate::reading::Reading;
use crate::unvisited::Sorted;
use crate::{CrawlContext, Policy, Requisites, listings};

/// Where a page leads on to.
#[derive(Debug, Default)]
pub(crate) struct Outlinks {
    /// The links that are to be visited: the canonical page, then the others in the order of the
    /// page.
    pub(crate) finds: Vec<DiscoveredUrl>,
    /// Those that were taken for traps.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The links of a page that are to be visited, in that order. The frontier drops those it knows.
/// What a sitemap or feed lists is queued here and now.
pub(crate) async fn discover(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    reading: &Reading,
    judgement: &Judgement,
) -> Result<Outlinks, StoreFault> {
    let Some(document) = &reading.document else {
        return Ok(Outlinks::default());
    };
    let mut sorted = Sorted::default();
    sorted.counts.links_found = document.links.len() as u64;
    let following = judgement.following;
    let leads = FollowRules {
        on: following.leads_on(),
        to_requisites: judgement.is_shown,
    };
    let mut ways = Outlinks::default();
    if leads.on || leads.to_requisites {
        let scope = context
            .scope
            .read()
            .expect("no panic can happen while the scope is locked");
        let (policy, find) = (&context.policy, lease.discovered());
        ways = to_visit(
            policy,
            &scope,
            find,
            &page.url,
            document,
            leads,
            &mut sorted,
        );
        ways.finds = following.queued(ways.finds);
    }
    if let Some(kind) = reading.listing.filter(|_| leads.on) {
        listings::discover(context, lease, page, kind, following, &mut sorted).await?;
    }
    if !leads.on {
        let counts = &mut sorted.counts;
        counts.links_nofollow = counts.links_found.saturating_sub(ways.finds.len() as u64);
    }
    context.telemetry.add(&sorted.counts);
    context.telemetry.add_unvisited(&sorted.unvisited);
    Ok(ways)
}

/// What the links of a page are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowRules {
    /// They lead to more pages.
    pub(crate) on: bool,
    /// What the page needs is fetched with it.
    pub(crate) to_requisites: bool,
}

/// What a link comes to.
#[derive(Clone, Copy, Debug)]
enum Way {
    Page,
    Requisite,
    NotFollowed,
    NoFollow,
    TooDeep,
    OutOfScope,
}

/// The links that are to be visited of a page that was found so (`from`) and is at `page`.
pub(crate) fn to_visit(
    policy: &Policy,
    scope: &Scope,
    from: &DiscoveredUrl,
    page: &PageUrl,
    document: &Document,
    leads: FollowRules,
    sorted: &mut Sorted,
) -> Outlinks {
    let mut ways = Outlinks::default();
    let mut requisites = 0;
    for link in &document.links {
        let steps = match way(policy, scope, from, link, leads) {
            Way::Page => 0,
            Way::Requisite => from.requisite + 1,
            out => {
                count(out, link, sorted);
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
                sorted.trap(&link.url);
            } else {
                sorted.counts.links_to_traps += 1;
            }
            leave_out(&mut ways.left_out, rule, &link.url);
            continue;
        }
        let find = DiscoveredUrl::new(link.url.clone(), from.depth + 1, Some(page.clone()));
        ways.finds.push(find.needed(steps));
    }
    // Once it is there, the copies that name it are told by it.
    let canonical = document.canonical.as_ref();
    if let Some(place) = ways
        .finds
        .iter()
        .position(|find| Some(&find.url) == canonical)
    {
        ways.finds[..=place].rotate_right(1);
    }
    ways
}

/// What is needed is a requisite, wherever else it leads. Frames are pages where requisites are not
/// fetched, and lead on like pages where they are.
fn way(
    policy: &Policy,
    scope: &Scope,
    from: &DiscoveredUrl,
    link: &Link,
    leads: FollowRules,
) -> Way {
    let is_part = link.is_needed
        && leads.to_requisites
        && from.requisite < Requisites::MOST_STEPS
        && policy.page_requisites.let_in(scope, &link.url);
    if is_part {
        Way::Requisite
    } else if link.kind == LinkKind::Requisite {
        Way::OutOfScope
    } else if !leads.on {
        Way::NotFollowed
    } else if link.relations.has_any_of(policy.skip_relations) {
        Way::NoFollow
    } else if policy.max_depth.is_some_and(|max| from.depth >= max) {
        Way::TooDeep
    } else if scope.judge(&link.url).is_err() {
        Way::OutOfScope
    } else {
        Way::Page
    }
}

fn count(way: Way, link: &Link, sorted: &mut Sorted) {
    match way {
        Way::TooDeep => sorted.too_deep(&link.url),
        // Requisites are no pages.
        Way::OutOfScope if link.kind == LinkKind::Requisite => {
            sorted.counts.links_out_of_scope += 1
        }
        Way::OutOfScope => sorted.out_of_scope(&link.url),
        // Whose links are not followed is counted with its page.
        Way::NoFollow | Way::NotFollowed | Way::Page | Way::Requisite => {
            sorted.counts.links_nofollow += 1
        }
    }
}

fn trap(policy: &Policy, page: &PageUrl, link: &PageUrl) -> Option<Trap> {
    policy.traps.as_ref()?.judge(link, Some(page))
}

/// Counts a link that is left out, with the others of its rule.
fn leave_out(left_out: &mut Vec<LeftOut>, rule: &str, link: &PageUrl) {
    if let Some(told) = left_out.iter_mut().find(|told| told.rule == rule) {
        told.links += 1;
        return;
    }
    left_out.push(LeftOut {
        rule: rule.to_owned(),
        links: 1,
        example: link.clone(),
    });
}
