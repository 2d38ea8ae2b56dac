//! Compares an index with its archive, in memory that does not grow with either.
//!
//! The index is sorted by key and the archive by time, so a comparison line by line would need a
//! sort. Instead, the digests of the lines of each side are added up in [`BUCKETS`] sums; equal
//! sums mean equal lines. If some sums differ, both sides are read again, and only the lines in the
//! differing buckets are compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use libdeflater::Crc;
use sha1::{Digest, Sha1};

use super::entry::{CdxjLine, MAX_LINE};
use super::index::{self, INDEX, Survey};
use super::run::Run;
use super::scan;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;
use crate::warc::files::file_number;

/// Number of sums per side, which take 1 MiB.
const BUCKETS: usize = 1 << 16;
/// Maximum number of differing buckets whose lines are compared.
const MAX_DIFFERING: usize = 16;
/// Maximum number of lines of differing buckets in memory.
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
    /// The differences, up to a limit.
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
    /// The expected line of a capture that the index lacks.
    NoLine(String),
    /// A line without a capture in the archive.
    NoCapture(String),
}

/// Compares the index of the archive in `archive` with that archive up to `end`.
///
/// # Errors
/// I/O errors of the disk.
pub fn compare(archive: &Path, end: &ArchiveEnd) -> Result<Comparison, SinkFault> {
    let mut comparison = Comparison::default();
    let survey = index::survey(archive);
    let covered = survey.as_ref().map(|survey| &survey.covered);
    let mut expected = Sums::new();
    captures(archive, end, covered, &mut |line, is_covered| {
        if is_covered {
            comparison.captures += 1;
            expected.add(line);
        } else {
            comparison.uncovered += 1;
        }
    })?;
    let Some(survey) = &survey else {
        if comparison.uncovered > 0 || archive.join(INDEX).exists() {
            comparison.differences.push(Difference::NoIndex);
        }
        return Ok(comparison);
    };

    let missing = survey.missing.iter().cloned().map(Difference::NoFile);
    comparison.differences.extend(missing);
    let mut found = Sums::new();
    for run in &survey.runs {
        let odd = read(run, end, &mut |line| {
            comparison.lines += 1;
            found.add(line);
        })?;
        comparison.differences.extend(odd);
    }
    let differing = expected.differing(&found);
    if !differing.is_empty() {
        let differences = look_into(archive, end, survey, &differing)?;
        comparison.differences.extend(differences);
    }
    Ok(comparison)
}

/// Calls `each` with the line of each capture of the archive up to `end`, and true if the index
/// covers it.
fn captures(
    archive: &Path,
    end: &ArchiveEnd,
    covered: Option<&ArchiveEnd>,
    each: &mut dyn FnMut(&[u8], bool),
) -> Result<(), SinkFault> {
    let scanned = scan::scan(archive, None, Some(end), &mut |place| {
        if let Some(line) = place.line() {
            let is_covered = covered.is_some_and(|covered| !covered.is_before(&place.end()));
            each(line.trim_end_matches('\n').as_bytes(), is_covered);
        }
        Ok(())
    });
    scanned.map(drop)
}

/// Returns the differences in these buckets.
fn look_into(
    archive: &Path,
    end: &ArchiveEnd,
    survey: &Survey,
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
    captures(
        archive,
        end,
        Some(&survey.covered),
        &mut |line, is_covered| {
            if is_covered {
                count(line, 1);
            }
        },
    )?;
    for run in &survey.runs {
        read(run, end, &mut |line| count(line, -1))?;
    }
    let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    let differences = lines.iter().filter_map(|(line, more)| match more {
        0 => None,
        1.. => Some(Difference::NoLine(text(line))),
        _ => Some(Difference::NoCapture(text(line))),
    });
    Ok(differences.collect())
}

/// Returns true if a line is about a record after the end of the archive: it is cut when the crawl
/// continues.
fn is_beyond(line: &[u8], end: &ArchiveEnd) -> bool {
    CdxjLine::parse(line).is_ok_and(|entry| {
        file_number(entry.file()).is_some() && end.is_before(&entry.archive_end())
    })
}

/// Reads a run, damaged or not, and calls `each` with its lines that are not beyond `end`; returns
/// the problems of the run.
fn read(
    run: &Run,
    end: &ArchiveEnd,
    each: &mut dyn FnMut(&[u8]),
) -> Result<Vec<Difference>, SinkFault> {
    let path = &run.path;
    let unreadable = SinkFault::io("read", path);
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
        if !is_beyond(&line, end) {
            each(&line);
        }
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
        let differing = (0..BUCKETS).filter(|&bucket| self.0[bucket] != other.0[bucket]);
        differing.take(MAX_DIFFERING).collect()
    }
}

fn digest(line: &[u8]) -> u128 {
    let digest: [u8; 20] = Sha1::digest(line).into();
    let bytes = digest.first_chunk().expect("it has 20 bytes");
    u128::from_be_bytes(*bytes)
}

fn bucket(digest: u128) -> usize {
    usize::try_from(digest % BUCKETS as u128).expect("it is less than 65,536")
}
