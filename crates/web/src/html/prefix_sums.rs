//! Prefix sums over lines, so that the sum of a block is a difference.

use crate::html::lines::Line;
use crate::html::regions::{Region, saturated};

/// The sums of a count over the lines before each line.
#[derive(Debug)]
pub(crate) struct PrefixSums(Vec<u32>);

impl PrefixSums {
    /// Sums up `count` of the lines that `is_counted`; the others count nothing.
    pub(crate) fn of(
        lines: &[Line],
        is_counted: impl Fn(&Line) -> bool,
        count: impl Fn(&Line) -> usize,
    ) -> Self {
        let mut sum = 0;
        let mut sums = vec![0];
        for line in lines {
            if is_counted(line) {
                sum += count(line);
            }
            sums.push(saturated(sum));
        }
        Self(sums)
    }

    pub(crate) fn within(&self, region: &Region) -> usize {
        let lines = region.lines();
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
