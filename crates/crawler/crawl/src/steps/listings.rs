//! Sitemaps and feeds ("listings").
//!
//! A listing is an ordinary visit: leased, paced, checked against robots.txt, archived like a page,
//! and recognized when it is read. Sitemaps are found through robots.txt. They are queued each time
//! a session first reads that robots.txt, before any page of its origin is requested: so no kill
//! can lose them, and discovery drops repetitions.
//!
//! | what | depth | what lets it in |
//! |---|---|---|
//! | a sitemap in robots.txt | as the requesting page | no exclusion; on other hosts, few |
//! | a sitemap in an index | as the index | the same host as the index, or the scope |
//! | an entry of a sitemap or feed | one more | the scope; the range of dates |
//! | a picture or film of an entry | one more | `--page-requisites` |
//!
//! The quota of sitemaps and pages per host starts at zero in each session: it slows down hosts
//! that list without end, and is not a guarantee. The limits on a host over sessions also hold for
//! its listings. An index and the first sitemap of a host are read at once, each further sitemap
//! after the host's other pages: so the queue of a host is bounded by a few sitemaps, and no entry
//! is lost. Entries are queued in parts, so that memory is bounded by one part.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use fetch::{RobotsResponse, RobotsSource};
use journal::{Cut, DiscoveredUrl, Limit, StoreFault};
use policy::{Following, Policy, Requisites};
use reading::Sitemaps;
use store::Lease;
use tokio::sync::mpsc;
use web::{
    Decoding, Exchange, ListedUrl, Listing, ListingKind, ListingLimits, ListingWarning, OutOfScope,
    PageUrl, RobotsRules, is_gzip, read_listing_in_parts,
};

use crate::context::CrawlContext;
use crate::runtime::listing_quota::ROBOTS;
use crate::steps::link_rules::LinkRules;
use crate::steps::link_score::PageScore;
use crate::steps::unvisited::LinkTally;

/// Queues the sitemaps that the robots.txt of `url`'s origin names.
pub(crate) async fn queue_sitemaps(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
    response: &RobotsResponse,
) -> Result<(), StoreFault> {
    if response.source == RobotsSource::Unreachable {
        return Ok(());
    }
    let mut tally = LinkTally::default();
    let discovered = {
        let scope = context.scope();
        let rules = LinkRules::new(context, &scope);
        named_sitemaps(rules, lease.discovered(), url, &response.rules, &mut tally)
    };
    context.telemetry.add(&tally.counts);
    context
        .robots_files
        .add_cuts(lease.url().key(), &tally.cuts);
    if !discovered.is_empty() {
        context.frontier.discover(discovered).await?;
    }
    Ok(())
}

/// Returns the sitemaps that the robots.txt of `url`'s origin names, which was fetched on behalf of
/// `find`.
pub(crate) fn named_sitemaps(
    link_rules: LinkRules<'_>,
    find: &DiscoveredUrl,
    url: &PageUrl,
    robots: &RobotsRules,
    tally: &mut LinkTally,
) -> Vec<DiscoveredUrl> {
    let LinkRules {
        policy,
        scope,
        quota,
    } = link_rules;
    let rules = &policy.reading.listings;
    // Otherwise the sitemap of another host would bring in the sitemaps that one names, and so on.
    let is_ours = matches!(scope.judge(url), Ok(()) | Err(OutOfScope::NotIncluded));
    if rules.sitemaps == Sitemaps::Off || policy.depth.end_at(find.depth) || !is_ours {
        return Vec::new();
    }
    let form = &policy.reading.canonical;
    let at_origin = |path: &str| url.join(path, form).ok();
    let mut discovered = Vec::new();
    let mut queue = |sitemap: PageUrl, via: Option<PageUrl>| {
        let judged = scope.judge(&sitemap);
        if matches!(judged, Err(OutOfScope::Excluded { .. })) {
            return;
        }
        let is_elsewhere = judged.is_err() && sitemap.host() != url.host();
        match quota.admit_named(rules, url, &sitemap, is_elsewhere) {
            Some(place) => discovered.push(place.of(DiscoveredUrl::new(sitemap, find.depth, via))),
            None => tally.cut(Limit::SitemapsPerHost),
        }
    };
    let robots_url = at_origin(ROBOTS);
    let mut is_named = false;
    for sitemap in robots_url.iter().flat_map(|url| robots.sitemaps(url, form)) {
        is_named = true;
        queue(sitemap, robots_url.clone());
    }
    let guesses = rules.sitemaps == Sitemaps::Guess && find.depth == 0;
    if guesses
        && !is_named
        && let Some(sitemap) = at_origin(USUAL)
    {
        queue(sitemap, Some(url.clone()));
    }
    discovered
}

