//! The arguments of commands that inspect a crawl.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use inspect::changes;
use journal::ReasonKind;
use settings::values::{Key, Switch};
use setup::comparison_options::FeatureArgs;
use setup::shared::StoreUrl;

use crate::args::input::InputArgs;
use crate::args::store::StoreArg;
use crate::output::{Format, ListArgs};

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR", default_value = "crawl")]
    pub(crate) directory: PathBuf,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

/// Remove leftover files of interrupted crawls and commands, and the previous state that a rebuild
/// kept. A crawl does not need them to continue; `crawler status` also lists them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler clean crawl --dry-run   list leftover files with size and origin
  crawler clean crawl
  crawler clean crawl --cut       also tails cut off archive and journal (NAME.cut-N)")]
pub(crate) struct CleanArgs {
    /// Directory of the crawl, which must not be in use
    #[arg(value_name = "DIR", default_value = "crawl")]
    pub(crate) directory: PathBuf,
    /// List the files without removing them
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Also remove tails that were cut off archive and journal; they may still contain pages
    #[arg(long)]
    pub(crate) cut: bool,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Directory of the crawl, or any WACZ file [default: crawl]; with --store, the directory of a
    /// node
    #[arg(value_name = "DIR|FILE.wacz")]
    pub(crate) directory: Option<PathBuf>,
    /// PostgreSQL database of a shared crawl: check the crawl of all nodes, or with DIR, check that
    /// the archive of that node and the store contain the same visits [default: the variable
    /// CRAWLER_STORE]
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<StoreUrl>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

/// Pack crawls and WARC files into one WACZ 1.1.1 file (archive, index, list of pages) for
/// ReplayWeb.page, pywb and other tools.
#[derive(Debug, Args)]
#[command(after_help = WACZ_EXAMPLES)]
pub(crate) struct WaczArgs {
    /// Directories of crawls, which must not be running, and WARC files of any crawler
    #[arg(value_name = "DIR|FILE", default_value = "crawl")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write to this file: to FILE.part, which is renamed to FILE when complete; - is standard
    /// output
    #[arg(short, long, value_name = "FILE.wacz")]
    pub(crate) output: PathBuf,
    /// Title of the collection
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// Description of the collection
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Add the text of each page to the list of pages, for search in the replay
    #[arg(long)]
    pub(crate) text: bool,
    /// Sign the package with this private key (P-384 in PEM form), as ReplayWeb.page verifies it;
    /// only its owner may have access to the file
    #[arg(long, value_name = "KEY")]
    pub(crate) sign: Option<PathBuf>,
}

const WACZ_EXAMPLES: &str = "\
Examples:
  crawler wacz monday --output monday.wacz --title 'The harbour, on Monday'
  crawler wacz monday --output - --text | ssh archive 'cat > monday.wacz'
  crawler wacz monday tuesday --output week.wacz    a crawl with --since, and the one before it
  crawler wacz wget.warc.gz --output wget.wacz
  crawler verify monday.wacz

If a crawl with --since found a page unchanged, its content is in the archive of the earlier \
crawl: pack both crawls. A warning counts the pages whose content is not in any of the inputs.

docs/formats/wacz.md describes the contents, and how to open the file.

Exit codes: 0 done, 1 fault, or parts of the inputs were unreadable, 2 usage error.";

/// Unpack crawls and WARC files into a directory with converted links, for browsing without a
/// server, with the layout of `wget -k -E -p`: DIR/host/path/index.html.
#[derive(Debug, Args)]
#[command(after_help = UNPACK_HELP)]
pub(crate) struct UnpackArgs {
    /// Directories of crawls, which must not be running, and WARC or ARC files of any crawler
    #[arg(value_name = "DIR|FILE", default_value = "crawl")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write to this new directory: to DIR.part, which is renamed to DIR when complete
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Replace DIR if it exists; the existing directory is kept as DIR.old-TIME
    #[arg(long)]
    pub(crate) force: bool,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

const UNPACK_HELP: &str = "\
A link points to the file of its target if the target is archived, directly or through redirects. \
A link to a near-duplicate that was not archived points to the file of the original. All other \
links point to the web. The newest capture of a URL counts.

Examples:
  crawler unpack monday -o site          then open site/HOST/index.html
  crawler unpack monday tuesday -o site  a crawl with --since, and the one before it
  crawler unpack wget.warc.gz -o site

docs/guide/unpack.md describes how files are named and changed.

Exit codes: 0 done, 1 fault, or parts of the inputs were unreadable, 2 usage error.";

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// List hosts, most pages first: the requested delay, the delay in effect, its reason, and the
    /// earliest time of the next request
    #[arg(long)]
    pub(crate) hosts: bool,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Archives of other crawlers (wget, Heritrix, Browsertrix, Common Crawl): put their WARC files into \
DIR/archive. With --from-archive, their pages count as visited and are compared in file order, as \
if they had been crawled. The files are never changed; a continued crawl adds files of its own.

Examples:
  crawler rebuild crawl                                   the tables, or the damaged parts
  crawler rebuild crawl --from-archive                    everything from crawl/archive
  crawler rebuild wget --from-archive --seeds seeds.txt   a crawl from wget/archive/*.warc.gz")]
pub(crate) struct RebuildArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR", default_value = "crawl")]
    pub(crate) directory: PathBuf,
    /// Ignore the journal and rebuild it from the archive, as if it were damaged or lost
    #[arg(long)]
    pub(crate) from_archive: bool,
    /// With --from-archive: the seeds, which define the scope of the crawl [default: as in
    /// DIR/crawler.toml; without that file, the first page of each host in the archive]
    #[arg(long, value_name = "FILE", requires = "from_archive")]
    pub(crate) seeds: Option<PathBuf>,
    /// The crawl's hash key, 16 hexadecimal digits, if the journal with the key is lost [default: a
    /// new key]
    #[arg(long, value_name = "HEX")]
    pub(crate) hash_key: Option<Key>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(override_usage = "crawler why [OPTIONS] [DIR] <URL>\n       \
    crawler why [OPTIONS] --store <URL> <URL>")]
pub(crate) struct WhyArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// The URL in question
    pub(crate) url: Option<String>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct DuplicatesArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// List clusters of duplicates, the original first
    #[arg(long)]
    pub(crate) clusters: bool,
    /// Declare that this page, not archived as a duplicate, is distinct: it is requeued, and never
    /// again compared with its original (repeatable). While the crawl runs, write `distinct =
    /// ["URL"]` into DIR/control.toml instead
    #[arg(long, value_name = "URL", conflicts_with = "clusters")]
    pub(crate) distinct: Vec<String>,
    /// Compare this page with its original: blocks and words that differ, and the values behind the
    /// verdict
    #[arg(long, value_name = "URL", conflicts_with = "clusters")]
    pub(crate) diff: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
#[command(after_help = CHANGES_HELP)]
pub(crate) struct ChangesArgs {
    /// Directory of the earlier crawl
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    /// Directory of the later crawl, preferably run with --since OLD or --against OLD
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,
    /// With --html: directories of further crawls, in any order
    #[arg(value_name = "NEWER")]
    pub(crate) newer: Vec<PathBuf>,
    /// Compare up to 50 crawls over time instead: write a page with the changes from each crawl to
    /// the next to this file, atomically; - is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["diff", "only", "format", "output"])]
    pub(crate) html: Option<PathBuf>,
    /// Show the changed words of the main text of each page in context, marked [-removed-] and
    /// {+added+}
    #[arg(long)]
    pub(crate) diff: bool,
    /// Only changes of these kinds, separated by commas: new, changed, moved, gone, unchanged,
    /// unknown [default: all; a table omits unchanged pages]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) only: Vec<ChangeKind>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SkippedArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR", default_value = "crawl")]
    pub(crate) directory: PathBuf,
    /// Only URLs of this kind: duplicate-links, pattern, scope, limit, robots, trap, page or other
    #[arg(long, value_name = "KIND")]
    pub(crate) why: Option<ReasonKind>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

const CHANGES_HELP: &str = "\
A page is
  new        if OLD does not contain its URL
  changed    if the bytes differ; with the resemblance of the two texts,
             0 to 1, and the words that were added and removed
  moved      if it is new, with the bytes or the text of a page that is gone
  gone       if only OLD contains it (the reason says why)
  unchanged  if the decoded bytes are equal, or the server responded 304
  unknown    if NEW has not visited it yet, or reached it by another URL's redirect

Texts are read from the archives, one page at a time. Earlier crawls that a crawl was run against
must still exist.

Examples:
  crawler --seeds seeds.txt --out tuesday --since monday
  crawler changes monday tuesday                         one line per changed page
  crawler changes monday tuesday --only changed --diff   with the changed words
  crawler changes weekly/* --html week.html              a page over time, of all crawls
  crawler changes monday tuesday --format json | jq -r 'select(.change==\"gone\").url'";

/// The change of a page between two crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum ChangeKind {
    New,
    Changed,
    Moved,
    Gone,
    Unchanged,
    Unknown,
}

impl From<changes::ChangeKind> for ChangeKind {
    fn from(kind: changes::ChangeKind) -> Self {
        match kind {
            changes::ChangeKind::New => Self::New,
            changes::ChangeKind::Changed => Self::Changed,
            changes::ChangeKind::Moved => Self::Moved,
            changes::ChangeKind::Gone => Self::Gone,
            changes::ChangeKind::Unchanged => Self::Unchanged,
            changes::ChangeKind::Unknown => Self::Unknown,
        }
    }
}

impl ChangeKind {
    /// Returns the word in the output.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Gone => "gone",
            Self::Unchanged => "unchanged",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct FramesArgs {
    /// Directory of the crawl
    #[arg(value_name = "DIR", default_value = "crawl")]
    pub(crate) directory: PathBuf,
    /// Show the boilerplate blocks of this host, each with the number of archived pages that
    /// contain it
    #[arg(value_name = "HOST")]
    pub(crate) host: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PatternsArgs {
    /// Directory of the crawl, which may be running [default: crawl]
    #[arg(value_name = "DIR", conflicts_with = "store")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// Reopen this pattern, and queue its excluded URLs; the crawl must not be running
    #[arg(long, value_name = "PATTERN")]
    pub(crate) reopen: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "crawler search [OPTIONS] [DIR] <QUERY>")]
pub(crate) struct SearchArgs {
    /// Directory of the crawl [default: crawl]
    #[arg(value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// Words, all of which must occur; "a phrase", -without, this OR that, (…), title:, text:,
    /// url:, host: (with subdomains), lang:, and after: or before: a date
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// Maximum number of hits, best first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Skip this number of hits
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Also list the pages that repeat each hit; this reads the journal
    #[arg(long)]
    pub(crate) duplicates: bool,
    /// Show the words in their context, read from the archive
    #[arg(long, value_name = "ON|OFF", default_value = "on")]
    pub(crate) snippets: Switch,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

/// List pages of a crawl that are similar to one of its pages or to a file; or documents of a
/// collection, or fingerprints in a file, that are similar to a document. Nearest first.
#[derive(Debug, Args)]
#[command(
    override_usage = "crawler similar [OPTIONS] [DIR|PATH] <URL|FILE>\n       \
    crawler similar [OPTIONS] --store <URL> <URL|FILE>"
)]
#[command(after_help = "\
Examples:
  crawler similar crawl https://example.org/a      pages of the crawl like this page
  crawler similar crawl draft.html --all           all with a resemblance of at least 0.7
  crawler similar corpus.jsonl draft.txt --top 3   the three nearest documents of a collection
  crawler similar corpus/ draft.txt --features char:5 --resemblance 0.3
  crawler similar corpus/ draft.txt --containment 0.8   with 80 % of the draft's shingles
  crawler similar corpus.fp draft.txt --distance 7 fingerprints within 7 bits")]
pub(crate) struct SimilarArgs {
    /// Directory of the crawl [default: crawl]; or documents, as `dedup` reads them; or a file that
    /// `fingerprint --output` wrote
    #[arg(value_name = "DIR|PATH")]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StoreArg,
    /// A page of the crawl, or a text or HTML file (- is standard input)
    #[arg(value_name = "URL|FILE")]
    pub(crate) what: Option<String>,
    /// Only hits whose fingerprint differs in at most this number of bits [default: any]
    #[arg(long, value_name = "K")]
    pub(crate) distance: Option<u32>,
    /// Minimum resemblance, 0 to 1 [default: the crawl's own setting, else 0.7]
    #[arg(long, value_name = "R")]
    pub(crate) resemblance: Option<f64>,
    /// Only documents B that contain at least this share of the shingles of the given text A, 0 to
    /// 1: |S(A) ∩ S(B)| / |S(A)| (Broder 1997). Exact, for documents of any length; for a crawl,
    /// reads the pages in its archive
    #[arg(long, value_name = "C")]
    pub(crate) containment: Option<f64>,
    /// Maximum number of hits, nearest first
    #[arg(long, visible_alias = "top", value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// List all hits
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) list: ListArgs,
}

impl SimilarArgs {
    /// Returns the maximum number of hits.
    pub(crate) fn most(&self) -> usize {
        if self.all { usize::MAX } else { self.limit }
    }
}
