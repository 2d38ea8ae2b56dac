//! A check of the part of sled's log that it replays on opening, because sled silently skips damage
//! there.
//!
//! sled 0.34.7 opens with its last snapshot and replays the log after it (its
//! pagecache/iterator.rs). At a damaged message, it assumes that the rest of that segment was being
//! overwritten, and continues with the next segment. Individual changes to individual pages are
//! lost, and earlier versions are read under a correct checksum. It skips a segment with a damaged
//! header in the same way. (The part before the snapshot is read by address; sled does notice
//! damage there.) So this module reads the same part first. Everything that the engine had made
//! durable, according to the headers of its later segments, must be intact. A killed process leaves
//! a tear after the durable part; the engine cuts the log there, so that all trees go back
//! together.
//!
//! A log sequence number counts all bytes ever logged. sled stores it inverted, like the checksums.
//!
//! Invariant: the engine replays a log that passes this check to its end, or to a tear after the
//! durable part. A segment that was being reused when the process died may be mistaken for damage;
//! then the tables are rebuilt unnecessarily.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use journal::StoreFault;

use super::take;

const SEGMENT_BYTES: usize = 512 << 10;
const HEADER_BYTES: usize = 20;
/// Minimum room in a segment for a message to begin.
const MAX_HEAD_BYTES: usize = 32;

const NOTHING: u8 = 0;
const CAP: u8 = 2;
const LAST_KIND: u8 = 11;

/// A log sequence number: bytes logged since the beginning.
type Lsn = i64;
const SEGMENT: Lsn = SEGMENT_BYTES as Lsn;

/// Checks the part of the log in this directory that the engine is about to replay.
///
/// # Errors
/// [`StoreFault::Tables`] if the engine would skip damage.
pub(in crate::embedded) fn check(directory: &Path) -> Result<(), StoreFault> {
    let path = directory.join("db");
    let mut file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(StoreFault::file("open", &path))?,
    };
    let snapshot = last_snapshot(directory).map_err(StoreFault::file("read", directory))?;
    let damage = damage_in(&mut file, snapshot).map_err(StoreFault::file("read", &path))?;
    damage.map_or(Ok(()), |what| {
        Err(StoreFault::Tables {
            path: directory.to_owned(),
            what,
        })
    })
}

/// Returns the end of the part of the log that the last snapshot covers.
fn last_snapshot(directory: &Path) -> io::Result<Lsn> {
    let mut last = 0;
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix("snap."));
        if let Some(lsn) = digits.and_then(|digits| Lsn::from_str_radix(digits, 16).ok()) {
            last = last.max(lsn);
        }
    }
    Ok(last)
}

fn damage_in(file: &mut (impl Read + Seek), snapshot: Lsn) -> io::Result<Option<String>> {
    let from = begin_of(snapshot);
    let mut places = BTreeMap::new();
    let mut durable = snapshot - 1;
    let length = file.seek(SeekFrom::End(0))?;
    for place in (0..length).step_by(SEGMENT_BYTES) {
        let Some(bytes) = read_at(file, place, HEADER_BYTES)?.try_into().ok() else {
            break; // Truncated in the header: never written.
        };
        match Header::read(bytes) {
            Some(header) if header.lsn >= from => {
                durable = durable.max(header.durable);
                if places.insert(header.lsn, place).is_some() {
                    return Ok(Some(format!(
                        "two segments of its log begin at {}",
                        header.lsn
                    )));
                }
            }
            Some(_) => {}
            // Unused or wiped.
            None if bytes == [0; HEADER_BYTES] => {}
            None => {
                return Ok(Some(format!(
                    "the header of the segment of its log at {place} is damaged"
                )));
            }
        }
    }
    // Reused segments may be missing before the segment that was partly durable, but none after it.
    let tail = begin_of(durable).max(from);
    for (lsn, place) in places.range(..tail) {
        let bytes = read_at(file, *place, SEGMENT_BYTES)?;
        if let Some(end) = tear_in(&bytes, *lsn) {
            return Ok(Some(format!(
                "its log is damaged at {}",
                place + end as u64
            )));
        }
    }
    for lsn in (tail..).step_by(SEGMENT_BYTES) {
        let torn = match places.get(&lsn) {
            Some(place) => tear_in(&read_at(file, *place, SEGMENT_BYTES)?, lsn),
            None => Some(0),
        };
        match torn {
            Some(end) if lsn + end as Lsn <= durable => {
                return Ok(Some(format!(
                    "its log ends at {lsn} + {end}, and was durable up to {durable}"
                )));
            }
            Some(_) => break,
            None => {}
        }
    }
    Ok(None)
}

