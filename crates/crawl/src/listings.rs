//! Sitemaps and feeds on their way into the crawl.
//!
//! A listing is an ordinary visit: leased, paced, asked of robots.txt, archived like a page, and
//! known for what it is when it is read. Sitemaps are found where robots.txt names them, and are
//! queued each time a session first learns what that robots.txt says: before any page of its origin
//! is asked for, so that no kill can lose them, and only once, since discovery is exactly-once.
//!
//! | what | depth | what lets it in |
//! |---|---|---|
//! | a sitemap that robots.txt names | that of the page that robots.txt was read for: 0 at a seed's host | no exclude expression; on other hosts, a few |
//! | a sitemap in an index | that of the index | the same host as the index, or the scope |
//! | a page in a sitemap or feed, where a feed goes on | one more | the scope, like any link; the range of dates |
//!
//! How many sitemaps and pages a host may list is counted from zero in each session: a brake for
//! hosts that list without end, not a promise. What bounds a host over sessions bounds its
//! listings, too. An index and the first sitemap of a host are read at once, each further one once
//! the host's other pages were visited: so what waits of a host is bounded by a few sitemaps and
//! not by all that it names, and nothing is lost by it. Entries are queued in parts, so that memory
//! is bounded by one part.

mod told;

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;

use fetch::{Decoded, Decoding, RobotsAnswer, RobotsStanding};
use store::{DiscoveredUrl, Lease, StoreFault};
use tokio::sync::mpsc;
use web::{
    Exchange, Lastmod, Listed, Listing, ListingKind, ListingLimits, OutOfScope, PageUrl,
    RobotsRules, SNIFFED_LISTING_BYTES, Scope, Timestamp, read_listing_in_parts,
};

pub use told::Listings;

use crate::duplicate_links::Following;
use crate::unvisited::Sorted;
use crate::{CrawlContext, Policy};

/// Which sitemaps are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sitemaps {
    /// None, and what they list is not followed.
    Off,
    /// Those that robots.txt names, or a page or the user.
    #[default]
    On,
    /// Of seeds' hosts whose robots.txt names none, `/sitemap.xml`, too. Most have none, and it
    /// would cost each a request for something that nobody mentioned.
    Guess,
}

impl fmt::Display for Sitemaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Guess => "guess",
        })
    }
}

/// Not one of the three words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not on, off or guess")]
pub struct UnknownSitemaps(String);

impl FromStr for Sitemaps {
    type Err = UnknownSitemaps;

    fn from_str(word: &str) -> Result<Self, UnknownSitemaps> {
        let all = [Self::Off, Self::On, Self::Guess];
        let known = all
            .into_iter()
            .find(|sitemaps| sitemaps.to_string() == word);
        known.ok_or_else(|| UnknownSitemaps(word.to_owned()))
    }
}

/// What is asked of listings, and how much they may list.
#[derive(Clone, Copy, Debug)]
pub struct ListingRules {
    /// Which sitemaps are asked for.
    pub sitemaps: Sitemaps,
    /// Whether what feeds list is followed.
    pub feeds: bool,
    /// What a sitemap says was last changed before this is not queued.
    pub from: Option<Timestamp>,
    /// Nor what was changed after this.
    pub to: Option<Timestamp>,
    /// Bytes of a listing that are read, once its coding is off.
    pub bytes: u64,
    /// Entries of one listing.
    pub limits: ListingLimits,
    /// Indexes within indexes; the protocol knows none.
    pub nesting: u8,
    /// Sitemaps that a host may name, in robots.txt and in indexes.
    pub sitemaps_per_host: u32,
    /// Those among them that are read before the host's pages; each further one waits until no
    /// other page of the host does, so that no more is queued of a host than can soon be visited.
    pub sitemaps_first: u32,
    /// Those among them in robots.txt that lie on other hosts, where the scope does not let them
    /// in.
    pub elsewhere_per_host: u32,
    /// Pages that a host may list.
    pub pages_per_host: u64,
}

impl Default for ListingRules {
    fn default() -> Self {
        Self {
            sitemaps: Sitemaps::On,
            feeds: true,
            from: None,
            to: None,
            // The protocol has 50 MiB; a byte more shows that there is more.
            bytes: (50 << 20) + 1,
            limits: ListingLimits::default(),
            nesting: 3,
            sitemaps_per_host: 1_000,
            sitemaps_first: 2,
            elsewhere_per_host: 20,
            pages_per_host: 1_000_000,
        }
    }
}

impl ListingRules {
    fn wants(&self, kind: ListingKind) -> bool {
        if kind.is_sitemap() {
            self.sitemaps != Sitemaps::Off
        } else {
            self.feeds
        }
    }

    fn is_too_old(&self, lastmod: Option<Lastmod>) -> bool {
        let before = |from: Timestamp| lastmod.is_some_and(|lastmod| lastmod.last < from);
        self.from.is_some_and(before)
    }

