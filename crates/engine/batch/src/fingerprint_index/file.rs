//! An opened index.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use neardup::{ALGORITHM, ParametersDigest};

use super::column::{BLOCK, BLOCK_DATA};
use super::layout::{Columns, Layout, MIN_BITS};
use crate::error::BatchError;
use crate::fields::{checksum, take};

pub(super) const VERSION: u16 = 1;

/// An opened index of fingerprints, whose header is checked.
///
/// ```
/// use batch::{
///     BatchError, Control, FingerprintWriter, IndexMatch, IndexOptions, IndexWriter,
///     ParametersDigest,
/// };
/// use neardup::{Features, Fingerprint, HashKey};
///
/// let directory = tempfile::tempdir().expect("there is room for temporary files");
/// let path = |name| directory.path().join(name);
/// let digest = ParametersDigest::new(Features::default(), HashKey::ZERO);
/// let mut writer = FingerprintWriter::create(path("corpus.fp"), digest, false)?;
/// for bits in [!0, 0b0101] {
///     writer.push(Fingerprint::new(bits), 0)?;
/// }
/// let corpus = writer.finish()?;
/// let options = IndexOptions { memory: 64 << 20, scratch: directory.path().to_owned() };
/// let file = std::fs::File::create(path("corpus.fpi")).expect("there is room for an index");
/// let writer = IndexWriter::new(path("corpus.fpi"), file);
/// let index = writer.write(&corpus, &options, Control::none())?;
/// let found = index.read().within(Fingerprint::new(0b0111), 7)?;
/// assert_eq!(found, [IndexMatch { distance: 1, position: 1 }]);
/// # Ok::<(), BatchError>(())
/// ```
#[derive(Debug)]
pub struct FingerprintIndex {
    path: PathBuf,
    file: File,
    layout: Layout,
    columns: Box<Columns>,
    parameters_digest: ParametersDigest,
}

impl FingerprintIndex {
    /// The first bytes of every index of fingerprints.
    pub const MAGIC: [u8; 8] = *b"NEARDUPX";

    /// Opens an index and checks its header and its length.
    ///
    /// # Errors
    /// [`BatchError::Read`], [`BatchError::Damaged`], [`BatchError::OtherFormat`] or
    /// [`BatchError::OtherAlgorithm`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, BatchError> {
        let path = path.into();
        let mut header = [0; BLOCK];
        let opened = File::open(&path).and_then(|file| {
            file.read_exact_at(&mut header, 0)?;
            let length = file.metadata()?.len();
            Ok((file, length))
        });
        let (file, length) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(BatchError::damaged(&path, "it is too short"));
            }
            Err(source) => return Err(BatchError::Read { path, source }),
        };
        let mut fields = &header[..];
        if take::<8>(&mut fields) != Self::MAGIC {
            return Err(BatchError::damaged(&path, "its magic bytes are wrong"));
        }
        // Before the checksum, because another version may have another header.
        let version = u16::from_le_bytes(take(&mut fields));
        if version != VERSION {
            return Err(BatchError::OtherFormat { path, version });
        }
        if checksum(0, &header[..BLOCK_DATA]) != header[BLOCK_DATA..] {
            return Err(BatchError::damaged(
                &path,
                "the checksum of its header is wrong",
            ));
        }
        let algorithm = u16::from_le_bytes(take(&mut fields));
        if algorithm != ALGORITHM {
            return Err(BatchError::OtherAlgorithm { path, algorithm });
        }
        let [bits, id_bits, _, _] = take(&mut fields);
        let layout = Layout {
            len: u64::from_le_bytes(take(&mut fields)),
            bits: bits.into(),
            id_bits: id_bits.into(),
        };
        if !(MIN_BITS..=64).contains(&layout.bits) || layout.id_bits > 64 {
            return Err(BatchError::damaged(
                &path,
                "the widths of its numbers are invalid",
            ));
        }
        let columns = layout.columns();
        if u128::from(columns.blocks()) * BLOCK as u128 != u128::from(length) {
            return Err(BatchError::damaged(
                &path,
                "its length differs from its header",
            ));
        }
        Ok(Self {
            path,
            file,
            layout,
            columns: Box::new(columns),
            parameters_digest: ParametersDigest::from_bytes(take(&mut fields)),
        })
    }

    /// Returns the header of an index.
    pub(super) fn header(layout: Layout, parameters_digest: ParametersDigest) -> Vec<u8> {
        let mut header = Vec::with_capacity(BLOCK);
        header.extend(Self::MAGIC);
        header.extend(VERSION.to_le_bytes());
        header.extend(ALGORITHM.to_le_bytes());
        header.extend([layout.bits as u8, layout.id_bits as u8, 0, 0]);
        header.extend(layout.len.to_le_bytes());
        header.extend(parameters_digest.to_bytes());
        header.resize(BLOCK_DATA, 0);
        header.extend(checksum(0, &header));
        header
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.layout.len
    }

    /// Returns true if the index contains no fingerprints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layout.len == 0
    }

    /// Returns true if each fingerprint has an id.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        self.layout.id_bits > 0
    }

    /// Returns the parameters digest of the fingerprints.
    #[must_use]
    pub fn parameters_digest(&self) -> ParametersDigest {
        self.parameters_digest
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.columns.blocks() * BLOCK as u64
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Reads a block into `bytes`, whose first [`BLOCK`] are replaced, and checks it.
    pub(super) fn read_block(&self, block: u64, bytes: &mut [u8]) -> Result<(), BatchError> {
        let read = self
            .file
            .read_exact_at(&mut bytes[..BLOCK], block * BLOCK as u64);
        read.map_err(|source| BatchError::Read {
            path: self.path.clone(),
            source,
        })?;
        if checksum(block, &bytes[..BLOCK_DATA]) != bytes[BLOCK_DATA..BLOCK] {
            return Err(self.damaged("the checksum of a block is wrong"));
        }
        Ok(())
    }

    pub(super) fn damaged(&self, what: &'static str) -> BatchError {
        BatchError::damaged(&self.path, what)
    }
}
