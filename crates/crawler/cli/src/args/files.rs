//! The arguments of commands that work without a crawl.

use std::path::PathBuf;

use batch::Shard;
use clap::{Args, ValueEnum};
use corpus::measures;
use neardup::Features;
use settings::values::Count;
use setup::comparison_options::{FeatureArgs, VerdictArgs};

use crate::args::input::{InputArgs, WorkArgs};
use crate::output::Format;

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// A document, or an archive (WARC, WET, ARC; gzip, zstd or plain) of documents, with one
    /// output line per document; - is standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Base URL of the document's links [default: http://localhost/]; for an archive, the page to
    /// extract [default: all]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Charset from the Content-Type header
    #[arg(long, value_name = "NAME")]
    pub(crate) charset: Option<String>,
    /// Include the URLs of GET forms with their initial values among the links
    #[arg(long)]
    pub(crate) forms: bool,
    /// Include URLs in scripts among the links
    #[arg(long)]
    pub(crate) script_links: bool,
    /// CSS selector of the main content, also for one host or the pages below a URL:
    /// wiki.example.org=.page, `https://example.org/wiki/=.page` (repeatable; the first match
    /// counts)
    #[arg(long, value_name = "[PLACE=]CSS")]
    pub(crate) main_selector: Vec<String>,
    /// json or text
    #[arg(long, value_name = "FORM", default_value = "json")]
    pub(crate) format: ExtractForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractForm {
    /// All extracted values, as one JSON object
    Json,
    /// Only the main content
    Text,
}

/// Print the fingerprint of each document's text: 16 hexadecimal digits, and the path or id. With
/// --output, write fingerprints to a file for `query` and `similar`, and ids to FILE.names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler fingerprint a.txt b.html                  one line per document
  crawler fingerprint corpus/ -o corpus.fp          write corpus.fp and corpus.fp.names
  crawler fingerprint new.jsonl --bits 64 -o new.fp
  crawler query new.fp corpus.fp                    documents of the corpus near a new document")]
pub(crate) struct FingerprintArgs {
    /// Files and directories, as `dedup` reads them; - is standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    /// Write fingerprints to this file, and the ids of the documents to FILE.names
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No effect; accepted for compatibility with `compare` and `dedup`
    #[arg(long, value_name = "K", hide = true)]
    pub(crate) distance: Option<u32>,
    /// No effect; accepted for compatibility with `compare` and `dedup`
    #[arg(long, value_name = "R", hide = true)]
    pub(crate) resemblance: Option<f64>,
}

/// Find the fingerprints of a repository within a few bits of a batch of queries (Manku, Jain and
/// Das Sarma, WWW 2007, section 4). Prints one {"query", "document", "distance"} per line, in the
/// order of the repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler fingerprint corpus/ -o corpus.fp
  crawler fingerprint new/ -o new.fp
  crawler query new.fp corpus.fp                    documents of the corpus near a new document
  crawler query new.fp corpus.fp --by-query         grouped by new document
  crawler query new.fp corpus.fp --shard 1/3 -o 1   the first third, on the first of three machines
  cat 1 2 3                                         the output of one run
  crawler query corpus.fp                           all pairs within the corpus
  crawler query corpus.fp --save-index corpus.fpi   write an index, and corpus.fpi.names
  crawler query new.fp corpus.fpi                   the same matches, from the index")]
pub(crate) struct QueryArgs {
    /// File with the fingerprints of the queries, loaded into memory
    #[arg(value_name = "QUERIES")]
    pub(crate) queries: PathBuf,
    /// File with the fingerprints to search, of any size, or an index of --save-index; without it,
    /// all pairs within QUERIES are listed: {"a", "b", "distance"}
    #[arg(value_name = "REPOSITORY")]
    pub(crate) repository: Option<PathBuf>,
    /// Bits that two fingerprints may differ in, 0 to 7
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) distance: u32,
    /// Search the I-th of N parts of the repository. The outputs of all parts, concatenated, are
    /// the output of one run
    #[arg(long, value_name = "I/N", requires = "repository")]
    pub(crate) shard: Option<Shard>,
    /// Group matches by query, in the order of QUERIES, nearest first
    #[arg(long, requires = "repository", conflicts_with = "shard")]
    pub(crate) by_query: bool,
    /// Write an index of QUERIES, to be used as REPOSITORY by later queries: about 40 bytes per
    /// fingerprint. A query reads only a few pages of it. The index supports every --distance
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repository", "output"])]
    pub(crate) save_index: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "json")]
    pub(crate) format: Format,
}

