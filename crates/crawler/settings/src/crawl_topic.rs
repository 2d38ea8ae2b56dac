//! The topic of a focused crawl: read from its settings at the start, and from its directory
//! afterwards.
//!
//! `state/topic.json` contains the initial topic, so that examples are read only once, and a crawl
//! continues with the same weights even if the example files are gone. A topic of the seeds grows,
//! so it has a separate file, `state/topic-seeds.json`, with the words of each example.
//! `state/topic-words.json` contains the learned number of pages off topic for each word of the
//! topic.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use disk::{Disk, SystemDisk};
use messages::{CommandError, cannot, fault, say, usage};
use policy::LearnedWords;
use serde::{Deserialize, Serialize};
use store::EmbeddedStore;
use topic::{GrowingTopic, Relevance, Topic};

use crate::crawl_directory;
use crate::settings::Settings;
use crate::topic_of::{frequencies_of, growing_topic_of, topic_of};

/// Files of a topic, below a crawl's state directory.
const TOPIC: &str = "topic.json";
const SEEDS: &str = "topic-seeds.json";
const WORDS: &str = "topic-words.json";

/// Warning for a crawl that is rebuilt without its topic.
const WITHOUT_TOPIC: &str = "warning: without its topic, links are followed in the order in which \
    they were found";

/// The topic that a crawl began with. A topic of the seeds is made from the seeds read so far.
#[derive(Debug)]
pub struct CrawlTopic {
    choice: TopicChoice,
    /// The topic itself.
    pub source: TopicSource,
}

/// The options that define the topic, as given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TopicChoice {
    words: Option<String>,
    files: Vec<PathBuf>,
    #[serde(default, skip_serializing_if = "is_off")]
    of_seeds: bool,
}

/// A topic, or the examples that it is made from.
#[derive(Debug)]
pub enum TopicSource {
    /// A topic that does not change, apart from its weights.
    Fixed(Topic),
    /// A topic that grows with the seeds.
    OfSeeds(GrowingTopic),
}

/// The content of [`TOPIC`].
#[derive(Debug, Serialize, Deserialize)]
struct StoredTopic {
    #[serde(flatten)]
    choice: TopicChoice,
    /// `None` for a topic of the seeds.
    topic: Option<Topic>,
}

fn is_off(switch: &bool) -> bool {
    !switch
}

impl TopicChoice {
    fn of(settings: &Settings) -> Self {
        Self {
            words: settings.topic.clone(),
            files: settings.topic_file.clone(),
            of_seeds: settings.topic_of_seeds,
        }
    }

    /// Returns the options as a user types them.
    fn shown(&self) -> String {
        let words = self.words.iter().map(|words| format!("--topic {words:?}"));
        let files = self.files.iter();
        let files = files.map(|file| format!("--topic-file {}", file.display()));
        let of_seeds = self.of_seeds.then(|| "--topic-of-seeds".to_owned());
        let options: Vec<String> = words.chain(files).chain(of_seeds).collect();
        options.join(" ")
    }
}

impl CrawlTopic {
    /// Returns the topic of a crawl that begins or continues; `None` for a crawl without a topic.
    /// Examples are only read when the crawl begins.
    ///
    /// # Errors
    /// The topic is without words, an example cannot be read, or the crawl was begun with another
    /// topic.
    pub fn of(settings: &Settings) -> Result<Option<Self>, CommandError> {
        let state = crawl_directory::state(&settings.out);
        let choice = TopicChoice::of(settings);
        let begun = Self::of_crawl(&settings.out)?;
        if begun.is_none() && !EmbeddedStore::exists(&state) {
            return Self::new(choice, settings);
        }
        // Without the file, for example after `crawler rebuild`, the crawl's settings define its
        // topic.
        let was = match &begun {
            Some(begun) => begun.choice.clone(),
            None => TopicChoice::of(&Settings::of_crawl(&settings.out)?),
        };
        if was != choice {
            return Err(refuse_change(&settings.out, &was));
        }
        match begun {
            Some(begun) => begun.resumed(settings).map(Some),
            None => Self::new(choice, settings),
        }
    }

    /// Returns the topic of the crawl in `directory`; `None` for a crawl without a topic.
    pub fn of_crawl(directory: &Path) -> Result<Option<Self>, CommandError> {
        let state = crawl_directory::state(directory);
        let Some(stored) = read::<StoredTopic>(&state.join(TOPIC))? else {
            return Ok(None);
        };
        let source = match stored.topic {
            Some(topic) => Some(TopicSource::Fixed(topic)),
            None => read(&state.join(SEEDS))?.map(TopicSource::OfSeeds),
        };
        Ok(source.map(|source| Self {
            choice: stored.choice,
            source,
        }))
    }

    /// Returns the topic for the scores of links when a crawl is rebuilt: the stored topic, or
    /// else the topic in its settings. Warns if the crawl had a topic but neither can be read; then
    /// the links of archived pages get no score.
    pub fn to_rebuild(settings: &Settings) -> Option<Self> {
        let of_settings = || Self::new(TopicChoice::of(settings), settings);
        let found = match Self::of_crawl(&settings.out) {
            Ok(Some(kept)) => Ok(Some(kept)),
            Ok(None) => of_settings(),
            Err(unreadable) => {
                unreadable.warn();
                of_settings()
            }
        };
        found.unwrap_or_else(|error| {
            error.warn();
            say(WITHOUT_TOPIC);
            None
        })
    }

