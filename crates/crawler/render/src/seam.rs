//! The seam: a page and its network go in, a DOM comes out.
//!
//! Invariant: the page itself is answered from its [`PageSource`] and never requested again.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method};
use url::Url;

use crate::failure::RenderFailure;

/// A browser, or a stand-in for one.
#[async_trait]
pub trait Render: Send + Sync {
    /// Runs the scripts of `page`. Requests everything that the page needs from `network`.
    ///
    /// # Errors
    /// [`RenderFailure`], the page's fate: it has no rendering.
    async fn render(
        &self,
        page: &PageSource,
        network: &dyn PageNetwork,
        limits: &RenderLimits,
    ) -> Result<Rendering, RenderFailure>;
}

/// The network as a page sees it. Requests of a page arrive concurrently.
#[async_trait]
pub trait PageNetwork: Send + Sync {
    /// Answers `request`. The clock of the page stands still until then.
    async fn answer(&self, request: BrowserRequest) -> BrowserAnswer;
}

/// A page as it was fetched.
#[derive(Debug, Clone)]
pub struct PageSource {
    /// URL of the page, with its fragment if it has one.
    pub url: Url,
    /// Status of the response.
    pub status: u16,
    /// Headers of the response.
    pub headers: HeaderMap,
    /// Body of the response, without content coding.
    pub body: Bytes,
    /// Unix time of the response, in seconds. The clock of the page starts here.
    pub at: u64,
}

/// A request that the browser wants to send.
#[derive(Debug, Clone)]
pub struct BrowserRequest {
    /// URL of the request, without fragment.
    pub url: String,
    /// Method of the request.
    pub method: Method,
    /// Headers that the browser would send.
    pub headers: HeaderMap,
    /// Body of the request, which may be empty; `None` if the browser does not hand it over whole.
    pub body: Option<Bytes>,
    /// Purpose of the request.
    pub kind: RequestKind,
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// A document in a frame.
    Frame,
    /// A script, also of a worker.
    Script,
    /// A style sheet.
    Style,
    /// A font.
    Font,
    /// A picture.
    Image,
    /// A film, a sound or a text track.
    Media,
    /// A request of a script: XHR, fetch, EventSource or a preflight.
    Data,
    /// Everything else: pings, prefetches, manifests, reports.
    Other,
}

/// The answer to a [`BrowserRequest`].
#[derive(Debug, Clone)]
pub enum BrowserAnswer {
    /// A response.
    Response {
        /// Status of the response. The browser follows a redirect with a new request.
        status: u16,
        /// Headers of the response.
        headers: HeaderMap,
        /// Body of the response, without content coding.
        body: Bytes,
    },
    /// A request that is not sent, with the reason.
    Refused(String),
    /// A request that was sent and failed, with the reason.
    Failed(String),
}

/// Limits of one rendering.
#[derive(Debug, Clone)]
pub struct RenderLimits {
    /// Maximum time on the clock of the page.
    pub page_time: Duration,
    /// Time on the clock of the page without a change of the DOM that ends the rendering.
    pub still: Duration,
    /// Maximum time on our clock.
    pub wall: Duration,
    /// Maximum time on our clock in which the page neither takes a step nor waits for a request.
    pub unresponsive: Duration,
    /// Maximum length of the DOM as HTML, in bytes.
    pub dom_bytes: usize,
    /// Maximum length of a picture of the page, in bytes; `None` if no picture is wanted.
    pub picture_bytes: Option<usize>,
}

impl Default for RenderLimits {
    fn default() -> Self {
        Self {
            page_time: Duration::from_secs(10),
            still: Duration::from_millis(500),
            wall: Duration::from_secs(120),
            unresponsive: Duration::from_secs(30),
            dom_bytes: 16 << 20,
            picture_bytes: None,
        }
    }
}

/// A page after its scripts ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendering {
    /// The DOM as HTML, with open shadow roots.
    pub html: String,
    /// URL of the page in the end; scripts can change it without a navigation.
    pub final_url: String,
    /// Title of the page.
    pub title: String,
    /// First errors on the console: at most 20, of at most 500 bytes.
    pub console_errors: Vec<String>,
    /// First refused requests: at most 200.
    pub refused: Vec<RefusedRequest>,
    /// First URLs of other documents that scripts tried to open in place of the page: at most 20.
    pub navigations: Vec<String>,
    /// A picture of the window as PNG; `None` unless it is wanted, can be taken and is within its
    /// limit.
    pub picture: Option<Bytes>,
    /// The limit that ended the rendering; `None` if the page was still.
    pub cut_by: Option<Cut>,
}

/// A request that was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// URL of the request.
    pub url: String,
    /// Reason of the refusal.
    pub reason: String,
}

/// A limit that ended a rendering before the page was still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// [`RenderLimits::page_time`].
    PageTime,
    /// [`RenderLimits::wall`].
    Wall,
    /// [`RenderLimits::unresponsive`].
    Unresponsive,
}
