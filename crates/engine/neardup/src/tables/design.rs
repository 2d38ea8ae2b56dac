//! Table designs: sets of permuted tables that find everything within *k* bits.
//!
//! The bits are cut into r > k blocks. Two fingerprints that differ in at most k bits differ in at
//! most k blocks, so they agree on r − k other blocks. With a table for each choice of r − k
//! leading blocks, they agree on the whole prefix of some table. The bits behind a prefix can be
//! cut again, and again, by the same argument. For example, four blocks of 16 and then four of the
//! other 48 make 16 tables with prefixes of 28 bits (Manku, Jain and Das Sarma, "Detecting
//! near-duplicates for web crawling", WWW 2007, sections 3.1 and 3.2). A probe reads the run of
//! entries that share its prefix: d / 2ᵖ entries, with d fingerprints and a prefix of p bits.

use std::fmt;
use std::ops::RangeInclusive;

use super::permutation::{BitRun, Permutation};

/// Maximum distance of a design.
pub const MAX_DISTANCE: u32 = 7;

/// Maximum number of tables of a design: more tables cost more memory than the time that they save
/// is worth.
pub const MAX_TABLES: usize = 1_024;

/// A list of permutations, one per table, that together find everything within a distance.
///
/// ```
/// use neardup::tables::{InvalidDesign, TableDesign};
///
/// // The design of Manku, Jain and Das Sarma for eight thousand million pages.
/// let design = TableDesign::new(64, 3, &[4, 4])?;
/// assert_eq!((design.tables().len(), design.prefix_bits()), (16, 28..=28));
/// # Ok::<(), InvalidDesign>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDesign {
    bits: u32,
    distance: u32,
    levels: Vec<u32>,
    tables: Vec<Permutation>,
}

impl TableDesign {
    /// Creates the design with the fewest tables that find everything within `distance` bits of 64:
    /// `distance` + 1 tables, each led by one block.
    ///
    /// # Errors
    /// [`InvalidDesign::Distance`] for more than [`MAX_DISTANCE`].
    pub fn for_distance(distance: u32) -> Result<Self, InvalidDesign> {
        Self::new(64, distance, &[distance.saturating_add(1)])
    }

    /// Creates the tables for fingerprints of `bits` bits, 64 or 32, that differ in at most
    /// `distance`. The first of `levels` is the number of blocks that the bits are cut into, the
    /// second the number of blocks for the bits behind the chosen blocks, and so on. For 64 bits
    /// and a distance of 3, `[6]` makes 20 tables, `[4, 4]` 16, `[5]` 10 and `[4]` 4. Without
    /// levels there is one table without a prefix, which a probe reads from end to end.
    ///
    /// # Errors
    /// [`InvalidDesign`] for the number that is out of range.
    pub fn new(bits: u32, distance: u32, levels: &[u32]) -> Result<Self, InvalidDesign> {
        if bits != 64 && bits != 32 {
            return Err(InvalidDesign::Bits(bits));
        }
        if distance > MAX_DISTANCE {
            return Err(InvalidDesign::Distance(distance));
        }
        let (mut left, mut count) = (bits, 1_u64);
        for &blocks in levels {
            if blocks <= distance {
                return Err(InvalidDesign::TooFewBlocks { blocks, distance });
            }
            if blocks > left {
                return Err(InvalidDesign::TooManyBlocks { blocks, bits: left });
            }
            count = count.saturating_mul(choices(blocks, distance));
            if count > MAX_TABLES as u64 {
                return Err(InvalidDesign::TooManyTables(count));
            }
            left -= *leading(left, blocks, distance).end();
        }
        let mut tables = Vec::with_capacity(count as usize);
        let whole = BitRun {
            above: 0,
            width: bits,
        };
        cut(bits, distance, levels, &[], &[whole], &mut tables);
        Ok(Self {
            bits,
            distance,
            levels: levels.to_vec(),
            tables,
        })
    }

    /// Returns the number of bits of a fingerprint.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the maximum distance, in bits, that the design covers.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// Returns the number of blocks that the bits are cut into, then the number for the bits behind
    /// the chosen blocks, and so on.
    #[must_use]
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// Returns the permutations, one per table.
    #[must_use]
    pub fn tables(&self) -> &[Permutation] {
        &self.tables
    }

