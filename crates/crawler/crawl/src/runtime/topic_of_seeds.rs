//! The topic of a crawl by the pages of its seeds (`--topic-of-seeds`).
//!
//! Each seed that is read becomes an example, and the topic is rebuilt. So the links of the n-th
//! seed get their score from the words of the seeds 1 to n. Once all seeds have ended the topic
//! is complete, and the crawl warns of its faults.
//!
//! Invariant: an example is written before its seed is settled. A seed whose visit is repeated
//! after a kill is an example already, and changes nothing.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use neardup::{HashKey, PageText};
use topic::{GrowingTopic, Relevance, Topic};
use web::PageUrl;

/// The topic of a crawl whose seeds are its examples.
pub struct TopicOfSeeds {
    topic: Mutex<GrowingTopic>,
    /// The threshold that the user chose.
    threshold: Option<Relevance>,
    /// The key of the crawl's signatures.
    key: HashKey,
    /// The number of seeds that have not ended.
    to_come: AtomicUsize,
    /// Number of changes of the topic: incremented while the topic is locked, and read without the
    /// lock, because building a topic takes longer than the reactor may wait.
    changes: AtomicUsize,
    /// Number of changes that are written.
    written: AtomicUsize,
    /// Held while the topic is written.
    writing: Mutex<()>,
    keep: Box<KeepTopic>,
}

/// Writes the topic where the next session finds it.
type KeepTopic = dyn Fn(&GrowingTopic) -> io::Result<()> + Send + Sync;

/// A topic as it was built with a number of seeds.
pub(crate) struct Grown {
    pub(crate) topic: Topic,
    pub(crate) seeds: usize,
}

impl TopicOfSeeds {
    /// Creates the topic as it was written last. `to_come` seeds have not ended. `keep` writes the
    /// topic durably before it returns.
    #[must_use]
    pub fn new(
        mut topic: GrowingTopic,
        to_come: usize,
        keep: impl Fn(&GrowingTopic) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let is_over = to_come == 0 && !topic.is_complete();
        if is_over {
            topic.complete();
        }
        Self {
            topic: Mutex::new(topic),
            threshold: None,
            key: HashKey::ZERO,
            to_come: AtomicUsize::new(to_come),
            changes: AtomicUsize::new(usize::from(is_over)),
            written: AtomicUsize::new(0),
            writing: Mutex::new(()),
            keep: Box::new(keep),
        }
    }

    /// Sets the minimum relevance of a page on topic that is not a seed; `None` keeps the default.
    #[must_use]
    pub fn with_threshold(self, threshold: Option<Relevance>) -> Self {
        Self { threshold, ..self }
    }

    /// Sets the key for hashing the words of pages.
    #[must_use]
    pub fn hashed_under(self, key: HashKey) -> Self {
        Self { key, ..self }
    }

    /// Returns the topic so far; `None` before the first example.
    pub(crate) fn grown(&self) -> Option<Grown> {
        self.as_grown(&self.growing())
    }

    /// Adds the page of a seed. Returns the new topic if it has become an example.
    pub(crate) fn add(&self, seed: &PageUrl, page: &PageText<'_>) -> Option<Grown> {
        let mut topic = self.growing();
        if !topic.add(seed.as_str(), page) {
            return None;
        }
        self.changes.fetch_add(1, Ordering::Relaxed);
        self.as_grown(&topic)
    }

    fn as_grown(&self, growing: &GrowingTopic) -> Option<Grown> {
        let topic = growing.topic()?.clone();
        let topic = topic.with_threshold(self.threshold);
        Some(Grown {
            topic: topic.hashed_under(self.key),
            seeds: growing.seeds(),
        })
    }

    /// Counts a seed that has ended. After the last seed the topic is complete, and the crawl warns
    /// of its faults.
    pub(crate) fn end_seed(&self) {
        let less = |to_come: usize| to_come.checked_sub(1);
        let before = self
            .to_come
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        if before != Ok(1) {
            return;
        }
        let mut topic = self.growing();
        topic.complete();
        self.changes.fetch_add(1, Ordering::Relaxed);
        for fault in faults(&topic) {
            tracing::warn!("{fault}");
        }
    }

    /// Returns true if the topic has changed and is not written yet.
    pub(crate) fn is_changed(&self) -> bool {
        self.changes.load(Ordering::Relaxed) != self.written.load(Ordering::Relaxed)
    }

    /// Writes the topic if it has changed. Not for the reactor: it waits for the disk.
    ///
    /// # Errors
    /// Errors of the function that writes the topic.
    pub(crate) fn save(&self) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_changed() {
            return Ok(());
        }
        let (topic, changes) = {
            let topic = self.growing();
            (topic.clone(), self.changes.load(Ordering::Relaxed))
        };
        (self.keep)(&topic)?;
        self.written.store(changes, Ordering::Relaxed);
        Ok(())
    }

    fn growing(&self) -> MutexGuard<'_, GrowingTopic> {
        self.topic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A fault of a complete topic, with what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TopicFault {
    /// No seed has become an example, and the user gave no other topic.
    NoTopic,
    /// No seed has become an example of what was given.
    NoSeed,
    /// A fault of the examples.
    Examples(topic::Warning),
}

