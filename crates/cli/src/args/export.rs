//! The arguments of `crawler export`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::args::store::StoreArg;

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Directory of the crawl; it may be running
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// jsonl, csv or parquet; with --text, wet, too. In Parquet, numbers are numbers, fingerprints
    /// unsigned 64-bit integers, dates timestamps, and the sketch of each page that was kept is
    /// there
    #[arg(long, value_name = "FORM", default_value = "jsonl")]
    pub(crate) format: ExportForm,
    /// Write to this file instead of standard output (-): to FILE.part, which becomes FILE once it
    /// is whole. FILE.gz and FILE.zst are compressed. With Parquet, a directory (DIR/) gets
    /// part-00000.parquet and so on
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Export the link graph instead: source, target, anchor, rel and kind of each link of each
    /// archived page
    #[arg(long)]
    pub(crate) links: bool,
    /// With --links: only links to URLs that could not be fetched, with the status or the reason
    #[arg(long, requires = "links", conflicts_with = "resume")]
    pub(crate) broken: bool,
    /// Export the text of each kept page instead: its main content, with language, title, digest,
    /// cluster, and the figures that curators of training corpora filter by
    #[arg(long)]
    pub(crate) text: bool,
    /// With --text: the main content as Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// With --text: kept copies of other pages, too (--on-duplicate keep, --per-cluster)
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// Include the sketches of pages in jsonl and csv, too, in hexadecimal digits
    #[arg(long)]
    pub(crate) sketches: bool,
    /// Export the signature of each kept page instead: digests, fingerprint, and sketches as lists
    /// of numbers, by which a database compares the pages of many crawls. Only those of crawls with
    /// one --hash-key are comparable
    #[arg(long)]
    pub(crate) signatures: bool,
    /// With --format csv: do not quote texts that a spreadsheet would run as formulas (they begin
    /// with = + - @ or white space) [default: a ' before them]
    #[arg(long)]
    pub(crate) raw: bool,
    /// Continue an export that ended or was killed: keep its rows and add new ones
    #[arg(long)]
    pub(crate) resume: bool,
    /// Start a new Parquet file after this number of rows; --output is a directory then [default:
    /// 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows_per_file: Option<u64>,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  crawler export monday --format csv --output monday.csv
  crawler export monday --format csv --output monday.csv --resume    add what is new since
  crawler export monday --format parquet --output visits/ --resume   the same, a file each time
  crawler export monday --links --format parquet --output links.parquet
  crawler export monday --links --broken --format csv                which page links to a 404
  crawler export monday --signatures --format parquet --output signatures/

From seeds to a training set, in two commands:
  crawler --seeds seeds.txt --out corpus
  crawler export corpus --text --format parquet --output corpus.parquet

  crawler export corpus --text --markdown --output corpus.jsonl.zst
  crawler export corpus --text --format wet --output corpus.warc.wet.gz

docs/formats/export.md documents the columns, with examples for DuckDB and pandas.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated, with a header line
    Csv,
    /// Parquet, compressed with Zstandard
    Parquet,
    /// Texts as WARC records of the type conversion, as Common Crawl's WET files
    Wet,
}

/// The form of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    /// A table.
    Table(export::Form),
    /// WARC records.
    Wet,
}

impl OutputForm {
    /// Returns true if an unfinished file of this form and name can be continued. It cannot if the
    /// file is only readable with its end.
    pub(crate) fn can_continue(self, path: &Path) -> bool {
        let is_compressed = export::Compression::by_name(path).is_some();
        !matches!(self, Self::Wet | Self::Table(export::Form::Parquet)) && !is_compressed
    }
}

impl ExportArgs {
    pub(crate) const fn form(&self) -> OutputForm {
        OutputForm::Table(match self.format {
            ExportForm::Jsonl => export::Form::Jsonl,
            ExportForm::Csv if self.raw => export::Form::RawCsv,
            ExportForm::Csv => export::Form::Csv,
            ExportForm::Parquet => export::Form::Parquet,
            ExportForm::Wet => return OutputForm::Wet,
        })
    }
}
