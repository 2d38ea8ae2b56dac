//! Rebuilds a visit from the archive; `crawler rebuild` makes a journal of such visits.
//!
//! The archive's verdict stands and is not given anew. The signature and the links of a page are
//! read from the archived page by the code that visited it; so are the sitemaps that a robots.txt
//! names. A page that was left out has no text in the archive, so its links are lost if they were
//! followed. The links of a page that repeats itself in an earlier crawl are followed again if that
//! crawl's archive is still there.

mod legacy_reason;

use std::ops::ControlFlow;

use neardup::{Likeness, PageSignature};
use store::{DiscoveredUrl, Fate, Verdict, VisitRecord};
use web::{Exchange, PageUrl, RobotsRules, Scope, Timestamp};

use self::legacy_reason::Matched;
use crate::policy::{OnDuplicate, Policy};
use crate::runtime::adaptive_signatures::AdaptiveSignatures;
use crate::steps::duplicate_links::Following;
use crate::steps::links::FollowRules;
use crate::steps::listings::quota::ListingQuota;
use crate::steps::reading::{self, Reading};
use crate::steps::unvisited::LinkTally;
use crate::steps::{admission, links, listings, visit_record};

/// A visit as an archive has it.
#[derive(Debug)]
pub struct ArchivedVisit {
    /// The page as it was queued.
    pub page: DiscoveredUrl,
    /// The start of the visit.
    pub at: Timestamp,
    /// The exchanges in order. A payload that was not kept leaves its exchange without a body.
    pub exchanges: Vec<Exchange>,
    /// True if the last exchange has its body.
    pub kept: bool,
    /// The fields of the `metadata` record, in order.
    pub notes: Vec<(String, String)>,
    /// The robots.txt files that were fetched on the page's behalf: URL and content.
    pub robots: Vec<(PageUrl, Vec<u8>)>,
    /// The page as an earlier crawl archived it, if it repeats itself there
    /// ([`EarlierArchives::unchanged`]).
    ///
    /// [`EarlierArchives::unchanged`]: crate::EarlierArchives::unchanged
    pub unchanged: Option<Exchange>,
}

/// A visit rebuilt from an archive.
#[derive(Debug)]
pub struct RebuiltVisit {
    /// The record, without the place in the archive.
    pub record: VisitRecord,
    /// The page's signature, if the archive has the page.
    pub signature: Option<PageSignature>,
    /// The match with the original, if the page was retained beside one.
    pub retained: Option<RetainedMatch>,
    /// The sitemaps that were queued before the page was requested.
    pub sitemaps: Vec<DiscoveredUrl>,
    /// The links that are to be visited.
    pub discovered: Vec<DiscoveredUrl>,
    /// The targets of the redirects that were followed.
    pub reached: Vec<PageUrl>,
    /// The targets among them that widened the scope.
    pub adopted: Vec<PageUrl>,
}

/// The match of a retained duplicate with its original.
#[derive(Clone, Copy, Debug)]
pub struct RetainedMatch {
    /// The likeness of the two.
    pub likeness: Likeness,
    /// The rank of the page in the original's cluster; the original has rank 1.
    pub rank: u32,
    /// True if the original was found only through the page's canonical link.
    pub by_canonical: bool,
}

