//! The arguments of `crawler export`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use web::Usages;

use crate::args::store::StoreArg;

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// jsonl, csv, xlsx or parquet; with --text also wet. Parquet has typed columns: fingerprints
    /// are unsigned 64-bit integers, dates are timestamps. It includes the sketch of each archived
    /// page [default: jsonl; for FILE.xlsx xlsx; with --audit csv]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<ExportForm>,
    /// Write to this file instead of standard output (-): to FILE.part, which is renamed to FILE
    /// when complete. FILE.gz and FILE.zst are compressed. With Parquet, DIR/ receives
    /// part-00000.parquet and so on; with --audit, one file per table
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Export the link graph instead: source, target, anchor, rel and kind of every link on an
    /// archived page
    #[arg(long)]
    pub(crate) links: bool,
    /// With --links: only links to URLs whose request failed, with status or reason
    #[arg(long, requires = "links", conflicts_with = "resume")]
    pub(crate) broken: bool,
    /// Export an audit of the site instead, as tables for its owner: pages with title, description,
    /// headings, canonical page and links; redirects; broken links; equal titles; hreflang links
    /// without a return; orphans; and what the sitemaps lack
    #[arg(long, conflicts_with_all = ["links", "text", "signatures", "sketches", "resume"])]
    pub(crate) audit: bool,
    /// Export the texts of archived pages instead: main content with language, title, author,
    /// dates, digest, cluster, and quality statistics for filtering training corpora
    #[arg(long)]
    pub(crate) text: bool,
    /// With --text: the main content as Markdown. With --output DIR/: one file with front matter
    /// per text
    #[arg(long)]
    pub(crate) markdown: bool,
    /// With --text: the sections of each text as Markdown, one per row, each with its headings
    #[arg(long)]
    pub(crate) chunks: bool,
    /// With --text: also archived duplicates (--on-duplicate keep, --per-cluster)
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// With --text: keep the lines that begin or end many pages of a host, such as its slogan
    #[arg(long)]
    pub(crate) keep_boilerplate: bool,
    /// With --text: leave out pages whose owners refuse these uses: train, input, search, separated
    /// by commas
    #[arg(long, value_name = "WORDS", requires = "text")]
    pub(crate) respect_preferences: Option<Usages>,
    /// Also include the sketches of pages in jsonl and csv, in hexadecimal digits
    #[arg(long)]
    pub(crate) sketches: bool,
    /// Export the signatures of archived pages instead: digests, fingerprint, and sketches as lists
    /// of numbers, for comparing the pages of many crawls in a database. Only crawls with the same
    /// --hash-key are comparable
    #[arg(long)]
    pub(crate) signatures: bool,
    /// With --format csv: do not escape values that a spreadsheet would evaluate as formulas (a
    /// value that begins with = + - @ or white space) [default: prefix them with ']
    #[arg(long)]
    pub(crate) raw: bool,
    /// With --format csv: begin with a byte order mark, without which Excel shows wrong letters
    #[arg(long)]
    pub(crate) bom: bool,
    /// Continue a complete or interrupted export: keep its rows and append new rows
    #[arg(long)]
    pub(crate) resume: bool,
    /// Start a new Parquet file after this number of rows; --output must be a directory [default:
    /// 1000000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows_per_file: Option<u64>,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  crawler export monday --format csv --output monday.csv
  crawler export monday --format csv --output monday.csv --resume    append new rows
  crawler export monday --format csv --bom --output monday.csv       for Excel
  crawler export monday --format parquet --output visits/ --resume   the same, one file per run
  crawler export monday --links --format parquet --output links.parquet
  crawler export monday --links --broken --format csv                broken links
  crawler export monday --audit --output audit.xlsx                  one sheet per table
  crawler export monday --audit --output audit/                      one CSV file per table
  crawler export monday --signatures --format parquet --output signatures/

From seeds to a training corpus, in two commands:
  crawler --seeds seeds.txt --out corpus
  crawler export corpus --text --format parquet --output corpus.parquet

  crawler export corpus --text --markdown --output corpus.jsonl.zst
  crawler export corpus --text --markdown --output notes/
  crawler export corpus --text --chunks --format parquet --output chunks.parquet
  crawler export corpus --text --format wet --output corpus.warc.wet.gz

docs/formats/export.md documents the columns, with examples for DuckDB and pandas.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// One JSON object a line
    Jsonl,
    /// Comma-separated, with a header line
    Csv,
    /// An Excel workbook
    Xlsx,
    /// Parquet, compressed with Zstandard
    Parquet,
    /// Texts as WARC conversion records, like the WET files of Common Crawl
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
    /// Returns the remark about the programs that open it.
    pub(crate) const fn opened_with(self) -> &'static str {
        match self {
            Self::Table(export::Form::Jsonl) => "one JSON object per line, for jq or pandas",
            Self::Table(export::Form::Csv | export::Form::RawCsv) => "open it in a spreadsheet",
            Self::Table(export::Form::Xlsx) => "open it in Excel or LibreOffice",
            Self::Table(export::Form::Parquet) => "open it with DuckDB, pandas or Polars",
            Self::Wet => "read it with warcio or other WARC tools",
        }
    }

    /// Returns true if an unfinished file of this form and name can be continued. It cannot if the
    /// file is only readable with its end.
    pub(crate) fn can_continue(self, path: &Path) -> bool {
        let is_compressed = export::Compression::by_name(path).is_some();
        let Self::Table(form) = self else {
            return false;
        };
        !matches!(form, export::Form::Parquet | export::Form::Xlsx) && !is_compressed
    }
}

impl ExportArgs {
    pub(crate) fn form(&self) -> OutputForm {
        let extension = self.output.as_ref().and_then(|path| path.extension());
        let format = self.format.unwrap_or(match extension {
            Some(extension) if extension == "xlsx" => ExportForm::Xlsx,
            _ if self.audit => ExportForm::Csv,
            _ => ExportForm::Jsonl,
        });
        OutputForm::Table(match format {
            ExportForm::Jsonl => export::Form::Jsonl,
            ExportForm::Csv if self.raw => export::Form::RawCsv,
            ExportForm::Csv => export::Form::Csv,
            ExportForm::Xlsx => export::Form::Xlsx,
            ExportForm::Parquet => export::Form::Parquet,
            ExportForm::Wet => return OutputForm::Wet,
        })
    }
}
