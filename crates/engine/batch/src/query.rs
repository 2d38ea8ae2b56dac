//! Queries: the fingerprints of a large file within a few bits of one of many queries.
//!
//! The queries are indexed, and the repository is streamed past them (Manku, Jain and Das Sarma,
//! WWW 2007, section 4). For each table of the [`Pigeonholes`] the queries lie in buckets, and a
//! bit map records which values of the compared bits occur in the queries, of sixteen times as many
//! possible values: nearly every fingerprint of the repository costs one look at each map, which
//! fits a core's cache, without a look at a bucket.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;

use neardup::tables::MAX_DISTANCE;
use neardup::{Fingerprint, ParametersDigest};

use crate::control::{Control, Gauge, Step};
use crate::entries::{Entry, add_up};
use crate::error::BatchError;
use crate::fingerprint_file::{FingerprintFile, FingerprintReader};
use crate::pigeonhole::{Costs, Pigeonholes, Table};
use crate::shard::Shard;
use crate::workers::{self, Disconnected, ResultSender};

/// The costs of a look at a bit map and of a comparison, in nanoseconds.
const COSTS: Costs = Costs {
    table: 2.5,
    comparison: 25.0,
};
/// The ratio of a map's bits to the number of queries, as a power of two.
const SPARSE_BITS: u32 = 5;
/// The number of fingerprints that a worker compares by one table before it takes the next: several
/// blocks of the file, so that a cache line of a map is used more than twice.
const AT_ONCE: usize = 1 << 18;

/// The number of survivors whose buckets are fetched together.
const FETCHED: usize = 1 << 10;

/// A fingerprint of the repository that is near a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryMatch {
    /// The index of the query.
    pub query: u32,
    /// The position in the repository.
    pub position: u64,
    /// The number of bits that differ.
    pub distance: u32,
}

/// An index of queries. About 130 bytes each up to a distance of 3, and 1.7 kB at 7 (measured at a
/// million).
#[derive(Clone, Debug)]
pub struct Queries {
    holes: Pigeonholes,
    tables: Vec<Buckets>,
}

impl Queries {
    /// Indexes queries that find everything within `distance` bits.
    ///
    /// # Errors
    /// [`BatchError::Distance`] for more than [`MAX_DISTANCE`], [`BatchError::TooMany`] for more
    /// than 2³² - 2 queries.
    pub fn new(queries: &[Fingerprint], distance: u32) -> Result<Self, BatchError> {
        if distance > MAX_DISTANCE {
            return Err(BatchError::Distance(distance));
        }
        if queries.len() >= u32::MAX as usize {
            return Err(BatchError::TooMany);
        }
        let holes = Pigeonholes::for_count(distance, queries.len() as u64, COSTS);
        let tables = holes
            .tables()
            .iter()
            .map(|&table| Buckets::of(queries, table))
            .collect();
        Ok(Self { holes, tables })
    }

