//! Requests that a server did not process, and that are repeated at once.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use fetch::{Fetch, FetchFailure, FetchOptions, HttpFetch, RequestContent, RequestMethod};
use http::HeaderMap;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::server::TlsStream;
use web::{Clock, PageUrl, Protocol, Timestamp, Validators};

use crate::server::page;
use crate::tls::acceptor;

fn client() -> HttpFetch {
    let clock = Clock::fixed(Timestamp::from_millis(1_700_000_000_000));
    let options = FetchOptions {
        allow_private: true,
        ..FetchOptions::new("crawler/0.1", clock)
    };
    HttpFetch::new(options).expect("these options work")
}

/// What a server does with a request.
#[derive(Clone, Copy)]
enum Act {
    Response(&'static str),
    /// Half a response, then the end of the connection.
    Half,
    Close,
    Reset,
    /// The rest of the response before, whose length was too small.
    Rest(&'static str),
    /// The same, then the end of the connection.
    LastRest(&'static str),
}

const OK: Act = Act::Response("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
const LATE: Act = Act::Response("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");

/// A server that acts alike on each connection: by the number of the request on it. Returns its
/// URL and the number of requests so far.
async fn server(acts: &'static [Act]) -> (PageUrl, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = page(&format!(
        "http://{}/",
        listener.local_addr().expect("it is bound")
    ));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(stream, acts, Arc::clone(&counted)));
        }
    });
    (url, requests)
}

async fn talk(mut stream: TcpStream, acts: &[Act], requests: Arc<AtomicUsize>) {
    for act in acts {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else {
                return;
            };
            head.push(byte);
        }
        requests.fetch_add(1, Ordering::SeqCst);
        match act {
            Act::Response(response) => stream
                .write_all(response.as_bytes())
                .await
                .expect("the client listens"),
            Act::Half => {
                return stream
                    .write_all(b"HTTP/1.1 20")
                    .await
                    .expect("the client listens");
            }
            Act::Rest(rest) => stream
                .write_all(rest.as_bytes())
                .await
                .expect("the client listens"),
            Act::LastRest(rest) => {
                return stream
                    .write_all(rest.as_bytes())
                    .await
                    .expect("the client listens");
            }
            Act::Close => return,
            Act::Reset => return stream.set_zero_linger().expect("the client listens"),
        }
    }
}

/// Each such end was a failed visit: one page in eight was lost, and 12 pages took 67 s for 13 s.
#[tokio::test]
async fn a_kept_connection_that_ends_costs_nothing() {
    for acts in [
        &[OK, Act::Close][..],
        &[OK, Act::Reset],
        &[OK, LATE],
        &[OK, OK, Act::Close],
    ] {
        let (url, requests) = server(acts).await;
        let client = client();
        for _page in 0..6 {
            let exchange = client.fetch(&url).await.unwrap();
            assert_eq!((exchange.status, exchange.body.len()), (200, 2));
        }
        assert!(requests.load(Ordering::SeqCst) <= 9);
    }
}

/// The rest of a body whose length was too small came behind the next request, and counted as the
/// answer to it: "the response is not valid HTTP", for every other page of the site.
#[tokio::test]
async fn the_rest_of_a_body_costs_the_connection_and_no_page() {
    for act in [
        Act::Rest("<!-- generated in 0.01 s -->\n"),
        Act::LastRest("<!-- generated in 0.01 s -->\n"),
        Act::LastRest("-->"),
        Act::LastRest("\r\n"),
        Act::LastRest("HTML>"),
    ] {
        let acts: &'static [Act] = Vec::leak(vec![OK, act]);
        let (url, requests) = server(acts).await;
        let client = client();
        for _page in 0..6 {
            let exchange = client.fetch(&url).await.unwrap();
            assert_eq!((exchange.status, exchange.body.len()), (200, 2));
        }
        assert!(requests.load(Ordering::SeqCst) <= 9);
    }
}

#[tokio::test]
async fn what_is_no_http_on_a_new_connection_is_a_failure_after_one_request() {
    let (url, requests) = server(&[Act::Rest("</html>\n")]).await;
    let failure = client().fetch(&url).await.unwrap_err();
    assert_eq!(failure, FetchFailure::Protocol);
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_new_connection_that_ends_is_a_failure_after_one_request() {
    for acts in [&[Act::Close][..], &[Act::Reset], &[Act::Half]] {
        let (url, requests) = server(acts).await;
        let failure = client().fetch(&url).await.unwrap_err();
        assert_eq!(failure, FetchFailure::Disconnected);
        assert_eq!(requests.load(Ordering::SeqCst), 1);
    }
    let (url, requests) = server(&[LATE]).await;
    assert_eq!(client().fetch(&url).await.unwrap().status, 408);
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_whose_response_began_is_not_repeated() {
    let (url, requests) = server(&[OK, Act::Half]).await;
    let client = client();
    client.fetch(&url).await.unwrap();
    let failure = client.fetch(&url).await.unwrap_err();
    assert_eq!(failure, FetchFailure::Disconnected);
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

/// A POST may have changed something, although its response is missing.
#[tokio::test]
async fn a_post_is_sent_once_on_a_connection_of_its_own() {
    let post = RequestContent {
        method: RequestMethod::Post(Bytes::new()),
        ..RequestContent::default()
    };
    let sent = async |client: &HttpFetch, url: &PageUrl| {
        let (known, whole) = (Validators::default(), |_status, _fields: &HeaderMap| true);
        client.request_for(url, &known, &post, &whole).await
    };
    let (url, requests) = server(&[OK, Act::Close]).await;
    let client = client();
    client.fetch(&url).await.unwrap();
    assert_eq!(sent(&client, &url).await.unwrap().status, 200);
    assert_eq!(requests.load(Ordering::SeqCst), 2);
    let (url, requests) = server(&[Act::Close]).await;
    let failure = sent(&client, &url).await.unwrap_err();
    assert_eq!(failure, FetchFailure::Disconnected);
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

/// The reaction of an HTTP/2 server to a request.
#[derive(Clone, Copy, Debug)]
enum Frame {
    Response,
    Refuse(h2::Reason),
    /// GOAWAY without an error, and the end of the connection.
    GoAway,
    Close,
}

/// A server that reacts to its requests in this order, then answers all, with HTTP/2 or, if a
/// client offers nothing else, with HTTP/1.1. Returns its port, its authority, and the number of
/// requests so far.
async fn http2(frames: &'static [Frame]) -> (u16, NamedTempFile, Arc<AtomicUsize>) {
    let (acceptor, authority) = acceptor("h2 http/1.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, counted) = (acceptor.clone(), Arc::clone(&counted));
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.expect("the client listens");
                if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                    react(stream, frames, &counted).await;
                } else {
                    answer_http1(stream, &counted).await;
                }
            });
        }
    });
    (port, authority, requests)
}

