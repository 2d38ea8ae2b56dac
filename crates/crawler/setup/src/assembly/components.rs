//! The parts of a crawl that write nothing.

use std::sync::{Arc, RwLock};

use crawl::EarlierArchives;
use fetch::{Fetch, FetchOptions, HttpFetch, MemoryBudget, Pacer, RobotsCache, Secrets, Stalls};
use messages::CommandError;
use render::Render;
use settings::crawl_topic::CrawlTopic;
use settings::rules::{pacing, scope};
use settings::seeds::Seeds;
use settings::{Settings, machine};
use shared_store::Session;
use store::EarlierCrawls;
use web::{Clock, Scope};

use super::fence::FencedFetch;
use super::{browser, rules};
use crate::{archiving, earlier, signing};

/// Maximum number of origins whose robots.txt is remembered.
const ROBOTS_REMEMBERED: usize = 100_000;

/// Components that write nothing. Creating them detects wrong settings before the directory exists.
pub struct Components {
    pub(super) scope: Arc<RwLock<Scope>>,
    pub(super) fetch: Arc<dyn Fetch>,
    pub(super) pacer: Arc<Pacer>,
    pub(super) robots: RobotsCache,
    pub(super) earlier: Option<Arc<EarlierCrawls>>,
    pub(super) archives: Option<Arc<EarlierArchives>>,
    pub(super) memory: MemoryBudget,
    pub(super) stalls: Stalls,
    pub(super) topic: Option<CrawlTopic>,
    pub(super) clock: Clock,
    pub(super) render: Option<Arc<dyn Render>>,
}

impl Components {
    /// Creates the components.
    ///
    /// # Errors
    /// A setting is wrong.
    pub fn new(
        settings: &Settings,
        seeds: &Seeds,
        secrets: Secrets,
        clock: &Clock,
        session: Option<&Session>,
    ) -> Result<Self, CommandError> {
        let (memory, stalls) = (MemoryBudget::new(settings.memory()), Stalls::default());
        let options = rules::fetch_options(settings, secrets, clock, &memory, &stalls)?;
        let options = FetchOptions {
            client_certificates: rules::client_certificates(settings, &seeds.urls),
            signer: signing::signer(settings)?,
            ..options
        };
        let fetch = HttpFetch::new(options).map_err(|error| CommandError::of_usage(&error))?;
        let mut fetch: Arc<dyn Fetch> = Arc::new(fetch);
        if let Some(session) = session {
            let term = Arc::clone(session.term());
            fetch = Arc::new(FencedFetch { inner: fetch, term });
        }
        let seed = machine::random()?;
        let pacer = Pacer::seeded(pacing(settings), clock.clone(), seed, stalls.clone());
        let pacer = Arc::new(pacer);
        let robots = RobotsCache::new(
            Arc::clone(&fetch),
            Arc::clone(&pacer),
            settings.agent_token(),
            clock.clone(),
            ROBOTS_REMEMBERED,
        );
        let robots = match settings.respect_preferences.is_empty() {
            true => robots,
            false => robots.with_site_files(),
        };
        let scope = Arc::new(RwLock::new(scope(settings)?));
        archiving::compression(settings)?;
        let topic = CrawlTopic::of(settings)?;
        let earlier = earlier::load(settings)?.map(Arc::new);
        let archives = earlier::archives(settings, earlier.as_ref())?.map(Arc::new);
        Ok(Self {
            scope,
            fetch,
            pacer,
            robots,
            earlier,
            archives,
            memory,
            stalls,
            topic,
            clock: clock.clone(),
            render: None,
        })
    }

    /// Renders pages by `render`, in place of a browser.
    pub fn render_by(&mut self, render: Arc<dyn Render>) {
        self.render = Some(render);
    }

    /// Starts the browser, if scripts are run.
    ///
    /// # Errors
    /// The browser is missing or does not start.
    pub async fn start_browser(&mut self, settings: &Settings) -> Result<(), CommandError> {
        self.render = browser::start(settings).await?;
        Ok(())
    }
}
