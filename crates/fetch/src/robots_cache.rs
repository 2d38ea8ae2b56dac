//! robots.txt, fetched on demand and cached (RFC 9309 section 2.3).
//!
//! | what comes back | what it means | for how long |
//! |---|---|---|
//! | 2xx | the rules in the first 500 KiB | 24 h |
//! | a redirect, at most five | the last answer; past the fifth or into nowhere: no rules | 24 h |
//! | 4xx, even 401 and 403 | no rules: everything may be asked | 24 h |
//! | 429, 5xx | the host is in trouble: nothing may be asked | 30 s |
//! | no answer, no address, a private address | nothing may be asked | 30 s |
//!
//! The row for 429 is not in the RFC; Google does the same.
//!
//! Every request waits for its host, the hops of a redirect too. Rules that hold for a day outlast
//! the process: callers store [`RobotsAnswer::read`] and give it back with [`RobotsCache::recall`].

use std::collections::HashMap;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use web::{
    CanonicalForm, Clock, Exchange, Host, MAX_ROBOTS_BYTES, PageUrl, RobotsRules, Timestamp,
    whole_lines,
};

use crate::client::decode::decode;
use crate::failure::FetchFailure;
use crate::fetch::Fetch;
use crate::politeness::pacer::Pacer;
use crate::politeness::pacing::Answer;

/// Bytes of robots.txt that are decoded: one more than are read, so that a cut line shows.
const READ: u64 = MAX_ROBOTS_BYTES as u64 + 1;
/// Redirects in a row (section 2.3.1.2).
const REDIRECTS: usize = 5;
/// The time that an answer holds (section 2.4).
const HOLDS: Duration = Duration::from_secs(24 * 3600);
/// The time that "nothing may be asked" holds before the host is tried again.
const HOLDS_UNREACHABLE: Duration = Duration::from_secs(30);
/// The most bytes of robots.txt that are parsed on the reactor, in less than half a millisecond.
const QUICK: usize = 16 << 10;
/// The most bytes of robots.txt behind all cached rules, and the least that each counts.
const REMEMBERED: usize = 32 << 20;
const LEAST: usize = 512;

/// The cached rules of many origins.
pub struct RobotsCache {
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    agent_token: String,
    clock: Clock,
    origins: Mutex<Origins>,
}

/// The rules of a host for us.
#[derive(Clone, Debug)]
pub struct RobotsAnswer {
    /// The rules for us.
    pub rules: Arc<RobotsRules>,
    /// The source of the rules.
    pub source: RobotsSource,
    /// The reason why they are [`RobotsSource::Unreachable`], and only then.
    pub error: Option<RobotsError>,
    /// The time until which they hold. A page that [`RobotsSource::Unreachable`] rules forbid is
    /// worth another try then.
    pub until: Timestamp,
    /// The exchanges of this request, redirects first; empty if the rules were cached.
    pub exchanges: Vec<Exchange>,
    /// The hosts that were asked for this request, answered or not, in order, with repetitions.
    pub asked: Vec<Host>,
    /// The text that was read for this request and holds for a day.
    pub read: Option<RobotsText>,
}

/// The text of a robots.txt, to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsText {
    /// Its lines, at most [`MAX_ROBOTS_BYTES`]; none if there is no robots.txt.
    pub lines: Option<Bytes>,
    /// The time until which it holds.
    pub until: Timestamp,
}

/// The source of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsSource {
    /// A robots.txt.
    Given,
    /// There is no robots.txt: everything may be asked.
    Missing,
    /// robots.txt is unavailable: nothing may be asked for the time being.
    Unreachable,
}

/// The reason why a robots.txt is unavailable, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobotsError {
    /// There was no answer.
    #[error(transparent)]
    Lost(#[from] FetchFailure),
    /// There was an answer with this status: the host is in trouble.
    #[error("HTTP status {0}")]
    Status(u16),
}

/// The rules of one origin. The task that fetches them holds `asking`; the others wait there and
/// then look again.
#[derive(Default)]
struct Origin {
    known: Mutex<Option<CachedRules>>,
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct CachedRules {
    rules: Arc<RobotsRules>,
    source: RobotsSource,
    error: Option<RobotsError>,
    until: Timestamp,
    weight: usize,
}

impl RobotsCache {
    /// Returns an empty cache. `agent_token` is our product token in robots.txt, without version;
    /// `capacity` is the number of origins that are cached.
    pub fn new(
        fetch: Arc<dyn Fetch>,
        pacer: Arc<Pacer>,
        agent_token: String,
        clock: Clock,
        capacity: usize,
    ) -> Self {
        let origins = Mutex::new(Origins::new(capacity, REMEMBERED));
        Self {
            fetch,
            pacer,
            agent_token,
            clock,
            origins,
        }
    }

