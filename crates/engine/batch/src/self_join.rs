//! All pairs of fingerprints within a few bits, even if the fingerprints exceed the memory.
//!
//! Fingerprints that fit in memory are joined there. Otherwise they go to a file, and once for each
//! block that leads a table they are split by that block (Broder et al. 1997, section 4: divide,
//! compute, merge): fingerprints that agree on it come into the same part, and parts fit into
//! memory. A part that does not fit because one value is too frequent is joined chunk by chunk with
//! itself.
//!
//! Invariant: each pair is reported once, regardless of the memory budget.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use neardup::tables::Pair;

use crate::control::{Control, Gauge, Step};
use crate::entries::{COSTS, ENTRY_BYTES, Entry, Join};
use crate::error::BatchError;
use crate::fingerprint_file::FingerprintFile;
use crate::pigeonhole::Pigeonholes;
use crate::scratch::{Scratch, SpillFile};

/// The options of a join.
#[derive(Clone, Debug)]
pub struct JoinOptions {
    /// Maximum distance of a pair, 0 to [`neardup::tables::MAX_DISTANCE`].
    pub distance: u32,
    /// The approximate memory budget in bytes. At least [`MIN_MEMORY`](crate::MIN_MEMORY) are
    /// used.
    pub memory: usize,
    /// The number of threads that compare.
    pub workers: NonZeroUsize,
    /// The directory for data that exceed the memory, in files without names.
    pub scratch: PathBuf,
}

/// The summary of a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinSummary {
    /// The number of fingerprints joined.
    pub fingerprints: u64,
    /// The number of pairs handed over.
    pub pairs: u64,
    /// The number of bytes written to temporary files.
    pub spilled: u64,
}

/// Passes every pair of fingerprints in `file` within the distance to `visit`, each once, in no
/// particular order. A fingerprint's number is its position in the file.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use batch::{
///     BatchError, Control, FingerprintWriter, JoinOptions, Pair, ParametersDigest, self_join,
/// };
/// use neardup::{Features, Fingerprint, HashKey};
///
/// let directory = tempfile::tempdir().expect("there is room for temporary files");
/// let digest = ParametersDigest::new(Features::default(), HashKey::ZERO);
/// let mut writer = FingerprintWriter::create(directory.path().join("file"), digest, false)?;
/// for bits in [0b0000, 0b0111, !0] {
///     writer.push(Fingerprint::new(bits), 0)?;
/// }
/// let options = JoinOptions {
///     distance: 3,
///     memory: 1 << 20,
///     workers: NonZeroUsize::MIN,
///     scratch: directory.path().to_owned(),
/// };
/// let mut pairs = Vec::new();
/// self_join(&writer.finish()?, &options, Control::none(), |pair| {
///     pairs.push(pair);
///     Ok::<(), BatchError>(())
/// })?;
/// assert_eq!(pairs, [Pair { first: 0, second: 1, distance: 3 }]);
/// # Ok::<(), BatchError>(())
/// ```
///
/// # Errors
/// The errors of `visit` as they are, and [`BatchError`]: the file is damaged, the scratch
/// directory cannot be used, there are more than 2³² - 2 fingerprints, or the distance is too
/// great.
pub fn self_join<E: From<BatchError>>(
    file: &FingerprintFile,
    options: &JoinOptions,
    control: Control<'_>,
    mut visit: impl FnMut(Pair) -> Result<(), E>,
) -> Result<JoinSummary, E> {
    if options.distance > neardup::tables::MAX_DISTANCE {
        return Err(BatchError::Distance(options.distance).into());
    }
    let scratch = Scratch::new(&options.scratch);
    let mut join = SelfJoin::new(&scratch, options.distance, options.memory, options.workers);
    let mut gauge = Gauge::new(control, Some(file.len()));
    let mut reader = file.read()?;
    while let Some(block) = reader.next_block()? {
        for &bits in block.bits {
            join.push(bits, join.count as u32)?;
        }
        gauge.advance(Step::Reading, block.bits.len() as u64)?;
    }
    let mut joined = JoinSummary {
        fingerprints: join.count,
        ..JoinSummary::default()
    };
    join.finish(control, |near| {
        joined.pairs += 1;
        visit(near)
    })?;
    joined.spilled = scratch.written();
    Ok(joined)
}