impl fmt::Display for TopicFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTopic => f.write_str(
                "no seed has a text: the crawl has no topic, and every page counts as on topic; \
                 start over with other seeds, or define the topic with --topic or --topic-file",
            ),
            Self::NoSeed => f.write_str(
                "no seed has a text: the topic is defined only by --topic and --topic-file",
            ),
            Self::Examples(warning) => write!(f, "--topic-of-seeds: {warning}"),
        }
    }
}

/// Returns the faults of a complete topic.
fn faults(topic: &GrowingTopic) -> Vec<TopicFault> {
    match (topic.topic(), topic.seeds()) {
        (None, _) => vec![TopicFault::NoTopic],
        (Some(_), 0) => vec![TopicFault::NoSeed],
        (Some(_), _) => {
            let warnings = topic.warnings().into_iter();
            warnings.map(TopicFault::Examples).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use topic::{TopicBuilder, Warning};
    use web::CanonicalForm;

    use super::*;

    const TEXT: &str = "The tidal barrage closes the estuary with turbines.";

    fn url(number: usize) -> PageUrl {
        let url = format!("http://a.test/{number}");
        PageUrl::parse(&url, &CanonicalForm::default()).unwrap()
    }

    /// The seeds of a topic that was written, and true if it was complete.
    type Edition = (usize, bool);

    /// Returns a topic of this many seeds, and what it writes.
    fn growing(to_come: usize) -> (TopicOfSeeds, Arc<Mutex<Vec<Edition>>>) {
        let written: Arc<Mutex<Vec<Edition>>> = Arc::default();
        let kept = Arc::clone(&written);
        let keep = move |topic: &GrowingTopic| {
            kept.lock()
                .unwrap()
                .push((topic.seeds(), topic.is_complete()));
            Ok(())
        };
        let topic = GrowingTopic::new(TopicBuilder::new(None), None);
        (TopicOfSeeds::new(topic, to_come, keep), written)
    }

    #[test]
    fn a_topic_is_written_when_it_has_grown_or_is_complete_and_not_otherwise() {
        let (topic, written) = growing(2);
        let save = || {
            assert_eq!(topic.is_changed(), {
                let before = written.lock().unwrap().len();
                topic.save().unwrap();
                written.lock().unwrap().len() > before
            });
        };
        save();
        assert!(topic.add(&url(1), &PageText::of(TEXT)).is_some());
        save();
        save();
        assert!(topic.add(&url(1), &PageText::of("another text")).is_none());
        save();
        topic.end_seed();
        save();
        topic.end_seed();
        save();
        topic.end_seed();
        save();
        assert_eq!(*written.lock().unwrap(), [(1, false), (1, true)]);
        assert!(topic.add(&url(2), &PageText::of("another text")).is_none());
    }

    #[test]
    fn what_could_not_be_written_is_written_the_next_time() {
        let refused = Mutex::new(true);
        let topic = GrowingTopic::new(TopicBuilder::new(None), None);
        let topic = TopicOfSeeds::new(topic, 1, move |_| {
            match std::mem::take(&mut *refused.lock().unwrap()) {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        });
        topic.add(&url(1), &PageText::of(TEXT));
        assert!(topic.save().is_err() && topic.is_changed());
        assert!(topic.save().is_ok() && !topic.is_changed());
    }

    #[test]
    fn a_topic_whose_seeds_have_all_ended_in_an_earlier_session_is_complete() {
        let (topic, _) = growing(0);
        assert!(topic.add(&url(1), &PageText::of(TEXT)).is_none());
        assert!(topic.is_changed());
    }

    #[test]
    fn what_a_complete_topic_lacks_is_told() {
        let of = |words: Option<&str>, seeds: &[&str]| {
            let builder = TopicBuilder::new(None);
            let builder = match words {
                Some(words) => builder.words(words).unwrap(),
                None => builder,
            };
            let mut topic = GrowingTopic::new(builder, None);
            for (number, text) in seeds.iter().enumerate() {
                topic.add(url(number).as_str(), &PageText::of(text));
            }
            faults(&topic)
        };
        assert_eq!(of(None, &["", "the of"]), [TopicFault::NoTopic]);
        assert_eq!(of(Some("tides"), &[""]), [TopicFault::NoSeed]);
        let few = TopicFault::Examples(Warning::FewExamples { count: 1 });
        assert_eq!(of(Some("tides"), &[TEXT]), [few]);
        assert_eq!(of(None, &["tides ebb", "tides flow", "tides turn"]), []);
    }
}
