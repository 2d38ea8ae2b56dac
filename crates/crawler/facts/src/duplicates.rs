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
    pub fn of(row: &'a VisitRecord) -> Option<Self> {
        // A new version of a page is not a duplicate.
        let original = row
            .duplicate_of
            .as_ref()
            .filter(|_| row.fate.is_duplicate())?;
        Some(Self {
            url: row.url.as_str(),
            verdict: row.fate.as_str(),
            duplicate_of: original.as_str(),
            distance: row.distance,
            resemblance: row.resemblance,
            kept: row.kept,
            reason: row.reason_text(),
        })
    }
}

/// Returns the clusters in the order of their first duplicates. A page that only repeats its own
/// capture in an earlier crawl does not form a cluster.
pub fn clusters(state: &Path) -> Result<Vec<Cluster>, StoreFault> {
    let (mut clusters, mut places) = (Vec::new(), HashMap::new());
    for row in journal::rows(state)? {
        let row = row?;
        let Some(original) = row.duplicate_of.as_ref().filter(|url| **url != row.url) else {
            continue;
        };
        let place = *places
            .entry((original.key(), row.of_earlier))
            .or_insert_with(|| {
                clusters.push(Cluster {
                    members: vec![original.as_str().into()],
                });
                clusters.len() - 1
            });
        clusters[place].members.push(row.url.as_str().into());
    }
    Ok(clusters)
}
