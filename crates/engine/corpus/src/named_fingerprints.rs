//! A fingerprint file or index, and the document names in the accompanying file.
//!
//! `FILE` is a [`FingerprintFile`] or a [`FingerprintIndex`] whose ids are positions in
//! `FILE.names`: a line of JSON that says what the fingerprints are made of, then the name of each
//! document as a JSON string on its own line (docs/formats/fingerprints.md). Both files get their
//! final names once they are complete.
//!
//! Invariant: a name begins at the position in its id, and the last name ends the file. So names of
//! other fingerprints are detected.

mod index;
mod nearest;
mod writer;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use batch::{BatchError, DocumentId, FingerprintFile, FingerprintIndex, Repository, RepositoryIds};
use messages::{CommandError, fault, pasted, usage};
use neardup::SignatureBuilder;
use serde::{Deserialize, Serialize};

pub use self::index::NamedIndexWriter;
pub use self::nearest::NearFingerprint;
pub use self::writer::NamedFingerprintWriter;

/// Maximum length of a name in bytes, as JSON. Longer names are refused.
pub const MAX_NAME: usize = 1 << 20;
/// Maximum length of the first line, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// Bytes that are read first for a name.
const USUAL_NAME: usize = 512;

/// Format version of the file of names.
const VERSION: u32 = 2;

/// The first line of a file of names.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    /// The parameters: name and value.
    parameters: Vec<(String, String)>,
}

/// Returns the path of the names of the fingerprints at `path`.
fn names_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".names");
    name.into()
}

/// Opened fingerprints, with the names of their documents if available.
pub struct NamedFingerprints {
    /// The fingerprints.
    pub fingerprints: Repository,
    names: Option<Names>,
}

/// An opened file of names.
struct Names {
    path: PathBuf,
    file: File,
    parameters: Vec<(String, String)>,
}

/// Returns true if the file begins like a fingerprint file or index. Returns false for unreadable
/// files.
pub fn is_named_fingerprints(path: &Path) -> bool {
    let mut magic = [0; 8];
    let read = File::open(path).and_then(|file| file.read_exact_at(&mut magic, 0));
    read.is_ok() && [FingerprintFile::MAGIC, FingerprintIndex::MAGIC].contains(&magic)
}

impl NamedFingerprints {
    /// Opens fingerprints and their names.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or the names belong to other fingerprints.
    pub fn open(path: &Path) -> Result<Self, CommandError> {
        if path.is_file() && !is_named_fingerprints(path) {
            let message = format!("{} is not a file of fingerprints", path.display());
            return Err(usage(message).with_remedy(format!(
                "create one: `crawler fingerprint {} -o FILE`",
                pasted(path)
            )));
        }
        let fingerprints =
            Repository::open(path).map_err(|error| CommandError::of_usage(&error))?;
        let names = names_of(path);
        let opened = match File::open(&names) {
            Ok(file) => Some(Names::read(names, file)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&names, &error)),
        };
        let named = Self {
            fingerprints,
            names: opened,
        };
        named.check_last()?;
        Ok(named)
    }

    /// Returns an error that names the differing parts if the fingerprints of `other` cannot be
    /// compared with these.
    pub fn check_parameters(&self, other: &Self) -> Result<(), CommandError> {
        if self.fingerprints.parameters_digest() == other.fingerprints.parameters_digest() {
            return Ok(());
        }
        let (one, two) = (self.path().display(), other.path().display());
        let remedy = "create both with the same options of `crawler fingerprint`";
        let differing = match (&self.names, &other.names) {
            (Some(mine), Some(theirs)) => differences(&mine.parameters, &theirs.parameters),
            _ => "features, stop words, frequencies, key or bits".to_owned(),
        };
        let message = format!("the fingerprints of {one} and {two} differ in {differing}");
        Err(usage(message).with_remedy(remedy))
    }

    /// Returns an error that names the differing parts if fingerprints of `builder` cannot be
    /// compared with these.
    pub fn check_builder(&self, builder: &SignatureBuilder) -> Result<(), CommandError> {
        if self.fingerprints.parameters_digest() == builder.fingerprint_digest() {
            return Ok(());
        }
        let parts = builder.fingerprint_parameters().into_iter();
        let asked: Vec<_> = parts
            .map(|part| (part.name.to_owned(), part.value))
            .collect();
        let differing = match &self.names {
            Some(names) => differences(&names.parameters, &asked),
            None => "features, stop words, frequencies, key or bits".to_owned(),
        };
        let path = self.path().display();
        let message =
            format!("the fingerprints of {path} do not match the given options: {differing}");
        Err(usage(message).with_remedy("give the options that the file was created with"))
    }

    /// Returns the path of the fingerprints.
    pub fn path(&self) -> &Path {
        self.fingerprints.path()
    }

    /// Returns the fingerprint file.
    ///
    /// # Errors
    /// It is an index.
    pub fn file(&self) -> Result<&FingerprintFile, CommandError> {
        match &self.fingerprints {
            Repository::File(file) => Ok(file),
            Repository::Index(index) => {
                let path = index.path().display();
                Err(
                    usage(format!("{path} is an index, which can only be searched"))
                        .with_remedy("give the file of fingerprints that it was built from"),
                )
            }
        }
    }

    /// Returns a reader of ids, for [`name`](Self::name).
    pub fn ids(&self) -> Result<RepositoryIds<'_>, CommandError> {
        self.fingerprints.ids().map_err(|error| fault(&error))
    }

    /// Returns all ids, for [`name_among`](Self::name_among): 8 bytes each. The list is empty
    /// without names.
    pub fn all_ids(&self) -> Result<Vec<u64>, CommandError> {
        let mut ids = Vec::new();
        if self.names.is_some() {
            let mut blocks = self.file()?.read().map_err(|error| fault(&error))?;
            while let Some(block) = blocks.next_block().map_err(|error| fault(&error))? {
                ids.extend_from_slice(block.ids);
            }
        }
        Ok(ids)
    }

    /// Returns the name of the fingerprint at `position`, in any order of positions.
    pub fn name_among(&self, ids: &[u64], position: u32) -> Result<DocumentId, CommandError> {
        let id = ids.get(position as usize).copied();
        self.name_of(id, u64::from(position))
    }

    /// Returns the name of the fingerprint at `position`, or its position if names are missing.
    /// Reading is fastest in position order.
    pub fn name(
        &self,
        ids: &mut RepositoryIds<'_>,
        position: u64,
    ) -> Result<DocumentId, CommandError> {
        if self.names.is_none() {
            return Ok(position.into());
        }
        let id = ids.id(position).map_err(|error| fault(&error))?;
        self.name_of(id, position)
    }

    /// Returns the name of the fingerprint at `position` with this id.
    pub fn name_of(&self, id: Option<u64>, position: u64) -> Result<DocumentId, CommandError> {
        let Some(names) = &self.names else {
            return Ok(position.into());
        };
        match id {
            Some(at) => names.at(at).map(|(name, _)| name.into()),
            None => Err(names.foreign()),
        }
    }

    /// Checks that the last name ends the file of names.
    fn check_last(&self) -> Result<(), CommandError> {
        let (Some(names), Some(last)) = (&self.names, self.fingerprints.len().checked_sub(1))
        else {
            return Ok(());
        };
        let mut ids = self.ids()?;
        let Some(at) = ids.id(last).map_err(|error| fault(&error))? else {
            return Err(names.foreign());
        };
        let (_, end) = names.at(at)?;
        let length = names.file.metadata().map(|metadata| metadata.len());
        match length {
            Ok(length) if length == end => Ok(()),
            Ok(_) => Err(names.foreign()),
            Err(error) => Err(unreadable(&names.path, &error)),
        }
    }
}

