//! robots.txt, fetched on demand and cached (RFC 9309 section 2.3).
//!
//! | what comes back | what it means | for how long |
//! |---|---|---|
//! | 2xx | the rules in the first 500 KiB | 24 h |
//! | 2xx in a content coding that cannot be removed, or breaks off | nothing may be asked | 30 s |
//! | a redirect, at most five | the last response; past the fifth or to no page: no rules | 24 h |
//! | a redirect without a `Location` that is a URL | the rules in its body | 24 h |
//! | 4xx, even 401 and 403 | no rules: everything may be asked | 24 h |
//! | 429, 5xx | the host is in trouble: nothing may be asked | 30 s |
//! | no response, no address, a private address | nothing may be asked | 30 s |
//! | the connection is lost | nothing may be asked | 1 s at first, then 40 s |
//!
//! The row for 429 is not in the RFC; Google does the same. The time after a lost connection is the
//! wait of the page ([`Consequence`](requests::Consequence)).
//!
//! Every request waits for its host, the hops of a redirect too. Rules that hold for a day outlast
//! the process: callers store [`RobotsResponse::read`] and give it back with
//! [`RobotsCache::recall`].
//!
//! [With site files](RobotsCache::with_site_files), the [`SiteFile`]s are requested together with
//! robots.txt, if it allows them. A file that does not come states nothing (TDMRep section 5.1).

pub(crate) mod file;

use std::fmt;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use requests::PacedResponse;
use web::{
    CanonicalForm, Clock, Exchange, Host, PageUrl, RobotsRules, SiteFile, Timestamp, whole_lines,
};

use self::file::{HOLDS, RobotsError, RobotsFile, RobotsText, is_file, target};
use crate::failure::FetchFailure;
use crate::fetch::Fetch;
use crate::generational_cache::GenerationalCache;
use crate::politeness::pacer::Pacer;

/// The path of the rules.
const ROBOTS: &str = "/robots.txt";
/// Redirects in a row (section 2.3.1.2).
const REDIRECTS: usize = 5;
/// Maximum size of a robots.txt in bytes that is parsed on the reactor, in less than half a
/// millisecond.
const QUICK: usize = 16 << 10;
/// Maximum number of bytes of robots.txt behind all cached rules, and the minimum that each counts.
const REMEMBERED: usize = 32 << 20;
const LEAST: usize = 512;

/// The cached rules of many origins.
pub struct RobotsCache {
    fetch: Arc<dyn Fetch>,
    pacer: Arc<Pacer>,
    agent_token: String,
    clock: Clock,
    reads_site_files: bool,
    origins: Mutex<GenerationalCache<Arc<Origin>>>,
}

/// The rules of a host for us.
#[derive(Clone, Debug)]
pub struct RobotsResponse {
    /// The rules for us.
    pub rules: Arc<RobotsRules>,
    /// The source of the rules.
    pub source: RobotsSource,
    /// The reason why they are [`RobotsSource::Unreachable`], and only then.
    pub error: Option<RobotsError>,
    /// The expiry of the rules. A page that [`RobotsSource::Unreachable`] rules forbid is worth
    /// another try then.
    pub until: Timestamp,
    /// The exchanges of this request, redirects first; empty if the rules were cached.
    pub exchanges: Vec<Exchange>,
    /// The last exchange of each further file with preferences that was requested.
    pub site_files: Vec<Exchange>,
    /// The hosts that were asked for this request, answered or not, from first to last, with
    /// repetitions.
    pub requested: Vec<Host>,
    /// The text that was read for this request and holds for a day.
    pub read: Option<RobotsText>,
}

/// The source of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsSource {
    /// A robots.txt.
    Given,
    /// robots.txt does not exist: everything may be asked.
    Missing,
    /// robots.txt is unavailable: every page is forbidden for the time being.
    Unreachable,
}

/// The rules of one origin. The task that fetches them holds `asking`; other tasks wait there and
/// then look again.
#[derive(Default)]
struct Origin {
    known: Mutex<Option<CachedResponse>>,
    asking: tokio::sync::Mutex<()>,
}

