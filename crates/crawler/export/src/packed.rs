//! Compression of an output by its name: `.gz` is gzip (RFC 1952), `.zst` Zstandard (RFC 8878).
//!
//! The same content makes the same bytes: no date and no name is written. `corpus` compresses its
//! outputs differently, without checksums and with flushes; the bytes of either must stay.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;

/// The default levels of gzip and Zstandard.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// A compression of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Compression {
    /// Returns the compression that the name of a file asks for; `None` for other names.
    #[must_use]
    pub fn by_name(path: &Path) -> Option<Self> {
        let extension = path.extension().unwrap_or_default();
        if extension.eq_ignore_ascii_case("gz") {
            Some(Self::Gzip)
        } else if extension.eq_ignore_ascii_case("zst") {
            Some(Self::Zstd)
        } else {
            None
        }
    }
}

/// An output that may be compressed.
pub enum Packed<W: Write> {
    /// Not compressed.
    Plain(W),
    /// A gzip member.
    Gzip(GzEncoder<W>),
    /// A Zstandard frame.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packed<W> {
    /// Begins an output.
    ///
    /// # Errors
    /// The library's error if memory is short.
    pub fn begin(compression: Option<Compression>, out: W) -> io::Result<Self> {
        Ok(match compression {
            None => Self::Plain(out),
            Some(Compression::Gzip) => {
                Self::Gzip(GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL)))
            }
            Some(Compression::Zstd) => {
                let mut zstd = zstd::Encoder::new(out, ZSTD_LEVEL)?;
                zstd.include_checksum(true)?;
                Self::Zstd(zstd)
            }
        })
    }

    /// Ends the compression; without this call the output is torn.
    ///
    /// # Errors
    /// I/O errors of writing the rest.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(out) => Ok(out),
            Self::Gzip(gzip) => gzip.finish(),
            Self::Zstd(zstd) => zstd.finish(),
        }
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(gzip) => gzip.write(bytes),
            Self::Zstd(zstd) => zstd.write(bytes),
        }
    }

    /// Writes nothing early: a flush in the middle would make the output longer.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(_) | Self::Zstd(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_name_decides_on_the_compression_and_the_content_is_read_back() {
        let content = b"{\"a\":1}\n".repeat(1_000);
        for (name, compression) in [
            ("a.jsonl", None),
            ("a.jsonl.gz", Some(Compression::Gzip)),
            ("a.ZST", Some(Compression::Zstd)),
            ("gz", None),
        ] {
            assert_eq!(Compression::by_name(Path::new(name)), compression, "{name}");
            let written = || {
                let mut packed = Packed::begin(compression, Vec::new()).unwrap();
                packed.write_all(&content).unwrap();
                packed.flush().unwrap();
                packed.finish().unwrap()
            };
            let bytes = written();
            assert_eq!(bytes, written());
            let mut read = Vec::new();
            match compression {
                None => read.clone_from(&bytes),
                Some(Compression::Gzip) => {
                    let mut gzip = flate2::read::GzDecoder::new(&bytes[..]);
                    gzip.read_to_end(&mut read).unwrap();
                }
                Some(Compression::Zstd) => read = zstd::decode_all(&bytes[..]).unwrap(),
            }
            assert_eq!(read, content, "{name}");
        }
    }
}
