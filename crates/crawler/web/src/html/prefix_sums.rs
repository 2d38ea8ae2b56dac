//! Prefix sums over lines, so that the sum of a block is a difference.

use std::ops::Range;

use crate::html::lines::Line;
use crate::html::regions::{Region, saturated};

/// Sums of a count over the lines before each line.
#[derive(Debug)]
pub(crate) struct PrefixSums(Vec<u32>);

impl PrefixSums {
    /// Sums `count` over the lines that satisfy `is_counted`.
    pub(crate) fn of(
        lines: &[Line],
        is_counted: impl Fn(&Line) -> bool,
        count: impl Fn(&Line) -> usize,
    ) -> Self {
        let counted = |line| if is_counted(line) { count(line) } else { 0 };
        lines.iter().map(counted).collect()
    }

    pub(crate) fn within(&self, region: &Region) -> usize {
        self.between(&region.lines())
    }

    pub(crate) fn between(&self, lines: &Range<usize>) -> usize {
        (self.0[lines.end] - self.0[lines.start]) as usize
    }

    /// Returns the sum before a block.
    pub(crate) fn before(&self, region: &Region) -> usize {
        self.0[region.lines().start] as usize
    }

    pub(crate) fn total(&self) -> usize {
        self.0.last().copied().unwrap_or_default() as usize
    }
}

impl FromIterator<usize> for PrefixSums {
    /// Sums up counts, one per line.
    fn from_iter<I: IntoIterator<Item = usize>>(counts: I) -> Self {
        let mut sum = 0;
        let mut sums = vec![0];
        for count in counts {
            sum += count;
            sums.push(saturated(sum));
        }
        Self(sums)
    }
}
