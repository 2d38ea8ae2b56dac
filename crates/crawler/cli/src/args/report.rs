//! The arguments of `crawler report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::args::store::StoreArg;

/// Write a report of a crawl as one HTML file: counts, timeline, hosts, verdicts, clusters,
/// failures, broken links, skipped URLs, politeness and settings. The file is self-contained,
/// without scripts, prints on A4, and has at most 1 MiB.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Write to this file, atomically; - is standard output [default: DIR/report.html; with
    /// --store, report.html; standard output for json]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// html, or json: the same values as one object
    #[arg(
        long,
        value_name = "FORM",
        default_value = "html",
        hide_default_value = true
    )]
    pub(crate) format: ReportForm,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    Html,
    Json,
}

impl ReportArgs {
    /// Returns the file to write, by default in `directory`; `-` for standard output.
    pub(crate) fn file(&self, directory: &Path) -> PathBuf {
        self.output.clone().unwrap_or_else(|| match self.format {
            ReportForm::Html => directory.join("report.html"),
            ReportForm::Json => PathBuf::from("-"),
        })
    }
}

const EXAMPLES: &str = "\
Examples:
  crawler report monday                            monday/report.html
  crawler report monday -o /var/www/monday.html
  crawler report monday -o - | gzip > monday.html.gz
  crawler report monday --format json | jq .summary

The same journal gives the same bytes: a report does not contain its own date. docs/guide/report.md
shows a report, and lists the names in JSON.

Exit codes: 0 done, 1 fault, or the journal is damaged (the report shows the readable part, and
describes the damage), 2 usage error.";
