//! One page in one tab, from the empty tab to the DOM.
//!
//! Invariants: the clock of the page stands still while a request waits, so neither load nor pace
//! changes the DOM. The browser context of the tab is disposed in every case.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout, timeout_at};

use crate::devtools::DevTools;
use crate::failure::RenderFailure;
use crate::message::Event;
use crate::progress::Progress;
use crate::seam::{Cut, PageNetwork, PageSource, RenderLimits, Rendering};
use crate::traffic::{Traffic, interception};

/// Maximum time to read the DOM after the wall limit, and to close a tab.
const GRACE: Duration = Duration::from_secs(3);

/// Maximum time that a page takes to be drawn.
const FRAMES: Duration = Duration::from_secs(5);

/// Width and height that the page sees. Lazy pictures load without scrolling in one this high.
const VIEWPORT: [u32; 2] = [1280, 12_000];

/// Maximum time to take a picture.
const PICTURE: Duration = Duration::from_secs(10);

/// `navigator.onLine` is false without a network.
const ONLINE: &str = "Object.defineProperty(Navigator.prototype,'onLine',{get:()=>true})";

/// Functions that read the DOM. They run in a world of their own, out of the reach of the page.
const DOM: &str = include_str!("dom.js");

/// A tab of a browser.
pub(crate) struct Tab<'a> {
    pub(crate) devtools: &'a DevTools,
    pub(crate) page: &'a PageSource,
    pub(crate) limits: &'a RenderLimits,
}

/// Main session and target of a tab.
struct Names {
    session: String,
    target: String,
}