async fn react(stream: TlsStream<TcpStream>, frames: &[Frame], requests: &AtomicUsize) {
    let mut connection = h2::server::handshake(stream)
        .await
        .expect("the client listens");
    while let Some(Ok((_request, mut respond))) = connection.accept().await {
        let number = requests.fetch_add(1, Ordering::SeqCst);
        match frames.get(number).unwrap_or(&Frame::Response) {
            Frame::Response => {
                let response = http::Response::new(());
                let mut body = respond
                    .send_response(response, false)
                    .expect("the client listens");
                body.send_data("ok".into(), true)
                    .expect("the client listens");
            }
            Frame::Refuse(reason) => respond.send_reset(*reason),
            Frame::GoAway => {
                connection.abrupt_shutdown(h2::Reason::NO_ERROR);
                while let Some(Ok(_)) = connection.accept().await {}
                return;
            }
            Frame::Close => return,
        }
    }
}

async fn answer_http1(mut stream: TlsStream<TcpStream>, requests: &AtomicUsize) {
    requests.fetch_add(1, Ordering::SeqCst);
    while stream.read_u8().await.is_ok() {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        stream
            .write_all(response)
            .await
            .expect("the client listens");
        stream.flush().await.expect("the client listens");
        pending::<()>().await;
    }
}

/// A stream that was refused counted as a failure of the page and of the host: 13 pages took 186 s
/// instead of 0.3 s.
#[tokio::test]
async fn a_stream_that_was_not_processed_is_requested_again() {
    use h2::Reason;
    let refused = Frame::Refuse(Reason::REFUSED_STREAM);
    for (frames, expected, protocol) in [
        (&[][..], Ok(1), Protocol::Http2),
        (&[refused], Ok(2), Protocol::Http2),
        (&[refused, refused, refused], Ok(4), Protocol::Http2),
        (
            &[Frame::Refuse(Reason::HTTP_1_1_REQUIRED)],
            Ok(2),
            Protocol::Http11,
        ),
        (
            &[refused, refused, refused, refused],
            Err(4),
            Protocol::Http2,
        ),
        (&[Frame::Refuse(Reason::CANCEL)], Err(1), Protocol::Http2),
        (
            &[Frame::Refuse(Reason::ENHANCE_YOUR_CALM)],
            Err(1),
            Protocol::Http2,
        ),
    ] {
        let frames: &'static [Frame] = Vec::leak(frames.to_vec());
        let (port, authority, requests) = http2(frames).await;
        let client = client_of(port, &authority);
        let url = page(&format!("https://secure.test:{port}/"));
        let fetched = client.fetch(&url).await;
        let count = requests.load(Ordering::SeqCst);
        match fetched {
            Ok(exchange) => {
                assert_eq!(
                    (Ok(count), protocol),
                    (expected, exchange.protocol),
                    "{frames:?}"
                );
                assert_eq!(exchange.body.len(), 2);
            }
            Err(failure) => {
                assert_eq!(Err(count), expected, "{frames:?}");
                assert_eq!(failure, FetchFailure::Disconnected, "{frames:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_kept_connection_of_http_2_that_goes_away_costs_nothing() {
    for end in [Frame::GoAway, Frame::Close] {
        let frames: &'static [Frame] = Vec::leak(vec![Frame::Response, end]);
        let (port, authority, requests) = http2(frames).await;
        let client = client_of(port, &authority);
        let url = page(&format!("https://secure.test:{port}/"));
        for _page in 0..3 {
            let exchange = client.fetch(&url).await.unwrap();
            assert_eq!((exchange.status, exchange.body.len()), (200, 2), "{end:?}");
        }
        assert_eq!(requests.load(Ordering::SeqCst), 4, "{end:?}");
    }
}

fn client_of(port: u16, authority: &NamedTempFile) -> HttpFetch {
    let clock = Clock::fixed(Timestamp::from_millis(1_700_000_000_000));
    let options = FetchOptions {
        allow_private: true,
        resolve: vec![
            format!("secure.test:{port}:127.0.0.1")
                .parse()
                .expect("a rule"),
        ],
        ca_certificates: vec![authority.path().to_owned()],
        ..FetchOptions::new("crawler/0.1", clock)
    };
    HttpFetch::new(options).expect("these options work")
}
