//! Kept pages of a crawl that are similar to a kept page or to a file, for `crawler similar`.
//!
//! The journal is read once and every signature in it is compared, so the result is complete at any
//! distance, and only the hits are in memory. Unarchived pages are without a signature. If they
//! repeat the page in question, they are listed with their verdicts.

mod by_texts;

use std::collections::HashSet;
use std::path::Path;

use corpus::Document;
use journal::{Fate, History, Record, StoreFault, VisitRecord};
use messages::{CommandError, pasted, usage, word_of_shell};
use neardup::{HashKey, MatchKind, PageSignature, SignatureBuilder};
use serde::Serialize;
use settings::input::{document_reader, parse_url};
use settings::{Settings, crawl_directory};
use sinks::PayloadDigest;
use web::{PageUrl, UrlKey};

pub use self::by_texts::ByTexts;
use crate::page_history::PageHistory;

/// A page that is similar to the page in question.
#[derive(Serialize)]
pub struct Hit {
    /// The URL of the page.
    pub url: String,
    /// The crawl's verdict: `unique`, `near-duplicate` or `exact-duplicate`.
    pub verdict: &'static str,
    /// Number of differing fingerprint bits.
    pub distance: u32,
    /// Resemblance estimated from the sketches, 0 to 1.
    pub resemblance: f64,
    /// Decision by the texts, if the archive contains both.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub by_texts: Option<ByTexts>,
}

/// The page or file in question, and the limits of the result.
struct SimilarityQuery {
    page: Option<PageUrl>,
    signature: PageSignature,
    distance: u32,
    resemblance: f64,
    limit: usize,
}

/// Minimum resemblance of a hit if neither the call nor the crawl sets one: the threshold of a
/// crawl for the longest texts.
pub const NEAR: f64 = 0.70;

/// The history of the page in question, and the forgotten pages of the whole crawl.
#[derive(Default)]
struct JournalScan {
    page: PageHistory,
    forgotten: HashSet<UrlKey>,
}

/// The page or document in question.
pub enum Wanted<'a> {
    /// A page of the crawl, and the name of the crawl in messages.
    Page(&'a PageUrl, &'a str),
    /// A document.
    Document(&'a Document),
}

/// The limits of a result.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of differing fingerprint bits.
    pub distance: u32,
    /// Minimum resemblance; without it, that of the crawl.
    pub resemblance: Option<f64>,
    /// Maximum number of hits.
    pub hits: usize,
}

/// Returns the pages of the crawl in `state` that are similar to what is wanted, nearest first.
pub fn hits(
    wanted: &Wanted<'_>,
    state: &Path,
    settings: &Settings,
    limits: Limits,
) -> Result<Vec<Hit>, CommandError> {
    let (query, forgotten) = SimilarityQuery::of(wanted, state, settings, limits)?;
    let mut hits = query.nearest(state, &forgotten)?;
    if let Some(page) = &query.page {
        by_texts::decide_each(&mut hits, page, state, settings)?;
    }
    Ok(hits)
}

/// Returns the pages of the crawl in `directory` that are similar to one of its pages, nearest
/// first.
pub fn to_page(directory: &Path, url: &str, limits: Limits) -> Result<Vec<Hit>, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    let url = parse_url(url, &settings.canonical_form())?;
    let page = Wanted::Page(&url, &pasted(directory));
    hits(&page, &state, &settings, limits)
}

/// Does the same by the signatures alone.
pub fn to_signature_of(
    directory: &Path,
    url: &str,
    limits: Limits,
) -> Result<Vec<Hit>, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    let url = parse_url(url, &settings.canonical_form())?;
    let page = Wanted::Page(&url, &pasted(directory));
    let (query, forgotten) = SimilarityQuery::of(&page, &state, &settings, limits)?;
    Ok(query.nearest(&state, &forgotten)?)
}

/// Returns the signature of a document under the crawl's key and settings.
fn signature_of_document(
    document: &Document,
    state: &Path,
    settings: &Settings,
) -> Result<PageSignature, CommandError> {
    let fingerprinter = settings
        .feature_settings()?
        .learned_by(state)?
        .fingerprinter()?;
    let key = History::open(state)?.key().unwrap_or(HashKey::ZERO);
    let signature_builder = SignatureBuilder::new(fingerprinter, key);
    let reader = document_reader(settings.main_content.is_on());
    let payload = PayloadDigest::of(document.content.bytes()).name();
    Ok(signature_builder.signature(payload, reader.text(&reader.read(&document.content))))
}

impl JournalScan {
    fn of(state: &Path, page: Option<&PageUrl>) -> Result<Self, StoreFault> {
        let mut scan = Self::default();
        for record in History::open(state)? {
            let record = record?;
            if let Some(url) = page {
                scan.page.apply(&record, url);
            }
            if let Record::Forgotten { page } = record {
                scan.forgotten.insert(page);
            }
        }
        Ok(scan)
    }

