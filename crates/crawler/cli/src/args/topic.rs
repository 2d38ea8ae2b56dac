//! The arguments of `crawler topic`.

use std::path::PathBuf;

use clap::Args;
use settings::topic_of::threshold;
use topic::Relevance;

use crate::args::input::InputArgs;
use crate::output::Format;

/// Print the relevance of documents to a topic, from 0 to 1, and the words that contribute to it,
/// as computed by a crawl with the same --topic and --topic-file. A topic consists of words,
/// examples, or both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler topic --topic 'tidal power' a.html b.txt      relevance by two words
  crawler topic --topic-file examples/ pages.warc.gz    by examples: three pages or more
  crawler topic --topic tides --topic-file a.html corpus.jsonl --format json
  crawler frequencies corpus/ -o words.txt              words that are common everywhere
  crawler topic --topic 'tidal power' --frequencies words.txt corpus/

Words: choose words that occur on pages about the topic and rarely elsewhere; stop words are
ignored. Examples: three or more pages about the topic and little else, some in each language of
the crawl.")]
pub(crate) struct TopicArgs {
    /// Documents: text, HTML, JSON lines, archives, and directories of them; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Words of the topic
    #[arg(long, value_name = "WORDS", required_unless_present = "topic_file")]
    pub(crate) topic: Option<String>,
    /// Examples of the topic: text, HTML, an archive, or a directory of them (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) topic_file: Vec<PathBuf>,
    /// Minimum relevance of a document on topic, 0 to 1 [default: with words, 0.3, but more than a
    /// single word can reach; with examples, half the relevance of weak examples to the other
    /// examples]
    #[arg(long, value_name = "R", value_parser = threshold)]
    pub(crate) topic_threshold: Option<Relevance>,
    /// File with the number of documents that contain each word, from `crawler frequencies`: common
    /// words get lower weights [default: equal weights]
    #[arg(long, value_name = "FILE")]
    pub(crate) frequencies: Option<PathBuf>,
    /// Form of the output, also in a pipe
    #[arg(long, value_name = "FORM", default_value = "table")]
    pub(crate) format: Format,
}