/// Compare two files: distance of the fingerprints in bits, resemblance and containment of the
/// shingles, and the verdict with its reason.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub(crate) struct CompareArgs {
    /// Text or HTML file
    pub(crate) a: PathBuf,
    /// Text or HTML file
    pub(crate) b: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) verdict: VerdictArgs,
    /// Also estimate the similarity with these measures, each with exact value and standard error:
    /// all, or some of shingles, minhash, b-bit, min-s, mod-m, super-shingles, simhash
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) measures: Vec<MeasureKind>,
    /// With --measures: number of MinHash minima, b-bit minima and MIN_s hashes, 1 to 4096
    /// [default: 128]
    #[arg(long, value_name = "N", requires = "measures")]
    pub(crate) minima: Option<usize>,
    /// Show the blocks that differ, with their weights, and the words of only one text in their
    /// context, marked [-only a-] and {+only b+}
    #[arg(long)]
    pub(crate) diff: bool,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

const COMPARE_HELP: &str = "\
Examples:
  crawler compare a.txt b.txt                        the verdict and its inputs
  crawler compare a.html b.html --diff               the words that differ
  crawler compare a.txt b.txt --measures all         all sketches of the literature
  crawler compare a.txt b.txt --measures min-s,mod-m --features word:10 --minima 400

Measures, with their sources:
  shingles        exact resemblance and containment (Broder, Glassman, Manasse, Zweig 1997,
                  section 2)
  minhash         share of N minima that agree (Broder, Charikar, Frieze, Mitzenmacher 1998;
                  fast: Dahlgaard, Knudsen, Thorup 2017)
  b-bit           1 to 8 bits of each minimum (Li, König 2010, section 3); the sketch of a crawl
  min-s           the s smallest hashes (Broder 1997, section 3)
  mod-m           hashes divisible by 25 (Broder 1997, section 3); in 40 bits, as in 1997
  super-shingles  groups of 14 minima; two of six must agree (Fetterly, Manasse, Najork 2003)
  simhash         differing bits, and the estimated cosine (Charikar 2002, section 3)";

/// A family of similarity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureKind {
    /// All of them
    All,
    /// Exact resemblance and containment
    Shingles,
    /// Minima of permutations
    Minhash,
    /// Lowest bits of each minimum
    BBit,
    /// The smallest hashes
    MinS,
    /// Hashes divisible by a number
    ModM,
    /// Groups of minima
    SuperShingles,
    /// Differing bits of fingerprints
    Simhash,
}

impl MeasureKind {
    /// Returns the kind.
    pub(crate) const fn kind(self) -> measures::MeasureKind {
        match self {
            Self::All => measures::MeasureKind::All,
            Self::Shingles => measures::MeasureKind::Shingles,
            Self::Minhash => measures::MeasureKind::Minhash,
            Self::BBit => measures::MeasureKind::BBit,
            Self::MinS => measures::MeasureKind::MinS,
            Self::ModM => measures::MeasureKind::ModM,
            Self::SuperShingles => measures::MeasureKind::SuperShingles,
            Self::Simhash => measures::MeasureKind::Simhash,
        }
    }
}