    fn is_too_new(&self, lastmod: Option<Lastmod>) -> bool {
        let after = |to: Timestamp| lastmod.is_some_and(|lastmod| lastmod.first > to);
        self.to.is_some_and(after)
    }
}

/// Queues the sitemaps that the robots.txt of `url`'s origin names.
pub(crate) async fn announce(
    context: &CrawlContext,
    lease: &Lease,
    url: &PageUrl,
    answer: &RobotsAnswer,
) -> Result<(), StoreFault> {
    if answer.standing == RobotsStanding::Unreachable {
        return Ok(());
    }
    let finds = {
        let scope = context
            .scope
            .read()
            .expect("no panic can happen while the scope is locked");
        let (policy, find) = (&context.policy, lease.discovered());
        named(policy, &scope, &context.listings, find, url, &answer.rules)
    };
    if !finds.is_empty() {
        context.frontier.discover(finds).await?;
    }
    Ok(())
}

/// The sitemaps that the robots.txt of `url`'s origin names, which was asked for on behalf of
/// `find`.
pub(crate) fn named(
    policy: &Policy,
    scope: &Scope,
    listings: &Listings,
    find: &DiscoveredUrl,
    url: &PageUrl,
    robots: &RobotsRules,
) -> Vec<DiscoveredUrl> {
    let rules = &policy.listings;
    let leads_too_deep = policy.max_depth.is_some_and(|max| find.depth >= max);
    // Else the sitemap of another host would bring in what that one names, and so on.
    let is_ours = matches!(scope.judge(url), Ok(()) | Err(OutOfScope::NotIncluded));
    if rules.sitemaps == Sitemaps::Off || leads_too_deep || !is_ours {
        return Vec::new();
    }
    let form = &policy.canonical;
    let at_origin = |path: &str| url.join(path, form).ok();
    let mut finds = Vec::new();
    let mut queue = |sitemap: PageUrl, via: Option<PageUrl>| {
        let judged = scope.judge(&sitemap);
        if matches!(judged, Err(OutOfScope::Excluded { .. })) {
            return;
        }
        let is_elsewhere = judged.is_err() && sitemap.host() != url.host();
        if let Some(turn) = listings.may_name(rules, url, &sitemap, is_elsewhere) {
            finds.push(turn.of(DiscoveredUrl::new(sitemap, find.depth, via)));
        }
    };
    for sitemap in robots.sitemaps() {
        if let Ok(sitemap) = PageUrl::parse(sitemap.as_str(), form) {
            queue(sitemap, at_origin(ROBOTS));
        }
    }
    let guesses = rules.sitemaps == Sitemaps::Guess && find.depth == 0;
    if guesses
        && robots.sitemaps().is_empty()
        && let Some(sitemap) = at_origin(USUAL)
    {
        queue(sitemap, Some(url.clone()));
    }
    finds
}

/// Where a site says what crawlers may ask for.
const ROBOTS: &str = "/robots.txt";

/// Where a sitemap is, if nobody says.
const USUAL: &str = "/sitemap.xml";

/// Whether a redirect of this lease may lead there although the scope does not let it in: a sitemap
/// may move on its host, as where `--scope prefix` lets in one folder.
pub(crate) fn may_move(context: &CrawlContext, lease: &Lease, to: &PageUrl) -> bool {
    let is_named = lease
        .discovered()
        .via
        .as_ref()
        .is_some_and(|via| via.as_url().path() == ROBOTS);
    let is_sitemap = is_named || context.listings.knows(lease.url().key());
    is_sitemap && to.host() == lease.url().host()
}

/// Returns which listing a body is, where it is one that is wanted. `decoded` is the body without
/// its content coding, or the beginning of that.
pub(crate) fn kind(policy: &Policy, exchange: &Exchange, decoded: &Decoded) -> Option<ListingKind> {
    let content_type = exchange.header("content-type");
    let kind = if is_packed(&decoded.bytes) {
        let head = fetch::gunzip(&decoded.bytes, SNIFFED_LISTING_BYTES as u64);
        ListingKind::of(None, &head.bytes)
    } else {
        ListingKind::of(content_type, &decoded.bytes)
    };
    kind.filter(|kind| policy.listings.wants(*kind))
}

/// Reads a listing in parts of a bounded size, until `use_part` breaks off. Computes for long.
pub(crate) fn read_in_parts(
    policy: &Policy,
    exchange: &Exchange,
    kind: ListingKind,
    mut use_part: impl FnMut(Listing) -> ControlFlow<()>,
) {
    let rules = &policy.listings;
    let cap = rules.bytes;
    let mut body = BufReader::new(Decoding::of(&exchange.headers, &exchange.body, cap));
    let is_packed = body.fill_buf().is_ok_and(is_packed);
    let body: Box<dyn Read> = match is_packed {
        true => Box::new(Decoding::gunzip(body, cap)),
        false => Box::new(body),
    };
    let is_cut = exchange.truncated.is_some();
    let (mut pages, mut further) = (0, 0);
    let oddities = read_listing_in_parts(
        kind,
        body.chain(End { is_cut }),
        exchange.header("content-type"),
        &exchange.url,
        &policy.canonical,
        &rules.limits,
        |part| {
            pages += part.pages.len();
            further += part.further.len();
            use_part(part)
        },
    );
    tracing::info!(url = %exchange.url, ?kind, pages, further, ?oddities, "listing read");
}

