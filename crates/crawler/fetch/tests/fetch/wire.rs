//! Requests on the wire, and the ways in which a server can misbehave there.

use std::future::pending;
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use fetch::{
    Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch, Refusal, RequestContent,
    RequestMethod, SetupError,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use requests::FailureKind;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use web::{Clock, Exchange, Protocol, Timestamp, Truncation, Validators, Warning};

use crate::server::{Server, page};

const NOON: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello";

fn options() -> FetchOptions {
    let clock = Clock::fixed(NOON);
    FetchOptions {
        allow_private: true,
        ..FetchOptions::new("crawler/0.1 (+https://example.org/bot)", clock)
    }
}

fn limited(limits: FetchLimits) -> HttpFetch {
    HttpFetch::new(FetchOptions {
        limits,
        ..options()
    })
    .expect("these options work")
}

async fn fetch(server: &Server) -> Result<Exchange, FetchFailure> {
    limited(FetchLimits::default())
        .fetch(&server.url("/"))
        .await
}

#[tokio::test]
async fn an_exchange_records_the_request_and_the_response() {
    let server = Server::answering(OK).await;
    let exchange = limited(FetchLimits::default())
        .fetch(&server.url("/a?b=c"))
        .await
        .unwrap();

    assert_eq!(exchange.url, server.url("/a?b=c"));
    assert_eq!(
        (exchange.status, exchange.protocol),
        (200, Protocol::Http11)
    );
    assert_eq!(exchange.header("content-type"), Some("text/html"));
    assert_eq!(
        (&exchange.body.held().unwrap()[..], exchange.truncated),
        (&b"hello"[..], None)
    );
    assert_eq!(exchange.address, Some(server.address));
    assert_eq!(exchange.started, NOON);
    assert!(exchange.elapsed > Duration::ZERO);
}

#[tokio::test]
async fn the_request_head_is_what_the_server_saw_byte_for_byte() {
    let server = Server::answering(OK).await;
    let exchange = limited(FetchLimits::default())
        .fetch(&server.url("/a%20b?q=%C3%A4"))
        .await
        .unwrap();

    let expected = format!(
        "GET /a%20b?q=%C3%A4 HTTP/1.1\r\nhost: {}\r\n\
         user-agent: crawler/0.1 (+https://example.org/bot)\r\n\
         accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\
         accept-encoding: gzip, deflate, br, zstd\r\n\r\n",
        server.address
    );
    assert_eq!(String::from_utf8(exchange.request_head).unwrap(), expected);
    assert_eq!(server.heads(), [expected]);
}

#[tokio::test]
async fn a_post_is_archived_with_its_body_as_it_was_sent() {
    let server = Server::answering(OK).await;
    let fields = [
        (ACCEPT, HeaderValue::from_static("*/*")),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    let content = RequestContent {
        fields: HeaderMap::from_iter(fields),
        method: RequestMethod::Post(Bytes::from_static(b"{\"q\":1}")),
    };
    let (known, whole) = (Validators::default(), |_status, _fields: &HeaderMap| true);
    let fetch = limited(FetchLimits::default());
    let url = server.url("/a");
    let exchange = fetch.request_for(&url, &known, &content, &whole).await;

    let head = format!(
        "POST /a HTTP/1.1\r\nhost: {}\r\n\
         user-agent: crawler/0.1 (+https://example.org/bot)\r\n\
         accept: */*\r\naccept-encoding: gzip, deflate, br, zstd\r\n\
         content-type: application/json\r\ncontent-length: 7\r\n\r\n",
        server.address
    );
    let archived = String::from_utf8(exchange.unwrap().request_head).unwrap();
    assert_eq!(archived, format!("{head}{{\"q\":1}}"));
    assert_eq!(server.heads()[0], head);
}

#[tokio::test]
async fn validators_make_a_request_conditional_and_304_is_a_response() {
    let server = Server::answering("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n").await;
    let known = Validators {
        etag: Some(HeaderValue::from_static("W/\"1\"")),
        last_modified: Some(HeaderValue::from_static("Tue, 01 Sep 2026 10:00:00 GMT")),
    };
    let fetch = limited(FetchLimits::default());
    let exchange = fetch.request(&server.url("/"), &known).await.unwrap();

    assert_eq!((exchange.status, exchange.body.len()), (304, 0));
    assert_eq!(Validators::of(&exchange).etag.unwrap(), "\"1\"");
    let head = String::from_utf8(exchange.request_head).unwrap();
    assert!(
        head.contains(
            "\r\nif-none-match: W/\"1\"\r\nif-modified-since: Tue, 01 Sep 2026 10:00:00 GMT\r\n"
        ),
        "{head}"
    );
    assert_eq!(server.heads(), [head]);
}

#[tokio::test]
async fn a_redirect_is_a_response_and_is_not_followed() {
    let server = Server::answering(
        "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nSet-Cookie: a=b\r\n\
         Content-Length: 0\r\n\r\n",
    )
    .await;
    let fetch = limited(FetchLimits::default());
    let exchange = fetch.fetch(&server.url("/")).await.unwrap();

    assert_eq!(
        (exchange.status, exchange.location().as_deref()),
        (302, Some("/elsewhere"))
    );
    assert_eq!(server.heads().len(), 1);

    fetch.fetch(&server.url("/")).await.unwrap();
    assert!(
        !server.heads()[1].contains("cookie"),
        "no cookies, no referrer: {:?}",
        server.heads()[1]
    );
    assert_eq!(server.connections(), 1, "the connection is kept");
}

#[tokio::test]
async fn error_pages_are_answers() {
    for status in [404, 410, 429, 500, 503] {
        let server = Server::answering(format!(
            "HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nno"
        ))
        .await;
        let exchange = fetch(&server).await.unwrap();
        assert_eq!(
            (exchange.status, &exchange.body.held().unwrap()[..]),
            (status, &b"no"[..])
        );
    }
}

#[tokio::test]
async fn a_compressed_body_is_kept_as_received() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"a page").unwrap();
    let coded = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        coded.len()
    );
    let server = Server::answering([head.as_bytes(), &coded].concat()).await;
    let exchange = fetch(&server).await.unwrap();

    assert_eq!(&exchange.body.held().unwrap()[..], coded);
    assert_eq!(exchange.header("content-encoding"), Some("gzip"));
    assert_eq!(
        exchange.header("content-length"),
        Some(coded.len().to_string().as_str())
    );
    assert_eq!(
        &web::decode(&exchange.headers, &exchange.body, 100).bytes[..],
        b"a page"
    );
}

