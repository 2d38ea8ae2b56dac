//! Link discovery: the links of a page that are queued as pages or as requisites.

use std::sync::Arc;

use store::{DiscoveredUrl, Lease, LeftOut, StoreFault};
use web::{Document, Exchange, Link, LinkKind, PageUrl, Trap};

use crate::context::CrawlContext;
use crate::steps::admission::Admission;
use crate::steps::link_rules::LinkRules;
use crate::steps::listings;
use crate::steps::promise::PageWitness;
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
    let wanted = WantedLinks {
        pages: following.leads_on(),
        requisites: admission.is_shown,
    };
    let mut outlinks = Outlinks::default();
    if wanted.pages || wanted.requisites {
        let (scope, found) = (context.scope(), lease.discovered());
        let rules = LinkRules::new(context, &scope);
        outlinks = rules.outlinks(found, &page.url, document, wanted, &mut tally);
        outlinks.discovered = following.queued(outlinks.discovered);
    }
    let links = std::mem::take(&mut outlinks.discovered);
    let witness = PageWitness::of(lease.discovered(), reading.judged.as_ref());
    outlinks.discovered = witness.promise(context, Some(document), links);
    if let Some(kind) = reading.listing.filter(|_| wanted.pages) {
        listings::discover(context, lease, page, kind, following, &mut tally).await?;
    }
    if !wanted.pages {
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
pub(crate) struct WantedLinks {
    /// True if links to pages are queued.
    pub(crate) pages: bool,
    /// True if requisites are queued.
    pub(crate) requisites: bool,
}

impl LinkRules<'_> {
    /// Returns the links to visit of a document at `page`, which was queued as `from`.
    pub(crate) fn outlinks(
        self,
        from: &DiscoveredUrl,
        page: &PageUrl,
        document: &Document,
        wanted: WantedLinks,
        tally: &mut LinkTally,
    ) -> Outlinks {
        let mut outlinks = Outlinks::default();
        let mut requisites = 0;
        let via = page.without_spelling();
        for link in &document.links {
            let Some(steps) = self.steps_to(from, link, wanted, tally) else {
                continue;
            };
            requisites += usize::from(steps > 0);
            let rule = if requisites > Requisites::MOST_PER_PAGE && steps > 0 {
                Some(Requisites::RULE)
            } else {
                self.policy.trap(page, &link.url).map(Trap::as_str)
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
            let find = DiscoveredUrl::new(link.url.clone(), from.depth + 1, Some(via.clone()));
            outlinks.discovered.push(find.needed(steps));
        }
        // Its copies are recognized by the canonical page, once that is visited.
        let canonical = document.canonical.as_ref();
        let mut found = outlinks.discovered.iter();
        if let Some(place) = found.position(|find| Some(&find.url) == canonical) {
            outlinks.discovered[..=place].rotate_right(1);
        }
        outlinks
    }

    /// Returns the steps from a page to this link: 0 if it is a page itself, more if it is a
    /// requisite. A link that is not visited is counted. A needed link is a requisite, whatever
    /// else it is. Frames are requisites if requisites are fetched, and pages otherwise.
    fn steps_to(
        self,
        from: &DiscoveredUrl,
        link: &Link,
        wanted: WantedLinks,
        tally: &mut LinkTally,
    ) -> Option<u8> {
        let policy = self.policy;
        let is_part = link.is_needed
            && wanted.requisites
            && from.requisite < Requisites::MOST_STEPS
            && policy.page_requisites.let_in(self.scope, &link.url);
        if is_part {
            return Some(from.requisite + 1);
        }
        if link.kind == LinkKind::Requisite {
            // Requisites are no pages, so their URLs are not listed.
            tally.counts.links_out_of_scope += 1;
        } else if !wanted.pages || link.relations.has_any_of(policy.skip_relations) {
            tally.counts.links_nofollow += 1;
        } else if policy.is_deepest(from.depth) {
            tally.too_deep(&link.url);
        } else if self.scope.judge(&link.url).is_err() {
            tally.out_of_scope(&link.url);
        } else {
            return Some(0);
        }
        None
    }
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