/// The usual path of a sitemap.
const USUAL: &str = "/sitemap.xml";

/// Returns true if a redirect of this lease may go to `to` although that is out of scope: a sitemap
/// may move on its host, for example where `--scope prefix` lets in one folder.
pub(crate) fn may_move(context: &CrawlContext, lease: &Lease, to: &PageUrl) -> bool {
    is_known_sitemap(context, lease) && to.host() == lease.url().host()
}

/// Returns true if a robots.txt or another sitemap has named the lease's URL as a sitemap.
pub(crate) fn is_known_sitemap(context: &CrawlContext, lease: &Lease) -> bool {
    is_named(lease.discovered()) || context.listings.knows(lease.url().key())
}

/// Returns true if a robots.txt has named the URL as a sitemap.
pub(crate) fn is_named(found: &DiscoveredUrl) -> bool {
    let via = found.via.as_ref();
    via.is_some_and(|via| via.as_url().path() == ROBOTS)
}

/// Reads a listing in parts of a bounded size, until `use_part` breaks off. Computes for long.
pub(crate) fn read_in_parts(
    policy: &Policy,
    exchange: &Exchange,
    kind: ListingKind,
    mut use_part: impl FnMut(Listing) -> ControlFlow<()>,
) -> Vec<Cut> {
    let rules = &policy.reading.listings;
    let cap = rules.bytes;
    let mut body = BufReader::new(Decoding::of(&exchange.headers, &exchange.body, cap));
    let is_packed = body.fill_buf().is_ok_and(is_gzip);
    let body: Box<dyn Read> = match is_packed {
        true => Box::new(Decoding::gunzip(body, cap)),
        false => Box::new(body),
    };
    let is_cut = exchange.truncated.is_some();
    let (read, mut pages, mut further) = (Cell::new(0), 0, 0);
    let body = Counted { body, read: &read };
    let warnings = read_listing_in_parts(
        kind,
        body.chain(BodyEnd { is_cut }),
        exchange.content_type().as_deref(),
        &exchange.url,
        &policy.reading.canonical,
        &ListingLimits {
            requisites: match policy.page_requisites {
                Requisites::Off => 0,
                Requisites::Scope | Requisites::Any => rules.limits.entries,
            },
            ..rules.limits
        },
        |part| {
            pages += part.pages.len();
            further += part.further.len();
            use_part(part)
        },
    );
    tracing::info!(url = %exchange.url, ?kind, pages, further, ?warnings, "listing read");
    let mut cuts = Vec::new();
    if read.get() >= cap {
        cuts.push(Cut::by(Limit::SitemapBytes));
    }
    if warnings.contains(&ListingWarning::TooMany) {
        cuts.push(Cut::by(Limit::SitemapEntries));
    }
    cuts
}

/// Returns the pages that an archived sitemap lists. Computes for long.
#[must_use]
pub fn pages_of_sitemap(policy: &Policy, sitemap: &Exchange) -> Vec<PageUrl> {
    let decoded = reading::decoded(&policy.reading, sitemap);
    let kind = reading::listing_kind(&policy.reading, sitemap, &decoded, true);
    let mut pages = Vec::new();
    if let Some(kind) = kind {
        read_in_parts(policy, sitemap, kind, |part| {
            pages.extend(part.pages.into_iter().map(|listed| listed.url));
            ControlFlow::Continue(())
        });
    }
    pages
}

/// A reader that counts the bytes that were read.
struct Counted<'a, R> {
    body: R,
    read: &'a Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(into)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// Parts of a listing that wait to be queued.
const PARTS_WAITING: usize = 1;

/// Queues the entries of the listing at `page`, part by part: there may be more than fits in
/// memory. After a kill, the visit is repeated and queues the rest.
pub(crate) async fn discover(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    kind: ListingKind,
    following: Following,
    tally: &mut LinkTally,
) -> Result<(), StoreFault> {
    let (sender, parts) = mpsc::channel(PARTS_WAITING);
    let (context_too, exchange) = (Arc::clone(context), page.clone());
    let reading = context.compute(move || {
        read_in_parts(&context_too.policy, &exchange, kind, |part| {
            match sender.blocking_send(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_nobody_listens) => ControlFlow::Break(()),
            }
        })
    });
    let queuing = queue(
        context,
        lease.discovered(),
        &page.url,
        following,
        parts,
        tally,
    );
    let (read, queued) = tokio::join!(reading, queuing);
    match read {
        Some(cuts) => cuts.into_iter().for_each(|cut| cut.add_to(&mut tally.cuts)),
        None => tracing::error!(
            url = %page.url,
            "reading this listing panicked: only the part read so far counts"
        ),
    }
    queued
}

