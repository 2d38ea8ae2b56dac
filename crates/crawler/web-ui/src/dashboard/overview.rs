//! The overview: counts, rates, URLs that need work, the newest pages, the timeline and the
//! machine.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use policy::{
    RuntimeOverrides,
    control_file::{self, ControlRecord},
};
use statistics::{Counts, Newest, RecentVisit, TimelinePoint};
use web::Timestamp;

use super::selection::Listing;
use super::{Dashboard, in_flight};
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{CrawlState, Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};
use crate::live_statistics::Look;
use crate::machine::MachineValues;
use crate::report::gather;
use crate::report::{ReportCounts, Setting, Timeline};

/// The time span for rates.
const RECENT: Duration = Duration::from_secs(300);

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    frame: Frame,
    linked: bool,
    /// Kinds of URLs that need work, each with its number.
    problems: Vec<(Listing, u64)>,
    newest: Vec<PageRow>,
    summary: &'a Counts,
    timeline: &'a Timeline,
    status_codes: &'a ReportCounts,
    types: &'a ReportCounts,
    languages: &'a ReportCounts,
    settings: &'a [Setting],
    machine: MachineValues,
    /// Pages in flight; `None` if the crawl does not run.
    in_flight: Option<u64>,
    rates: Rates,
    /// The overrides in force, in words.
    in_force: Option<String>,
}

/// A page that was fetched.
struct PageRow {
    url: String,
    verdict: &'static str,
    at: Timestamp,
}

/// The speed of a crawl in its last minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    /// Pages per minute.
    pub(crate) pages: f64,
    /// Bytes per second.
    pub(crate) bytes: u64,
}

impl Rates {
    /// Returns the rates of a crawl in this state; zero unless it runs.
    pub(crate) fn in_state(state: CrawlState, look: &Look<'_>) -> Self {
        let statistics = look.statistics;
        let begun = statistics.counts().begun_at;
        match state {
            CrawlState::Running => Self::of(statistics.timeline(), begun, look.now),
            _ => Self::default(),
        }
    }

    /// Returns the rates over the last [`RECENT`], or since the crawl began if that is less.
    fn of(points: &[TimelinePoint], begun: Option<Timestamp>, now: Timestamp) -> Self {
        let since = now.before(RECENT).max(begun.unwrap_or_default());
        let recent = points
            .iter()
            .rev()
            .take_while(|point| point.at + point.span > since);
        let (mut pages, mut bytes, mut first) = (0, 0, now);
        for point in recent {
            pages += point.sums.pages;
            bytes += point.sums.bytes;
            first = point.at.max(begun.unwrap_or_default());
        }
        let seconds = now.since(first).as_secs_f64().max(1.0);
        Self {
            pages: pages as f64 * 60.0 / seconds,
            bytes: (bytes as f64 / seconds) as u64,
        }
    }

    /// Returns the time that the waiting URLs take at this speed; `None` if nothing moves.
    fn time_left(&self, waiting: u64) -> Option<String> {
        let minutes = waiting as f64 / self.pages;
        let is_known = waiting > 0 && self.pages > 0.0;
        let left = Duration::try_from_secs_f64(minutes * 60.0).ok();
        left.filter(|_| is_known).map(format::whole_seconds)
    }

    /// Formats the pages per minute, with one decimal below ten.
    fn pages_a_minute(&self) -> String {
        match self.pages {
            0.0..10.0 => format!("{:.1}", self.pages),
            pages => format::count(pages.round() as u64),
        }
    }
}

/// Shows the overview.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
) -> Result<Html, Refusal> {
    dashboard
        .answer(move |dashboard| of(dashboard, granted))
        .await
}

fn of(dashboard: &Dashboard, granted: Granted) -> Result<Html, Refusal> {
    let crawl = &dashboard.crawl;
    let machine = MachineValues::read(&crawl.state, &crawl.archive);
    let record = ControlRecord::of(&crawl.state).unwrap_or_default();
    let in_force = record.overrides().ok().flatten();
    let in_force = in_force.filter(|overrides| *overrides != RuntimeOverrides::default());
    let in_force = in_force.map(|overrides| cut(&control_file::describe(&overrides), caps::REASON));
    dashboard.look(|look| {
        let statistics = look.statistics;
        let counts = statistics.counts();
        let problems = Listing::PROBLEMS.into_iter();
        let problems = problems.filter_map(|kind| Some((kind, kind.total(look)?)));
        let newest = statistics.newest(Newest::Pages).take(caps::NEWEST);
        let frame = dashboard.frame(Tab::Overview, granted, look);
        let rates = Rates::in_state(frame.state, look);
        Html::of(&OverviewPage {
            frame,
            linked: true,
            problems: problems.filter(|(_, urls)| *urls > 0).collect(),
            newest: newest.map(page_row).collect(),
            summary: counts,
            timeline: &gather::timeline(statistics),
            status_codes: &gather::report_counts(statistics.status_codes()),
            types: &gather::report_counts(statistics.types()),
            languages: &gather::report_counts(statistics.languages()),
            settings: &gather::settings(crawl.settings.clone()),
            machine,
            in_flight: in_flight::count(look, machine.process.is_some()),
            rates,
            in_force,
        })
    })
}

fn page_row(visit: &RecentVisit) -> PageRow {
    PageRow {
        url: cut(&visit.url, caps::ADDRESS),
        verdict: visit.verdict.as_str(),
        at: visit.at,
    }
}

#[cfg(test)]
mod tests {
    use statistics::VisitSums;

    use super::*;

    fn minute(minute: u64, pages: u64) -> TimelinePoint {
        TimelinePoint {
            at: Timestamp::from_millis(minute * 60_000),
            span: Duration::from_secs(60),
            sums: VisitSums {
                pages,
                bytes: pages * 600,
                ..VisitSums::default()
            },
            queued: 0,
        }
    }

    #[test]
    fn a_rate_is_that_of_the_last_minutes() {
        let points = [minute(0, 1_000), minute(7, 60), minute(9, 60)];
        let at = |minute: u64| Timestamp::from_millis(minute * 60_000);
        let rates = |begun, now| Rates::of(&points, Some(at(begun)), at(now));
        assert_eq!(rates(0, 10).pages, 40.0);
        assert_eq!(rates(0, 10).bytes, 400);
        assert_eq!(rates(9, 10).pages, 60.0);
        assert_eq!(rates(0, 60), Rates::default());
        assert_eq!(rates(0, 10).pages_a_minute(), "40");
        assert_eq!(rates(0, 60).pages_a_minute(), "0.0");
        assert_eq!(rates(0, 10).time_left(60).as_deref(), Some("1m 30s"));
        assert_eq!(rates(0, 10).time_left(0), None);
        assert_eq!(rates(0, 60).time_left(60), None);
    }
}
