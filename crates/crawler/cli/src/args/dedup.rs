//! The arguments of `dedup`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use batch::Shard;
use batch::dedup::FindingKind;
use clap::{Args, ValueEnum};
use corpus::{PartUnit, is_standard_input};
use messages::{CommandError, usage};
use settings::values::Switch;
use setup::comparison_options::{FeatureArgs, VerdictArgs};

use crate::args::input::{InputArgs, WorkArgs};

/// Find near-duplicates among documents: files of text or HTML, directories of them, JSON lines
/// ({"id", "text"}), Parquet, Arrow, WARC and ARC archives.
///
/// Without --pairs or --clusters, prints one line per document that repeats an earlier document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler dedup corpus/                             documents that repeat an earlier document
  crawler dedup corpus.jsonl --pairs -o pairs.jsonl all pairs of similar documents
  crawler dedup corpus.jsonl --keep clean.jsonl     the corpus without duplicates
  crawler dedup corpus.jsonl --resemblance 0.6      with a resemblance of at least 0.6
  crawler dedup corpus/ --features char:5           shingles of five characters
  crawler dedup corpus/ --containment 0.8           documents that others contain by 80 %
  crawler dedup corpus/ --labels pairs.tsv          precision and recall on labelled pairs
  crawler dedup crawl/archive/*.warc.gz --clusters  clusters of similar pages in an archive
  crawler dedup new.jsonl --against known.sig --save-index known.sig
                                                    new documents; adds them to the index
  crawler dedup corpus/ --shard 2/4 --signatures 2.sig
                                                    one quarter of the work, for four machines
  crawler dedup --merge 1.sig 2.sig 3.sig 4.sig     the result of all shards
  zcat big.jsonl.gz | crawler dedup - --memory 2GiB

Exit codes: 0 done, 1 fault, 2 usage error, or incomplete result because part of the input
was unreadable.")]
pub(crate) struct DedupArgs {
    /// Files, directories, pipes, and patterns of file names ('data/*.jsonl.gz'); - is standard
    /// input. The first bytes determine the format and the compression (gzip, zstd, bzip2, xz)
    #[arg(value_name = "PATH", required_unless_present = "merge")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Print every pair of documents at or above the threshold
    #[arg(long, conflicts_with = "clusters")]
    pub(crate) pairs: bool,
    /// Print one line per cluster: an original and all documents that repeat it
    #[arg(long)]
    pub(crate) clusters: bool,
    /// With --clusters: join all documents that similar pairs connect
    #[arg(long, requires = "clusters")]
    pub(crate) chained: bool,
    /// Print every ordered pair (A, B) with a containment |S(A) ∩ S(B)| / |S(A)| of at least C (0 <
    /// C ≤ 1), where S is the set of shingles (Broder 1997). Exact, for documents of any length
    #[arg(long, value_name = "C")]
    #[arg(conflicts_with_all = ["clusters", "unit", "against", "keep", "save_index", "signatures"])]
    #[arg(conflicts_with_all = ["merge", "report", "distance", "resemblance", "verify"])]
    #[arg(conflicts_with_all = ["min_words", "recall", "exact"])]
    pub(crate) containment: Option<f64>,
    /// Print precision, recall and F1 of --pairs, and of fingerprints alone at each distance,
    /// measured on the labels in this file: lines of {"a", "b", "label"}, or three columns
    /// separated by tabs; a label is same or different
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["containment", "pairs", "clusters", "unit", "against", "keep"])]
    #[arg(conflicts_with_all = ["save_index", "signatures", "merge", "report"])]
    pub(crate) labels: Option<PathBuf>,
    /// Units to compare: documents, paragraphs or lines; a paragraph or line repeats an earlier one
    /// if it contains the same words
    #[arg(long, value_name = "UNIT", default_value = "document")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "signatures", "merge"])]
    #[arg(conflicts_with_all = ["save_index", "report"])]
    pub(crate) unit: DedupUnit,
    /// Also compare with an index of --save-index, or with documents like PATH (repeatable). Their
    /// documents are neither printed nor kept
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Vec<PathBuf>,
    /// Write the documents that do not repeat an earlier document, in the format and order of the
    /// input: lines, rows with all columns, archive records including records that are not pages.
    /// Text and HTML files are copied if FILE is a directory (name/), and listed otherwise. .gz and
    /// .zst compress. With --unit: lines and rows without repeated parts. Findings are printed only
    /// with --output or --format. - is standard output
    #[arg(long, value_name = "FILE", requires = "paths")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "shard"])]
    pub(crate) keep: Option<PathBuf>,
    /// Write an index of the documents that do not repeat an earlier document, and of the --against
    /// documents, for --against of later runs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pairs", "clusters"])]
    pub(crate) save_index: Option<PathBuf>,
    /// Write the signatures of the documents to this file first. After an interruption the same
    /// command continues with it
    #[arg(long, value_name = "FILE", conflicts_with = "merge")]
    pub(crate) signatures: Option<PathBuf>,
    /// Write only the signatures of every N-th document, starting at the I-th, for --merge
    #[arg(long, value_name = "I/N", requires = "signatures")]
    #[arg(conflicts_with_all = ["pairs", "clusters", "against", "save_index", "report"])]
    pub(crate) shard: Option<Shard>,
    /// Compare the documents of all shards by the signatures in these files. PATH is not read
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) merge: Vec<PathBuf>,
    /// Write an HTML report with counts, charts, examples and the distribution of fingerprints
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Minimum expected recall of candidates at --resemblance, between 0 and 1 [default: 0.99]
    #[arg(long, value_name = "P")]
    pub(crate) recall: Option<f64>,
    /// With --resemblance or --features: compare exact shingles. off: compare sketches, which miss
    /// half of the pairs at the threshold but save space in temporary files and signature files (4
    /// bytes per word) [default: on]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) exact: Option<Switch>,
    /// Compare only the main content of a page, without navigation [default: on]
    #[arg(long, value_name = "ON|OFF")]
    pub(crate) main_content: Option<Switch>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// json, table, parquet or arrow [default: from the name of --output, else json]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<FindingForm>,
}

/// The form of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingForm {
    /// One JSON object per line
    Json,
    /// Aligned columns
    Table,
    /// A Parquet file
    Parquet,
    /// An Arrow IPC file (Feather)
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

impl DedupArgs {
    /// Checks that the name of each output fits its kind.
    ///
    /// # Errors
    /// A file that must be read again would go to standard output, two outputs would go there, or
    /// the name of the findings belongs to a format that they are not written in.
    pub(crate) fn check_outputs(&self) -> Result<(), CommandError> {
        let is_dash = |path: &Option<PathBuf>| path.as_deref().is_some_and(is_standard_input);
        for (option, path) in [
            ("--save-index", &self.save_index),
            ("--signatures", &self.signatures),
            ("--report", &self.report),
        ] {
            if is_dash(path) {
                let error = usage(format!("{option} - is no file"));
                return Err(error.with_remedy(
                    "standard output is used for the findings; name a \
                    file",
                ));
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
                let error = usage(format!("cannot write findings in the format of {shown}"));
                let remedy = "supported names are NAME.jsonl, NAME.parquet and NAME.arrow";
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
        self.format.or_else(by_name).unwrap_or(FindingForm::Json)
    }
}
