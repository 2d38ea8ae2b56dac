//! A visit told once more, from what the archive has of it: what `rebuild` makes a journal of.
//!
//! The verdict is the archive's and is not given anew. What a verdict goes by, the page's looks,
//! and where it leads on to are read from the page as they were when it was visited, by the same
//! code; so are the sitemaps that a robots.txt names. What the archive does not have cannot be
//! told: the text of a page that was left out, and so its links where those were followed. A page
//! that repeats itself in an earlier crawl leads on as it did, where that crawl's archive is still
//! there.

use std::ops::ControlFlow;

use neardup::{Likeness, PageSignature};
use store::{DiscoveredUrl, Fate, Verdict, VisitRecord};
use web::{Exchange, PageUrl, RobotsRules, Scope, Timestamp};

use crate::duplicate_links::Following;
use crate::legacy_reason::{self, Matched};
use crate::links::FollowRules;
use crate::reading::{self, Reading};
use crate::unvisited::Sorted;
use crate::{
    AdaptiveSignatures, Listings, OnDuplicate, Policy, admission, links, listings, visit_record,
};

/// What an archive has of a visit.
#[derive(Debug)]
pub struct ArchivedVisit {
    /// The page, as it was queued.
    pub page: DiscoveredUrl,
    /// When the visit began.
    pub at: Timestamp,
    /// Its exchanges in order. That of a page whose payload was not kept is without its body.
    pub exchanges: Vec<Exchange>,
    /// Whether the last of them is there with its body.
    pub kept: bool,
    /// The fields of its `metadata` record, in order.
    pub notes: Vec<(String, String)>,
    /// The robots.txt files that were read on its behalf: where each was, and what stands in it.
    pub robots: Vec<(PageUrl, Vec<u8>)>,
    /// Where the page repeats itself in an earlier crawl: the page, as that archived it
    /// ([`EarlierArchives::again`]).
    ///
    /// [`EarlierArchives::again`]: crate::EarlierArchives::again
    pub again: Option<Exchange>,
}

/// What can be told of it.
#[derive(Debug)]
pub struct RebuiltVisit {
    /// Its row, but for the place in the archive.
    pub row: VisitRecord,
    /// What the page looks like, where the archive has it.
    pub signature: Option<PageSignature>,
    /// Where it was let through beside an original.
    pub seat: Option<RetainedMatch>,
    /// The sitemaps that were queued before it was asked for.
    pub announced: Vec<DiscoveredUrl>,
    /// Its links that are to be visited.
    pub finds: Vec<DiscoveredUrl>,
    /// The targets of the redirects that were followed.
    pub reached: Vec<PageUrl>,
    /// Those of them that widened the scope.
    pub adopted: Vec<PageUrl>,
}

/// How a page was let through beside an original.
#[derive(Clone, Copy, Debug)]
pub struct RetainedMatch {
    /// In what the two are alike.
    pub likeness: Likeness,
    /// Which one of its kind it is.
    pub number: u32,
    /// Whether the original was found only because of what the page calls canonical.
    pub by_canonical: bool,
}

