//! Bytes cut off a file, kept next to it: `NAME.cut-1`, `NAME.cut-2`, …
//!
//! A piece gets its name once it is on the disk in full; until then, the draft is called
//! `NAME.cut.new`. The caller cuts the file afterwards. A crash in between leaves the bytes in both
//! places; the next call finds the existing piece and does not write a second.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::calls::Disk;

/// The infix between a file's name and the number of a piece cut off it.
const CUT: &str = ".cut-";
const DRAFT: &str = ".cut.new";

/// Bytes copied at a time.
const CHUNK: u64 = 1 << 20;

/// Copies the file at `path` from byte `from` on, after `preamble`, to a new piece of the file
/// `name` in the same directory. Returns the path of the piece, which is already durable.
///
/// # Errors
/// I/O errors of the system; the file is unchanged.
pub fn set_aside(
    disk: &dyn Disk,
    path: &Path,
    name: &str,
    preamble: &[u8],
    from: u64,
) -> io::Result<PathBuf> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let pieces = pieces(directory, name)?;
    if let Some((_, last)) = pieces.last()
        && is_the_same(last, path, preamble, from)?
    {
        return Ok(last.clone());
    }
    let draft = directory.join(format!("{name}{DRAFT}"));
    disk.remove_if_there(&draft)?;
    let file = disk.create(&draft)?;
    let mut bytes = preamble.to_vec();
    let mut rest = File::open(path)?;
    rest.seek(SeekFrom::Start(from))?;
    loop {
        let read = rest.by_ref().take(CHUNK).read_to_end(&mut bytes)?;
        disk.append(&file, &bytes).map_err(|short| short.source)?;
        bytes.clear();
        if read == 0 {
            break;
        }
    }
    disk.sync(&file)?;
    let piece = next_piece(directory, name, &pieces);
    disk.rename(&draft, &piece)?;
    disk.sync_directory(directory)?;
    Ok(piece)
}

/// Renames the file at `path` to a piece of the file `name` in the same directory, and returns the
/// new path. The new name is durable after the next sync of the directory.
///
/// # Errors
/// I/O errors of the system; the file then has its old name.
pub fn set_aside_whole(disk: &dyn Disk, path: &Path, name: &str) -> io::Result<PathBuf> {
    let directory = path.parent().unwrap_or(Path::new("."));
    disk.open(path).and_then(|file| disk.sync(&file))?;
    let piece = next_piece(directory, name, &pieces(directory, name)?);
    disk.rename(path, &piece)?;
    Ok(piece)
}

/// Lists the pieces of the file `name`, sorted by number.
fn pieces(directory: &Path, name: &str) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let item = item?;
        let of_item = item.file_name();
        let number = of_item.to_str().and_then(|text| {
            let digits = text.strip_prefix(name)?.strip_prefix(CUT)?;
            digits.parse().ok()
        });
        if let Some(number) = number {
            found.push((number, item.path()));
        }
    }
    found.sort();
    Ok(found)
}

fn next_piece(directory: &Path, name: &str, pieces: &[(u64, PathBuf)]) -> PathBuf {
    let number = pieces.last().map_or(1, |(last, _)| last + 1);
    directory.join(format!("{name}{CUT}{number}"))
}

/// Returns true if a piece holds the preamble and the content of the file at `path` from byte
/// `from` on.
fn is_the_same(piece: &Path, path: &Path, preamble: &[u8], from: u64) -> io::Result<bool> {
    let (mut piece, mut rest) = (File::open(piece)?, File::open(path)?);
    let length = rest.metadata()?.len().saturating_sub(from);
    if piece.metadata()?.len() != preamble.len() as u64 + length {
        return Ok(false);
    }
    let mut begun = Vec::new();
    (&mut piece)
        .take(preamble.len() as u64)
        .read_to_end(&mut begun)?;
    if begun != preamble {
        return Ok(false);
    }
    rest.seek(SeekFrom::Start(from))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        ours.clear();
        theirs.clear();
        (&mut piece).take(CHUNK).read_to_end(&mut ours)?;
        (&mut rest).take(CHUNK).read_to_end(&mut theirs)?;
        if ours != theirs {
            return Ok(false);
        }
        if ours.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::system::SystemDisk;

    fn names(directory: &Path) -> Vec<String> {
        let items = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = items
            .map(|item| item.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_piece_is_numbered_and_written_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.log");
        fs::write(&path, "kept and cut").unwrap();
        fs::write(
            directory.path().join("a.log.cut.new"),
            "a draft that a crash left",
        )
        .unwrap();
        let cut = || set_aside(&SystemDisk, &path, "a.log", b"head ", 5).unwrap();
        let piece = cut();
        assert_eq!(piece, directory.path().join("a.log.cut-1"));
        assert_eq!(fs::read(&piece).unwrap(), b"head and cut");
        assert_eq!(cut(), piece, "it is there already");
        fs::write(&path, "kept or cut!").unwrap();
        let other = cut();
        assert_eq!(fs::read(&other).unwrap(), b"head or cut!");
        assert_eq!(
            names(directory.path()),
            ["a.log", "a.log.cut-1", "a.log.cut-2"]
        );
        let whole = set_aside_whole(&SystemDisk, &path, "a.log").unwrap();
        assert_eq!(fs::read(whole).unwrap(), b"kept or cut!");
        assert_eq!(
            names(directory.path()),
            ["a.log.cut-1", "a.log.cut-2", "a.log.cut-3"]
        );
    }
}
