//! Chosen files: copies in a directory, or a list of paths.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use disk::{DraftPath, draft_of};

use super::{KeepError, KeptDocuments, Pass};
use crate::names::is_standard_input;
use crate::open_file;
use crate::packed_draft::PackedDraft;
use crate::paths::Files;
use crate::warnings::Warnings;

/// The name of a file in a directory in progress.
const MARK: &str = ".crawler-unfinished";

/// The name of a copy of standard input.
const STANDARD_INPUT: &str = "standard-input";

/// Copies the chosen files, or lists their paths; returns the bytes written.
pub(super) fn write(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let name = kept.output.as_os_str().as_encoded_bytes();
    if kept.output.is_dir() || name.ends_with(b"/") {
        copies(kept, pass)
    } else {
        list(kept, pass)
    }
}

/// Calls `found` with the path of each chosen file.
fn each(
    kept: &KeptDocuments,
    pass: &mut Pass<'_>,
    mut found: impl FnMut(&Path) -> Result<(), KeepError>,
) -> Result<(), KeepError> {
    let fields = kept.fields();
    for path in kept.files()? {
        let name = path.display().to_string();
        let documents = open_file::open(&path, &kept.options)
            .and_then(|open| Ok(open.documents(&name, &fields, &Warnings::default())?));
        for document in documents.into_iter().flatten().flatten() {
            if pass.survives(&document) {
                found(&path)?;
            }
        }
    }
    pass.check()
}

fn list(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let mut out = PackedDraft::begin(&kept.output)?;
    each(kept, pass, |path| {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.contains(&b'\n') {
            let reason = "named with a line break, but a list has one path per line: write to a \
                directory";
            return Err(KeepError::unsupported(path, reason));
        }
        let written = out.write_all(bytes).and_then(|()| out.write_all(b"\n"));
        Ok(written.map_err(|source| out.error(source))?)
    })?;
    Ok(out.complete()?)
}

/// Creates a directory in progress. A directory that a killed run left, which its mark shows, is
/// replaced.
fn create_directory(draft: &Path) -> io::Result<()> {
    let mark = draft.join(MARK);
    if mark.is_file() {
        fs::remove_dir_all(draft)?;
    }
    fs::create_dir(draft)?;
    fs::write(mark, "")
}

fn copies(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    // Without the slash at its end.
    let output: PathBuf = kept.output.components().collect();
    let mut written = 0;
    let failed = |written: u64| {
        let path = output.clone();
        move |source| KeepError::Write {
            path,
            written,
            source,
        }
    };
    let is_used = fs::read_dir(&output).is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let reason = "not empty: choose a new or empty directory";
        return Err(KeepError::unsupported(&output, reason));
    }
    let draft = draft_of(&output);
    let ((), directory) = DraftPath::begin(&draft, create_directory).map_err(failed(0))?;
    let roots = Files::below(&kept.paths)?.roots();
    each(kept, pass, |path| {
        let copy = draft.join(below_roots(path, &roots));
        if copy.exists() {
            let reason = "named like another file: `--keep FILE` lists the paths of both";
            return Err(KeepError::unsupported(path, reason));
        }
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent).map_err(failed(written))?;
        }
        let copied = match kept.options.file(path) {
            Some(mut spooled) => {
                fs::File::create(&copy).and_then(|mut copy| io::copy(&mut spooled, &mut copy))
            }
            None => fs::copy(path, &copy),
        };
        written += copied.map_err(failed(written))?;
        Ok(())
    })?;
    if output.is_dir() {
        fs::remove_dir(&output).map_err(failed(written))?;
    }
    fs::remove_file(draft.join(MARK)).map_err(failed(written))?;
    directory.complete(&output).map_err(failed(written))?;
    Ok(written)
}

/// Returns the path of a copy: the path below the directory that was named, or the name of the
/// file.
fn below_roots(path: &Path, roots: &[PathBuf]) -> PathBuf {
    if is_standard_input(path) {
        return STANDARD_INPUT.into();
    }
    let below = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    let below = below.min_by_key(|below| below.components().count());
    let name = path.file_name().map(PathBuf::from);
    below.map(Path::to_owned).or(name).unwrap_or_default()
}
