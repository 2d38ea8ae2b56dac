//! The outcome of an order of visits: harvest and recall, by pages and by time.

use std::collections::BTreeSet;

use super::simulator::SimulatedVisit;
use super::topics::FocusTopic;

/// The numbers of pages at which harvest and recall are read.
pub(crate) const AT: [usize; 3] = [250, 1_000, 4_000];

/// An hour, in milliseconds.
const HOUR: u64 = 3_600_000;

/// The figures of a crawl.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// The share of relevant pages among the first pages, by [`AT`].
    pub(crate) harvest: [f64; 3],
    /// The share of the relevant pages that were found, by [`AT`].
    pub(crate) recall: [f64; 3],
    /// Harvest and recall at an hour; none if the crawl ended before.
    pub(crate) at_an_hour: Option<(f64, f64)>,
    /// The mean recall over the first 4,000 pages.
    pub(crate) area: f64,
    /// The pages until half of the relevant ones were found; none if they were not.
    pub(crate) until_half: Option<usize>,
    /// The pages that count.
    pub(crate) pages: usize,
}

impl Outcome {
    /// Reads the figures of the visits; a page counts once, and the examples of the topic neither
    /// way.
    pub(crate) fn of(visits: &[SimulatedVisit], topic: &FocusTopic) -> Self {
        let mut outcome = Self::default();
        let (mut seen, mut found, mut pages) = (BTreeSet::new(), 0, 0);
        let all = topic.relevant.len().max(1);
        let last = AT[AT.len() - 1];
        let mut hour = None;
        for visit in visits {
            if topic.examples.contains(&visit.page) {
                continue;
            }
            if visit.at > HOUR && hour.is_none() {
                hour = Some((found, pages));
            }
            pages += 1;
            if seen.insert(visit.page) && topic.relevant.contains(&visit.page) {
                found += 1;
            }
            if pages <= last {
                outcome.area += found as f64 / all as f64 / last as f64;
            }
            if 2 * found >= all && outcome.until_half.is_none() {
                outcome.until_half = Some(pages);
            }
            if let Some(place) = AT.iter().position(|at| *at == pages) {
                outcome.harvest[place] = found as f64 / pages as f64;
                outcome.recall[place] = found as f64 / all as f64;
            }
        }
        // A crawl that ends early keeps what it has found.
        let recall = found as f64 / all as f64;
        outcome.area += last.saturating_sub(pages) as f64 * recall / last as f64;
        for (place, at) in AT.into_iter().enumerate() {
            if pages < at {
                outcome.recall[place] = recall;
                outcome.harvest[place] = found as f64 / at as f64;
            }
        }
        let share = |(found, pages): (usize, usize)| {
            (
                found as f64 / pages.max(1) as f64,
                found as f64 / all as f64,
            )
        };
        outcome.at_an_hour = hour.map(share);
        outcome.pages = pages;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic() -> FocusTopic {
        FocusTopic {
            number: 0,
            name: "tides".to_owned(),
            chooses: true,
            words: "tides".to_owned(),
            examples: vec![0],
            relevant: BTreeSet::from([1, 2, 3, 4]),
        }
    }

    fn visits(pages: impl Iterator<Item = u32>) -> Vec<SimulatedVisit> {
        let visit = |(page, at)| SimulatedVisit { at, page };
        pages.zip((0..).step_by(1_000)).map(visit).collect()
    }

    #[test]
    fn figures_count_a_page_once_and_examples_not_at_all() {
        let order = [0, 1, 1, 2].into_iter().chain(10..10_000);
        let outcome = Outcome::of(&visits(order), &topic());
        assert_eq!(outcome.until_half, Some(3));
        assert_eq!(outcome.recall, [0.5; 3]);
        assert!((outcome.harvest[0] - 2.0 / 250.0).abs() < 1e-12);
        let (harvest, recall) = outcome.at_an_hour.unwrap();
        assert!(
            (harvest - 2.0 / 3_600.0).abs() < 1e-12 && recall == 0.5,
            "{harvest}"
        );
        assert!((outcome.area - (0.25 * 2.0 + 0.5 * 3_998.0) / 4_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_crawl_that_ends_early_keeps_what_it_found() {
        let outcome = Outcome::of(&visits(1..4), &topic());
        assert_eq!((outcome.recall, outcome.at_an_hour), ([0.75; 3], None));
        assert!(outcome.area > 0.74, "{}", outcome.area);
    }
}
