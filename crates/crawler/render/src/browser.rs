//! Chromium as a renderer: a bounded number of tabs, in a browser that is replaced in time.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;
use url::Url;

use crate::devtools::DevTools;
use crate::failure::{LaunchError, RenderFailure};
use crate::find;
use crate::launch::Process;
use crate::options::ChromiumOptions;
use crate::seam::{
    BrowserAnswer, BrowserRequest, PageNetwork, PageSource, Render, RenderLimits, Rendering,
};
use crate::tab::Tab;
use crate::traffic::interception;

/// Number of pages after which a browser is replaced: its memory grows.
const MAX_PAGES: usize = 200;

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
    _process: Process,
}

impl Chromium {
    /// Starts a browser and renders a test page, which requests a script.
    ///
    /// # Errors
    /// [`LaunchError`] if no browser is found, or if it cannot start or render the test page.
    pub async fn start(options: ChromiumOptions) -> Result<Self, LaunchError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find::browser(options.program.as_deref(), &path)?;
        let browser = Arc::new(Browser::start(&program, &options).await?);
        let tabs = Semaphore::new(options.tabs.max(1));
        let current = Mutex::new(Some(Generation { browser, pages: 0 }));
        let chromium = Self {
            program,
            options,
            tabs,
            current,
        };
        let tested = self_test(&chromium).await;
        tested.map_err(|source| LaunchError::SelfTest {
            program: chromium.program.clone(),
            source,
        })?;
        Ok(chromium)
    }

    /// Returns the browser for the next page. Replaces one that is gone or had its pages.
    async fn browser(&self) -> Result<Arc<Browser>, RenderFailure> {
        let mut current = self.current.lock().await;
        if let Some(generation) = current.as_mut()
            && generation.pages < MAX_PAGES
            && !generation.browser.devtools.is_closed()
        {
            generation.pages += 1;
            return Ok(Arc::clone(&generation.browser));
        }
        *current = None;
        let started = match Browser::start(&self.program, &self.options).await {
            Ok(browser) => Ok(browser),
            Err(error) => {
                tracing::warn!(%error, "the browser does not start; one more try");
                Browser::start(&self.program, &self.options).await
            }
        };
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

impl Browser {
    async fn start(program: &Path, options: &ChromiumOptions) -> Result<Self, LaunchError> {
        let (process, devtools) = Process::start(program, options).await?;
        let [_, (method, params)] = interception();
        match timeout(START, devtools.call(method, params, None)).await {
            Ok(Ok(_)) => Ok(Self {
                devtools,
                _process: process,
            }),
            _ => Err(process.ended(program)),
        }
    }
}

/// The network of the test page: one script.
struct TestNetwork;

#[async_trait]
impl PageNetwork for TestNetwork {
    async fn answer(&self, _request: BrowserRequest) -> BrowserAnswer {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("text/javascript"));
        let body = Bytes::from_static(b"document.body.append('script ran')");
        BrowserAnswer::Response {
            status: 200,
            headers,
            body,
        }
    }
}

async fn self_test(chromium: &Chromium) -> Result<(), RenderFailure> {
    let url = Url::parse("https://self-test.invalid/");
    let url = url.map_err(|fault| RenderFailure::Protocol(fault.to_string()))?;
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("text/html"));
    let body = Bytes::from_static(b"<body><script src=/self-test.js></script>");
    let page = PageSource {
        url,
        status: 200,
        headers,
        body,
        at: 0,
    };
    let rendering = chromium
        .render(&page, &TestNetwork, &RenderLimits::default())
        .await?;
    if rendering.html.contains("script ran") {
        return Ok(());
    }
    let reason = "the script of the test page did not run";
    Err(RenderFailure::Protocol(reason.to_owned()))
}
