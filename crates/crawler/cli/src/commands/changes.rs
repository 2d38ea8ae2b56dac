//! `crawler changes`: the new, changed, moved, gone and unchanged pages between two crawls.

mod line;

use std::collections::BTreeMap;
use std::io;

use clap::ValueEnum;
use inspect::changes::{Change, Changes};
use messages::{CommandError, say};

use crate::args::{ChangeKind, ChangesArgs};
use crate::output::{self, List, ListFormat};

/// Columns of CSV.
const COLUMNS: &[&str] = &["change", "url", "from", "resemblance", "reason"];

pub(crate) fn run(args: &ChangesArgs) -> Result<(), CommandError> {
    let format = args.format;
    let with_diff = args.diff && format == ListFormat::Json;
    let changes = Changes::between(&args.old, &args.new, with_diff)?;
    let mut counts = BTreeMap::new();
    let mut read = Ok(());
    output::coloured_to_stdout(|out, has_colours| {
        let mut list = List::begin(format, COLUMNS, out)?;
        let written = changes.each(|change: &Change<'_>| -> io::Result<()> {
            let kind = ChangeKind::from(change.kind);
            *counts.entry(kind).or_insert(0) += 1;
            let is_wanted = match args.only.as_slice() {
                [] => format != ListFormat::Table || kind != ChangeKind::Unchanged,
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
            Ok(written) => written?,
            Err(fault) => read = Err(fault),
        }
        list.end()
    })?;
    read?;
    say(&summary(&counts));
    Ok(())
}

/// Returns the counts as one line.
fn summary(counts: &BTreeMap<ChangeKind, u64>) -> String {
    let counts = ChangeKind::value_variants().iter().map(|kind| {
        let count = counts.get(kind).copied().unwrap_or(0);
        format!("{count} {}", kind.as_str())
    });
    counts.collect::<Vec<_>>().join(", ")
}
