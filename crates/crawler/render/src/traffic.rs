//! The traffic of one tab: events come in, requests are answered, dialogs are closed.
//!
//! Invariant: every target of the tab (frames, workers) is intercepted before it runs, and every
//! paused request is answered exactly once.

use std::collections::VecDeque;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::devtools::DevTools;
use crate::failure::RenderFailure;
use crate::message::Event;
use crate::paused::{self, Paused};
use crate::progress::Progress;
use crate::seam::{BrowserAnswer, PageNetwork, PageSource};

const MAX_PENDING: usize = 32;
const MAX_WAITING: usize = 1000;

/// The answer to a paused request.
struct Answered {
    session: String,
    id: String,
    url: String,
    answer: BrowserAnswer,
}

/// The traffic of one tab.
pub(crate) struct Traffic<'a> {
    pub(crate) devtools: &'a DevTools,
    pub(crate) page: &'a PageSource,
    pub(crate) network: &'a dyn PageNetwork,
    /// Target of the tab, which is also the name of its main frame.
    pub(crate) target: &'a str,
    pub(crate) progress: &'a watch::Sender<Progress>,
    pending: FuturesUnordered<BoxFuture<'a, Answered>>,
    waiting: VecDeque<Paused>,
    page_was_answered: bool,
}

impl<'a> Traffic<'a> {
    pub(crate) fn new(
        devtools: &'a DevTools,
        page: &'a PageSource,
        network: &'a dyn PageNetwork,
        target: &'a str,
        progress: &'a watch::Sender<Progress>,
    ) -> Self {
        let (pending, waiting) = (FuturesUnordered::new(), VecDeque::new());
        Self {
            devtools,
            page,
            network,
            target,
            progress,
            pending,
            waiting,
            page_was_answered: false,
        }
    }

    /// Serves the tab until it crashes. Never returns without a failure.
    pub(crate) async fn serve(&mut self, events: &mut mpsc::Receiver<Event>) -> RenderFailure {
        loop {
            let step = tokio::select! {
                event = events.recv() => match event {
                    Some(event) => self.handle(&event).await,
                    None if self.devtools.is_closed() => Err(RenderFailure::TabCrashed),
                    None => Err(RenderFailure::Protocol("too many events".to_owned())),
                },
                Some(answered) = self.pending.next() => self.settle(answered).await,
            };
            if let Err(failure) = step {
                return failure;
            }
        }
    }

    async fn handle(&mut self, event: &Event) -> Result<(), RenderFailure> {
        let session = event.session.as_deref().unwrap_or_default();
        let params = &event.params;
        match event.method.as_str() {
            "Fetch.requestPaused" => self.request(params, session).await,
            "Target.attachedToTarget" => self.attached(params).await,
            "Page.javascriptDialogOpening" => {
                let refusal = json!({ "accept": false });
                self.devtools
                    .notify("Page.handleJavaScriptDialog", refusal, session)
                    .await
            }
            "Page.frameNavigated" if params["frame"]["id"] == self.target => {
                let url = params["frame"]["url"].as_str().unwrap_or_default();
                let is_shown = url != "about:blank";
                self.progress
                    .send_modify(|progress| progress.is_shown |= is_shown);
                Ok(())
            }
            "Emulation.virtualTimeBudgetExpired" => {
                self.progress.send_modify(|progress| progress.steps += 1);
                Ok(())
            }
            // The window itself is blocked by an option of the browser.
            "Page.windowOpen" => {
                let url = params["url"].as_str().unwrap_or_default();
                self.progress
                    .send_modify(|progress| progress.add_navigation(url));
                Ok(())
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let text = details["exception"]["description"].as_str();
                self.console(text.or_else(|| details["text"].as_str()))
            }
            "Runtime.consoleAPICalled" if params["type"] == "error" => {
                let first = &params["args"][0];
                self.console(
                    first["value"]
                        .as_str()
                        .or_else(|| first["description"].as_str()),
                )
            }
            "Inspector.targetCrashed" => Err(RenderFailure::TabCrashed),
            _ => Ok(()),
        }
    }

