//! The directory of a crawl.

use std::path::{Path, PathBuf};

use journal::{NodeFile, StoreFault};
use messages::{CommandError, fault, pasted, printable, say, usage};
use sinks::CommitPoint;
use sinks::warc::{CommitPointFile, Packing, name_of};
use store::EmbeddedStore;
use web::Timestamp;

use crate::settings::Settings;

/// Returns the directory where a crawl goes by default, if it contains one.
///
/// # Errors
/// It does not contain a crawl.
pub fn default_crawl() -> Result<PathBuf, CommandError> {
    let directory = Settings::default().out;
    match state(&directory).is_dir() {
        true => Ok(directory),
        false => {
            let error = usage(format!(
                "no crawl given, and there is none in {}",
                directory.display()
            ));
            Err(error.with_remedy("give the directory of the crawl: DIR"))
        }
    }
}

/// Returns the path of the crawl's state.
pub fn state(directory: &Path) -> PathBuf {
    directory.join("state")
}

/// Returns the path of the crawl's archive.
pub fn archive(directory: &Path) -> PathBuf {
    directory.join("archive")
}

/// Name of the directory of the search index, below the crawl's directory.
pub const SEARCH_INDEX: &str = "search";

/// Name of the directory of imported archives of other programs, below the crawl's directory.
pub const IMPORTED: &str = "imported";

/// Returns the path of the crawl's search index.
pub fn search_index(directory: &Path) -> PathBuf {
    directory.join(SEARCH_INDEX)
}

/// Returns the node of a shared crawl that owns the directory, if any.
pub fn node_file(directory: &Path) -> Result<Option<NodeFile>, CommandError> {
    NodeFile::read(&state(directory)).map_err(|error| {
        let shown = directory.display();
        usage(format!(
            "{shown} belongs to a node of a shared crawl, but its node file is unreadable: {error}"
        ))
        .with_remedy("choose another --out; its archive is unchanged")
    })
}

