//! Chosen records of archives, copied unchanged, each compressed separately.
//!
//! Records that are not documents are copied, too: redirects, failures, revisits, robots.txt, DNS,
//! notes. Documents that were not chosen are dropped, with the `request` and `metadata` records
//! that refer to them (`WARC-Concurrent-To`, `WARC-Refers-To`; WARC/1.1, sections 5.7 and 5.11).
//! Both are counted. Invariant: the records that are copied keep their order.
//!
//! A Zstandard dictionary, which the records of its file need, is not copied, because the output
//! can contain records of several files: such records are recompressed.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use neardup::HashKey;
use sinks::warc::{Record, WarcStream};

use super::{KeepError, KeptDocuments, Pass};
use crate::archive::{Found, Judged, JudgedRecords};
use crate::compression::Compression;
use crate::open_file::{self, OpenFile};
use crate::packed_draft::{PackedDraft, compression_by_name};
use crate::positioned_file::PositionedFile;

/// Maximum number of records that wait for the document that may belong to them.
const MAX_WAITING: usize = 64;

/// The end of a record.
const END: &[u8] = b"\r\n\r\n";

/// The level of Zstandard, the default of its command.
const ZSTD_LEVEL: i32 = 3;

/// Checks that the records of an archive can be read one by one.
pub(super) fn check(open: OpenFile, path: &Path) -> Result<(), KeepError> {
    let OpenFile::Archive(_, mut stream) = open else {
        return Ok(());
    };
    // The last record of a member shows that there are several.
    for _ in 0..2 {
        if let Ok(Some(record)) = stream.next_record(0) {
            is_separate(record.addressable, path)?;
        }
    }
    Ok(())
}

fn is_separate(is_separate: bool, path: &Path) -> Result<(), KeepError> {
    match is_separate {
        true => Ok(()),
        false => {
            let reason = "compressed in one piece, so its records cannot be copied one by one: \
                separate them with `warcio recompress`";
            Err(KeepError::unsupported(path, reason))
        }
    }
}

/// Writes the records of the chosen documents; returns the bytes written.
pub(super) fn write(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let packing = compression_by_name(&kept.output);
    // Records are compressed one by one, and the file not again.
    let mut out = PackedDraft::packed(&kept.output, None)?;
    for path in kept.files()? {
        let Ok(OpenFile::Archive(_, stream)) = open_file::open(&path, &kept.options) else {
            continue;
        };
        let file = match kept.options.file(&path) {
            Some(spooled) => Ok(spooled),
            None => File::open(&path).map(PositionedFile::from),
        };
        let file = file.map_err(|source| KeepError::Read {
            path: path.clone(),
            source,
        })?;
        let copier = Copier {
            path: &path,
            file,
            packing,
            dictionary: Vec::new(),
            waiting: VecDeque::new(),
            dropped: DroppedRecords::default(),
        };
        copier.copy(*stream, pass, &mut out)?;
    }
    pass.check()?;
    Ok(out.complete()?)
}

/// A place in an archive, in bytes.
#[derive(Clone, Copy)]
struct Extent {
    offset: u64,
    length: u64,
    breaks: u64,
}

/// The ids that records use to refer to each other.
struct References {
    id: String,
    to: Vec<String>,
}

impl References {
    fn of(record: &Record) -> Self {
        let fields = ["WARC-Concurrent-To", "WARC-Refers-To"];
        let to = fields.iter().filter_map(|field| record.field(field));
        Self {
            id: record.id().to_owned(),
            to: to.map(str::to_owned).collect(),
        }
    }

    fn has(&self, other: &Self) -> bool {
        let names = |to: &[String], id: &String| !id.is_empty() && to.contains(id);
        names(&self.to, &other.id) || names(&other.to, &self.id)
    }
}

/// Digests of ids: of documents that were dropped, and of the records that these name.
#[derive(Default)]
struct DroppedRecords {
    documents: HashSet<u128>,
    named: HashSet<u128>,
}

impl DroppedRecords {
    fn add(&mut self, document: &References) {
        self.documents.extend(digest(&document.id));
        self.named.extend(document.to.iter().filter_map(digest));
    }

    /// Returns true if a record belongs to a document that was dropped.
    fn has(&self, companion: &References) -> bool {
        let mut to = companion.to.iter().filter_map(digest);
        to.any(|id| self.documents.contains(&id))
            || digest(&companion.id).is_some_and(|id| self.named.contains(&id))
    }
}

/// Returns the digest of an id, unless it is empty.
fn digest(id: &String) -> Option<u128> {
    (!id.is_empty()).then(|| HashKey::ZERO.digest(id.as_bytes()))
}

/// A record, which may wait for the document that it belongs to.
struct Waiting {
    references: References,
    extent: Extent,
    /// True for a request or a note, which goes with its document.
    is_companion: bool,
    /// True if it can be copied alone.
    is_separate: bool,
}