#[tokio::test]
async fn chunks_are_joined_and_early_hints_are_skipped() {
    let server = Server::answering(
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n\
         HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
         4\r\nmany\r\n6;x=y\r\n words\r\n0\r\n\r\n",
    )
    .await;
    let exchange = fetch(&server).await.unwrap();
    assert_eq!(
        (exchange.status, &exchange.body.held().unwrap()[..]),
        (200, &b"many words"[..])
    );
    assert_eq!(exchange.header("link"), None);
}

/// The engine skips 100 Continue and 103 Early Hints, however many, without a report: the deadline
/// ends them.
#[tokio::test]
async fn endless_early_hints_end_at_the_deadline() {
    for hint in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n",
    ] {
        let server = Server::with(move |mut stream| async move {
            while stream.write_all(hint.repeat(100).as_bytes()).await.is_ok() {}
        })
        .await;
        let limits = FetchLimits {
            timeout: Duration::from_millis(100),
            ..FetchLimits::default()
        };
        let failure = limited(limits).fetch(&server.url("/")).await.unwrap_err();
        assert_eq!(failure, FetchFailure::Timeout, "{hint:?}");
    }
}

#[tokio::test]
async fn chunk_extensions_and_trailers_are_bounded_and_skipped() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let long = "x".repeat(20 << 10);
    let many = "a: b\r\n".repeat(300);
    let cases = [
        (
            "5\r\nhello\r\n0\r\nX-Trailer: yes\r\n\r\n".to_owned(),
            Ok("hello"),
        ),
        (
            "5;name=value\r\nhello\r\n0;last\r\n\r\n".to_owned(),
            Ok("hello"),
        ),
        (format!("5\r\nhello\r\n0\r\nX: {long}\r\n\r\n"), Ok("hello")),
        (format!("5\r\nhello\r\n0\r\n{many}\r\n"), Ok("hello")),
        (
            format!("5;{long}\r\nhello\r\n0\r\n\r\n"),
            Err(FailureKind::Protocol),
        ),
        (
            "FFFFFFFFFFFFFFFFF\r\nhello".to_owned(),
            Err(FailureKind::Protocol),
        ),
        (
            "-5\r\nhello\r\n0\r\n\r\n".to_owned(),
            Err(FailureKind::Protocol),
        ),
        (
            "5 hello\r\n0\r\n\r\n".to_owned(),
            Err(FailureKind::Protocol),
        ),
    ];
    for (body, expected) in cases {
        let server = Server::answering(format!("{chunked}{body}")).await;
        let response = fetch(&server).await;
        let begins = &body[..body.len().min(40)];
        match response {
            Ok(exchange) => {
                assert_eq!(
                    Ok(&*String::from_utf8_lossy(
                        &exchange.body.to_bytes().unwrap()
                    )),
                    expected,
                    "{begins:?}"
                );
                assert_eq!(exchange.header("x-trailer"), None);
            }
            Err(failure) => {
                assert_eq!(Err(failure.kind()), expected, "{begins:?} gave {failure:?}");
            }
        }
    }
}

