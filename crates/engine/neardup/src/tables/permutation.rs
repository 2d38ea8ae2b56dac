//! The order of a fingerprint's bits in a table.

use std::fmt;

/// A run of neighbouring bits of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BitRun {
    /// Number of bits of the fingerprint above the run.
    pub(super) above: u32,
    /// Number of bits in the run, at least one.
    pub(super) width: u32,
}

/// The order of bits in a table: the leading bits first, the other bits behind them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    /// The leading bits, in their order.
    leaders: Vec<BitRun>,
    /// Number of bits of a fingerprint, 64 or 32.
    bits: u32,
    prefix: u32,
    leading: u64,
    rotations: Vec<Rotation>,
}

/// Bits that keep their distances to each other: their mask in a fingerprint, and their rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rotation {
    mask: u64,
    /// Distance of the rotation to the left.
    left: u32,
}

impl Permutation {
    /// Creates the order `leaders`, then `others`; together they are the lowest `bits` bits of a
    /// number, each once.
    pub(super) fn new(bits: u32, leaders: &[BitRun], others: &[BitRun]) -> Self {
        let mut rotations: Vec<Rotation> = Vec::new();
        let mut filled = 0;
        for run in leaders.iter().chain(others) {
            let above = 64 - bits + run.above;
            let left = (64 + above - filled) % 64;
            let mask = (u64::MAX >> (64 - run.width)) << (64 - above - run.width);
            match rotations.iter_mut().find(|before| before.left == left) {
                Some(before) => before.mask |= mask,
                None => rotations.push(Rotation { mask, left }),
            }
            filled += run.width;
        }
        let prefix: u32 = leaders.iter().map(|run| run.width).sum();
        let mut permutation = Self {
            leaders: leaders.to_vec(),
            bits,
            prefix,
            leading: 0,
            rotations,
        };
        permutation.leading = permutation.undo(u64::MAX.checked_shl(64 - prefix).unwrap_or(0));
        permutation
    }

    /// Returns the length of the prefix that a probe and its candidates share, in bits.
    #[must_use]
    pub fn prefix_bits(&self) -> u32 {
        self.prefix
    }

    /// Returns the mask of the bits of a fingerprint that lead in this table.
    #[must_use]
    pub fn leading_bits(&self) -> u64 {
        self.leading
    }

    /// Returns the bits in the order of this table, from the most significant bit of the number
    /// downwards. For a 32-bit fingerprint, higher bits are left out.
    #[must_use]
    pub fn apply(&self, bits: u64) -> u64 {
        self.rotations.iter().fold(0, |permuted, part| {
            permuted | (bits & part.mask).rotate_left(part.left)
        })
    }

    /// Returns the bits in their original order.
    #[must_use]
    pub fn undo(&self, permuted: u64) -> u64 {
        self.rotations.iter().fold(0, |bits, part| {
            bits | permuted.rotate_right(part.left) & part.mask
        })
    }
}

/// Shows the leading bits, where the most significant bit of a fingerprint is 63 (or 31), and their
/// number.
impl fmt::Display for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("led by ")?;
        if self.leaders.is_empty() {
            f.write_str("nothing")?;
        }
        for (number, run) in self.leaders.iter().enumerate() {
            let highest = self.bits - 1 - run.above;
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{highest}–{}", highest + 1 - run.width)?;
        }
        write!(f, ": prefix of {} bits", self.prefix)
    }
}
