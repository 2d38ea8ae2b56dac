//! The choice of a design for a number of pages: tables cost memory, short prefixes cost time.
//!
//! "A reasonable approach is to fix a threshold on the number of candidates and to choose the
//! fewest tables" (Manku, Jain and Das Sarma, WWW 2007, section 3.2.1, with the recursion X(f, k,
//! d) = min over r of C(r, k) · X(f·k/r, k, d − (r−k)·f/r), and 1 if d is small enough for a scan).
//! The recursion in the paper assumes blocks of equal width; here the widths are whole bits and the
//! worst choice of blocks counts.

use super::design::{InvalidDesign, MAX_TABLES, TableDesign, choices, leading};

/// Default maximum number of candidates that a probe reads, over all tables: reading them costs a
/// few microseconds, about as much as finding them on a disk.
pub const CANDIDATES: f64 = 4_096.0;

/// The useful designs for a number of pages, and the chosen one.
///
/// ```
/// use neardup::tables::{InvalidDesign, Plan};
///
/// let plan = Plan::new(1_000_000, 3, 64)?;
/// let chosen = &plan.options()[plan.chosen()];
/// assert_eq!((chosen.tables().len(), plan.is_met()), (4, true));
/// # Ok::<(), InvalidDesign>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pages: u64,
    allowed: f64,
    options: Vec<TableDesign>,
    chosen: usize,
}

impl Plan {
    /// Creates a plan for `pages` pages whose fingerprints have `bits` bits and are near within
    /// `distance`.
    ///
    /// # Errors
    /// [`InvalidDesign`] for a distance above [`crate::tables::MAX_DISTANCE`] or other than 64 or
    /// 32 bits.
    pub fn new(pages: u64, distance: u32, bits: u32) -> Result<Self, InvalidDesign> {
        Self::allowing(CANDIDATES, pages, distance, bits)
    }

    /// Creates a plan whose probes may read `candidates`, over all tables, instead of
    /// [`CANDIDATES`].
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn allowing(
        candidates: f64,
        pages: u64,
        distance: u32,
        bits: u32,
    ) -> Result<Self, InvalidDesign> {
        let scan = TableDesign::new(bits, distance, &[])?;
        let mut found = Vec::new();
        shapes(bits, distance, &Shape::SCAN, &mut found);
        // Fewest tables first, then the longest prefix; a design that is no better than an earlier
        // one is omitted.
        found.sort_by_key(|shape| (shape.tables, u32::MAX - shape.shortest, shape.levels.len()));
        let mut options = vec![scan];
        let mut longest = 0;
        for shape in found {
            // Once less than one candidate is left, more tables save nothing.
            let is_enough = longest >= 64 || pages >> longest == 0;
            if shape.shortest > longest && !is_enough {
                longest = shape.shortest;
                options.push(TableDesign::new(bits, distance, &shape.levels)?);
            }
        }
        let fits = |design: &TableDesign| design.expected_candidates(pages) <= candidates;
        // If no design fits (great distances over few bits), the fewest candidates decide.
        let left = |at: &usize| options[*at].expected_candidates(pages);
        let least = (0..options.len()).min_by(|a, b| left(a).total_cmp(&left(b)));
        let chosen = options.iter().position(fits).or(least).unwrap_or(0);
        Ok(Self {
            pages,
            allowed: candidates,
            options,
            chosen,
        })
    }

    /// Returns the number of pages that the plan is for.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Returns the useful designs, fewest tables first: each further design has longer prefixes
    /// than all earlier ones. The first is a single table that is read from end to end.
    #[must_use]
    pub fn options(&self) -> &[TableDesign] {
        &self.options
    }

    /// Returns the index of the chosen option: the fewest tables that leave at most the allowed
    /// number of candidates.
    #[must_use]
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Returns true if the chosen design leaves at most the allowed number of candidates; if false,
    /// every design leaves more.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.options[self.chosen].expected_candidates(self.pages) <= self.allowed
    }

    /// Returns the size of the tables of `design` for these pages, in bytes, uncompressed; encoded
    /// blocks take between half and three quarters of it.
    #[must_use]
    pub fn memory(&self, design: &TableDesign) -> u128 {
        u128::from(self.pages) * design.tables().len() as u128 * u128::from(design.bits() / 8)
    }

    /// Returns a sentence that gives the reason for the choice.
    #[must_use]
    pub fn reason(&self) -> String {
        let tables = self.options[self.chosen].tables().len();
        let allowed = self.allowed;
        if !self.is_met() {
            return format!(
                "no design has at most {allowed} candidates per probe; {tables} tables have the \
                 fewest"
            );
        }
        match tables {
            1 => format!("with so few pages, one table has at most {allowed} candidates per probe"),
            _ => format!(
                "{tables} is the minimum number of tables with at most {allowed} candidates per \
                 probe"
            ),
        }
    }
}