/// Returns the archive's files in writing order, by the number at the end of each name. The last
/// file may still be open under a temporary name: [`is_named`] compares names.
pub fn archive_files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let path = item?.path();
        if let Some(name) = name_of(&path) {
            files.push((file_number(name), path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// Returns the ARC files in a directory, by name.
pub fn arc_files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let path = item?.path();
        if is_arc(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Warns about files in an archive's directory that have names of archives but that the command
/// does not read there. Returns true if there are any.
pub fn warn_of_unread(directory: &Path, reads_arc: bool) -> std::io::Result<bool> {
    let mut unread = Vec::new();
    for item in std::fs::read_dir(directory)? {
        let path = item?.path();
        if name_of(&path).is_none()
            && !(reads_arc && is_arc(&path))
            && let Some(reason) = unread_reason(&path)
        {
            unread.push((path, reason));
        }
    }
    unread.sort();
    for (path, reason) in &unread {
        let path = path.display().to_string();
        say(&format!(
            "warning: {} is skipped: {reason}",
            printable(&path)
        ));
    }
    Ok(!unread.is_empty())
}

/// Returns true for the name of an ARC file.
fn is_arc(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    name.ends_with(".arc") || name.ends_with(".arc.gz")
}

/// Returns why an archive under this name is not read; `None` for other files.
fn unread_reason(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let mut extensions = name.split('.').skip(1);
    let has = |wanted: &[&str]| {
        let mut extensions = extensions.clone();
        extensions.any(|extension| wanted.contains(&extension))
    };
    match () {
        () if has(&["arc"]) => Some("it is an ARC file; convert it with `warcio recompress`"),
        () if has(&["wacz"]) => {
            Some("it is a WACZ package; unzip it, and use the files in its archive/")
        }
        () if has(&["wet", "wat"]) => {
            Some("it contains only texts or notes about pages; `crawler extract` reads it")
        }
        () if extensions.any(|extension| extension == "warc") => {
            Some("the names of archives end in .warc.gz, .warc.zst or .warc; rename it")
        }
        () => None,
    }
}

/// Returns true if the journal refers to the archive file at `path` as `name`.
pub fn is_named(path: &Path, name: &str) -> bool {
    name_of(path) == Some(name)
}

/// Returns the number at the end of an archive file's name; `None` for the names of other files.
pub fn file_number(name: &str) -> Option<u64> {
    let mut suffixes = Packing::ALL.into_iter().map(Packing::suffix);
    let stem = suffixes.find_map(|suffix| name.strip_suffix(suffix))?;
    let (_, number) = stem.rsplit_once('-')?;
    number.parse().ok()
}

/// Returns the path that a directory is moved to when another directory replaces it: next to it,
/// its name with `what` and the time, and a number if that path exists.
pub fn quarantine_path(path: &Path, what: &str, now: Timestamp) -> PathBuf {
    let name = format!("{what}-{}", now.digits());
    let mut free = path.with_extension(&name);
    let mut number = 1;
    while free.exists() {
        number += 1;
        free = path.with_extension(format!("{name}-{number}"));
    }
    free
}

/// Returns the remedy for a damaged journal.
pub fn rebuild(directory: &Path) -> String {
    format!(
        "rebuild it from its remaining part and the archive with `crawler rebuild {}`",
        pasted(directory)
    )
}

/// Returns the remedy for a journal that ends before its archive.
pub fn rebuild_from_archive(directory: &Path) -> String {
    let directory = pasted(directory);
    format!(
        "nothing was changed; restore the journal that belongs to this archive, or rebuild it with \
         `crawler rebuild {directory}` (from its remaining part and the archive) or `crawler \
         rebuild {directory} --from-archive` (only from the archive)"
    )
}

/// Returns the number of bytes missing at the end of the journal of the crawl in `directory`,
/// according to the note in its archive.
pub fn missing_journal(directory: &Path) -> Result<u64, CommandError> {
    let noted = CommitPoint::read(&archive(directory)).map_err(|error| fault(&error))?;
    let CommitPointFile::Read(settled) = noted else {
        return Ok(0);
    };
    let length = journal::length(&state(directory)).map_err(|error| fault(&error))?;
    Ok(settled.journal.saturating_sub(length))
}

/// Refuses a journal that has become shorter, to prevent appends to it.
pub fn refuse_a_short_journal(directory: &Path) -> Result<(), CommandError> {
    let state = state(directory);
    let missing = match EmbeddedStore::exists(&state) {
        true => missing_journal(directory)?,
        false => 0,
    };
    if missing == 0 {
        return Ok(());
    }
    let error = StoreFault::Damaged {
        offset: journal::length(&state).map_err(|error| fault(&error))?,
        path: state.join("journal"),
        what: format!("the journal ends before the archive: {missing} bytes of it are missing"),
    };
    Err(fault(&error).with_remedy(rebuild_from_archive(directory)))
}

/// Returns the state of the crawl in `directory`, or an error if there is none.
pub fn state_of(directory: &Path) -> Result<PathBuf, CommandError> {
    refuse_node(directory)?;
    any_state_of(directory)
}

/// Refuses the directory of a node, whose state is a part of a shared crawl.
pub fn refuse_node(directory: &Path) -> Result<(), CommandError> {
    let Some(node_file) = node_file(directory)? else {
        return Ok(());
    };
    let (shown, node) = (directory.display(), node_file.node);
    let what = format!("{shown} is the directory of node {node} of a shared crawl");
    Err(usage(what).with_remedy(format!(
        "give the store of the crawl instead (--store URL); check this directory with `crawler \
         verify {} --store URL`; the files in its archive/ can be given one by one",
        pasted(directory)
    )))
}

/// Returns the path of the state of a crawl, or of a node in a shared crawl.
pub fn any_state_of(directory: &Path) -> Result<PathBuf, CommandError> {
    let state = state(directory);
    if EmbeddedStore::exists(&state) {
        return Ok(state);
    }
    let what = match directory.exists() {
        true => "does not contain a crawl",
        false => "does not exist",
    };
    let remedy = "give the directory that was given to --out (crawl/ by default)";
    Err(usage(format!("{} {what}", directory.display())).with_remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of archives under other names became an empty crawl, with code 0.
    #[test]
    fn archives_under_other_names_are_named_with_the_reason() {
        for (name, reason) in [
            ("x.WARC.GZ", Some("rename")),
            ("x.warc.bz2", Some("rename")),
            ("x.arc.gz", Some("ARC")),
            ("x.ARC", Some("ARC")),
            ("x.warc.wet.gz", Some("texts")),
            ("x.wat.gz", Some("texts")),
            ("x.wacz", Some("package")),
            ("index.cdxj", None),
            ("arc", None),
            ("notes.txt", None),
        ] {
            let found = unread_reason(Path::new(name));
            match (found, reason) {
                (Some(found), Some(part)) => assert!(found.contains(part), "{name}: {found}"),
                _ => assert_eq!(found, reason, "{name}"),
            }
        }
    }

    #[test]
    fn two_quarantines_in_one_second_have_different_paths() {
        // A second rebuild within a second of the first ended with "directory not empty", before
        // the new state was in its place.
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().join("state");
        let now: Timestamp = "2026-11-22T11:28:00Z".parse().unwrap();
        for name in [
            "old-20261122112800",
            "old-20261122112800-2",
            "old-20261122112800-3",
        ] {
            let kept = quarantine_path(&state, "old", now);
            assert_eq!(kept, directory.path().join(format!("state.{name}")));
            std::fs::create_dir(kept).unwrap();
        }
    }
}
