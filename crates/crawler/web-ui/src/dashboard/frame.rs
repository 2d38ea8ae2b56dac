//! Everything that the pages of the dashboard have in common: their frame, their answers and their
//! refusals.

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use statistics::Counts;

use crate::caps;
use crate::controls::file::PauseButton;
use crate::filters;
use crate::format::cut;

/// A page in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    InFlight,
    Hosts,
    Duplicates,
    Problems,
    Skipped,
    Search,
    Controls,
    /// A page that is reached from other pages.
    Elsewhere,
}

impl Tab {
    /// The tabs in their order, each with its path and its name.
    pub(crate) const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Overview, "/", "Overview"),
        (Self::InFlight, "/in-flight", "In flight"),
        (Self::Hosts, "/hosts", "Hosts"),
        (Self::Duplicates, "/duplicates", "Duplicates"),
        (Self::Problems, "/problems", "Problems"),
        (Self::Skipped, "/skipped", "Skipped"),
        (Self::Search, "/search", "Search"),
        (Self::Controls, "/controls", "Controls"),
    ];
}

/// The state of a crawl, as the dashboard names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrawlState {
    Running,
    Paused,
    /// Its control.toml pauses it, which it has not applied yet.
    Pausing,
    /// Its control.toml no longer pauses it, which it has not applied yet.
    Resuming,
    /// No process runs it, and no URL waits.
    Complete,
    /// No process runs it, and URLs wait.
    Stopped,
    /// No process has run it.
    NotBegun,
}

impl CrawlState {
    /// Returns the state. `is_paused` is in effect, `pauses` is in the file.
    pub(crate) fn of(is_running: bool, is_paused: bool, pauses: bool, counts: &Counts) -> Self {
        match (is_running, is_paused, pauses) {
            (true, false, false) => Self::Running,
            (true, true, true) => Self::Paused,
            (true, false, true) => Self::Pausing,
            (true, true, false) => Self::Resuming,
            (false, ..) if counts.begun_at.is_none() => Self::NotBegun,
            (false, ..) if counts.queued > 0 => Self::Stopped,
            (false, ..) => Self::Complete,
        }
    }

    /// Returns the state in words.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Pausing => "pausing",
            Self::Resuming => "resuming",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::NotBegun => "not begun",
        }
    }

    /// Returns true if a process runs the crawl.
    pub(crate) const fn is_running(self) -> bool {
        matches!(
            self,
            Self::Running | Self::Paused | Self::Pausing | Self::Resuming
        )
    }
}

/// The frame of a page: its heading, its navigation and its notices.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    /// The directory of the crawl, as commands name it.
    pub(crate) directory: String,
    pub(crate) tab: Tab,
    pub(crate) state: CrawlState,
    /// The button that pauses or resumes the crawl; `None` if the viewer cannot.
    pub(crate) pause: Option<PauseButton>,
    pub(crate) notices: Vec<String>,
    /// True if the viewer has the token.
    pub(crate) may_change: bool,
    /// True if the page is fetched again when the statistics change: not if it answers a question.
    pub(crate) is_live: bool,
}

impl Frame {
    /// Returns the frame of a page that stays as it is.
    pub(crate) fn still(self) -> Self {
        Self {
            is_live: false,
            ..self
        }
    }

    /// Returns the name of the page.
    pub(crate) fn name(&self) -> &'static str {
        let own = Tab::ALL.iter().find(|(tab, _, _)| *tab == self.tab);
        own.map_or("Page", |(_, _, name)| name)
    }
}

/// A rendered page.
#[derive(Debug)]
pub(crate) struct Html(String);

impl Html {
    /// Renders a template.
    pub(crate) fn of(page: &impl Template) -> Result<Self, Refusal> {
        // Only a template of ours can fail.
        page.render().map(Self).map_err(|_error| Refusal::Fault)
    }
}

impl IntoResponse for Html {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], self.0).into_response()
    }
}

/// Returns a table of CSV, which a browser saves as `NAME.csv`.
pub(crate) fn attached_csv(name: &str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}.csv\""),
        ),
    ];
    (headers, bytes).into_response()
}

/// An answer other than a view, with a sentence for the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No page has this address.
    NoSuchPage,
    /// The question cannot be answered: it is wrong.
    Question(String),
    /// Another change was written in between.
    Conflict(String),
    /// The crawl's files do not have the answer.
    Unavailable(String),
    /// A fault of ours.
    Fault,
}

impl Refusal {
    /// Returns the status, the heading, and the sentence for the reader.
    pub(crate) fn parts(&self) -> (StatusCode, &'static str, &str) {
        let (status, heading) = match self {
            Self::NoSuchPage => (StatusCode::NOT_FOUND, "No such page"),
            Self::Question(_) => (StatusCode::BAD_REQUEST, "Invalid request"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "Nothing was written"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "Cannot be read"),
            Self::Fault => (StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
        };
        let reason = match self {
            Self::NoSuchPage => "The dashboard has no page at this address.",
            Self::Fault => "Please report it, with the address of this page.",
            Self::Question(reason) | Self::Conflict(reason) | Self::Unavailable(reason) => reason,
        };
        (status, heading, reason)
    }
}

#[derive(Template)]
#[template(path = "dashboard/refusal.html")]
struct RefusalPage<'a> {
    heading: &'static str,
    reason: &'a str,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, heading, reason) = self.parts();
        let page = RefusalPage {
            heading,
            reason: &cut(reason, caps::REASON),
        };
        match Html::of(&page) {
            Ok(html) => (status, html).into_response(),
            Err(_) => status.into_response(),
        }
    }
}

/// Returns true if text in a page links to the view of that URL: text that was cut does not.
pub(crate) fn is_link(linked: impl std::borrow::Borrow<bool>, url: impl AsRef<str>) -> bool {
    *linked.borrow() && !url.as_ref().ends_with('…')
}
