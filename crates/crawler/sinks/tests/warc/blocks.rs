//! HTTP messages in their records, hostile ones included.

use sinks::warc::Record;
use sinks::{PayloadDigest, Visit};
use web::{Exchange, Protocol, Truncation};

use crate::fixtures::{exchange, headers, kinds, text, visit, written};

async fn response_to(exchange: Exchange) -> Record {
    written(visit(vec![exchange])).await.swap_remove(0)
}

#[tokio::test]
async fn fields_that_would_mislead_a_reader_of_the_kept_payload_are_renamed() {
    for (fields, body, expected) in [
        (
            vec![("content-length", "5")],
            "hello",
            "content-length: 5\r\n",
        ),
        (
            vec![("content-length", " 5")],
            "hello",
            "content-length:  5\r\n",
        ),
        (
            vec![("content-length", "05")],
            "hello",
            "x-crawler-content-length: 05\r\n",
        ),
        (
            vec![("content-length", "6")],
            "hello",
            "x-crawler-content-length: 6\r\n",
        ),
        (
            vec![("content-length", "5, 5")],
            "hello",
            "x-crawler-content-length: 5, 5\r\n",
        ),
        (
            vec![("content-length", "5"), ("content-length", "7")],
            "hello",
            "content-length: 5\r\nx-crawler-content-length: 7\r\n",
        ),
        (
            vec![("transfer-encoding", "chunked")],
            "hello",
            "x-crawler-transfer-encoding: chunked\r\n",
        ),
        (
            vec![("content-encoding", "gzip")],
            "\u{1f}",
            "content-encoding: gzip\r\n",
        ),
        (vec![], "hello", ""),
    ] {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        let exchange = Exchange {
            headers: headers(&fields),
            ..exchange("http://example.org/a", body)
        };
        let response = response_to(exchange).await;
        assert_eq!(
            text(&response),
            format!("HTTP/1.1 200 OK\r\n{expected}\r\n{body}")
        );
    }
}

#[tokio::test]
async fn the_status_line_is_one_that_replay_tools_read() {
    for (protocol, status, line, spoken) in [
        (Protocol::Http10, 404, "HTTP/1.0 404 Not Found", "http/1.0"),
        (
            Protocol::Http11,
            503,
            "HTTP/1.1 503 Service Unavailable",
            "http/1.1",
        ),
        (Protocol::Http2, 200, "HTTP/1.1 200 OK", "h2"),
        (Protocol::Http11, 599, "HTTP/1.1 599 ", "http/1.1"),
    ] {
        let response = response_to(Exchange {
            protocol,
            status,
            ..exchange("https://example.org/", "")
        })
        .await;
        assert_eq!(text(&response).lines().next(), Some(line));
        assert_eq!(response.field("WARC-Protocol"), Some(spoken));
    }
}

#[tokio::test]
async fn a_truncated_body_states_the_reason() {
    for (truncated, expected) in [
        (None, None),
        (Some(Truncation::Length), Some("length")),
        (Some(Truncation::Time), Some("time")),
        (Some(Truncation::Disconnect), Some("disconnect")),
    ] {
        let response = response_to(Exchange {
            truncated,
            ..exchange("http://example.org/a", "hel")
        })
        .await;
        assert_eq!(response.truncated(), expected);
        assert_eq!(
            response.payload(),
            Some(PayloadDigest::of(b"hel")),
            "of the existing file"
        );
    }
}

#[tokio::test]
async fn addresses_are_written_bare() {
    for (address, expected) in [
        (Some("[2001:db8::1]:443"), Some("2001:db8::1")),
        (Some("[::ffff:192.0.2.7]:80"), Some("192.0.2.7")),
        (None, None),
    ] {
        let address = address.map(|text| text.parse().unwrap());
        let response = response_to(Exchange {
            address,
            ..exchange("http://example.org/a", "")
        })
        .await;
        assert_eq!(response.field("WARC-IP-Address"), expected);
    }
}

#[tokio::test]
async fn hostile_text_adds_no_field_and_no_record() {
    let hostile = "x\r\n\r\nWARC/1.1\r\nWARC-Type: warcinfo\r\n\0\u{85}";
    let hop = Exchange {
        headers: headers(&[
            ("x-evil", b"\xff\xfe WARC/1.1 \t"),
            ("location", b"/\xe9?\"<>"),
        ]),
        ..exchange(
            "http://example.org/%0d%0aWARC-Type:%20request?a=\r\nb&%00#\r\n",
            hostile,
        )
    };
    let records = written(Visit {
        metadata: vec![("title", hostile.to_owned())],
        ..visit(vec![hop])
    })
    .await;
    assert_eq!(kinds(&records), ["response", "request", "metadata"]);
    assert_eq!(
        text(&records[2]),
        "title: x    WARC/1.1  WARC-Type: warcinfo    \r\n"
    );
    let (head, payload) = records[0].head_and_payload().unwrap();
    assert_eq!(payload, hostile.as_bytes(), "a payload is never changed");
    assert_eq!(
        head,
        b"HTTP/1.1 200 OK\r\nx-evil: \xff\xfe WARC/1.1 \t\r\nlocation: /\xe9?\"<>\r\n\r\n"
    );
    assert!(!records[0].target().unwrap().contains(char::is_control));
}