impl Waiting {
    fn of(record: &Record) -> Self {
        Self {
            references: References::of(record),
            extent: Extent {
                offset: record.offset,
                length: record.length,
                breaks: record.breaks,
            },
            is_companion: matches!(record.kind(), "request" | "metadata"),
            is_separate: record.addressable,
        }
    }
}

/// Copies the records of one archive.
struct Copier<'a> {
    path: &'a Path,
    file: PositionedFile,
    packing: Option<Compression>,
    /// The Zstandard dictionary of the archive; empty if the archive lacks one.
    dictionary: Vec<u8>,
    waiting: VecDeque<Waiting>,
    dropped: DroppedRecords,
}

impl Copier<'_> {
    fn copy(
        mut self,
        stream: WarcStream,
        pass: &mut Pass<'_>,
        out: &mut PackedDraft,
    ) -> Result<(), KeepError> {
        let mut records = JudgedRecords::of(stream);
        loop {
            let Judged { about, found } = match records.next_record(Waiting::of) {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(_broken) => continue, // The first reading reported it.
            };
            if self.dictionary.is_empty() {
                self.dictionary = records.stream().zstd_dictionary().to_vec();
            }
            if let Found::Document(document, _) = found {
                let is_chosen = pass.survives(&document);
                self.flush(&about.references, is_chosen, pass, out)?;
                if is_chosen {
                    is_separate(about.is_separate, self.path)?;
                    self.one(about.extent, out)?;
                } else {
                    self.dropped.add(&about.references);
                }
                continue;
            }
            if about.is_companion && self.dropped.has(&about.references) {
                pass.others_dropped += 1;
                continue;
            }
            is_separate(about.is_separate, self.path)?;
            if self.waiting.len() == MAX_WAITING
                && let Some(first) = self.waiting.pop_front()
            {
                self.other(first.extent, pass, out)?;
            }
            self.waiting.push_back(about);
        }
        for waiting in std::mem::take(&mut self.waiting) {
            self.other(waiting.extent, pass, out)?;
        }
        Ok(())
    }

    /// Copies the records before a document; its companions only if it was chosen.
    fn flush(
        &mut self,
        document: &References,
        is_chosen: bool,
        pass: &mut Pass<'_>,
        out: &mut PackedDraft,
    ) -> Result<(), KeepError> {
        for waiting in std::mem::take(&mut self.waiting) {
            let goes_with = waiting.is_companion && waiting.references.has(document);
            match goes_with && !is_chosen {
                true => pass.others_dropped += 1,
                false => self.other(waiting.extent, pass, out)?,
            }
        }
        Ok(())
    }

    /// Copies a record that is not a document.
    fn other(
        &mut self,
        extent: Extent,
        pass: &mut Pass<'_>,
        out: &mut PackedDraft,
    ) -> Result<(), KeepError> {
        pass.others_kept += 1;
        self.one(extent, out)
    }

    /// Copies one record.
    fn one(&mut self, extent: Extent, out: &mut PackedDraft) -> Result<(), KeepError> {
        let unreadable = |source| KeepError::Read {
            path: self.path.to_owned(),
            source,
        };
        self.file
            .seek(SeekFrom::Start(extent.offset))
            .map_err(unreadable)?;
        let mut peeked = Vec::new();
        let mut beginning = self.file.clone().take(extent.length.min(16));
        beginning.read_to_end(&mut peeked).map_err(unreadable)?;
        let packed = self.file.clone().take(extent.length);
        let known = Compression::of(&peeked);
        let written = match (known, self.packing) {
            (Some(Compression::Zstandard), wanted) if !self.dictionary.is_empty() => {
                let packed = BufReader::new(packed);
                zstd::stream::read::Decoder::with_dictionary(packed, &self.dictionary)
                    .and_then(|unpacked| pack(unpacked, wanted, out))
            }
            // A member is copied as it is.
            (Some(known), Some(wanted)) if known == wanted => copy(packed, out),
            (Some(known), wanted) => known
                .unpack(Box::new(BufReader::new(packed)))
                .and_then(|unpacked| pack(unpacked, wanted, out)),
            (None, wanted) => {
                let unpacked = packed.take(extent.length - extent.breaks);
                pack(unpacked.chain(END), wanted, out)
            }
        };
        Ok(written.map_err(|source| out.error(source))?)
    }
}

fn copy(mut from: impl Read, out: &mut impl Write) -> io::Result<()> {
    io::copy(&mut from, out).map(drop)
}

/// Writes the bytes of a record, compressed separately.
fn pack(record: impl Read, packing: Option<Compression>, out: &mut PackedDraft) -> io::Result<()> {
    match packing {
        Some(Compression::Gzip) => {
            let mut packed = GzEncoder::new(out, flate2::Compression::default());
            copy(record, &mut packed)?;
            packed.finish().map(drop)
        }
        Some(Compression::Zstandard) => {
            let mut packed = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
            copy(record, &mut packed)?;
            packed.finish().map(drop)
        }
        _ => copy(record, out),
    }
}
