//! Indexes of WARC files, for `crawler index`.

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use disk::{OutputFile, SystemDisk};
use messages::{CommandError, counted_as, fault, usage};
use settings::crawl_directory;
use settings::input::{unreadable, unwritable};
use sinks::SinkFault;
use sinks::cdxj::{self, IndexingReport};

/// The first bytes of a ZIP file.
const ZIP: [u8; 4] = *b"PK\x03\x04";

/// Describes the records that an index does not contain.
pub fn remarks(report: &IndexingReport) -> Vec<String> {
    let counted = [
        (
            report.broken,
            "place was unreadable: everything else is in the index",
            "places were unreadable: everything else is in the index",
        ),
        (
            report.sharing,
            "record is not compressed on its own: it has no offset of its own, and is not in the \
             index",
            "records are not compressed one by one: they have no offset of their own, and are not \
             in the index",
        ),
        (
            report.unnamed,
            "capture without a valid URL or date is not in the index",
            "captures without a valid URL or date are not in the index",
        ),
        (
            report.not_pages,
            "capture is not a page (responses to HEAD and others, partial content) and is not in \
             the index",
            "captures are not pages (responses to HEAD and others, partial content) and are not in \
             the index",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, ..)| *count > 0);
    counted
        .map(|(count, one, many)| counted_as(count, one, many))
        .collect()
}

/// Returns true if the index contains all records that belong in it.
pub const fn is_whole(report: &IndexingReport) -> bool {
    report.broken == 0 && report.sharing == 0 && report.unnamed == 0
}

/// Returns the file itself, or the archive files of a directory or of the crawl in it.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, CommandError> {
    if !path.is_dir() {
        refuse_unnamed(path)?;
        return Ok(vec![path.to_owned()]);
    }
    let archive = crawl_directory::archive(path);
    let directory = if archive.is_dir() { &archive } else { path };
    crawl_directory::warn_of_unread(directory, true).map_err(unreadable(directory))?;
    let mut files = crawl_directory::arc_files(directory).map_err(unreadable(directory))?;
    let warcs = crawl_directory::archive_files(directory).map_err(unreadable(directory))?;
    files.extend(warcs);
    if files.is_empty() {
        return Err(usage(format!(
            "{} does not contain an archive",
            directory.display()
        ))
        .with_remedy("archives end in .warc.gz, .warc.zst, .warc, .arc.gz or .arc"));
    }
    Ok(files)
}

/// Refuses standard input, and a WACZ, because our indexes cannot address records within a package.
fn refuse_unnamed(path: &Path) -> Result<(), CommandError> {
    if path == Path::new("-") {
        return Err(
            usage("an index needs file names, and standard input has none")
                .with_remedy("give the archive as a file; /dev/stdin also works"),
        );
    }
    if !path.is_file() {
        return Ok(()); // What a pipe has is read once only.
    }
    let mut beginning = [0; ZIP.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    match read.is_ok() && beginning == ZIP {
        true => Err(usage(format!(
            "{} is a WACZ package, not an archive",
            path.display()
        ))
        .with_remedy(
            "its index is in its indexes/; to make one, unzip it, and give the WARC files in its \
             archive/",
        )),
        false => Ok(()),
    }
}

/// Replaces the file with the index in one step.
pub fn to_file(files: &[PathBuf], path: &Path) -> Result<IndexingReport, CommandError> {
    let unwritable = unwritable(path);
    let mut scratch = path.as_os_str().to_owned();
    scratch.push(".runs");
    let mut out = BufWriter::new(OutputFile::replacing(path).map_err(unwritable)?);
    let report = gather(files, Path::new(&scratch), &mut out).map_err(|error| fault(&error))?;
    let mut draft = out
        .into_inner()
        .map_err(|error| unwritable(error.into_error()))?;
    draft.complete().map_err(unwritable)?;
    Ok(report)
}

/// Writes the index of these files. Sorted runs are kept in `scratch` meanwhile.
pub fn gather(
    files: &[PathBuf],
    scratch: &Path,
    out: &mut dyn Write,
) -> Result<IndexingReport, SinkFault> {
    let report = cdxj::index_files(&SystemDisk, files, scratch, out);
    if scratch.is_dir() {
        // It is empty unless something failed, and failures are reported.
        fs::remove_dir_all(scratch).ok();
    }
    report
}
