//! robots.txt, fetched when it is needed and remembered (RFC 9309 section 2.3).
//!
//! | what comes back | what it means | for how long |
//! |---|---|---|
//! | 2xx | the rules in the first 500 KiB | 24 h |
//! | a redirect, at most five in a row | what the last one says; past the fifth or into nowhere: no rules | 24 h |
//! | 4xx, even 401 and 403 | no rules: everything may be asked | 24 h |
//! | 429, 5xx | the host is in trouble: nothing may be asked (429 is not in the RFC; Google does the same) | 30 s |
//! | no answer, no address, a private address | nothing may be asked | 30 s |
//!
//! Every request waits for its host's turn, the hops of a redirect too.

use std::collections::HashMap;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use web::{CanonicalForm, Clock, Exchange, MAX_ROBOTS_BYTES, PageUrl, RobotsRules, Timestamp};

use crate::{Answer, Fetch, FetchFailure, Pacer, decode};

/// Bytes of robots.txt that are decoded: one more than are read, so that a line that is cut shows.
const READ: u64 = MAX_ROBOTS_BYTES as u64 + 1;
/// Redirects in a row (section 2.3.1.2).
const REDIRECTS: usize = 5;
/// How long an answer holds (section 2.4).
const HOLDS: Duration = Duration::from_secs(24 * 3600);
/// How long "nothing may be asked" holds before the host is tried again.
const HOLDS_UNREACHABLE: Duration = Duration::from_secs(30);
/// Bytes of robots.txt that are parsed in less than half a millisecond.
const QUICK: usize = 16 << 10;
/// Bytes of robots.txt that all remembered rules together may stem from, and what each costs at least.
const REMEMBERED: usize = 32 << 20;
const LEAST: usize = 512;

/// The rules of many origins.
pub struct RobotsCache {
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    agent_token: String,
    clock: Clock,
    origins: Mutex<Origins>,
}

/// What a host lets us ask for.
#[derive(Clone, Debug)]
pub struct RobotsAnswer {
    /// The rules for us.
    pub rules: Arc<RobotsRules>,
    /// Where they come from.
    pub standing: RobotsStanding,
    /// When they are to be asked for again: where they are [`RobotsStanding::Unreachable`], a page that they
    /// forbid is worth another try then.
    pub until: Timestamp,
    /// What was fetched just now, redirects first; empty where the rules were remembered.
    pub exchanges: Vec<Exchange>,
}

/// Where rules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsStanding {
    /// From a robots.txt.
    Given,
    /// There is no robots.txt: everything may be asked.
    Missing,
    /// It could not be had: nothing may be asked for the time being.
    Unreachable,
}

/// The rules of one origin. Whoever fetches them holds `asking`; the others wait there and then look again.
#[derive(Default)]
struct Origin {
    known: Mutex<Option<Known>>,
    asking: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Known {
    rules: Arc<RobotsRules>,
    standing: RobotsStanding,
    until: Timestamp,
    weight: usize,
}

impl RobotsCache {
    /// A cache that knows nothing yet. `agent_token` is the name by which robots.txt may call us, without
    /// version; `capacity` how many origins are remembered.
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

    /// The rules for `url` where they are known and hold, without asking anybody.
    #[must_use]
    pub fn cached(&self, url: &PageUrl) -> Option<Arc<RobotsRules>> {
        let origin = self.origins().get(&url.origin())?;
        origin.known_at(self.clock.now()).map(|known| known.rules)
    }

    /// The rules for `url`, asked for where they are not known. Of tasks that want the same rules at the
    /// same time, one fetches. The pacer is told about `Crawl-delay` every time.
    ///
    /// Waits for turns of the host: do not hold one meanwhile.
    pub async fn rules(&self, url: &PageUrl) -> RobotsAnswer {
        let origin = self.origins().get_or_insert(url.origin());
        let (known, exchanges) = match origin.known_at(self.clock.now()) {
            Some(known) => (known, Vec::new()),
            None => self.ask(url, &origin).await,
        };
        if !exchanges.is_empty() || known.rules.crawl_delay().is_some() {
            self.pacer.ask_crawl_delay(&url.host(), known.rules.crawl_delay());
        }
        RobotsAnswer {
            rules: known.rules,
            standing: known.standing,
            until: known.until,
            exchanges,
        }
    }

