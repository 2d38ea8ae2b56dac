//! Chosen records of archives, as they are, each compressed by itself.
//!
//! A `request` or `metadata` record that refers to a chosen document (`WARC-Concurrent-To`,
//! `WARC-Refers-To`; WARC/1.1, sections 5.7 and 5.11) is copied beside it, and so is every
//! `warcinfo`. Records that are no documents, such as redirects, are left out.
//!
//! A Zstandard dictionary, which the records of its file need, is not copied, because the output
//! can have records of several files: such records are compressed anew.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use sinks::warc::{Record, WarcStream};

use super::{KeepError, KeptDocuments, Pass};
use crate::archive::{self, MAX_BLOCK};
use crate::compression::Compression;
use crate::open_file::{self, OpenFile};
use crate::packed_draft::{PackedDraft, compression_by_name};
use crate::positioned_file::PositionedFile;

/// Records that wait for the document that they refer to, at most.
const MAX_WAITING: usize = 64;

/// The end of a record.
const END: &[u8] = b"\r\n\r\n";

/// The level of Zstandard: that of its command.
const ZSTD_LEVEL: i32 = 3;

/// Checks that the records of an archive can be read one by one.
pub(super) fn check(open: OpenFile, path: &Path) -> Result<(), KeepError> {
    let OpenFile::Warc(mut stream) = open else {
        return Ok(());
    };
    // The last record of a member shows that there are several.
    for _ in 0..2 {
        if let Ok(Some(record)) = stream.next_record(0) {
            is_separate(&record, path)?;
        }
    }
    Ok(())
}

fn is_separate(record: &Record, path: &Path) -> Result<(), KeepError> {
    match record.addressable {
        true => Ok(()),
        false => {
            let reason = "compressed in one piece, and its records cannot be copied one by one: \
                          `warcio recompress` separates them";
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
        let Ok(OpenFile::Warc(stream)) = open_file::open(&path, &kept.options) else {
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
            last: None,
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

/// The ids by which records refer to each other.
#[derive(Clone)]
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
        self.to.contains(&other.id) || other.to.contains(&self.id)
    }
}

/// Copies the records of one archive.
struct Copier<'a> {
    path: &'a Path,
    file: PositionedFile,
    packing: Option<Compression>,
    /// The Zstandard dictionary of the archive; empty if it has none.
    dictionary: Vec<u8>,
    /// Records before the document that they refer to.
    waiting: VecDeque<(References, Extent)>,
    /// The last document, and true if it was chosen.
    last: Option<(References, bool)>,
}

impl Copier<'_> {
    fn copy(
        mut self,
        mut stream: WarcStream,
        pass: &mut Pass<'_>,
        out: &mut PackedDraft,
    ) -> Result<(), KeepError> {
        loop {
            let record = match stream.next_record(MAX_BLOCK) {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(()),
                Err(_broken) => continue, // The first reading reported it.
            };
            if self.dictionary.is_empty() {
                self.dictionary = stream.zstd_dictionary().to_vec();
            }
            let extent = Extent {
                offset: record.offset,
                length: record.length,
                breaks: record.breaks,
            };
            let references = References::of(&record);
            let separate = is_separate(&record, self.path);
            match record.kind() {
                "warcinfo" => {
                    separate?;
                    self.one(extent, out)?;
                }
                "request" | "metadata" => {
                    let last = self.last.as_ref();
                    let is_chosen = last
                        .filter(|(last, _)| references.has(last))
                        .map(|(_, is_chosen)| *is_chosen);
                    match is_chosen {
                        Some(true) => {
                            separate?;
                            self.one(extent, out)?;
                        }
                        Some(false) => {}
                        None => self.wait(references, extent),
                    }
                }
                _ => {
                    let Some(document) = archive::document(record) else {
                        continue;
                    };
                    let is_chosen = pass.survives(&document);
                    let waiting = std::mem::take(&mut self.waiting);
                    if is_chosen {
                        separate?;
                        for (before, extent) in waiting {
                            if before.has(&references) {
                                self.one(extent, out)?;
                            }
                        }
                        self.one(extent, out)?;
                    }
                    self.last = Some((references, is_chosen));
                }
            }
        }
    }

    /// Remembers a record until the next document; the latest are the likeliest to refer to it.
    fn wait(&mut self, references: References, extent: Extent) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((references, extent));
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

/// Writes the bytes of a record, compressed by itself.
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