    /// Returns the shortest and the longest prefix of a table, in bits.
    #[must_use]
    pub fn prefix_bits(&self) -> RangeInclusive<u32> {
        let all = || self.tables.iter().map(Permutation::prefix_bits);
        all().min().unwrap_or(0)..=all().max().unwrap_or(0)
    }

    /// Returns the expected number of fingerprints, among `pages` random ones, that a probe reads
    /// over all tables.
    #[must_use]
    pub fn expected_candidates(&self, pages: u64) -> f64 {
        let tables = self.tables.iter();
        tables
            .map(|table| pages as f64 / f64::from(table.prefix_bits()).exp2())
            .sum()
    }

    /// Returns the expected number of candidates in the table with the most.
    #[must_use]
    pub fn max_candidates(&self, pages: u64) -> f64 {
        pages as f64 / f64::from(*self.prefix_bits().start()).exp2()
    }
}

/// Lists the tables, one per line.
impl fmt::Display for TableDesign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.tables.len();
        write!(
            f,
            "{count} {} for distance {} over {} bits",
            if count == 1 { "table" } else { "tables" },
            self.distance,
            self.bits
        )?;
        for (number, blocks) in self.levels.iter().enumerate() {
            let joint = if number == 0 { " in" } else { ", the rest in" };
            write!(
                f,
                "{joint} {blocks} {}",
                if *blocks == 1 { "block" } else { "blocks" }
            )?;
        }
        for (number, table) in self.tables.iter().enumerate() {
            write!(f, "\ntable {number}: {table}")?;
        }
        Ok(())
    }
}

/// Reasons why a design is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDesign {
    /// A distance above [`MAX_DISTANCE`].
    #[error("distance must be between 0 and {MAX_DISTANCE} bits, got {0}")]
    Distance(u32),
    /// A fingerprint size other than 64 or 32 bits.
    #[error("fingerprints must have 64 or 32 bits, got {0}")]
    Bits(u32),
    /// Too few blocks: each could hold an error, so that two near fingerprints would not agree on
    /// any.
    #[error("a distance of {distance} needs more than {distance} blocks, got {blocks}")]
    TooFewBlocks {
        /// Requested number of blocks.
        blocks: u32,
        /// Number of errors, which must be less than the number of blocks.
        distance: u32,
    },
    /// Too many blocks: one would be empty.
    #[error("{bits} bits cannot be split into {blocks} blocks")]
    TooManyBlocks {
        /// Requested number of blocks.
        blocks: u32,
        /// Number of bits to cut.
        bits: u32,
    },
    /// More than [`MAX_TABLES`].
    #[error("at most {MAX_TABLES} tables are possible, got {0}")]
    TooManyTables(u64),
}

/// Returns the number of choices of the blocks that agree: the binomial coefficient of `blocks` and
/// `distance`.
pub(super) fn choices(blocks: u32, distance: u32) -> u64 {
    let few = u64::from(distance.min(blocks - distance));
    // Each step is a binomial coefficient, too, so that the division is exact.
    (0..few).fold(1_u64, |chosen, n| {
        chosen.saturating_mul(u64::from(blocks) - n) / (n + 1)
    })
}

/// Returns the minimum and the maximum number of leading bits when `blocks` − `distance` of
/// `blocks` blocks of `bits` bits are chosen.
pub(super) fn leading(bits: u32, blocks: u32, distance: u32) -> RangeInclusive<u32> {
    let (narrow, wider) = (bits / blocks, bits % blocks);
    let chosen = blocks - distance;
    chosen * narrow + chosen.saturating_sub(blocks - wider)..=chosen * narrow + chosen.min(wider)
}

/// Adds the tables led by `led` and then by every choice of blocks from the `open` bits.
fn cut(
    bits: u32,
    distance: u32,
    levels: &[u32],
    led: &[BitRun],
    open: &[BitRun],
    tables: &mut Vec<Permutation>,
) {
    let Some((&count, deeper)) = levels.split_first() else {
        tables.push(Permutation::new(bits, led, open));
        return;
    };
    let blocks = blocks_of(open, count);
    // In lexicographic order, so that the upper blocks lead first.
    let chosen = count - distance;
    each_choice(&blocks, chosen as usize, &mut Vec::new(), &mut |leaders| {
        let is_leader = |number: &usize| leaders.contains(number);
        let runs = |wanted: bool| {
            (0..blocks.len())
                .filter(move |number| is_leader(number) == wanted)
                .flat_map(|number| blocks[number].iter().copied())
        };
        let led: Vec<BitRun> = led.iter().copied().chain(runs(true)).collect();
        let open: Vec<BitRun> = runs(false).collect();
        cut(bits, distance, deeper, &led, &open, tables);
    });
}

