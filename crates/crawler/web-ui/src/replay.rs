//! Archived pages as a browser shows them, from the archive alone.
//!
//! An answer has the status, the type and the decoded body of a capture. In pages and style sheets,
//! every URL points to [`address`]; scripts are removed. What is not archived is answered with 404
//! and never requested from the web.
//!
//! Archived pages are hostile: they could read the dashboard, or tell their server who looks at
//! them. The policy in [`headers`] forbids both, even if the rewriting missed a URL: a page has no
//! origin and no script, and may load captures only. The dashboard shows them in a frame, which it
//! allows to show nothing else, so that no link leaves the archive either.
//!
//! Invariant: nothing here opens a connection, and every answer has [`headers::HEADERS`].

pub(crate) mod address;
pub(crate) mod captures;
mod content;
pub(crate) mod headers;
mod range;

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::uri::Uri;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use web::Timestamp;

use self::address::ReplayAddress;
use self::captures::Finding;
use self::content::Content;
pub(crate) use self::content::Presentation;
use crate::caps;
use crate::dashboard::Dashboard;
use crate::dashboard::frame::{Html, Refusal};
use crate::dashboard::page::visit_of;
use crate::filters;
use crate::format::cut;

/// Bytes of a record, and of its body without content codings. A longer one is not shown.
const MAX_BODY: usize = 64 << 20;

/// A capture that a browser asks for.
struct Request {
    at: Timestamp,
    url: String,
    /// True if a window, not a frame or an element, will show it.
    fills_window: bool,
    range: Option<String>,
}

#[derive(Template)]
#[template(path = "replay/absent.html")]
struct AbsentPage {
    url: String,
    reason: String,
    /// The original of a duplicate, and the address of its capture.
    original: Option<(String, String)>,
}

/// Answers with a capture.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = ReplayAddress::read(&uri).ok_or(Refusal::NoSuchPage)?;
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = Request {
        at: asked.at,
        url: asked.url.to_owned(),
        fills_window: text(HeaderName::from_static("sec-fetch-dest")) == Some("document"),
        range: text(header::RANGE).map(str::to_owned),
    };
    dashboard
        .replay(move |dashboard| answer(dashboard, &asked))
        .await
}

fn answer(dashboard: &Dashboard, asked: &Request) -> Result<Response, Refusal> {
    let found = match captures::find(dashboard, &asked.url, asked.at, MAX_BODY) {
        Ok(found) => found,
        Err(Refusal::Unavailable(reason)) => {
            return absent(dashboard, asked, StatusCode::SERVICE_UNAVAILABLE, &reason);
        }
        Err(fault) => return Err(fault),
    };
    match found {
        Some(Finding::Redirect(target)) => {
            let location = address::of(&dashboard.replay_key, asked.at, &target);
            Ok((StatusCode::FOUND, [(header::LOCATION, location)]).into_response())
        }
        Some(Finding::Content(capture)) => match Content::of(&capture, MAX_BODY) {
            Ok(content) if asked.fills_window && content.presentation.is_page() => {
                Ok(framed(asked))
            }
            Ok(content) => shown(dashboard, asked, &capture.url, content),
            Err(reason) => absent(dashboard, asked, StatusCode::NOT_FOUND, &reason),
        },
        None => {
            let reason = "The archive of this crawl has no capture of this URL.";
            absent(dashboard, asked, StatusCode::NOT_FOUND, reason)
        }
    }
}

/// Returns the answer with the content of a capture of `url`.
fn shown(
    dashboard: &Dashboard,
    asked: &Request,
    url: &str,
    content: Content,
) -> Result<Response, Refusal> {
    let link = |target: &str| Some(address::of(&dashboard.replay_key, asked.at, target));
    let status = content.status;
    let media = content.presentation.media_type().to_owned();
    let is_download = content.presentation == Presentation::Download;
    let bytes = match content.rewritten(url, &link) {
        Ok(bytes) => bytes,
        Err(reason) => return absent(dashboard, asked, StatusCode::NOT_FOUND, &reason),
    };
    let mut response = range::response(status, bytes, asked.range.as_deref());
    let headers = response.headers_mut();
    if let Ok(media) = media.parse() {
        headers.insert(header::CONTENT_TYPE, media);
    }
    if is_download {
        let attachment = header::HeaderValue::from_static("attachment");
        headers.insert(header::CONTENT_DISPOSITION, attachment);
    }
    Ok(response)
}

/// Returns the redirect of a window to the view of the dashboard, which shows the page in a frame.
fn framed(asked: &Request) -> Response {
    let view = address::view(&asked.url, Some(asked.at));
    (StatusCode::SEE_OTHER, [(header::LOCATION, view)]).into_response()
}

/// Returns the answer for a URL that cannot be shown, with its original if it is a duplicate.
fn absent(
    dashboard: &Dashboard,
    asked: &Request,
    status: StatusCode,
    reason: &str,
) -> Result<Response, Refusal> {
    if asked.fills_window {
        return Ok(framed(asked));
    }
    let visit = match dashboard.parse(&asked.url) {
        Ok(url) => visit_of(dashboard, &url)?,
        Err(_unvisitable) => None,
    };
    let original = visit.filter(|visit| visit.fate.is_duplicate() && !visit.of_earlier);
    let original = original.and_then(|visit| visit.duplicate_of);
    let original = original.map(|original| {
        let address = address::of(&dashboard.replay_key, asked.at, original.as_str());
        (cut(original.as_str(), caps::ADDRESS), address)
    });
    let page = Html::of(&AbsentPage {
        url: cut(&asked.url, caps::ADDRESS),
        reason: cut(reason, caps::REASON),
        original,
    })?;
    Ok((status, page).into_response())
}