/// Queues the parts of a listing as they arrive. A fault ends the reading, too, because the
/// receiver is dropped.
async fn queue(
    context: &CrawlContext,
    find: &DiscoveredUrl,
    at: &PageUrl,
    following: Following,
    mut parts: mpsc::Receiver<Listing>,
    tally: &mut LinkTally,
) -> Result<(), StoreFault> {
    while let Some(part) = parts.recv().await {
        let discovered = {
            let scope = context.scope();
            to_visit(LinkRules::new(context, &scope), find, at, &part, tally)
        };
        let queued = following.queued(discovered);
        let scored = PageScore::of(find, None).score_links(context, None, queued);
        context.frontier.discover(scored).await?;
    }
    Ok(())
}

/// The end of a body; reading it fails if the body was cut.
struct BodyEnd {
    is_cut: bool,
}

impl Read for BodyEnd {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match self.is_cut {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(0),
        }
    }
}

/// Returns the entries of a listing to visit. `find` is the listing as it was queued, `at` its
/// final URL.
pub(crate) fn to_visit(
    link_rules: LinkRules<'_>,
    find: &DiscoveredUrl,
    at: &PageUrl,
    listing: &Listing,
    tally: &mut LinkTally,
) -> Vec<DiscoveredUrl> {
    let LinkRules {
        policy,
        scope,
        quota,
    } = link_rules;
    let rules = &policy.reading.listings;
    let links = listing.pages.len() + listing.further.len() + listing.requisites.len();
    tally.counts.links_found += links as u64;
    if policy.depth.end_at(find.depth) {
        for listed in listing.pages.iter().chain(&listing.further) {
            tally.too_deep(&listed.url);
        }
        return Vec::new();
    }
    let mut discovered = Vec::new();
    let found = |listed: &ListedUrl, depth: u32| {
        DiscoveredUrl::new(listed.url.clone(), depth, Some(at.clone()))
    };
    let (sitemaps, next_pages) = match listing.kind.is_sitemap() {
        true => (&*listing.further, &[][..]),
        false => (&[][..], &*listing.further),
    };
    for sitemap in sitemaps {
        let judged = scope.judge(&sitemap.url);
        let shares_host = sitemap.url.host() == at.host();
        let is_excluded = matches!(judged, Err(OutOfScope::Excluded { .. }));
        if is_excluded || (judged.is_err() && !shares_host) {
            tally.out_of_scope(&sitemap.url);
        } else if rules.is_too_old(sitemap.lastmod) {
            // Nothing in it changed since. After the end of the range, older entries may still be
            // in it.
            tally.counts.links_of_other_dates += 1;
        } else {
            match quota.admit_nested(rules, find, at, &sitemap.url) {
                Ok(place) => discovered.push(place.of(found(sitemap, find.depth))),
                Err(limit) => tally.cut(limit),
            }
        }
    }
    for page in listing.pages.iter().chain(next_pages) {
        if rules.is_too_old(page.lastmod) || rules.is_too_new(page.lastmod) {
            tally.counts.links_of_other_dates += 1;
        } else if policy.depth.exclude(&page.url, find.depth + 1) {
            tally.too_deep(&page.url);
        } else if scope.judge(&page.url).is_err() {
            tally.out_of_scope(&page.url);
        } else if quota.admit_page(rules, at) {
            discovered.push(found(page, find.depth + 1));
        } else {
            tally.cut(Limit::ListedPages);
        }
    }
    discovered.extend(requisites(link_rules, find, at, listing, tally));
    discovered
}

/// Returns the pictures and films of the listed pages to fetch.
fn requisites(
    link_rules: LinkRules<'_>,
    find: &DiscoveredUrl,
    at: &PageUrl,
    listing: &Listing,
    tally: &mut LinkTally,
) -> Vec<DiscoveredUrl> {
    let LinkRules { policy, scope, .. } = link_rules;
    let mut discovered = Vec::new();
    for requisite in &listing.requisites {
        if policy.page_requisites.let_in(scope, requisite) {
            let find = DiscoveredUrl::new(requisite.clone(), find.depth + 1, Some(at.clone()));
            discovered.push(find.needed(1));
        } else {
            tally.counts.links_out_of_scope += 1;
        }
    }
    discovered
}
