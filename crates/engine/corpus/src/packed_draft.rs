//! A draft that is compressed according to its name.
//!
//! `export::Packed` is the same for exports, but adds checksums to Zstandard frames and ignores
//! flushes. The bytes of either output must stay, so there are two.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use disk::OutputFile;
use flate2::write::GzEncoder;
use zstd::stream::write::Encoder;

use crate::compression::Compression;
use crate::draft::{self, DraftError};
use crate::names::is_named;

/// The level of Zstandard, the default of its command.
const ZSTD_LEVEL: i32 = 3;

/// A compressed file in progress.
pub(crate) struct PackedDraft(Packing);

enum Packing {
    Plain(BufWriter<OutputFile>),
    Gzip(GzEncoder<BufWriter<OutputFile>>),
    Zstandard(Encoder<'static, BufWriter<OutputFile>>),
}

/// Returns the compression that the name of an output asks for: `.gz` or `.zst`.
pub(crate) fn compression_by_name(path: &Path) -> Option<Compression> {
    if is_named(path, &["gz"]) {
        Some(Compression::Gzip)
    } else if is_named(path, &["zst"]) {
        Some(Compression::Zstandard)
    } else {
        None
    }
}

impl PackedDraft {
    /// Begins a file that will be at `path`.
    pub(crate) fn begin(path: &Path) -> Result<Self, DraftError> {
        Self::packed(path, compression_by_name(path))
    }

    /// Begins a file with this compression; bzip2 and xz are not written.
    pub(crate) fn packed(
        path: &Path,
        compression: Option<Compression>,
    ) -> Result<Self, DraftError> {
        let out = BufWriter::new(draft::begin(path)?);
        Ok(Self(match compression {
            Some(Compression::Gzip) => {
                Packing::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Zstandard) => {
                let packed = Encoder::new(out, ZSTD_LEVEL);
                Packing::Zstandard(packed.map_err(|source| DraftError {
                    path: path.to_owned(),
                    written: 0,
                    source,
                })?)
            }
            _ => Packing::Plain(out),
        }))
    }

    /// Ends the compression and gives the file its name; returns its length in bytes.
    pub(crate) fn complete(mut self) -> Result<u64, DraftError> {
        if let Err(source) = self.flush() {
            return Err(self.error(source));
        }
        let (path, written) = (self.draft().path().to_owned(), self.draft().written());
        let out = match self.0 {
            Packing::Plain(out) => Ok(out),
            Packing::Gzip(packed) => packed.finish(),
            Packing::Zstandard(packed) => packed.finish(),
        };
        let draft = out.and_then(|out| out.into_inner().map_err(|error| error.into_error()));
        let draft = draft.map_err(|source| DraftError {
            path,
            written,
            source,
        });
        draft::complete(&mut draft?)
    }

    /// Returns the error for a failure of the system.
    pub(crate) fn error(&self, source: io::Error) -> DraftError {
        DraftError::of(self.draft(), source)
    }

    /// Returns the file in progress.
    pub(crate) fn draft(&self) -> &OutputFile {
        match &self.0 {
            Packing::Plain(out) => out.get_ref(),
            Packing::Gzip(packed) => packed.get_ref().get_ref(),
            Packing::Zstandard(packed) => packed.get_ref().get_ref(),
        }
    }
}

impl Write for PackedDraft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Packing::Plain(out) => out.write(bytes),
            Packing::Gzip(packed) => packed.write(bytes),
            Packing::Zstandard(packed) => packed.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Packing::Plain(out) => out.flush(),
            Packing::Gzip(packed) => packed.flush(),
            Packing::Zstandard(packed) => packed.flush(),
        }
    }
}
