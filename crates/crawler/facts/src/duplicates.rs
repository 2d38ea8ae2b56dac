//! The duplicates of a crawl, for `crawler duplicates`.

use std::collections::HashMap;
use std::path::Path;

use journal::{StoreFault, VisitRecord};
use serde::Serialize;

/// A page that repeats another.
#[derive(Serialize)]
pub struct Duplicate<'a> {
    /// URL of the page.
    pub url: &'a str,
    /// `exact-duplicate` or `near-duplicate`.
    pub verdict: &'static str,
    /// URL of the page that it repeats.
    pub duplicate_of: &'a str,
    /// Number of differing fingerprint bits.
    pub distance: Option<u32>,
    /// Estimated resemblance.
    pub resemblance: Option<f64>,
    /// True if it was still archived: `--per-cluster`, `--on-duplicate keep`.
    pub kept: bool,
    /// The reason in words.
    pub reason: Option<String>,
}

/// Pages with the same content.
#[derive(Serialize)]
pub struct Cluster {
    /// The original, and then its duplicates in the order of their visits.
    pub members: Vec<Box<str>>,
}

impl<'a> Duplicate<'a> {
    /// Returns the duplicate that a visit is; `None` for other visits.
    pub fn of(visit: &'a VisitRecord) -> Option<Self> {
        // A new version of a page is not a duplicate.
        let original = visit
            .duplicate_of
            .as_ref()
            .filter(|_| visit.fate.is_duplicate())?;
        Some(Self {
            url: visit.url.as_str(),
            verdict: visit.fate.as_str(),
            duplicate_of: original.as_str(),
            distance: visit.distance,
            resemblance: visit.resemblance,
            kept: visit.kept,
            reason: visit.reason_text(),
        })
    }
}

/// Returns the clusters in the order of their first duplicates. A page that only repeats its own
/// capture in an earlier crawl does not form a cluster.
pub fn clusters(state: &Path) -> Result<Vec<Cluster>, StoreFault> {
    let (mut clusters, mut places) = (Vec::new(), HashMap::new());
    for visit in journal::visits(state)? {
        let visit = visit?;
        let Some(original) = visit.duplicate_of.as_ref().filter(|url| **url != visit.url) else {
            continue;
        };
        let place = *places
            .entry((original.key(), visit.of_earlier))
            .or_insert_with(|| {
                clusters.push(Cluster {
                    members: vec![original.as_str().into()],
                });
                clusters.len() - 1
            });
        clusters[place].members.push(visit.url.as_str().into());
    }
    Ok(clusters)
}