fn begin_of(lsn: Lsn) -> Lsn {
    lsn.max(0) / SEGMENT * SEGMENT
}

/// Reads up to `length` bytes at `place`.
fn read_at(file: &mut (impl Read + Seek), place: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(place))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct Header {
    lsn: Lsn,
    durable: Lsn,
}

impl Header {
    fn read(bytes: [u8; HEADER_BYTES]) -> Option<Self> {
        let mut rest = &bytes[..];
        let checksum = !u32::from_le_bytes(take(&mut rest)?);
        let is_whole = crc32fast::hash(rest) == checksum;
        let lsn = Lsn::from_le_bytes(take(&mut rest)?) ^ Lsn::MAX;
        let durable = Lsn::from_le_bytes(take(&mut rest)?) ^ Lsn::MAX;
        (is_whole && (0..Lsn::MAX - SEGMENT).contains(&lsn) && durable < Lsn::MAX - SEGMENT)
            .then_some(Self { lsn, durable })
    }
}

/// Returns the offset in a segment where a message should begin but does not.
fn tear_in(segment: &[u8], lsn: Lsn) -> Option<usize> {
    let mut place = HEADER_BYTES;
    while place + MAX_HEAD_BYTES <= SEGMENT_BYTES {
        let rest = segment.get(place..).unwrap_or_default();
        match message(rest, (lsn / SEGMENT) as u64) {
            Some((CAP, _)) => return None,
            Some((_, length)) => place += length,
            // The engine ignores such a rest if it was there on opening.
            None if place + MAX_HEAD_BYTES == SEGMENT_BYTES
                && rest.iter().all(|byte| *byte == NOTHING) =>
            {
                return None;
            }
            None => return Some(place),
        }
    }
    None
}

/// Returns the kind and the length of the complete message at the start of these bytes.
fn message(bytes: &[u8], of_segment: u64) -> Option<(u8, usize)> {
    let mut rest = bytes;
    let checksum = !u32::from_le_bytes(take(&mut rest)?);
    let [kind] = take(&mut rest)?;
    let length = usize::try_from(number(&mut rest)?).ok()?;
    let segment = number(&mut rest)?;
    let _page = number(&mut rest)?;
    let head = &bytes[4..bytes.len() - rest.len()];
    let body = rest.get(..length)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(body);
    hasher.update(head);
    let is_whole = (NOTHING + 1..=LAST_KIND).contains(&kind)
        && segment == of_segment
        && hasher.finalize() == checksum;
    is_whole.then_some((kind, 4 + head.len() + length))
}

/// Reads a number in the engine's encoding: up to 240 in one byte, larger ones in up to nine.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let [first] = take(bytes)?;
    let number = match first {
        0..=240 => u64::from(first),
        241..=248 => {
            let [low] = take(bytes)?;
            240 + 256 * u64::from(first - 241) + u64::from(low)
        }
        249 => 2288 + u64::from(u16::from_be_bytes(take(bytes)?)),
        250..=255 => {
            let (taken, rest) = bytes.split_at_checked(usize::from(first - 247))?;
            *bytes = rest;
            let mut number = [0; 8];
            number[..taken.len()].copy_from_slice(taken);
            u64::from_le_bytes(number)
        }
    };
    Some(number)
}

#[cfg(test)]
mod tests;
