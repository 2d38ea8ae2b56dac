//! The arguments of commands that work without a crawl.

use std::path::PathBuf;

use batch::Shard;
use clap::{Args, ValueEnum};
use neardup::Features;

use crate::args::input::{InputArgs, WorkArgs};
use crate::likeness::{FeatureArgs, VerdictArgs};
use crate::output::Format;
use crate::values::Count;

#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// The document, or an archive (WARC, WET, ARC; gzip, zstd or plain) of many, each of which
    /// becomes a line; - is standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The base URL of its links [default: http://localhost/]; of an archive, the page to extract
    /// [default: all]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The charset named by its server
    #[arg(long, value_name = "NAME")]
    pub(crate) charset: Option<String>,
    /// Include what forms by GET ask for, with their initial values, among the links
    #[arg(long)]
    pub(crate) forms: bool,
    /// Include URLs in scripts among the links
    #[arg(long)]
    pub(crate) script_links: bool,
    /// The elements that hold the main content, by a CSS selector, or for one host:
    /// wiki.example.org=.page (repeatable; the first that matches counts)
    #[arg(long, value_name = "CSS|HOST=CSS")]
    pub(crate) main_selector: Vec<String>,
    /// json or text
    #[arg(long, value_name = "FORM", default_value = "json")]
    pub(crate) format: ExtractForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtractForm {
    /// Everything that was read, as one JSON object
    Json,
    /// The main content alone
    Text,
}

/// Print the fingerprint of each document's text: 16 hexadecimal digits, and the path or id. With
/// --output, write them to a file that `query` and `similar` search, and the ids to FILE.names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler fingerprint a.txt b.html                  a line each
  crawler fingerprint corpus/ -o corpus.fp          a file of fingerprints, and corpus.fp.names
  crawler fingerprint new.jsonl --bits 64 -o new.fp
  crawler query new.fp corpus.fp                    what of the corpus is near a new document")]
pub(crate) struct FingerprintArgs {
    /// Files and directories, as `dedup` reads them; - is standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    /// Write a file of fingerprints, and the ids of the documents to FILE.names
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Without effect: accepted as `compare` and `dedup` do
    #[arg(long, value_name = "K", hide = true)]
    pub(crate) distance: Option<u32>,
    /// Without effect: accepted as `compare` and `dedup` do
    #[arg(long, value_name = "R", hide = true)]
    pub(crate) resemblance: Option<f64>,
}

/// Find the fingerprints of a repository that are within a few bits of one of many queries (Manku,
/// Jain and Das Sarma, WWW 2007, section 4): {"query", "document", "distance"} a line, in the order
/// of the repository.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler fingerprint corpus/ -o corpus.fp
  crawler fingerprint new/ -o new.fp
  crawler query new.fp corpus.fp                    documents of the corpus near a new one
  crawler query new.fp corpus.fp --by-query         one new document after the other
  crawler query new.fp corpus.fp --shard 1/3 -o 1   the first third, on the first of three machines
  cat 1 2 3                                         the output of one run, byte for byte
  crawler query corpus.fp                           all pairs of the corpus, in its order
  crawler query corpus.fp --save-index corpus.fpi   an index, and corpus.fpi.names
  crawler query new.fp corpus.fpi                   the same matches, without reading all of it")]
pub(crate) struct QueryArgs {
    /// File of fingerprints of the queries; it is held in memory
    #[arg(value_name = "QUERIES")]
    pub(crate) queries: PathBuf,
    /// File of fingerprints that are searched, of any size, or an index of --save-index; without
    /// it, all pairs within QUERIES are listed: {"a", "b", "distance"}
    #[arg(value_name = "REPOSITORY")]
    pub(crate) repository: Option<PathBuf>,
    /// Bits that two fingerprints may differ in, 0 to 7
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) distance: u32,
    /// Search the I-th of N parts of the repository. The outputs of all parts in their order are
    /// the output of one run
    #[arg(long, value_name = "I/N", requires = "repository")]
    pub(crate) shard: Option<Shard>,
    /// Group the matches by query: in the order of QUERIES, the nearest of each query first
    #[arg(long, requires = "repository", conflicts_with = "shard")]
    pub(crate) by_query: bool,
    /// Write an index of QUERIES that later queries name as their REPOSITORY: about 40 bytes a
    /// fingerprint, of which a query reads a few pages. It serves every --distance
    #[arg(long, value_name = "FILE", conflicts_with_all = ["repository", "output"])]
    pub(crate) save_index: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

/// Compare two files: bits between their fingerprints, resemblance and containment of their
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
    /// Estimate the likeness by these measures as well, each with the exact value and its standard
    /// error: all, or some of shingles, minhash, b-bit, min-s, mod-m, super-shingles, simhash
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub(crate) measures: Vec<MeasureKind>,
    /// With --measures: the number of minima of MinHash and of its b bits, and of hashes of MIN_s,
    /// 1 to 4096 [default: 128]
    #[arg(long, value_name = "N", requires = "measures")]
    pub(crate) minima: Option<usize>,
    /// Show the blocks that differ, each with its weight, and the words that only one of the texts
    /// has, with the words around them, marked [-only a-] and {+only b+}
    #[arg(long)]
    pub(crate) diff: bool,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

