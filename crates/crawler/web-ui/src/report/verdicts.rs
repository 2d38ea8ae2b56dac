//! Verdicts on pages, and clusters of duplicates.

use serde::Serialize;

use super::report_counts::ReportCounts;
use crate::charts::{Column, Part, Plot, columns, part};

/// Verdicts on pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdicts {
    /// Duplicates by the rule that decided.
    pub rules: ReportCounts,
    /// Duplicates of pages of an earlier crawl.
    pub of_earlier: u64,
    /// Duplicates that were archived.
    pub kept: u64,
    /// Near-duplicates by the number of bits between the two fingerprints, from 0 on.
    pub distances: Vec<u64>,
    /// Near-duplicates by their resemblance in hundredths, from 0 on.
    pub resemblances: Vec<u64>,
}

/// A bin of a histogram that is shown in a table.
pub(crate) struct Bin {
    pub(crate) label: String,
    pub(crate) count: u64,
}

const NEAR: [Part; 1] = [part("s-accent", "near-duplicates")];
/// Minimum number of bits that the histogram of distances reaches to.
const MIN_BITS: usize = 7;
/// Hundredths between two labels of the scale of resemblance.
const LABELLED: usize = 5;

impl Verdicts {
    /// Returns true if there are near-duplicates.
    pub(crate) fn has_near(&self) -> bool {
        self.distances.iter().any(|count| *count > 0)
    }

    /// Returns the bins of the distances, up to the maximum that occurs.
    pub(crate) fn distance_bins(&self) -> Vec<Bin> {
        let most = self.distances.iter().rposition(|count| *count > 0);
        let Some(most) = most else {
            return Vec::new();
        };
        let bins = self.distances.iter().enumerate();
        let bins = bins.take(most.max(MIN_BITS) + 1);
        bins.map(|(bits, count)| Bin {
            label: bits.to_string(),
            count: *count,
        })
        .collect()
    }

    /// Returns the bins of the resemblances, starting at a round number below the minimum that
    /// occurs.
    pub(crate) fn resemblance_bins(&self) -> Vec<Bin> {
        let Some(least) = self.resemblances.iter().position(|count| *count > 0) else {
            return Vec::new();
        };
        let first = least.saturating_sub(1) / LABELLED * LABELLED;
        let bins = self.resemblances.iter().enumerate().skip(first);
        bins.map(|(hundredths, count)| Bin {
            label: format!("{}.{:02}", hundredths / 100, hundredths % 100),
            count: *count,
        })
        .collect()
    }

    /// Draws the distances.
    pub(crate) fn distance_plot(&self) -> Plot {
        let bins = self.distance_bins();
        let every = bins.len().div_ceil(16);
        histogram(
            "Near-duplicates by distance",
            "One column per distance, in bits, between the fingerprints of a page and its \
             original. The table contains the numbers.",
            bins,
            every,
        )
    }

    /// Draws the resemblances.
    pub(crate) fn resemblance_plot(&self) -> Plot {
        let bins = self.resemblance_bins();
        let every = match bins.len() {
            0..=8 => 1,
            9..=51 => LABELLED,
            _ => 2 * LABELLED,
        };
        histogram(
            "Near-duplicates by resemblance",
            "One column per hundredth of the estimated resemblance between a page and its \
             original. The table contains the numbers.",
            bins,
            every,
        )
    }
}

fn histogram(title: &str, description: &str, bins: Vec<Bin>, every: usize) -> Plot {
    let drawn = bins.into_iter().map(|bin| Column {
        label: bin.label,
        values: vec![bin.count],
    });
    let drawn: Vec<Column> = drawn.collect();
    columns(title, description, &NEAR, &drawn, every)
}

/// A page that repeats another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Duplicate {
    /// Its URL, cut.
    pub url: String,
    /// `exact-duplicate` or `near-duplicate`.
    pub verdict: &'static str,
    /// Bits between the two fingerprints.
    pub distance: Option<u32>,
    /// The estimated resemblance of the two texts, 0 to 1.
    pub resemblance: Option<f64>,
    /// The rule that decided, cut.
    pub reason: String,
}

/// Pages that repeat one original.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cluster {
    /// The URL of the original, cut.
    pub original: String,
    /// True if the original is a page of an earlier crawl.
    pub of_earlier: bool,
    /// The number of its duplicates.
    pub duplicates: u64,
    /// Some of the duplicates, the newest last, at most [`crate::caps::EXAMPLES`].
    pub examples: Vec<Duplicate>,
}

impl Cluster {
    /// Returns the number of duplicates that are not shown.
    pub(crate) fn more(&self) -> u64 {
        self.duplicates.saturating_sub(self.examples.len() as u64)
    }
}

/// Clusters with more than one duplicate, the largest first. At most [`crate::caps::CLUSTERS`] are
/// listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Clusters {
    /// The number of originals with a duplicate.
    pub total: u64,
    /// The number of originals with more than one.
    pub larger: u64,
    /// The largest ones.
    pub listed: Vec<Cluster>,
}

impl Clusters {
    /// Returns the number of originals with one duplicate.
    pub(crate) const fn pairs(&self) -> u64 {
        self.total.saturating_sub(self.larger)
    }

    /// Returns the number of clusters that are listed.
    pub(crate) fn shown(&self) -> u64 {
        self.listed.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(bins: &[Bin]) -> (usize, &str, &str) {
        let (first, last) = (bins.first().unwrap(), bins.last().unwrap());
        (bins.len(), &first.label, &last.label)
    }

    #[test]
    fn a_histogram_reaches_as_far_as_there_are_pages() {
        let mut verdicts = Verdicts {
            distances: vec![0; 65],
            resemblances: vec![0; 101],
            ..Verdicts::default()
        };
        assert!(verdicts.distance_bins().is_empty());
        assert!(verdicts.resemblance_bins().is_empty());
        verdicts.distances[3] = 1;
        verdicts.resemblances[86] = 1;
        assert_eq!(labels(&verdicts.distance_bins()), (8, "0", "7"));
        assert_eq!(labels(&verdicts.resemblance_bins()), (16, "0.85", "1.00"));
        verdicts.distances[20] = 1;
        verdicts.resemblances[0] = 1;
        assert_eq!(labels(&verdicts.distance_bins()), (21, "0", "20"));
        assert_eq!(labels(&verdicts.resemblance_bins()), (101, "0.00", "1.00"));
    }
}