/// Rebuilds a visit. Redirects of seeds widen `scope`, as they did then; `quota` counts the
/// listings of hosts over all visits.
pub fn rebuild_visit(
    policy: &Policy,
    adaptive_signatures: &AdaptiveSignatures,
    scope: &mut Scope,
    quota: &ListingQuota,
    visit: ArchivedVisit,
) -> RebuiltVisit {
    let ArchivedVisit {
        page: found,
        at,
        exchanges,
        kept,
        notes,
        robots,
        unchanged,
    } = visit;
    let note = |name: &str| {
        let same = |(known, _): &&(String, String)| known.eq_ignore_ascii_case(name);
        notes.iter().find(same).map(|(_, value)| value.as_str())
    };
    let targets = exchanges.iter().skip(1);
    let reached: Vec<PageUrl> = targets.map(|exchange| exchange.url.clone()).collect();
    let adopted = adopt(scope, found.depth == 0 && found.via.is_none(), &reached);
    let mut sitemaps = Vec::new();
    for (file, lines) in &robots {
        let rules = RobotsRules::parse(lines, &policy.agent);
        let url = asked_for(&found.url, &reached, file);
        let named = listings::sitemaps_named(policy, scope, quota, &found, url, &rules);
        sitemaps.extend(named);
    }

    let mut record = archived_record(policy, found.clone(), &exchanges, at, &note);
    record.kept = kept;
    let retained = retained_match(&record, &note);

    let (mut signature, mut discovered) = (None, Vec::new());
    let kind = reading::Kind::of(found.requisite);
    let read = |page| reading::read_here(policy, adaptive_signatures, page, kind);
    let archived = exchanges
        .last()
        .filter(|_page| kept && record.fate.is_page());
    if let Some(page) = archived {
        let reading = read(page);
        visit_record::record_content(&mut record, &reading);
        let following = following(policy, &record, &reading, retained.is_some());
        discovered = outlinks(policy, scope, quota, &found, page, &reading, following);
        record.payload = Some(reading.signature.payload);
        signature = Some(reading.signature);
    } else {
        record_notes(policy, &mut record, &note);
        if let Some(page) = unchanged.filter(|_| repeats_itself(&record)) {
            // It was not admitted; its signature comes from the earlier crawl.
            let reading = read(&page);
            let following = following(policy, &record, &reading, false);
            discovered = outlinks(policy, scope, quota, &found, &page, &reading, following);
        }
    }
    RebuiltVisit {
        record,
        signature,
        retained,
        sitemaps,
        discovered,
        reached,
        adopted,
    }
}

/// Returns the record of a visit as far as the verdict in its notes goes.
fn archived_record<'a>(
    policy: &Policy,
    page: DiscoveredUrl,
    exchanges: &[Exchange],
    at: Timestamp,
    note: &impl Fn(&str) -> Option<&'a str>,
) -> VisitRecord {
    let verdict = note("verdict").and_then(Fate::of_word);
    let reason = note("reason").unwrap_or_default().to_owned();
    let fate = verdict.unwrap_or(Fate::Unique);
    let mut record = visit_record::without_page(page, exchanges, at, fate, reason);
    record.reason = record.reason.filter(|reason| !reason.is_empty());
    record.of_earlier = note("duplicate-of-earlier-crawl").is_some();
    record.duplicate_of =
        note("duplicate-of").and_then(|url| PageUrl::parse(url, &policy.canonical).ok());
    record.distance = note("distance").and_then(|bits| bits.parse().ok());
    record.resemblance = note("resemblance").and_then(|share| share.parse().ok());
    record
}

/// Returns the match of a page that was retained beside its original.
fn retained_match<'a>(
    record: &VisitRecord,
    note: &impl Fn(&str) -> Option<&'a str>,
) -> Option<RetainedMatch> {
    let matched = match note(visit_record::MATCHED_BY) {
        Some(matched_by) => Matched {
            rank: note(visit_record::CLUSTER_RANK).and_then(|rank| rank.parse().ok()),
            by_canonical: matched_by == visit_record::BY_CANONICAL,
        },
        None => legacy_reason::matched(record.reason.as_deref()?),
    };
    Some(RetainedMatch {
        likeness: likeness(record),
        rank: matched.rank?,
        by_canonical: matched.by_canonical,
    })
}

/// Returns the links that are to be visited of `page`, which was queued as `found`.
fn outlinks(
    policy: &Policy,
    scope: &Scope,
    quota: &ListingQuota,
    found: &DiscoveredUrl,
    page: &Exchange,
    reading: &Reading,
    following: Following,
) -> Vec<DiscoveredUrl> {
    let rules = FollowRules {
        pages: following.leads_on(),
        // A page that is read here is archived whole.
        requisites: true,
    };
    let mut discovered = Vec::new();
    let (at, tally) = (&page.url, &mut LinkTally::default());
    if let Some(document) = &reading.document {
        discovered = links::to_visit(policy, scope, found, at, document, rules, tally).discovered;
    }
    if let Some(kind) = reading.listing.filter(|_| rules.pages) {
        listings::read_in_parts(policy, page, kind, |part| {
            let listed = listings::to_visit(policy, scope, quota, found, at, &part, tally);
            discovered.extend(listed);
            ControlFlow::Continue(())
        });
    }
    following.queued(discovered)
}

