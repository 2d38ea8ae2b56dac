//! Link discovery: the links of a page that are queued as pages or as requisites.

use std::sync::Arc;

use journal::{DiscoveredUrl, ExcludedLinks, Limit, StoreFault, VisitRecord};
use policy::{Following, Requisites};
use sinks::{Keeping, MetadataField};
use store::Lease;
use web::{Document, Exchange, Link, LinkKind, PageUrl, Trap};

use crate::context::CrawlContext;
use crate::runtime::shortest_ways::{FoundLink, ShortestWays};
use crate::steps::admission::Admission;
use crate::steps::link_rules::LinkRules;
use crate::steps::link_score::PageScore;
use crate::steps::listings;
use crate::steps::outlinks;
use crate::steps::reading::Reading;
use crate::steps::seed_moves;
use crate::steps::unvisited::LinkTally;

/// The links of a page: to visit, and excluded as traps.
#[derive(Debug, Default)]
pub(crate) struct Outlinks {
    /// The links to visit: the canonical page first, then the links in page order.
    pub(crate) discovered: Vec<DiscoveredUrl>,
    /// The links that were excluded as traps.
    pub(crate) excluded: Vec<ExcludedLinks>,
}

impl Outlinks {
    /// Returns the queued links as fields for the archive, which has no body to read them from.
    pub(crate) fn queued(&self, visit: &VisitRecord, keeping: &Keeping) -> Vec<MetadataField> {
        outlinks::queued(visit, keeping, &self.discovered)
    }
}

/// Returns the links of a page to visit, in page order; the frontier drops the links it knows.
/// Queues the entries of a sitemap or feed at once. The limits that cost links are added to the
/// reading.
pub(crate) async fn discover(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    reading: &mut Reading,
    admission: &Admission,
) -> Result<Outlinks, StoreFault> {
    let mut tally = LinkTally {
        cuts: context.robots_files.take_cuts(lease.url().key()),
        ..LinkTally::default()
    };
    let Some(document) = &reading.document else {
        reading.cuts.append(&mut tally.cuts);
        return Ok(Outlinks::default());
    };
    seed_moves::follow_refresh(context, lease, document).await?;
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
        let nearest = DiscoveredUrl {
            depth: context.shortest_ways.depth_of(found),
            ..found.clone()
        };
        outlinks = rules.outlinks(&nearest, &page.url, document, wanted, &mut tally);
        outlinks.discovered = following.queued(outlinks.discovered);
        if following == Following::All {
            rules.add_nearer(
                &nearest,
                page,
                &mut outlinks,
                &mut tally,
                &context.shortest_ways,
            );
        }
    }
    let links = std::mem::take(&mut outlinks.discovered);
    let page_score = PageScore::of(lease.discovered(), reading.judged.as_ref());
    outlinks.discovered = page_score.score_links(context, Some(document), links);
    if lease.is_seed() && outlinks.discovered.is_empty() && reading.listing.is_none() {
        report_dead_end(context, page);
    }
    if let Some(kind) = reading.listing.filter(|_| wanted.pages) {
        listings::discover(context, lease, page, kind, following, &mut tally).await?;
    }
    if !wanted.pages {
        let counts = &mut tally.counts;
        counts.links_nofollow = counts
            .links_found
            .saturating_sub(outlinks.discovered.len() as u64);
    }
    tally
        .cuts
        .iter()
        .for_each(|cut| cut.add_to(&mut reading.cuts));
    context.telemetry.add(&tally.counts);
    context.telemetry.add_unvisited(&tally.unvisited);
    Ok(outlinks)
}

/// Bytes of a seed without links that are searched for scripts and forms.
const SEARCHED: u64 = 64 << 10;