/// Tells a visit. Redirects of seeds widen `scope`, as they did then; `told` counts what hosts
/// list, over all visits.
pub fn retell(
    policy: &Policy,
    adaptive_signatures: &AdaptiveSignatures,
    scope: &mut Scope,
    told: &Listings,
    visit: ArchivedVisit,
) -> RebuiltVisit {
    let ArchivedVisit {
        page,
        at,
        exchanges,
        kept,
        notes,
        robots,
        again,
    } = visit;
    let note = |name: &str| {
        let found = notes
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let fate = note("verdict")
        .and_then(Fate::of_word)
        .unwrap_or(Fate::Unique);
    let reached = exchanges
        .iter()
        .skip(1)
        .map(|exchange| exchange.url.clone());
    let reached: Vec<PageUrl> = reached.collect();
    let adopted = adopt(scope, page.depth == 0 && page.via.is_none(), &reached);
    let find = page.clone();
    let robots = robots.iter();
    let announced = robots.flat_map(|(file, lines)| {
        let rules = RobotsRules::parse(lines, &policy.agent);
        let url = asked_for(&find.url, &reached, file);
        listings::named(policy, scope, told, &find, url, &rules)
    });
    let announced: Vec<DiscoveredUrl> = announced.collect();

    let reason = note("reason").unwrap_or_default().to_owned();
    let mut row = visit_record::of_no_page(page, &exchanges, at, fate, reason);
    row.reason = row.reason.filter(|reason| !reason.is_empty());
    row.kept = kept;
    row.of_earlier = note("duplicate-of-earlier-crawl").is_some();
    row.duplicate_of =
        note("duplicate-of").and_then(|url| PageUrl::parse(url, &policy.canonical).ok());
    row.distance = note("distance").and_then(|bits| bits.parse().ok());
    row.resemblance = note("resemblance").and_then(|share| share.parse().ok());
    let matched = match note(visit_record::MATCHED_BY) {
        Some(matched_by) => Some(Matched {
            rank: note(visit_record::CLUSTER_RANK).and_then(|rank| rank.parse().ok()),
            by_canonical: matched_by == visit_record::BY_CANONICAL,
        }),
        None => row.reason.as_deref().map(legacy_reason::matched),
    };
    let seat = matched.and_then(|matched| {
        Some(RetainedMatch {
            likeness: likeness(&row),
            number: matched.rank?,
            by_canonical: matched.by_canonical,
        })
    });

    let read = exchanges.last().filter(|_page| kept && fate.is_page());
    let mut signature = None;
    let mut finds = Vec::new();
    if let Some(page) = read {
        let reading = reading::read_here(
            policy,
            adaptive_signatures,
            page,
            reading::Kind::of(find.requisite),
        );
        visit_record::read(&mut row, &reading);
        let on = leads_on(policy, &row, &reading, seat.is_some());
        finds = ways(policy, scope, told, &find, page, &reading, on);
        row.payload = Some(reading.signature.payload);
        signature = Some(reading.signature);
    } else {
        as_noted(policy, &mut row, &note);
        if let Some(page) = again.filter(|_| repeats_itself(&row)) {
            // It was not admitted, and what it looks like is told by the earlier crawl.
            let reading = reading::read_here(
                policy,
                adaptive_signatures,
                &page,
                reading::Kind::of(find.requisite),
            );
            let on = leads_on(policy, &row, &reading, false);
            finds = ways(policy, scope, told, &find, &page, &reading, on);
        }
    }
    RebuiltVisit {
        row,
        signature,
        seat,
        announced,
        finds,
        reached,
        adopted,
    }
}

/// Where a page leads that was found so (`find`) and is `page`.
fn ways(
    policy: &Policy,
    scope: &Scope,
    told: &Listings,
    find: &DiscoveredUrl,
    page: &Exchange,
    reading: &Reading,
    following: Following,
) -> Vec<DiscoveredUrl> {
    let leads = FollowRules {
        on: following.leads_on(),
        // What is read here is in an archive whole.
        to_requisites: true,
    };
    let mut finds = Vec::new();
    let (at, sorted) = (&page.url, &mut Sorted::default());
    if let Some(document) = &reading.document {
        finds = links::to_visit(policy, scope, find, at, document, leads, sorted).finds;
    }
    if let Some(kind) = reading.listing.filter(|_| leads.on) {
        listings::read_in_parts(policy, page, kind, |part| {
            finds.extend(listings::to_visit(
                policy, scope, told, find, at, &part, sorted,
            ));
            ControlFlow::Continue(())
        });
    }
    following.queued(finds)
}

/// The URL that a robots.txt was asked for on the way to a page: one of its origin. Where the file
/// had moved to another origin, it was most likely the page that was queued.
fn asked_for<'a>(page: &'a PageUrl, reached: &'a [PageUrl], file: &PageUrl) -> &'a PageUrl {
    let mut asked = std::iter::once(page).chain(reached);
    asked
        .find(|url| url.origin() == file.origin())
        .unwrap_or(page)
}

/// Gives a page that nobody has judged, because another crawler archived it, the verdict of this
/// crawl: what [`retell`] took for unique may repeat a page before it. The archive has it all the
/// same.
pub fn judged(policy: &Policy, retold: &mut RebuiltVisit, verdict: Verdict) {
    let (original, seat) = match verdict {
        Verdict::Unique | Verdict::Own => return,
        Verdict::Changed(capture) => {
            retold.row.fate = Fate::Changed;
            visit_record::changed(&mut retold.row, &capture);
            return;
        }
        Verdict::Duplicate(original) => (original, None),
        Verdict::Retained(original, seat) => (original, Some(seat)),
    };
    retold.row.fate = admission::fate_of(original.likeness);
    visit_record::repeats(&mut retold.row, &original, seat);
    let itself = original.earlier && original.page.url == retold.row.url;
    if !itself && seat.is_none() && policy.on_duplicate != OnDuplicate::Follow {
        let following = policy.duplicate_links.of_duplicate(is_seed(&retold.row));
        retold.finds = following.queued(std::mem::take(&mut retold.finds));
    }
    retold.seat = seat.map(|seat| RetainedMatch {
        likeness: original.likeness,
        number: seat.rank,
        by_canonical: original.by_canonical,
    });
}

/// What the archive says of a page whose text it does not have.
fn as_noted<'a>(policy: &Policy, row: &mut VisitRecord, note: &impl Fn(&str) -> Option<&'a str>) {
    let text = |name| note(name).map(str::to_owned);
    row.status = note("http-status")
        .and_then(|status| status.parse().ok())
        .or(row.status);
    row.content_type = text("content-type").or_else(|| row.content_type.take());
    row.bytes = note("bytes")
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(row.bytes);
    row.charset = text("charset");
    row.language = text("language");
    row.title = text("title");
    row.canonical = note("canonical").and_then(|url| PageUrl::parse(url, &policy.canonical).ok());
    row.fingerprint = note("fingerprint").and_then(|digits| digits.parse().ok());
    row.payload = note("payload").and_then(|digits| u128::from_str_radix(digits, 16).ok());
}

