//! Everything that the pages of the dashboard have in common: their frame, their answers and their
//! refusals.

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::caps;
use crate::filters;
use crate::format::cut;
use crate::live_statistics::Look;

/// A page in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    InFlight,
    Hosts,
    Duplicates,
    Failures,
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
        (Self::Failures, "/failures", "Failures"),
        (Self::Skipped, "/skipped", "Skipped"),
        (Self::Search, "/search", "Search"),
        (Self::Controls, "/controls", "Controls"),
    ];
}

/// The frame of a page: its heading, its navigation and its notices.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) title: String,
    pub(crate) tab: Tab,
    /// `running`, `paused` or `not running`.
    pub(crate) state: &'static str,
    pub(crate) notices: Vec<String>,
    /// True if the viewer has the token.
    pub(crate) may_change: bool,
    /// True if the page is fetched again when the statistics change: not if it answers a question.
    pub(crate) is_live: bool,
}

impl Frame {
    pub(crate) fn new(
        tab: Tab,
        title: &str,
        may_change: bool,
        is_running: bool,
        is_paused: bool,
        look: &Look<'_>,
    ) -> Self {
        let damage = look.damage.map(|damage| cut(damage, caps::VALUE));
        Self {
            title: cut(title, caps::TEXT),
            tab,
            state: match (is_running, is_paused) {
                (true, false) => "running",
                (true, true) => "paused",
                (false, _) => "not running",
            },
            notices: damage.into_iter().collect(),
            may_change,
            is_live: !matches!(tab, Tab::Search | Tab::Elsewhere),
        }
    }

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

#[derive(Template)]
#[template(path = "dashboard/refusal.html")]
struct RefusalPage<'a> {
    heading: &'static str,
    reason: &'a str,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, heading) = match self {
            Self::NoSuchPage => (StatusCode::NOT_FOUND, "No such page"),
            Self::Question(_) => (StatusCode::BAD_REQUEST, "Invalid request"),
            Self::Conflict(_) => (StatusCode::CONFLICT, "Nothing was written"),
            Self::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "Cannot be read"),
            Self::Fault => (StatusCode::INTERNAL_SERVER_ERROR, "Internal error"),
        };
        let reason = match &self {
            Self::NoSuchPage => "The dashboard has no page at this address.",
            Self::Fault => "Please report it, with the address of this page.",
            Self::Question(reason) | Self::Conflict(reason) | Self::Unavailable(reason) => reason,
        };
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
