//! The arguments of `crawler topic`.

use std::path::PathBuf;

use clap::Args;
use setup::topic_of::threshold;
use topic::Relevance;

use crate::args::input::InputArgs;
use crate::output::Format;

/// Print the relevance of documents to a topic, from 0 to 1, and the words that it comes from: what
/// a crawl with the same --topic and --topic-file takes for on topic. A topic is words, examples,
/// or both.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crawler topic --topic 'tidal power' a.html b.txt      relevance by two words
  crawler topic --topic-file examples/ pages.warc.gz    by examples: three or more pages
  crawler topic --topic tides --topic-file a.html corpus.jsonl --format json
  crawler frequencies corpus/ -o words.txt              words that are common anywhere
  crawler topic --topic 'tidal power' --frequencies words.txt corpus/

Words: name what pages on topic have and others do not; stop words do not count. Examples: three or
more pages that are about the topic and little else, some in each language of the crawl.")]
pub(crate) struct TopicArgs {
    /// Documents: text, HTML, JSON lines, archives, and directories of them; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The words of the topic
    #[arg(long, value_name = "WORDS", required_unless_present = "topic_file")]
    pub(crate) topic: Option<String>,
    /// Examples of the topic: text, HTML, an archive, or a directory of them (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) topic_file: Vec<PathBuf>,
    /// The relevance from which a document is on topic, 0 to 1 [default: 0.3 by words, and always
    /// more than one word alone brings; by examples, half of what the poorer get from the others]
    #[arg(long, value_name = "R", value_parser = threshold)]
    pub(crate) topic_threshold: Option<Relevance>,
    /// The number of documents that have each word, as `crawler frequencies` counts: words that
    /// many have weigh less [default: all words are alike]
    #[arg(long, value_name = "FILE")]
    pub(crate) frequencies: Option<PathBuf>,
    /// json or table [default: table on a terminal, json otherwise]
    #[arg(long, value_name = "FORM")]
    pub(crate) format: Option<Format>,
}