    fn console(&self, text: Option<&str>) -> Result<(), RenderFailure> {
        self.progress
            .send_modify(|progress| progress.add_console_error(text.unwrap_or("error")));
        Ok(())
    }

    /// Intercepts a new target before it runs. Other windows are closed.
    async fn attached(&mut self, params: &Value) -> Result<(), RenderFailure> {
        let info = &params["targetInfo"];
        if info["type"] == "page" && info["targetId"] != self.target {
            let url = info["url"].as_str().unwrap_or_default();
            self.progress
                .send_modify(|progress| progress.add_navigation(url));
            let target = json!({ "targetId": info["targetId"] });
            return self
                .devtools
                .notify_browser("Target.closeTarget", target)
                .await;
        }
        let Some(session) = params["sessionId"].as_str() else {
            return Ok(());
        };
        for (method, params) in interception() {
            self.devtools.notify(method, params, session).await?;
        }
        self.devtools
            .notify("Runtime.runIfWaitingForDebugger", json!({}), session)
            .await
    }

    async fn request(&mut self, params: &Value, session: &str) -> Result<(), RenderFailure> {
        let Some(paused) = paused::read(params, session) else {
            let id = params["requestId"].as_str().unwrap_or_default();
            return self.send(session, paused::fail(id, "Aborted")).await;
        };
        if paused.is_document && paused.frame == self.target {
            return self.document(&paused).await;
        }
        if self.waiting.len() >= MAX_WAITING {
            let reason = "too many requests at a time";
            let url = &paused.request.url;
            self.progress
                .send_modify(|progress| progress.add_refused(url, reason));
            return self
                .send(session, paused::fail(&paused.id, "BlockedByClient"))
                .await;
        }
        self.waiting.push_back(paused);
        self.fill();
        Ok(())
    }

    /// Answers the page from its source once. Refuses every other document in its place, in a way
    /// that leaves the page on view.
    async fn document(&mut self, paused: &Paused) -> Result<(), RenderFailure> {
        if self.page_was_answered {
            let url = &paused.request.url;
            self.progress
                .send_modify(|progress| progress.add_navigation(url));
            return self
                .send(&paused.session, paused::fail(&paused.id, "Aborted"))
                .await;
        }
        self.page_was_answered = true;
        let page = self.page;
        let params = paused::response(&paused.id, page.status, &page.headers, &page.body);
        self.send(&paused.session, ("Fetch.fulfillRequest", params))
            .await
    }

    /// Hands waiting requests to the network, [`MAX_PENDING`] at a time.
    fn fill(&mut self) {
        while self.pending.len() < MAX_PENDING
            && let Some(paused) = self.waiting.pop_front()
        {
            let network = self.network;
            self.pending.push(Box::pin(async move {
                let url = paused.request.url.clone();
                Answered {
                    session: paused.session,
                    id: paused.id,
                    url,
                    answer: network.answer(paused.request).await,
                }
            }));
        }
        let pending = self.pending.len();
        self.progress
            .send_modify(|progress| progress.pending = pending);
    }

    async fn settle(&mut self, answered: Answered) -> Result<(), RenderFailure> {
        let Answered {
            session,
            id,
            url,
            answer,
        } = answered;
        if let BrowserAnswer::Refused(reason) = &answer {
            self.progress
                .send_modify(|progress| progress.add_refused(&url, reason));
        }
        self.send(&session, paused::answer(&id, &answer)).await?;
        self.fill();
        Ok(())
    }

    async fn send(&mut self, session: &str, call: (&str, Value)) -> Result<(), RenderFailure> {
        self.devtools.notify(call.0, call.1, session).await
    }
}

/// Returns the calls that intercept a target: its requests, and the targets that it starts.
pub(crate) fn interception() -> [(&'static str, Value); 2] {
    let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    [
        (
            "Fetch.enable",
            json!({ "patterns": [{ "urlPattern": "*" }] }),
        ),
        ("Target.setAutoAttach", attach),
    ]
}
