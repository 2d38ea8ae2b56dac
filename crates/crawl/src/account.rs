//! What is told of a visit: the row for the journal, and the notes for the archive.

use neardup::Likeness;
use sinks::Keeping;
use store::{Fate, Lease, Original, Row, Seat};
use web::{Exchange, PageUrl, Timestamp};

use crate::judgement::Judgement;
use crate::reading::Reading;

/// The row of a visit that brought no page to judge: what is known without reading anything.
pub(crate) fn of_no_page(
    lease: &Lease,
    exchanges: &[Exchange],
    now: Timestamp,
    fate: Fate,
    reason: String,
) -> Row {
    let last = exchanges.last();
    let final_url = last
        .map(|exchange| &exchange.url)
        .filter(|url| **url != lease.url);
    let media = last
        .and_then(|exchange| exchange.header("content-type"))
        .map(web::essence);
    Row {
        url: lease.url.clone(),
        final_url: final_url.cloned(),
        status: last.map(|exchange| exchange.status),
        fetched_at: last.map_or(now, |exchange| exchange.started),
        depth: lease.depth,
        via: lease.via.clone(),
        content_type: media,
        bytes: exchanges.iter().map(|exchange| exchange.body.len() as u64).sum(),
        charset: None,
        language: None,
        title: None,
        fate,
        duplicate_of: None,
        distance: None,
        resemblance: None,
        fingerprint: None,
        reason: Some(reason),
        warc_file: None,
        warc_offset: None,
        kept: !exchanges.is_empty(),
        of_earlier: false,
    }
}

/// The row of a page that was read and judged.
pub(crate) fn of_page(
    lease: &Lease,
    exchanges: &[Exchange],
    reading: &Reading,
    judgement: &Judgement,
) -> Row {
    let mut row = of_no_page(
        lease,
        exchanges,
        Timestamp::default(),
        judgement.fate,
        String::new(),
    );
    row.reason.clone_from(&judgement.reason);
    row.kept = judgement.keeping == Keeping::Whole;
    row.fingerprint = reading.portrait.text.as_ref().map(|text| text.fingerprint);
    if let Some(document) = &reading.document {
        row.charset = Some(document.charset.to_owned()).filter(|name| !name.is_empty());
        row.language.clone_from(&document.language);
        row.title.clone_from(&document.title);
    }
    if let Some(original) = &judgement.original {
        row.duplicate_of = Some(original.page.url.clone());
        row.of_earlier = original.earlier;
        let (distance, resemblance) = match original.likeness {
            Likeness::SamePayload | Likeness::SameText => (0, 1.0),
            Likeness::Near {
                distance,
                resemblance,
            } => (distance, resemblance),
        };
        row.distance = Some(distance);
        row.resemblance = Some(resemblance);
        row.reason = Some(reason(&row.url, original, judgement.seat));
    }
    row
}

/// In what a page repeats another, and what is special about it.
fn reason(url: &PageUrl, original: &Original, seat: Option<Seat>) -> String {
    let mut reason = match original.likeness {
        Likeness::SamePayload => "the same bytes".to_owned(),
        Likeness::SameText => "the same text".to_owned(),
        Likeness::Near {
            distance,
            resemblance,
        } => format!("resemblance {resemblance:.2}, {distance} bits apart"),
    };
    if original.earlier && original.page.url == *url {
        reason.push_str("; it repeats itself in an earlier crawl");
    } else if original.earlier {
        reason.push_str("; the original is in an earlier crawl");
    }
    if let Some(Seat { number, of }) = seat {
        reason.push_str(&format!("; let through: {number} of {of} of its kind"));
    }
    reason
}

/// The fields of the archive's `metadata` record: none for a page that is simply kept.
pub(crate) fn notes(row: &Row) -> Vec<(&'static str, String)> {
    if row.fate == Fate::Unique {
        return Vec::new();
    }
    let told = [
        ("verdict", Some(row.fate.as_str().to_owned())),
        ("reason", row.reason.clone()),
        ("duplicate-of", row.duplicate_of.as_ref().map(ToString::to_string)),
        ("distance", row.distance.map(|bits| bits.to_string())),
        ("resemblance", row.resemblance.map(|share| format!("{share:.4}"))),
        (
            "fingerprint",
            row.fingerprint.map(|fingerprint| fingerprint.to_string()),
        ),
        ("http-status", row.status.map(|status| status.to_string())),
        ("via", row.via.as_ref().map(ToString::to_string)),
        ("hopsFromSeed", Some(row.depth.to_string())),
    ];
    told.into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
        .collect()
}
