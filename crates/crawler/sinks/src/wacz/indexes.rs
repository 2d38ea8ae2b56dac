//! Checks the indexes of a WACZ: each line must point to a record, and each line of a list of
//! blocks (ZipNum) to a block that begins as listed.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use flate2::read::{GzDecoder, MultiGzDecoder};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::blocks::prefix;
use super::entries::{Bounded, Entries, Entry, is_archive};
use super::layout::{ARCHIVE, CHUNK, INDEXES, sha256_text};
use super::problems::{Problems, shown};
use crate::cdxj::entry::MAX_LINE;
use crate::cdxj::lines::CdxjReader;
use crate::warc::read::head_in;

/// Maximum bytes of a record's head that are read.
const MAX_HEAD: usize = 64 << 10;
/// The first bytes of a Zstandard frame (RFC 8878, section 3.1.1). Only these are checked, since
/// the dictionary is elsewhere.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Checks all indexes; returns the number of their lines.
pub(super) fn check<R: Read + Seek>(
    entries: &Entries<R>,
    problems: &mut Problems,
    each: &mut dyn FnMut(),
) -> u64 {
    let mut archives = HashMap::new();
    for entry in entries.list.iter().filter(|entry| is_archive(entry)) {
        archives.insert(&entry.name[ARCHIVE.len()..], entry);
    }
    let indexes = entries.list.iter();
    let (mut lines, mut count) = (0, 0);
    for entry in indexes.filter(|entry| entry.name.starts_with(INDEXES)) {
        let ends_in = |ends: [&str; 2]| ends.iter().any(|end| entry.name.ends_with(end));
        let packed = ends_in([".cdx.gz", ".cdxj.gz"]);
        if packed || ends_in([".cdx", ".cdxj"]) {
            count += 1;
            let index = Index {
                entries,
                archives: &archives,
                entry,
            };
            match index.check(packed, problems, each) {
                Ok(found) => lines += found,
                Err(error) => {
                    problems.add(format!("{} cannot be read: {error}", shown(&entry.name)));
                }
            }
        }
        if entry.name.ends_with(".idx")
            && let Err(error) = check_blocks(entries, entry, problems)
        {
            problems.add(format!("{} cannot be read: {error}", shown(&entry.name)));
        }
    }
    if count == 0 {
        problems.add("it has no index");
    }
    lines
}

/// An index, and the files that its lines may name.
struct Index<'a, R> {
    entries: &'a Entries<R>,
    archives: &'a HashMap<&'a str, &'a Entry>,
    entry: &'a Entry,
}

impl<R: Read + Seek> Index<'_, R> {
    fn check(
        &self,
        packed: bool,
        problems: &mut Problems,
        each: &mut dyn FnMut(),
    ) -> io::Result<u64> {
        let name = shown(&self.entry.name);
        let input = self.entries.open(self.entry)?;
        let input: Box<dyn Read + '_> = if packed {
            Box::new(Bounded::of(MultiGzDecoder::new(input), self.entry.length))
        } else {
            input
        };
        let mut lines = CdxjReader::new(BufReader::with_capacity(CHUNK, input));
        let mut given = 0;
        while let Some(line) = lines.next_entry()? {
            given += 1;
            each();
            let number = lines.skipped().lines;
            let problem = match self.archives.get(line.file()) {
                None => format!("names {}, which does not exist", shown(line.file())),
                Some(archive) if line.end() > archive.length => {
                    format!("points beyond the end of {}", shown(line.file()))
                }
                Some(archive) => match self.record(archive, line.offset(), line.end()) {
                    Ok(()) => continue,
                    Err(reason) => {
                        format!(
                            "does not point to a record of {}: {reason}",
                            shown(line.file())
                        )
                    }
                },
            };
            problems.add(format!("{name}: line {number} {problem}"));
        }
        let skipped = lines.skipped();
        if let Some((number, warning)) = skipped.first {
            let odd = skipped.count() + skipped.unsorted;
            problems.add(format!(
                "{name}: {odd} lines have warnings, first in line {number}: {warning}"
            ));
        }
        Ok(given)
    }

    /// Checks that a record begins here.
    fn record(&self, archive: &Entry, offset: u64, end: u64) -> Result<(), String> {
        let length = end.saturating_sub(offset);
        let mut section = self.entries.section(archive, offset, length);
        if archive.name.ends_with(".zst") {
            let mut magic = [0; 4];
            let read = section.read_exact(&mut magic);
            read.map_err(|error| error.to_string())?;
            return match magic == ZSTD {
                true => Ok(()),
                false => Err("no frame begins there".to_owned()),
            };
        }
        let record = head_in(Path::new(&shown(&archive.name)), section, MAX_HEAD);
        record.map(drop).map_err(|fault| fault.to_string())
    }
}

