//! Writing an index: each table is sorted within a memory limit and written in one pass.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::column::ColumnWriter;
use super::file::FingerprintIndex;
use super::layout::{Layout, MIN_BITS, TABLES, low_bits, width_of};
use crate::MIN_MEMORY;
use crate::control::{Control, Gauge, Step};
use crate::error::BatchError;
use crate::fields::take;
use crate::fingerprint_file::FingerprintFile;
use crate::scratch::Scratch;
use crate::sorter::Sorter;

/// The size of an entry that is sorted: a permuted fingerprint and its position.
const RECORD: usize = 16;
/// The number of entries per progress report.
const REPORTED: u64 = 1 << 16;

/// The options of writing an index.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The approximate memory budget in bytes. At least [`MIN_MEMORY`] are used.
    pub memory: usize,
    /// The directory for data that exceed the memory, in files without names: 16 bytes per
    /// fingerprint.
    pub scratch: PathBuf,
}

/// A writer of an index; the file is valid after [`IndexWriter::write`].
#[derive(Debug)]
pub struct IndexWriter {
    path: PathBuf,
    file: File,
}

impl IndexWriter {
    /// Creates a writer to an empty file at `path`.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, file: File) -> Self {
        Self {
            path: path.into(),
            file,
        }
    }

    /// Writes the index of all fingerprints of `source`, which is read five times.
    ///
    /// # Errors
    /// [`BatchError`] if `source` is damaged, the scratch directory cannot be used or the system
    /// refuses to write.
    pub fn write(
        self,
        source: &FingerprintFile,
        options: &IndexOptions,
        control: Control<'_>,
    ) -> Result<FingerprintIndex, BatchError> {
        let layout = layout_of(source, control)?;
        let scratch = Scratch::new(&options.scratch);
        // A merge reads half as much as the sorter holds.
        let memory = options.memory.max(MIN_MEMORY) / 3 * 2;
        let mut sorting = Gauge::new(control, Some(TABLES as u64 * layout.len));
        let mut writing = Gauge::new(control, Some(TABLES as u64 * layout.len));
        for table in 0..TABLES {
            let mut sorter = Sorter::new(&scratch, memory);
            // The ids need no order of their own: they are written while the first table is read.
            let mut ids = (table == 0).then(|| ColumnWriter::new(&self.file, layout.columns().ids));
            let mut reader = source.read()?;
            while let Some(block) = reader.next_block()? {
                for (position, &bits) in (block.position..).zip(block.bits) {
                    sorter.push(encoded(layout.permuted(table, bits), position))?;
                }
                if let Some(ids) = &mut ids {
                    let written = block.ids.iter().try_for_each(|&id| ids.push(id.into()));
                    written.map_err(|source| self.error(source))?;
                }
                sorting.advance(Step::Sorting, block.bits.len() as u64)?;
            }
            let finished = ids.map_or(Ok(()), ColumnWriter::finish);
            finished.map_err(|source| self.error(source))?;
            self.write_table(layout, table, sorter, &mut writing)?;
        }
        let header = FingerprintIndex::header(layout, source.parameters_digest());
        let written = self
            .file
            .write_all_at(&header, 0)
            .and_then(|()| self.file.sync_all());
        written.map_err(|source| self.error(source))?;
        FingerprintIndex::open(self.path)
    }

    /// Writes the entries of a table and its directory.
    fn write_table(
        &self,
        layout: Layout,
        table: usize,
        sorter: Sorter<'_, RECORD>,
        gauge: &mut Gauge<'_>,
    ) -> Result<(), BatchError> {
        let columns = layout.columns().tables[table];
        let mut entries = ColumnWriter::new(&self.file, columns.entries);
        let mut directory = ColumnWriter::new(&self.file, columns.directory);
        let (suffix, position_bits) = (layout.suffix_bits(), layout.position_bits());
        let (mut before, mut buckets) = (0_u64, 0_u64);
        let mut sorted = sorter.finish();
        while let Some(record) = sorted.next()? {
            let mut rest = &record[..];
            let permuted = u64::from_be_bytes(take(&mut rest));
            let position = u64::from_be_bytes(take(&mut rest));
            let bucket = permuted.checked_shr(suffix).unwrap_or(0);
            let kept = low_bits(permuted, suffix);
            let entry = u128::from(kept) << position_bits | u128::from(position);
            let written = (buckets..=bucket)
                .try_for_each(|_| directory.push(before.into()))
                .and_then(|()| entries.push(entry));
            written.map_err(|source| self.error(source))?;
            buckets = bucket + 1;
            before += 1;
            if before % REPORTED == 0 {
                gauge.advance(Step::Reporting, REPORTED)?;
            }
        }
        let written = (buckets..columns.directory.len)
            .try_for_each(|_| directory.push(before.into()))
            .and_then(|()| directory.finish())
            .and_then(|()| entries.finish());
        written.map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> BatchError {
        BatchError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

/// Reads all fingerprints to determine the widths of their index.
fn layout_of(source: &FingerprintFile, control: Control<'_>) -> Result<Layout, BatchError> {
    let mut gauge = Gauge::new(control, Some(source.len()));
    let (mut bits, mut greatest_id) = (0, 0);
    let mut reader = source.read()?;
    while let Some(block) = reader.next_block()? {
        bits = block.bits.iter().fold(bits, |all, bits| all | bits);
        greatest_id = block
            .ids
            .iter()
            .fold(greatest_id, |id, other| id.max(*other));
        gauge.advance(Step::Reading, block.bits.len() as u64)?;
    }
    Ok(Layout {
        len: source.len(),
        bits: width_of(bits).max(MIN_BITS),
        id_bits: if source.has_ids() {
            width_of(greatest_id)
        } else {
            0
        },
    })
}

/// Returns a record whose bytes are in the order of an entry: its numbers are big-endian.
fn encoded(permuted: u64, position: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&permuted.to_be_bytes());
    record[8..].copy_from_slice(&position.to_be_bytes());
    record
}
