//! The command line.

mod crawl;
mod dedup;
mod export;
mod files;
pub(crate) mod input;
mod inspect;
mod node;
mod report;
mod retry;
pub(crate) mod serve;
mod shell;
pub(crate) mod store;
mod topic;

use clap::{CommandFactory, Parser, Subcommand};
pub(crate) use crawl::{ConfigArgs, CrawlArgs, RunArgs, SummaryForm};
pub(crate) use dedup::{DedupArgs, FindingForm};
pub(crate) use export::{ExportArgs, OutputForm};
pub(crate) use files::{
    CanonicalizeArgs, CompareArgs, ExtractArgs, ExtractForm, FingerprintArgs, FrequenciesArgs,
    IndexArgs, PlanArgs, QueryArgs, RobotsArgs, RobotsForm,
};
pub(crate) use inspect::{
    ChangeKind, ChangesArgs, CleanArgs, DuplicatesArgs, FramesArgs, InspectArgs, PatternsArgs,
    RebuildArgs, SearchArgs, SimilarArgs, SkippedArgs, StatusArgs, UnpackArgs, VerifyArgs,
    WaczArgs, WhyArgs,
};
pub(crate) use node::NodeArgs;
pub(crate) use report::{ReportArgs, ReportForm};
pub(crate) use retry::RetryArgs;
pub(crate) use serve::{McpArgs, ServeArgs};
use settings::suggestions;
use setup::signing::KeysCommand;
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use store::{ControlArgs, ImportArgs, NodesArgs};
pub(crate) use topic::TopicArgs;

/// A polite web crawler that writes a WARC archive and omits duplicate pages.
///
/// `crawler --seeds seeds.txt` crawls the sites of the seeds. The directory crawl/ then contains a
/// WARC archive and the state of the crawl. Interrupt the crawl at any time; the same command
/// continues it.
#[derive(Parser)]
#[command(
    name = "crawler",
    version,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    after_help = EXAMPLES
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,
}

impl Arguments {
    /// Returns the remedy for a word that is not a command.
    pub(crate) fn suggest_command(word: &str) -> Option<String> {
        suggestions::for_command(word, &Self::command())
    }
}

const EXAMPLES: &str = "\
Examples:
  crawler --seeds seeds.txt                         crawl the seeds' hosts into crawl/
  crawler https://example.org/docs/ --scope prefix  one part of a site
  crawler --seeds seeds.txt --max-pages 1000 --out monday --contact me@example.org
  crawler --out monday                              continue that crawl
  crawler status monday                             counts, and what is in progress
  crawler --seeds seeds.txt --out tuesday --since monday   fetch only what has changed
  crawler changes monday tuesday --diff             what is new, changed, moved and gone
  crawler report monday                             an HTML report of the crawl
  crawler serve monday                              the same in a browser, live
  crawler mcp monday                                the same for agents
  crawler why monday https://example.org/a          why a URL was or was not archived
  crawler duplicates monday --clusters              clusters of duplicates
  crawler similar monday draft.html                 pages like this file
  crawler search monday 'quiet harbour -port'       pages with these words
  crawler export monday --format csv                one row per visited URL