/// A response without the traces of its request.
struct CachedResponse {
    response: RobotsResponse,
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
        let origins = GenerationalCache::new(capacity, REMEMBERED, |origin: &Arc<Origin>| {
            origin.known().as_ref().map_or(0, |known| known.weight)
        });
        Self {
            fetch,
            pacer,
            agent_token,
            clock,
            reads_site_files: false,
            origins: Mutex::new(origins),
        }
    }

    /// Requests further files with preferences of each site.
    #[must_use]
    pub fn with_site_files(self) -> Self {
        Self {
            reads_site_files: true,
            ..self
        }
    }

    /// Returns the rules for `url` if they are cached and hold, and tells the pacer the
    /// `Crawl-delay`.
    #[must_use]
    pub fn cached(&self, url: &PageUrl) -> Option<RobotsResponse> {
        let origin = Arc::clone(self.origins().get(&url.origin())?);
        let response = origin.known_at(self.clock.now())?;
        Some(self.announce(url, response))
    }

    /// Takes over the text that an earlier session read for `url`, unless valid rules are cached.
    /// It holds at most one day from now, even if a changed clock has distorted the time.
    pub async fn recall(&self, url: &PageUrl, text: RobotsText) {
        let now = self.clock.now();
        let until = text.until.min(now + HOLDS);
        let origin = self.origin(url);
        let _asking = origin.asking.lock().await;
        if until <= now || origin.known_at(now).is_some() {
            return;
        }
        let (file, stated) = RobotsFile::remembered(text.lines);
        let known = self.read_rules(file).await;
        self.learn(&origin, known.with_stated(&stated), until);
    }

    /// Returns the rules for `url`, and fetches them if they are not cached. If several tasks want
    /// the same rules at the same time, only one fetches. Tells the pacer the `Crawl-delay` every
    /// time.
    ///
    /// Waits for permits of the host: do not hold one meanwhile.
    pub async fn rules(&self, url: &PageUrl) -> RobotsResponse {
        let origin = self.origin(url);
        let known = origin.known_at(self.clock.now());
        let response = match known {
            Some(known) => known,
            None => self.request(url, &origin).await,
        };
        self.announce(url, response)
    }

    /// Tells the pacer the `Crawl-delay` of a response; without one only if it was just fetched.
    fn announce(&self, url: &PageUrl, response: RobotsResponse) -> RobotsResponse {
        let crawl_delay = response.rules.crawl_delay();
        if !response.exchanges.is_empty() || crawl_delay.is_some() {
            self.pacer.set_crawl_delay(&url.host(), crawl_delay);
        }
        response
    }

    async fn request(&self, url: &PageUrl, origin: &Origin) -> RobotsResponse {
        let _asking = origin.asking.lock().await;
        if let Some(known) = origin.known_at(self.clock.now()) {
            return known;
        }
        let (mut exchanges, mut requested) = (Vec::new(), Vec::new());
        let robots = url.join(ROBOTS, &CanonicalForm::keep_all());
        let file = match robots {
            Ok(robots) => self.follow(robots, &mut exchanges, &mut requested).await,
            Err(_not_a_page) => RobotsFile::Missing,
        };
        let known = self.read_rules(file.clone()).await;
        let (stated, site_files) = match known.error {
            None if self.reads_site_files => self.site_files(url, &known, &mut requested).await,
            _ => Default::default(),
        };
        let until = self.clock.now() + file.holds(origin.was_unreachable());
        let read = file.to_remember(until, &stated);
        RobotsResponse {
            exchanges,
            site_files,
            requested,
            read,
            ..self.learn(origin, known.with_stated(&stated), until)
        }
    }

    /// Fetches the [`SiteFile`]s that robots.txt allows. Returns their statements, a line each, and
    /// the last exchange of each file.
    async fn site_files(
        &self,
        url: &PageUrl,
        known: &ReadFile,
        requested: &mut Vec<Host>,
    ) -> (String, Vec<Exchange>) {
        let (mut stated, mut files) = (String::new(), Vec::new());
        for site_file in SiteFile::ALL {
            let Ok(at) = url.join(site_file.path(), &CanonicalForm::keep_all()) else {
                continue;
            };
            if !known.rules.verdict(&at).allowed {
                continue;
            }
            let mut exchanges = Vec::new();
            if let RobotsFile::Given(body) = self.follow(at, &mut exchanges, requested).await {
                stated.push_str(&site_file.lines(whole_lines(&body), &self.agent_token));
            }
            files.extend(exchanges.pop());
        }
        (stated, files)
    }

    /// Fetches a file and follows its redirects.
    async fn follow(
        &self,
        mut next: PageUrl,
        exchanges: &mut Vec<Exchange>,
        requested: &mut Vec<Host>,
    ) -> RobotsFile {
        for _hop in 0..=REDIRECTS {
            requested.push(next.host());
            let exchange = match self.exchange(&next).await {
                Ok(exchange) => exchange,
                Err(failure) => return RobotsFile::Unreachable(failure.into()),
            };
            let target = target(&exchange);
            let file = RobotsFile::of(&exchange);
            exchanges.push(exchange);
            next = match target {
                Some(Ok(target)) => target,
                Some(Err(_not_a_page)) => return RobotsFile::Missing,
                None => return file,
            };
        }
        RobotsFile::Missing
    }

    async fn exchange(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        let mut exchange = self.exchange_once(url).await?;
        if self.fetch.can_log_in(&exchange) {
            exchange = self.exchange_once(url).await?;
        }
        // The missing part may forbid what the rest allows: a file that is not whole is unreachable
        // (RFC 9309 section 2.3.1.4).
        match FetchFailure::of_incomplete(&exchange) {
            Some(failure) if is_file(&exchange) => Err(failure),
            _ => Ok(exchange),
        }
    }

    /// Makes a request when its host is ready.
    async fn exchange_once(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        let to = self.pacer.politeness_key(&*self.fetch, url).await;
        let permit = self.pacer.permit(to).await;
        let outcome = self.fetch.fetch(url).await;
        let answered = outcome.as_ref().map_err(FetchFailure::kind);
        permit.finish(PacedResponse::of(answered, self.clock.date()));
        outcome
    }

    /// Reads the rules in a file.
    async fn read_rules(&self, file: RobotsFile) -> ReadFile {
        let mut weight = LEAST;
        let (source, rules, error) = match file {
            RobotsFile::Given(body) => {
                weight += body.len();
                (RobotsSource::Given, self.parse(body).await, None)
            }
            RobotsFile::Missing => (RobotsSource::Missing, RobotsRules::allow_all(), None),
            RobotsFile::Unreachable(error) => {
                let rules = RobotsRules::disallow_all();
                (RobotsSource::Unreachable, rules, Some(error))
            }
        };
        ReadFile {
            source,
            rules,
            error,
            weight,
        }
    }

    /// Caches rules.
    fn learn(&self, origin: &Origin, known: ReadFile, until: Timestamp) -> RobotsResponse {
        let response = RobotsResponse {
            rules: Arc::new(known.rules),
            source: known.source,
            error: known.error,
            until,
            exchanges: Vec::new(),
            site_files: Vec::new(),
            requested: Vec::new(),
            read: None,
        };
        *origin.known() = Some(CachedResponse {
            response: response.clone(),
            weight: known.weight,
        });
        self.origins().weigh(known.weight);
        response
    }

    /// Parses a robots.txt; a large file off the reactor.
    async fn parse(&self, body: Bytes) -> RobotsRules {
        if body.len() <= QUICK {
            return RobotsRules::parse(&body, &self.agent_token);
        }
        let agent = self.agent_token.clone();
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

    /// Returns the cached origin of `url`, or adds it.
    fn origin(&self, url: &PageUrl) -> Arc<Origin> {
        let (name, mut origins) = (url.origin(), self.origins());
        if let Some(known) = origins.get(&name) {
            return Arc::clone(known);
        }
        let origin = Arc::<Origin>::default();
        origins.insert(name, Arc::clone(&origin));
        origin
    }

    fn origins(&self) -> MutexGuard<'_, GenerationalCache<Arc<Origin>>> {
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rules in a robots.txt.
struct ReadFile {
    source: RobotsSource,
    rules: RobotsRules,
    error: Option<RobotsError>,
    /// The weight in the cache, in bytes.
    weight: usize,
}

impl ReadFile {
    /// Adds the statements of the [`SiteFile`]s.
    fn with_stated(mut self, stated: &str) -> Self {
        self.rules.add_site_lines(stated.as_bytes());
        self.weight += stated.len();
        self
    }
}

impl Origin {
    fn known(&self) -> MutexGuard<'_, Option<CachedResponse>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_at(&self, now: Timestamp) -> Option<RobotsResponse> {
        let known = self.known();
        let response = known.as_ref().map(|known| &known.response);
        response.filter(|response| response.until > now).cloned()
    }

    /// Returns true if the last fetch of the file failed.
    fn was_unreachable(&self) -> bool {
        let known = self.known();
        known
            .as_ref()
            .is_some_and(|known| known.response.error.is_some())
    }
}

impl fmt::Debug for RobotsCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobotsCache")
            .field("agent_token", &self.agent_token)
            .finish_non_exhaustive()
    }
}