/// Parts of a listing that wait to be queued.
const PARTS_WAITING: usize = 1;

/// Queues what the listing at `page` lists, part by part: there may be more than fits in memory.
/// What is queued when a kill comes is queued; the rest is when the listing is visited again.
pub(crate) async fn discover(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
    kind: ListingKind,
    following: Following,
    sorted: &mut Sorted,
) -> Result<(), StoreFault> {
    let (sender, parts) = mpsc::channel(PARTS_WAITING);
    let (context_too, exchange) = (Arc::clone(context), page.clone());
    let reading = context.compute(move || {
        read_in_parts(&context_too.policy, &exchange, kind, |part| {
            match sender.blocking_send(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_nobody_listens) => ControlFlow::Break(()),
            }
        });
    });
    let queuing = queue(
        context,
        lease.discovered(),
        &page.url,
        following,
        parts,
        sorted,
    );
    let (read, queued) = tokio::join!(reading, queuing);
    if read.is_none() {
        tracing::error!(url = %page.url, "reading this listing panicked: it counts as far as it was read");
    }
    queued
}

/// Queues the parts of a listing as they come. A fault ends the reading, too: nobody takes the next
/// part.
async fn queue(
    context: &CrawlContext,
    find: &DiscoveredUrl,
    at: &PageUrl,
    following: Following,
    mut parts: mpsc::Receiver<Listing>,
    sorted: &mut Sorted,
) -> Result<(), StoreFault> {
    while let Some(part) = parts.recv().await {
        let finds = {
            let scope = context
                .scope
                .read()
                .expect("no panic can happen while the scope is locked");
            to_visit(
                &context.policy,
                &scope,
                &context.listings,
                find,
                at,
                &part,
                sorted,
            )
        };
        context.frontier.discover(following.queued(finds)).await?;
    }
    Ok(())
}

/// Whether a body is packed with gzip in itself, as `sitemap.xml.gz` is.
pub(crate) fn is_packed(body: &[u8]) -> bool {
    body.starts_with(&[0x1f, 0x8b])
}

/// The end of a body, and whether that is where it was cut.
struct End {
    is_cut: bool,
}

impl Read for End {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match self.is_cut {
            true => Err(io::ErrorKind::UnexpectedEof.into()),
            false => Ok(0),
        }
    }
}

/// What of a listing is to be visited. `find` is the listing as it was queued, `at` where it was
/// had from.
pub(crate) fn to_visit(
    policy: &Policy,
    scope: &Scope,
    listings: &Listings,
    find: &DiscoveredUrl,
    at: &PageUrl,
    listing: &Listing,
    sorted: &mut Sorted,
) -> Vec<DiscoveredUrl> {
    let rules = &policy.listings;
    let leads_too_deep = policy.max_depth.is_some_and(|max| find.depth >= max);
    sorted.counts.links_found += (listing.pages.len() + listing.further.len()) as u64;
    if leads_too_deep {
        for listed in listing.pages.iter().chain(&listing.further) {
            sorted.too_deep(&listed.url);
        }
        return Vec::new();
    }
    let mut finds = Vec::new();
    let found = |listed: &Listed, depth: u32| {
        DiscoveredUrl::new(listed.url.clone(), depth, Some(at.clone()))
    };
    if listing.kind.is_sitemap() {
        for sitemap in &listing.further {
            let judged = scope.judge(&sitemap.url);
            let shares_host = sitemap.url.host() == at.host();
            let is_excluded = matches!(judged, Err(OutOfScope::Excluded { .. }));
            if is_excluded || (judged.is_err() && !shares_host) {
                sorted.out_of_scope(&sitemap.url);
            } else if rules.is_too_old(sitemap.lastmod) {
                // Nothing in it was changed since. After an end of the range, older entries may
                // still be in it.
                sorted.counts.links_of_other_dates += 1;
            } else if let Some(turn) = listings.may_nest(rules, find, at, &sitemap.url) {
                finds.push(turn.of(found(sitemap, find.depth)));
            } else {
                sorted.too_many(&sitemap.url);
            }
        }
    }
    let goes_on = listing
        .further
        .iter()
        .filter(|_| !listing.kind.is_sitemap());
    for page in listing.pages.iter().chain(goes_on) {
        if rules.is_too_old(page.lastmod) || rules.is_too_new(page.lastmod) {
            sorted.counts.links_of_other_dates += 1;
        } else if scope.judge(&page.url).is_err() {
            sorted.out_of_scope(&page.url);
        } else if listings.may_list(rules, at) {
            finds.push(found(page, find.depth + 1));
        } else {
            sorted.too_many(&page.url);
        }
    }
    finds
}
