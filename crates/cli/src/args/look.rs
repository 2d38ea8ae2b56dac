//! The arguments of the commands that look at a crawl.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// jsonl or csv
    #[arg(long, value_name = "FORM", default_value = "jsonl")]
    pub(crate) format: ExportForm,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated, with a header line
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The URL in question
    pub(crate) url: String,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct DuplicatesArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// A line for each group of pages that say the same, the original first
    #[arg(long)]
    pub(crate) clusters: bool,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct SimilarArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// A page of the crawl, or a text or HTML file (- is standard input)
    #[arg(value_name = "URL|FILE")]
    pub(crate) what: String,
    /// Only pages whose fingerprint differs in so many bits at most [default: any]
    #[arg(long, value_name = "K")]
    pub(crate) distance: Option<u32>,
    /// Only pages that resemble it so much, 0 to 1 [default: the crawl's own figure, else 0.7]
    #[arg(long, value_name = "R")]
    pub(crate) resemblance: Option<f64>,
    /// So many pages, the nearest first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}