/// Count the documents that contain each word, most frequent first. The first line is the number of
/// documents; each further line is `WORD<TAB>COUNT`. Pass the file to --frequencies to weight words
/// the same way in all crawls and corpora.
#[derive(Debug, Args)]
pub(crate) struct FrequenciesArgs {
    /// Files and directories, as `dedup` reads them
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Features to count: word:1, word:3, char:5, … [default: word:1]
    #[arg(long, value_name = "UNIT:N")]
    pub(crate) features: Option<Features>,
    /// Leave out the stop words of this language
    #[arg(long, value_name = "LANG")]
    pub(crate) stop_words: Option<String>,
    /// Write to this file instead of standard output (-)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Compare designs of permuted tables for a number of pages: number of tables, prefix lengths,
/// memory with and without block coding, and entries read per probe (Manku, Jain and Das Sarma, WWW
/// 2007, section 3).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler plan --pages 8e9                     for eight billion pages, within 3 bits
  crawler plan --pages 1e6 --distance 7        for a million pages, within 7 bits
  crawler plan --pages 2^34 --candidates 100   the fewest tables with at most 100 candidates
  crawler plan --resemblance 0.6               the bands of dedup --resemblance 0.6, and their
                                               recall at each resemblance")]
pub(crate) struct PlanArgs {
    /// The number of pages: 8000000, 8e9 or 2^34
    #[arg(long, value_name = "N", required_unless_present = "resemblance")]
    pub(crate) pages: Option<Count>,
    /// Instead, show the sketch bands for this resemblance
    #[arg(long, value_name = "R", conflicts_with = "pages")]
    pub(crate) resemblance: Option<f64>,
    /// With --resemblance: minimum probability that a pair becomes a candidate [default: 0.99]
    #[arg(long, value_name = "P", requires = "resemblance")]
    pub(crate) recall: Option<f64>,
    /// Bits that two fingerprints may differ in, 0 to 7
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) distance: u32,
    /// Bits of a fingerprint: 64 or 32
    #[arg(long, value_name = "BITS", default_value_t = 64)]
    pub(crate) bits: u32,
    /// Maximum number of candidates per probe, over all tables [default: 4096]
    #[arg(long, value_name = "N")]
    pub(crate) candidates: Option<f64>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct RobotsArgs {
    /// A robots.txt; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The crawler's product token, or its complete user agent
    #[arg(long, value_name = "NAME", default_value = "crawler")]
    pub(crate) agent: String,
    /// Append a tab and the rule that decides, with its line and the user agent of its group
    #[arg(long, conflicts_with = "format")]
    pub(crate) explain: bool,
    /// json: one object per line and URL, with url, allowed, rule, line, agent (of the group),
    /// section (of RFC 9309) and reason
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<RobotsForm>,
    /// URLs to check
    #[arg(value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RobotsForm {
    /// One JSON object a line
    Json,
    /// allowed or disallowed
    Text,
}

#[derive(Debug, Args)]
pub(crate) struct CanonicalizeArgs {
    /// URLs [default: standard input, one URL per line]
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Print the sort key of archive indexes (SURT)
    #[arg(long)]
    pub(crate) surt: bool,
}

/// Index archives for replay tools: sorted CDXJ lines, as `cdxj-indexer --post-append --sort`
/// writes them. Captures that are not pages (responses to HEAD, partial content) are omitted.
/// Duplicates that were not archived have lines of their own, with keys that begin with !duplicate:
/// (docs/formats/cdxj.md).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler index crawl                            rebuild crawl/archive/index.cdxj
  crawler index a.warc.gz b.warc.gz -o all.cdxj  one index of any WARC files
  crawler index a.warc.gz | grep -v '^!'         only the captures

Exit codes: 0 done, 1 fault, or incomplete index because part of the input was unreadable, 2 usage
error.")]
pub(crate) struct IndexArgs {
    /// Directory of a crawl, or WARC and ARC files
    #[arg(value_name = "DIR|FILE", default_value = "crawl")]
    pub(crate) archives: Vec<PathBuf>,
    /// Write to this file instead of standard output (-), or instead of the crawl's index: to
    /// FILE.part, which is renamed to FILE when complete
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Directory for temporary files, if standard output needs more than memory [default: the
    /// system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
}
