//! The topic of a focused crawl: from its settings when it begins, from its directory afterwards.
//!
//! `state/topic.json` has the topic as it was begun with, so that examples are read once and a
//! crawl is continued with the same weights even where the files are gone. `state/topic-words.json`
//! has the number of pages off topic with each of its words, as learned so far.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawl::{Focus, LearnedWords};
use disk::Disk;
use serde::{Deserialize, Serialize};
use store::embedded::EmbeddedStore;
use topic::{Relevance, Topic};

use crate::cli_error::{CliError, fault, usage};
use crate::crawl_directory;
use crate::disk_space::cannot;
use crate::settings::Settings;
use crate::topic_of::topic_of;

/// The files of a topic, below the state directory of a crawl.
const TOPIC: &str = "topic.json";
const WORDS: &str = "topic-words.json";

/// The topic that a crawl was begun with.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CrawlTopic {
    /// `--topic` and `--topic-file`, as they were given.
    words: Option<String>,
    files: Vec<PathBuf>,
    topic: Topic,
}

impl CrawlTopic {
    /// Returns the topic of a crawl that is to begin or to continue; none if it has none. Examples
    /// are read where it begins only.
    ///
    /// # Errors
    /// The topic has no words, an example cannot be read, or the crawl was begun with another
    /// topic.
    pub(crate) fn of(settings: &Settings) -> Result<Option<Self>, CliError> {
        let state = crawl_directory::state(&settings.out);
        let begun = Self::of_crawl(&settings.out)?;
        if begun.is_none() && !EmbeddedStore::exists(&state) {
            return Self::new(settings);
        }
        // Without the file, as after `crawler rebuild`, the crawl's settings name its topic.
        let (words, files) = match &begun {
            Some(begun) => (begun.words.clone(), begun.files.clone()),
            None => {
                let as_run = Settings::of_crawl(&settings.out)?;
                (as_run.topic, as_run.topic_file)
            }
        };
        if (&words, &files) != (&settings.topic, &settings.topic_file) {
            return Err(refuse_change(&settings.out, words.as_deref(), &files));
        }
        match begun {
            Some(begun) => Ok(Some(begun)),
            None => Self::new(settings),
        }
    }

    /// Returns the topic of the crawl in `directory`; none if it has none.
    pub(crate) fn of_crawl(directory: &Path) -> Result<Option<Self>, CliError> {
        read(&crawl_directory::state(directory).join(TOPIC))
    }

    /// Returns the topic with the weights that the crawl in `directory` has learned.
    pub(crate) fn weighed(&self, directory: &Path) -> Result<Topic, CliError> {
        let path = crawl_directory::state(directory).join(WORDS);
        let words: LearnedWords = read(&path)?.unwrap_or_default();
        Ok(words.weighed(&self.topic))
    }

    fn new(settings: &Settings) -> Result<Option<Self>, CliError> {
        if !settings.has_topic() {
            return Ok(None);
        }
        let (words, files) = (settings.topic.clone(), settings.topic_file.clone());
        let topic = topic_of(words.as_deref(), &files, settings.frequencies.as_deref())?;
        Ok(Some(Self {
            words,
            files,
            topic,
        }))
    }

    /// Writes the topic where the crawl begins, and returns its focus.
    pub(crate) fn focus(
        self,
        settings: &Settings,
        seeds: usize,
        disk: &Arc<dyn Disk>,
    ) -> Result<Focus, CliError> {
        let state = crawl_directory::state(&settings.out);
        let path = state.join(TOPIC);
        if !path.exists() {
            let text = serde_json::to_vec(&self).map_err(|error| fault(&error))?;
            disk.replace(&path, &text)
                .map_err(|error| cannot("write", &path, &error, &settings.out))?;
        }
        let path = state.join(WORDS);
        let words: LearnedWords = read(&path)?.unwrap_or_default();
        let disk = Arc::clone(disk);
        let keep = move |words: &LearnedWords| {
            let text = serde_json::to_vec(words).map_err(io::Error::other)?;
            disk.replace(&path, &text)
        };
        let threshold = settings.topic_threshold.map(Relevance::from_share);
        let topic = self.topic.with_threshold(threshold);
        let focus = Focus::new(&topic, settings.off_topic, words);
        Ok(focus.with_seeds(seeds).kept_by(keep))
    }
}

/// Returns the error for a crawl that is continued with another topic.
fn refuse_change(directory: &Path, words: Option<&str>, files: &[PathBuf]) -> CliError {
    let shown = directory.display();
    let words = words.map(|words| format!("--topic {words:?}"));
    let files = files
        .iter()
        .map(|file| format!("--topic-file {}", file.display()));
    let given: Vec<String> = words.into_iter().chain(files).collect();
    let was = match given.is_empty() {
        true => "without a topic".to_owned(),
        false => format!("with {}", given.join(" ")),
    };
    let remedy = "leave out --topic and --topic-file to continue it, or choose another --out";
    usage(format!("the crawl in {shown} was begun {was}")).with_remedy(remedy)
}

/// Reads a file of the topic; none if there is no such file.
fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, CliError> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| cannot("read", path, &error, path))?,
    };
    let read = serde_json::from_slice(&text);
    read.map(Some).map_err(|error| {
        let what = format!("cannot read {}: {error}", path.display());
        fault(&io::Error::other(what)).with_remedy("remove it, and it is made again")
    })
}