/// The memory that an entry takes while it is joined: itself, its copy in pieces, and a little for
/// buckets.
const IN_MEMORY: usize = 2 * ENTRY_BYTES + 2;
/// Maximum number of parts of a split.
const MAX_PARTS: usize = 4_096;

/// A join that collects fingerprints, then reports pairs.
#[derive(Debug)]
pub(crate) struct SelfJoin<'s> {
    scratch: &'s Scratch,
    distance: u32,
    memory: usize,
    workers: NonZeroUsize,
    /// All entries, or the latest if there is a file.
    entries: Vec<Entry>,
    file: Option<SpillFile>,
    pub(crate) count: u64,
}

impl<'s> SelfJoin<'s> {
    pub(crate) fn new(
        scratch: &'s Scratch,
        distance: u32,
        memory: usize,
        workers: NonZeroUsize,
    ) -> Self {
        Self {
            scratch,
            distance,
            memory: memory.max(crate::MIN_MEMORY),
            workers,
            entries: Vec::new(),
            file: None,
            count: 0,
        }
    }

    pub(crate) fn push(&mut self, bits: u64, id: u32) -> Result<(), BatchError> {
        if self.count >= u64::from(u32::MAX) - 1 {
            return Err(BatchError::TooMany);
        }
        self.entries.push(Entry::new(bits, id));
        self.count += 1;
        if self.entries.len() > self.at_once() {
            self.spill()?;
        }
        Ok(())
    }

    /// Returns the number of entries joined in memory at once.
    fn at_once(&self) -> usize {
        self.memory / IN_MEMORY
    }

    fn spill(&mut self) -> Result<(), BatchError> {
        if self.file.is_none() {
            self.file = Some(self.scratch.file()?);
        }
        let file = self.file.as_mut().expect("it was made above");
        for entries in self.entries.chunks(1 << 12) {
            let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes()).collect();
            file.append(self.scratch, &bytes)?;
        }
        self.entries.clear();
        Ok(())
    }

    /// Passes each pair to `visit`, once.
    pub(crate) fn finish<E: From<BatchError>>(
        mut self,
        control: Control<'_>,
        mut visit: impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        let holes = Pigeonholes::for_count(self.distance, self.count, COSTS);
        let mut gauge = Gauge::new(control, Some(self.count * holes.tables().len() as u64));
        if self.file.is_none() {
            let join = Join {
                entries: &self.entries,
                border: None,
                holes: &holes,
                workers: self.workers,
            };
            return join.run(0..holes.tables().len(), &mut gauge, visit);
        }
        self.spill()?;
        self.entries = Vec::new();
        for tables in holes.leads() {
            let mut sorting = Gauge::new(control, Some(self.count));
            let parts = self.split(&holes, tables.start, &mut sorting)?;
            for part in 0..parts.blocks.len() {
                self.join_part(&parts, part, &holes, tables.clone(), &mut gauge, &mut visit)?;
            }
        }
        Ok(())
    }

    /// Splits the file by the block that leads this table.
    fn split(
        &self,
        holes: &Pigeonholes,
        table: usize,
        gauge: &mut Gauge<'_>,
    ) -> Result<Parts, BatchError> {
        // Half as large as memory allows, because parts differ in size.
        let wanted = (self.count as usize).div_ceil(self.at_once() / 2);
        let bits = wanted.next_power_of_two().clamp(2, MAX_PARTS).ilog2();
        let buffer = ((self.memory / 2 / ENTRY_BYTES) >> bits).clamp(16, 1 << 14);
        let mut parts = Parts::new(self.scratch, 1 << bits, buffer)?;
        let file = self.file.as_ref().expect("what is split has been spilled");
        let mut bytes = vec![0; ENTRY_BYTES << 12];
        let mut at = 0;
        while at < file.len() {
            let length = bytes.len().min((file.len() - at) as usize);
            file.read_at(at, &mut bytes[..length])?;
            for entry in bytes[..length]
                .as_chunks::<ENTRY_BYTES>()
                .0
                .iter()
                .map(Entry::from_bytes)
            {
                parts.push(
                    self.scratch,
                    holes.tables()[table].lead_bucket(entry.bits(), bits),
                    entry,
                )?;
            }
            gauge.advance(Step::Sorting, (length / ENTRY_BYTES) as u64)?;
            at += length as u64;
        }
        parts.flush(self.scratch)?;
        Ok(parts)
    }

    fn join_part<E: From<BatchError>>(
        &self,
        parts: &Parts,
        part: usize,
        holes: &Pigeonholes,
        tables: std::ops::Range<usize>,
        gauge: &mut Gauge<'_>,
        visit: &mut impl FnMut(Pair) -> Result<(), E>,
    ) -> Result<(), E> {
        let join = |entries: &[Entry], border, gauge: &mut Gauge<'_>, visit: &mut _| {
            let join = Join {
                entries,
                border,
                holes,
                workers: self.workers,
            };
            join.run::<E>(tables.clone(), gauge, visit)
        };
        let count = parts.count(part);
        if count <= self.at_once() {
            let mut entries = Vec::with_capacity(count);
            parts.read(part, 0, count, &mut entries)?;
            return join(&entries, None, gauge, visit);
        }
        // One chunk stays in memory while the rest is read.
        let chunk = self.at_once() / 2;
        for start in (0..count).step_by(chunk) {
            let mut entries = Vec::with_capacity(2 * chunk);
            parts.read(part, start, chunk, &mut entries)?;
            join(&entries, None, gauge, visit)?;
            let border = entries.len();
            for other in (start + chunk..count).step_by(chunk) {
                entries.truncate(border);
                parts.read(part, other, chunk, &mut entries)?;
                let mut uncounted = gauge.uncounted();
                join(&entries, Some(border), &mut uncounted, visit)?;
            }
        }
        Ok(())
    }
}