#[tokio::test]
async fn status_lines_of_any_size_are_bounded() {
    let cases = [
        (
            format!(
                "HTTP/1.1 200 {}\r\nContent-Length: 0\r\n\r\n",
                "x".repeat(8 << 10)
            ),
            Ok(200),
        ),
        (
            format!("HTTP/1.1 200 {}", "x".repeat(1 << 20)),
            Err(FailureKind::HeadersTooLarge),
        ),
        (
            "HTTP/1.1 2000 OK\r\n\r\n".to_owned(),
            Err(FailureKind::Protocol),
        ),
        (
            "HTTP/1.1 20 OK\r\n\r\n".to_owned(),
            Err(FailureKind::Protocol),
        ),
        ("HTTP/9.9 200 OK\r\n\r\n".to_owned(), Ok(200)),
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
                .to_owned(),
            Err(FailureKind::Protocol),
        ),
        ("\0".repeat(1 << 10), Err(FailureKind::Protocol)),
    ];
    for (response, expected) in cases {
        let begins = response[..response.len().min(40)].to_owned();
        let server = Server::with(move |mut stream| {
            let response = response.clone();
            async move { drop(stream.write_all(response.as_bytes()).await) }
        })
        .await;
        let response = fetch(&server).await;
        let response = response
            .map(|exchange| exchange.status)
            .map_err(|failure| failure.kind());
        assert_eq!(response, expected, "{begins:?}");
    }
}

#[tokio::test]
async fn a_slowly_dripping_head_fails_at_the_deadline() {
    let server = Server::with(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nX: ")
            .await
            .expect("the client listens");
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let limits = FetchLimits {
        timeout: Duration::from_millis(100),
        ..FetchLimits::default()
    };
    assert_eq!(
        limited(limits).fetch(&server.url("/")).await.unwrap_err(),
        FetchFailure::Timeout
    );
}

#[tokio::test]
async fn http_1_0_ends_with_the_connection() {
    let server = Server::answering_once("HTTP/1.0 200 OK\r\n\r\nto the end").await;
    let exchange = fetch(&server).await.unwrap();
    assert_eq!(
        (exchange.protocol, &exchange.body.held().unwrap()[..]),
        (Protocol::Http10, &b"to the end"[..])
    );
}

#[tokio::test]
async fn a_body_is_whole_at_the_limit_and_cut_one_byte_past_it() {
    let cases = [
        (9, 9, None),
        (10, 10, None),
        (11, 10, Some(Truncation::Length)),
    ];
    for (sent, kept, truncated) in cases {
        for coding in ["Content-Length: ", "Transfer-Encoding: chunked\r\nX: "] {
            let body = if coding.starts_with('C') {
                "x".repeat(sent)
            } else {
                format!("{sent:x}\r\n{}\r\n0\r\n\r\n", "x".repeat(sent))
            };
            let server =
                Server::answering(format!("HTTP/1.1 200 OK\r\n{coding}{sent}\r\n\r\n{body}")).await;
            let fetch = limited(FetchLimits {
                body: 10,
                ..FetchLimits::default()
            });
            let exchange = fetch.fetch(&server.url("/")).await.unwrap();
            assert_eq!(
                (exchange.body.len(), exchange.truncated),
                (kept, truncated),
                "{sent} {coding}"
            );
        }
    }
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    let server = Server::with(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
            .await
            .expect("the client listens");
        while stream.write_all(&[b'x'; 64 << 10]).await.is_ok() {}
    })
    .await;
    // More concurrent downloads than the budget has large shares, each larger than a small body.
    let fetch = limited(FetchLimits {
        body: 5 << 20,
        ..FetchLimits::default()
    });
    let url = server.url("/");
    let responses = tokio::join!(
        fetch.fetch(&url),
        fetch.fetch(&url),
        fetch.fetch(&url),
        fetch.fetch(&url),
        fetch.fetch(&url),
        fetch.fetch(&url)
    );
    for response in <[_; 6]>::from(responses) {
        let exchange = response.unwrap();
        assert_eq!(
            (exchange.body.len(), exchange.truncated),
            (5 << 20, Some(Truncation::Length))
        );
    }
}

