//! Visits of other crawlers whose page is archived already (`revisit`).
//!
//! The page to which such a record refers is looked up among the pages before it. Both have the
//! same bytes, so this page repeats whatever the other one repeats: a duplicate points to an
//! original, never to another duplicate.

use std::collections::HashMap;

use corpus::is_visited;
use neardup::Fingerprint;
use sinks::warc::Record;
use store::{Fate, VisitRecord};
use web::{CanonicalForm, Exchange, PageUrl, Timestamp, UrlKey};

/// A visit whose answer has the bytes of an earlier one.
pub(super) struct Revisit {
    /// The visited URL, behind all redirects.
    pub(super) url: PageUrl,
    pub(super) at: Timestamp,
    /// The redirects that led there, and the answer, if it is archived.
    pub(super) exchanges: Vec<Exchange>,
    /// The offset of the record; none if it cannot be read by its offset.
    pub(super) offset: Option<u64>,
    /// The page that has the bytes, and the date of its record, if they are given.
    of: Option<PageUrl>,
    of_date: Option<Timestamp>,
    /// True if the server said so (304), false if the bytes were compared.
    is_unmodified: bool,
}

impl Revisit {
    /// Reads a record; returns none unless it is the revisit of a page.
    pub(super) fn of(record: &Record, form: &CanonicalForm) -> Option<Self> {
        if record.kind() != "revisit" || !record.target().is_some_and(is_visited) {
            return None;
        }
        let url = record.page_url(form)?;
        let answer = record.answer(form);
        let is_page =
            |answer: &Exchange| (200..300).contains(&answer.status) || answer.status == 304;
        if answer.as_ref().is_some_and(|answer| !is_page(answer)) {
            return None;
        }
        // The end of the profile is the same in both versions of WARC.
        let profile = record.field("WARC-Profile").unwrap_or_default();
        let is_unmodified = profile.ends_with("/server-not-modified");
        let of = match record.field("WARC-Refers-To-Target-URI") {
            // The grammar of WARC/1.0 has brackets around every URI.
            Some(of) => PageUrl::parse(of.trim_matches(['<', '>']), form).ok(),
            None => is_unmodified.then(|| url.clone()),
        };
        let is_known = is_unmodified || profile.ends_with("/identical-payload-digest");
        Some(Self {
            at: record.date().parse().ok()?,
            exchanges: answer.into_iter().collect(),
            offset: record.addressable.then_some(record.offset),
            of: of.filter(|_| is_known),
            of_date: record
                .field("WARC-Refers-To-Date")
                .and_then(|date| date.parse().ok()),
            url,
            is_unmodified,
        })
    }

    /// Returns the URL as it was requested.
    pub(super) fn page(&self) -> &PageUrl {
        self.exchanges.first().map_or(&self.url, |first| &first.url)
    }
}

/// The pages to which revisits may refer: every page that counts as visited.
#[derive(Default)]
pub(super) struct Originals(HashMap<UrlKey, Box<Original>>);

/// A page, with its own original if it repeats one.
struct Original {
    url: PageUrl,
    at: Timestamp,
    fate: Fate,
    of: PageUrl,
    of_earlier: bool,
    distance: u32,
    resemblance: f64,
    fingerprint: Option<Fingerprint>,
}

impl Originals {
    /// Adds a settled visit.
    pub(super) fn add(&mut self, row: &VisitRecord) {
        if !row.fate.is_page() {
            return;
        }
        // The same bytes as a new version of a page repeat that version, and not the page before.
        let repeated = row
            .duplicate_of
            .as_ref()
            .filter(|_| row.fate.is_duplicate());
        let original = || {
            let mut original = Original {
                url: row.url.clone(),
                at: row.fetched_at,
                fate: Fate::ExactDuplicate,
                of: row.url.clone(),
                of_earlier: false,
                distance: 0,
                resemblance: 1.0,
                fingerprint: row.fingerprint,
            };
            if let Some(of) = repeated {
                original.of = of.clone();
                original.fate = row.fate;
                original.of_earlier = row.of_earlier;
                original.distance = row.distance.unwrap_or_default();
                original.resemblance = row.resemblance.unwrap_or(1.0);
            }
            Box::new(original)
        };
        self.0.insert(row.url.key(), original());
        if let Some(url) = &row.final_url {
            self.0.entry(url.key()).or_insert_with(original);
        }
    }

    /// Returns the notes of a revisit; none if the page to which it refers is missing, or was
    /// archived at another time.
    pub(super) fn notes(&self, revisit: &Revisit) -> Option<Vec<(String, String)>> {
        let original = self.0.get(&revisit.of.as_ref()?.key())?;
        if revisit.of_date.is_some_and(|date| date != original.at) {
            return None;
        }
        let mut reason = match revisit.is_unmodified {
            true => format!("not modified since {}", original.at),
            false => "the same bytes".to_owned(),
        };
        if original.of != original.url {
            reason.push_str(&format!("; they are those of {}", original.url));
        }
        let earlier = original.of_earlier.then(|| "yes".to_owned());
        let fingerprint = original.fingerprint.map(|bits| bits.to_string());
        let notes = [
            ("verdict", Some(original.fate.as_str().to_owned())),
            ("reason", Some(reason)),
            ("duplicate-of", Some(original.of.to_string())),
            ("distance", Some(original.distance.to_string())),
            ("resemblance", Some(original.resemblance.to_string())),
            ("duplicate-of-earlier-crawl", earlier),
            ("fingerprint", fingerprint),
        ];
        let given = notes.into_iter();
        let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Some(given.collect())
    }
}