/// The targets of a seed's redirects that the scope does not let in yet: it does from here on.
fn adopt(scope: &mut Scope, is_seed: bool, reached: &[PageUrl]) -> Vec<PageUrl> {
    let mut adopted = Vec::new();
    for url in reached {
        let judged = scope.judge(url);
        let is_out = judged.is_err_and(|reason| !reason.is_exclusion());
        if is_seed && is_out {
            scope.add_seed(url);
            adopted.push(url.clone());
        }
    }
    adopted
}

/// Returns how the links of a page were queued: what `judgement.rs` decided then.
fn leads_on(policy: &Policy, row: &VisitRecord, reading: &Reading, seated: bool) -> Following {
    let asks = reading
        .document
        .as_ref()
        .map(|document| document.directives);
    if asks.unwrap_or_default().nofollow && !policy.ignore_robots {
        return Following::Nowhere;
    }
    let is_kept = row.fate.is_original() || repeats_itself(row) || seated;
    if is_kept || policy.on_duplicate == OnDuplicate::Follow {
        return Following::All;
    }
    policy.duplicate_links.of_duplicate(is_seed(row))
}

fn is_seed(row: &VisitRecord) -> bool {
    row.depth == 0 && row.via.is_none()
}

/// Whether a page is in an earlier crawl what it is in this.
fn repeats_itself(row: &VisitRecord) -> bool {
    row.of_earlier && row.duplicate_of.as_ref() == Some(&row.url)
}

fn likeness(row: &VisitRecord) -> Likeness {
    match row.fate {
        Fate::NearDuplicate => Likeness::Near {
            distance: row.distance.unwrap_or_default(),
            resemblance: row.resemblance.unwrap_or_default(),
        },
        _ => Likeness::SameText,
    }
}