impl Tab<'_> {
    /// Renders the page in a browser context of its own.
    pub(crate) async fn render(
        &self,
        network: &dyn PageNetwork,
    ) -> Result<Rendering, RenderFailure> {
        let created = self
            .browser("Target.createBrowserContext", json!({}))
            .await?;
        let context = text(&created["browserContextId"])?;
        let mut events = self.devtools.events(&context);
        let rendering = self.render_in(&context, &mut events, network).await;
        self.devtools.forget(&context);
        let dispose = json!({ "browserContextId": context });
        let disposed = self.browser("Target.disposeBrowserContext", dispose);
        match timeout(GRACE, disposed).await {
            Ok(Ok(_)) | Ok(Err(RenderFailure::TabCrashed)) => {}
            other => tracing::warn!(?other, "a tab cannot be closed"),
        }
        rendering
    }

    async fn render_in(
        &self,
        context: &str,
        events: &mut mpsc::Receiver<Event>,
        network: &dyn PageNetwork,
    ) -> Result<Rendering, RenderFailure> {
        let deadline = Instant::now() + self.limits.wall;
        let opened = timeout_at(deadline, self.open(context, events)).await;
        let names = opened.map_err(|_elapsed| RenderFailure::OutOfTime)??;
        let (progress, mut watched) = watch::channel(Progress::default());
        let mut traffic = Traffic::new(self.devtools, self.page, network, &names.target, &progress);
        tokio::select! {
            failure = traffic.serve(events) => Err(failure),
            rendering = self.drive(&names, &mut watched, deadline) => rendering,
        }
    }

    /// Opens an empty tab and intercepts it.
    async fn open(
        &self,
        context: &str,
        events: &mut mpsc::Receiver<Event>,
    ) -> Result<Names, RenderFailure> {
        let deny = json!({ "behavior": "deny", "browserContextId": context });
        self.browser("Browser.setDownloadBehavior", deny).await?;
        let blank = json!({ "url": "about:blank", "browserContextId": context });
        let created = self.browser("Target.createTarget", blank).await?;
        let target = text(&created["targetId"])?;
        let session = loop {
            let event = events.recv().await.ok_or(RenderFailure::TabCrashed)?;
            let info = &event.params["targetInfo"];
            if event.method == "Target.attachedToTarget" && info["targetId"] == target.as_str() {
                break text(&event.params["sessionId"])?;
            }
        };
        for (method, params) in interception() {
            self.devtools.notify(method, params, &session).await?;
        }
        let script = json!({ "source": ONLINE });
        let [width, height] = VIEWPORT;
        let viewport =
            json!({ "width": width, "height": height, "deviceScaleFactor": 0, "mobile": false });
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Inspector.enable", json!({})),
            ("Network.setBypassServiceWorker", json!({ "bypass": true })),
            ("Page.addScriptToEvaluateOnNewDocument", script),
            ("Emulation.setDeviceMetricsOverride", viewport),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ] {
            self.devtools.notify(method, params, &session).await?;
        }
        // The reply shows that the calls above took effect. A call that is still in flight when the
        // tab changes its process is repeated there, too late for the event that the page is shown.
        let names = Names { session, target };
        self.tab("Page.getFrameTree", json!({}), &names).await?;
        Ok(names)
    }

    /// Shows the page, advances its clock, and reads the DOM.
    async fn drive(
        &self,
        names: &Names,
        watched: &mut watch::Receiver<Progress>,
        deadline: Instant,
    ) -> Result<Rendering, RenderFailure> {
        let silence = becomes_unresponsive(self.limits.unresponsive, watched.clone());
        let (cut_by, end) = tokio::select! {
            advanced = timeout_at(deadline, self.advance(names, watched)) => match advanced {
                Ok(advanced) => (advanced?, deadline),
                Err(_elapsed) => (Some(Cut::Wall), deadline),
            },
            () = silence => (Some(Cut::Unresponsive), Instant::now()),
        };
        let read = timeout_at(end + GRACE, self.read(names)).await;
        let dom = read.map_err(|_elapsed| RenderFailure::OutOfTime)??;
        let too_large = RenderFailure::TooLarge(self.limits.dom_bytes);
        let html = dom["html"]
            .as_str()
            .filter(|html| html.len() <= self.limits.dom_bytes);
        let html = html.ok_or(too_large)?.to_owned();
        let picture = match self.limits.picture_bytes {
            Some(most) => self.picture(names, most).await,
            None => None,
        };
        let progress = watched.borrow();
        Ok(Rendering {
            html,
            final_url: text(&dom["url"])?,
            title: text(&dom["title"])?,
            console_errors: progress.console_errors.clone(),
            refused: progress.refused.clone(),
            navigations: progress.navigations.clone(),
            picture,
            cut_by,
        })
    }

    /// Takes a picture of the window; returns `None` with a warning if that fails or if the picture
    /// is larger than `most` bytes. The DOM was read before, so the page loses nothing.
    async fn picture(&self, names: &Names, most: usize) -> Option<Bytes> {
        let form = json!({ "format": "png" });
        let taken = timeout(PICTURE, self.tab("Page.captureScreenshot", form, names)).await;
        let reason = match taken {
            Ok(Ok(reply)) => {
                let data = reply["data"].as_str().unwrap_or_default();
                match BASE64.decode(data.as_bytes()) {
                    Ok(png) if !png.is_empty() && png.len() <= most => return Some(png.into()),
                    Ok(png) => format!("it has {} bytes; at most {most} are archived", png.len()),
                    Err(error) => error.to_string(),
                }
            }
            Ok(Err(failure)) => failure.to_string(),
            Err(_elapsed) => format!("it took more than {} s", PICTURE.as_secs()),
        };
        tracing::warn!(url = %self.page.url, %reason, "no picture of this page is archived");
        None
    }

    /// Advances the clock of the page in steps until the page is still or its time is used up.
    async fn advance(
        &self,
        names: &Names,
        watched: &mut watch::Receiver<Progress>,
    ) -> Result<Option<Cut>, RenderFailure> {
        // Before the page is shown: its first scripts run at once.
        let paused = json!({ "policy": "pause", "initialVirtualTime": self.page.at });
        self.tab("Emulation.setVirtualTimePolicy", paused, names)
            .await?;
        let url = json!({ "url": self.page.url.as_str() });
        let shown = self.tab("Page.navigate", url, names).await?;
        if let Some(error) = shown["errorText"].as_str() {
            return Err(RenderFailure::Protocol(error.to_owned()));
        }
        await_progress(watched, |progress| progress.is_shown).await?;
        let step = self.limits.still;
        let mut elapsed = Duration::ZERO;
        let mut before = Value::Null;
        for number in 1.. {
            let policy = json!({
                "policy": "pauseIfNetworkFetchesPending",
                "budget": step.as_millis() as u64,
            });
            self.tab("Emulation.setVirtualTimePolicy", policy, names)
                .await?;
            await_progress(watched, |progress| progress.steps >= number).await?;
            elapsed += step;
            let now = self.snapshot(names).await?;
            let is_idle = watched.borrow().pending == 0 && now["complete"] == true;
            if is_idle && now == before {
                break;
            }
            if elapsed >= self.limits.page_time {
                return Ok(Some(Cut::PageTime));
            }
            before = now;
        }
        Ok(None)
    }

    /// Takes a snapshot of the page once it was drawn. The clock of the page can be far ahead of
    /// its frames, in which frameworks draw, and lists notice that their end is in view.
    async fn snapshot(&self, names: &Names) -> Result<Value, RenderFailure> {
        let drawn = self.evaluate("drawn().then(snapshot)", names);
        match timeout(FRAMES, drawn).await {
            Ok(Ok(snapshot)) => Ok(snapshot),
            // The page draws nothing, or has replaced its document meanwhile.
            _ => self.evaluate("snapshot()", names).await,
        }
    }

    async fn read(&self, names: &Names) -> Result<Value, RenderFailure> {
        self.evaluate(&format!("dom({})", self.limits.dom_bytes), names)
            .await
    }

    /// Evaluates an expression in a world of our own, so the page cannot replace what it calls.
    async fn evaluate(&self, expression: &str, names: &Names) -> Result<Value, RenderFailure> {
        let frame = json!({ "frameId": names.target, "worldName": "render" });
        let world = self.tab("Page.createIsolatedWorld", frame, names).await?;
        let params = json!({
            "expression": format!("{DOM}\n{expression}"),
            "contextId": world["executionContextId"],
            "returnByValue": true,
            "awaitPromise": true,
        });
        let mut reply = self.tab("Runtime.evaluate", params, names).await?;
        if let Some(text) = reply["exceptionDetails"]["text"].as_str() {
            return Err(RenderFailure::Protocol(text.to_owned()));
        }
        Ok(reply["result"]["value"].take())
    }

    async fn browser(&self, method: &str, params: Value) -> Result<Value, RenderFailure> {
        self.devtools.call(method, params, None).await
    }

    async fn tab(
        &self,
        method: &str,
        params: Value,
        names: &Names,
    ) -> Result<Value, RenderFailure> {
        self.devtools
            .call(method, params, Some(&names.session))
            .await
    }
}

