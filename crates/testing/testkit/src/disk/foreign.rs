//! Directories that another program writes: nothing is known of them but their content at some
//! moment.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::random::Random;

/// A file or a directory that other code writes.
#[derive(Debug)]
pub(super) struct Foreign {
    path: PathBuf,
    remembered: Option<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Foreign {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            remembered: None,
        }
    }

    pub(super) fn is(&self, path: &Path) -> bool {
        self.path == path
    }

    pub(super) fn remember(&mut self) -> io::Result<()> {
        let mut copy = BTreeMap::new();
        for file in files(&self.path)? {
            copy.insert(file.clone(), fs::read(file)?);
        }
        self.remembered = Some(copy);
        Ok(())
    }

    /// Makes it what a power cut could leave.
    pub(super) fn wreck(&self, random: &mut Random) -> io::Result<()> {
        match (random.below(4), &self.remembered) {
            (0, _) => Ok(()),
            (1, _) => self.remove(),
            (2, Some(remembered)) => {
                self.remove()?;
                for (path, bytes) in remembered {
                    fs::create_dir_all(path.parent().unwrap_or(path))?;
                    fs::write(path, bytes)?;
                }
                Ok(())
            }
            _ => {
                for file in files(&self.path)? {
                    let bytes = fs::read(&file)?;
                    if random.below(2) == 0 {
                        fs::write(&file, &bytes[..random.below(bytes.len() + 1)])?;
                    }
                }
                Ok(())
            }
        }
    }

    fn remove(&self) -> io::Result<()> {
        if self.path.is_dir() {
            fs::remove_dir_all(&self.path)
        } else if self.path.exists() {
            fs::remove_file(&self.path)
        } else {
            Ok(())
        }
    }
}

/// The files at and below `path`, in order.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    if path.is_dir() {
        for item in fs::read_dir(path)? {
            found.extend(files(&item?.path())?);
        }
    }
    found.sort();
    Ok(found)
}
