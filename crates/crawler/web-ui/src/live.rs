//! `/events`: server-sent events (HTML Standard, section 9.2) that say when the statistics changed.
//!
//! An event carries only the position in the journal. The script then fetches the page that it is
//! on and takes over the parts that are marked with `data-live`, so that everything is rendered by
//! one set of templates, and a page without script lacks only the movement.
//!
//! Bounded: at most [`MAX_VIEWERS`] streams, one event per second each. A stream ends cleanly after
//! [`LONGEST_STREAM`] ticks, before its connection would be cut, and browsers open it again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use journal::Position;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Interval, MissedTickBehavior};

use crate::dashboard::Dashboard;
use crate::dashboard::frame::CrawlState;

/// Streams at a time.
pub(crate) const MAX_VIEWERS: usize = 16;
/// Minimum time between two events.
const EVERY: Duration = Duration::from_secs(1);

/// Ticks of a stream: less than the life of a connection (`server/connections.rs`).
const LONGEST_STREAM: u32 = 240;

/// A stream of events to one viewer.
struct Viewer {
    dashboard: Arc<Dashboard>,
    ticks: Interval,
    ticks_left: u32,
    seen: Option<(Position, CrawlState)>,
    _place: OwnedSemaphorePermit,
}

/// The places of the viewers.
#[derive(Clone)]
pub(crate) struct Places(Arc<Semaphore>);

impl Places {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_VIEWERS)))
    }
}

/// Opens a stream.
pub(crate) async fn events(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(places): Extension<Places>,
) -> Response {
    let Ok(place) = places.0.try_acquire_owned() else {
        let full = format!("{MAX_VIEWERS} viewers are already connected\n");
        return (StatusCode::SERVICE_UNAVAILABLE, full).into_response();
    };
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let viewer = Viewer {
        dashboard,
        ticks,
        ticks_left: LONGEST_STREAM,
        seen: None,
        _place: place,
    };
    let events = stream::unfold(viewer, |mut viewer| async move {
        let event = viewer.next().await?;
        Some((Ok::<_, Infallible>(event), viewer))
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

impl Viewer {
    /// Waits for the next change; `None` at the end of the stream. The first event comes at once:
    /// the statistics may have changed since the page was made.
    async fn next(&mut self) -> Option<Event> {
        loop {
            self.ticks_left = self.ticks_left.checked_sub(1)?;
            self.ticks.tick().await;
            let look = |dashboard: &Dashboard| {
                let pause = dashboard.pause_button();
                Ok(dashboard.look(|look| (look.position, dashboard.state(pause.as_ref(), look))))
            };
            let Ok(found) = self.dashboard.answer(look).await else {
                continue;
            };
            if self.seen != Some(found) {
                self.seen = Some(found);
                let (position, _) = found;
                let event = Event::default().event("change");
                return Some(event.data(position.to_string()));
            }
        }
    }
}
