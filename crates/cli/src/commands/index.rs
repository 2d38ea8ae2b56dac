//! `crawler index`: rebuilds the index of a crawl's archive, or indexes any WARC files.

use std::fs;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use disk::SystemDisk;
use sinks::SinkFault;
use sinks::cdxj::{self, IndexingReport};
use store::DirectoryLock;

use super::{exit_code, unreadable, unwritable, warn};
use crate::args::IndexArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::draft_file::DraftFile;
use crate::terminal::say;
use crate::{crawl_directory, machine, output};

/// The first bytes of a ZIP file.
const ZIP: [u8; 4] = *b"PK\x03\x04";

pub(crate) fn run(args: &IndexArgs) -> Result<ExitCode, CliError> {
    if let ([directory], None) = (args.archives.as_slice(), &args.output)
        && crawl_directory::archive(directory).is_dir()
    {
        return make_again(directory);
    }
    let mut files = Vec::new();
    for path in &args.archives {
        files.extend(files_of(path)?);
    }
    let file = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let report = match file {
        Some(path) => to_file(&files, path)?,
        None => {
            let scratch = args.temp_dir.clone();
            let scratch = scratch.unwrap_or_else(crate::args::input::usual_temp_dir);
            let name = format!("crawler-index-{}", std::process::id());
            to_stdout(&files, &scratch.join(name))?
        }
    };
    for broken in &report.faults {
        warn(&broken.to_string());
    }
    for empty in &report.empty {
        warn(&format!("{} holds no record", empty.display()));
    }
    for remark in remarks(&report) {
        say(&remark);
    }
    Ok(exit_code(is_whole(&report) && report.empty.is_empty()))
}

/// Describes the records that an index does not contain.
pub(super) fn remarks(report: &IndexingReport) -> Vec<String> {
    let counted = [
        (
            report.broken,
            "places were unreadable: everything else is in the index",
        ),
        (
            report.sharing,
            "records are not compressed one by one: they have no offset of their own, and are not \
             in the index",
        ),
        (
            report.unnamed,
            "captures without a valid URL or date are not in the index",
        ),
        (
            report.not_pages,
            "captures are not pages (responses to HEAD, POST and others, partial content) and are \
             not in the index",
        ),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    counted
        .map(|(count, text)| format!("{count} {text}"))
        .collect()
}

/// Returns true if the index contains all records that belong in it.
pub(super) const fn is_whole(report: &IndexingReport) -> bool {
    report.broken == 0 && report.sharing == 0 && report.unnamed == 0
}

fn make_again(directory: &Path) -> Result<ExitCode, CliError> {
    let state = crawl_directory::state(directory);
    let _lock = match state.is_dir() {
        true => Some(DirectoryLock::take(&state, machine::clock().now())?),
        false => None,
    };
    let archive = crawl_directory::archive(directory);
    let made = cdxj::make_again(Arc::new(SystemDisk), &archive, cdxj::MEMORY)
        .map_err(|error| fault(&error))?;
    output::to_stdout(|out| {
        let (index, lines, records) = (archive.join(cdxj::INDEX), made.lines, made.records);
        let index = index.display();
        writeln!(out, "{index}: {lines} lines, of {records} records")
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the file itself, or the archive files of a directory or of the crawl in it.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, CliError> {
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
fn refuse_unnamed(path: &Path) -> Result<(), CliError> {
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

fn to_stdout(files: &[PathBuf], scratch: &Path) -> Result<IndexingReport, CliError> {
    let mut report = Ok(IndexingReport::default());
    output::file_to_stdout(|out| {
        report = gather(files, scratch, out);
        match &mut report {
            Err(SinkFault::Io { path, source, .. }) if path == Path::new("-") => {
                let source = std::mem::replace(source, std::io::ErrorKind::Other.into());
                report = Ok(IndexingReport::default());
                Err(source)
            }
            _ => Ok(()),
        }
    })?;
    report.map_err(|error| fault(&error))
}

/// Replaces the file with the index in one step.
fn to_file(files: &[PathBuf], path: &Path) -> Result<IndexingReport, CliError> {
    let unwritable = unwritable(path);
    let mut scratch = path.as_os_str().to_owned();
    scratch.push(".runs");
    let mut out = BufWriter::new(DraftFile::begin(path).map_err(unwritable)?);
    let report = gather(files, Path::new(&scratch), &mut out).map_err(|error| fault(&error))?;
    let draft = out
        .into_inner()
        .map_err(|error| unwritable(error.into_error()))?;
    draft.complete().map_err(unwritable)?;
    Ok(report)
}

fn gather(
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
