//! The commands, one file each.

pub(crate) mod canonicalize;
pub(crate) mod changes;
pub(crate) mod clean;
pub(crate) mod compare;
pub(crate) mod crawl;
pub(crate) mod dedup;
pub(crate) mod duplicates;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod index;
pub(crate) mod patterns;
pub(crate) mod plan;
pub(crate) mod rebuild;
pub(crate) mod reindex;
pub(crate) mod robots;
pub(crate) mod search;
pub(crate) mod similar;
pub(crate) mod skipped;
pub(crate) mod status;
pub(crate) mod verify;
pub(crate) mod wacz;
pub(crate) mod why;

use std::path::Path;

use crate::cli_error::{CliError, usage};
use crate::documents::MAX_DOCUMENT;
use crate::input;

/// Reads a file, or standard input for `-`.
fn read_input(path: &Path) -> Result<Vec<u8>, CliError> {
    input::read(path, MAX_DOCUMENT)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))
}