/// Checks that the blocks of a list are contiguous, cover the index to its end, and begin as
/// listed.
fn check_blocks<R: Read + Seek>(
    entries: &Entries<R>,
    list: &Entry,
    problems: &mut Problems,
) -> io::Result<()> {
    let name = shown(&list.name);
    let mut input = BufReader::with_capacity(CHUNK, entries.open(list)?);
    let (mut line, mut number) = (Vec::new(), 0_u64);
    let mut index: Option<&Entry> = None;
    let mut expected = 0;
    loop {
        line.clear();
        number += 1;
        let mut next = input.by_ref().take(MAX_LINE as u64);
        if next.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let brace = line.iter().position(|&byte| byte == b'{');
        let json = &line[brace.unwrap_or(line.len())..];
        let place: Value = serde_json::from_slice(json).unwrap_or_default();
        if line.starts_with(b"!meta ") {
            let file = place["filename"].as_str().unwrap_or_default();
            index = entries.find(&format!("{INDEXES}{file}"));
            continue;
        }
        let (Some(index), Some(offset), Some(length)) =
            (index, place["offset"].as_u64(), place["length"].as_u64())
        else {
            problems.add(format!(
                "{name}: line {number} does not contain the place of its block"
            ));
            return Ok(());
        };
        let (begin, digest) = (prefix(&line), place["digest"].as_str());
        if let Err(reason) = check_block(entries, index, (offset, length), begin, digest) {
            problems.add(format!("{name}: line {number}: {reason}"));
        } else if offset != expected {
            problems.add(format!(
                "{name}: line {number}: its block does not follow the previous block"
            ));
        }
        expected = offset.saturating_add(length);
    }
    match index {
        None => problems.add(format!("{name} does not name the file that it lists")),
        // An index without lines is one block that is not listed.
        Some(index) if expected != index.length && expected > 0 => {
            problems.add(format!("{name} does not list all blocks"));
        }
        Some(_) => {}
    }
    Ok(())
}

fn check_block<R: Read + Seek>(
    entries: &Entries<R>,
    index: &Entry,
    (offset, length): (u64, u64),
    begin: &[u8],
    digest: Option<&str>,
) -> Result<(), String> {
    let end = offset.checked_add(length);
    if end.is_none_or(|end| end > index.length) {
        return Err("its block extends beyond the end of the index".to_owned());
    }
    let unreadable = |error: io::Error| format!("its block cannot be read: {error}");
    if let Some(digest) = digest.filter(|digest| digest.starts_with("sha256:")) {
        let mut section = entries.section(index, offset, length);
        let (mut sum, mut chunk) = (Sha256::new(), vec![0; CHUNK]);
        loop {
            let read = section.read(&mut chunk).map_err(unreadable)?;
            if read == 0 {
                break;
            }
            sum.update(&chunk[..read]);
        }
        if digest != sha256_text(&sum.finalize()) {
            return Err("its block has another digest".to_owned());
        }
    }
    let block = GzDecoder::new(entries.section(index, offset, length));
    let mut line = Vec::new();
    BufReader::new(block)
        .take(MAX_LINE as u64)
        .read_until(b'\n', &mut line)
        .map_err(unreadable)?;
    if prefix(&line) != begin {
        return Err("its block begins with another line".to_owned());
    }
    Ok(())
}
