//! The columns of an index, and the order of the bits in its tables.

use super::column::Column;

/// The number of tables.
pub(super) const TABLES: usize = 4;
/// The fewest bits of a fingerprint.
pub(super) const MIN_BITS: u32 = 8;
/// For n fingerprints, the directory resolves ⌊log₂ n⌋ minus this many leading bits: 16 to 32
/// entries share them.
const BUCKET_BITS: u32 = 4;

/// The numbers that determine the layout of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The number of fingerprints.
    pub(super) len: u64,
    /// The bits of a fingerprint, [`MIN_BITS`] to 64.
    pub(super) bits: u32,
    /// The bits of an id, 0 to 64.
    pub(super) id_bits: u32,
}

/// The columns of an index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) tables: [TableColumns; TABLES],
    pub(super) ids: Column,
}

/// The columns of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableColumns {
    pub(super) entries: Column,
    pub(super) directory: Column,
}

impl Columns {
    /// Returns the number of blocks of the file.
    pub(super) fn blocks(&self) -> u64 {
        self.ids.end_block()
    }
}

impl Layout {
    /// Returns the bits of a position.
    pub(super) fn position_bits(self) -> u32 {
        width_of(self.len.saturating_sub(1))
    }

    /// Returns the number of leading bits that the directory of a table resolves.
    pub(super) fn directory_bits(self) -> u32 {
        let useful = self.len.max(1).ilog2().saturating_sub(BUCKET_BITS);
        useful.min(2 * (self.bits / 4))
    }

    /// Returns the bits of a fingerprint in an entry.
    pub(super) fn suffix_bits(self) -> u32 {
        self.bits - self.directory_bits()
    }

    /// Returns the columns of the tables and the column of the ids.
    pub(super) fn columns(self) -> Columns {
        let mut next = 1;
        let mut column = |len, width| {
            let column = Column::new(next, len, width);
            next = column.end_block();
            column
        };
        let buckets = (1 << self.directory_bits()) + 1;
        let tables = [(); TABLES].map(|()| TableColumns {
            entries: column(self.len, self.suffix_bits() + self.position_bits()),
            directory: column(buckets, width_of(self.len)),
        });
        let ids = match self.id_bits {
            0 => column(0, 1),
            id_bits => column(self.len, id_bits),
        };
        Columns { tables, ids }
    }

    /// Returns the widths of the quarters of a fingerprint, the upper one first.
    pub(super) fn quarters(self) -> [u32; TABLES] {
        [0, 1, 2, 3].map(|quarter| self.bits / 4 + u32::from(quarter < self.bits % 4))
    }

    /// Returns the lowest `bits` bits of a fingerprint in the order of a table.
    pub(super) fn permuted(self, table: usize, fingerprint: u64) -> u64 {
        let widths = self.quarters();
        let lower_half = widths[2] + widths[3];
        let halves = [fingerprint >> lower_half, fingerprint];
        let half_widths = [widths[0] + widths[1], lower_half];
        let (leading, other) = (table / 2, 1 - table / 2);
        let own = low_bits(halves[leading], half_widths[leading]);
        let lower_quarter = widths[2 * leading + 1];
        let own = match table % 2 {
            0 => own,
            _ => low_bits(own, lower_quarter) << widths[2 * leading] | own >> lower_quarter,
        };
        own << half_widths[other] | low_bits(halves[other], half_widths[other])
    }
}

/// Returns the number of bits that a number needs, at least one.
pub(super) fn width_of(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).max(1)
}

/// Returns the lowest 0 to 64 bits of a number.
#[inline]
pub(super) fn low_bits(number: u64, bits: u32) -> u64 {
    number & u64::MAX.checked_shr(64 - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::column::MAX_WIDTH;
    use super::*;
    use proptest::prelude::*;

    #[test]
    #[expect(clippy::unusual_byte_groupings, reason = "quarters are shown apart")]
    fn each_quarter_leads_once_and_its_sibling_follows() {
        let layout = |bits| Layout {
            len: 0,
            bits,
            id_bits: 0,
        };
        let orders = [0, 1, 2, 3].map(|table| layout(64).permuted(table, 0x1111_2222_3333_4444));
        assert_eq!(
            orders,
            [
                0x1111_2222_3333_4444,
                0x2222_1111_3333_4444,
                0x3333_4444_1111_2222,
                0x4444_3333_1111_2222
            ]
        );
        // Ten bits: quarters of 3, 3, 2 and 2.
        let orders = [0, 1, 2, 3].map(|table| layout(10).permuted(table, 0b110_001_10_01));
        assert_eq!(
            orders,
            [
                0b110_001_10_01,
                0b001_110_10_01,
                0b10_01_110_001,
                0b01_10_110_001
            ]
        );
    }

    proptest! {
        #[test]
        fn columns_do_not_overlap_and_numbers_fit_for_any_size(
            len: u64, shift in 0_u32..64, bits in MIN_BITS..=64, id_bits in 0_u32..=64,
        ) {
            let layout = Layout { len: len >> shift, bits, id_bits };
            let Columns { tables, ids } = layout.columns();
            let columns = tables.into_iter().flat_map(|table| [table.entries, table.directory]);
            let mut next = 1;
            for column in columns.chain([ids]) {
                prop_assert_eq!(column.first_block, next);
                prop_assert!((1..=MAX_WIDTH).contains(&column.width));
                next = column.end_block();
            }
            prop_assert_eq!(layout.columns().blocks(), next);
        }

        #[test]
        fn a_distance_is_the_same_in_every_table(one: u64, other: u64, bits in MIN_BITS..=64) {
            let layout = Layout { len: 0, bits, id_bits: 0 };
            for table in 0..TABLES {
                let apart = layout.permuted(table, one) ^ layout.permuted(table, other);
                prop_assert_eq!(apart.count_ones(), low_bits(one ^ other, bits).count_ones());
                prop_assert_eq!(low_bits(apart, bits), apart);
            }
        }
    }
}
