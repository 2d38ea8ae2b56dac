//! The command line.

mod files;
mod look;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use crawl::OnDuplicate;
use neardup::Features;
use serde::Serialize;
use store::DuplicateScope;
use web::ScopeKind;

pub(crate) use files::{
    CanonicalizeArgs, CompareArgs, DedupArgs, ExtractArgs, ExtractForm, FingerprintArgs, FrequenciesArgs,
    LikenessArgs, PlanArgs, RobotsArgs,
};
pub(crate) use look::{DuplicatesArgs, ExportArgs, ExportForm, LookArgs, SimilarArgs, WhyArgs};

use crate::values::{Key, Rate, Size, Span, Switch, maybe_word};

/// A polite web crawler that archives what it reaches, and never the same page twice.
///
/// `crawler --seeds seeds.txt` crawls the sites of the seeds into the directory crawl/: a WARC archive, and the memory
/// of the crawl. Interrupt it when you like; the same command goes on where it was.
#[derive(Debug, Parser)]
#[command(name = "crawler", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,
}

const EXAMPLES: &str = "\
Examples:
  crawler --seeds seeds.txt                         crawl the seeds' hosts into crawl/
  crawler https://example.org/docs/ --scope prefix  one part of a site
  crawler --seeds seeds.txt --max-pages 1000 --out monday --contact me@example.org
  crawler --out monday                              go on with that crawl
  crawler status monday                             how it stands
  crawler --seeds seeds.txt --out tuesday --against monday   only what has changed since
  crawler why monday https://example.org/a          which rule decided on a URL
  crawler duplicates monday --clusters              which pages say the same
  crawler similar monday draft.html                 pages like this file
  crawler export monday --format csv                a row for each visited URL

Exit codes: 0 finished or a limit reached, 1 a fault, 2 wrong usage, 130 interrupted.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Crawl from seeds, or go on with a crawl (the same as no command)
    Crawl(Box<CrawlArgs>),
    /// A row for each visited URL
    Export(ExportArgs),
    /// Which rule decided on a URL, and the original of a duplicate
    Why(WhyArgs),
    /// Which pages repeat an earlier one, of what, and how nearly; works while it runs
    Duplicates(DuplicatesArgs),
    /// Kept pages that are like a page of the crawl, or like a file
    Similar(SimilarArgs),
    /// How a crawl stands; works while it runs
    Status(LookArgs),
    /// Check that archive, journal and tables agree
    Verify(LookArgs),
    /// What the crawler reads in a document: title, text, links, …
    Extract(ExtractArgs),
    /// The fingerprint of each file's text
    Fingerprint(FingerprintArgs),
    /// How alike two files are
    Compare(CompareArgs),
    /// Which of many files, or of the documents in them, say the same
    Dedup(DedupArgs),
    /// In how many documents each word is: what --weights tf-idf needs
    Frequencies(FrequenciesArgs),
    /// Which permuted tables suit so many pages: memory, and candidates a probe
    Plan(PlanArgs),
    /// What a robots.txt says about URLs; code 3 unless all are allowed
    Robots(RobotsArgs),
    /// URLs in the form in which the crawler compares them
    Canonicalize(CanonicalizeArgs),
}

