//! `crawler reindex`: rebuilds the search index from the archive. The new index is built next to
//! the old one, and replaces it when complete.

use messages::{CommandError, counted, fault};
use search::{Finder, IndexOptions, Writer};
use serde::Serialize;
use settings::{Settings, crawl_directory, machine, rules};
use setup::search_index;
use store::DirectoryLock;

use crate::args::InspectArgs;
use crate::output::{self, Format};

/// The result.
#[derive(Serialize)]
struct Report {
    pages: u64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), CommandError> {
    let state = crawl_directory::any_state_of(&args.directory)?;
    let mut settings = Settings::of_crawl(&args.directory)?;
    settings.no_index = false;
    let _lock = DirectoryLock::take(&state, machine::clock().now())?;
    let policy = rules::policy(&settings, settings.canonical_form());
    let place = search_index::options(&settings);
    let options = IndexOptions {
        directory: place.directory.with_extension("new"),
        ..place.clone()
    };
    if options.directory.exists() {
        // An interrupted run left this directory.
        std::fs::remove_dir_all(&options.directory).map_err(|error| fault(&error))?;
    }
    let broken = |error| search_index::cli_error_of(&error, &settings.out);
    let mut writer = Writer::create(&options).map_err(broken)?;
    // Index up to the end of the archive: the crawl removes pages that were not settled.
    let archive = crawl_directory::archive(&settings.out);
    let end = search_index::end_of(&archive)?;
    search_index::catch_up(&mut writer, &archive, &policy, end)?;
    let covered = writer.covered().cloned();
    writer.close(covered).map_err(broken)?;
    if place.directory.exists() {
        std::fs::remove_dir_all(&place.directory).map_err(|error| fault(&error))?;
    }
    std::fs::rename(&options.directory, &place.directory).map_err(|error| fault(&error))?;
    let pages = Finder::open(&place.directory).map_err(broken)?.pages();
    output::to_stdout(|out| match args.format {
        Format::Json => output::json_line(out, &Report { pages }),
        Format::Table => writeln!(out, "indexed {}", counted(pages, "page")),
    })
}
