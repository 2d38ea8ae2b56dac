//! `crawler similar`: finds kept pages that are similar to a kept page or to a file, or similar
//! documents and fingerprints in files ([`files`]).
//!
//! The journal is read once and every signature in it is compared, so the result is complete at any
//! distance, and only the hits are in memory. Left-out pages are without a signature. If they
//! repeat the page in question, they are listed with their verdicts.

mod by_texts;
mod files;

use std::collections::HashSet;
use std::path::Path;

use corpus::{Reader, is_standard_input};
use journal::{Fate, History, Record, StoreFault, VisitRecord};
use neardup::{HashKey, Likeness, PageSignature, SignatureBuilder};
use serde::Serialize;
use store::EmbeddedStore;
use web::{PageUrl, UrlKey};
use web_ui::{SimilarPage, caps};

use self::by_texts::ByTexts;
use super::shared::OpenCrawl;
use super::{parse_url, unreadable};
use crate::args::SimilarArgs;
use crate::cli_error::{CliError, usage};
use crate::crawl_directory::{self, archive_files};
use crate::named_fingerprints::is_named_fingerprints;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::{pasted, printable, word_of_shell};

/// A page that is similar to the page in question.
#[derive(Serialize)]
struct Hit {
    url: String,
    /// The crawl's verdict: `unique`, `near-duplicate` or `exact-duplicate`.
    verdict: &'static str,
    /// Number of differing fingerprint bits.
    distance: u32,
    /// Resemblance estimated from the sketches, 0 to 1.
    resemblance: f64,
    /// Decision by the texts, if the archive contains both.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    by_texts: Option<ByTexts>,
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
const NEAR: f64 = 0.70;

/// The records of the page in question, and the forgotten pages of the whole crawl.
#[derive(Default)]
struct JournalScan {
    signature: Option<PageSignature>,
    row: Option<VisitRecord>,
    forgotten: HashSet<UrlKey>,
}

pub(crate) fn run(args: &SimilarArgs) -> Result<(), CliError> {
    for (option, share) in [
        ("resemblance", args.resemblance),
        ("containment", args.containment),
    ] {
        if let Some(share) = share
            && !(0.0..=1.0).contains(&share)
        {
            return Err(usage(format!(
                "--{option} must be between 0 and 1, got {share}"
            )));
        }
    }
    let (first, second) = (args.directory.as_ref(), args.what.as_ref());
    let (directory, what) = args.store.directory_and_name(first, second)?;
    let what = what.as_str();
    let Some(within) = &directory else {
        if args.containment.is_some() {
            let error = usage("--containment reads archives, but a store does not contain any");
            return Err(error.with_remedy("give the directory of a node, or its archive"));
        }
        let crawl = OpenCrawl::open(None, &args.store)?;
        return pages(args, what, &crawl);
    };
    let is_crawl = EmbeddedStore::exists(&crawl_directory::state(within));
    let is_there = is_standard_input(within) || within.exists();
    if is_named_fingerprints(within) {
        files::near_fingerprints(args, within, what)
    } else if is_crawl && args.containment.is_some() {
        let archive = crawl_directory::archive(within);
        let archive = archive_files(&archive).map_err(unreadable(&archive))?;
        let reads_main = Settings::of_crawl(within)?.main_content.is_on();
        files::like_documents(args, &archive, what, Reader::new(reads_main))
    } else if args.containment.is_none() && (is_crawl || is_url(what) || !is_there) {
        pages(args, what, &OpenCrawl::open(Some(within), &args.store)?)
    } else {
        let within = std::slice::from_ref(within);
        files::like_documents(args, within, what, Reader::new(true))
    }
}

fn is_url(what: &str) -> bool {
    what.starts_with("http://") || what.starts_with("https://")
}

/// Lists pages of a crawl.
fn pages(args: &SimilarArgs, what: &str, crawl: &OpenCrawl) -> Result<(), CliError> {
    let state = crawl_directory::state_of(crawl.directory())?;
    let settings = Settings::of_crawl(crawl.directory())?;
    if args.features.is_given() {
        let message = "pages of a crawl are always compared with the features of that crawl";
        let remedy = "omit --features, --weights, --ties, --stop-words, --frequencies and --bits";
        return Err(usage(message).with_remedy(remedy));
    }
    let resemblance = args.resemblance.or(settings.resemblance).unwrap_or(NEAR);
    let page = match is_url(what) {
        true => Some(parse_url(what, &settings.canonical_form())?),
        false => None,
    };
    let scan = JournalScan::of(&state, page.as_ref())?;
    let signature = match &page {
        Some(url) => scan.signature_of(url, &crawl.shown())?,
        None => signature_of_file(args, what, &state, &settings)?,
    };
    let query = SimilarityQuery {
        page,
        signature,
        distance: args.distance.unwrap_or(u64::BITS),
        resemblance,
        limit: args.most(),
    };
    let mut hits = query.nearest(&state, &scan.forgotten)?;
    if let Some(page) = &query.page {
        by_texts::decide_each(&mut hits, page, &state, &settings)?;
    }
    output::to_stdout(|out| {
        for hit in &hits {
            match Format::or_fitting(args.format) {
                Format::Json => output::json_line(out, hit)?,
                Format::Table => writeln!(
                    out,
                    "{:.4}  {:>2} bits  {:<15}  {}{}",
                    hit.resemblance,
                    hit.distance,
                    hit.verdict,
                    printable(&hit.url),
                    ByTexts::shown(hit.by_texts.as_ref())
                )?,
            }
        }
        Ok(())
    })
}

/// Returns the pages of a crawl that are similar to a given page, nearest first.
pub(super) fn to_page(directory: &Path, url: &str) -> Result<Vec<SimilarPage>, CliError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    let url = parse_url(url, &settings.canonical_form())?;
    let scan = JournalScan::of(&state, Some(&url))?;
    let query = SimilarityQuery {
        signature: scan.signature_of(&url, &pasted(directory))?,
        page: Some(url),
        distance: u64::BITS,
        resemblance: settings.resemblance.unwrap_or(NEAR),
        limit: caps::LISTED,
    };
    let hits = query.nearest(&state, &scan.forgotten)?.into_iter();
    let pages = hits.map(|hit| SimilarPage {
        verdict: Fate::of_word(hit.verdict).unwrap_or(Fate::Unique),
        url: hit.url,
        distance: hit.distance,
        resemblance: hit.resemblance,
    });
    Ok(pages.collect())
}

