//! Counts by name, the largest first.

use serde::Serialize;

use crate::caps;
use crate::format::cut;

/// A name with its count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// The name, cut.
    pub name: String,
    /// The number of visits.
    pub count: u64,
}

/// Counts by name. At most [`caps::NAMES`] names are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReportCounts {
    /// The names, the largest count first.
    pub counts: Vec<Count>,
    /// The count of all other names.
    pub other: u64,
}

impl ReportCounts {
    /// Lists names with their counts; `other` is the count of unnamed ones.
    pub fn of<N: AsRef<str>>(counts: impl IntoIterator<Item = (N, u64)>, other: u64) -> Self {
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let mut counts: Vec<(N, u64)> = counts.collect();
        counts.sort_by(|(one, left), (two, right)| {
            right.cmp(left).then(one.as_ref().cmp(two.as_ref()))
        });
        let rest = counts.split_off(counts.len().min(caps::NAMES));
        let listed = counts.into_iter().map(|(name, count)| Count {
            name: cut(name.as_ref(), caps::TEXT),
            count,
        });
        Self {
            counts: listed.collect(),
            other: other + rest.iter().map(|(_, count)| count).sum::<u64>(),
        }
    }

    /// Returns the sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| count.count).sum::<u64>() + self.other
    }

    /// Returns the maximum count.
    pub(crate) fn most(&self) -> u64 {
        let counts = self.counts.iter().map(|count| count.count);
        counts.max().unwrap_or(0).max(self.other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_cap_are_added_up() {
        let names = (0..caps::NAMES as u64 + 3).map(|number| (format!("n{number:03}"), number));
        let counts = ReportCounts::of(names.clone(), 7);
        assert_eq!(counts.counts.len(), caps::NAMES);
        assert_eq!(counts.counts[0].name, format!("n{:03}", caps::NAMES + 2));
        // The one that counts nothing is not listed.
        assert_eq!(counts.other, 7 + 1 + 2);
        assert_eq!(
            counts.total(),
            7 + names.map(|(_, count)| count).sum::<u64>()
        );
        assert_eq!(
            ReportCounts::of([("b", 1), ("a", 1)], 0).counts[0].name,
            "a"
        );
    }
}
