//! The file of checked links, `link-checks.jsonl` in the directory of a crawl: one JSON object per
//! line, appended when its check ends.
//!
//! Each line is written at once, so a killed process costs the checks in flight only. Readers skip
//! a last line without its end, and the next writer truncates it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, DiskFile};
use web::UrlKey;

use crate::fault::StoreFault;
use crate::link_check::{LinkCheck, LinkCounts};

/// Name of the file.
pub const LINK_CHECKS_FILE: &str = "link-checks.jsonl";
/// Maximum length of a line in bytes: some hundred redirects with long URLs.
const MAX_LINE: u64 = 4 << 20;

/// The checked links of a crawl, oldest first; none if the file does not exist.
pub struct LinkChecks {
    path: PathBuf,
    file: Option<BufReader<File>>,
    position: u64,
}

impl LinkChecks {
    /// Opens the file of the crawl in `directory`.
    ///
    /// # Errors
    /// [`StoreFault`] from the operating system.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        Self::open_at(directory, 0)
    }

    /// Opens the file at a [`position`](Self::position), or at its beginning if it is shorter.
    ///
    /// # Errors
    /// [`StoreFault`] from the operating system.
    pub fn open_at(directory: &Path, position: u64) -> Result<Self, StoreFault> {
        let path = directory.join(LINK_CHECKS_FILE);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    path,
                    file: None,
                    position: 0,
                });
            }
            Err(error) => return Err(failed("read", &path)(error)),
        };
        let length = file.metadata().map_err(failed("read", &path))?.len();
        let position = if length >= position { position } else { 0 };
        let sought = file.seek(SeekFrom::Start(position));
        sought.map_err(failed("read", &path))?;
        Ok(Self {
            path,
            file: Some(BufReader::new(file)),
            position,
        })
    }

    /// Returns the end of the last line that was read, in bytes.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Counts the checks of the crawl in `directory` by verdict; `None` without the file.
    ///
    /// # Errors
    /// [`StoreFault`] if the file cannot be read, or a line is not a check.
    pub fn counts(directory: &Path) -> Result<Option<LinkCounts>, StoreFault> {
        let mut counts = LinkCounts::default();
        let checks = Self::open(directory)?;
        if checks.file.is_none() {
            return Ok(None);
        }
        for check in checks {
            counts.add(check?.verdict);
        }
        Ok(Some(counts))
    }

    /// Reads a line with its end; `None` at the end of the last whole line.
    fn read(&mut self) -> Result<Option<LinkCheck>, StoreFault> {
        let Some(file) = &mut self.file else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let read = file.take(MAX_LINE).read_until(b'\n', &mut line);
        let read = read.map_err(failed("read", &self.path))? as u64;
        if !line.ends_with(b"\n") && read < MAX_LINE {
            return Ok(None);
        }
        let check = serde_json::from_slice(&line).map_err(|error| {
            let wrong = io::Error::other(format!(
                "the line at byte {} is not a check of a link ({error}); remove the file, and \
                 --check-links checks all links again",
                self.position
            ));
            failed("read", &self.path)(wrong)
        })?;
        self.position += read;
        Ok(Some(check))
    }
}

impl Iterator for LinkChecks {
    type Item = Result<LinkCheck, StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        if read.is_err() {
            self.file = None;
        }
        read.transpose()
    }
}

/// The file of checked links, open for appending. Memory: about 16 bytes per checked link.
pub struct LinkCheckLog {
    disk: Arc<dyn Disk>,
    file: DiskFile,
    checked: HashSet<UrlKey>,
}

impl LinkCheckLog {
    /// Opens the file of the crawl in `directory`, or creates it, and truncates a last line without
    /// its end.
    ///
    /// # Errors
    /// [`StoreFault`] if the file cannot be read, or a line is not a check.
    pub fn open(directory: &Path, disk: Arc<dyn Disk>) -> Result<Self, StoreFault> {
        let mut checks = LinkChecks::open(directory)?;
        let mut checked = HashSet::new();
        for check in &mut checks {
            checked.insert(check?.url.key());
        }
        let opened = match checks.file {
            Some(_) => disk.open(&checks.path),
            None => disk.create(&checks.path).and_then(|file| {
                disk.sync_directory(directory)?;
                Ok(file)
            }),
        };
        let file = opened.map_err(failed("open", &checks.path))?;
        let cut = file
            .length()
            .and_then(|length| match length > checks.position {
                true => disk.set_length(&file, checks.position),
                false => Ok(()),
            });
        cut.map_err(failed("truncate", &checks.path))?;
        Ok(Self {
            disk,
            file,
            checked,
        })
    }

    /// Returns true if the link with this target was checked.
    #[must_use]
    pub fn has(&self, target: UrlKey) -> bool {
        self.checked.contains(&target)
    }

    /// Appends a check.
    ///
    /// # Errors
    /// [`StoreFault`] from the operating system.
    pub fn append(&mut self, check: &LinkCheck) -> Result<(), StoreFault> {
        let path = self.file.path();
        let mut line =
            serde_json::to_vec(check).map_err(|error| failed("write", path)(error.into()))?;
        line.push(b'\n');
        let appended = self.disk.append(&self.file, &line);
        appended.map_err(|short| failed("write", path)(short.source))?;
        self.checked.insert(check.url.key());
        Ok(())
    }

    /// Makes all checks durable.
    ///
    /// # Errors
    /// [`StoreFault`] from the operating system.
    pub fn sync(&self) -> Result<(), StoreFault> {
        let synced = self.disk.sync(&self.file);
        synced.map_err(failed("sync", self.file.path()))
    }
}

/// Returns the fault of a failed action on the file.
fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StoreFault + use<> {
    let path = path.to_owned();
    move |source| StoreFault::File {
        action,
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
