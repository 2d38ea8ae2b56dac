//! Copies of a crawl, and the places in its files where damage is done.

use std::path::Path;

const HEADER: usize = 36;
const FRAME_HEAD: usize = 12;
const MARK: u32 = 1 << 31;

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