    /// Returns the rules for `url` if they are cached and hold, and tells the pacer the
    /// `Crawl-delay`.
    #[must_use]
    pub fn cached(&self, url: &PageUrl) -> Option<RobotsAnswer> {
        let origin = self.origins().get(&url.origin())?;
        let known = origin.known_at(self.clock.now())?;
        Some(self.answer(url, known, FetchLog::default()))
    }

    /// Takes over the text that an earlier session read for `url`, unless rules are cached that
    /// hold. It holds no longer than a day from now, whatever a changed clock may have made of the
    /// time.
    pub async fn recall(&self, url: &PageUrl, text: RobotsText) {
        let now = self.clock.now();
        let until = text.until.min(now + HOLDS);
        let origin = self.origins().get_or_insert(url.origin());
        let _asking = origin.asking.lock().await;
        if until <= now || origin.known_at(now).is_some() {
            return;
        }
        let reading = text.lines.map_or(RobotsFile::Missing, RobotsFile::Given);
        let known = self.known(&reading, until).await;
        self.learn(&origin, known);
    }

    /// Returns the rules for `url`, and fetches them if they are not cached. Of tasks that want the
    /// same rules at the same time, one fetches. Tells the pacer the `Crawl-delay` every time.
    ///
    /// Waits for permits of the host: do not hold one meanwhile.
    pub async fn rules(&self, url: &PageUrl) -> RobotsAnswer {
        let origin = self.origins().get_or_insert(url.origin());
        let (known, asking) = match origin.known_at(self.clock.now()) {
            Some(known) => (known, FetchLog::default()),
            None => self.ask(url, &origin).await,
        };
        self.answer(url, known, asking)
    }

    fn answer(&self, url: &PageUrl, known: CachedRules, asking: FetchLog) -> RobotsAnswer {
        let crawl_delay = known.rules.crawl_delay();
        if !asking.exchanges.is_empty() || crawl_delay.is_some() {
            self.pacer.ask_crawl_delay(&url.host(), crawl_delay);
        }
        RobotsAnswer {
            rules: known.rules,
            source: known.source,
            error: known.error,
            until: known.until,
            exchanges: asking.exchanges,
            asked: asking.hosts,
            read: asking.read,
        }
    }

    async fn ask(&self, url: &PageUrl, origin: &Origin) -> (CachedRules, FetchLog) {
        let _asking = origin.asking.lock().await;
        let mut asking = FetchLog::default();
        if let Some(known) = origin.known_at(self.clock.now()) {
            return (known, asking);
        }
        let reading = self.follow(url, &mut asking).await;
        let until = self.clock.now() + reading.holds();
        let known = self.known(&reading, until).await;
        self.learn(origin, known.clone());
        asking.read = reading.to_remember(until);
        (known, asking)
    }

    fn learn(&self, origin: &Origin, known: CachedRules) {
        let weight = known.weight;
        *origin.known() = Some(known);
        self.origins().weigh(weight);
    }

    /// Fetches /robots.txt and follows its redirects.
    async fn follow(&self, url: &PageUrl, asking: &mut FetchLog) -> RobotsFile {
        let form = CanonicalForm::keep_all();
        let Ok(mut next) = url.join("/robots.txt", &form) else {
            return RobotsFile::Missing;
        };
        for _hop in 0..=REDIRECTS {
            asking.hosts.push(next.host());
            let exchange = match self.exchange(&next).await {
                Ok(exchange) => exchange,
                Err(failure) => return RobotsFile::Unreachable(failure.into()),
            };
            let target = exchange
                .location()
                .map(|location| next.join(&location, &form));
            let reading = RobotsFile::of(&exchange);
            asking.exchanges.push(exchange);
            next = match target {
                Some(Ok(target)) => target,
                Some(Err(_not_a_page)) => return RobotsFile::Missing,
                None => return reading,
            };
        }
        RobotsFile::Missing
    }

    async fn exchange(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        let to = self.pacer.politeness_key(&*self.fetch, url).await;
        let permit = self.pacer.permit(to).await;
        let outcome = self.fetch.fetch(url).await;
        permit.finish(Answer::of(&outcome, self.clock.date()));
        outcome
    }

