//! Rendering: the scripts of a page are run, and its DOM is read in place of the page.
//!
//! Invariant: the DOM decides the verdict (text, subject, links, topic), the bytes decide only what
//! the archive has of the page. A page whose scripts cannot be run is read as it was received.

use std::collections::HashSet;
use std::sync::Arc;

use ::reading::page_text;
use bytes::Bytes;
use journal::Rendered;
use neardup::{HashKey, NormalText, Shingles, Width};
use policy::RenderMode;
use render::{Cut, PageSource, RenderFailure, Rendering};
use store::Lease;
use web::{Document, Exchange, Link, LinkKind, UrlKey};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::politeness;
use crate::runtime::renderer::Renderer;
use crate::runtime::retry::Decision;
use crate::steps::interstitials;
use crate::steps::reading::{self, AwaitedDoms, Kind, Reading};
use crate::steps::redirects::FailedAttempt;
use crate::steps::rendered_page::{self, RenderedPage};
use crate::steps::subrequests::{FailedRequest, Subrequests};

/// Number of tabs that a page may crash before it is read without its scripts, or that may take too
/// long.
const TABS: usize = 2;

/// Minimum resemblance of the texts of a page and its DOM if scripts bring no text.
const SAME_TEXT: f64 = 0.9;

/// Length of the compared shingles in words, as in sketches.
const SHINGLE_WORDS: usize = 5;

/// Reads a page: as received, or the DOM that its scripts make, if the crawl wants that. Returns a
/// failed attempt if another visit may bring the page, or the text that its scripts miss.
///
/// # Errors
/// [`Fault::Browser`] if the browser is gone for good; faults of reading and of the store.
pub(crate) async fn read(
    context: &Arc<CrawlContext>,
    lease: &Lease,
    page: &Exchange,
) -> Result<Result<Reading, FailedAttempt>, Fault> {
    let kind = Kind::of(lease.discovered());
    let reading = reading::read(context, page, kind, awaited(context, lease, page)).await?;
    let reading = match &context.renderer {
        Some(renderer) if reading.awaits_dom => {
            render(context, renderer, lease, page, kind, reading).await?
        }
        _ => Ok(reading),
    };
    match reading {
        Ok(reading) => interstitials::judge(context, lease, page, reading).await,
        failed => Ok(failed),
    }
}

/// Returns the rule that decides whether this page is judged by its DOM.
fn awaited(context: &CrawlContext, lease: &Lease, page: &Exchange) -> AwaitedDoms {
    let mode = context.policy.render.mode_of(&page.url);
    match mode {
        _ if context.renderer.is_none() => AwaitedDoms::No,
        RenderMode::Off => AwaitedDoms::No,
        RenderMode::Shells if lease.runs_scripts => AwaitedDoms::OfScripts,
        RenderMode::Shells => AwaitedDoms::OfShells,
        RenderMode::All => AwaitedDoms::All,
    }
}

/// Runs the scripts of a page. Returns the reading of its DOM, or of the page if there is none.
async fn render(
    context: &Arc<CrawlContext>,
    renderer: &Renderer,
    lease: &Lease,
    page: &Exchange,
    kind: Kind,
    mut reading: Reading,
) -> Result<Result<Reading, FailedAttempt>, Fault> {
    let network = Subrequests::new(context, renderer, lease, &page.url);
    // A page waits for its requests and for a tab: other visits may have its slot.
    let run = run(context, renderer, page, &network);
    let rendering = context.stalls.watch(run).await;
    let mut requests = network.end()?;
    let rendering = match rendering {
        Ok(rendering) => rendering,
        Err(RenderFailure::BrowserGone(cause)) => return Err(Fault::Browser(cause)),
        Err(failure) => {
            tracing::warn!(url = %page.url, %failure, "its scripts cannot be run");
            let mut reading = reading::read_as_received(context, page, kind).await?;
            reading.rendered = RenderedPage::failed(&failure, requests.made);
            return Ok(Ok(reading));
        }
    };
    let refused = rendering.refused.len();
    let picture = rendered_page::held_picture(context, page, rendering.picture.clone());
    let html = with_findings(rendering, page.url.request().as_str());
    let dom = page.with_dom(Bytes::copy_from_slice(html.as_bytes()).into());
    let dom = reading::read_as_received(context, &dom, kind).await?;
    let failed = std::mem::take(&mut requests.failed);
    let incomplete = match incompleteness(failed, &dom) {
        Some(failed)
            if !requests.has_posted && is_worth_a_visit(context, renderer, lease, &failed) =>
        {
            requests.forget_shared(renderer).await;
            return Ok(Err(failed.attempt));
        }
        failed => failed.map(|failed| failed.attempt.reason),
    };
    let adds = adds(context, reading.document.as_ref(), dom.document.as_ref()).await;
    reading.replace_by_dom(dom);
    reading.rendered = RenderedPage {
        result: Some(Rendered::Dom { offset: None, adds }),
        dom: Some(html.into()),
        picture,
        made: requests.made,
        refused,
        incomplete,
    };
    Ok(Ok(reading))
}

/// Returns the failed request for text that a DOM probably lacks: to the domain of the page, or to
/// any if the DOM has next to no text.
fn incompleteness(failed: Vec<FailedRequest>, dom: &Reading) -> Option<FailedRequest> {
    let mut failed = failed.into_iter();
    failed.find(|failed| failed.is_own || dom.needs_scripts)
}