const COMPARE_HELP: &str = "\
Examples:
  crawler compare a.txt b.txt                        the verdict, and what it is made from
  crawler compare a.html b.html --diff               the words in which they differ
  crawler compare a.txt b.txt --measures all         every sketch of the literature beside it
  crawler compare a.txt b.txt --measures min-s,mod-m --features word:10 --minima 400

Measures, with their sources:
  shingles        exact resemblance and containment (Broder, Glassman, Manasse, Zweig 1997,
                  section 2)
  minhash         the part of N minima that agree (Broder, Charikar, Frieze, Mitzenmacher 1998;
                  fast: Dahlgaard, Knudsen, Thorup 2017)
  b-bit           1 to 8 bits of each minimum (Li, König 2010, section 3); the sketch of a crawl
  min-s           the s least hashes (Broder 1997, section 3)
  mod-m           the hashes that 25 divides (Broder 1997, section 3); in 40 bits, as in 1997
  super-shingles  groups of 14 minima, two of six must agree (Fetterly, Manasse, Najork 2003)
  simhash         differing bits, and the cosine that they estimate (Charikar 2002, section 3)";

/// A family of measures of likeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasureKind {
    /// All of them
    All,
    /// Exact resemblance and containment
    Shingles,
    /// Minima under permutations
    Minhash,
    /// Some bits of each minimum
    BBit,
    /// The least hashes
    MinS,
    /// The hashes that a number divides
    ModM,
    /// Groups of minima
    SuperShingles,
    /// Differing bits of fingerprints
    Simhash,
}

/// Count the documents that have each word, most frequent first: `WORD<TAB>COUNT` a line below the
/// number of documents. Give the file to --frequencies, so that crawls and corpora weigh words
/// alike.
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

/// Compare designs of permuted tables for a number of pages: the number of tables, the length of
/// their prefixes, their memory, also in coded blocks, and the entries that a probe reads (Manku,
/// Jain and Das Sarma, WWW 2007, section 3).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler plan --pages 8e9                     designs for eight billion pages, within 3 bits
  crawler plan --pages 1e6 --distance 7        for a million pages, within 7 bits
  crawler plan --pages 2^34 --candidates 100   the fewest tables with at most 100 candidates
  crawler plan --resemblance 0.6               the bands of dedup --resemblance 0.6, and what they
                                               find at each resemblance")]
pub(crate) struct PlanArgs {
    /// The number of pages: 8000000, 8e9 or 2^34
    #[arg(long, value_name = "N", required_unless_present = "resemblance")]
    pub(crate) pages: Option<Count>,
    /// Show the bands of sketches for this resemblance instead
    #[arg(long, value_name = "R", conflicts_with = "pages")]
    pub(crate) resemblance: Option<f64>,
    /// With --resemblance: the probability with which a pair must become a candidate [default:
    /// 0.99]
    #[arg(long, value_name = "P", requires = "resemblance")]
    pub(crate) recall: Option<f64>,
    /// Bits that two fingerprints may differ in, 0 to 7
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) distance: u32,
    /// Bits of a fingerprint: 64 or 32
    #[arg(long, value_name = "BITS", default_value_t = 64)]
    pub(crate) bits: u32,
    /// Maximum number of candidates of a probe, over all tables [default: 4096]
    #[arg(long, value_name = "N")]
    pub(crate) candidates: Option<f64>,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Args)]
pub(crate) struct RobotsArgs {
    /// A robots.txt; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The crawler's product token, or its complete user agent
    #[arg(long, value_name = "NAME", default_value = "crawler")]
    pub(crate) agent: String,
    /// Print the rule that decides after a tab, with its line and the user agent of its group
    #[arg(long, conflicts_with = "format")]
    pub(crate) explain: bool,
    /// json: a line a URL with url, allowed, rule, line, agent (of the group), section (of RFC
    /// 9309) and reason
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
    /// URLs; from standard input, one a line, if none is given
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Print the sort key of archive indexes (SURT)
    #[arg(long)]
    pub(crate) surt: bool,
}

/// Index archives for replay tools: sorted CDXJ lines, the same as `cdxj-indexer --sort` makes,
/// without captures that stand for no page (answers to HEAD or POST, pieces), and with lines for
/// pages that were left out as duplicates, whose keys begin with !duplicate:
/// (docs/formats/cdxj.md).
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler index crawl                            make crawl/archive/index.cdxj again
  crawler index a.warc.gz b.warc.gz -o all.cdxj  the index of any WARC files, in one
  crawler index a.warc.gz | grep -v '^!'         the captures alone

Exit codes: 0 done, 1 a fault, or an unreadable part is missing in the index, 2 wrong usage.")]
pub(crate) struct IndexArgs {
    /// Directory of a crawl, or WARC and ARC files
    #[arg(value_name = "DIR|FILE", required = true)]
    pub(crate) archives: Vec<PathBuf>,
    /// Write to this file instead of standard output (-), or of the index of the crawl: to
    /// FILE.part, which becomes FILE once it is whole
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Directory for temporary files, if standard output needs more than memory [default: the
    /// system's]
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_dir: Option<PathBuf>,
}
