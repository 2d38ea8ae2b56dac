//! Requests that are repeated at once, on another connection: nothing happened to them.
//!
//! | what came | repeated on | source |
//! |---|---|---|
//! | nothing, on a connection that had served a request | a new one | RFC 9112 9.3.1, RFC 9110
//! 9.2.2 |
//! | bytes that begin no response, on such a connection | a new one | RFC 9112 9.2 |
//! | 408 or 421 on such a connection | a new one | RFC 9110 15.5.9, 15.5.20 |
//! | REFUSED_STREAM; GOAWAY without an error | a new one | RFC 9113 8.7, 6.8 |
//! | HTTP_1_1_REQUIRED | a new one with HTTP/1.1 | RFC 9113 7 |
//!
//! Bytes that begin no response are the rest of the response before: its `Content-Length` was too
//! small. A new connection has served nothing, so the same bytes there are a failure.
//!
//! A request whose response began is never repeated, and none more than [`MAX_REPEATS`] times: what
//! follows is a failure, and the host rests. GET and HEAD are idempotent. POST is not, and is sent
//! on a new connection. It is repeated in the last two cases only: the server says that it did not
//! process the request.

use http::{Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::client::legacy::Error as RequestError;

use crate::client::connections::Connection;
use crate::client::head::Came;
use crate::client::wire::WireExchange;
use crate::failure::{FetchFailure, chain};

/// Repetitions of one request.
pub(crate) const MAX_REPEATS: u32 = 3;

/// Returns the connection to repeat a request on, if it should be.
pub(crate) fn connection_for(
    response: &Result<Response<Incoming>, RequestError>,
) -> Option<Connection> {
    match response {
        Ok(response) => {
            let wire = response.extensions().get::<WireExchange>()?;
            let is_of_connection = matches!(
                response.status(),
                StatusCode::REQUEST_TIMEOUT | StatusCode::MISDIRECTED_REQUEST
            );
            let was_reused = wire.note_response();
            (is_of_connection && was_reused).then_some(Connection::Fresh)
        }
        Err(error) => refused_stream(error).or_else(|| {
            let was_dropped = was_dropped(error)?;
            was_dropped.then_some(Connection::Fresh)
        }),
    }
}

/// Returns true if a kept connection brought its end or a rest of the response before, but not a
/// byte of a new response.
fn was_dropped(error: &RequestError) -> Option<bool> {
    let mut extensions = http::Extensions::new();
    error.connect_info()?.get_extras(&mut extensions);
    let wire = extensions.get::<WireExchange>()?;
    let was_dropped = match FetchFailure::of(error) {
        FetchFailure::Disconnected => wire.came() != Came::Response,
        FetchFailure::Protocol => wire.came() == Came::Other,
        _ => false,
    };
    Some(was_dropped && wire.has_served())
}

/// Returns the connection for a stream of HTTP/2 that the server did not process.
fn refused_stream(error: &RequestError) -> Option<Connection> {
    let mut causes = chain(error).filter_map(|cause| cause.downcast_ref::<h2::Error>());
    let error = causes.find(|error| error.is_remote())?;
    match error.reason()? {
        h2::Reason::REFUSED_STREAM => Some(Connection::Fresh),
        h2::Reason::NO_ERROR if error.is_go_away() => Some(Connection::Fresh),
        h2::Reason::HTTP_1_1_REQUIRED => Some(Connection::FreshHttp1),
        _ => None,
    }
}
