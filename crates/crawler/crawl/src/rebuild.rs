//! Rebuilds a visit from the archive; `crawler rebuild` makes a journal of such visits.
//!
//! The archive's verdict is kept, not recomputed. The signature and the links of a page are read
//! from the archived page by the code that visited it; so are the sitemaps that a robots.txt names.
//! A page that was not archived has no text in the archive, so its links are lost if they were
//! followed; for a page off topic, the notes name the links that were queued. The links of a page
//! that repeats itself in an earlier crawl are followed again if that crawl's archive still exists.
//! Links get their score from the topic as they do in a crawl.

pub(crate) mod archived_links;

use std::str::FromStr;
use std::time::Duration;

use journal::{Cut, DiscoveredUrl, Fate, Reason, UnreadFormat, VisitDetails, VisitRecord};
use neardup::{MatchKind, PageSignature};
use policy::{Following, OnDuplicate, Policy};
use store::Verdict;
use web::{CanonicalForm, Exchange, PageUrl, RobotsRules, Scope, SiteFile, Timestamp};

use self::archived_links::ArchivedLinks;
use crate::runtime::adaptive_signatures::AdaptiveSignatures;
use crate::runtime::listing_quota::ListingQuota;
use crate::steps::link_rules::LinkRules;
use crate::steps::link_score::LinkScores;
use crate::steps::outlinks::NotedLinks;
use crate::steps::reading::{AwaitedDoms, Kind, Reader, Reading};
use crate::steps::unvisited::LinkTally;
use crate::steps::{admission, listings, seed_moves, visit_record};

/// A visit as recorded in an archive. Sub-requests of a rendered page are not part of it.
#[derive(Debug)]
pub struct ArchivedVisit {
    /// The page as it was queued.
    pub page: DiscoveredUrl,
    /// The start of the visit.
    pub at: Timestamp,
    /// The exchanges, from first to last. An exchange without a kept payload has no body.
    pub exchanges: Vec<Exchange>,
    /// True if the last exchange has its body.
    pub kept: bool,
    /// The last exchange with the DOM of the page in place of its body, if the archive has a DOM.
    pub dom: Option<Exchange>,
    /// The fields of the `metadata` record, in record order.
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
    /// The match with the original, if the page was retained as a duplicate.
    pub retained: Option<RetainedMatch>,
    /// The sitemaps that were queued before the page was requested.
    pub sitemaps: Vec<DiscoveredUrl>,
    /// The links to visit.
    pub discovered: Vec<DiscoveredUrl>,
    /// Number of further links that were queued, whose URLs the archive omits.
    pub links_omitted: u64,
    /// The targets of the redirects that were followed.
    pub reached: Vec<PageUrl>,
    /// The targets that widened the scope, a subset of `reached`.
    pub adopted: Vec<PageUrl>,
}

/// The match of a retained duplicate with its original.
#[derive(Clone, Copy, Debug)]
pub struct RetainedMatch {
    /// The kind of match of the two.
    pub match_kind: MatchKind,
    /// The rank of the page in the original's cluster; the original has rank 1.
    pub rank: u32,
    /// True if the original was found only through the page's canonical link.
    pub by_canonical: bool,
}

/// The rules for rebuilding visits.
#[derive(Clone, Copy)]
pub struct RebuildRules<'a> {
    /// The rules of the crawl.
    pub policy: &'a Policy,
    /// The builder of page signatures.
    pub adaptive_signatures: &'a AdaptiveSignatures,
    /// The count of each host's listings over all visits.
    pub quota: &'a ListingQuota,
    /// The topic of a focused crawl; `None` if links get no score.
    pub link_scores: Option<LinkScores<'a>>,
}

