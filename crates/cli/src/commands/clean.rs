//! `crawler clean`: removes the leftover files in the directory of a crawl. [`leftovers`] has the
//! table.

use std::path::Path;

use serde::Serialize;
use store::embedded::DirectoryLock;

use crate::args::CleanArgs;
use crate::cli_error::{CliError, fault};
use crate::leftovers::{self, Leftover};
use crate::output::{self, Format};
use crate::terminal::printable;
use crate::{crawl_directory, machine};

/// The outcome for one leftover file.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    item: &'a Leftover,
    removed: bool,
}

pub(crate) fn run(args: &CleanArgs) -> Result<(), CliError> {
    let directory = &args.directory;
    let state = crawl_directory::state_of(directory)?;
    // What is left over is what nobody uses: a crawl that runs may have some of it open.
    let _nobody_writes = DirectoryLock::take(&state, machine::clock().now())
        .map_err(|error| crawl_directory::cli_error(&error))?;
    let found = leftovers::find(directory).map_err(|error| unreadable(directory, &error))?;
    let goes = |item: &Leftover| args.cut || !item.is_cut;
    let (gone, kept): (Vec<Leftover>, Vec<Leftover>) = found.into_iter().partition(goes);
    if !args.dry_run {
        for item in &gone {
            item.remove(directory)
                .map_err(|error| stuck(&directory.join(&item.path), &error))?;
        }
    }
    output::to_stdout(|out| {
        if Format::or_fitting(args.format) == Format::Json {
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
            (true, true) => writeln!(out, "nothing is left over"),
            (true, false) => Ok(()),
            (false, _) => writeln!(out, "{verb:<12} {}", leftovers::total(&gone)),
        }
    })
}

fn unreadable(directory: &Path, error: &std::io::Error) -> CliError {
    let told = std::io::Error::new(
        error.kind(),
        format!("cannot look through {}: {error}", directory.display()),
    );
    fault(&told)
}

fn stuck(path: &Path, error: &std::io::Error) -> CliError {
    let told = std::io::Error::new(
        error.kind(),
        format!("cannot remove {}: {error}", path.display()),
    );
    fault(&told)
        .with_remedy("the crawl does not need it: remove it by hand, or run `crawler clean` again")
}
