//! The file systems of this machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::calls::{Disk, DiskFile, ShortWrite};

/// The file systems of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<DiskFile> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)?;
        Ok(DiskFile::new(file, path))
    }

    fn open(&self, path: &Path) -> io::Result<DiskFile> {
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(DiskFile::new(file, path))
    }

    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite> {
        let mut left = bytes;
        while !left.is_empty() {
            let source = match (&file.file).write(left) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(taken) => {
                    left = &left[taken..];
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            let written = (bytes.len() - left.len()) as u64;
            return Err(ShortWrite { written, source });
        }
        Ok(())
    }

    fn sync(&self, file: &DiskFile) -> io::Result<()> {
        file.file.sync_data()
    }

    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()> {
        file.file.set_len(length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_directories(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above {
            self.create_directories(above)?;
        }
        match fs::create_dir(path) {
            // Another process created it first, or a file has that name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            made => made?,
        }
        self.sync_directory(above.unwrap_or(Path::new(".")))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn free_space(&self, path: &Path) -> Option<u64> {
        free_space(path)
    }
}

#[cfg(unix)]
fn free_space(path: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(path).ok()?;
    // Some file systems (overlays, network mounts) report zero blocks because they do not know.
    let is_known = found.f_blocks > 0;
    is_known.then(|| found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_path: &Path) -> Option<u64> {
    None
}
