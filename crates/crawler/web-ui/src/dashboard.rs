//! The dashboard: pages that show a crawl during or after its run, from its own process or another.
//!
//! Each view is a module with a handler (`show`), a value with its statistics, and a template in
//! `templates/dashboard`, which shares fragments with the report. A handler works in three steps:
//! it reads the question, looks at the statistics off the reactor, and renders. `frame.rs` is
//! common to all pages.
//!
//! The dashboard knows a directory but not a running crawl: it reads the journal, the archive and
//! the search index, and takes no lock (docs/adr/0019). Answers that need the settings of the crawl
//! come from [`CrawlQueries`].
//!
//! Invariants: text from the web is escaped and cut; a list has at most [`caps::LISTED`] entries or
//! is paged; no route opens a file whose name came with a request.
//!
//! [`caps::LISTED`]: crate::caps::LISTED

pub(crate) mod cluster;
pub(crate) mod difference;
pub(crate) mod duplicates;
pub(crate) mod frame;
pub(crate) mod hosts;
pub(crate) mod in_flight;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod problems;
pub(crate) mod replay;
pub(crate) mod search;
pub(crate) mod selection;
pub(crate) mod similar;
pub(crate) mod skipped;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use comparison::DifferingBlock;
use differences::Pair;
use journal::{Fate, VisitRecord};
use policy::control_file::ControlRecord;
use serde::{Serialize, Serializer};
use statistics::CrawlStatistics;
use tokio::sync::Semaphore;
use web::{CanonicalForm, Clock, PageUrl};

use crate::access::Granted;
use crate::caps;
use crate::controls::file::PauseButton;
use crate::dashboard::frame::{CrawlState, Frame, Refusal, Tab};
use crate::format::cut;
use crate::in_flight::UrlsInFlight;
use crate::live_statistics::{LiveStatistics, Look};
use crate::machine;
use crate::min_delays::MinDelays;
use crate::report::Setting;

/// Questions that read the whole journal, at a time: each takes seconds of a large crawl.
const SLOW_QUESTIONS: usize = 1;

/// Captures that are read and rewritten at a time: each may take some hundred megabytes.
const REPLAYED: usize = 4;

/// The crawl that a dashboard shows.
pub struct WatchedCrawl {
    /// Its directory, which has `control.toml`.
    pub directory: PathBuf,
    /// The directory of its state.
    pub state: PathBuf,
    /// The directory of its archive.
    pub archive: PathBuf,
    /// The directory of its search index.
    pub search: PathBuf,
    /// The seeds' hosts, in words.
    pub title: String,
    /// The settings of the last session, without secrets.
    pub settings: Vec<Setting>,
    /// The shortest waits of hosts.
    pub min_delays: MinDelays,
    /// The canonical form for comparing its URLs.
    pub form: CanonicalForm,
    /// True if the crawl applies the `control.toml` of its directory.
    pub takes_actions: bool,
    /// Answers that need its settings.
    pub queries: CrawlQueries,
}

/// Answers that need the settings of a crawl, which only the binary reads. Each answer reads files,
/// so it is called off the reactor.
pub struct CrawlQueries {
    /// Explains which rule decided on a URL. Reads the whole journal.
    pub explain: Question<Explanation>,
    /// Lists the kept pages that are similar to a page, nearest first. Reads the whole journal.
    pub similar: Question<Vec<SimilarPage>>,
    /// Compares a page with the original that it repeats. Reads the whole journal.
    pub pair: Question<JudgedPair>,
    /// Reads the text of the page whose record is at an offset of an archive file; `None` if it has
    /// no text.
    pub text: ReadText,
    /// Writes the visits that a filter takes as the CSV of `crawler export`. Reads the whole
    /// journal. Refuses more than this number of bytes.
    pub visits_csv: WriteVisits,
    /// Writes the hosts whose names contain some letters as the CSV of `crawler status --hosts`.
    /// Refuses more than this number of bytes.
    pub hosts_csv: WriteHosts,
    /// Lists changes since an earlier crawl, with the number of those that come first, and the
    /// maximum number of entries. Reads both journals and the texts of pages that changed. `None`
    /// without an earlier crawl.
    pub changes: Option<ListChanges>,
}

/// A question about a URL, and its answer or the reason for a missing answer.
pub type Question<A> = Box<dyn Fn(&str) -> Result<A, String> + Send + Sync>;

/// A reader of the text of the record at an offset of an archive file.
pub type ReadText = Box<dyn Fn(&str, u64) -> Option<String> + Send + Sync>;

/// A writer of the visits that a filter takes, up to a number of bytes.
pub type WriteVisits =
    Box<dyn Fn(&dyn Fn(&VisitRecord) -> bool, usize) -> Result<Vec<u8>, String> + Send + Sync>;

/// A writer of the hosts whose names contain some letters, up to a number of bytes.
pub type WriteHosts =
    Box<dyn Fn(&CrawlStatistics, &str, usize) -> Result<Vec<u8>, String> + Send + Sync>;

/// A lister of changes of a kind, or of all kinds but `unchanged`.
pub type ListChanges =
    Box<dyn Fn(Option<&str>, usize, usize) -> Result<ListedChanges, String> + Send + Sync>;

/// A part of the list of changes since an earlier crawl.
#[derive(Clone, Debug, Default)]
pub struct ListedChanges {
    /// The number of pages of each kind.
    pub counts: BTreeMap<&'static str, u64>,
    /// The number of entries of the whole list.
    pub total: usize,
    /// Entries as `crawler changes` prints them.
    pub listed: Vec<serde_json::Value>,
}

/// The rule that decided on a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict, as in `crawler why`.
    pub verdict: String,
    /// The reason.
    pub reason: String,
}

