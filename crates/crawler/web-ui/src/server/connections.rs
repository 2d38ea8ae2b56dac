//! Connections, each bounded in memory and time, so that slow clients cost little.
//!
//! At most [`MAX_CONNECTIONS`] are served; others wait in the system's queue, which is the owner of
//! that bound. At most [`MAX_OF_ADDRESS`] come from one address beyond loopback; a further one is
//! closed at once. A head must arrive within [`LONGEST_HEAD`] and fit into [`MAX_HEAD`]; this
//! includes the wait for a next request (slow loris; RFC 9112, section 9.5). A client that reads
//! nothing for [`LONGEST_STALL`] while an answer waits for it is disconnected, and every connection
//! ends after [`LONGEST`], because a client that reads a byte at a time looks like a slow network.
//!
//! A stream of events is mostly silent, and nothing waits then: a viewer that reads stays.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use super::shares::Shares;

/// Connections at a time.
const MAX_CONNECTIONS: usize = 256;
/// Connections of one address at a time, beyond loopback.
const MAX_OF_ADDRESS: usize = 64;
/// Maximum time for the head of a request to arrive.
const LONGEST_HEAD: Duration = Duration::from_secs(5);
/// Bytes of the head of a request, and of a connection's buffer.
const MAX_HEAD: usize = 32 << 10;
/// Header fields of a request.
const MAX_FIELDS: usize = 64;
/// Maximum time for a client to take a byte of an answer that is ready.
const LONGEST_STALL: Duration = Duration::from_secs(30);
/// The life of a connection.
const LONGEST: Duration = Duration::from_secs(300);
/// The pause after a connection could not be accepted, as when no file descriptor is left.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the connections of a listener, for ever.
pub(super) async fn serve(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let shares = Shares::of(MAX_OF_ADDRESS);
    loop {
        // The place first, so that no connection is accepted that is not served.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, client)) => {
                let Some(share) = shares.take(client.ip()) else {
                    tracing::debug!(%client, "an address has reached its maximum number of \
                        connections to the dashboard");
                    continue;
                };
                let router = router.clone();
                tokio::spawn(async move {
                    // A connection that breaks is the client's affair.
                    let _ended = tokio::time::timeout(LONGEST, one(stream, router)).await;
                    drop((place, share));
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
async fn one<S>(stream: S, router: Router) -> Result<(), hyper::Error>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(LONGEST_STALL));
    let stream = TokioIo::new(Box::pin(stream));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_FIELDS)
        .serve_connection(stream, TowerToHyperService::new(router))
        .await
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::task::JoinHandle;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Bytes of the answer, which no buffer between the two ends holds.
    const ANSWER: usize = 64 << 10;

    /// Serves a long answer to a client that has asked for it and has read nothing.
    async fn asked() -> (DuplexStream, JoinHandle<Duration>) {
        let router = Router::new().route("/", get(|| async { "x".repeat(ANSWER) }));
        let (mut client, server) = tokio::io::duplex(1_024);
        let request = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        client.write_all(request).await.unwrap();
        let begun = Instant::now();
        let serving = tokio::spawn(async move {
            let _ended = one(server, router).await;
            begun.elapsed()
        });
        (client, serving)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_left_after_half_a_minute() {
        let (_client, serving) = asked().await;
        let served = serving.await.unwrap();
        assert!((30..31).contains(&served.as_secs()), "{served:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_the_whole_answer() {
        let (mut client, serving) = asked().await;
        let (mut received, mut buffer) = (0, [0; 16 << 10]);
        loop {
            // The clock is paused: it jumps.
            sleep(LONGEST_STALL - Duration::from_secs(1)).await;
            match client.read(&mut buffer).await.unwrap() {
                0 => break,
                length => received += length,
            }
        }
        assert!(received > ANSWER, "{received}");
        assert!(serving.await.unwrap() > LONGEST_STALL);
    }
}
