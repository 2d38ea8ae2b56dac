//! `crawler index`: rebuilds the index of a crawl's archive, or indexes any WARC files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use disk::SystemDisk;
use inspect::index;
use messages::{CommandError, counted, fault, say, warn};
use settings::{crawl_directory, machine};
use sinks::SinkFault;
use sinks::cdxj::{self, IndexingReport};
use store::DirectoryLock;

use super::exit_code;
use crate::args::IndexArgs;
use crate::output;

pub(crate) fn run(args: &IndexArgs) -> Result<ExitCode, CommandError> {
    if let ([directory], None) = (args.archives.as_slice(), &args.output)
        && crawl_directory::archive(directory).is_dir()
    {
        return make_again(directory);
    }
    let mut files = Vec::new();
    for path in &args.archives {
        files.extend(index::files_of(path)?);
    }
    let file = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let report = match file {
        Some(path) => {
            let report = index::to_file(&files, path)?;
            let opened = "pywb and other replay tools read it";
            output::say_written(path, &counted(report.lines, "line"), opened);
            report
        }
        None => {
            let scratch = args.temp_dir.clone();
            let scratch = scratch.unwrap_or_else(machine::usual_temp_dir);
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
    for remark in index::remarks(&report) {
        say(&remark);
    }
    Ok(exit_code(
        index::is_whole(&report) && report.empty.is_empty(),
    ))
}

fn make_again(directory: &Path) -> Result<ExitCode, CommandError> {
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
        let (lines, records) = (counted(lines, "line"), counted(records, "record"));
        writeln!(out, "{index}: {lines}, of {records}")
    })?;
    Ok(ExitCode::SUCCESS)
}

fn to_stdout(files: &[PathBuf], scratch: &Path) -> Result<IndexingReport, CommandError> {
    let mut report = Ok(IndexingReport::default());
    output::file_to_stdout(|out| {
        report = index::gather(files, scratch, out);
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