/// 10 MB in 80 s were fetched three times, and thrown away three times: the time limit of a request
/// counted to its last byte.
#[tokio::test]
async fn a_body_may_take_longer_than_the_time_limit_while_it_moves() {
    let server = Server::with(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
            .await
            .expect("it listens");
        for _byte in 0..8 {
            tokio::time::sleep(Duration::from_millis(40)).await;
            stream.write_all(b"x").await.expect("it listens");
        }
        pending::<()>().await;
    })
    .await;
    let limits = FetchLimits {
        timeout: Duration::from_millis(250),
        min_rate: 0,
        ..FetchLimits::default()
    };
    let exchange = limited(limits).fetch(&server.url("/")).await.unwrap();
    assert_eq!((exchange.body.len(), exchange.truncated), (8, None));
}

#[tokio::test]
async fn a_body_is_cut_at_its_time_limit_and_is_a_response() {
    let server = Server::with(|mut stream| async move {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\n\r\n")
            .await
            .expect("it listens");
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let limits = FetchLimits {
        body_time: Duration::from_millis(50),
        ..FetchLimits::default()
    };
    let exchange = limited(limits).fetch(&server.url("/")).await.unwrap();
    assert_eq!(exchange.truncated, Some(Truncation::Time));
    assert!(!exchange.is_incomplete() && !exchange.body.is_empty());
}

#[tokio::test]
async fn a_trickle_is_given_up_and_what_came_is_kept() {
    let server = Server::with(|mut stream| async move {
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n";
        stream.write_all(head).await.expect("it listens");
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    let limits = FetchLimits {
        min_rate: 1_000_000,
        min_rate_grace: Duration::from_millis(50),
        ..FetchLimits::default()
    };
    let exchange = limited(limits).fetch(&server.url("/")).await.unwrap();
    assert_eq!(exchange.truncated, Some(Truncation::Time));
    assert_eq!(exchange.warnings, [Warning::StalledBody]);
    assert!(exchange.is_incomplete() && !exchange.body.is_empty());
}

/// A third of the documented silence ended a body, because silence counted for the minimum rate.
#[tokio::test]
async fn a_server_that_stops_in_the_middle_is_given_up_at_the_timeout() {
    let silence = Duration::from_millis(300);
    let silent = FetchLimits {
        timeout: silence,
        min_rate: 1000,
        min_rate_grace: Duration::from_millis(50),
        ..FetchLimits::default()
    };
    for body in ["half", ""] {
        let server = Server::with(move |mut stream| async move {
            let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{body}");
            stream
                .write_all(response.as_bytes())
                .await
                .expect("it listens");
            pending::<()>().await;
        })
        .await;
        let began = tokio::time::Instant::now();
        match limited(silent.clone()).fetch(&server.url("/")).await {
            Ok(exchange) => {
                assert_eq!(&exchange.body.held().unwrap()[..], body.as_bytes());
                assert_eq!(exchange.truncated, Some(Truncation::Time));
                assert_eq!(exchange.warnings, [Warning::StalledBody]);
                assert!(exchange.is_incomplete() && !body.is_empty());
            }
            Err(failed) => assert_eq!((failed, body), (FetchFailure::Timeout, "")),
        }
        assert!(began.elapsed() >= silence, "{body:?}");
    }
}

#[tokio::test]
async fn a_request_to_a_server_that_never_answers_times_out() {
    let server = Server::with(|stream| async move {
        pending::<()>().await;
        drop(stream);
    })
    .await;
    let limits = FetchLimits {
        timeout: Duration::from_millis(50),
        ..FetchLimits::default()
    };
    assert_eq!(
        limited(limits).fetch(&server.url("/")).await.unwrap_err(),
        FetchFailure::Timeout
    );
}

#[tokio::test]
async fn each_broken_answer_has_its_failure() {
    let many = "a: b\r\n".repeat(257);
    let long = format!("a: {}\r\n", "b".repeat(65 << 10));
    let endless = format!("a: {}\r\n", "b".repeat(1 << 20));
    let cases: [(String, FailureKind); 10] = [
        (String::new(), FailureKind::Disconnected),
        ("HTTP/1.1 200".into(), FailureKind::Disconnected),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".into(),
            FailureKind::Disconnected,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n".into(),
            FailureKind::Disconnected,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n".into(),
            FailureKind::Protocol,
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n".into(), FailureKind::Protocol),
        (
            "HTTP/1.1 1000 Beyond\r\nContent-Length: 0\r\n\r\n".into(),
            FailureKind::Protocol,
        ),
        (
            format!("HTTP/1.1 200 OK\r\n{many}\r\n"),
            FailureKind::HeadersTooLarge,
        ),
        (
            format!("HTTP/1.1 200 OK\r\n{long}\r\n"),
            FailureKind::HeadersTooLarge,
        ),
        (
            format!("HTTP/1.1 200 OK\r\n{endless}\r\n"),
            FailureKind::HeadersTooLarge,
        ),
    ];
    for (response, expected) in cases {
        let begins = response.chars().take(80).collect::<String>();
        // The client may close the connection first.
        let server = Server::with(move |mut stream| {
            let response = response.clone();
            async move { drop(stream.write_all(response.as_bytes()).await) }
        })
        .await;
        let failure = fetch(&server)
            .await
            .map(|exchange| exchange.status)
            .unwrap_err();
        assert_eq!(failure.kind(), expected, "{begins:?} gave {failure:?}");
    }
}

/// A status of 999, which linkedin.com sends, counted as invalid HTTP: the page was tried again and
/// its body was lost.
#[tokio::test]
async fn a_status_outside_the_standards_is_a_response() {
    for status in [600, 999] {
        let response = format!("HTTP/1.1 {status} Denied\r\nContent-Length: 2\r\n\r\nno");
        let server = Server::answering(response).await;
        let exchange = fetch(&server).await.unwrap();
        assert_eq!(
            (exchange.status, &exchange.body.held().unwrap()[..]),
            (status, &b"no"[..])
        );
    }
}

/// RFC 9112 section 5.2. Such a response counted as invalid HTTP: all pages of an old server were
/// lost.
#[tokio::test]
async fn a_folded_field_is_read_as_one_line() {
    let response = "HTTP/1.1 200 OK\r\nX-Field: one\r\n two\r\n\t three \r\n\
                  Content-Type:\r\n text/html\r\n\
                  Content-Length:\r\n 2\r\n\r\nok";
    let server = Server::answering(response.to_owned()).await;
    let exchange = fetch(&server).await.unwrap();
    assert_eq!(exchange.header("x-field"), Some("one two three"));
    assert_eq!(
        exchange.header("content-type").map(str::trim),
        Some("text/html")
    );
    assert_eq!(&exchange.body.held().unwrap()[..], b"ok");
}

#[tokio::test]
async fn headers_at_the_limit_are_fine() {
    // With `content-length`, four and two bytes more.
    let fields = "a: b\r\n".repeat(255);
    let server = Server::answering(format!(
        "HTTP/1.1 200 OK\r\n{fields}Content-Length: 2\r\n\r\nok"
    ))
    .await;
    assert_eq!(fetch(&server).await.unwrap().headers.len(), 256);
    let exact = FetchLimits {
        header_bytes: 255 * 6 + 14 + 1 + 4,
        ..FetchLimits::default()
    };
    assert!(limited(exact.clone()).fetch(&server.url("/")).await.is_ok());
    let less = FetchLimits {
        header_bytes: exact.header_bytes - 1,
        ..exact
    };
    assert_eq!(
        limited(less).fetch(&server.url("/")).await.unwrap_err(),
        FetchFailure::HeadersTooLarge
    );
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = page(&format!("http://{}/", listener.local_addr().unwrap()));
    drop(listener);
    let failure = limited(FetchLimits::default())
        .fetch(&url)
        .await
        .unwrap_err();
    assert_eq!(failure, FetchFailure::Connect(ErrorKind::ConnectionRefused));
    assert_eq!(failure.to_string(), "cannot connect: connection refused");
}

#[tokio::test]
async fn a_name_that_cannot_exist_does_not_resolve() {
    // A label has 63 bytes at most, so no resolver is asked (RFC 1035 section 2.3.4).
    let url = page(&format!("http://{}.test/", "a".repeat(64)));
    let failure = limited(FetchLimits::default())
        .fetch(&url)
        .await
        .unwrap_err();
    assert_eq!(failure, FetchFailure::Dns);
}

#[tokio::test]
async fn private_addresses_are_refused_before_anything_is_sent() {
    let server = Server::answering(OK).await;
    let port = server.address.port();
    let rule = |rule: String| rule.parse().unwrap();
    let guarded = HttpFetch::new(FetchOptions {
        allow_private: false,
        resolve: vec![
            rule(format!("public.test:{port}:127.0.0.1")),
            rule(format!("several.test:{port}:10.0.0.1,[::1]")),
        ],
        ..options()
    })
    .unwrap();
    let cases = [
        (format!("http://127.0.0.1:{port}/"), Refusal::Loopback),
        (format!("http://2130706433:{port}/"), Refusal::Loopback),
        (format!("http://0x7f.1:{port}/"), Refusal::Loopback),
        (format!("http://[::1]:{port}/"), Refusal::Loopback),
        (
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            Refusal::Loopback,
        ),
        (
            "http://169.254.169.254/latest/meta-data/".into(),
            Refusal::LinkLocal,
        ),
        ("https://10.0.0.1/".into(), Refusal::Private),
        (format!("http://localhost:{port}/"), Refusal::Loopback),
        (format!("http://public.test:{port}/"), Refusal::Loopback),
        (format!("http://several.test:{port}/"), Refusal::Loopback),
    ];
    for (url, expected) in cases {
        let failure = guarded.fetch(&page(&url)).await.unwrap_err();
        assert!(
            matches!(failure, FetchFailure::PrivateAddress { refusal, .. } if refusal == expected),
            "{url} gave {failure:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_resolve_rule_counts_for_its_port_only() {
    let server = Server::answering(OK).await;
    let port = server.address.port();
    let other = if port == 1 { 2 } else { 1 };
    let fetch = HttpFetch::new(FetchOptions {
        resolve: vec![
            format!("public.test:{port}:127.0.0.1").parse().unwrap(),
            format!("localhost:{other}:127.0.0.9").parse().unwrap(),
        ],
        ..options()
    })
    .unwrap();

    let exchange = fetch
        .fetch(&page(&format!("http://public.test:{port}/x")))
        .await
        .unwrap();
    assert_eq!(exchange.address, Some(server.address));
    assert!(
        server.heads()[0].contains(&format!("host: public.test:{port}\r\n")),
        "{:?}",
        server.heads()
    );

    let exchange = fetch
        .fetch(&page(&format!("http://localhost:{port}/")))
        .await
        .unwrap();
    assert_eq!(
        exchange.address,
        Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
    );
}

#[test]
fn a_setup_that_cannot_work_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").unwrap();
    let missing = directory.path().join("missing.pem");

    let agent = FetchOptions {
        user_agent: "a\r\nb: c".into(),
        ..options()
    };
    assert!(matches!(
        HttpFetch::new(agent),
        Err(SetupError::UserAgent(_))
    ));
    let empty = FetchOptions {
        ca_certificates: vec![empty],
        ..options()
    };
    assert!(matches!(
        HttpFetch::new(empty),
        Err(SetupError::NoCertificate(_))
    ));
    let missing = FetchOptions {
        ca_certificates: vec![missing],
        ..options()
    };
    assert!(matches!(
        HttpFetch::new(missing),
        Err(SetupError::CertificateFile { .. })
    ));
}

/// A response to HEAD has no content, even if its fields announce some (RFC 9110 section 9.3.2). A
/// client that waits for it stalls until its limit of time.
#[tokio::test]
async fn the_response_to_a_head_ends_with_its_fields() {
    for fields in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nextra",
    ] {
        let server = Server::answering(fields).await;
        let content = RequestContent {
            method: RequestMethod::Head,
            ..RequestContent::default()
        };
        let (known, whole) = (Validators::default(), |_status, _fields: &HeaderMap| true);
        let fetch = limited(FetchLimits::default());
        for path in ["/1", "/2"] {
            let url = server.url(path);
            let exchange = fetch.request_for(&url, &known, &content, &whole).await;
            let exchange = exchange.unwrap_or_else(|failure| panic!("{fields}: {failure}"));
            assert_eq!((exchange.status, exchange.body.len()), (200, 0), "{fields}");
            assert!(
                !exchange.is_incomplete(),
                "{fields}: {:?}",
                exchange.warnings
            );
        }
        let heads = server.heads();
        assert!(
            heads.iter().all(|head| head.starts_with("HEAD /")),
            "{heads:?}"
        );
    }
}