    /// Returns the approximate number of bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.tables.iter().map(Buckets::memory).sum()
    }

    /// Passes every fingerprint of `repository` near a query to `visit`, each pair once, in no
    /// particular order; `workers` threads search. Returns the number of fingerprints of the
    /// repository.
    ///
    /// # Errors
    /// The errors of `visit` as they are, and [`BatchError`] if the file is damaged.
    pub fn run<E: From<BatchError>>(
        &self,
        repository: &FingerprintFile,
        workers: NonZeroUsize,
        control: Control<'_>,
        visit: impl FnMut(QueryMatch) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.run_shard(repository, Shard::WHOLE, workers, control, visit)
    }

    /// Searches a shard of `repository`; otherwise like [`run`](Self::run). Returns the number of
    /// fingerprints in the shard.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn run_shard<E: From<BatchError>>(
        &self,
        repository: &FingerprintFile,
        shard: Shard,
        workers: NonZeroUsize,
        control: Control<'_>,
        mut visit: impl FnMut(QueryMatch) -> Result<(), E>,
    ) -> Result<u64, E> {
        let all = repository.len_of(shard);
        let mut gauge = Gauge::new(control, Some(all));
        let reader = Mutex::new(repository.read_shard(shard)?);
        workers::work(
            workers,
            |sender| self.stream(&reader, sender),
            |part: Result<Part, BatchError>| {
                let part = part?;
                gauge.advance(Step::Joining, part.looked_at)?;
                part.hits.into_iter().try_for_each(&mut visit)
            },
        )?;
        Ok(all)
    }

    /// Runs a worker: reads a block, sends its matches, and continues with the next block.
    fn stream(
        &self,
        reader: &Mutex<FingerprintReader<'_>>,
        sender: &ResultSender<Result<Part, BatchError>>,
    ) -> Result<(), Disconnected> {
        let mut bits = Vec::new();
        let mut survivors = vec![0; AT_ONCE];
        loop {
            let position = match reader
                .lock()
                .map(|mut reader| copy_blocks(&mut reader, &mut bits))
            {
                Ok(Ok(Some(position))) => position,
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return sender.send(Err(error)),
                Err(_poisoned) => return Ok(()), // Another worker has panicked: the query ends.
            };
            let mut hits = Vec::new();
            for (start, bits) in (0..).step_by(AT_ONCE).zip(bits.chunks(AT_ONCE)) {
                for table in 0..self.tables.len() {
                    self.look(
                        table,
                        position + start,
                        bits,
                        &mut survivors,
                        &mut hits,
                        sender,
                    )?;
                }
            }
            sender.send(Ok(Part {
                looked_at: bits.len() as u64,
                hits,
            }))?;
        }
    }

    /// Finds the matches of this table that no earlier table finds.
    fn look(
        &self,
        table: usize,
        position: u64,
        bits: &[u64],
        survivors: &mut [u32],
        hits: &mut Vec<QueryMatch>,
        sender: &ResultSender<Result<Part, BatchError>>,
    ) -> Result<(), Disconnected> {
        let (buckets, key) = (&self.tables[table], self.holes.tables()[table]);
        let survived = buckets.sift(key, bits, survivors);
        let mut fetched = Vec::with_capacity(FETCHED);
        for survivors in survivors[..survived].chunks(FETCHED) {
            buckets.fetch(key, survivors, bits, &mut fetched);
            for (&at, &(start, end, first)) in survivors.iter().zip(&fetched) {
                let probe = bits[at as usize];
                let mut entry = first;
                for next in start + 1..=end {
                    let difference = probe ^ entry.bits();
                    if self.holes.is_first(table, difference)
                        && difference.count_ones() <= self.holes.distance()
                    {
                        hits.push(QueryMatch {
                            query: entry.id,
                            position: position + u64::from(at),
                            distance: difference.count_ones(),
                        });
                    }
                    if next < end {
                        entry = buckets.queries[next as usize];
                    }
                }
                // Half of the repository may equal one query: its matches must not fill the memory.
                if hits.len() >= AT_ONCE {
                    sender.send(Ok(Part {
                        looked_at: 0,
                        hits: std::mem::take(hits),
                    }))?;
                }
            }
        }
        Ok(())
    }
}

/// Finds near fingerprints between two files: indexes `queries` and streams `repository`. See
/// [`Queries`].
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use batch::{BatchError, Control, FingerprintWriter, QueryMatch, ParametersDigest, query};
/// use neardup::{Features, Fingerprint, HashKey};
///
/// let directory = tempfile::tempdir().expect("there is room for temporary files");
/// let file = |name, fingerprints: &[u64]| {
///     let digest = ParametersDigest::new(Features::default(), HashKey::ZERO);
///     let mut writer = FingerprintWriter::create(directory.path().join(name), digest, false)?;
///     for &bits in fingerprints {
///         writer.push(Fingerprint::new(bits), 0)?;
///     }
///     writer.finish()
/// };
/// let (queries, repository) = (file("queries", &[0b0111])?, file("repository", &[!0, 0b0101])?);
/// let mut found = Vec::new();
/// query(&queries, &repository, 3, NonZeroUsize::MIN, Control::none(), |near| {
///     found.push(near);
///     Ok::<(), BatchError>(())
/// })?;
/// assert_eq!(found, [QueryMatch { query: 0, position: 1, distance: 1 }]);
/// # Ok::<(), BatchError>(())
/// ```
///
/// # Errors
/// [`BatchError::OtherParameters`] for fingerprints that cannot be compared, and the errors of
/// [`Queries`].
pub fn query<E: From<BatchError>>(
    queries: &FingerprintFile,
    repository: &FingerprintFile,
    distance: u32,
    workers: NonZeroUsize,
    control: Control<'_>,
    visit: impl FnMut(QueryMatch) -> Result<(), E>,
) -> Result<u64, E> {
    index(queries, repository, distance, control)?.run(repository, workers, control, visit)
}

/// Reads and indexes all fingerprints of `queries`, to compare them with `repository`.
pub(crate) fn index<E: From<BatchError>>(
    queries: &FingerprintFile,
    repository: &FingerprintFile,
    distance: u32,
    control: Control<'_>,
) -> Result<Queries, E> {
    let fingerprints = read_all(
        queries,
        repository.parameters_digest(),
        repository.path(),
        control,
    )?;
    Ok(Queries::new(&fingerprints, distance)?)
}