    async fn known(&self, reading: &RobotsFile, until: Timestamp) -> CachedRules {
        let (source, rules, weight) = match reading {
            RobotsFile::Given(body) => (
                RobotsSource::Given,
                self.parse(body).await,
                body.len() + LEAST,
            ),
            RobotsFile::Missing => (RobotsSource::Missing, RobotsRules::allow_all(), LEAST),
            RobotsFile::Unreachable(_) => (
                RobotsSource::Unreachable,
                RobotsRules::disallow_all(),
                LEAST,
            ),
        };
        CachedRules {
            rules: Arc::new(rules),
            source,
            error: match reading {
                RobotsFile::Unreachable(error) => Some(error.clone()),
                RobotsFile::Given(_) | RobotsFile::Missing => None,
            },
            until,
            weight,
        }
    }

    /// Parses a robots.txt; a large file off the reactor.
    async fn parse(&self, body: &Bytes) -> RobotsRules {
        if body.len() <= QUICK {
            return RobotsRules::parse(body, &self.agent_token);
        }
        let (body, agent) = (body.clone(), self.agent_token.clone());
        let parsing = tokio::task::spawn_blocking(move || RobotsRules::parse(&body, &agent));
        match parsing.await {
            Ok(rules) => rules,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime is shutting down: nobody will ask for these rules.
                Err(_cancelled) => RobotsRules::disallow_all(),
            },
        }
    }

    fn origins(&self) -> MutexGuard<'_, Origins> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The traces of a fetch, beside the rules.
#[derive(Default)]
struct FetchLog {
    exchanges: Vec<Exchange>,
    hosts: Vec<Host>,
    read: Option<RobotsText>,
}

/// The result of an exchange.
enum RobotsFile {
    Given(Bytes),
    Missing,
    /// The reason.
    Unreachable(RobotsError),
}

impl RobotsFile {
    fn of(exchange: &Exchange) -> Self {
        match exchange.status {
            200..=299 => Self::Given(decode(&exchange.headers, &exchange.body, READ).bytes),
            status @ (429 | 500..) => Self::Unreachable(RobotsError::Status(status)),
            _ => Self::Missing,
        }
    }

    fn holds(&self) -> Duration {
        match self {
            Self::Given(_) | Self::Missing => HOLDS,
            Self::Unreachable(_) => HOLDS_UNREACHABLE,
        }
    }

    /// Returns the text to store. A host in trouble is asked again soon, and not worth storing.
    fn to_remember(&self, until: Timestamp) -> Option<RobotsText> {
        let lines = match self {
            Self::Given(body) => Some(body.slice(..whole_lines(body).len())),
            Self::Missing => None,
            Self::Unreachable(_) => return None,
        };
        Some(RobotsText { lines, until })
    }
}

impl Origin {
    fn known(&self) -> MutexGuard<'_, Option<CachedRules>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_at(&self, now: Timestamp) -> Option<CachedRules> {
        self.known()
            .as_ref()
            .filter(|known| known.until > now)
            .cloned()
    }
}

/// A cache of two generations: an origin that is asked for moves to the young one, and when that is
/// full, the old one is dropped and the young one becomes the old. So the size is bounded, origins
/// in use stay, and there is no list to keep in order.
struct Origins {
    young: HashMap<String, Arc<Origin>>,
    old: HashMap<String, Arc<Origin>>,
    /// The weight of the young generation's rules.
    weight: usize,
    most: usize,
    most_weight: usize,
}

impl Origins {
    fn new(most: usize, most_weight: usize) -> Self {
        let (young, old) = (HashMap::new(), HashMap::new());
        Self {
            young,
            old,
            weight: 0,
            most: (most / 2).max(1),
            most_weight: most_weight / 2,
        }
    }

    fn get(&mut self, name: &str) -> Option<Arc<Origin>> {
        if let Some(origin) = self.young.get(name) {
            return Some(Arc::clone(origin));
        }
        let (name, origin) = self.old.remove_entry(name)?;
        Some(self.insert(name, origin))
    }

    fn get_or_insert(&mut self, name: String) -> Arc<Origin> {
        match self.get(&name) {
            Some(origin) => origin,
            None => self.insert(name, Arc::default()),
        }
    }

    fn insert(&mut self, name: String, origin: Arc<Origin>) -> Arc<Origin> {
        let weight = origin.known().as_ref().map_or(0, |known| known.weight);
        self.weigh(weight);
        if self.young.len() >= self.most {
            self.grow_old();
        }
        self.young.insert(name, Arc::clone(&origin));
        origin
    }

    /// Adds the weight of new rules to the young generation.
    fn weigh(&mut self, weight: usize) {
        self.weight += weight;
        if self.weight > self.most_weight {
            self.grow_old();
            self.weight = weight;
        }
    }

    fn grow_old(&mut self) {
        self.old = std::mem::take(&mut self.young);
        self.weight = 0;
    }
}

impl fmt::Debug for RobotsCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobotsCache")
            .field("agent_token", &self.agent_token)
            .finish_non_exhaustive()
    }
}
