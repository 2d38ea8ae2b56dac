//! Fingerprints that are searched: a file that is streamed, or an index that is probed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use neardup::ParametersDigest;

use crate::error::BatchError;
use crate::fingerprint_file::{FingerprintFile, IdReader};
use crate::fingerprint_index::{FingerprintIndex, IndexReader};

/// Fingerprints that are searched for queries.
#[derive(Debug)]
pub enum Repository {
    /// A file of fingerprints, which a search streams past the queries.
    File(FingerprintFile),
    /// An index, which a search probes with each query.
    Index(FingerprintIndex),
}

impl Repository {
    /// Opens a file of fingerprints or an index, by its first bytes.
    ///
    /// # Errors
    /// The errors of [`FingerprintFile::open`] and [`FingerprintIndex::open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, BatchError> {
        let path = path.into();
        let mut magic = [0; 8];
        let read = File::open(&path).and_then(|file| file.read_exact_at(&mut magic, 0));
        match read.is_ok() && magic == FingerprintIndex::MAGIC {
            true => Ok(Self::Index(FingerprintIndex::open(path)?)),
            false => Ok(Self::File(FingerprintFile::open(path)?)),
        }
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Index(index) => index.path(),
        }
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::File(file) => file.len(),
            Self::Index(index) => index.len(),
        }
    }

    /// Returns true if the repository is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the parameters digest of the fingerprints.
    #[must_use]
    pub fn parameters_digest(&self) -> ParametersDigest {
        match self {
            Self::File(file) => file.parameters_digest(),
            Self::Index(index) => index.parameters_digest(),
        }
    }

    /// Returns a reader of ids by position.
    ///
    /// # Errors
    /// [`BatchError::Read`] if the file cannot be opened.
    pub fn ids(&self) -> Result<RepositoryIds<'_>, BatchError> {
        Ok(RepositoryIds(match self {
            Self::File(file) => Ids::File(file.ids()?),
            Self::Index(index) => Ids::Index(index.read()),
        }))
    }
}

/// A reader of single ids. Positions that ascend are read fastest.
#[derive(Debug)]
pub struct RepositoryIds<'r>(Ids<'r>);

#[derive(Debug)]
enum Ids<'r> {
    File(IdReader<'r>),
    Index(IndexReader<'r>),
}

impl RepositoryIds<'_> {
    /// Returns the id of the fingerprint at `position`; `None` past the end, or if the repository
    /// lacks ids.
    ///
    /// # Errors
    /// [`BatchError::Read`], or [`BatchError::Damaged`] if the block does not match its checksum.
    pub fn id(&mut self, position: u64) -> Result<Option<u64>, BatchError> {
        match &mut self.0 {
            Ids::File(reader) => reader.id(position),
            Ids::Index(reader) => reader.id(position),
        }
    }
}
