//! `crawler clean`: removes the leftover files in the directory of a crawl. [`leftovers`] contains
//! the table.

use std::io;
use std::path::Path;

use inspect::leftovers::{self, Leftover};
use messages::{CommandError, fault, printable};
use serde::Serialize;
use settings::{crawl_directory, machine};
use store::DirectoryLock;

use crate::args::CleanArgs;
use crate::output::{self, Format};

/// The outcome for one leftover file.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    item: &'a Leftover,
    removed: bool,
}

pub(crate) fn run(args: &CleanArgs) -> Result<(), CommandError> {
    let directory = &args.directory;
    let state = crawl_directory::any_state_of(directory)?;
    // A running crawl may have some of the files open.
    let _lock = DirectoryLock::take(&state, machine::clock().now())?;
    let found = leftovers::find(directory);
    let found = found.map_err(|error| cannot("look through", directory, &error))?;
    let goes = |item: &Leftover| args.cut || !item.is_cut;
    let (gone, kept): (Vec<Leftover>, Vec<Leftover>) = found.into_iter().partition(goes);
    if !args.dry_run {
        for item in &gone {
            item.remove(directory).map_err(|error| {
                cannot("remove", &directory.join(&item.path), &error).with_remedy(
                    "the crawl does not need it: remove it manually, or run `crawler clean` again",
                )
            })?;
        }
    }
    output::to_stdout(|out| {
        if args.format == Format::Json {
            let removed = gone.iter().map(|item| (item, !args.dry_run));
            for (item, removed) in removed.chain(kept.iter().map(|item| (item, false))) {
                output::json_line(out, &Line { item, removed })?;
            }
            return Ok(());
        }
        let verb = if args.dry_run {
            "would remove"
        } else {
            "removed"
        };
        for (verb, items) in [(verb, &gone), ("kept", &kept)] {
            for item in items {
                writeln!(out, "{verb:<12} {}", printable(&item.line()))?;
            }
        }
        match (gone.is_empty(), kept.is_empty()) {
            (true, true) => writeln!(out, "no leftover files"),
            (true, false) => Ok(()),
            (false, _) => writeln!(out, "{verb:<12} {}", leftovers::total(&gone)),
        }
    })
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> CommandError {
    let message = format!("cannot {verb} {}: {error}", path.display());
    fault(&io::Error::new(error.kind(), message))
}
