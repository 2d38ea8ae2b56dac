//! One file per command, and shared helpers.

mod archives;
pub(crate) mod canonicalize;
pub(crate) mod changes;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod control;
pub(crate) mod crawl;
pub(crate) mod dedup;
pub(crate) mod duplicates;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod fingerprint;
pub(crate) mod frames;
pub(crate) mod frequencies;
pub(crate) mod import;
pub(crate) mod index;
mod journal;
pub(crate) mod manual;
mod membership;
pub(crate) mod node;
pub(crate) mod nodes;
mod page_counts;
mod pair;
pub(crate) mod patterns;
pub(crate) mod plan;
pub(crate) mod query;
pub(crate) mod rebuild;
pub(crate) mod reindex;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod robots;
pub(crate) mod search;
pub(crate) mod serve;
mod shared;
pub(crate) mod similar;
pub(crate) mod skipped;
pub(crate) mod status;
pub(crate) mod topic;
pub(crate) mod unpack;
pub(crate) mod verify;
pub(crate) mod wacz;
pub(crate) mod why;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ::crawl::control_file::CONTROL;
use ::journal::StoreFault;
use corpus::MAX_DOCUMENT;
use disk::SystemDisk;
use store::{EarlierCrawls, EmbeddedStore, Frontier};
use tokio::runtime::Runtime;
use web::{CanonicalForm, Clock, PageUrl, Scope};

use crate::cli_error::{CliError, fault, usage};
use crate::control::last_in_force;
use crate::input;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::{assembly, crawl_directory, earlier, machine, seeds};

/// Reads a file, or standard input for `-`.
fn read_input(path: &Path) -> Result<Vec<u8>, CliError> {
    input::read(path, MAX_DOCUMENT).map_err(unreadable(path))
}

/// Returns the error for a named file or directory that cannot be read.
fn unreadable(path: &Path) -> impl Fn(io::Error) -> CliError + Copy {
    move |error| usage(format!("cannot read {}: {error}", path.display()))
}

/// Returns the error for a named file that cannot be written.
fn unwritable(path: &Path) -> impl Fn(io::Error) -> CliError + Copy {
    move |error| usage(format!("cannot write {}: {error}", path.display()))
}

/// Parses a URL argument.
fn parse_url(text: &str, form: &CanonicalForm) -> Result<PageUrl, CliError> {
    PageUrl::parse(text, form).map_err(|error| usage(format!("{text:?}: {error}")))
}

/// Prints a warning.
fn warn(text: &str) {
    say(&format!("warning: {}", printable(text)));
}

/// Returns a line for [`columns`](crate::output::columns): a label and its value, if there is one.
fn column(label: &'static str, value: Option<impl ToString>) -> (&'static str, Option<String>) {
    (label, value.map(|value| value.to_string()))
}

/// Returns exit code 0 if a check found nothing wrong, otherwise 1.
fn exit_code(is_right: bool) -> ExitCode {
    match is_right {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Returns the scope of a crawl with its seeds and the exclusions in effect.
fn scope_in_force(settings: &Settings, form: &CanonicalForm) -> Result<Scope, CliError> {
    let mut scope = assembly::scope(settings)?;
    if let Some(in_force) = last_in_force(&settings.out)? {
        scope.exclude_now(in_force.overrides.exclude);
    }
    seeds::each_of_crawl(settings, form, |seed| {
        scope.add_seed(seed);
    })?;
    Ok(scope)
}

/// Opens the store in `state` for exclusive use.
fn open_store(
    settings: &Settings,
    earlier: Option<Arc<EarlierCrawls>>,
    clock: &Clock,
    state: &Path,
) -> Result<EmbeddedStore, CliError> {
    let disk: Arc<dyn disk::Disk> = Arc::new(SystemDisk);
    let options = assembly::store_options(settings, earlier, clock, &disk)?;
    Ok(EmbeddedStore::open(state, &options)?)
}

/// Opens the store of a crawl that is not running, carries out an order, and closes the store.
/// `line` is the line of `control.toml` that gives the same order to a running crawl.
fn order<T>(
    directory: &Path,
    line: &str,
    carry_out: impl AsyncFnOnce(&EmbeddedStore) -> Result<T, StoreFault>,
) -> Result<T, CliError> {
    let settings = Settings::of_crawl(directory)?;
    let earlier = earlier::load(&settings)?.map(Arc::new);
    let state = crawl_directory::state(directory);
    let disk: Arc<dyn disk::Disk> = Arc::new(SystemDisk);
    let options = assembly::store_options(&settings, earlier, &machine::clock(), &disk)?;
    let store = EmbeddedStore::open(&state, &options).map_err(|error| match error {
        StoreFault::InUse { .. } => CliError::of_usage(&error).with_remedy(format!(
            "to change the running crawl, write `{line}` into {}; it takes effect within seconds",
            directory.join(CONTROL).display()
        )),
        error => error.into(),
    })?;
    runtime()?.block_on(async {
        let effect = carry_out(&store).await?;
        store.close().await?;
        Ok(effect)
    })
}

/// Returns a runtime for a command that needs one for asynchronous calls.
fn runtime() -> Result<Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.map_err(|error| fault(&error))
}
