//! Chromium as a renderer: a bounded number of tabs, in a browser that is replaced in time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::devtools::DevTools;
use crate::failure::{LaunchError, RenderFailure};
use crate::find::find_browser;
use crate::launch::Process;
use crate::options::ChromiumOptions;
use crate::seam::{PageNetwork, PageSource, Render, RenderLimits, Rendering};
use crate::self_test;
use crate::tab::Tab;
use crate::traffic::interception;

/// Number of pages after which a browser is replaced: its memory grows.
const MAX_PAGES: usize = 200;

/// Number of pages after which the memory of a browser is measured.
const PAGES_PER_MEASUREMENT: usize = 4;

/// Maximum time that a browser takes to start.
const START: Duration = Duration::from_secs(30);

/// A renderer that runs Chromium. Dropping it ends the browser and waits for that.
#[derive(Debug)]
pub struct Chromium {
    program: PathBuf,
    options: ChromiumOptions,
    tabs: Semaphore,
    current: Mutex<Option<Generation>>,
}

/// A browser and the number of pages that it was given.
#[derive(Debug)]
struct Generation {
    browser: Arc<Browser>,
    pages: usize,
}

/// A running browser. It ends with the last page that it renders.
#[derive(Debug)]
struct Browser {
    devtools: DevTools,
    process: Process,
}

impl Chromium {
    /// Starts a browser and renders the page of its self-test.
    ///
    /// # Errors
    /// [`LaunchError`] if no browser is found, or if it cannot start or render the test page.
    pub async fn start(options: ChromiumOptions) -> Result<Self, LaunchError> {
        let program = find_browser(options.program.as_deref())?;
        let browser = Arc::new(Browser::start_twice(&program, &options).await?);
        let tabs = Semaphore::new(options.tabs.max(1));
        let current = Mutex::new(Some(Generation { browser, pages: 0 }));
        let chromium = Self {
            program,
            options,
            tabs,
            current,
        };
        let unknown = || "unknown version".to_owned();
        let mut tested = self_test::run(&chromium).await;
        if tested == Err(RenderFailure::TabCrashed) {
            tracing::warn!("the browser ended during its self-test; one more try");
            tested = self_test::run(&chromium).await;
        }
        match tested {
            Ok(()) => Ok(chromium),
            Err(source) => Err(LaunchError::SelfTest {
                version: chromium.version().await.unwrap_or_else(unknown),
                program: chromium.program,
                source,
            }),
        }
    }

    /// Returns what the browser calls itself, such as `Chrome/148.0.7778.167`.
    async fn version(&self) -> Option<String> {
        let browser = self.browser().await.ok()?;
        let called = browser.devtools.call("Browser.getVersion", json!({}), None);
        called.await.ok()?["product"].as_str().map(str::to_owned)
    }

    /// Returns the browser for the next page. Replaces one that is gone, had its pages, or takes
    /// too much memory.
    async fn browser(&self) -> Result<Arc<Browser>, RenderFailure> {
        let mut current = self.current.lock().await;
        if let Some(generation) = current.as_mut()
            && generation.takes_a_page(self.options.max_memory).await
        {
            generation.pages += 1;
            return Ok(Arc::clone(&generation.browser));
        }
        *current = None;
        let started = Browser::start_twice(&self.program, &self.options).await;
        let browser = started.map_err(|error| RenderFailure::BrowserGone(error.to_string()))?;
        let browser = Arc::new(browser);
        *current = Some(Generation {
            browser: Arc::clone(&browser),
            pages: 1,
        });
        Ok(browser)
    }
}

#[async_trait]
impl Render for Chromium {
    async fn render(
        &self,
        page: &PageSource,
        network: &dyn PageNetwork,
        limits: &RenderLimits,
    ) -> Result<Rendering, RenderFailure> {
        let permit = self.tabs.acquire().await;
        let _permit = permit.map_err(|closed| RenderFailure::BrowserGone(closed.to_string()))?;
        let browser = self.browser().await?;
        Tab {
            devtools: &browser.devtools,
            page,
            limits,
        }
        .render(network)
        .await
    }
}

impl Generation {
    /// Returns true if the browser can render one more page.
    async fn takes_a_page(&self, max_memory: u64) -> bool {
        let pages = self.pages;
        if pages >= MAX_PAGES || self.browser.devtools.is_closed() {
            return false;
        }
        if !pages.is_multiple_of(PAGES_PER_MEASUREMENT) {
            return true;
        }
        let memory = self.browser.process.memory().await;
        let is_large = memory > max_memory;
        if is_large {
            tracing::info!(
                memory,
                pages,
                "the browser takes too much memory and is replaced"
            );
        }
        !is_large
    }
}

impl Browser {
    /// Starts a browser, and another one if it ends at once.
    async fn start_twice(program: &Path, options: &ChromiumOptions) -> Result<Self, LaunchError> {
        match Self::start(program, options).await {
            Err(error @ LaunchError::Ended { .. }) => {
                tracing::warn!(%error, "the browser does not start; one more try");
                Self::start(program, options).await
            }
            started => started,
        }
    }

    async fn start(program: &Path, options: &ChromiumOptions) -> Result<Self, LaunchError> {
        let (process, devtools) = Process::start(program, options).await?;
        let [_, (method, params)] = interception();
        match timeout(START, devtools.call(method, params, None)).await {
            Ok(Ok(_)) => Ok(Self { devtools, process }),
            _ => Err(process.ended(program)),
        }
    }
}
