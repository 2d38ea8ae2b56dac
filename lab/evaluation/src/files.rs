//! A reader of `.tar.zst` archives, and of gzip files in them.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::sets::set::Absent;

/// The largest unpacked size of a file: 64 MiB.
const MOST: u64 = 64 << 20;

/// Returns the files of a `.tar.zst`, by name, in the order of their names.
pub(crate) fn unpacked(archive: &Path) -> Result<Vec<(String, Vec<u8>)>, Absent> {
    let unreadable = |error| Absent::unreadable(archive, &error);
    let packed = BufReader::new(fs::File::open(archive).map_err(unreadable)?);
    let stream = zstd::stream::read::Decoder::new(packed).map_err(unreadable)?;
    let mut files = Vec::new();
    for entry in tar::Archive::new(stream).entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path().map_err(unreadable)?.display().to_string();
        let mut bytes = Vec::new();
        entry
            .by_ref()
            .take(MOST)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        files.push((name, bytes));
    }
    files.sort_unstable();
    Ok(files)
}

/// Returns the unpacked bytes, as far as they can be read.
pub(crate) fn gunzipped(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    match MultiGzDecoder::new(packed)
        .take(MOST)
        .read_to_end(&mut bytes)
    {
        // A truncated page is still a page.
        Ok(_) | Err(_) => bytes,
    }
}

/// Returns the HTML files below a directory, by their relative paths, in the order of the paths.
/// Links to files are followed, links to directories are not.
pub(crate) fn pages_below(root: &Path) -> Result<Vec<(String, PathBuf)>, Absent> {
    let mut pages = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let unreadable = |error| Absent::unreadable(&directory, &error);
        for item in fs::read_dir(&directory).map_err(unreadable)? {
            let item = item.map_err(unreadable)?;
            let path = item.path();
            if item.file_type().map_err(unreadable)?.is_dir() {
                directories.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "html")
                && path.is_file()
            {
                let name = path
                    .strip_prefix(root)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                pages.push((name, path));
            }
        }
    }
    pages.sort_unstable();
    Ok(pages)
}