/// Maximum number of times that a plan cuts the remaining bits; the paper does so twice.
const LEVELS: usize = 3;

/// The outline of a design: its levels, number of tables, and shortest and longest prefix.
#[derive(Clone, Debug)]
struct Shape {
    levels: Vec<u32>,
    tables: u64,
    shortest: u32,
    longest: u32,
}

impl Shape {
    const SCAN: Self = Self {
        levels: Vec::new(),
        tables: 1,
        shortest: 0,
        longest: 0,
    };

    /// Returns this design with the bits behind its prefixes cut into `blocks`.
    fn cut(&self, bits: u32, blocks: u32, distance: u32) -> Self {
        let mut levels = self.levels.clone();
        levels.push(blocks);
        // The choice with the fewest leading bits leaves the most bits to cut. One more bit to cut
        // gives at most one more leading bit, so this choice stays the shortest.
        Self {
            levels,
            tables: self.tables * choices(blocks, distance),
            shortest: self.shortest + leading(bits - self.shortest, blocks, distance).start(),
            longest: self.longest + leading(bits - self.longest, blocks, distance).end(),
        }
    }
}

/// Appends all designs that begin with the levels of `begun`.
fn shapes(bits: u32, distance: u32, begun: &Shape, found: &mut Vec<Shape>) {
    if begun.levels.len() == LEVELS {
        return;
    }
    // Without errors one block is enough: more blocks do not have more leading bits.
    let most = if distance == 0 {
        1
    } else {
        bits - begun.longest
    };
    for blocks in distance + 1..=most.min(bits - begun.longest) {
        let shape = begun.cut(bits, blocks, distance);
        if shape.tables > MAX_TABLES as u64 {
            break;
        }
        shapes(bits, distance, &shape, found);
        found.push(shape);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_designs_of_the_paper_are_among_the_options() {
        let plan = Plan::new(1 << 34, 3, 64).unwrap();
        let listed: Vec<(usize, f64)> = plan
            .options()
            .iter()
            .map(|design| (design.tables().len(), design.max_candidates(plan.pages())))
            .collect();
        for expected in [(4, f64::from(1 << 18)), (10, 512.0), (16, 64.0), (20, 8.0)] {
            assert!(listed.contains(&expected), "{listed:?}");
        }
        assert_eq!(listed[0], (1, (1_u64 << 34) as f64));
        assert_eq!(plan.memory(&plan.options()[1]), (4 * 8) << 34);
    }

    #[test]
    fn more_tables_have_longer_prefixes_and_the_listed_prefixes_are_true() {
        for distance in 0..=crate::tables::MAX_DISTANCE {
            for bits in [32, 64] {
                let plan = Plan::new(1 << 40, distance, bits).unwrap();
                for pair in plan.options().windows(2) {
                    assert!(pair[0].tables().len() <= pair[1].tables().len());
                    assert!(pair[0].prefix_bits().start() < pair[1].prefix_bits().start());
                }
            }
        }
    }

    #[test]
    fn the_fewest_tables_are_chosen_that_leave_no_more_candidates_than_allowed() {
        for (allowed, tables) in [
            (f64::MAX, 1),
            ((1_u64 << 21) as f64, 4),
            (4_096.0, 10),
            (1_024.0, 16),
            (160.0, 20),
        ] {
            let plan = Plan::allowing(allowed, 1 << 34, 3, 64).unwrap();
            assert_eq!(
                plan.options()[plan.chosen()].tables().len(),
                tables,
                "{allowed}"
            );
            assert!(plan.is_met());
        }
        assert_eq!(
            Plan::new(1 << 34, 3, 64).unwrap().reason(),
            "10 is the minimum number of tables with at most 4096 candidates per probe"
        );
        let few = Plan::new(1_000, 3, 64).unwrap();
        assert_eq!(
            few.reason(),
            "with so few pages, one table has at most 4096 candidates per probe"
        );
    }

    #[test]
    fn a_plan_says_if_no_design_leaves_few_enough_candidates() {
        let plan = Plan::allowing(0.5, 1 << 40, 7, 32).unwrap();
        assert!(!plan.is_met());
        assert!(
            plan.reason()
                .starts_with("no design has at most 0.5 candidates per probe")
        );
        let left = |at: usize| plan.options()[at].expected_candidates(1 << 40);
        assert!((0..plan.options().len()).all(|at| left(plan.chosen()) <= left(at)));
    }

    #[test]
    fn no_pages_and_the_greatest_number_of_pages_have_plans() {
        for distance in 0..=7 {
            assert!(Plan::new(0, distance, 64).unwrap().is_met());
            assert!(Plan::new(u64::MAX, distance, 64).unwrap().options().len() > 1);
        }
        assert_eq!(Plan::new(1, 8, 64).unwrap_err(), InvalidDesign::Distance(8));
        assert_eq!(Plan::new(1, 3, 16).unwrap_err(), InvalidDesign::Bits(16));
    }
}