/// Rebuilds a visit. Redirects of seeds widen `scope`, as they did then.
pub fn rebuild_visit(
    rules: RebuildRules<'_>,
    scope: &mut Scope,
    visit: ArchivedVisit,
) -> RebuiltVisit {
    let RebuildRules {
        policy,
        adaptive_signatures,
        quota,
        link_scores,
    } = rules;
    let ArchivedVisit {
        page: found,
        at,
        exchanges,
        kept,
        dom,
        notes,
        robots,
        unchanged,
    } = visit;
    let notes = Notes {
        fields: &notes,
        form: &policy.reading.canonical,
    };
    // Another spelling of the page is no other page. The first exchange is another one only if the
    // host asked for https.
    let targets = exchanges.iter().map(|exchange| &exchange.url);
    let reached: Vec<PageUrl> = targets.filter(|url| **url != found.url).cloned().collect();
    let is_seed = found.depth == 0 && found.via.is_none();
    let mut adopted = match is_seed {
        true => seed_moves::adopt(scope, &found.url, &reached),
        false => Vec::new(),
    };
    let link_rules = LinkRules {
        policy,
        scope,
        quota,
    };
    let mut sitemaps = Vec::new();
    let is_robots = |(file, _): &&(PageUrl, Vec<u8>)| SiteFile::at(file).is_none();
    for (file, lines) in robots.iter().filter(is_robots) {
        let rules = RobotsRules::parse(lines, &policy.reading.agent);
        let url = asked_for(&found.url, &reached, file);
        sitemaps.extend(listings::named_sitemaps(
            link_rules,
            &found,
            url,
            &rules,
            &mut LinkTally::default(),
        ));
    }

    let mut record = archived_record(found.clone(), &exchanges, at, notes);
    record.kept = kept;
    let retained = retained_match(&record, notes);

    let (mut signature, mut noted, mut refresh) = (None, NotedLinks::default(), None);
    let reader = Reader {
        policy,
        signatures: adaptive_signatures,
        // The archive's notes have the relevance.
        focus: None,
        kind: Kind::of(&found),
        doms: AwaitedDoms::No,
    };
    let follow = |record: &VisitRecord, page: &Exchange, reading: &Reading, is_retained| {
        let links = ArchivedLinks {
            rules: link_rules,
            link_scores,
            found: &found,
            page,
            record,
        };
        links.followed(reading, following(policy, record, reading, is_retained))
    };
    let archived = exchanges
        .last()
        .filter(|_page| kept && record.fate.is_page());
    if let Some(page) = archived {
        let mut reading = reader.read_archived(page);
        if let Some(dom) = &dom {
            reading.replace_by_dom(reader.read_archived(dom));
        }
        visit_record::record_content(&mut record, &reading);
        noted.links = follow(&record, page, &reading, retained.is_some());
        record.payload = Some(reading.signature.payload);
        let document = reading.document.as_ref().filter(|_| is_seed);
        refresh =
            document.and_then(|document| seed_moves::refresh_out_of(scope, document).cloned());
        signature = Some(reading.signature);
    } else {
        record_notes(&mut record, notes);
        if let Some(page) = unchanged.filter(|_| record.repeats_itself()) {
            // It was not admitted; its signature comes from the earlier crawl.
            let reading = reader.read_archived(&page);
            noted.links = follow(&record, &page, &reading, false);
        } else {
            let at = record.final_url.as_ref().unwrap_or(&record.url);
            noted = NotedLinks::of(notes.fields, notes.form, &found, at);
            noted.measure(link_rules, &found, at);
        }
    }
    adopted.extend(seed_moves::adopt(scope, &found.url, &refresh));
    RebuiltVisit {
        record,
        signature,
        retained,
        sitemaps,
        discovered: noted.links,
        links_omitted: noted.omitted,
        reached,
        adopted,
    }
}

/// The fields of a `metadata` record.
#[derive(Clone, Copy)]
struct Notes<'a> {
    fields: &'a [(String, String)],
    form: &'a CanonicalForm,
}

impl<'a> Notes<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        let mut fields = self.fields.iter();
        let field = fields.find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    fn parsed<T: FromStr>(self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// Returns the reason: its data, or its text if the archive lacks the data.
    fn reason(self) -> Option<Reason> {
        let data = self.text(visit_record::REASON_DATA);
        let data = data.and_then(|data| serde_json::from_str(data).ok());
        let text = || self.text("reason").filter(|text| !text.is_empty());
        data.or_else(|| text().map(Reason::said))
    }

    fn url(self, name: &str) -> Option<PageUrl> {
        PageUrl::parse(self.text(name)?, self.form).ok()
    }

    /// Returns the values of a field that may be repeated.
    fn texts(self, name: &str) -> impl Iterator<Item = &'a str> {
        let named = self.fields.iter();
        let named = named.filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    fn urls(self, name: &str) -> Vec<PageUrl> {
        let urls = self.texts(name).map(|url| PageUrl::parse(url, self.form));
        urls.filter_map(Result::ok).collect()
    }

    fn cuts(self) -> Vec<Cut> {
        let mut cuts = Vec::new();
        for cut in self
            .texts(visit_record::CUT_BY)
            .filter_map(visit_record::cut_of_field)
        {
            cut.add_to(&mut cuts);
        }
        cuts
    }
}

/// Returns the record of a visit from its exchanges and notes, without the page's content.
fn archived_record(
    page: DiscoveredUrl,
    exchanges: &[Exchange],
    at: Timestamp,
    notes: Notes<'_>,
) -> VisitRecord {
    let fate = notes.text("verdict").and_then(Fate::of_word);
    let fate = fate.unwrap_or(Fate::Unique);
    let visit = visit_record::without_page(page, exchanges, at, fate, Reason::said(""));
    let matched_by = notes.text(visit_record::MATCHED_BY);
    let fetch_time = notes.parsed("fetchTimeMs").map(Duration::from_millis);
    VisitRecord {
        reason: notes.reason(),
        of_earlier: notes.text("duplicate-of-earlier-crawl").is_some(),
        duplicate_of: notes.url("duplicate-of"),
        distance: notes.parsed("distance"),
        resemblance: notes.parsed("resemblance"),
        details: VisitDetails {
            rule: matched_by.and_then(visit_record::rule_matched_by),
            duration: fetch_time.or(visit.details.duration),
            words: notes.parsed("words"),
            digest: notes.parsed("payload-digest"),
            relevance: notes.parsed(visit_record::RELEVANCE),
            cuts: notes.cuts(),
            unread: notes
                .text(visit_record::UNREAD)
                .and_then(UnreadFormat::of_word),
            contains: notes.urls(visit_record::CONTAINS),
            needs_scripts: notes.text(visit_record::NEEDS_SCRIPTS).is_some(),
            rendered: notes
                .text(visit_record::RENDERED)
                .and_then(visit_record::rendered_of_field),
            preferences: notes.parsed(visit_record::PREFERENCES),
            ..visit.details
        },
        ..visit
    }
}

