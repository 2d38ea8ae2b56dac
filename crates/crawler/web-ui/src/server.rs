//! The web server of the dashboard: its routes, and the socket that they are served from.
//!
//! `access.rs` decides about each request first; `dashboard`, `controls`, `metrics`, `live` and
//! `replay` answer; `connections.rs` bounds what slow clients cost. This crate is the only one that
//! knows axum.

mod connections;
mod shares;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use thiserror::Error;
use tokio::net::TcpListener;
use web::Clock;

use crate::access::{self, Access, Token};
use crate::api::{self, JsonRefusal};
use crate::dashboard::frame::Refusal;
use crate::dashboard::{
    Dashboard, WatchedCrawl, cluster, difference, duplicates, hosts, in_flight, overview, page,
    problems, replay as replay_view, search, similar, skipped,
};
use crate::live::{self, Places};
use crate::{controls, metrics, replay};

/// Bytes of the body of a request.
const MAX_BODY: usize = 64 << 10;
/// Maximum time to answer a request, including reading its body; it does not apply to streams of
/// events.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// Our own files that pages refer to.
const STYLE: &str = concat!(
    include_str!("../templates/report.css"),
    include_str!("../templates/dashboard.css")
);
const SCRIPT: &str = include_str!("../templates/live.js");
const ICON: &str = include_str!("../templates/icon.svg");

/// The place of a dashboard, and its secret.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The address to listen on; port 0 is any free one.
    pub listen: SocketAddr,
    /// The secret of this start, or the secret that the user has chosen.
    pub token: Token,
}

/// An error of opening the server. The user can fix each of them.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Other machines could reach the dashboard, but the user has not chosen a token.
    #[error("{0} can be reached from other machines, but no token is set")]
    BeyondLoopback(SocketAddr),
    /// The address is in use, or is not one of this machine.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
}

/// A server that listens and does not answer yet.
pub struct DashboardServer {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    router: Router,
}

impl DashboardServer {
    /// Listens on the address. Does not read the crawl yet.
    ///
    /// # Errors
    /// [`ServeError`]: the address is in use, is not one of this machine, or needs a token.
    pub async fn open(
        options: &ServeOptions,
        crawl: WatchedCrawl,
        clock: Clock,
    ) -> Result<Self, ServeError> {
        let wanted = options.listen;
        if !wanted.ip().is_loopback() && !options.token.is_chosen() {
            return Err(ServeError::BeyondLoopback(wanted));
        }
        let cannot = |source| ServeError::Listen {
            address: wanted,
            source,
        };
        let listener = TcpListener::bind(wanted).await.map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let token = options.token.clone();
        Ok(Self {
            listener,
            address,
            router: router(crawl, clock, Access::new(address, token.clone())),
            token,
        })
    }

    /// Returns the address that it listens on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL to open, with the token of this start. A token that the user has chosen is
    /// not repeated: they know it.
    #[must_use]
    pub fn url(&self) -> String {
        let address = self.address;
        match self.token.is_chosen() {
            true => format!("http://{address}/?token=…"),
            false => format!("http://{address}/?token={}", self.token.as_str()),
        }
    }

    /// Answers requests, for ever.
    pub async fn run(self) {
        connections::serve(self.listener, self.router).await;
    }
}

/// Returns all routes, protected by the rules of access.
fn router(crawl: WatchedCrawl, clock: Clock, access: Access) -> Router {
    let files = Router::new()
        .route("/style.css", get(|| file("text/css; charset=utf-8", STYLE)))
        .route(
            "/live.js",
            get(|| file("text/javascript; charset=utf-8", SCRIPT)),
        )
        .route("/icon.svg", get(|| file("image/svg+xml", ICON)));
    let views = Router::new()
        .route("/", get(overview::show))
        .route("/in-flight", get(in_flight::show))
        .route("/hosts", get(hosts::show))
        .route("/hosts.csv", get(hosts::csv))
        .route("/duplicates", get(duplicates::show))
        .route("/cluster", get(cluster::show))
        .route("/problems", get(problems::show))
        .route("/visits.csv", get(problems::csv))
        .route("/skipped", get(skipped::show))
        .route("/search", get(search::show))
        .route("/page", get(page::show))
        .route("/similar", get(similar::show))
        .route("/difference", get(difference::show))
        .route("/replay", get(replay_view::show))
        .route("/replay/{*capture}", get(replay::show))
        .route("/controls", get(controls::show).post(controls::write))
        .route("/controls/preview", post(controls::preview))
        .route("/metrics", get(metrics::show))
        .route("/healthz", get(metrics::health));
    let views = views.merge(files).nest(access::API, api::routes());
    let views = views.layer(middleware::from_fn(in_time));
    let events = Router::new().route("/events", get(live::events));
    let dashboard = Dashboard::new(crawl, clock, access.replay_key().to_owned());
    views
        .merge(events)
        .fallback(|| async { Refusal::NoSuchPage })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(Extension(Places::new()))
        .layer(middleware::from_fn_with_state(
            Arc::new(access),
            access::guard,
        ))
        .with_state(dashboard)
}

async fn file(media: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, media)], text)
}

/// Ends a request that takes too long: a form that comes a byte at a time, or the first look at a
/// large journal, whose reading continues.
async fn in_time(request: Request, next: Next) -> Response {
    let sends_a_form = request.method() == Method::POST;
    let is_program = access::is_of_programs(request.uri());
    let answered = tokio::time::timeout(LONGEST_ANSWER, next.run(request)).await;
    answered.unwrap_or_else(|_elapsed| match sends_a_form {
        true => StatusCode::REQUEST_TIMEOUT.into_response(),
        false => {
            let reading = "The journal is still being read: reload this page later.";
            let refusal = Refusal::Unavailable(reading.to_owned());
            match is_program {
                true => JsonRefusal(refusal).into_response(),
                false => refusal.into_response(),
            }
        }
    })
}