    async fn ask(&self, url: &PageUrl, origin: &Origin) -> (Known, Vec<Exchange>) {
        let _asking = origin.asking.lock().await;
        if let Some(known) = origin.known_at(self.clock.now()) {
            return (known, Vec::new());
        }
        let mut exchanges = Vec::new();
        let reading = self.follow(url, &mut exchanges).await;
        let known = self.known(reading).await;
        *origin.known() = Some(known.clone());
        self.origins().weigh(known.weight);
        (known, exchanges)
    }

    /// Fetches /robots.txt and what it redirects to.
    async fn follow(&self, url: &PageUrl, exchanges: &mut Vec<Exchange>) -> Reading {
        let form = CanonicalForm::keep_all();
        let Ok(mut next) = url.join("/robots.txt", &form) else {
            return Reading::Missing;
        };
        for _hop in 0..=REDIRECTS {
            let exchange = match self.exchange(&next).await {
                Ok(exchange) => exchange,
                Err(_failure) => return Reading::Unreachable,
            };
            let target = exchange.location().map(|location| next.join(location, &form));
            let reading = Reading::of(&exchange);
            exchanges.push(exchange);
            next = match target {
                Some(Ok(target)) => target,
                Some(Err(_not_a_page)) => return Reading::Missing,
                None => return reading,
            };
        }
        Reading::Missing
    }

    async fn exchange(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        let turn = self.pacer.turn(&url.host()).await;
        let outcome = self.fetch.fetch(url).await;
        turn.finish(Answer::of(&outcome, self.clock.now()));
        outcome
    }

    async fn known(&self, reading: Reading) -> Known {
        let (standing, holds) = match reading {
            Reading::Given(_) => (RobotsStanding::Given, HOLDS),
            Reading::Missing => (RobotsStanding::Missing, HOLDS),
            Reading::Unreachable => (RobotsStanding::Unreachable, HOLDS_UNREACHABLE),
        };
        let (rules, weight) = match reading {
            Reading::Given(body) => (self.parse(&body).await, body.len() + LEAST),
            Reading::Missing => (RobotsRules::allow_all(), LEAST),
            Reading::Unreachable => (RobotsRules::disallow_all(), LEAST),
        };
        Known {
            rules: Arc::new(rules),
            standing,
            until: self.clock.now() + holds,
            weight,
        }
    }

    /// Large files are read off the reactor.
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
                // The runtime is shutting down: nobody will ask for these any more.
                Err(_cancelled) => RobotsRules::disallow_all(),
            },
        }
    }

    fn origins(&self) -> MutexGuard<'_, Origins> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an exchange comes to.
enum Reading {
    Given(Bytes),
    Missing,
    Unreachable,
}

impl Reading {
    fn of(exchange: &Exchange) -> Self {
        match exchange.status {
            200..=299 => Self::Given(decode(&exchange.headers, &exchange.body, READ).bytes),
            429 | 500.. => Self::Unreachable,
            _ => Self::Missing,
        }
    }
}

impl Origin {
    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_at(&self, now: Timestamp) -> Option<Known> {
        self.known().as_ref().filter(|known| known.until > now).cloned()
    }
}

/// Two generations of origins: whatever is asked for moves to the young one, and when that is full, the old
/// one is forgotten and the young one grows old. So the size is bounded, what is in use stays, and there is
/// no list to keep in order.
struct Origins {
    young: HashMap<String, Arc<Origin>>,
    old: HashMap<String, Arc<Origin>>,
    /// What the rules of the young generation weigh.
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

    /// Rules have come to an origin of the young generation.
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