impl Explanation {
    /// Returns the rule that decided on a visited URL.
    pub(crate) fn of(visit: &VisitRecord) -> Self {
        let kept = || "its content is new, and was archived".to_owned();
        Self {
            verdict: visit.fate.as_str().to_owned(),
            reason: visit.reason_text().unwrap_or_else(kept),
        }
    }
}

/// A page that repeats another, its original, and the visit with the verdict.
#[derive(Clone, Debug)]
pub struct JudgedPair {
    /// The two pages.
    pub pair: Pair,
    /// The visit of the page that repeats the other.
    pub visit: VisitRecord,
    /// The blocks that differ, if both texts are known.
    pub blocks: Vec<DifferingBlock>,
}

/// A page that is similar to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarPage {
    /// Its URL.
    pub url: String,
    /// The crawl's verdict on it.
    #[serde(serialize_with = "by_word")]
    pub verdict: Fate,
    /// Bits between the two fingerprints.
    pub distance: u32,
    /// The estimated resemblance of the two texts, 0 to 1.
    pub resemblance: f64,
}

/// Serializes the word of a verdict.
fn by_word<S: Serializer>(fate: &Fate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(fate.as_str())
}

/// All that the views share.
pub(crate) struct Dashboard {
    pub(crate) crawl: WatchedCrawl,
    pub(crate) figures: LiveStatistics,
    pub(crate) urls_in_flight: UrlsInFlight,
    pub(crate) clock: Clock,
    /// Held from the reading of control.toml to its replacement.
    pub(crate) write_lock: Mutex<()>,
    /// The secret in the addresses of captures.
    pub(crate) replay_key: String,
    slow_questions: Arc<Semaphore>,
    replayed: Arc<Semaphore>,
}

impl Dashboard {
    pub(crate) fn new(crawl: WatchedCrawl, clock: Clock, replay_key: String) -> Arc<Self> {
        Arc::new(Self {
            figures: LiveStatistics::of(crawl.state.clone()),
            urls_in_flight: UrlsInFlight::default(),
            crawl,
            clock,
            write_lock: Mutex::new(()),
            replay_key,
            slow_questions: Arc::new(Semaphore::new(SLOW_QUESTIONS)),
            replayed: Arc::new(Semaphore::new(REPLAYED)),
        })
    }

    /// Answers off the reactor: views read files, and sort.
    pub(crate) async fn answer<T: Send + 'static>(
        self: &Arc<Self>,
        answer: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let dashboard = Arc::clone(self);
        let answered = tokio::task::spawn_blocking(move || answer(&dashboard)).await;
        answered.unwrap_or_else(|_panicked| Err(Refusal::Fault))
    }

    /// Answers a question that reads the whole journal, one at a time.
    pub(crate) async fn answer_slowly<T: Send + 'static>(
        self: &Arc<Self>,
        answer: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.answer_in_turn(&self.slow_questions, answer).await
    }

    /// Answers with a capture, a bounded number at a time.
    pub(crate) async fn replay<T: Send + 'static>(
        self: &Arc<Self>,
        answer: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.answer_in_turn(&self.replayed, answer).await
    }

    async fn answer_in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        turns: &Arc<Semaphore>,
        answer: impl FnOnce(&Self) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = Arc::clone(turns).acquire_owned().await;
        let turn = turn.map_err(|_closed| Refusal::Fault)?;
        self.answer(move |dashboard| {
            let answer = answer(dashboard);
            // The turn lasts as long as the reading, even if nobody waits for it any more.
            drop(turn);
            answer
        })
        .await
    }

    /// Looks at the present statistics.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Look<'_>) -> T) -> T {
        self.figures.look(self.clock.now(), look)
    }

    /// Reads the URL of a question.
    pub(crate) fn parse(&self, url: &str) -> Result<PageUrl, Refusal> {
        PageUrl::parse(url.trim(), &self.crawl.form)
            .map_err(|error| Refusal::Question(format!("{:?}: {error}", cut(url, caps::ADDRESS))))
    }

    /// Returns the frame of a page.
    pub(crate) fn frame(&self, tab: Tab, granted: Granted, look: &Look<'_>) -> Frame {
        let may_change = granted == Granted::Change;
        let pause = self.pause_button();
        let state = self.state(pause.as_ref(), look);
        // A crawl that is complete has nothing to pause.
        let is_offered =
            |pause: &PauseButton| may_change && (pause.is_paused || state != CrawlState::Complete);
        let damage = look.damage.map(|damage| cut(damage, caps::VALUE));
        Frame {
            title: cut(&self.crawl.title, caps::TEXT),
            directory: cut(&self.crawl.directory.display().to_string(), caps::TEXT),
            tab,
            state,
            pause: pause.filter(is_offered),
            notices: damage.into_iter().collect(),
            may_change,
            is_live: !matches!(tab, Tab::Search | Tab::Elsewhere),
        }
    }

    /// Returns the state of the crawl.
    pub(crate) fn state(&self, pause: Option<&PauseButton>, look: &Look<'_>) -> CrawlState {
        let is_running = machine::process(&self.crawl.state).is_some();
        let record = ControlRecord::of(&self.crawl.state).unwrap_or_default();
        let overrides = record.overrides().ok().flatten();
        let is_paused = overrides.is_some_and(|overrides| overrides.pause);
        let pauses = pause.map_or(is_paused, |pause| pause.is_paused);
        CrawlState::of(is_running, is_paused, pauses, look.statistics.counts())
    }

    /// Returns the button that pauses or resumes the crawl; `None` if its control.toml cannot be
    /// changed.
    pub(crate) fn pause_button(&self) -> Option<PauseButton> {
        let takes_actions = self.crawl.takes_actions;
        takes_actions.then(|| PauseButton::of(&self.crawl.directory))?
    }
}