/// Returns true if another visit may bring what a page lacks. Otherwise, what came is the page.
fn is_worth_a_visit(
    context: &CrawlContext,
    renderer: &Renderer,
    lease: &Lease,
    failed: &FailedRequest,
) -> bool {
    if renderer.lost.has(&failed.url) {
        return false;
    }
    let health = politeness::health_of(context, lease, &failed.attempt.host);
    let is_worth_it = health.decide(context, lease, failed.attempt.failure) != Decision::GiveUp;
    if !is_worth_it {
        renderer.lost.count(&failed.url);
    }
    is_worth_it
}

/// Returns true if the DOM of a page has other text than the page as received, or further links in
/// scope.
async fn adds(
    context: &Arc<CrawlContext>,
    received: Option<&Document>,
    dom: Option<&Document>,
) -> bool {
    let (Some(received), Some(dom)) = (received, dom) else {
        return true;
    };
    if has_further_links(context, received, dom) {
        return true;
    }
    let text = |document| {
        let text = page_text(document, context.policy.reading.main_content);
        text.text.to_owned()
    };
    let texts = [text(received), text(dom)];
    let compare = move || {
        let width = Width::new(SHINGLE_WORDS).ok()?;
        let [received, dom] =
            texts.map(|text| Shingles::of(&NormalText::of(&text), width, HashKey::ZERO));
        Some(received.resemblance(&dom) < SAME_TEXT)
    };
    context.compute(compare).await.flatten().unwrap_or(true)
}

/// Returns true if a DOM has links to pages in scope that the page as received lacks.
fn has_further_links(context: &CrawlContext, received: &Document, dom: &Document) -> bool {
    let known: HashSet<UrlKey> = received.links.iter().map(|link| link.url.key()).collect();
    let scope = context.scope();
    let is_page = |link: &&Link| link.kind != LinkKind::Requisite;
    let mut links = dom.links.iter().filter(is_page);
    links.any(|link| !known.contains(&link.url.key()) && scope.judge(&link.url).is_ok())
}

/// Runs the scripts of a page in a tab, and once more if that crashes or takes too long, unless the
/// page has sent a POST.
async fn run(
    context: &Arc<CrawlContext>,
    renderer: &Renderer,
    page: &Exchange,
    network: &Subrequests<'_>,
) -> Result<Rendering, RenderFailure> {
    let undecodable = || RenderFailure::Protocol("it cannot be decoded".to_owned());
    let source = source_of(context, page).await.ok_or_else(undecodable)?;
    let mut tabs = 1;
    loop {
        let rendering = renderer.render.render(&source, network, &renderer.limits);
        match rendering.await {
            Err(RenderFailure::TabCrashed) if tabs < TABS && !network.has_posted() => {}
            // Its scripts have come at the pace of their hosts; now they are at hand.
            Ok(Rendering {
                cut_by: Some(Cut::Wall),
                ..
            }) if tabs < TABS && !network.has_posted() => {}
            ended => return ended,
        }
        tabs += 1;
    }
}

/// Returns the page as a browser gets it; `None` if its body cannot be decoded.
async fn source_of(context: &Arc<CrawlContext>, page: &Exchange) -> Option<PageSource> {
    let mut url = page.url.request().clone();
    url.set_fragment(page.url.as_url().fragment());
    let (exchange, most) = (page.clone(), context.policy.reading.max_decoded);
    let decode = move || web::decode(&exchange.headers, &exchange.body, most).bytes;
    Some(PageSource {
        url,
        status: page.status,
        headers: page.headers.clone(),
        body: context.compute(decode).await?,
        at: page.started.as_millis() / 1000,
    })
}

/// Returns the DOM with what its HTML does not say, at the beginning of its head: the URL that its
/// links are relative to, if scripts have changed it (HTML, section 4.2.3), and the pages that
/// scripts tried to open in its place, as refreshes (section 4.2.5).
fn with_findings(rendering: Rendering, url: &str) -> String {
    let Rendering {
        html,
        final_url,
        navigations,
        ..
    } = rendering;
    let mut found = String::new();
    if without_fragment(&final_url) != without_fragment(url) && !html.contains("<base") {
        found = format!("<base href=\"{}\">", escaped(&final_url));
    }
    for target in navigations
        .iter()
        .filter(|target| target.starts_with("http"))
    {
        let target = escaped(target);
        found += &format!("<meta http-equiv=\"refresh\" content=\"0;url={target}\">");
    }
    match html.find("<head>") {
        Some(head) if !found.is_empty() => {
            let (before, after) = html.split_at(head + "<head>".len());
            [before, &found, after].concat()
        }
        _ => html,
    }
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(before, _)| before)
}

/// Returns a text as the value of an attribute in double quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(html: &str, final_url: &str, navigations: &[&str]) -> Rendering {
        Rendering {
            html: html.to_owned(),
            final_url: final_url.to_owned(),
            title: String::new(),
            console_errors: Vec::new(),
            refused: Vec::new(),
            navigations: navigations.iter().map(ToString::to_string).collect(),
            picture: None,
            cut_by: None,
        }
    }

    #[test]
    fn a_dom_says_what_its_links_are_relative_to_and_where_scripts_went() {
        let html = "<html><head><title>t</title></head></html>";
        let page = "http://a.test/";
        for (final_url, navigations, head) in [
            (page, &[][..], ""),
            ("http://a.test/#/route", &[], ""),
            (
                "http://a.test/x?a=1&b",
                &[],
                r#"<base href="http://a.test/x?a=1&amp;b">"#,
            ),
            (
                page,
                &["http://a.test/\"", "mailto:a@b"],
                r#"<meta http-equiv="refresh" content="0;url=http://a.test/&quot;">"#,
            ),
        ] {
            let shown = with_findings(rendering(html, final_url, navigations), page);
            let expected = html.replace("<head>", &format!("<head>{head}"));
            assert_eq!(shown, expected, "{final_url} {navigations:?}");
        }
    }
}
