//! The topic of `--topic`, `--topic-file` and `--frequencies`, for a crawl and for `crawler topic`.
//!
//! Each `--topic-file` must provide an example. In a directory or an archive, documents without
//! text are skipped and named.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::topic::{ExampleText, GrowingTopic, Relevance, Topic, TopicBuilder, TopicError};
use corpus::{Documents, InputOptions, Reader, Skipped};
use messages::{CommandError, say, usage};
use neardup::frequencies::DocumentFrequencies;
use neardup::{Unit, Width};

use crate::features;
use crate::input::document_reader;
use crate::machine::usual_temp_dir;
use crate::skip_report::SkipReport;

const WORDS_REMEDY: &str = "choose words that occur on pages about the topic and rarely elsewhere, \
    for example --topic \"tidal power\"; stop words such as \"the\" are ignored";
const EXAMPLE_REMEDY: &str = "an example is a page about the topic: text, HTML, or an archive or \
    directory of them";

/// Parses a threshold.
///
/// # Errors
/// The text is not a number from 0 to 1.
pub fn threshold(text: &str) -> Result<Relevance, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(Relevance::from_share(share)),
        _ => Err(format!("the threshold must be between 0 and 1, got {text}")),
    }
}

/// Returns the topic made from the given words, examples and frequencies. Prints warnings.
///
/// # Errors
/// No word counts, a file cannot be read, or a file does not contain an example.
pub fn topic_of(
    words: Option<&str>,
    files: &[PathBuf],
    frequencies: Option<&Path>,
) -> Result<Topic, CommandError> {
    let frequencies = frequencies_of(frequencies)?;
    let builder = builder_of(words, files, frequencies.as_ref())?;
    let (topic, warnings) = builder.build().map_err(|error| refused(&error))?;
    for warning in warnings {
        say(&format!("warning: {warning}"));
    }
    Ok(topic)
}

/// Returns a topic that grows with the seeds. It starts with the words, examples and frequencies,
/// if any.
///
/// # Errors
/// The given words do not count, a file cannot be read, or a file does not contain an example.
pub(crate) fn growing_topic_of(
    words: Option<&str>,
    files: &[PathBuf],
    frequencies: Option<&Path>,
) -> Result<GrowingTopic, CommandError> {
    let frequencies = frequencies_of(frequencies)?.map(Arc::new);
    let builder = builder_of(words, files, frequencies.as_deref())?;
    Ok(GrowingTopic::new(builder, frequencies.clone()))
}

/// Reads the frequencies of words.
///
/// # Errors
/// The file cannot be read, or counts other features.
pub(crate) fn frequencies_of(
    path: Option<&Path>,
) -> Result<Option<DocumentFrequencies>, CommandError> {
    let frequencies = path.map(features::read).transpose()?;
    if let Some(counted) = &frequencies
        && counted.unit() != Unit::Words(Width::ONE)
    {
        let message = format!(
            "a topic needs word frequencies, got frequencies of {}",
            counted.unit()
        );
        let remedy = "create them with `crawler frequencies` without --features";
        return Err(usage(message).with_remedy(remedy));
    }
    Ok(frequencies)
}

/// Returns a builder with these words and examples.
fn builder_of<'a>(
    words: Option<&str>,
    files: &[PathBuf],
    frequencies: Option<&'a DocumentFrequencies>,
) -> Result<TopicBuilder<'a>, CommandError> {
    let mut builder = TopicBuilder::new(frequencies);
    if let Some(words) = words {
        builder = builder.words(words).map_err(|error| refused(&error))?;
    }
    let reader = document_reader(true);
    for path in files {
        add_examples(path, &reader, &mut builder)?;
    }
    Ok(builder)
}

/// Returns the error for words that do not make a topic.
fn refused(error: &TopicError) -> CommandError {
    CommandError::of_usage(error).with_remedy(match error {
        TopicError::NoWord { .. } | TopicError::TooManyWords { .. } => WORDS_REMEDY,
        TopicError::EmptyExample { .. } => EXAMPLE_REMEDY,
    })
}

/// Adds the documents of a path to the examples.
fn add_examples(
    path: &Path,
    reader: &Reader,
    builder: &mut TopicBuilder<'_>,
) -> Result<(), CommandError> {
    let options = InputOptions::new(usual_temp_dir());
    let documents = Documents::below(&[path.to_owned()], &options)
        .map_err(|error| CommandError::of_usage(&error).with_remedy(EXAMPLE_REMEDY))?;
    let mut added = 0_u64;
    let mut skipped: Vec<Skipped> = Vec::new();
    let mut report = SkipReport::default();
    for document in documents {
        let reason = match document {
            Ok(document) => {
                let page = reader.read(&document.content);
                let name = &*document.id;
                let text = reader.text(&page).unwrap_or_default();
                match builder.example(&ExampleText { name, page: text }) {
                    Ok(()) => None,
                    Err(_) => Some(Skipped::loss(
                        document.id,
                        "an example without usable words",
                    )),
                }
            }
            Err(unreadable) => Some(unreadable),
        };
        match reason {
            None => added += 1,
            // A single reason becomes the command's error, and is not printed twice.
            Some(reason) if added == 0 && skipped.is_empty() => skipped.push(reason),
            Some(reason) => report.add(&reason),
        }
        if builder.is_full() {
            break;
        }
    }
    match (added, skipped.pop()) {
        (0, Some(reason)) => {
            Err(usage(format!("--topic-file {reason}")).with_remedy(EXAMPLE_REMEDY))
        }
        (0, None) => {
            let culprit = path.display();
            Err(usage(format!("--topic-file {culprit}: no document")).with_remedy(EXAMPLE_REMEDY))
        }
        (_, reason) => {
            if let Some(reason) = reason {
                report.add(&reason);
            }
            Ok(())
        }
    }
}
