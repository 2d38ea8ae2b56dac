//! Which links of a page are queued: those that lead on, and those that it needs to be shown.

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

/// Where a page leads on to.
#[derive(Debug, Default)]
pub(crate) struct Outlinks {
    /// The links that are to be visited: the canonical page, then the others in the order of the
    /// page.
    pub(crate) discovered: Vec<DiscoveredUrl>,
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
        let (policy, find) = (&context.policy, lease.find());
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

/// What the links of a page are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FollowRules {
    /// They lead to more pages.
    pub(crate) pages: bool,
    /// What the page needs is fetched with it.
    pub(crate) requisites: bool,
}

/// What a link comes to.
#[derive(Clone, Copy, Debug)]
enum LinkDecision {
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
    // Once it is there, the copies that name it are told by it.
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

/// What is needed is a requisite, wherever else it rules. Frames are pages where requisites are not
/// fetched, and lead on like pages where they are.
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
            tally.counts.links_out_of_scope += 1
        }
        LinkDecision::OutOfScope => tally.out_of_scope(&link.url),
        // Whose links are not followed is counted with its page.
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