/// Returns the parameters that differ, with both values.
fn differences(one: &[(String, String)], two: &[(String, String)]) -> String {
    let value = |parameters: &[(String, String)], name: &str| {
        let found = parameters.iter().find(|(held, _)| held == name);
        found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
    };
    let differing = one.iter().filter_map(|(name, mine)| {
        let theirs = value(two, name);
        (*mine != theirs).then(|| format!("{name} ({mine} and {theirs})"))
    });
    differing.collect::<Vec<_>>().join(", ")
}

impl Names {
    fn read(path: PathBuf, file: File) -> Result<Self, CommandError> {
        let mut names = Self {
            path,
            file,
            parameters: Vec::new(),
        };
        let (line, _) = names.line(0, MAX_HEAD)?;
        let head: Head = serde_json::from_slice(&line).map_err(|_no_head| names.foreign())?;
        if head.version != VERSION {
            let (path, version) = (names.path.display(), head.version);
            return Err(usage(format!(
                "{path} has version {version}, but this program supports only version {VERSION}"
            )));
        }
        names.parameters = head.parameters;
        Ok(names)
    }

    /// Returns the name at a position, and the position after its line.
    fn at(&self, at: u64) -> Result<(String, u64), CommandError> {
        let mut before = [0];
        let read = at
            .checked_sub(1)
            .is_some_and(|before_it| self.file.read_exact_at(&mut before, before_it).is_ok());
        if !read || before != *b"\n" {
            return Err(self.foreign());
        }
        let (line, end) = self.line(at, MAX_NAME)?;
        let name = serde_json::from_slice(&line).map_err(|_no_name| self.foreign())?;
        Ok((name, end))
    }

    /// Returns the line at a position without its line end, and the position after it.
    fn line(&self, at: u64, most: usize) -> Result<(Vec<u8>, u64), CommandError> {
        let mut line = vec![0; USUAL_NAME];
        loop {
            let read = self.file.read_at(&mut line, at);
            let read = read.map_err(|error| unreadable(&self.path, &error))?;
            if let Some(end) = line[..read].iter().position(|byte| *byte == b'\n') {
                line.truncate(end);
                return Ok((line, at + end as u64 + 1));
            }
            if read < line.len() || line.len() > most {
                return Err(self.foreign());
            }
            let longer = line.len() * 2;
            line.resize(longer, 0);
        }
    }

    fn foreign(&self) -> CommandError {
        usage(format!(
            "{} does not contain the names of these fingerprints",
            self.path.display()
        ))
        .with_remedy("create both again with `crawler fingerprint`, or remove it to show numbers")
    }
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    usage(format!("cannot read {}: {error}", path.display()))
}

/// Returns the error of a query or a fingerprint file.
pub fn of_batch(error: &BatchError) -> CommandError {
    match error {
        BatchError::Distance(_) => CommandError::of_usage(error),
        BatchError::Scratch { .. } => {
            fault(error).with_remedy("choose another --temp-dir or a larger --memory")
        }
        _ => fault(error),
    }
}
