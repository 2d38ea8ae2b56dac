//! The largest clusters: originals with the numbers of their duplicates, in bounded memory.
//!
//! The duplicates of each original are counted under its key. When the table of counts is full, the
//! smallest counts are dropped, and an original that comes later begins where they ended. So a
//! count is never too low, and too high by at most [`Clusters::error`] (lossy counting with counts
//! from above: Manku and Motwani, VLDB 2002; Metwally, Agrawal and El Abbadi, ICDT 2005). Below
//! [`MAX_ORIGINALS`] originals the counts are exact.
//!
//! Names are kept for the largest only. Every cluster that grows beyond the smallest named one is
//! named with the visit that made it grow.

use std::collections::{HashMap, VecDeque};

use journal::VisitRecord;
use web::PageUrl;

use crate::limits::{MAX_CLUSTERS, MAX_EXAMPLES, MAX_NAMED_CLUSTERS, MAX_ORIGINALS};
use crate::newest::RecentVisit;

/// The key of a cluster. A page of an earlier crawl and one of this crawl may share their URL.
pub(crate) type ClusterKey = u64;

/// A cluster: an original and the number of its duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The original.
    pub original: PageUrl,
    /// True if the original is a page of an earlier crawl.
    pub of_earlier: bool,
    /// The number of its duplicates; too high by at most [`Clusters::error`].
    pub duplicates: u64,
    /// The newest of the duplicates counted since the cluster became one of the largest.
    pub examples: VecDeque<RecentVisit>,
}

/// The clusters of a crawl.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    counts: HashMap<ClusterKey, u32>,
    named: HashMap<ClusterKey, Cluster>,
    /// Minimum number of duplicates of a named cluster when all names were taken.
    least: u64,
    /// The largest count that was dropped.
    error: u32,
}

impl Clusters {
    /// Returns the largest clusters, at most [`MAX_CLUSTERS`], largest first.
    #[must_use]
    pub fn largest(&self) -> Vec<&Cluster> {
        let mut largest: Vec<&Cluster> = self.named.values().collect();
        largest.sort_unstable_by(|one, other| {
            let order = other.duplicates.cmp(&one.duplicates);
            order
                .then_with(|| one.original.cmp(&other.original))
                .then(one.of_earlier.cmp(&other.of_earlier))
        });
        largest.truncate(MAX_CLUSTERS);
        largest
    }

    /// Returns the number of originals with duplicates, without dropped originals.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.len() as u64
    }

    /// Returns the number of originals with more than one duplicate.
    #[must_use]
    pub fn larger(&self) -> u64 {
        self.counts.values().filter(|count| **count > 1).count() as u64
    }

    /// Returns the maximum error of a number of duplicates, which is never too low; 0 below
    /// [`MAX_ORIGINALS`] originals.
    #[must_use]
    pub fn error(&self) -> u64 {
        self.error.into()
    }

    /// Adds a visit.
    pub(crate) fn count_visit(&mut self, visit: &VisitRecord) {
        let Some((key, original)) = cluster_of(visit) else {
            return;
        };
        let error = self.error;
        let count = self.counts.entry(key).or_insert(error);
        *count = count.saturating_add(1);
        let duplicates = u64::from(*count);
        if self.counts.len() > MAX_ORIGINALS {
            self.drop_smallest();
            if !self.counts.contains_key(&key) {
                return;
            }
        }
        if let Some(cluster) = self.named.get_mut(&key) {
            cluster.duplicates = duplicates;
            cluster.add_example(visit);
        } else if self.has_name_for(duplicates) {
            let mut cluster = Cluster {
                original: original.clone(),
                of_earlier: visit.of_earlier,
                duplicates,
                examples: VecDeque::new(),
            };
            cluster.add_example(visit);
            self.named.insert(key, cluster);
        }
    }

    /// Takes back a visit that was added.
    pub(crate) fn take_back(&mut self, visit: &VisitRecord) {
        let Some((key, _)) = cluster_of(visit) else {
            return;
        };
        let Some(count) = self.counts.get_mut(&key) else {
            return;
        };
        *count -= 1;
        let duplicates = *count;
        if duplicates <= self.error {
            self.counts.remove(&key);
            self.named.remove(&key);
        } else if let Some(cluster) = self.named.get_mut(&key) {
            cluster.duplicates = duplicates.into();
            let page = visit.url.key();
            cluster.examples.retain(|example| example.key != page);
            self.least = self.least.min(duplicates.into());
        }
    }

    /// Returns true if a cluster of this size is named: a name is free, or a smaller cluster gives
    /// up its own.
    fn has_name_for(&mut self, duplicates: u64) -> bool {
        if self.named.len() < MAX_NAMED_CLUSTERS {
            return true;
        }
        if duplicates <= self.least {
            return false;
        }
        let size = |(key, cluster): (&ClusterKey, &Cluster)| (cluster.duplicates, *key);
        let Some((least, key)) = self.named.iter().map(size).min() else {
            return true;
        };
        self.least = least;
        if duplicates <= least {
            return false;
        }
        self.named.remove(&key);
        true
    }

    /// Drops a quarter of the counts at least: the smallest.
    fn drop_smallest(&mut self) {
        let mut sizes: Vec<u32> = self.counts.values().copied().collect();
        let quarter = sizes.len() / 4;
        let (_, &mut bound, _) = sizes.select_nth_unstable(quarter);
        self.error = bound;
        self.counts.retain(|_, count| *count > bound);
        let counts = &self.counts;
        self.named.retain(|key, _| counts.contains_key(key));
    }
}

impl Cluster {
    fn add_example(&mut self, visit: &VisitRecord) {
        if self.examples.len() == MAX_EXAMPLES {
            self.examples.pop_front();
        }
        self.examples.push_back(RecentVisit::of(visit));
    }
}

/// Returns the cluster that a visit's page adds to. A requisite adds to none, nor does a page that
/// repeats itself in an earlier crawl.
pub(crate) fn cluster_of(visit: &VisitRecord) -> Option<(ClusterKey, &PageUrl)> {
    let original = visit.duplicate_of.as_ref()?;
    let is_of_cluster = visit.is_page() && visit.fate.is_duplicate() && *original != visit.url;
    is_of_cluster.then(|| (cluster_key(original, visit.of_earlier), original))
}

/// Returns the key of the cluster of an original.
pub(crate) fn cluster_key(original: &PageUrl, of_earlier: bool) -> ClusterKey {
    let key = original.key().as_u64();
    if of_earlier { !key } else { key }
}