Exit codes: 0 finished or limit reached, 1 fault, 2 usage error, 3 no seed could be fetched,
130 interrupted.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Crawl from seeds, or continue a crawl (the same as no command)
    Crawl(Box<CrawlArgs>),
    /// List visited URLs, one row per URL
    Export(ExportArgs),
    /// Explain the decision on a URL, and show the original of a duplicate
    Why(WhyArgs),
    /// List pages that repeat an earlier one, with the original and the resemblance; works while
    /// the crawl runs
    Duplicates(DuplicatesArgs),
    /// Compare two crawls: pages that are new, changed, gone, moved or unchanged, and the words
    /// that changed
    Changes(ChangesArgs),
    /// List URLs that were found but not visited, with reasons; works while the crawl runs
    Skipped(SkippedArgs),
    /// List pages of a crawl, or documents of a collection, that are similar to a page or a file
    Similar(SimilarArgs),
    /// Search pages: words, "phrases", -without, OR, title: host: lang: after: before:; works while
    /// the crawl runs
    Search(SearchArgs),
    /// List hosts with learned boilerplate: blocks, such as menus, that page comparison ignores
    Frames(FramesArgs),
    /// List URL patterns: productive patterns, closed patterns, and links classified as traps;
    /// works while the crawl runs
    Patterns(PatternsArgs),
    /// Requeue failed pages of a crawl: temporary failures, or pages selected by status, host and
    /// reason
    ///
    /// Without --status and --reason, the command selects failures that may be temporary: no
    /// response, 408, 421, 425, 429 or 5xx, but not 404. The next run requests these pages before
    /// all other pages of their hosts. Pages of a host that was down when the crawl ended have not
    /// failed: they are still queued, and the same crawl command requests them.
    Retry(RetryArgs),
    /// Show the state of a crawl, optionally per host; works while the crawl runs
    Status(StatusArgs),
    /// Write a report of a crawl as one HTML file, also for printing; works while the crawl runs
    Report(ReportArgs),
    /// Show a crawl in a browser, and change its pace; works while the crawl runs
    Serve(ServeArgs),
    /// Answer the questions of agents about a crawl (Model Context Protocol)
    Mcp(McpArgs),
    /// Pack crawls and WARC files into one WACZ file for ReplayWeb.page, pywb and other tools
    Wacz(WaczArgs),
    /// Unpack crawls and WARC files into a directory with converted links, for browsing without a
    /// server
    Unpack(UnpackArgs),
    /// Check that archive, index, search index, journal and tables agree, and that requests were
    /// polite; or check a WACZ file
    Verify(VerifyArgs),
    /// Rebuild the state of a crawl: tables from the journal, or a damaged or lost journal from the
    /// archive
    Rebuild(RebuildArgs),
    /// Join a crawl that several nodes share through PostgreSQL
    Node(Box<NodeArgs>),
    /// Move a crawl into a shared store on PostgreSQL
    Import(ImportArgs),
    /// Change a running shared crawl: pace, pauses, exclusions, one-time actions
    Control(ControlArgs),
    /// List the nodes of a shared crawl: state, buckets, pages, rate, heartbeat
    Nodes(NodesArgs),
    /// Remove leftover files of rebuilds and interrupted commands from the directory of a crawl
    Clean(CleanArgs),
    /// Rebuild the search index from the archive
    Reindex(InspectArgs),
    /// Index archives in CDXJ, as cdxj-indexer does: rebuild the index of a crawl, or index any
    /// WARC files
    #[command(visible_alias = "cdxj")]
    Index(IndexArgs),
    /// Print the title, text and links that the crawler extracts from a document
    Extract(ExtractArgs),
    /// Print the fingerprint of each document, or write all fingerprints to a file for `query`
    Fingerprint(FingerprintArgs),
    /// Find fingerprints in one file that differ by a few bits from fingerprints in another
    Query(QueryArgs),
    /// Compare two files
    Compare(CompareArgs),
    /// Find near-duplicates among files, or among documents in files
    Dedup(Box<DedupArgs>),
    /// Count the documents that contain each word, for --weights tf-idf
    Frequencies(FrequenciesArgs),
    /// Print the relevance of documents to a topic, and the words that contribute to it
    Topic(TopicArgs),
    /// Compare designs of permuted tables for a number of pages: memory, and candidates per probe
    Plan(PlanArgs),
    /// Check URLs against a robots.txt; exit code 3 unless all are allowed
    Robots(RobotsArgs),
    /// Print URLs in canonical form, as the crawler compares them
    Canonicalize(CanonicalizeArgs),
    /// Make keys of signed requests, and the directory that publishes them (Web Bot Auth)
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Show the settings of a crawl with their origin (default, preset, file or flag), or explain
    /// one setting
    Config(Box<ConfigArgs>),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print the manual page, or write the manual pages of all commands to a directory
    Man(ManArgs),
}

#[cfg(test)]
mod tests;