/// Reads all fingerprints of `queries`, to compare them with the file at `path`, which has this
/// parameters digest.
pub(crate) fn read_all(
    queries: &FingerprintFile,
    parameters_digest: ParametersDigest,
    path: &Path,
    control: Control<'_>,
) -> Result<Vec<Fingerprint>, BatchError> {
    if queries.parameters_digest() != parameters_digest {
        return Err(BatchError::OtherParameters {
            one: queries.path().to_owned(),
            other: path.to_owned(),
        });
    }
    let mut fingerprints = Vec::new();
    let mut gauge = Gauge::new(control, Some(queries.len()));
    let mut reader = queries.read()?;
    while let Some(block) = reader.next_block()? {
        fingerprints.extend(block.bits.iter().map(|&bits| Fingerprint::new(bits)));
        gauge.advance(Step::Reading, block.bits.len() as u64)?;
    }
    Ok(fingerprints)
}

/// The matches that a worker found in a block or in a part of one.
struct Part {
    looked_at: u64,
    hits: Vec<QueryMatch>,
}

/// Reads the next [`AT_ONCE`] fingerprints or a few more into `bits`, fewer at the end; returns
/// their position, or `None` after the end.
fn copy_blocks(
    reader: &mut FingerprintReader<'_>,
    bits: &mut Vec<u64>,
) -> Result<Option<u64>, BatchError> {
    bits.clear();
    let mut first = None;
    while bits.len() < AT_ONCE {
        let Some(block) = reader.next_block()? else {
            break;
        };
        first.get_or_insert(block.position);
        bits.extend_from_slice(block.bits);
    }
    Ok(first)
}

/// The queries by the bits that one table compares.
#[derive(Clone, Debug)]
struct Buckets {
    /// A bit for each value of the bucket's bits and a few more: set if any query has the value.
    map: Vec<u64>,
    map_bits: u32,
    bucket_bits: u32,
    starts: Vec<u32>,
    /// Bucket after bucket, and a dummy at the end, so that every bucket has a first entry.
    queries: Vec<Entry>,
}

impl Buckets {
    fn of(queries: &[Fingerprint], table: Table) -> Self {
        let bucket_bits = queries.len().max(4).ilog2();
        let map_bits = (bucket_bits + SPARSE_BITS).clamp(6, 32);
        let mut map = vec![0_u64; 1 << (map_bits - 6)];
        let mut starts = vec![0_u32; (1 << bucket_bits) + 1];
        for query in queries {
            let value = table.bucket(query.as_u64(), map_bits);
            map[value >> 6] |= 1 << (value & 63);
            starts[table.bucket(query.as_u64(), bucket_bits) + 1] += 1;
        }
        add_up(&mut starts);
        let mut next = starts.clone();
        let mut sorted = vec![Entry::default(); queries.len() + 1];
        for (number, query) in (0..).zip(queries) {
            let next = &mut next[table.bucket(query.as_u64(), bucket_bits)];
            sorted[*next as usize] = Entry::new(query.as_u64(), number);
            *next += 1;
        }
        Self {
            map,
            map_bits,
            bucket_bits,
            starts,
            queries: sorted,
        }
    }

    /// Writes the places of fingerprints whose bits occur in the map to `survivors`; returns their
    /// number.
    fn sift(&self, table: Table, bits: &[u64], survivors: &mut [u32]) -> usize {
        let mut survived = 0;
        for (at, &probe) in (0..).zip(bits) {
            let value = table.bucket(probe, self.map_bits);
            // No branch: a processor cannot predict which fingerprints survive.
            survivors[survived] = at;
            survived += (self.map[value >> 6] >> (value & 63) & 1) as usize;
        }
        survived
    }

    /// Fetches the bounds of the bucket of each survivor, and its first query. The loops have no
    /// branches, so that many cache misses overlap.
    fn fetch(
        &self,
        table: Table,
        survivors: &[u32],
        bits: &[u64],
        fetched: &mut Vec<(u32, u32, Entry)>,
    ) {
        fetched.clear();
        fetched.extend(survivors.iter().map(|&at| {
            let bucket = table.bucket(bits[at as usize], self.bucket_bits);
            (
                self.starts[bucket],
                self.starts[bucket + 1],
                Entry::default(),
            )
        }));
        for (start, _, first) in fetched {
            *first = self.queries[*start as usize];
        }
    }

    fn memory(&self) -> usize {
        self.map.len() * 8 + self.starts.len() * 4 + self.queries.len() * 12
    }
}