async fn await_progress(
    watched: &mut watch::Receiver<Progress>,
    is_reached: impl Fn(&Progress) -> bool,
) -> Result<(), RenderFailure> {
    let reached = watched.wait_for(|progress| is_reached(progress)).await;
    reached
        .map(drop)
        .map_err(|_closed| RenderFailure::TabCrashed)
}

/// Waits until the page has not taken a step of its clock for `most`, apart from the time in which
/// it waits for requests.
async fn becomes_unresponsive(most: Duration, mut watched: watch::Receiver<Progress>) {
    let (mut left, mut steps) = (most, 0);
    loop {
        let now = watched.borrow().steps;
        if now != steps {
            (left, steps) = (most, now);
        }
        let begin = Instant::now();
        let moved = await_progress(&mut watched, |progress| {
            progress.pending > 0 || progress.steps != steps
        });
        match timeout(left, moved).await {
            Err(_elapsed) => return,
            Ok(Err(_closed)) => return std::future::pending().await,
            Ok(Ok(())) => left = left.saturating_sub(begin.elapsed()),
        }
        let answered = await_progress(&mut watched, |progress| progress.pending == 0);
        if answered.await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn text(value: &Value) -> Result<String, RenderFailure> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| RenderFailure::Protocol("a reply lacks a field".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_page_is_unresponsive_if_it_neither_takes_a_step_nor_waits_for_requests() {
        let (progress, watched) = watch::channel(Progress::default());
        let begin = Instant::now();
        let page = async {
            for (pending, steps) in [(1, 0), (2, 0), (0, 0), (0, 1), (1, 1), (0, 1)] {
                tokio::time::sleep(Duration::from_secs(10)).await;
                progress.send_modify(|progress| {
                    (progress.pending, progress.steps) = (pending, steps);
                });
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = page => {}
            () = becomes_unresponsive(Duration::from_secs(25), watched) => {}
        }
        // A step after 40 s, 10 s, 10 s of waiting, and the last 15 s.
        assert_eq!(begin.elapsed(), Duration::from_secs(75));
    }
}
