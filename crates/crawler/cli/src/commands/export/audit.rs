//! `crawler export --audit`: the tables of an audit, as sheets of a workbook or as one file per
//! table.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use disk::OutputFile;
use export::{AuditTable, AuditWriter, ExportFault, ExportInfo, Form};
use inspect::export::SiteAudit;
use messages::{CommandError, usage};
use settings::input::unwritable;

use super::target::{ExportTarget, check_options};
use super::{beginning, described};
use crate::args::{ExportArgs, OutputForm};
use crate::output;

/// What was written: the contents in words, and the length in bytes.
type Written = (String, u64);

/// Writes the audit of the crawl in `directory`, whose store is in `state`.
pub(super) fn run(
    args: &ExportArgs,
    directory: &Path,
    state: &Path,
    about: &ExportInfo,
) -> Result<(), CommandError> {
    let OutputForm::Table(form) = args.form() else {
        return Err(usage("--audit cannot be written as WET").with_remedy("omit --format wet"));
    };
    check_options(args)?;
    let output = args
        .output
        .as_deref()
        .filter(|path| *path != Path::new("-"));
    let path = output.ok_or_else(|| {
        usage("--audit has several tables, which need an output file or directory")
            .with_remedy("--output audit.xlsx, or --output audit/ for one CSV file per table")
    })?;
    let scratch = scratch_for(path, form)?;
    let audit = SiteAudit::of_crawl(directory, state, &scratch)?;
    let written = match form {
        Form::Xlsx => write_workbook(&audit, path),
        _ => write_files(args, form, &audit, path, about),
    };
    let target = ExportTarget::Device(path.to_owned());
    let (contents, bytes) = written.map_err(|fault| described(fault, &target, args.form()))?;
    output::say_written_bytes(path, &contents, bytes, args.form().opened_with());
    audit.check_unread()
}

/// Returns the directory for temporary files, next to the output. Creates the directory of tables.
fn scratch_for(path: &Path, form: Form) -> Result<PathBuf, CommandError> {
    let here = Path::new(".");
    if form == Form::Xlsx {
        if path.is_dir() {
            let error = format!("{} is a directory", path.display());
            return Err(usage(error).with_remedy("--output must be a file, such as audit.xlsx"));
        }
        return Ok(here.join(path.parent().unwrap_or(here)));
    }
    if path.is_file() {
        let error = format!("{} is a file", path.display());
        let remedy = "--output must be a directory, for one file per table, or FILE.xlsx";
        return Err(usage(error).with_remedy(remedy));
    }
    std::fs::create_dir_all(path).map_err(unwritable(path))?;
    Ok(path.to_owned())
}

fn write_workbook(audit: &SiteAudit, path: &Path) -> Result<Written, ExportFault> {
    let mut file = OutputFile::replacing(path)?;
    let contents = write(audit, AuditWriter::workbook(BufWriter::new(&mut file))?)?;
    file.complete()?;
    Ok((contents, file.written()))
}

/// Writes a file for each table. They get their names when all are complete.
fn write_files(
    args: &ExportArgs,
    form: Form,
    audit: &SiteAudit,
    directory: &Path,
    about: &ExportInfo,
) -> Result<Written, ExportFault> {
    let name = |table: AuditTable| format!("{}.{}", table.name(), form.extension());
    let files = AuditTable::ALL.map(|table| OutputFile::replacing(&directory.join(name(table))));
    let mut files: Vec<OutputFile> = files.into_iter().collect::<Result<_, _>>()?;
    let outs = files.iter_mut();
    let outs = outs.map(|file| beginning(args, BufWriter::new(file)));
    let outs: Vec<_> = outs.collect::<Result<_, _>>()?;
    let contents = write(audit, AuditWriter::tables(form, about, outs)?)?;
    for file in &mut files {
        file.complete()?;
    }
    Ok((contents, files.iter().map(OutputFile::written).sum()))
}

/// Writes the tables. Returns the number of records of each, in words.
fn write<W: Write + Send>(
    audit: &SiteAudit,
    mut out: AuditWriter<W>,
) -> Result<String, ExportFault> {
    audit.write(&mut out)?;
    let counts = AuditTable::ALL.map(|table| format!("{} {}", table.name(), out.records(table)));
    out.finish()?;
    Ok(counts.join(", "))
}
