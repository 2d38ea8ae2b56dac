//! Responses that browsers read and the engine alone would not, over real connections.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

use fetch::{Fetch, FetchFailure, FetchLimits, FetchOptions, HttpFetch};
use requests::FailureKind;
use tokio::io::AsyncWriteExt;
use web::{Clock, Exchange, Timestamp, Truncation, Warning};

use crate::server::{Server, page};

fn client() -> HttpFetch {
    let clock = Clock::fixed(Timestamp::from_millis(1_700_000_000_000));
    let options = FetchOptions {
        allow_private: true,
        limits: FetchLimits::default(),
        ..FetchOptions::new("crawler/0.1", clock)
    };
    HttpFetch::new(options).expect("these options work")
}

/// Fetches what a server sends before it closes the connection, in two packets.
async fn sent(response: &str) -> Result<Exchange, FetchFailure> {
    let response = response.to_owned();
    let server = Server::with(move |mut stream| {
        let response = response.clone();
        async move {
            let (one, two) = response.as_bytes().split_at(response.len() / 2);
            for packet in [one, two] {
                stream.write_all(packet).await.expect("the client listens");
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    client().fetch(&server.url("/")).await
}

fn text(exchange: &Exchange) -> String {
    String::from_utf8_lossy(&exchange.body.to_bytes().expect("a body in memory")).into_owned()
}

/// Each of these counted as invalid HTTP: its server was lost, and counted as failing.
#[tokio::test]
async fn an_odd_head_is_read_and_named() {
    let (line, field) = (&[Warning::StatusLine][..], &[Warning::HeaderLine][..]);
    let (length, coding) = (
        &[Warning::ContentLength][..],
        &[Warning::TransferEncoding][..],
    );
    for (head, status, warnings) in [
        ("HTTP/1.1 200\r\n", 200, &[][..]),
        ("HTTP/1.1 200OK\r\n", 200, line),
        ("ICY 200 OK\r\n", 200, line),
        ("http/1.1 404 gone\n", 404, line),
        ("\r\n\r\nHTTP/1.1 200 OK\r\n", 200, &[]),
        ("\u{feff}HTTP/1.1 200 OK\r\n", 200, line),
        ("HTTP/1.10 200 OK\r\n", 200, line),
        ("HTTP/1.1 200 OK\r\nX-Powered-By : PHP\r\n", 200, field),
        ("HTTP/1.1 200 OK\r\nPHP Warning: in line 0\r\n", 200, field),
        (
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01\r\n",
            200,
            &[Warning::ControlCharacter],
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n", 200, length),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2, 5\r\n", 200, length),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551614\r\n",
            200,
            length,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n",
            200,
            length,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n",
            200,
            coding,
        ),
        (
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n",
            200,
            coding,
        ),
    ] {
        let exchange = sent(&format!("{head}X-Last: yes\r\n\r\nhello"))
            .await
            .unwrap();
        assert_eq!(
            (exchange.status, &*text(&exchange)),
            (status, "hello"),
            "{head:?}"
        );
        assert_eq!(exchange.header("x-last"), Some("yes"), "{head:?}");
        assert_eq!(exchange.warnings, warnings, "{head:?}");
        assert_eq!(exchange.truncated, None, "{head:?}");
    }
}

/// Chunk lines that end in LF alone lost the page, or all but its first chunk.
#[tokio::test]
async fn chunk_lines_may_end_in_lf_alone() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in [
        "5\nmany \n6;x=y\nwords\n\n0\n\n",
        "5\r\nmany \n6\r\nwords\n\n0\r\n\r\n",
        "5\nmany \r\n6\nwords\n\r\n0\nX-Trailer: yes\n\n",
    ] {
        let server = Server::answering(format!("{head}{body}")).await;
        let client = client();
        for _request in 0..2 {
            let exchange = client.fetch(&server.url("/")).await.unwrap();
            assert_eq!(text(&exchange), "many words\n", "{body:?}");
            assert_eq!(exchange.truncated, None, "{body:?}");
            assert_eq!(exchange.warnings, [Warning::TransferEncoding], "{body:?}");
        }
        assert_eq!(server.connections(), 1, "{body:?}");
        assert_eq!(
            text(&sent(&format!("{head}{body}")).await.unwrap()),
            "many words\n"
        );
    }
}

/// A body in chunks is longer than what is read at a time, and its lines end anywhere.
#[tokio::test]
async fn long_chunks_are_read_with_any_line_ends() {
    let chunk = "line\n".repeat(7_000);
    for end in ["\r\n", "\n"] {
        let framed = format!("{:x}{end}{chunk}{end}", chunk.len()).repeat(20);
        let response =
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{framed}0{end}{end}");
        let exchange = sent(&response).await.unwrap();
        assert!(text(&exchange) == chunk.repeat(20), "{end:?}");
        assert_eq!(exchange.truncated, None, "{end:?}");
    }
}

/// A length that is too large lost the page and everything behind it.
#[tokio::test]
async fn what_came_of_a_body_is_kept() {
    let ok = "HTTP/1.1 200 OK\r\n";
    for (response, warning) in [
        (
            format!("{ok}Content-Length: 99\r\n\r\nhalf"),
            Warning::ShortBody,
        ),
        (
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
            Warning::BrokenChunks,
        ),
        (
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\nmore"),
            Warning::BrokenChunks,
        ),
        (
            format!("{ok}Transfer-Encoding: chunked\r\n\r\n99\r\nhalf"),
            Warning::BrokenChunks,
        ),
    ] {
        let exchange = sent(&response).await.unwrap();
        assert_eq!(text(&exchange), "half", "{response:?}");
        assert_eq!(
            exchange.truncated,
            Some(Truncation::Disconnect),
            "{response:?}"
        );
        assert_eq!(exchange.warnings, [warning], "{response:?}");
        let failure = FetchFailure::of_incomplete(&exchange);
        assert_eq!(failure, Some(FetchFailure::Disconnected));
    }
}

/// A body without a length counted as whole when its connection was reset, and so did the rules of
/// a robots.txt.
#[tokio::test]
async fn a_reset_connection_is_not_the_end_of_a_body() {
    for head in ["HTTP/1.1 200 OK", "HTTP/1.0 200 OK"] {
        let server = Server::with(move |mut stream| async move {
            let response = format!("{head}\r\n\r\nhalf");
            let sent = stream.write_all(response.as_bytes()).await;
            sent.expect("the client listens");
            stream.set_zero_linger().expect("a socket");
        })
        .await;
        let exchange = client().fetch(&server.url("/")).await.unwrap();
        assert_eq!(text(&exchange), "half", "{head}");
        assert_eq!(exchange.truncated, Some(Truncation::Disconnect), "{head}");
        assert_eq!(exchange.warnings, [Warning::BrokenConnection], "{head}");
        assert!(exchange.is_incomplete(), "{head}");
    }
}

/// Of other responses the head is enough: a redirect whose length is wrong failed.
#[tokio::test]
async fn an_empty_body_is_a_failure_of_pages_only() {
    for (status, expected) in [
        ("200 OK", Err(FailureKind::Disconnected)),
        ("302 Found", Ok(302)),
        ("404 Not Found", Ok(404)),
        ("503 Service Unavailable", Ok(503)),
    ] {
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: 99\r\n\r\n");
        let fetched = sent(&response).await;
        let fetched = fetched.map(|exchange| exchange.status);
        assert_eq!(fetched.map_err(|failure| failure.kind()), expected);
    }
}

/// A kept connection must not carry what was odd about one response to the next.
#[tokio::test]
async fn warnings_belong_to_one_response() {
    let response = "HTTP/1.1 200 OK\r\nA : b\r\nContent-Length: 2\r\n\r\nok";
    let server = Server::answering(response).await;
    let client = client();
    for _request in 0..3 {
        let exchange = client.fetch(&server.url("/")).await.unwrap();
        assert_eq!(exchange.warnings, [Warning::HeaderLine]);
        assert_eq!(exchange.header("a"), Some("b"));
    }
    assert_eq!(server.connections(), 1);
}

/// A second response that nobody asked for lay in the socket, and became the page of the next URL.
#[tokio::test]
async fn an_unasked_answer_is_not_the_answer_to_the_next_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = page(&format!("http://{}/", listener.local_addr().unwrap()));
    let (more, asked_for_more) = mpsc::sync_channel::<()>(1);
    let (sent, was_sent) = mpsc::sync_channel::<()>(1);
    let server = std::thread::spawn(move || {
        let response = |body: &str| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        let (mut first, _) = listener.accept().unwrap();
        read_head(&mut first);
        first.write_all(response("own").as_bytes()).unwrap();
        asked_for_more.recv().unwrap();
        first.write_all(response("unasked").as_bytes()).unwrap();
        sent.send(()).unwrap();
        let (mut second, _) = listener.accept().unwrap();
        read_head(&mut second);
        second.write_all(response("own").as_bytes()).unwrap();
    });
    let client = client();
    assert_eq!(text(&client.fetch(&url).await.unwrap()), "own");
    for _turn in 0..9 {
        // The connection goes back to the pool.
        tokio::task::yield_now().await;
    }
    // Blocks the only thread of the runtime, which learns of no bytes meanwhile.
    more.send(()).unwrap();
    was_sent.recv().unwrap();
    assert_eq!(text(&client.fetch(&url).await.unwrap()), "own");
    server.join().unwrap();
}

fn read_head(stream: &mut TcpStream) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the client asks");
        head.push(byte[0]);
    }
}