/// Returns the signature of a file under the crawl's key and settings.
fn signature_of_file(
    args: &SimilarArgs,
    what: &str,
    state: &Path,
    settings: &Settings,
) -> Result<PageSignature, CliError> {
    let document =
        corpus::only_document(Path::new(what), &args.input.options(None)).map_err(|error| {
            CliError::of_usage(&error)
                .with_remedy("give a file, or a URL that begins with http:// or https://")
        })?;
    let fingerprinter = settings
        .feature_settings()?
        .learned_by(state)?
        .fingerprinter()?;
    let key = History::open(state)?.key().unwrap_or(HashKey::ZERO);
    let signature_builder = SignatureBuilder::new(fingerprinter, key);
    let reader = Reader::new(settings.main_content.is_on());
    let payload = crawl::payload_name(document.content.bytes());
    Ok(signature_builder.signature(payload, reader.text(&reader.read(&document.content))))
}

impl JournalScan {
    fn of(state: &Path, page: Option<&PageUrl>) -> Result<Self, StoreFault> {
        let mut scan = Self::default();
        for record in History::open(state)? {
            match record? {
                Record::Admitted {
                    page: one,
                    signature,
                } if Some(&one.url) == page => {
                    scan.signature = Some(*signature);
                }
                Record::Retained(retained) if Some(&retained.page.url) == page => {
                    scan.signature = Some(retained.signature);
                }
                Record::Forgotten { page: one } => {
                    scan.forgotten.insert(one);
                }
                Record::Settled(settled) if Some(&settled.visit.row.url) == page => {
                    scan.row = Some(*settled.visit.row);
                }
                _ => {}
            }
        }
        Ok(scan)
    }

    /// Returns the signature of a page. Messages refer to the crawl as `directory`.
    fn signature_of(&self, url: &PageUrl, directory: &str) -> Result<PageSignature, CliError> {
        if let Some(signature) = &self.signature
            && !self.forgotten.contains(&url.key())
        {
            return Ok(signature.clone());
        }
        let Some(row) = &self.row else {
            return Err(
                usage(format!("{url} was not visited in this crawl")).with_remedy(format!(
                    "`crawler export {directory}` lists the visited URLs"
                )),
            );
        };
        let remedy = match &row.duplicate_of {
            Some(original) if !row.of_earlier => {
                let original = word_of_shell(original.as_str());
                format!("compare its original: `crawler similar {directory} {original}`")
            }
            _ => {
                let url = word_of_shell(url.as_str());
                format!("see `crawler why {directory} {url}`")
            }
        };
        let fate = || row.fate.as_str().to_owned();
        let reason = row.reason_text().unwrap_or_else(fate);
        Err(usage(format!(
            "{url} was not archived, so its signature is not stored: {reason}"
        ))
        .with_remedy(remedy))
    }
}

impl SimilarityQuery {
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
                    let fate = match found.likeness {
                        Likeness::Near { .. } => Fate::NearDuplicate,
                        Likeness::SamePayload | Likeness::SameText => Fate::ExactDuplicate,
                    };
                    self.compare(&found.page.url, fate, &found.signature)
                }
                Record::Settled(settled) if !retained.contains(&settled.visit.row.url.key()) => {
                    self.left_out(&settled.visit.row)
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
    fn left_out(&self, row: &VisitRecord) -> Option<Hit> {
        if row.of_earlier || row.duplicate_of.is_none() || row.duplicate_of != self.page {
            return None;
        }
        Some(Hit {
            url: row.url.to_string(),
            verdict: row.fate.as_str(),
            distance: row.distance?,
            resemblance: row.resemblance?,
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
