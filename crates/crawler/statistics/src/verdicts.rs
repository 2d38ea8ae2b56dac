//! The verdicts about pages: duplicates by rule, near duplicates by distance and resemblance.

use journal::{DuplicateRule, Fate, VisitRecord};

/// The duplicates of a crawl by the rule that found them. The first five add up to all duplicates;
/// the last two overlap with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictRules {
    /// The same bytes as another page.
    pub same_bytes: u64,
    /// The same text in other bytes.
    pub same_text: u64,
    /// Nearly the same text.
    pub near: u64,
    /// Near enough only to the page that it calls canonical.
    pub by_canonical: u64,
    /// The same content by a comparison of the texts.
    pub same_content: u64,
    /// Duplicates of a page of an earlier crawl.
    pub of_earlier: u64,
    /// Duplicates that were kept.
    pub kept: u64,
}

/// The statistics of all verdicts about pages; page requisites do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdicts {
    pub(crate) rules: VerdictRules,
    pub(crate) distances: [u64; 65],
    pub(crate) resemblances: [u64; 101],
}

impl Default for Verdicts {
    fn default() -> Self {
        Self {
            rules: VerdictRules::default(),
            distances: [0; 65],
            resemblances: [0; 101],
        }
    }
}

impl Verdicts {
    /// Changes the sums by a visit.
    pub(crate) fn change(&mut self, visit: &VisitRecord, change: impl Fn(&mut u64, u64)) {
        let rule = visit.duplicate_rule().filter(|_| visit.requisite == 0);
        let Some(rule) = rule else {
            return;
        };
        let of_rule = match rule {
            DuplicateRule::SameBytes => &mut self.rules.same_bytes,
            DuplicateRule::SameText => &mut self.rules.same_text,
            DuplicateRule::Near => &mut self.rules.near,
            DuplicateRule::ByCanonical => &mut self.rules.by_canonical,
            DuplicateRule::SameContent => &mut self.rules.same_content,
        };
        change(of_rule, 1);
        change(&mut self.rules.of_earlier, visit.of_earlier.into());
        change(&mut self.rules.kept, visit.kept.into());
        if visit.fate != Fate::NearDuplicate {
            return;
        }
        if let Some(distance) = visit.distance {
            change(&mut self.distances[distance.min(64) as usize], 1);
        }
        if let Some(resemblance) = visit.resemblance {
            change(&mut self.resemblances[hundredths(resemblance)], 1);
        }
    }
}

/// Returns a resemblance in whole hundredths, rounded down: 0.86 and 0.869 are 86.
fn hundredths(resemblance: f64) -> usize {
    // 0.29 × 100 is a little less than 29.
    (resemblance.clamp(0.0, 1.0) * 100.0 + 1e-9) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resemblance_is_counted_below_its_whole_hundredths() {
        for (resemblance, expected) in [
            (0.0, 0),
            (0.29, 29),
            (0.869, 86),
            (0.999_9, 99),
            (1.0, 100),
            (7.0, 100),
            (-1.0, 0),
            (f64::NAN, 0),
        ] {
            assert_eq!(hundredths(resemblance), expected, "{resemblance}");
        }
    }
}
