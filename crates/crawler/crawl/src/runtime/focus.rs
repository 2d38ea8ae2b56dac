//! The topic of a focused crawl: the relevance of its pages, and what it has learned of words.
//!
//! A page is judged once, when it is read; its relevance is a number in its record, and the score
//! of its links is a number in the queue. So a continued crawl does not need the pages again. Rare
//! words say more than frequent ones, so the topic's words are counted over pages off topic, and
//! the topic is weighed again each time their number has doubled (`learned_words.rs`). Pages on
//! topic do not count: a focused crawl visits them first, so the words that define the topic would
//! pass for frequent.
//!
//! With `--topic-of-seeds` the topic grows with each seed (`topic_of_seeds.rs`). Seeds are always
//! on topic, regardless of their relevance. Before the first seed there may be no topic: then no
//! page is judged, and none is off topic. A topic that has grown has other words, so the
//! frequencies of its former words are forgotten.
//!
//! Invariant: relevance decides about archiving and the order of visits, never about politeness.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use journal::{Fate, Reason, Relevance, VisitRecord};
use neardup::{HashedText, PageText};
use policy::{LearnedWords, OffTopic};
use topic::{Judged, Topic};
use web::PageUrl;

use crate::runtime::topic_of_seeds::{Grown, TopicOfSeeds};

/// The number of last pages whose harvest is reported, and compared with `--min-harvest`.
pub const RECENT_PAGES: usize = 500;

/// The topic's words on a page that its record in the archive names.
const NOTED_WORDS: usize = 8;

/// The topic of a crawl.
pub struct Focus {
    in_force: RwLock<Option<InForce>>,
    of_seeds: Option<Arc<TopicOfSeeds>>,
    off_topic: OffTopic,
    learned: Mutex<Learned>,
    recent: Mutex<RecentPages>,
    seeds: Mutex<SeedPages>,
    keep: Option<Arc<Keep>>,
}

/// The topic with its present weights.
#[derive(Clone)]
struct InForce {
    topic: Arc<Topic>,
    /// The number of seeds that it was made from: its words change with each seed.
    seeds: usize,
}

/// Writes the learned frequencies where the next session finds them.
type Keep = dyn Fn(&LearnedWords) -> io::Result<()> + Send + Sync;

/// The learned words, and the number of pages when they were last written.
struct Learned {
    words: LearnedWords,
    /// The number of pages when they were last written.
    kept: u64,
}

impl Focus {
    /// Creates the focus of a crawl that has learned these words before.
    #[must_use]
    pub fn new(topic: &Topic, off_topic: OffTopic, words: LearnedWords) -> Self {
        let topic = Arc::new(words.weighed(topic));
        let in_force = InForce { topic, seeds: 0 };
        Self::with(Some(in_force), None, off_topic, words)
    }

    /// Creates the focus of a crawl whose seeds are the examples of its topic.
    #[must_use]
    pub fn of_seeds(of_seeds: TopicOfSeeds, off_topic: OffTopic, words: LearnedWords) -> Self {
        let grown = of_seeds.grown();
        let words = words.of_seeds(grown.as_ref().map_or(0, |grown| grown.seeds));
        let in_force = grown.map(|grown| InForce {
            topic: Arc::new(words.weighed(&grown.topic)),
            seeds: grown.seeds,
        });
        Self::with(in_force, Some(of_seeds), off_topic, words)
    }

    fn with(
        in_force: Option<InForce>,
        of_seeds: Option<TopicOfSeeds>,
        off_topic: OffTopic,
        words: LearnedWords,
    ) -> Self {
        let learned = Learned {
            kept: words.pages(),
            words,
        };
        Self {
            in_force: RwLock::new(in_force),
            of_seeds: of_seeds.map(Arc::new),
            off_topic,
            learned: Mutex::new(learned),
            recent: Mutex::default(),
            seeds: Mutex::default(),
            keep: None,
        }
    }

    /// Sets the number of seeds, so that the crawl warns if all seeds turn out to be off topic.
    #[must_use]
    pub fn with_seeds(self, seeds: usize) -> Self {
        let seeds = SeedPages {
            to_come: seeds,
            best: None,
        };
        Self {
            seeds: Mutex::new(seeds),
            ..self
        }
    }