/// Reports a seed without a link that is followed, and what else its page has.
fn report_dead_end(context: &CrawlContext, page: &Exchange) {
    let bytes = web::decode(&page.headers, &page.body, SEARCHED).bytes;
    let has = |tag: &[u8]| {
        let mut places = bytes.windows(tag.len());
        places.any(|place| place.eq_ignore_ascii_case(tag))
    };
    let seeds = context.telemetry.seeds();
    seeds.add_dead_end(has(b"<script"), has(b"<form"));
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
        let off_scope = self.off_scope(from, page);
        for link in &document.links {
            let Some((steps, off_scope)) = self.distance_to(from, off_scope, link, wanted, tally)
            else {
                continue;
            };
            requisites += usize::from(steps > 0);
            if requisites > Requisites::MAX_PER_PAGE && steps > 0 {
                tally.cut(Limit::Requisites);
                continue;
            }
            if let Some(rule) = self.policy.trap(page, &link.url).map(Trap::as_str) {
                if steps == 0 {
                    tally.trap(&link.url);
                } else {
                    tally.counts.links_to_traps += 1;
                }
                exclude(&mut outlinks.excluded, rule, &link.url);
                continue;
            }
            let find = DiscoveredUrl::new(link.url.clone(), from.depth + 1, Some(via.clone()));
            outlinks
                .discovered
                .push(find.needed(steps).off_scope(off_scope));
        }
        // Its copies are recognized by the canonical page, once that is visited.
        let canonical = document.canonical.as_ref();
        let mut found = outlinks.discovered.iter();
        if let Some(place) = found.position(|find| Some(&find.url) == canonical) {
            outlinks.discovered[..=place].rotate_right(1);
        }
        outlinks
    }

    /// Adds the links of visited pages that have a shorter way through this page than was known.
    fn add_nearer(
        self,
        from: &DiscoveredUrl,
        page: &Exchange,
        outlinks: &mut Outlinks,
        tally: &mut LinkTally,
        shortest_ways: &ShortestWays,
    ) {
        let limits = &self.policy.depth;
        let Some(max) = limits.highest().filter(|_| from.requisite == 0) else {
            return;
        };
        let pages = outlinks
            .discovered
            .iter()
            .filter(|find| find.requisite == 0);
        let pages = pages.map(|find| (find.url.clone(), find.off_scope));
        let mut links: Vec<FoundLink> = pages.collect();
        let off_scope = self.off_scope(from, &page.url);
        let too_deep = std::mem::take(&mut tally.too_deep).into_iter();
        links.extend(too_deep.filter_map(|link| {
            let off_scope = self.policy.hop(self.scope, off_scope, &link).ok()?;
            let is_trap = self.policy.trap(&page.url, &link).is_some();
            (!is_trap).then_some((link, off_scope))
        }));
        let nearer = shortest_ways.visited(from, &page.url, from.depth, links, max);
        let near = nearer
            .into_iter()
            .filter(|find| !limits.exclude(&find.url, find.depth));
        outlinks.discovered.extend(near);
    }

    /// Returns the steps from a page, `off_scope` links off the scope, to this link: 0 for a page,
    /// more for a page requisite; and the number of links to it since the scope, which is that of
    /// the page for a requisite. A link that is not visited is counted. A needed link counts as a
    /// requisite, regardless of its kind. Frames are requisites if requisites are fetched, and
    /// pages otherwise.
    fn distance_to(
        self,
        from: &DiscoveredUrl,
        off_scope: u8,
        link: &Link,
        wanted: WantedLinks,
        tally: &mut LinkTally,
    ) -> Option<(u8, u8)> {
        let policy = self.policy;
        // Browsers do not request the icon of a frame.
        if link.is_implied && from.requisite > 0 {
            return None;
        }
        let is_part = link.is_needed
            && wanted.requisites
            && policy.page_requisites.let_in(self.scope, &link.url);
        if is_part && from.requisite < Requisites::MAX_STEPS {
            return Some((from.requisite + 1, off_scope));
        }
        if is_part && link.kind == LinkKind::Requisite {
            tally.cut(Limit::RequisiteSteps);
            return None;
        }
        if link.kind == LinkKind::Requisite {
            // Requisites are not pages, so their URLs are not listed.
            tally.counts.links_out_of_scope += 1;
        } else if !wanted.pages || link.relations.has_any_of(policy.skip_relations) {
            tally.counts.links_nofollow += 1;
        } else if policy.depth.exclude(&link.url, from.depth + 1) {
            tally.too_deep(&link.url);
        } else if let Some(off_scope) = self.hop(from, off_scope, link) {
            return Some((0, off_scope));
        } else {
            tally.out_of_scope(&link.url);
        }
        None
    }

    /// Returns the number of links off the scope of a link that is visited: one in the scope or
    /// near it, or the refresh of a seed, which is followed like a redirect.
    fn hop(self, from: &DiscoveredUrl, off_scope: u8, link: &Link) -> Option<u8> {
        let is_seed = from.depth == 0 && from.via.is_none();
        match self.policy.hop(self.scope, off_scope, &link.url) {
            Ok(off_scope) => Some(off_scope),
            Err(rule) if rule.is_exclusion() => None,
            Err(_) => (is_seed && link.kind == LinkKind::Refresh).then_some(0),
        }
    }
}

/// Counts a link that is excluded, grouped by its rule.
fn exclude(excluded: &mut Vec<ExcludedLinks>, rule: &str, link: &PageUrl) {
    if let Some(group) = excluded.iter_mut().find(|group| group.rule == rule) {
        group.links += 1;
        return;
    }
    excluded.push(ExcludedLinks {
        rule: rule.to_owned(),
        links: 1,
        example: link.clone(),
    });
}