#[derive(Clone, Debug, Default, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CrawlArgs {
    /// More seeds
    #[arg(value_name = "URL")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) url: Vec<String>,

    /// File of seeds, one URL a line; blank lines and # comments are ignored, - is standard input
    #[arg(short = 'i', long, value_name = "FILE")]
    pub(crate) seeds: Option<PathBuf>,
    /// Directory of the crawl; one that holds a crawl is continued [default: crawl]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Refuse to continue: the directory must not exist
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) fresh: Option<bool>,
    /// Settings from this file; flags win over it
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// What a seed lets in: host, domain (with all its subdomains), prefix (the seed's folder) or any [default: host]
    #[arg(long, value_name = "SCOPE", help_heading = "Scope")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<ScopeKind>,
    /// Only URLs that match one of these (repeatable); seeds always pass
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) include: Vec<String>,
    /// No URLs that match one of these (repeatable); wins over all else
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) exclude: Vec<String>,
    /// Query parameters that say nothing about a page, * at the end for any (repeatable) [default: utm_* and others, see config/default.toml]
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) drop_parameters: Vec<String>,

    /// Stop after so many pages
    #[arg(short = 'n', long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_pages: Option<u64>,
    /// Links away from a seed, at most; 0 is the seeds alone
    #[arg(short = 'l', long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_depth: Option<u32>,
    /// Stop after that long, for example 2h
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) max_time: Option<Span>,
    /// Stop when so much was received, for example 10GiB
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) max_size: Option<Size>,
    /// Pages of one host, at most; the others stay queued
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_pages_per_host: Option<u64>,

    /// Least pause between two requests to a host [default: 1s]
    #[arg(short = 'w', long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<Span>,
    /// The pause in multiples of the host's last response time, if that is longer [default: 5]
    #[arg(long, value_name = "X", help_heading = "Politeness")]
    pub(crate) delay_factor: Option<f64>,
    /// Longest pause that slowness or Crawl-delay leads to [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) max_delay: Option<Span>,
    /// Pages under way at a time, over all hosts [default: 64]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub(crate) concurrency: Option<usize>,
    /// Pages under way at a time to one host [default: 1; 4 where both delays are 0]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub(crate) concurrency_per_host: Option<usize>,
    /// Requests in all, at most, for example 20/s
    #[arg(long, value_name = "N/s", help_heading = "Politeness")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<Rate>,
    /// Whom a site may write to about this crawl: a URL or an e-mail address, told in the user agent
    #[arg(long, value_name = "WHO", help_heading = "Politeness")]
    pub(crate) contact: Option<String>,
    /// The whole user agent; robots.txt knows us by its first word [default: crawler/VERSION (… contact …)]
    #[arg(short = 'U', long, value_name = "TEXT", help_heading = "Politeness")]
    pub(crate) user_agent: Option<String>,
    /// Ask for what robots.txt forbids, and follow nofollow: only on sites that agreed to it
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Politeness")]
    pub(crate) ignore_robots: Option<bool>,

    /// What becomes of a page that repeats an earlier one: drop, keep (archive and mark it), follow (its links too) [default: drop]
    #[arg(long, value_name = "WHAT", help_heading = "Duplicates")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) on_duplicate: Option<OnDuplicate>,
    /// Bits that two fingerprints may differ in to be compared at all, 0 to 7 [default: 3]
    #[arg(long, value_name = "K", help_heading = "Duplicates")]
    pub(crate) distance: Option<u32>,
    /// How alike two texts must be, 0 to 1, to be the same page [default: by length: 0.86 under 200 words, 0.80 under 800, 0.70 from there on]
    #[arg(long, value_name = "R", help_heading = "Duplicates")]
    pub(crate) resemblance: Option<f64>,
    /// What fingerprints are made of: word:1, word:3, char:5, word:1+tf-idf, … [default: word:1+log-tf]
    #[arg(long, value_name = "UNIT:N", help_heading = "Duplicates")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) features: Option<Features>,
    /// Leave the stop words of this language, en, de, …, out of fingerprints
    #[arg(long, value_name = "LANG", help_heading = "Duplicates")]
    pub(crate) stop_words: Option<String>,
    /// With features weighted by tf-idf: how many documents have a word, as `crawler frequencies` counts [default: learned while crawling]
    #[arg(long, value_name = "FILE", help_heading = "Duplicates")]
    pub(crate) frequencies: Option<PathBuf>,
    /// Judge a page by its main content, without navigation [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub(crate) main_content: Option<Switch>,
    /// Compare a page only with pages of the same crawl, domain (registrable, with its subdomains) or host [default: crawl]
    #[arg(long, value_name = "SCOPE", help_heading = "Duplicates")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) duplicate_scope: Option<DuplicateScope>,
    /// Keep so many pages of one kind: the first, and N - 1 that repeat it in other bytes [default: 1]
    #[arg(long, value_name = "N", help_heading = "Duplicates")]
    pub(crate) per_cluster: Option<u32>,
    /// Pages that this earlier crawl kept count as seen: what is unchanged is not archived again, but leads on (repeatable)
    #[arg(long, value_name = "DIR", help_heading = "Duplicates")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) against: Vec<PathBuf>,

    /// Bytes of a body; the rest is cut off and the record says so [default: 50MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Fetching")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) max_body: Option<Size>,
    /// For one request, from the name's look-up to the last byte [default: 60s]
    #[arg(short = 'T', long, value_name = "TIME", help_heading = "Fetching")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Span>,
    /// Visits of a page whose failure may pass, at most [default: 3]
    #[arg(short = 't', long, value_name = "N", help_heading = "Fetching")]
    pub(crate) tries: Option<u32>,
    /// Redirects in a row [default: 10]
    #[arg(long, value_name = "N", help_heading = "Fetching")]
    pub(crate) max_redirects: Option<usize>,
    /// Connect there for this host and port, as in curl (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) resolve: Vec<String>,
    /// Ask private, loopback and link-local addresses too
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL", help_heading = "Fetching")]
    pub(crate) allow_private: Option<bool>,
    /// Trust the certificates in this PEM file too (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ca_certificate: Vec<PathBuf>,

    /// Hash under this key, 16 hexadecimal digits: crawls with one key can be compared [default: drawn at random; a crawl keeps its key]
    #[arg(long, value_name = "HEX", help_heading = "Advanced")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) hash_key: Option<Key>,

    /// Begin the next archive file when one has grown to this [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub(crate) warc_max_size: Option<Size>,
    /// The final summary on standard output: text or json [default: text]
    #[arg(long, value_name = "FORM", help_heading = "Output")]
    #[serde(skip)]
    pub(crate) summary: Option<SummaryForm>,
    /// No progress and no warnings
    #[arg(short, long, help_heading = "Output")]
    #[serde(skip)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryForm {
    Text,
    Json,
}
