//! A renderer without a browser: a table of what the scripts of pages do.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method};
use render::{
    BrowserAnswer, BrowserRequest, Cut, PageNetwork, PageSource, RefusedRequest, Render,
    RenderFailure, RenderLimits, Rendering, RequestKind,
};

/// A renderer that looks up in a table what the scripts of a page do. The DOM of a page without an
/// entry is its body, and the picture of a page is [`PICTURE`].
#[derive(Debug, Default)]
pub struct ScriptedBrowser {
    scripts: HashMap<String, PageScript>,
    rendered: Mutex<Vec<String>>,
}

/// The picture of each page: the beginning of a PNG.
pub const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Behaviour of the scripts of a page.
#[derive(Debug, Clone)]
enum PageScript {
    /// They make requests, one after the other, and then a DOM.
    Shows {
        requests: Vec<BrowserRequest>,
        dom: String,
        navigations: Vec<String>,
    },
    /// The first time they take too long, and then they show this DOM.
    TakesLong(String),
    /// They make this request, and then the tab crashes.
    SendsAndCrashes(BrowserRequest),
    /// They end the rendering.
    Fails(RenderFailure),
}

impl ScriptedBrowser {
    /// Adds a page. Its scripts make these requests and then the DOM. `{0}` in the DOM is replaced
    /// by the body of the first response, or by the reason why there is none, and so on.
    #[must_use]
    pub fn shows(self, url: &str, requests: &[(RequestKind, &str)], dom: &str) -> Self {
        let requests = requests.iter().map(|(kind, url)| request(*kind, url));
        let script = PageScript::Shows {
            requests: requests.collect(),
            dom: dom.to_owned(),
            navigations: Vec::new(),
        };
        self.with(url, script)
    }

    /// Adds a page whose scripts make this request, and show its answer.
    #[must_use]
    pub fn sends(self, url: &str, request: BrowserRequest) -> Self {
        let script = PageScript::Shows {
            requests: vec![request],
            dom: "<html><head></head><body>{0}</body></html>".to_owned(),
            navigations: Vec::new(),
        };
        self.with(url, script)
    }

    /// Adds a page whose scripts try to open another one in its place.
    #[must_use]
    pub fn opens(self, url: &str, target: &str) -> Self {
        let script = PageScript::Shows {
            requests: Vec::new(),
            dom: "<html><head></head><body></body></html>".to_owned(),
            navigations: vec![target.to_owned()],
        };
        self.with(url, script)
    }

    /// Adds a page whose scripts take too long the first time, and then show this DOM.
    #[must_use]
    pub fn takes_long(self, url: &str, dom: &str) -> Self {
        self.with(url, PageScript::TakesLong(dom.to_owned()))
    }

    /// Adds a page whose scripts make this request, and then crash their tab.
    #[must_use]
    pub fn sends_and_crashes(self, url: &str, request: BrowserRequest) -> Self {
        self.with(url, PageScript::SendsAndCrashes(request))
    }

    /// Adds a page that cannot be rendered.
    #[must_use]
    pub fn fails(self, url: &str, failure: RenderFailure) -> Self {
        self.with(url, PageScript::Fails(failure))
    }

    /// Returns the URLs of the pages that were rendered, in order.
    #[must_use]
    pub fn rendered(&self) -> Vec<String> {
        let rendered = self.rendered.lock();
        rendered.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with(mut self, url: &str, script: PageScript) -> Self {
        self.scripts.insert(url.to_owned(), script);
        self
    }
}

/// Returns a GET request of a script.
#[must_use]
pub fn request(kind: RequestKind, url: &str) -> BrowserRequest {
    BrowserRequest {
        url: url.to_owned(),
        method: Method::GET,
        headers: HeaderMap::new(),
        body: None,
        kind,
    }
}

#[async_trait]
impl Render for ScriptedBrowser {
    async fn render(
        &self,
        page: &PageSource,
        network: &dyn PageNetwork,
        limits: &RenderLimits,
    ) -> Result<Rendering, RenderFailure> {
        let url = page.url.to_string();
        let rendered = self.rendered.lock();
        rendered
            .unwrap_or_else(PoisonError::into_inner)
            .push(url.clone());
        let mut rendering = Rendering {
            html: String::from_utf8_lossy(&page.body).into_owned(),
            final_url: url.clone(),
            title: String::new(),
            console_errors: Vec::new(),
            refused: Vec::new(),
            navigations: Vec::new(),
            picture: limits.picture_bytes.map(|_| Bytes::from_static(PICTURE)),
            cut_by: None,
        };
        match self.scripts.get(&url).cloned() {
            None => {}
            Some(PageScript::Fails(failure)) => return Err(failure),
            Some(PageScript::SendsAndCrashes(request)) => {
                network.answer(request).await;
                return Err(RenderFailure::TabCrashed);
            }
            Some(PageScript::TakesLong(dom)) => {
                let is_first = self
                    .rendered()
                    .iter()
                    .filter(|other| **other == url)
                    .count()
                    == 1;
                match is_first {
                    true => rendering.cut_by = Some(Cut::Wall),
                    false => rendering.html = dom,
                }
            }
            Some(PageScript::Shows {
                requests,
                dom,
                navigations,
            }) => {
                (rendering.html, rendering.navigations) = (dom, navigations);
                for (number, request) in requests.into_iter().enumerate() {
                    let url = request.url.clone();
                    let shown = match network.answer(request).await {
                        BrowserAnswer::Response { body, .. } => {
                            String::from_utf8_lossy(&body).into_owned()
                        }
                        BrowserAnswer::Failed(reason) => reason,
                        BrowserAnswer::Refused(reason) => {
                            let refused = reason.clone();
                            rendering.refused.push(RefusedRequest {
                                url,
                                reason: refused,
                            });
                            reason
                        }
                    };
                    let place = format!("{{{number}}}");
                    rendering.html = rendering.html.replace(&place, &shown);
                }
            }
        }
        Ok(rendering)
    }
}