    /// Sets the function that writes the learned words at each save of the crawl, so that a kill
    /// loses only the words of the last seconds.
    #[must_use]
    pub fn kept_by(
        self,
        keep: impl Fn(&LearnedWords) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            keep: Some(Arc::new(keep)),
            ..self
        }
    }

    /// Returns the topic with its present weights; `None` before the first seed that defines it.
    #[must_use]
    pub fn topic(&self) -> Option<Arc<Topic>> {
        self.in_force().map(|in_force| in_force.topic)
    }

    fn in_force(&self) -> Option<InForce> {
        let in_force = self.in_force.read();
        in_force.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put_in_force(&self, topic: Topic, seeds: usize) {
        let topic = Arc::new(topic);
        let mut in_force = self
            .in_force
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *in_force = Some(InForce { topic, seeds });
    }

    /// Returns true if seeds are examples, so that reading one takes longer than reading a page.
    pub(crate) fn grows(&self) -> bool {
        self.of_seeds.is_some()
    }

    /// Writes the topic off the reactor, if it has grown.
    ///
    /// # Errors
    /// Errors of the function that writes the topic.
    pub(crate) async fn save_topic(&self) -> io::Result<()> {
        let Some(topic) = self.of_seeds.as_ref().filter(|topic| topic.is_changed()) else {
            return Ok(());
        };
        let topic = Arc::clone(topic);
        off_the_reactor(move || topic.save()).await
    }

    /// Writes the topic, if it has grown, and the learned words, if there are new ones, off the
    /// reactor.
    ///
    /// # Errors
    /// Errors of the functions that write them.
    pub(crate) async fn save(&self) -> io::Result<()> {
        self.save_topic().await?;
        let Some(keep) = &self.keep else {
            return Ok(());
        };
        let words = {
            let learned = self.learned();
            if learned.words.pages() == learned.kept {
                return Ok(());
            }
            learned.words.clone()
        };
        let (keep, documents) = (Arc::clone(keep), words.pages());
        off_the_reactor(move || keep(&words)).await?;
        self.learned().kept = documents;
        Ok(())
    }

    /// Judges the page of a URL by the topic, and counts its words if it is off topic. `text` is
    /// the page's text, hashed for its signature. Returns `None` while no topic exists.
    pub(crate) fn judge(
        &self,
        page: &PageText<'_>,
        text: &HashedText,
        url: &PageUrl,
    ) -> Option<JudgedPage> {
        let InForce { topic, seeds } = self.in_force()?;
        let judged = topic.judge_hashed(page, text, Some(url));
        let page = JudgedPage::of(&topic, &judged);
        if !page.is_on_topic() {
            let mut learned = self.learned();
            // Unless the topic has grown meanwhile.
            if learned.words.seeds() == seeds && learned.words.learn(&judged) {
                self.put_in_force(learned.words.weighed(&topic), seeds);
            }
        }
        Some(page)
    }

    /// Judges a seed. With a topic of the seeds, the seed first becomes an example, and is always
    /// on topic: the user chose it.
    pub(crate) fn judge_seed(
        &self,
        page: &PageText<'_>,
        text: &HashedText,
        url: &PageUrl,
    ) -> Option<JudgedPage> {
        let Some(of_seeds) = &self.of_seeds else {
            return self.judge(page, text, url);
        };
        if let Some(grown) = of_seeds.add(url, page) {
            self.grow(grown);
        }
        let topic = self.topic()?;
        Some(JudgedPage {
            threshold: Relevance::NONE,
            ..JudgedPage::of(&topic, &topic.judge_hashed(page, text, Some(url)))
        })
    }

    /// Puts a topic with one more example in force, unless a topic with more examples already is.
    fn grow(&self, grown: Grown) {
        let mut learned = self.learned();
        if learned.words.seeds() < grown.seeds {
            *learned = Learned {
                words: LearnedWords::default().of_seeds(grown.seeds),
                kept: 0,
            };
            self.put_in_force(grown.topic, grown.seeds);
        }
    }

    /// Returns true if pages off topic are archived.
    pub(crate) fn keeps_off_topic(&self) -> bool {
        self.off_topic == OffTopic::Keep
    }

    /// Counts a visit. Warns after the last seed if all seeds are off topic.
    pub(crate) fn count(&self, visit: &VisitRecord) {
        let is_on_topic = visit.fate != Fate::OffTopic;
        let relevance = visit.details.relevance;
        if relevance.is_some() {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.count(is_on_topic);
        }
        if visit.depth > 0 || visit.via.is_some() {
            return;
        }
        if let Some(of_seeds) = &self.of_seeds {
            return of_seeds.end_seed();
        }
        let mut seeds = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(best) = seeds.count(relevance, is_on_topic) {
            tracing::warn!(
                relevance = %best,
                "all seeds are off topic; this is the best one: use other words or examples, a \
                 lower --topic-threshold, or seeds closer to the topic"
            );
        }
    }

    /// Returns the share of pages on topic among the last [`RECENT_PAGES`] of this session; `None`
    /// until that many were judged.
    #[must_use]
    pub fn recent_harvest(&self) -> Option<f64> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.harvest()
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs blocking disk work on a thread that may block.
async fn off_the_reactor(
    write: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<()> {
    let written = tokio::task::spawn_blocking(write);
    written.await.map_err(io::Error::other)?
}

/// A page that was judged by the topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JudgedPage {
    pub(crate) relevance: Relevance,
    /// Minimum relevance of a page on topic when this page was judged.
    pub(crate) threshold: Relevance,
    /// The topic's words on it, the weightiest first.
    pub(crate) words: Vec<String>,
}

impl JudgedPage {
    fn of(topic: &Topic, judged: &Judged) -> Self {
        Self {
            relevance: judged.relevance,
            threshold: topic.threshold(),
            words: topic.words_found(judged, NOTED_WORDS),
        }
    }

    /// Returns true if the page is on topic.
    pub(crate) fn is_on_topic(&self) -> bool {
        self.relevance >= self.threshold
    }

    /// Returns the reason if the page is off topic.
    pub(crate) fn off_topic(&self) -> Option<Reason> {
        let (relevance, threshold) = (self.relevance, self.threshold);
        (!self.is_on_topic()).then(|| {
            let detail = format!(": relevance {relevance}, below {threshold}");
            Reason::with_detail("off topic", detail)
        })
    }
}

/// The seeds so far, while all are off topic.
#[derive(Debug, Default)]
struct SeedPages {
    /// The seeds that are not settled yet; 0 also once one was on topic.
    to_come: usize,
    best: Option<Relevance>,
}

impl SeedPages {
    /// Counts a settled seed. After the last one, returns the best relevance if none was on topic.
    fn count(&mut self, relevance: Option<Relevance>, is_on_topic: bool) -> Option<Relevance> {
        if relevance.is_some() && is_on_topic {
            self.to_come = 0;
        }
        self.best = self.best.max(relevance);
        let is_last = self.to_come == 1;
        self.to_come = self.to_come.saturating_sub(1);
        self.best.filter(|_| is_last)
    }
}

/// The last pages that were judged: true for one on topic.
#[derive(Debug, Default)]
struct RecentPages {
    pages: VecDeque<bool>,
    on_topic: usize,
}

impl RecentPages {
    fn count(&mut self, is_on_topic: bool) {
        if self.pages.len() == RECENT_PAGES {
            let oldest = self.pages.pop_front().unwrap_or_default();
            self.on_topic -= usize::from(oldest);
        }
        self.pages.push_back(is_on_topic);
        self.on_topic += usize::from(is_on_topic);
    }

    fn harvest(&self) -> Option<f64> {
        let is_full = self.pages.len() == RECENT_PAGES;
        is_full.then(|| self.on_topic as f64 / RECENT_PAGES as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_are_all_off_topic_are_told_after_the_last_one() {
        let relevance = |thousandths| Some(Relevance::from_thousandths(thousandths));
        let seeds = |to_come| SeedPages {
            to_come,
            best: None,
        };
        let mut all_off = seeds(3);
        assert_eq!(all_off.count(relevance(10), false), None);
        assert_eq!(all_off.count(None, true), None, "it failed");
        assert_eq!(all_off.count(relevance(5), false), relevance(10));
        assert_eq!(all_off.count(relevance(5), false), None, "told once");
        let mut one_on = seeds(2);
        assert_eq!(one_on.count(relevance(900), true), None);
        assert_eq!(one_on.count(relevance(5), false), None);
        assert_eq!(seeds(1).count(None, true), None, "nothing was judged");
    }

    #[test]
    fn the_recent_harvest_counts_the_last_500_pages_and_none_before_them() {
        let mut recent = RecentPages::default();
        for page in 1..RECENT_PAGES {
            recent.count(true);
            assert_eq!(recent.harvest(), None, "{page}");
        }
        recent.count(false);
        assert_eq!(recent.harvest(), Some(0.998));
        for _ in 0..RECENT_PAGES - 1 {
            recent.count(false);
        }
        assert_eq!(recent.harvest(), Some(0.0));
        recent.count(true);
        assert_eq!(recent.harvest(), Some(0.002));
    }
}
