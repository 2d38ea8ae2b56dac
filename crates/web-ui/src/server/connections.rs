//! Connections, each bounded in memory and time, so that slow clients cost little.
//!
//! At most [`MAX_CONNECTIONS`] are served; others wait in the system's queue, which is the owner of
//! that bound. A head must arrive within [`LONGEST_HEAD`] and fit into [`MAX_HEAD`]; this includes
//! the wait for a next request (slow loris; RFC 9112, section 9.5). Every connection ends
//! after [`LONGEST`], because a client that reads nothing looks like a slow one.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at a time.
const MAX_CONNECTIONS: usize = 256;
/// The time in which the head of a request arrives.
const LONGEST_HEAD: Duration = Duration::from_secs(5);
/// Bytes of the head of a request, and of a connection's buffer.
const MAX_HEAD: usize = 32 << 10;
/// Header fields of a request.
const MAX_FIELDS: usize = 64;
/// The life of a connection.
const LONGEST: Duration = Duration::from_secs(300);
/// The pause after a connection could not be accepted, as when no file descriptor is left.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the connections of a listener, for ever.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The place first, so that no connection is accepted that is not served.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    // A connection that breaks is the client's affair.
                    let _ended = tokio::time::timeout(LONGEST, one(stream, router)).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a connection to the dashboard was not accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection.
async fn one(stream: TcpStream, router: Router) -> Result<(), hyper::Error> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_FIELDS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await
}
