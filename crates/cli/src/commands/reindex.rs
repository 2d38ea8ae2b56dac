//! `crawler reindex`: rebuilds the search index from the archive. It is made beside the old one,
//! and replaces it when it is complete.

use serde::Serialize;
use store::embedded::DirectoryLock;

use search::{IndexOptions, Writer};

use crate::args::InspectArgs;
use crate::cli_error::{CliError, fault};
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::{assembly, crawl_directory, machine, search_index};

/// The result.
#[derive(Serialize)]
struct Report {
    pages: u64,
}

pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    let mut settings = Settings::of_crawl(&args.directory)?;
    settings.no_index = false;
    let _nobody_else = DirectoryLock::take(&state, machine::clock().now())
        .map_err(|error| crawl_directory::cli_error(&error))?;
    let form = settings.canonical_form();
    let policy = assembly::policy(&settings, form);
    let place = search_index::options(&settings);
    let options = IndexOptions {
        directory: place.directory.with_extension("new"),
        ..place.clone()
    };
    if options.directory.exists() {
        // Of a run that did not come to its end.
        std::fs::remove_dir_all(&options.directory).map_err(|error| fault(&error))?;
    }
    let broken = |error| search_index::cli_error_of(&error, &settings.out);
    let mut writer = Writer::create(&options).map_err(broken)?;
    // Up to the end of the archive: the crawl takes out what turns out not to be settled.
    let archive = crawl_directory::archive(&settings.out);
    search_index::catch_up(
        &mut writer,
        &archive,
        &policy,
        search_index::end_of(&archive)?,
    )?;
    let covered = writer.covered().cloned();
    writer.close(covered).map_err(broken)?;
    if place.directory.exists() {
        std::fs::remove_dir_all(&place.directory).map_err(|error| fault(&error))?;
    }
    std::fs::rename(&options.directory, &place.directory).map_err(|error| fault(&error))?;
    let pages = search::Finder::open(&place.directory)
        .map_err(broken)?
        .pages();
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &Report { pages }),
        Format::Table => writeln!(out, "{pages} pages can be searched"),
    })
}
