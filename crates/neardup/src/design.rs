//! Which permuted tables find everything within *k* bits.
//!
//! Sixty-four bits are cut into blocks, and each table brings some of them to the top. Two fingerprints that differ in
//! at most k bits differ in at most k blocks, so they agree on all the others: with k + 1 blocks and a table led by
//! each, they agree on the leading block of some table (Manku, Jain and Das Sarma, "Detecting near-duplicates for web
//! crawling", WWW 2007, section 3). A probe looks at the run of entries that share its leading block: with d
//! fingerprints and a prefix of p bits, at d / 2ᵖ of them.

use std::fmt;

/// The greatest distance that a design exists for.
pub const MAX_DISTANCE: u32 = 7;

/// A list of permutations, one a table, that between them find everything within a distance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDesign {
    distance: u32,
    /// Their widths in bits, from the most significant downwards.
    blocks: Vec<u32>,
    tables: Vec<Permutation>,
}

impl TableDesign {
    /// The fewest tables that find everything within `distance` bits: `distance` + 1, each led by one block.
    ///
    /// # Errors
    /// [`ImpossibleDesign`] for more than [`MAX_DISTANCE`].
    pub fn for_distance(distance: u32) -> Result<Self, ImpossibleDesign> {
        if distance > MAX_DISTANCE {
            return Err(ImpossibleDesign(distance));
        }
        let count = distance + 1;
        let blocks: Vec<u32> = (0..count)
            .map(|block| 64 / count + u32::from(block < 64 % count))
            .collect();
        let tables = (0..blocks.len())
            .map(|leader| Permutation::led_by(&[leader], &blocks))
            .collect();
        Ok(Self {
            distance,
            blocks,
            tables,
        })
    }

    /// Everything within so many bits is found.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// The widths of the blocks in bits, from the most significant downwards. They add up to 64.
    #[must_use]
    pub fn blocks(&self) -> &[u32] {
        &self.blocks
    }

    /// One permutation a table.
    #[must_use]
    pub fn tables(&self) -> &[Permutation] {
        &self.tables
    }
}

/// Lists the tables, one a line.
impl fmt::Display for TableDesign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} tables for distance {} over blocks of {:?} bits",
            self.tables.len(),
            self.distance,
            self.blocks
        )?;
        for (number, table) in self.tables.iter().enumerate() {
            write!(
                f,
                "\ntable {number}: led by {:?}, prefix of {} bits",
                table.leaders, table.prefix
            )?;
        }
        Ok(())
    }
}

/// A distance that no design is offered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no tables find everything within {0} bits: 0 to {MAX_DISTANCE} are possible")]
pub struct ImpossibleDesign(u32);

/// How a table orders the bits of a fingerprint: its leading blocks first, the others behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    leaders: Vec<usize>,
    prefix: u32,
    /// The bits of a fingerprint that lead in this table.
    leading: u64,
    moves: Vec<Move>,
}

/// A run of bits that stay together: where it lies in a fingerprint, where in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Move {
    mask: u64,
    /// How far to rotate to the left.
    turn: u32,
}

impl Permutation {
    fn led_by(leaders: &[usize], blocks: &[u32]) -> Self {
        let others = (0..blocks.len()).filter(|block| !leaders.contains(block));
        let mut moves: Vec<Move> = Vec::with_capacity(blocks.len());
        let mut filled = 0;
        for block in leaders.iter().copied().chain(others) {
            let above: u32 = blocks[..block].iter().sum();
            let turn = (64 + above - filled) % 64;
            let mask = (u64::MAX >> (64 - blocks[block])) << (64 - above - blocks[block]);
            match moves.iter_mut().find(|before| before.turn == turn) {
                Some(before) => before.mask |= mask,
                None => moves.push(Move { mask, turn }),
            }
            filled += blocks[block];
        }
        let prefix = leaders.iter().map(|&block| blocks[block]).sum();
        let mut permutation = Self {
            leaders: leaders.to_vec(),
            prefix,
            leading: 0,
            moves,
        };
        permutation.leading = permutation.undo(u64::MAX << (64 - prefix));
        permutation
    }

    /// The blocks that lead, counted from the most significant one.
    #[must_use]
    pub fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// How many bits a probe agrees on with its candidates.
    #[must_use]
    pub fn prefix_bits(&self) -> u32 {
        self.prefix
    }

    /// The bits of a fingerprint that this table leads with.
    #[must_use]
    pub fn leading_bits(&self) -> u64 {
        self.leading
    }

    /// The bits in the order of this table.
    #[must_use]
    pub fn apply(&self, bits: u64) -> u64 {
        self.moves.iter().fold(0, |permuted, part| {
            permuted | (bits & part.mask).rotate_left(part.turn)
        })
    }

    /// The bits in their own order again.
    #[must_use]
    pub fn undo(&self, permuted: u64) -> u64 {
        self.moves.iter().fold(0, |bits, part| {
            bits | permuted.rotate_right(part.turn) & part.mask
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_distance_of_three_takes_four_tables_of_sixteen_bits() {
        let design = TableDesign::for_distance(3).unwrap();
        assert_eq!(design.blocks(), [16, 16, 16, 16]);
        assert!(design.tables().iter().all(|table| table.prefix_bits() == 16));
        assert_eq!(
            design.tables()[2].apply(0x1111_2222_3333_4444),
            0x3333_1111_2222_4444
        );
        assert_eq!(
            design.to_string().lines().last(),
            Some("table 3: led by [3], prefix of 16 bits"),
            "{design}"
        );
    }

    #[test]
    fn blocks_are_as_even_as_sixty_four_bits_allow() {
        for distance in 0..=MAX_DISTANCE {
            let design = TableDesign::for_distance(distance).unwrap();
            let blocks = design.blocks();
            assert_eq!(blocks.iter().sum::<u32>(), 64);
            assert_eq!(blocks.len() as u32, distance + 1);
            assert!(blocks.iter().max().unwrap() - blocks.iter().min().unwrap() <= 1);
            let leading = design.tables().iter().map(Permutation::leading_bits);
            assert_eq!(leading.fold(0, |bits, more| bits ^ more), u64::MAX);
        }
    }

    #[test]
    fn more_than_seven_bits_are_refused() {
        let refusal = TableDesign::for_distance(8).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "no tables find everything within 8 bits: 0 to 7 are possible"
        );
    }

    proptest! {
        #[test]
        fn a_permutation_keeps_distances_and_can_be_undone(one: u64, two: u64, distance in 0..=MAX_DISTANCE) {
            for table in TableDesign::for_distance(distance).unwrap().tables() {
                prop_assert_eq!(table.undo(table.apply(one)), one);
                let (a, b) = (table.apply(one), table.apply(two));
                prop_assert_eq!((a ^ b).count_ones(), (one ^ two).count_ones());
                let same_prefix = (a ^ b).leading_zeros() >= table.prefix_bits();
                prop_assert_eq!(same_prefix, (one ^ two) & table.leading_bits() == 0);
            }
        }
    }
}
