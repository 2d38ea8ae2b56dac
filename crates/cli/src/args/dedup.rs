//! The arguments of `dedup`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use batch::Shard;
use batch::dedup::FindingKind;
use clap::{Args, ValueEnum};
use corpus::is_standard_input;

use crate::args::input::{InputArgs, WorkArgs};
use crate::cli_error::{CliError, usage};
use crate::likeness::{FeatureArgs, VerdictArgs};
use crate::output::Format;
use crate::values::Switch;

/// Find near-duplicates among documents: files of text or HTML, directories of them, JSON lines
/// ({"id", "text"}), Parquet, Arrow, WARC and ARC archives.
///
/// Without --pairs or --clusters it prints a line for each document that repeats an earlier one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler dedup corpus/                             each document that repeats an earlier one
  crawler dedup corpus.jsonl --pairs -o pairs.jsonl every pair of documents that are alike
  crawler dedup corpus.jsonl --keep clean.jsonl     the corpus without its repetitions
  crawler dedup corpus.jsonl --resemblance 0.6      what resembles an earlier one by 0.6 or more
  crawler dedup corpus/ --features char:5           by runs of five characters
  crawler dedup corpus/ --containment 0.8           which documents others contain by 80 %
  crawler dedup corpus/ --labels pairs.tsv          how often that agrees with labelled pairs
  crawler dedup crawl/archive/*.warc.gz --clusters  what belongs together in an archive
  crawler dedup new.jsonl --against known.sig --save-index known.sig
                                                    what is new, and the index with it
  crawler dedup corpus/ --shard 2/4 --signatures 2.sig
                                                    a quarter of the work, on one machine of four
  crawler dedup --merge 1.sig 2.sig 3.sig 4.sig     the result of all of it
  zcat big.jsonl.gz | crawler dedup - --memory 2GiB

Exit codes: 0 done, 1 a fault, 2 wrong usage, or a document may be missing in the result because a
part of the input could not be read.")]
pub(crate) struct DedupArgs {
    /// Files, directories, pipes, and patterns of file names ('data/*.jsonl.gz'); - is standard
    /// input. The first bytes decide on the format and the compression (gzip, zstd, bzip2, xz)
    #[arg(value_name = "PATH", required_unless_present = "merge")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Print every pair of documents at or above the threshold
    #[arg(long, conflicts_with = "clusters")]
    pub(crate) pairs: bool,
    /// Print a line for each cluster: an original and all documents that repeat it
    #[arg(long)]
    pub(crate) clusters: bool,
    /// With --clusters: join all documents that are connected by similar pairs
    #[arg(long, requires = "clusters")]
    pub(crate) chained: bool,
    /// Print every ordered pair of documents of which the second contains at least this part of the
    /// first one's shingles, above 0 to 1: |S(A) ∩ S(B)| / |S(A)| (Broder 1997). Exact, and
    /// whatever their lengths are
    #[arg(long, value_name = "C")]
    #[arg(conflicts_with_all = ["clusters", "unit", "against", "keep", "save_index", "signatures"])]
    #[arg(conflicts_with_all = ["merge", "report", "distance", "resemblance", "verify"])]
    #[arg(conflicts_with_all = ["least_words", "recall", "exact"])]
    pub(crate) containment: Option<f64>,
    /// Print precision, recall and F1 of --pairs, and of fingerprints alone at each distance, by
    /// the labels in this file: lines of {"a", "b", "label"} or of three columns with tabs; a
    /// label is same or different
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["containment", "pairs", "clusters", "unit", "against", "keep"])]
    #[arg(conflicts_with_all = ["save_index", "signatures", "merge", "report"])]
    pub(crate) labels: Option<PathBuf>,
    /// Units to compare: documents; or paragraphs or lines, which repeat an earlier one if they
    /// have the same words
    #[arg(long, value_name = "UNIT", default_value = "document")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "signatures", "merge"])]
    #[arg(conflicts_with_all = ["save_index", "report"])]
    pub(crate) unit: DedupUnit,
    /// Compare with these as well: an index of --save-index, or documents like PATH (repeatable).
    /// Nothing of them is printed or kept
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Vec<PathBuf>,
    /// Write the documents that repeat no earlier one, in the format and order of the input: lines,
    /// rows with all columns, records of archives with all that are no pages. Text and HTML files
    /// are copied if FILE is a directory (name/), else listed. .gz and .zst compress. With --unit:
    /// lines and rows without the parts that repeat. Findings are printed only if --output or
    /// --format asks for them. - is standard output
    #[arg(long, value_name = "FILE", requires = "paths")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "shard"])]
    pub(crate) keep: Option<PathBuf>,
    /// Write an index of the documents that repeat no earlier one, and of those of --against, for
    /// --against of later runs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pairs", "clusters"])]
    pub(crate) save_index: Option<PathBuf>,
    /// Write the signatures of the documents to this file first. After an interruption the same
    /// command continues with it
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    pub(crate) signatures: Option<PathBuf>,
    /// Only write the signatures of every N-th document, from the I-th on, for --merge
    #[arg(long, value_name = "I/N", requires = "signatures")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "against", "save_index", "report"])]
    pub(crate) shard: Option<Shard>,
    /// Compare the documents of all shards, whose signatures these files have. PATH is not read
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) merge: Vec<PathBuf>,
    /// Write a page with counts, charts and examples, and with the distribution of the fingerprints
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// The part of all near duplicates at --resemblance that candidates must include, between 0
    /// and 1 [default: 0.99]
    #[arg(long, value_name = "P")]
    pub(crate) recall: Option<f64>,
    /// Decide by the shingles themselves if --resemblance or --features is given. off: by
    /// sketches, which miss half of the pairs at the threshold, but write less to temporary files
    /// and signature files (4 bytes for each word) [default: on]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) exact: Option<Switch>,
    /// Judge a page by its main content, without navigation [default: on]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) main_content: Option<Switch>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// json, table, parquet or arrow [default: by the name of --output; table on a terminal, json
    /// otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<FindingForm>,
}

/// The form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingForm {
    /// One JSON object a line
    Json,
    /// Columns for people
    Table,
    /// A Parquet file
    Parquet,
    /// A file of Arrow IPC (Feather)
    Arrow,
}

impl FindingForm {
    /// Returns the name of the form if it is a file of tables.
    pub(crate) fn table(self) -> Option<&'static str> {
        match self {
            Self::Parquet => Some("parquet"),
            Self::Arrow => Some("arrow"),
            Self::Json | Self::Table => None,
        }
    }
}

/// The units that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DedupUnit {
    Document,
    Paragraph,
    Line,
}

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartUnit {
    /// Lines up to a blank line.
    Paragraph,
    Line,
}

impl DedupUnit {
    /// Returns the part to compare; `None` if whole documents are compared.
    pub(crate) fn of_parts(self) -> Option<PartUnit> {
        match self {
            Self::Document => None,
            Self::Paragraph => Some(PartUnit::Paragraph),
            Self::Line => Some(PartUnit::Line),
        }
    }
}

impl PartUnit {
    /// Returns the plural noun for the parts.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Paragraph => "paragraphs",
            Self::Line => "lines",
        }
    }

    /// Returns the parts of a text, with the line ends and blank lines after them: joined, they are
    /// the text.
    pub(crate) fn parts_of(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let mut end = 0;
            let mut is_behind_blank = false;
            for line in rest.split_inclusive('\n') {
                let is_blank = line.trim().is_empty();
                let is_next = match self {
                    Self::Line => end > 0,
                    Self::Paragraph => is_behind_blank && !is_blank,
                };
                if is_next {
                    break;
                }
                is_behind_blank = is_blank && end > 0;
                end += line.len();
            }
            let (part, after) = rest.split_at(end);
            rest = after;
            (!part.is_empty()).then_some(part)
        })
    }
}

impl DedupArgs {
    /// Checks that the name of each output fits its kind.
    ///
    /// # Errors
    /// A file that must be read again would go to standard output, two outputs would go there, or
    /// the name of the findings belongs to a format that they are not written in.
    pub(crate) fn check_outputs(&self) -> Result<(), CliError> {
        let is_dash = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard_input);
        for (option, path) in [
            ("--save-index", &self.save_index),
            ("--signatures", &self.signatures),
            ("--report", &self.report),
        ] {
            if is_dash(path) {
                let error = usage(format!("{option} - is no file"));
                return Err(error.with_remedy("standard output has the findings; name a file"));
            }
        }
        if is_dash(&self.keep) && !self.keeps_silently() && self.work.output().is_none() {
            let error = usage("both --keep and the findings would go to standard output");
            return Err(error.with_remedy("name a file for one of them"));
        }
        let foreign = ["csv", "tsv", "gz", "zst", "bz2", "xz"];
        let extension = self.work.output().and_then(Path::extension);
        let is_foreign = |extension: &OsStr| foreign.iter().any(|name| extension == *name);
        match (self.work.output(), extension) {
            (Some(path), Some(extension)) if is_foreign(extension) => {
                let shown = path.display();
                let error = usage(format!("findings are not written in the format of {shown}"));
                let remedy = "name.jsonl, name.parquet and name.arrow are written";
                Err(error.with_remedy(remedy))
            }
            _ => Ok(()),
        }
    }

    /// Returns true if only the kept documents are requested, without findings.
    pub(crate) fn keeps_silently(&self) -> bool {
        self.keep.is_some() && self.work.output.is_none() && self.format.is_none()
    }

    /// Returns the kind of the findings.
    pub(crate) fn finding_kind(&self) -> FindingKind {
        match (self.pairs, self.clusters) {
            (true, _) => FindingKind::Pairs,
            (_, true) => FindingKind::Clusters {
                chained: self.chained,
            },
            _ => FindingKind::Duplicates,
        }
    }

    /// Returns the form of the findings.
    pub(crate) fn finding_form(&self) -> FindingForm {
        let by_name = || {
            let extension = self.work.output()?.extension()?;
            match extension.to_str()? {
                "parquet" => Some(FindingForm::Parquet),
                "arrow" | "feather" => Some(FindingForm::Arrow),
                _ => None,
            }
        };
        let fitting = || match Format::or_fitting(None) {
            Format::Json => FindingForm::Json,
            Format::Table => FindingForm::Table,
        };
        self.format.or_else(by_name).unwrap_or_else(fitting)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paragraphs_end_with_blank_lines_and_lines_with_their_ends() {
        let text = "\none\ntwo\n \n\nthree\r\n\nfour";
        let parts = |unit: PartUnit| unit.parts_of(text).collect::<Vec<_>>();
        assert_eq!(
            parts(PartUnit::Paragraph),
            ["\none\ntwo\n \n\n", "three\r\n\n", "four"]
        );
        assert_eq!(
            parts(PartUnit::Line),
            [
                "\n",
                "one\n",
                "two\n",
                " \n",
                "\n",
                "three\r\n",
                "\n",
                "four"
            ]
        );
    }

    proptest! {
        #[test]
        fn the_parts_of_a_text_are_the_text(text in "[a \n\r]{0,40}") {
            for unit in [PartUnit::Paragraph, PartUnit::Line] {
                let parts: Vec<&str> = unit.parts_of(&text).collect();
                prop_assert_eq!(parts.concat(), text.clone());
                prop_assert!(parts.iter().all(|part| !part.is_empty()));
            }
        }
    }
}
