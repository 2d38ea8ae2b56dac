//! One file per command, and shared helpers.

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
pub(crate) mod keys;
pub(crate) mod manual;
pub(crate) mod mcp;
pub(crate) mod node;
pub(crate) mod nodes;
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
pub(crate) mod similar;
pub(crate) mod skipped;
pub(crate) mod status;
pub(crate) mod topic;
pub(crate) mod unpack;
pub(crate) mod verify;
pub(crate) mod wacz;
pub(crate) mod why;

use std::process::ExitCode;

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
