//! Compares an index with its archive, in memory that does not grow with either.
//!
//! The index is sorted by key, the archive by time, so a comparison line by line would need a sort.
//! Instead the digests of the lines are summed, for either side, in [`BUCKETS`] sums; equal sums
//! mean equal lines. Only if sums differ are both sides read again, and the lines of those buckets
//! compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use libdeflater::Crc;
use sha1::{Digest, Sha1};

use super::entry::{CdxjLine, MAX_LINE};
use super::index::{self, INDEX};
use super::run::Run;
use super::scan;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;

/// Sums of a side: 1 MiB.
const BUCKETS: usize = 1 << 16;
/// Differing buckets whose lines are compared.
const MAX_DIFFERING: usize = 16;
/// Lines of these buckets that are held in memory.
const MAX_KEPT: usize = 20_000;

/// The result of comparing an index with its archive.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The number of lines of the index.
    pub lines: u64,
    /// The number of captures in the part of the archive that the index covers.
    pub captures: u64,
    /// The number of captures after that part: an open index reads them when it continues.
    pub uncovered: u64,
    /// The differences, as far as they are kept.
    pub differences: Vec<Difference>,
}

/// A difference between index and archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is no index with a manifest.
    NoIndex,
    /// A part of the index is missing.
    NoFile(PathBuf),
    /// A part of the index is damaged.
    Touched(PathBuf),
    /// A line is out of order: its number, from 1.
    Unsorted(PathBuf, u64),
    /// A capture of the archive has no line: the expected line.
    NoLine(String),
    /// A line has no capture in the archive.
    NoCapture(String),
}

/// Compares the index of the archive in `archive` with that archive up to `end`.
///
/// # Errors
/// I/O errors of the disk.
pub fn compare(archive: &Path, end: &ArchiveEnd) -> Result<Comparison, SinkFault> {
    let mut comparison = Comparison::default();
    let survey = index::survey(archive);
    let covered = survey.as_ref().map(|survey| survey.covered.clone());
    let runs = survey
        .as_ref()
        .map(|survey| survey.runs.as_slice())
        .unwrap_or_default();
    if let Some(missing) = survey.as_ref().and_then(|survey| survey.missing.clone()) {
        comparison.differences.push(Difference::NoFile(missing));
    }

    let mut expected = Sums::new();
    scan::scan(archive, None, Some(end), &mut |place| {
        let is_covered = covered
            .as_ref()
            .is_some_and(|covered| index::is_up_to(&place.end(), covered));
        match place.line() {
            Some(line) if is_covered => {
                comparison.captures += 1;
                expected.add(line.trim_end_matches('\n').as_bytes());
            }
            Some(_) => comparison.uncovered += 1,
            None => {}
        }
        Ok(())
    })?;
    if survey.is_none() {
        let is_amiss = comparison.uncovered > 0 || archive.join(INDEX).exists();
        comparison
            .differences
            .extend(is_amiss.then_some(Difference::NoIndex));
        return Ok(comparison);
    }

    let mut found = Sums::new();
    for run in runs {
        let odd = read(run, &mut |line| {
            if !is_beyond(line, end) {
                comparison.lines += 1;
                found.add(line);
            }
        })?;
        comparison.differences.extend(odd);
    }
    let differing = expected.differing(&found);
    if !differing.is_empty() {
        let differences = look_into(archive, end, covered.as_ref(), runs, &differing)?;
        comparison.differences.extend(differences);
    }
    Ok(comparison)
}

/// Returns the differences in these buckets.
fn look_into(
    archive: &Path,
    end: &ArchiveEnd,
    covered: Option<&ArchiveEnd>,
    runs: &[Run],
    differing: &[usize],
) -> Result<Vec<Difference>, SinkFault> {
    // The occurrences of a line in the archive, minus those in the index.
    let mut lines: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
    let mut count = |line: &[u8], more: i64| {
        if differing.contains(&bucket(digest(line)))
            && (lines.len() < MAX_KEPT || lines.contains_key(line))
        {
            *lines.entry(line.to_vec()).or_default() += more;
        }
    };
    scan::scan(archive, None, Some(end), &mut |place| {
        if let Some(line) = place.line()
            && covered.is_some_and(|covered| index::is_up_to(&place.end(), covered))
        {
            count(line.trim_end_matches('\n').as_bytes(), 1);
        }
        Ok(())
    })?;
    for run in runs {
        read(run, &mut |line| {
            if !is_beyond(line, end) {
                count(line, -1);
            }
        })?;
    }
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let differences = lines.iter().filter_map(|(line, more)| match more.cmp(&0) {
        std::cmp::Ordering::Greater => Some(Difference::NoLine(text(line))),
        std::cmp::Ordering::Less => Some(Difference::NoCapture(text(line))),
        std::cmp::Ordering::Equal => None,
    });
    Ok(differences.collect())
}

/// Returns true if a line is about a record after the end of the archive: it is cut when the crawl
/// continues.
fn is_beyond(line: &[u8], end: &ArchiveEnd) -> bool {
    CdxjLine::parse(line).is_ok_and(|entry| {
        let place = ArchiveEnd {
            file: entry.file().to_owned(),
            end: entry.end(),
        };
        scan::number(&place.file).is_some() && !index::is_up_to(&place, end)
    })
}

/// Reads a run, damaged or not; returns what is wrong with it.
fn read(run: &Run, each: &mut dyn FnMut(&[u8])) -> Result<Vec<Difference>, SinkFault> {
    let path = &run.path;
    let unreadable = |source| SinkFault::io("read", path, source);
    let mut input = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut differences = Vec::new();
    let (mut crc, mut bytes, mut number) = (Crc::new(), 0, 0);
    let (mut line, mut before) = (Vec::new(), Vec::new());
    loop {
        std::mem::swap(&mut line, &mut before);
        line.clear();
        let limit = MAX_LINE as u64 + 1;
        let read = input.by_ref().take(limit).read_until(b'\n', &mut line);
        if read.map_err(unreadable)? == 0 {
            break;
        }
        crc.update(&line);
        bytes += line.len() as u64;
        number += 1;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if number > 1 && line <= before && differences.is_empty() {
            differences.push(Difference::Unsorted(path.clone(), number));
        }
        each(&line);
    }
    if (bytes, crc.sum()) != (run.seal.bytes, run.seal.crc) {
        differences.push(Difference::Touched(path.clone()));
    }
    Ok(differences)
}

/// The sums of digests, by bucket.
struct Sums(Vec<u128>);

impl Sums {
    fn new() -> Self {
        Self(vec![0; BUCKETS])
    }

    fn add(&mut self, line: &[u8]) {
        let digest = digest(line);
        let sum = &mut self.0[bucket(digest)];
        *sum = sum.wrapping_add(digest);
    }

    /// Returns the first buckets that differ.
    fn differing(&self, other: &Self) -> Vec<usize> {
        let pairs = self.0.iter().zip(&other.0).enumerate();
        pairs
            .filter(|(_, (one, other))| one != other)
            .map(|(bucket, _)| bucket)
            .take(MAX_DIFFERING)
            .collect()
    }
}

fn digest(line: &[u8]) -> u128 {
    let digest: [u8; 20] = Sha1::digest(line).into();
    digest[..16]
        .iter()
        .fold(0, |number, &byte| number << 8 | u128::from(byte))
}

fn bucket(digest: u128) -> usize {
    usize::try_from(digest % BUCKETS as u128).expect("it is less than 65,536")
}