/// Entries in parts, all in one file: each part is a list of blocks.
#[derive(Debug)]
struct Parts {
    file: SpillFile,
    /// The number of entries of a full block.
    block: usize,
    open: Vec<Vec<Entry>>,
    /// The positions of the blocks of each part; all are full but the last.
    blocks: Vec<Vec<u64>>,
    counts: Vec<usize>,
}

impl Parts {
    fn new(scratch: &Scratch, parts: usize, block: usize) -> Result<Self, BatchError> {
        Ok(Self {
            file: scratch.file()?,
            block,
            open: vec![Vec::new(); parts],
            blocks: vec![Vec::new(); parts],
            counts: vec![0; parts],
        })
    }

    fn push(&mut self, scratch: &Scratch, part: usize, entry: Entry) -> Result<(), BatchError> {
        self.counts[part] += 1;
        self.open[part].push(entry);
        if self.open[part].len() == self.block {
            self.write(scratch, part)?;
        }
        Ok(())
    }

    fn flush(&mut self, scratch: &Scratch) -> Result<(), BatchError> {
        (0..self.open.len()).try_for_each(|part| self.write(scratch, part))?;
        self.open = Vec::new();
        Ok(())
    }

    fn write(&mut self, scratch: &Scratch, part: usize) -> Result<(), BatchError> {
        if self.open[part].is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = self.open[part]
            .drain(..)
            .flat_map(|entry| entry.to_bytes())
            .collect();
        let at = self.file.append(scratch, &bytes)?;
        self.blocks[part].push(at);
        Ok(())
    }

    fn count(&self, part: usize) -> usize {
        self.counts[part]
    }

    /// Appends up to `count` entries from `start` on to `entries`.
    fn read(
        &self,
        part: usize,
        start: usize,
        count: usize,
        entries: &mut Vec<Entry>,
    ) -> Result<(), BatchError> {
        let end = (start + count).min(self.counts[part]);
        let mut bytes = vec![0; self.block * ENTRY_BYTES];
        let mut at = start;
        while at < end {
            let (block, within) = (at / self.block, at % self.block);
            let some = (self.block - within).min(end - at);
            let bytes = &mut bytes[..some * ENTRY_BYTES];
            self.file.read_at(
                self.blocks[part][block] + (within * ENTRY_BYTES) as u64,
                bytes,
            )?;
            entries.extend(
                bytes
                    .as_chunks::<ENTRY_BYTES>()
                    .0
                    .iter()
                    .map(Entry::from_bytes),
            );
            at += some;
        }
        Ok(())
    }
}
