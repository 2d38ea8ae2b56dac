//! The bits of a fingerprint that bring all candidates together.
//!
//! If two fingerprints differ in at most k bits, either their upper halves differ in at most ⌊k/2⌋
//! or their lower halves in at most k - 1 - ⌊k/2⌋. If a half that differs in at most j bits is cut
//! into m blocks, some m - j of them agree (Manku, Jain and Das Sarma, WWW 2007, section 3.1.2, one
//! step of the recursion). Each choice of those blocks is a [`Table`]. The paper sorts by a
//! permutation; a batch only has to bring equal bits together, so the table is a mask, and a
//! multiplication spreads the masked bits over as many buckets as are useful.
//!
//! Invariant: any two fingerprints within the distance agree under the mask of some table. The
//! first such table reports them, so that each pair is reported once.

/// A set of bits that candidates have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// All of the bits, in one half.
    mask: u64,
    /// The first block of the bits, which several tables share.
    lead: u64,
}

impl Table {
    /// Returns the bucket of a fingerprint, of 2^`bits` buckets, 1 ≤ `bits` ≤ 32. Fingerprints that
    /// agree under the mask have the same bucket.
    #[inline]
    pub(crate) fn bucket(self, fingerprint: u64, bits: u32) -> usize {
        spread(fingerprint & self.mask, bits)
    }

    /// Returns the bucket by the first block alone.
    #[inline]
    pub(crate) fn lead_bucket(self, fingerprint: u64, bits: u32) -> usize {
        spread(fingerprint & self.lead, bits)
    }
}

/// Spreads bits that lie in one half, by Fibonacci hashing (Knuth, volume 3, section 6.4).
#[inline]
fn spread(masked: u64, bits: u32) -> usize {
    let half = (masked | masked >> 32) & 0xffff_ffff;
    (half.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
}

/// A set of tables that finds everything within a distance.
#[derive(Clone, Debug)]
pub(crate) struct Pigeonholes {
    distance: u32,
    tables: Vec<Table>,
}

/// The costs of one more table and of one more comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    pub(crate) table: f64,
    pub(crate) comparison: f64,
}

impl Pigeonholes {
    /// Creates the tables that minimise the work for one fingerprint among `count`.
    pub(crate) fn for_count(distance: u32, count: u64, costs: Costs) -> Self {
        let work = |blocks: u32| {
            let halves = errors(distance)
                .into_iter()
                .flatten()
                .filter(|&(_, errors)| errors < blocks);
            let of_half = |(_, errors): (u32, u32)| {
                let prefix = f64::from(32 * (blocks - errors) / blocks);
                choices(blocks, errors)
                    * (costs.table + costs.comparison * count as f64 / prefix.exp2())
            };
            halves.map(of_half).sum::<f64>()
        };
        let least = errors(distance)
            .into_iter()
            .flatten()
            .map(|(_, errors)| errors + 1)
            .max()
            .unwrap_or(1);
        let blocks = (least..=least + 4)
            .min_by(|one, two| work(*one).total_cmp(&work(*two)))
            .unwrap_or(least);
        Self::of(distance, blocks)
    }

    /// Creates the tables for halves cut into `blocks` blocks, more than the errors of any half.
    fn of(distance: u32, blocks: u32) -> Self {
        let mut tables = Vec::new();
        for (above, errors) in errors(distance).into_iter().flatten() {
            let of_half = |chosen: u32| masks(chosen, blocks, above);
            let choices =
                (0_u32..1 << blocks).filter(|chosen| chosen.count_ones() == blocks - errors);
            tables.extend(choices.map(|chosen| Table {
                mask: of_half(chosen),
                lead: of_half(chosen & chosen.wrapping_neg()),
            }));
        }
        // Tables with the same first block are neighbours.
        tables.sort_by_key(|table| std::cmp::Reverse(table.lead));
        Self { distance, tables }
    }

    pub(crate) fn distance(&self) -> u32 {
        self.distance
    }

