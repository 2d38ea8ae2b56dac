//! The record of a visit: a `VisitRecord` for the journal, and fields for the archive.

use std::collections::BTreeSet;
use std::time::Duration;

use journal::{
    Cut, DiscoveredUrl, DuplicateRule, Fate, Limit, OF_CANONICAL, Reason, Rendered, SAME_BYTES,
    SAME_TEXT, VisitDetails, VisitRecord,
};
use neardup::MatchKind;
use sinks::{Keeping, MetadataField, QUEUED_URL};
use store::{EarlierCapture, Lease, Original, RetainedDuplicate, Verdict};
use web::{Document, Exchange, ListingKind, PageUrl, Timestamp, Warning};

use crate::context::CrawlContext;
use crate::steps::admission::{self, Admission};
use crate::steps::reading::Reading;

/// Returns the record of a visit without a page to judge, from the exchanges alone.
pub(crate) fn without_page(
    page: DiscoveredUrl,
    exchanges: &[Exchange],
    now: Timestamp,
    fate: Fate,
    reason: Reason,
) -> VisitRecord {
    let last = exchanges.last();
    let final_url = last
        .map(|exchange| &exchange.url)
        .filter(|url| **url != page.url);
    let media = last
        .and_then(Exchange::content_type)
        .map(|field| web::essence(&field));
    let visit = VisitRecord::new(page, fate, last.map_or(now, |exchange| exchange.started));
    let redirects = exchanges.len().saturating_sub(1);
    VisitRecord {
        final_url: final_url.cloned(),
        status: last.map(|exchange| exchange.status),
        content_type: media,
        bytes: exchanges.iter().map(|exchange| exchange.body.len()).sum(),
        reason: Some(reason),
        kept: !exchanges.is_empty(),
        details: VisitDetails {
            duration: last.map(|exchange| in_millis(exchange.elapsed)),
            redirects: u32::try_from(redirects).unwrap_or(u32::MAX),
            ..visit.details
        },
        ..visit
    }
}

