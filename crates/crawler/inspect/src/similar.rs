//! Kept pages of a crawl that are similar to a kept page, for the dashboard.

use std::path::Path;

use facts::similar::to_signature_of;
pub use facts::similar::{ByTexts, Hit, Limits, NEAR, Wanted, hits};
use journal::Fate;
use messages::CommandError;
use web_ui::{SimilarPage, caps};

/// Returns the pages of a crawl that are similar to a given page, nearest first.
pub fn to_page(directory: &Path, url: &str) -> Result<Vec<SimilarPage>, CommandError> {
    let limits = Limits {
        distance: u64::BITS,
        resemblance: None,
        hits: caps::LISTED,
    };
    let hits = to_signature_of(directory, url, limits)?.into_iter();
    let pages = hits.map(|hit| SimilarPage {
        verdict: Fate::of_word(hit.verdict).unwrap_or(Fate::Unique),
        url: hit.url,
        distance: hit.distance,
        resemblance: hit.resemblance,
    });
    Ok(pages.collect())
}