    pub(crate) fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Returns the ranges of tables with the same first block.
    pub(crate) fn leads(&self) -> Vec<std::ops::Range<usize>> {
        let mut end = 0;
        let runs = self.tables.chunk_by(|one, two| one.lead == two.lead);
        runs.map(|run| {
            end += run.len();
            end - run.len()..end
        })
        .collect()
    }

    /// Returns true if a pair with these different bits agrees under the mask of this table and of
    /// no earlier table. Meeting in a bucket is not enough: other fingerprints fall into it as
    /// well.
    #[inline]
    pub(crate) fn is_first(&self, table: usize, difference: u64) -> bool {
        difference & self.tables[table].mask == 0
            && self.tables[..table]
                .iter()
                .all(|earlier| difference & earlier.mask != 0)
    }
}

/// Returns the halves to compare: the number of bits above each, and the number of its bits that
/// may differ. A distance of 0 needs one half only.
fn errors(distance: u32) -> [Option<(u32, u32)>; 2] {
    let upper = distance / 2;
    [
        Some((0, upper)),
        (distance > upper).then(|| (32, distance - 1 - upper)),
    ]
}

/// Returns the bits of the `chosen` of `blocks` blocks; `above` bits lie above the half.
fn masks(chosen: u32, blocks: u32, above: u32) -> u64 {
    let (width, wider) = (32 / blocks, 32 % blocks);
    let mut mask = 0;
    let mut at = above;
    for block in 0..blocks {
        let width = width + u32::from(block < wider);
        if chosen >> block & 1 == 1 {
            mask |= (u64::MAX >> (64 - width)) << (64 - at - width);
        }
        at += width;
    }
    mask
}

/// Returns the number of ways to choose `some` of `all`.
fn choices(all: u32, some: u32) -> f64 {
    (0..some)
        .map(|n| f64::from(all - n) / f64::from(n + 1))
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COSTS: Costs = Costs {
        table: 8.0,
        comparison: 2.0,
    };

    #[test]
    fn a_distance_of_three_takes_eight_tables_of_24_bits_where_halves_are_cut_into_four() {
        let holes = Pigeonholes::of(3, 4);
        assert_eq!(holes.tables().len(), 8);
        assert!(
            holes
                .tables()
                .iter()
                .all(|table| table.mask.count_ones() == 24)
        );
        assert_eq!(holes.leads(), [0..3, 3..4, 4..7, 7..8]);
    }

    #[test]
    fn more_fingerprints_are_given_longer_prefixes() {
        let prefix = |count| {
            Pigeonholes::for_count(3, count, COSTS).tables()[0]
                .mask
                .count_ones()
        };
        assert!(
            prefix(1_000) < prefix(10_000_000),
            "{} and {}",
            prefix(1_000),
            prefix(10_000_000)
        );
    }

    #[test]
    fn equal_fingerprints_need_one_table() {
        assert_eq!(Pigeonholes::for_count(0, 1 << 30, COSTS).tables().len(), 1);
    }

    proptest! {
        #[test]
        fn a_pair_within_the_distance_has_exactly_one_first_table(
            bits: u64,
            flips in prop::collection::vec(0_u32..64, 0..8),
            blocks in 4_u32..9,
            width in 1_u32..33,
        ) {
            let other = flips.iter().fold(bits, |bits, flip| bits ^ 1 << flip);
            for distance in (bits ^ other).count_ones()..8 {
                let holes = Pigeonholes::of(distance, blocks);
                let meet = |table: &Table| (bits ^ other) & table.mask == 0;
                let firsts = (0..holes.tables().len())
                    .filter(|&number| holes.is_first(number, bits ^ other));
                prop_assert_eq!(firsts.count(), 1);
                for table in holes.tables().iter().filter(|table| meet(table)) {
                    prop_assert_eq!(table.bucket(bits, width), table.bucket(other, width));
                    prop_assert_eq!(
                        table.lead_bucket(bits, width),
                        table.lead_bucket(other, width),
                    );
                    prop_assert!(table.bucket(bits, width) >> width == 0);
                }
            }
        }
    }
}
