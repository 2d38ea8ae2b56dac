//! Parser of archives up to November 2026, which have two facts in prose only: the rank of a
//! retained duplicate in its cluster, and that a page matched only what it calls canonical.
//!
//! Later archives have the fields `cluster-rank` and `matched-by` in the `metadata` record
//! (`steps/visit_record.rs`), and nothing is read from their `reason`. The sentences that this
//! module knows are in archives: neither the constants nor the golden records below ever change.

const BY_CANONICAL: &str = " that it calls canonical";
const RANK: &str = "; let through: ";

/// The match of a page with its original, as a `metadata` record has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    /// The rank of a retained duplicate in its cluster; the original has rank 1.
    pub(crate) rank: Option<u32>,
    /// True if the page is near enough only to a page that it calls canonical.
    pub(crate) by_canonical: bool,
}

/// Returns the match that this `reason` describes.
pub(crate) fn matched(reason: &str) -> Matched {
    let rank = reason
        .split_once(RANK)
        .and_then(|(_, rank)| rank.split(' ').next()?.parse().ok());
    Matched {
        rank,
        by_canonical: reason.contains(BY_CANONICAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_earlier_versions_are_read() {
        for (reason, rank, by_canonical) in [
            ("the same bytes", None, false),
            (
                "the same bytes; it repeats itself in an earlier crawl",
                None,
                false,
            ),
            (
                "the same text; let through: 3 of 3 of its kind",
                Some(3),
                false,
            ),
            ("resemblance 0.99, 1 bits apart", None, false),
            (
                "resemblance 0.99, 1 bits apart; the original is in an earlier crawl; \
                 let through: 12 of 20 of its kind",
                Some(12),
                false,
            ),
            (
                "resemblance 0.77 with the page that it calls canonical, 11 bits apart",
                None,
                true,
            ),
            (
                "resemblance 0.77 with the page that it calls canonical, 10 bits apart; \
                 let through: 2 of 2 of its kind",
                Some(2),
                true,
            ),
            (
                "resemblance 0.71 with the original of the page that it calls canonical, \
                 9 bits apart; let through: 4 of 9 of its kind; \
                 kept all the same: it is a seed",
                Some(4),
                true,
            ),
            ("HTTP status 404", None, false),
            ("", None, false),
        ] {
            assert_eq!(matched(reason), Matched { rank, by_canonical }, "{reason}");
        }
    }
}
