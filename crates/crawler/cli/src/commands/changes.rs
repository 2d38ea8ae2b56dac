//! `crawler changes`: the new, changed, moved, gone and unchanged pages between two crawls.

mod line;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use export::ListForm;
use inspect::changes::{Change, Changes};
use inspect::series;
use messages::{CommandError, counted, say, usage};

use crate::args::{ChangeKind, ChangesArgs};
use crate::output;

/// Columns of CSV.
const COLUMNS: &[&str] = &["change", "url", "from", "resemblance", "reason"];

pub(crate) fn run(args: &ChangesArgs) -> Result<(), CommandError> {
    if let Some(path) = &args.html {
        return write_page(args, path);
    }
    if !args.newer.is_empty() {
        let error = usage("only a page compares more than two crawls");
        return Err(error.with_remedy("write one with --html FILE, or name two crawls"));
    }
    let form = args.list.form();
    let with_diff = args.diff && form == ListForm::Json;
    let mut changes = Changes::between(&args.old, &args.new, with_diff)?;
    let mut counts = BTreeMap::new();
    let mut read = Ok(());
    let listed = output::coloured_list(&args.list, COLUMNS, |list, has_colours| {
        let written = changes.each(|change: &Change<'_>| -> io::Result<()> {
            let kind = ChangeKind::from(change.kind);
            *counts.entry(kind).or_insert(0) += 1;
            let is_wanted = match args.only.as_slice() {
                [] => form != ListForm::Table || kind != ChangeKind::Unchanged,
                only => only.contains(&kind),
            };
            if !is_wanted {
                return Ok(());
            }
            list.write(change, |out| {
                line::write(change, args.diff.then_some(has_colours), out)
            })
        });
        match written {
            Ok(written) => written,
            // A file of a part of the list gets no name.
            Err(fault) => {
                let error = io::Error::other(fault.to_string());
                read = Err(fault);
                Err(error)
            }
        }
    });
    read?;
    listed?;
    say(&summary(&counts));
    Ok(())
}

/// Writes a page that compares all crawls over time.
fn write_page(args: &ChangesArgs, path: &Path) -> Result<(), CommandError> {
    let crawls = [&args.old, &args.new].into_iter().chain(&args.newer);
    let crawls: Vec<&Path> = crawls.map(PathBuf::as_path).collect();
    let report = series::compare(&crawls)?;
    let contents = format!("the changes of {}", counted(crawls.len() as u64, "crawl"));
    output::page(path, &contents, |mut out| report.write_html(&mut out))
}

/// Returns the counts as one line.
fn summary(counts: &BTreeMap<ChangeKind, u64>) -> String {
    let counts = ChangeKind::value_variants().iter().map(|kind| {
        let count = counts.get(kind).copied().unwrap_or(0);
        format!("{count} {}", kind.as_str())
    });
    counts.collect::<Vec<_>>().join(", ")
}