/// Calls `visit` with every choice of `more` blocks behind the `taken` blocks, in lexicographic
/// order.
fn each_choice(
    blocks: &[Vec<BitRun>],
    more: usize,
    taken: &mut Vec<usize>,
    visit: &mut impl FnMut(&[usize]),
) {
    if more == 0 {
        visit(taken);
        return;
    }
    let first = taken.last().map_or(0, |last| last + 1);
    for block in first..=blocks.len() - more {
        taken.push(block);
        each_choice(blocks, more - 1, taken, visit);
        taken.pop();
    }
}

/// Cuts `open` into `count` blocks that are as equal as possible, the wider ones first.
fn blocks_of(open: &[BitRun], count: u32) -> Vec<Vec<BitRun>> {
    let bits: u32 = open.iter().map(|run| run.width).sum();
    let mut runs = open.iter().copied();
    let mut rest: Option<BitRun> = runs.next();
    let mut blocks = Vec::with_capacity(count as usize);
    for number in 0..count {
        let mut missing = bits / count + u32::from(number < bits % count);
        let mut block = Vec::new();
        while let (Some(run), 1..) = (rest, missing) {
            let width = run.width.min(missing);
            block.push(BitRun { width, ..run });
            missing -= width;
            rest = if width < run.width {
                Some(BitRun {
                    above: run.above + width,
                    width: run.width - width,
                })
            } else {
                runs.next()
            };
        }
        blocks.push(block);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn design(levels: &[u32]) -> TableDesign {
        TableDesign::new(64, 3, levels).unwrap()
    }

    /// The prefixes of Manku et al., section 3.2.1, "Example 3.1".
    #[test]
    fn twenty_sixteen_ten_and_four_tables_have_the_prefixes_of_the_paper() {
        for (levels, tables, prefixes) in [
            (&[6][..], 20, 31..=33),
            (&[4, 4], 16, 28..=28),
            (&[5], 10, 25..=26),
            (&[4], 4, 16..=16),
        ] {
            let design = design(levels);
            assert_eq!(design.tables().len(), tables);
            assert_eq!(design.prefix_bits(), prefixes, "{design}");
        }
    }

    #[test]
    fn with_two_to_the_thirty_four_pages_a_probe_looks_at_as_many_as_the_paper_says() {
        let pages = 1 << 34;
        let most = |levels: &[u32]| design(levels).max_candidates(pages);
        assert_eq!(most(&[6]), 8.0);
        assert_eq!(most(&[4, 4]), 64.0);
        assert_eq!(most(&[5]), 512.0);
        assert_eq!(most(&[4]), f64::from(1 << 18));
        assert_eq!(design(&[4]).expected_candidates(pages), f64::from(1 << 20));
    }

    #[test]
    fn a_distance_of_three_takes_four_tables_of_sixteen_bits() {
        let design = TableDesign::for_distance(3).unwrap();
        assert_eq!(
            design.tables()[2].apply(0x1111_2222_3333_4444),
            0x3333_1111_2222_4444
        );
        let lines: Vec<String> = design.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "4 tables for distance 3 over 64 bits in 4 blocks");
        assert_eq!(lines[4], "table 3: led by 15–0: prefix of 16 bits");
    }

    #[test]
    fn the_second_level_cuts_what_the_first_left_over() {
        let design = design(&[4, 4]);
        let shown = design.to_string();
        assert!(shown.starts_with(
            "16 tables for distance 3 over 64 bits in 4 blocks, the rest in 4 blocks\n"
        ));
        // The second block leads; of the other 48 bits the second twelve straddle it.
        assert!(
            shown.contains("table 5: led by 47–32, 51–48, 31–24: prefix of 28 bits"),
            "{shown}"
        );
    }

    #[test]
    fn without_levels_one_table_is_read_from_end_to_end() {
        let design = design(&[]);
        assert_eq!(design.prefix_bits(), 0..=0);
        assert_eq!(design.max_candidates(1_000), 1_000.0);
        assert_eq!(design.tables()[0].apply(77), 77);
        assert!(
            design
                .to_string()
                .ends_with("table 0: led by nothing: prefix of 0 bits")
        );
    }

    #[test]
    fn thirty_two_bits_lead_from_the_top_of_the_number() {
        let design = TableDesign::new(32, 3, &[4]).unwrap();
        assert_eq!(design.prefix_bits(), 8..=8);
        assert_eq!(design.tables()[1].apply(0x1122_3344), 0x2211_3344_0000_0000);
        assert_eq!(design.tables()[1].undo(0x2211_3344_0000_0000), 0x1122_3344);
    }

    #[test]
    fn invalid_designs_are_refused_with_a_reason() {
        let refusal = |bits, distance, levels: &[u32]| {
            let refused = TableDesign::new(bits, distance, levels);
            refused.unwrap_err().to_string()
        };
        assert_eq!(
            refusal(64, 8, &[9]),
            "distance must be between 0 and 7 bits, got 8"
        );
        assert_eq!(
            refusal(48, 3, &[4]),
            "fingerprints must have 64 or 32 bits, got 48"
        );
        assert_eq!(
            refusal(64, 3, &[3]),
            "a distance of 3 needs more than 3 blocks, got 3"
        );
        assert_eq!(
            refusal(32, 1, &[33]),
            "32 bits cannot be split into 33 blocks"
        );
        assert_eq!(
            refusal(64, 0, &[1, 1]),
            "0 bits cannot be split into 1 blocks"
        );
        assert_eq!(
            refusal(64, 3, &[30]),
            "at most 1024 tables are possible, got 4060"
        );
        assert_eq!(
            TableDesign::for_distance(u32::MAX),
            Err(InvalidDesign::Distance(u32::MAX))
        );
    }

    #[test]
    fn every_distance_has_a_design_of_as_many_tables_and_one() {
        for distance in 0..=MAX_DISTANCE {
            let design = TableDesign::for_distance(distance).unwrap();
            assert_eq!(design.tables().len() as u32, distance + 1);
            let leading = design.tables().iter().map(Permutation::leading_bits);
            assert_eq!(leading.fold(0, |bits, more| bits ^ more), u64::MAX);
        }
    }

    proptest! {
        #[test]
        fn a_permutation_keeps_distances_and_can_be_undone(
            one: u64,
            two: u64,
            wide: bool,
            distance in 0..4_u32,
            more in prop::collection::vec(1..4_u32, 0..3),
        ) {
            let levels: Vec<u32> = more.iter().map(|more| distance + more).collect();
            let bits = if wide { 64 } else { 32 };
            let Ok(design) = TableDesign::new(bits, distance, &levels) else { return Ok(()) };
            let (one, two) = (one >> (64 - bits), two >> (64 - bits));
            for table in design.tables() {
                prop_assert_eq!(table.undo(table.apply(one)), one);
                let (a, b) = (table.apply(one), table.apply(two));
                prop_assert_eq!((a ^ b).count_ones(), (one ^ two).count_ones());
                let same_prefix = (a ^ b).leading_zeros() >= table.prefix_bits();
                prop_assert_eq!(same_prefix, (one ^ two) & table.leading_bits() == 0);
            }
        }

        /// Checks the promise of every design, without tables: whatever bits are flipped, some
        /// prefix is untouched.
        #[test]
        fn some_prefix_survives_any_errors_within_the_distance(
            distance in 0..=MAX_DISTANCE,
            more in prop::collection::vec(1..3_u32, 0..3),
            seed: u64,
            wide: bool,
        ) {
            let levels: Vec<u32> = more.iter().map(|more| distance + more).collect();
            let bits = if wide { 64 } else { 32 };
            let Ok(design) = TableDesign::new(bits, distance, &levels) else { return Ok(()) };
            let positions =
                (0..distance).map(|n| crate::mix::mix(seed ^ u64::from(n) << 32) % u64::from(bits));
            let errors = positions.fold(0_u64, |errors, position| errors | 1 << position);
            prop_assert!(design.tables().iter().any(|table| table.leading_bits() & errors == 0));
        }
    }
}