    /// Stores the topic and the learned words in the new `state` of a crawl that is rebuilt.
    /// Returns the topic with the learned weights. Warns and returns `None` for a topic of the
    /// seeds whose seeds must be read again.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn keep(&self, settings: &Settings, state: &Path) -> Result<Option<Topic>, CommandError> {
        let learned = read(&crawl_directory::state(&settings.out).join(WORDS));
        let learned = learned.unwrap_or_else(|unreadable| {
            unreadable.warn();
            None
        });
        let words: LearnedWords = learned.unwrap_or_default();
        let path = state.join(WORDS);
        let written = write(&SystemDisk, &path, &words);
        written.map_err(|error| cannot("write", &path, &error, &settings.out))?;
        self.store(state, settings, &SystemDisk)?;
        let topic = self.weighed_by(words);
        if topic.is_none() {
            say(WITHOUT_TOPIC);
        }
        Ok(topic.map(|topic| topic.with_threshold(threshold(settings))))
    }

    /// Returns the topic with the weights that the crawl in `directory` has learned. Returns `None`
    /// for a topic of the seeds before the first seed is read.
    pub fn weighed(&self, directory: &Path) -> Result<Option<Topic>, CommandError> {
        let path = crawl_directory::state(directory).join(WORDS);
        Ok(self.weighed_by(read(&path)?.unwrap_or_default()))
    }

    fn weighed_by(&self, words: LearnedWords) -> Option<Topic> {
        match &self.source {
            TopicSource::Fixed(topic) => Some(words.weighed(topic)),
            TopicSource::OfSeeds(growing) => {
                let words = words.of_seeds(growing.seeds());
                growing.topic().map(|topic| words.weighed(topic))
            }
        }
    }

    fn new(choice: TopicChoice, settings: &Settings) -> Result<Option<Self>, CommandError> {
        if !settings.has_topic() {
            return Ok(None);
        }
        let words = choice.words.as_deref();
        let frequencies = settings.frequencies.as_deref();
        let source = match choice.of_seeds {
            false => TopicSource::Fixed(topic_of(words, &choice.files, frequencies)?),
            true => TopicSource::OfSeeds(growing_topic_of(words, &choice.files, frequencies)?),
        };
        Ok(Some(Self { choice, source }))
    }

    /// Returns the topic of a crawl that continues. A topic that still grows needs the frequencies.
    fn resumed(self, settings: &Settings) -> Result<Self, CommandError> {
        let source = match self.source {
            TopicSource::OfSeeds(growing) if !growing.is_complete() => {
                let frequencies = frequencies_of(settings.frequencies.as_deref())?;
                TopicSource::OfSeeds(growing.with_frequencies(frequencies.map(Arc::new)))
            }
            other => other,
        };
        Ok(Self { source, ..self })
    }

    /// Writes the topic to this state directory, unless it already contains one.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn store(
        &self,
        state: &Path,
        settings: &Settings,
        disk: &dyn Disk,
    ) -> Result<(), CommandError> {
        let cannot_write =
            |path: &Path, error: io::Error| cannot("write", path, &error, &settings.out);
        let topic = match &self.source {
            TopicSource::Fixed(topic) => Some(topic.clone()),
            TopicSource::OfSeeds(growing) => {
                // Written before the other file, whose existence implies that this file exists.
                let path = state.join(SEEDS);
                let written = write(disk, &path, growing);
                written.map_err(|error| cannot_write(&path, error))?;
                None
            }
        };
        let path = state.join(TOPIC);
        if !path.exists() {
            let choice = self.choice.clone();
            let written = write(disk, &path, &StoredTopic { choice, topic });
            written.map_err(|error| cannot_write(&path, error))?;
        }
        Ok(())
    }
}

/// Writes the words that a crawl has learned to its state directory.
///
/// # Errors
/// The file cannot be written.
pub fn write_words(words: &LearnedWords, state: &Path, disk: &dyn Disk) -> io::Result<()> {
    write(disk, &state.join(WORDS), words)
}

/// Reads the words that a crawl has learned from its state directory; `None` before the first one.
///
/// # Errors
/// The file cannot be read.
pub fn read_words(state: &Path) -> Result<Option<LearnedWords>, CommandError> {
    read(&state.join(WORDS))
}

/// Writes a topic of the seeds to the state directory of its crawl.
///
/// # Errors
/// The file cannot be written.
pub fn write_seeds(growing: &GrowingTopic, state: &Path, disk: &dyn Disk) -> io::Result<()> {
    write(disk, &state.join(SEEDS), growing)
}

/// Writes a file of the topic atomically.
fn write(disk: &dyn Disk, path: &Path, content: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(content).map_err(io::Error::other)?;
    disk.replace(path, &text)
}

/// Returns the threshold that the user chose.
pub fn threshold(settings: &Settings) -> Option<Relevance> {
    settings.topic_threshold.map(Relevance::from_share)
}

/// Returns the error for a crawl that is continued with another topic.
fn refuse_change(directory: &Path, was: &TopicChoice) -> CommandError {
    let shown = directory.display();
    let was = match was.shown() {
        options if options.is_empty() => "without a topic".to_owned(),
        options => format!("with {options}"),
    };
    let remedy = "omit --topic, --topic-file and --topic-of-seeds to continue it, or choose \
        another --out";
    usage(format!("the crawl in {shown} was begun {was}")).with_remedy(remedy)
}

/// Reads a file of the topic; `None` if the file does not exist.
fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, CommandError> {
    let text = match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text.map_err(|error| cannot("read", path, &error, path))?,
    };
    let read = serde_json::from_slice(&text);
    read.map(Some).map_err(|error| {
        let what = format!("cannot read {}: {error}", path.display());
        fault(&io::Error::other(what)).with_remedy("remove it; it will be rebuilt")
    })
}
