//! A page as it was archived, in a frame that no page can leave; a duplicate next to its original.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use journal::VisitRecord;
use serde::Deserialize;
use web::{PageUrl, Timestamp};

use super::Dashboard;
use super::page::visit_of;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};
use crate::paging::encoded;
use crate::replay::captures::{self, Capture, Finding};
use crate::replay::{Presentation, address};

/// Bytes of a record that tell how it is shown.
const HEAD: usize = 64 << 10;

/// The question: a URL, and the time of the capture in fourteen digits; the last visit without it.
#[derive(Debug, Deserialize)]
pub(crate) struct ReplayQuery {
    url: String,
    at: Option<String>,
}

/// A page of the view.
struct ShownPage {
    heading: &'static str,
    url: String,
    content: ShownContent,
}

/// The content of a page, with its address.
enum ShownContent {
    Framed(String),
    /// A type that browsers do not show without risk.
    Download(String),
    /// The reason for a missing content.
    Absent(String),
}

/// A link to a capture.
struct CaptureLink {
    address: String,
    at: String,
    is_shown: bool,
}

#[derive(Template)]
#[template(path = "dashboard/replay.html")]
struct ReplayPage {
    frame: Frame,
    url: String,
    verdict: Option<&'static str>,
    reason: String,
    /// Captures, the newest first.
    captures: Vec<CaptureLink>,
    more_captures: u64,
    /// The original first, if the page is a duplicate.
    pages: Vec<ShownPage>,
}

/// Shows a page as it was archived.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<ReplayQuery>,
) -> Result<Html, Refusal> {
    let url = dashboard.parse(&query.url)?;
    let at = query.at.as_deref().map(|digits| {
        let wrong = || Refusal::Question("at: a time has 14 digits, as in 20261130050606".into());
        address::moment(digits).ok_or_else(wrong)
    });
    let at = at.transpose()?;
    dashboard
        .replay(move |dashboard| view(dashboard, granted, &url, at))
        .await
}

fn view(
    dashboard: &Dashboard,
    granted: Granted,
    url: &PageUrl,
    at: Option<Timestamp>,
) -> Result<Html, Refusal> {
    let visit = visit_of(dashboard, url)?;
    let mut captures = captures::captures_of(dashboard, url.as_str())?;
    captures.sort_by_key(|capture| std::cmp::Reverse(capture.at));
    let newest = captures.first().map(|capture| capture.at);
    let visited = visit.as_ref().map(|visit| visit.fetched_at);
    let at = at.or(visited).or(newest).unwrap_or_default();
    let original = visit.as_ref().and_then(original_of);
    let mut pages = Vec::new();
    if let Some(original) = original {
        pages.push(page(dashboard, "Original", original, at, None)?);
    }
    let heading = if original.is_some() {
        "Duplicate"
    } else {
        "Page"
    };
    pages.push(page(dashboard, heading, url, at, visit.as_ref())?);
    let reason = visit.as_ref().and_then(VisitRecord::reason_text);
    Html::of(&ReplayPage {
        frame: dashboard.look(|look| dashboard.frame(Tab::Elsewhere, granted, look)),
        url: cut(url.as_str(), caps::ADDRESS),
        verdict: visit.as_ref().map(|visit| visit.fate.as_str()),
        reason: cut(&reason.unwrap_or_default(), caps::REASON),
        more_captures: captures.len().saturating_sub(caps::CAPTURES) as u64,
        captures: links(url, &captures, at),
        pages,
    })
}

/// Returns the page that a visit repeats, if this crawl has it.
fn original_of(visit: &VisitRecord) -> Option<&PageUrl> {
    let original = visit.duplicate_of.as_ref().filter(|_| !visit.of_earlier)?;
    (visit.fate.is_duplicate() && *original != visit.url).then_some(original)
}

/// Returns the links to the newest captures, with a mark at the one nearest to `at`.
fn links(url: &PageUrl, captures: &[Capture], at: Timestamp) -> Vec<CaptureLink> {
    let nearest = captures::nearest(captures, at);
    let links = captures
        .iter()
        .take(caps::CAPTURES)
        .map(|capture| CaptureLink {
            address: address::view(url.as_str(), Some(capture.at)),
            at: format::time(capture.at),
            is_shown: Some(capture) == nearest,
        });
    links.collect()
}

fn page(
    dashboard: &Dashboard,
    heading: &'static str,
    url: &PageUrl,
    at: Timestamp,
    visit: Option<&VisitRecord>,
) -> Result<ShownPage, Refusal> {
    let address = address::of(&dashboard.replay_key, at, url.as_str());
    let content = match captures::find(dashboard, url.as_str(), at, HEAD) {
        Ok(Some(Finding::Content(capture)))
            if Presentation::of_capture(&capture) == Presentation::Download =>
        {
            ShownContent::Download(address)
        }
        Ok(Some(_)) => ShownContent::Framed(address),
        Ok(None) => ShownContent::Absent(absence(visit)),
        Err(Refusal::Unavailable(reason)) => ShownContent::Absent(cut(&reason, caps::REASON)),
        Err(fault) => return Err(fault),
    };
    Ok(ShownPage {
        heading,
        url: cut(url.as_str(), caps::ADDRESS),
        content,
    })
}

/// Returns the reason why a page is not in the archive.
fn absence(visit: Option<&VisitRecord>) -> String {
    let Some(visit) = visit.filter(|visit| visit.fate.is_duplicate()) else {
        return "The archive has no capture of it.".to_owned();
    };
    let distance = visit.distance.map(|bits| format!("distance {bits} bits"));
    let resemblance = visit
        .resemblance
        .map(|part| format!("resemblance {part:.3}"));
    let how: Vec<String> = [distance, resemblance].into_iter().flatten().collect();
    match how.is_empty() {
        true => "It was not archived, as a duplicate.".to_owned(),
        false => format!("It was not archived, as a duplicate: {}.", how.join(", ")),
    }
}

impl ReplayPage {
    /// Returns the address of the view of the page.
    fn about(&self) -> String {
        format!("/page?url={}", encoded(&self.url))
    }

    /// Returns true if a page is shown.
    fn has_frame(&self) -> bool {
        let mut pages = self.pages.iter();
        pages.any(|page| matches!(page.content, ShownContent::Framed(_)))
    }

    /// Returns the address of the words that differ from the original, if there is one.
    fn difference(&self) -> Option<String> {
        let is_pair = self.pages.len() > 1;
        is_pair.then(|| format!("/difference?url={}", encoded(&self.url)))
    }
}
