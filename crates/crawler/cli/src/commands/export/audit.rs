//! `crawler export --audit`: the tables of an audit, as sheets of a workbook or as one file per
//! table.

use std::path::{Path, PathBuf};

use export::{ExportInfo, Form};
use inspect::export::SiteAudit;
use messages::{CommandError, usage};
use settings::input::unwritable;

use super::described;
use super::target::{ExportTarget, check_options};
use crate::args::{ExportArgs, OutputForm};
use crate::output;

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
        Form::Xlsx => audit.write_workbook(path),
        _ => audit.write_files(path, form, args.bom, about),
    };
    let target = ExportTarget::Device(path.to_owned());
    let written = written.map_err(|fault| described(fault, &target, args.form()))?;
    let opened_with = args.form().opened_with();
    output::say_written_bytes(path, &written.records, written.bytes, opened_with);
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