    /// Returns the signature of a page. Messages refer to the crawl as `directory`.
    fn signature_of(&self, url: &PageUrl, directory: &str) -> Result<PageSignature, CommandError> {
        if let Some(signature) = &self.page.signature {
            return Ok(signature.clone());
        }
        let Some(visit) = &self.page.visit else {
            return Err(
                usage(format!("{url} was not visited in this crawl")).with_remedy(format!(
                    "`crawler export {directory}` lists the visited URLs"
                )),
            );
        };
        let remedy = match &visit.duplicate_of {
            Some(original) if !visit.of_earlier => {
                let original = word_of_shell(original.as_str());
                format!("compare its original: `crawler similar {directory} {original}`")
            }
            _ => {
                let url = word_of_shell(url.as_str());
                format!("see `crawler why {directory} {url}`")
            }
        };
        let fate = || visit.fate.as_str().to_owned();
        let reason = visit.reason_text().unwrap_or_else(fate);
        Err(usage(format!(
            "{url} was not archived, so its signature is not stored: {reason}"
        ))
        .with_remedy(remedy))
    }
}

impl SimilarityQuery {
    /// Returns the query, and the forgotten pages of the crawl.
    fn of(
        wanted: &Wanted<'_>,
        state: &Path,
        settings: &Settings,
        limits: Limits,
    ) -> Result<(Self, HashSet<UrlKey>), CommandError> {
        let resemblance = limits.resemblance.or(settings.resemblance).unwrap_or(NEAR);
        let page = match wanted {
            Wanted::Page(url, _) => Some((*url).clone()),
            Wanted::Document(_) => None,
        };
        let scan = JournalScan::of(state, page.as_ref())?;
        let signature = match wanted {
            Wanted::Page(url, crawl) => scan.signature_of(url, crawl)?,
            Wanted::Document(document) => signature_of_document(document, state, settings)?,
        };
        let query = Self {
            page,
            signature,
            distance: limits.distance,
            resemblance,
            limit: limits.hits,
        };
        Ok((query, scan.forgotten))
    }

    /// Returns the nearest pages, nearest first.
    fn nearest(&self, state: &Path, forgotten: &HashSet<UrlKey>) -> Result<Vec<Hit>, StoreFault> {
        let (mut hits, mut retained) = (Vec::new(), HashSet::new());
        for record in History::open(state)? {
            let hit = match record? {
                Record::Admitted { page, signature } if !forgotten.contains(&page.key()) => {
                    self.compare(&page.url, Fate::Unique, &signature)
                }
                Record::Retained(found) if !forgotten.contains(&found.page.key()) => {
                    retained.insert(found.page.key());
                    let fate = match found.match_kind {
                        MatchKind::Near { .. } => Fate::NearDuplicate,
                        MatchKind::SamePayload | MatchKind::SameText => Fate::ExactDuplicate,
                    };
                    self.compare(&found.page.url, fate, &found.signature)
                }
                Record::Settled(settled) if !retained.contains(&settled.visit.record.url.key()) => {
                    self.not_archived(&settled.visit.record)
                }
                _ => None,
            };
            hits.extend(hit.filter(|hit| {
                hit.distance <= self.distance && hit.resemblance >= self.resemblance
            }));
            if hits.len() > self.limit.max(SLACK).saturating_mul(2) {
                self.keep_nearest(&mut hits);
            }
        }
        self.keep_nearest(&mut hits);
        Ok(hits)
    }

    fn compare(&self, url: &PageUrl, fate: Fate, signature: &PageSignature) -> Option<Hit> {
        if self.page.as_ref() == Some(url) {
            return None;
        }
        let own = &self.signature;
        let texts = own.text.as_deref().zip(signature.text.as_deref());
        let (distance, resemblance) = match texts {
            _ if own.payload == signature.payload => (0, 1.0),
            None => return None,
            Some((one, two)) if one.digest == two.digest => (0, 1.0),
            Some((one, two)) => {
                let sketches = one.sketch.as_ref().zip(two.sketch.as_ref());
                // Texts too short for a sketch only resemble equal texts.
                let resemblance = sketches.map_or(0.0, |(one, two)| one.resemblance(two));
                (one.fingerprint.distance(two.fingerprint), resemblance)
            }
        };
        Some(Hit {
            url: url.to_string(),
            verdict: fate.as_str(),
            distance,
            resemblance,
            by_texts: None,
        })
    }

    /// Returns a hit if the crawl found this page to repeat the page in question.
    fn not_archived(&self, visit: &VisitRecord) -> Option<Hit> {
        if visit.of_earlier || visit.duplicate_of.is_none() || visit.duplicate_of != self.page {
            return None;
        }
        Some(Hit {
            url: visit.url.to_string(),
            verdict: visit.fate.as_str(),
            distance: visit.distance?,
            resemblance: visit.resemblance?,
            by_texts: None,
        })
    }

    fn keep_nearest(&self, hits: &mut Vec<Hit>) {
        hits.sort_by(|one, two| {
            let by_resemblance = two.resemblance.total_cmp(&one.resemblance);
            let by_distance = by_resemblance.then(one.distance.cmp(&two.distance));
            by_distance.then_with(|| one.url.cmp(&two.url))
        });
        hits.truncate(self.limit);
    }
}

/// Minimum number of hits before they are sorted and truncated.
const SLACK: usize = 1_024;