/// Returns the match of a page with its original if the page was retained.
fn retained_match(record: &VisitRecord, notes: Notes<'_>) -> Option<RetainedMatch> {
    let matched_by = notes.text(visit_record::MATCHED_BY)?;
    Some(RetainedMatch {
        match_kind: match_kind(record),
        rank: notes.parsed(visit_record::CLUSTER_RANK)?,
        by_canonical: matched_by == visit_record::BY_CANONICAL,
    })
}

/// Returns the URL that a robots.txt was fetched for: a URL of the page's chain with the file's
/// origin. If the file had moved to another origin, it was most likely fetched for the queued page.
fn asked_for<'a>(page: &'a PageUrl, reached: &'a [PageUrl], file: &PageUrl) -> &'a PageUrl {
    let mut asked = std::iter::once(page).chain(reached);
    asked
        .find(|url| url.origin() == file.origin())
        .unwrap_or(page)
}

/// Gives this crawl's verdict to a page that another crawler archived without one: a page that
/// [`rebuild_visit`] took for unique may repeat a page before it. It stays in the archive.
pub fn apply_verdict(policy: &Policy, rebuilt: &mut RebuiltVisit, verdict: &Verdict) {
    visit_record::record_verdict(&mut rebuilt.record, verdict);
    let Some((original, retained)) = admission::repeated(verdict) else {
        return;
    };
    let is_kept = rebuilt.record.repeats_itself() || retained.is_some();
    if !is_kept && policy.on_duplicate != OnDuplicate::Follow {
        let links = policy.duplicate_links;
        let record = &rebuilt.record;
        let following = links.of_duplicate(is_seed(record), is_mirror(record));
        rebuilt.discovered = following.queued(std::mem::take(&mut rebuilt.discovered));
    }
    rebuilt.retained = retained.map(|retained| RetainedMatch {
        match_kind: original.match_kind,
        rank: retained.rank,
        by_canonical: original.by_canonical,
    });
}

/// Fills in the record of a page whose text the archive does not have.
fn record_notes(record: &mut VisitRecord, notes: Notes<'_>) {
    record.status = notes.parsed("http-status").or(record.status);
    record.content_type = notes
        .parsed("content-type")
        .or_else(|| record.content_type.take());
    record.bytes = notes.parsed("bytes").unwrap_or(record.bytes);
    record.charset = notes.parsed("charset");
    record.language = notes.parsed("language");
    let share: Option<f64> = notes.parsed(visit_record::LANGUAGE_CONFIDENCE);
    // A cast of no number is 0.
    record.details.language_confidence = share.map(|share| (share * 100.0).round() as u8);
    record.title = notes.parsed("title");
    record.canonical = notes.url("canonical");
    record.fingerprint = notes.parsed("fingerprint");
    let name = |field| u128::from_str_radix(notes.text(field)?, 16).ok();
    record.payload = name("payload");
    record.details.content = name(visit_record::CONTENT);
}

/// Returns how the links of a page were queued, as `admission.rs` decided then.
pub(crate) fn following(
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
    let is_off_topic = record.fate == Fate::OffTopic;
    let is_kept =
        record.fate.is_original() || record.repeats_itself() || is_retained || is_off_topic;
    if is_kept || policy.on_duplicate == OnDuplicate::Follow {
        return Following::All;
    }
    policy
        .duplicate_links
        .of_duplicate(is_seed(record), is_mirror(record))
}

/// Returns true for a copy of a page of another domain in this crawl.
fn is_mirror(record: &VisitRecord) -> bool {
    let original = record.duplicate_of.as_ref().filter(|_| !record.of_earlier);
    original.is_some_and(|of| of.registrable_domain() != record.url.registrable_domain())
}

fn is_seed(record: &VisitRecord) -> bool {
    record.depth == 0 && record.via.is_none()
}

fn match_kind(record: &VisitRecord) -> MatchKind {
    match record.fate {
        Fate::NearDuplicate => MatchKind::Near {
            distance: record.distance.unwrap_or_default(),
            resemblance: record.resemblance.unwrap_or_default(),
        },
        _ => MatchKind::SameText,
    }
}

#[cfg(test)]
mod tests;
