//! `crawler import`: moves a crawl into a shared store.

use std::path::Path;

use inspect::import::import;
use messages::{CommandError, counted, say};
use settings::crawl_directory;

use crate::args::{Arguments, ImportArgs};

pub(crate) fn run(args: &ImportArgs) -> Result<(), CommandError> {
    let imported = import(
        &args.directory,
        args.store.as_ref(),
        Arguments::suggest_command,
    )?;
    close(imported, &crawl_directory::archive(&args.directory));
    Ok(())
}

/// Prints the result. `imported` contains the number of records, and how many of these an earlier
/// run imported.
fn close(imported: Option<(u64, u64)>, archive: &Path) {
    let archive = archive.display();
    let done = match imported {
        None => "the crawl was imported before".to_owned(),
        Some((records, 0)) => format!("imported {}", counted(records, "record")),
        Some((records, before)) => {
            format!(
                "imported {}, {before} of them in an earlier run",
                counted(records, "record")
            )
        }
    };
    say(&format!("{done}; its archive stays in {archive}"));
}
