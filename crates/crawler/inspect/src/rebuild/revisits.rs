//! Visits of other crawlers to pages that are already archived (`revisit`).
//!
//! The original of a revisit is found by the rules of `sinks::captures`, first among the pages
//! before it and at the end among all pages. Both pages have the same bytes. If the found page is
//! itself a duplicate, the revisit gets the same original: a duplicate points to an original, never
//! to another duplicate.

use corpus::is_visited;
use journal::{Fate, VisitRecord};
use neardup::Fingerprint;
use sinks::originals::{self, DigestText, OriginalCapture, Reference};
use sinks::warc::{Record, date};
use web::{CanonicalForm, Exchange, PageUrl, Timestamp};

/// A visit whose response has the same bytes as an earlier response.
pub(super) struct Revisit {
    /// The visited URL, after all redirects.
    pub(super) url: PageUrl,
    pub(super) at: Timestamp,
    /// The redirects to this URL, and the response, if it is archived.
    pub(super) exchanges: Vec<Exchange>,
    /// Offset of the record; `None` if the record cannot be read by its offset.
    pub(super) offset: Option<u64>,
    /// Reference to the page with the bytes; `None` if the profile is unknown.
    reference: Option<Reference>,
    /// Digest and record id that later revisits use to refer to this record.
    pub(super) names: Names,
}

/// The digest and the id of a page's record.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) digest: Option<DigestText>,
    pub(super) id: Option<String>,
}

impl Revisit {
    /// Reads a record. Returns `None` unless it is the revisit of a page.
    pub(super) fn of(record: &Record, form: &CanonicalForm) -> Option<Self> {
        if record.kind() != "revisit" || !record.target().is_some_and(is_visited) {
            return None;
        }
        let url = record.page_url(form)?;
        let response = record.response(form);
        let is_page =
            |response: &Exchange| (200..300).contains(&response.status) || response.status == 304;
        if response.as_ref().is_some_and(|response| !is_page(response)) {
            return None;
        }
        // The profile has the same ending in both versions of WARC.
        let profile = record.field("WARC-Profile").unwrap_or_default();
        let profiles = ["/identical-payload-digest", "/server-not-modified"];
        let is_known = profiles.iter().any(|known| profile.ends_with(known));
        Some(Self {
            at: date(record.date())?,
            exchanges: response.into_iter().collect(),
            offset: record.addressable.then_some(record.offset),
            reference: is_known.then(|| Reference::of(record)),
            names: Names {
                digest: record.field("WARC-Payload-Digest").and_then(DigestText::of),
                id: Some(record.id().to_owned()),
            },
            url,
        })
    }

    /// Returns the URL as it was requested.
    pub(super) fn page(&self) -> &PageUrl {
        self.exchanges.first().map_or(&self.url, |first| &first.url)
    }
}

/// The pages that revisits can refer to: all pages that count as visited.
#[derive(Default)]
pub(super) struct Originals(originals::Originals<Box<Original>>);

/// A page, with its own original if it is a duplicate.
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
    /// Adds a settled visit whose record has these names.
    pub(super) fn add(&mut self, visit: &VisitRecord, names: &Names) {
        if !visit.fate.is_page() {
            return;
        }
        // A page with the bytes of a changed page repeats the new version, not the old page.
        let repeated = visit
            .duplicate_of
            .as_ref()
            .filter(|_| visit.fate.is_duplicate());
        let original = || {
            let mut original = Original {
                url: visit.url.clone(),
                at: visit.fetched_at,
                fate: Fate::ExactDuplicate,
                of: visit.url.clone(),
                of_earlier: false,
                distance: 0,
                resemblance: 1.0,
                fingerprint: visit.fingerprint,
            };
            if let Some(of) = repeated {
                original.of = of.clone();
                original.fate = visit.fate;
                original.of_earlier = visit.of_earlier;
                original.distance = visit.distance.unwrap_or_default();
                original.resemblance = visit.resemblance.unwrap_or(1.0);
            }
            Box::new(original)
        };
        let digest = visit.details.digest.as_deref().and_then(DigestText::of);
        let urls: Vec<&str> = std::iter::once(&visit.url)
            .chain(&visit.final_url)
            .map(PageUrl::as_str)
            .collect();
        let capture = OriginalCapture {
            targets: &urls,
            at: Some(visit.fetched_at),
            digest: names.digest.clone().or(digest),
            id: names.id.as_deref(),
        };
        self.0.add(&capture, original());
    }

    /// Returns the notes of a revisit; `None` if its original is missing.
    pub(super) fn notes(&self, revisit: &Revisit) -> Option<Vec<(String, String)>> {
        let reference = revisit.reference.as_ref()?;
        let original = self.0.find(reference)?;
        let mut reason = match reference.is_unmodified() {
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
