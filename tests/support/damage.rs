//! Copies of a crawl, and the places in its files where damage is done.

use std::path::{Path, PathBuf};

use crate::support::Crawl;

const HEADER: usize = 36;
const FRAME_HEAD: usize = 12;
const MARK: u32 = 1 << 31;

/// Copies a directory with everything below it.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for item in std::fs::read_dir(from).unwrap() {
        let (path, name) = item.map(|item| (item.path(), item.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Returns the offsets of a journal's frames, and its length.
pub(crate) fn boundaries(journal: &[u8]) -> Vec<usize> {
    let (mut at, mut found) = (HEADER, Vec::new());
    while let Some(head) = journal.get(at..at + 4) {
        found.push(at);
        let length = u32::from_le_bytes(head.try_into().unwrap());
        at += FRAME_HEAD + usize::try_from(length & !MARK).unwrap();
    }
    found.push(journal.len());
    found
}

impl Crawl {
    /// The copy that [`Crawl::keep_a_copy`] leaves.
    pub(crate) fn before(&self) -> PathBuf {
        self.directory().join("before")
    }

    /// Moves the crawl's directory away, to be copied back by [`Crawl::restore`].
    pub(crate) fn keep_a_copy(&self) {
        std::fs::rename(self.out(), self.before()).unwrap();
    }

    /// Undoes all changes since the copy.
    pub(crate) fn restore(&self) {
        let out = self.out();
        if out.exists() {
            std::fs::remove_dir_all(&out).unwrap();
        }
        copy(&self.before(), &out);
    }
}

/// Returns the files below a directory, in order.
pub(crate) fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for item in std::fs::read_dir(directory).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Returns the length of a file up to its last byte that is not 0; the rest may be unused.
pub(crate) fn used(bytes: &[u8]) -> usize {
    let last = bytes.iter().rposition(|byte| *byte != 0);
    last.map_or(0, |last| last + 1)
}

/// Flips a bit of a file.
pub(crate) fn flip_bit(path: &Path, place: usize, bit: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[place] ^= 1 << bit;
    std::fs::write(path, bytes).unwrap();
}