/// Returns a span in whole milliseconds, as in the archive.
fn in_millis(span: Duration) -> Duration {
    Duration::from_millis(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the record of a page that was read and admitted. `page` is the last exchange, or the
/// archived one if that is unmodified.
pub(crate) fn with_page(
    lease: &Lease,
    page: &Exchange,
    exchanges: &[Exchange],
    reading: &Reading,
    admission: &Admission,
) -> VisitRecord {
    let (found, never) = (lease.discovered().clone(), Timestamp::default());
    let mut visit = without_page(found, exchanges, never, Fate::Excluded, Reason::said(""));
    visit.reason.clone_from(&admission.reason);
    visit.content_type = page.content_type().map(|field| web::essence(&field));
    visit.kept = admission.keeping == Keeping::Whole;
    visit.fate = admission.unjudged;
    visit.details.relevance = reading.relevance();
    visit.details.cuts.clone_from(&reading.cuts);
    visit.details.rendered.clone_from(&reading.rendered.result);
    visit.payload = Some(reading.signature.payload);
    record_content(&mut visit, reading);
    if let Some(verdict) = &admission.verdict {
        record_verdict(&mut visit, verdict);
    }
    visit.details.contains.clone_from(&admission.contains);
    visit.details.preferences = admission.preferences.stated();
    if admission.is_by_texts {
        visit.details.rule = Some(DuplicateRule::SameContent);
    }
    if let (Some(reason), Some(retention_rule)) = (&mut visit.reason, admission.retention_rule) {
        reason.append(&format!("; kept all the same: {}", retention_rule.as_str()));
    }
    visit
}

/// Records the verdict, and the page that is repeated or has changed.
pub(crate) fn record_verdict(visit: &mut VisitRecord, verdict: &Verdict) {
    match verdict {
        Verdict::Unique | Verdict::Own => visit.fate = Fate::Unique,
        Verdict::Changed(capture) => record_change(visit, capture),
        Verdict::Duplicate(original) => record_duplicate(visit, original, None),
        Verdict::Retained(original, retained) => record_duplicate(visit, original, Some(*retained)),
    }
}

/// Records that an earlier crawl archived another version of the page.
fn record_change(visit: &mut VisitRecord, capture: &EarlierCapture) {
    visit.fate = Fate::Changed;
    visit.duplicate_of = Some(capture.page.url.clone());
    visit.of_earlier = true;
    visit.distance = capture.distance;
    // Rounded as in the archive, so that a rebuilt journal has the same value.
    visit.resemblance = capture
        .resemblance
        .map(|share| (share * 10_000.0).round() / 10_000.0);
    let nearness = match (capture.resemblance, capture.distance) {
        (Some(1.0), Some(0)) => "; the same text".to_owned(),
        (Some(resemblance), Some(distance)) => {
            format!("; resemblance {resemblance:.2}, {} apart", bits(distance))
        }
        (None, Some(distance)) => format!("; {} apart", bits(distance)),
        (_, None) => String::new(),
    };
    visit.reason = Some(Reason::said(format!(
        "other bytes than an earlier crawl archived on {}{nearness}",
        capture.page.at
    )));
}

/// Records that the page repeats another.
fn record_duplicate(
    visit: &mut VisitRecord,
    original: &Original,
    retained: Option<RetainedDuplicate>,
) {
    visit.duplicate_of = Some(original.page.url.clone());
    visit.of_earlier = original.earlier;
    visit.details.rule = Some(rule(original));
    let (fate, distance, resemblance) = match original.match_kind {
        MatchKind::SamePayload | MatchKind::SameText => (Fate::ExactDuplicate, 0, 1.0),
        MatchKind::Near {
            distance,
            resemblance,
        } => (Fate::NearDuplicate, distance, resemblance),
    };
    visit.fate = fate;
    visit.distance = Some(distance);
    visit.resemblance = Some(resemblance);
    if visit.reason.is_none() {
        visit.reason = Some(Reason::said(reason(visit, original, retained)));
    }
}

/// Returns the match rule of a page and its original.
fn rule(original: &Original) -> DuplicateRule {
    match original.match_kind {
        _ if original.by_canonical => DuplicateRule::ByCanonical,
        MatchKind::SamePayload => DuplicateRule::SameBytes,
        MatchKind::SameText => DuplicateRule::SameText,
        MatchKind::Near { .. } => DuplicateRule::Near,
    }
}

/// Records the content of the page.
pub(crate) fn record_content(visit: &mut VisitRecord, reading: &Reading) {
    let text = reading.signature.text.as_ref();
    visit.fingerprint = text.map(|text| text.fingerprint);
    visit.details.words = text.map(|text| text.words);
    visit.details.digest = Some(reading.payload.to_string());
    visit.details.content = reading.content;
    visit.details.unread = reading.unread;
    visit.details.is_sitemap = reading.listing.is_some_and(ListingKind::is_sitemap);
    if let Some(document) = &reading.document {
        visit.details.needs_scripts = reading.needs_scripts && visit.requisite == 0;
        visit.charset = Some(document.charset.to_owned()).filter(|name| !name.is_empty());
        visit.language.clone_from(&document.language);
        visit.details.language_confidence = document.language_confidence;
        visit.title.clone_from(&document.title);
        let canonical = document.canonical.as_ref();
        let is_itself =
            |url: &&PageUrl| **url == visit.url || Some(*url) == visit.final_url.as_ref();
        visit.canonical = canonical.filter(|url| !is_itself(url)).cloned();
    }
}

/// Returns a distance in words.
fn bits(distance: u32) -> String {
    match distance {
        1 => "1 bit".to_owned(),
        more => format!("{more} bits"),
    }
}

/// Returns the match kind of a page to its original, in words.
fn reason(visit: &VisitRecord, original: &Original, retained: Option<RetainedDuplicate>) -> String {
    let mut reason = match original.match_kind {
        MatchKind::SamePayload => SAME_BYTES.to_owned(),
        MatchKind::SameText => SAME_TEXT.to_owned(),
        MatchKind::Near {
            distance,
            resemblance,
        } => {
            let with = canonical_clause(visit, original);
            format!(
                "resemblance {resemblance:.2}{with}, {} apart",
                bits(distance)
            )
        }
    };
    if original.earlier && original.page.url == visit.url {
        reason.push_str("; it repeats itself in an earlier crawl");
    } else if original.earlier {
        reason.push_str("; the original is in an earlier crawl");
    }
    if let Some(RetainedDuplicate { rank, of }) = retained {
        reason.push_str(&format!("; let through: {rank} of {of} of its kind"));
    }
    reason
}

/// Returns the clause for a match by the page's canonical link; empty for other matches.
fn canonical_clause(visit: &VisitRecord, original: &Original) -> String {
    if !original.by_canonical {
        return String::new();
    }
    let Original { page, .. } = original;
    let canonical = visit.canonical.as_ref();
    let is_original = canonical.is_some_and(|url| *url == page.url || *url == page.final_url);
    let whom = if is_original {
        "the page"
    } else {
        "the original of the page"
    };
    format!(" with {whom}{OF_CANONICAL}")
}

/// Returns the fields of the `metadata` record about the match of a page with its original, and its
/// rank in the original's cluster. `crawler rebuild` reads them ([`rebuild_visit`]). If only the
/// text of a page is kept, its heading is included, because it contributed to the decision.
///
/// [`rebuild_visit`]: crate::rebuild_visit
pub(crate) fn match_fields(
    admission: &Admission,
    document: Option<&Document>,
) -> Vec<MetadataField> {
    let verdict = admission.verdict.as_ref();
    let Some((original, retained)) = verdict.and_then(admission::repeated) else {
        let contains = admission.contains.iter();
        return contains.map(|page| (CONTAINS, page.to_string())).collect();
    };
    let rule = match admission.is_by_texts {
        true => DuplicateRule::SameContent,
        false => rule(original),
    };
    let mut fields = vec![(MATCHED_BY, matched_by(rule).to_owned())];
    fields.extend(retained.map(|retained| (CLUSTER_RANK, retained.rank.to_string())));
    if let Keeping::TextOnly { .. } = admission.keeping {
        let heading = document.and_then(|document| document.heading.clone());
        fields.extend(heading.map(|heading| ("heading", heading)));
    }
    fields
}

/// Returns the value of [`MATCHED_BY`] for a rule.
const fn matched_by(rule: DuplicateRule) -> &'static str {
    match rule {
        DuplicateRule::ByCanonical => BY_CANONICAL,
        DuplicateRule::SameBytes => "payload",
        DuplicateRule::SameText => "text",
        DuplicateRule::Near => "resemblance",
        DuplicateRule::SameContent => "content",
    }
}

/// Returns the rule with this value of [`MATCHED_BY`].
pub(crate) fn rule_matched_by(value: &str) -> Option<DuplicateRule> {
    let mut rules = DuplicateRule::ALL.into_iter();
    rules.find(|rule| matched_by(*rule) == value)
}

/// The field with the share of a text in its language.
pub(crate) const LANGUAGE_CONFIDENCE: &str = "language-confidence";

/// The field with the name of a body without its content codings.
pub(crate) const CONTENT: &str = "decoded-payload";

/// The field with the feature that matched a page with its original.
pub(crate) const MATCHED_BY: &str = "matched-by";

/// The value of [`MATCHED_BY`] for a page that is near enough only because it names the original as
/// its canonical page.
pub(crate) const BY_CANONICAL: &str = "canonical";

/// A field with a kept page whose content is part of this page's.
pub(crate) const CONTAINS: &str = "contains";

/// The field with the rank of a retained duplicate in its cluster; the original has rank 1.
pub(crate) const CLUSTER_RANK: &str = "cluster-rank";

/// A field with a limit that cut the visit, and the number of links that it cost.
pub(crate) const CUT_BY: &str = "cut-by";

/// The field with the data of a reason, as JSON, unless its text says all.
pub(crate) const REASON_DATA: &str = "reason-data";

/// The field with the format of a document whose text and links are not read.
pub(crate) const UNREAD: &str = "not-read";

/// The field of a page that has next to no text without its scripts.
pub(crate) const NEEDS_SCRIPTS: &str = "needs-scripts";

/// The field of a page whose scripts were run: `yes`, `unchanged`, or `failed: ` and the reason.
pub(crate) const RENDERED: &str = "rendered";

/// The value of [`RENDERED`] for a page that was judged by its DOM.
const RENDERED_DOM: &str = "yes";

/// The value of [`RENDERED`] for such a page whose DOM says what the page as received says.
const RENDERED_UNCHANGED: &str = "unchanged";

/// The field with the owner's preferences for the use of the page.
pub(crate) const PREFERENCES: &str = "preferences";

/// The beginning of the value of [`RENDERED`] for a page whose scripts could not be run.
const RENDERING_FAILED: &str = "failed: ";

/// Returns the value of [`RENDERED`].
fn value_of_rendered(rendered: &Rendered) -> String {
    match rendered {
        Rendered::Dom { adds: true, .. } => RENDERED_DOM.to_owned(),
        Rendered::Dom { adds: false, .. } => RENDERED_UNCHANGED.to_owned(),
        Rendered::Failed(reason) => format!("{RENDERING_FAILED}{reason}"),
    }
}

/// Reads the value of [`RENDERED`], which does not contain the place of the DOM; `None` for other
/// values.
pub(crate) fn rendered_of_field(value: &str) -> Option<Rendered> {
    let dom = |adds| Rendered::Dom { offset: None, adds };
    match value {
        RENDERED_DOM => Some(dom(true)),
        RENDERED_UNCHANGED => Some(dom(false)),
        _ => {
            let reason = value.strip_prefix(RENDERING_FAILED)?;
            Some(Rendered::Failed(reason.to_owned()))
        }
    }
}

/// Returns the fields of the limits that cut a visit.
fn cut_fields(cuts: &[Cut]) -> impl Iterator<Item = MetadataField> {
    let value = |cut: &Cut| match cut.lost {
        0 => cut.limit.to_string(),
        lost => format!("{} {lost}", cut.limit),
    };
    cuts.iter().map(move |cut| (CUT_BY, value(cut)))
}

/// Reads the value of a field [`CUT_BY`]; `None` if it names no limit.
pub(crate) fn cut_of_field(value: &str) -> Option<Cut> {
    let (limit, lost) = value.split_once(' ').unwrap_or((value, "0"));
    Some(Cut {
        limit: Limit::of_word(limit)?,
        lost: lost.parse().ok()?,
    })
}

/// The field with the relevance of a page to the topic of the crawl.
pub(crate) const RELEVANCE: &str = "relevance";

/// The field with the topic's words on a page, the weightiest first.
const TOPIC_WORDS: &str = "topic-words";

/// Returns the field of the `metadata` record with the topic's words on a page, if it has any.
pub(crate) fn topic_fields(reading: &Reading) -> Option<MetadataField> {
    let judged = reading.judged.as_ref()?;
    (!judged.words.is_empty()).then(|| (TOPIC_WORDS, judged.words.join(" ")))
}

/// The field with the warnings of a visit, as the words of [`Warning`].
const WARNINGS: &str = "warnings";

/// Returns the field of the `metadata` record with everything that was odd, each word once.
pub(crate) fn warnings(found: impl IntoIterator<Item = Warning>) -> Option<MetadataField> {
    let words: BTreeSet<&str> = found.into_iter().map(Warning::as_str).collect();
    let words: Vec<&str> = words.into_iter().collect();
    (!words.is_empty()).then(|| (WARNINGS, words.join(" ")))
}

/// Returns the warnings of all exchanges of a visit.
pub(crate) fn warnings_of(exchanges: &[Exchange]) -> impl Iterator<Item = Warning> {
    exchanges
        .iter()
        .flat_map(|exchange| exchange.warnings.iter().copied())
}

/// Returns the fields of the archive's `metadata` record of a visit with these exchanges. `more`
/// are the fields of [`match_fields`] and of the page's links.
pub(crate) fn metadata(
    visit: &VisitRecord,
    exchanges: &[Exchange],
    more: Vec<MetadataField>,
) -> Vec<MetadataField> {
    let first = exchanges.first().map(|exchange| &exchange.url);
    let is_other = first.is_some_and(|first| *first != visit.url);
    let resemblance = visit.resemblance.map(|share| format!("{share:.4}"));
    // A rebuild reads archived pages again.
    let is_unread = !(visit.kept && visit.fate.is_page());
    let payload = visit.payload.filter(|_| is_unread);
    let content = visit.details.content.filter(|_| is_unread);
    let digest = visit.details.digest.clone().filter(|_| is_unread);
    let fetch_time = visit.details.duration.map(|span| span.as_millis());
    let fields = [
        ("verdict", text(Some(visit.fate.as_str()))),
        ("reason", text(visit.reason.as_ref())),
        (REASON_DATA, visit.reason.as_ref().and_then(reason_data)),
        ("duplicate-of", text(visit.duplicate_of.as_ref())),
        ("canonical", text(visit.canonical.as_ref())),
        ("distance", text(visit.distance)),
        ("resemblance", resemblance),
        ("fingerprint", text(visit.fingerprint)),
        (
            "duplicate-of-earlier-crawl",
            text(visit.of_earlier.then_some("yes")),
        ),
        ("payload", payload.map(|payload| format!("{payload:032x}"))),
        (CONTENT, content.map(|content| format!("{content:032x}"))),
        ("payload-digest", digest),
        ("words", text(visit.details.words)),
        (RELEVANCE, text(visit.details.relevance)),
        ("http-status", text(visit.status)),
        ("content-type", visit.content_type.clone()),
        ("bytes", text(Some(visit.bytes))),
        ("charset", visit.charset.clone()),
        ("language", visit.language.clone()),
        (LANGUAGE_CONFIDENCE, text(visit.details.language_share())),
        ("title", visit.title.clone()),
        (QUEUED_URL, text(is_other.then_some(&visit.url))),
        ("via", text(visit.via.as_ref())),
        ("requisite", unless_zero(visit.requisite)),
        ("hopsFromSeed", text(Some(visit.depth))),
        ("hops-off-scope", unless_zero(visit.details.off_scope)),
        ("fetchTimeMs", text(fetch_time)),
        (UNREAD, text(visit.details.unread)),
        (
            NEEDS_SCRIPTS,
            visit.details.needs_scripts.then(|| "yes".to_owned()),
        ),
        (
            RENDERED,
            visit.details.rendered.as_ref().map(value_of_rendered),
        ),
        (PREFERENCES, text(visit.details.preferences)),
    ];
    let fields = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    fields
        .chain(cut_fields(&visit.details.cuts))
        .chain(more)
        .collect()
}

/// Returns the data of a reason as JSON; `None` if its text already contains all.
fn reason_data(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Said { detail, .. } if detail.is_empty() => None,
        reason => serde_json::to_string(reason).ok(),
    }
}

fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn unless_zero(number: u8) -> Option<String> {
    text(Some(number).filter(|number| *number > 0))
}

/// Writes an archived visit to the log, and counts its response.
pub(crate) fn announce(context: &CrawlContext, record: &VisitRecord) {
    let took = record.details.duration;
    let millis = took.and_then(|took| u64::try_from(took.as_millis()).ok());
    tracing::info!(
        url = %record.url, verdict = record.fate.as_str(), status = record.status,
        content_type = record.content_type, bytes = record.bytes, duration_ms = millis,
        via = record.via.as_ref().map(PageUrl::as_str), reason = text(record.reason.as_ref()),
        truncated = record.details.truncated_by(),
        "visited"
    );
    context.telemetry.add_response(record);
    if let Some(focus) = &context.focus {
        focus.count(record);
    }
}
