//! Columns of packed numbers in checked blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::fields::checksum;

/// The size of a block with its checksum: a page of most systems.
pub(super) const BLOCK: usize = 4_096;
/// The bytes of a block before its checksum.
pub(super) const BLOCK_DATA: usize = BLOCK - 8;
/// A block in memory: a number is read and written as 16 bytes, also the last one.
pub(super) const BLOCK_IN_MEMORY: usize = BLOCK + 16;
/// The greatest width of a number in bits: 16 bytes hold it even if it begins within a byte.
pub(super) const MAX_WIDTH: u32 = 121;
/// The number of bytes that a writer holds before it writes them.
const AT_ONCE: usize = 64 * BLOCK;

/// The place of numbers of one width in a file of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) first_block: u64,
    /// The number of numbers.
    pub(super) len: u64,
    /// The bits of a number, 1 to [`MAX_WIDTH`].
    pub(super) width: u32,
    /// The number of numbers in a full block.
    pub(super) per_block: u64,
}

impl Column {
    pub(super) fn new(first_block: u64, len: u64, width: u32) -> Self {
        debug_assert!((1..=MAX_WIDTH).contains(&width));
        Self {
            first_block,
            len,
            width,
            per_block: (BLOCK_DATA * 8) as u64 / u64::from(width),
        }
    }

    /// Returns the number of the block behind the column.
    pub(super) fn end_block(self) -> u64 {
        self.first_block + self.len.div_ceil(self.per_block)
    }

    /// Returns the block of a number, and its place among the numbers there.
    pub(super) fn place_of(self, at: u64) -> (u64, usize) {
        (
            self.first_block + at / self.per_block,
            (at % self.per_block) as usize,
        )
    }

    /// Returns a number of a block by its place there.
    #[inline]
    pub(super) fn number(self, block: &[u8; BLOCK_IN_MEMORY], place: usize) -> u128 {
        let bit = place * self.width as usize;
        let start = (bit / 8).min(BLOCK);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&block[start..start + 16]);
        (u128::from_le_bytes(bytes) >> (bit % 8)) & (u128::MAX >> (128 - self.width))
    }
}

/// A sequential writer of the numbers of a column.
#[derive(Debug)]
pub(super) struct ColumnWriter<'f> {
    file: &'f File,
    column: Column,
    /// The number of the block that is being filled.
    block: u64,
    /// The numbers in that block.
    filled: usize,
    /// Finished blocks that are not written, and the block that is being filled.
    bytes: Vec<u8>,
}

impl<'f> ColumnWriter<'f> {
    pub(super) fn new(file: &'f File, column: Column) -> Self {
        Self {
            file,
            column,
            block: column.first_block,
            filled: 0,
            bytes: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, number: u128) -> io::Result<()> {
        if self.filled == 0 {
            self.bytes.resize(self.bytes.len() + BLOCK_IN_MEMORY, 0);
        }
        let block_start = self.bytes.len() - BLOCK_IN_MEMORY;
        let bit = self.filled * self.column.width as usize;
        let place = &mut self.bytes[block_start + bit / 8..][..16];
        let packed = number << (bit % 8);
        for (byte, more) in place.iter_mut().zip(packed.to_le_bytes()) {
            *byte |= more;
        }
        self.filled += 1;
        if self.filled as u64 == self.column.per_block {
            self.end_block();
            if self.bytes.len() >= AT_ONCE {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.filled > 0 {
            self.end_block();
        }
        self.write()
    }

    fn end_block(&mut self) {
        let start = self.bytes.len() - BLOCK_IN_MEMORY;
        self.bytes.truncate(start + BLOCK_DATA);
        let sum = checksum(self.block, &self.bytes[start..]);
        self.bytes.extend(sum);
        self.block += 1;
        self.filled = 0;
    }

    fn write(&mut self) -> io::Result<()> {
        let blocks = (self.bytes.len() / BLOCK) as u64;
        let at = (self.block - blocks) * BLOCK as u64;
        self.file.write_all_at(&self.bytes, at)?;
        self.bytes.clear();
        Ok(())
    }
}