/// Returns the URL for which a robots.txt was fetched: one of the page's chain and of the file's
/// origin. If the file had moved to another origin, it was most likely the queued page.
fn asked_for<'a>(page: &'a PageUrl, reached: &'a [PageUrl], file: &PageUrl) -> &'a PageUrl {
    let mut asked = std::iter::once(page).chain(reached);
    asked
        .find(|url| url.origin() == file.origin())
        .unwrap_or(page)
}

/// Gives this crawl's verdict to a page that another crawler archived without one: a page that
/// [`rebuild_visit`] took for unique may repeat a page before it. The archive has it all the same.
pub fn apply_verdict(policy: &Policy, rebuilt: &mut RebuiltVisit, verdict: Verdict) {
    let (original, retained) = match verdict {
        Verdict::Unique | Verdict::Own => return,
        Verdict::Changed(capture) => {
            rebuilt.record.fate = Fate::Changed;
            visit_record::record_change(&mut rebuilt.record, &capture);
            return;
        }
        Verdict::Duplicate(original) => (original, None),
        Verdict::Retained(original, retained) => (original, Some(retained)),
    };
    rebuilt.record.fate = admission::fate_of(original.likeness);
    visit_record::record_duplicate(&mut rebuilt.record, &original, retained);
    let itself = original.earlier && original.page.url == rebuilt.record.url;
    if !itself && retained.is_none() && policy.on_duplicate != OnDuplicate::Follow {
        let following = policy
            .duplicate_links
            .of_duplicate(is_seed(&rebuilt.record));
        rebuilt.discovered = following.queued(std::mem::take(&mut rebuilt.discovered));
    }
    rebuilt.retained = retained.map(|retained| RetainedMatch {
        likeness: original.likeness,
        rank: retained.rank,
        by_canonical: original.by_canonical,
    });
}

/// Fills in the record of a page whose text the archive does not have.
fn record_notes<'a>(
    policy: &Policy,
    record: &mut VisitRecord,
    note: &impl Fn(&str) -> Option<&'a str>,
) {
    let text = |name| note(name).map(str::to_owned);
    record.status = note("http-status")
        .and_then(|status| status.parse().ok())
        .or(record.status);
    record.content_type = text("content-type").or_else(|| record.content_type.take());
    record.bytes = note("bytes")
        .and_then(|bytes| bytes.parse().ok())
        .unwrap_or(record.bytes);
    record.charset = text("charset");
    record.language = text("language");
    record.title = text("title");
    record.canonical =
        note("canonical").and_then(|url| PageUrl::parse(url, &policy.canonical).ok());
    record.fingerprint = note("fingerprint").and_then(|digits| digits.parse().ok());
    record.payload = note("payload").and_then(|digits| u128::from_str_radix(digits, 16).ok());
}

/// Adds the targets of a seed's redirects to the scope, and returns those that it did not let in.
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

/// Returns the way in which the links of a page were queued, as `admission.rs` decided then.
fn following(
    policy: &Policy,
    record: &VisitRecord,
    reading: &Reading,
    is_retained: bool,
) -> Following {
    let asks = reading
        .document
        .as_ref()
        .map(|document| document.directives);
    if asks.unwrap_or_default().nofollow && !policy.ignore_robots {
        return Following::Nowhere;
    }
    let is_kept = record.fate.is_original() || repeats_itself(record) || is_retained;
    if is_kept || policy.on_duplicate == OnDuplicate::Follow {
        return Following::All;
    }
    policy.duplicate_links.of_duplicate(is_seed(record))
}

fn is_seed(record: &VisitRecord) -> bool {
    record.depth == 0 && record.via.is_none()
}

/// True if an earlier crawl has the same page under the same URL.
fn repeats_itself(record: &VisitRecord) -> bool {
    record.of_earlier && record.duplicate_of.as_ref() == Some(&record.url)
}

fn likeness(record: &VisitRecord) -> Likeness {
    match record.fate {
        Fate::NearDuplicate => Likeness::Near {
            distance: record.distance.unwrap_or_default(),
            resemblance: record.resemblance.unwrap_or_default(),
        },
        _ => Likeness::SameText,
    }
}
