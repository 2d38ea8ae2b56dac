//! Archives read back unchanged, by our reader and by others.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::collection::vec;
use proptest::prelude::*;
use sinks::{Keeping, Original, PayloadDigest, Sink, Visit};
use warc::WarcHeader;
use web::{Exchange, PageUrl, Protocol, Timestamp, Truncation};

use crate::fixtures::{NOON, exchange, fresh, kinds, page, records_at, visit};
use sinks::warc::locate;

fn a_url() -> impl Strategy<Value = PageUrl> {
    ("[a-z]{1,8}", "\\PC{0,30}", "\\PC{0,30}").prop_map(|(host, path, query)| {
        let path = path.replace(['?', '#'], "");
        page(&format!("http://{host}.example/{path}?{query}"))
    })
}

fn some_headers() -> impl Strategy<Value = HeaderMap> {
    let name = prop_oneof![
        Just("content-length".to_owned()),
        Just("transfer-encoding".to_owned()),
        "[a-z][a-z0-9_.-]{0,15}"
    ];
    let value = vec(
        prop_oneof![0x20..=0x7e_u8, 0x80..=0xff_u8, Just(b'\t')],
        0..40,
    );
    vec((name, value), 0..12).prop_map(|fields| {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(&value).unwrap());
        }
        headers
    })
}

fn a_body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..2_000),
        vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'W')], 0..200),
        (any::<u8>(), 0..300_000_usize).prop_map(|(byte, length)| vec![byte; length]),
    ]
}

prop_compose! {
    fn an_exchange()(
        url in a_url(),
        headers in some_headers(),
        body in a_body(),
        status in 200..600_u16,
        truncated in prop_oneof![Just(None), Just(Some(Truncation::Time))],
        protocol in prop_oneof![
            Just(Protocol::Http10), Just(Protocol::Http11), Just(Protocol::Http2),
        ],
        started in 0..4_000_000_000_000_u64,
    ) -> Exchange {
        let started = Timestamp::from_millis(started);
        Exchange {
            url, headers, status, truncated, protocol, started,
            ..exchange("http://example.org/", body)
        }
    }
}

/// Head lines as a reader sees them, without the names that were changed to protect it.
fn head_of(exchange: &Exchange, written: &[u8]) -> Vec<Vec<u8>> {
    let lines = written
        .split(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.skip(1).filter(|line| !line.is_empty());
    let received: Vec<Vec<u8>> = lines
        .map(|line| line.strip_prefix(b"x-crawler-").unwrap_or(line).to_vec())
        .collect();
    assert_eq!(received.len(), exchange.headers.len());
    received
}

fn check(exchange: Exchange) {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let archive = fresh(dir.path());
    let archived = runtime
        .block_on(archive.write(visit(vec![exchange.clone()])))
        .unwrap();

    let records = records_at(dir.path(), &archived);
    assert_eq!(kinds(&records), ["response", "request"]);
    let (head, payload) = records[0].head_and_payload().unwrap();
    assert_eq!(payload, exchange.body.held().unwrap());
    assert_eq!(
        records[0].payload(),
        Some(PayloadDigest::of(exchange.body.held().unwrap()))
    );
    assert_eq!(records[0].target(), Some(exchange.url.request().as_str()));
    assert_eq!(records[0].date(), exchange.started.to_string());
    let sent: Vec<Vec<u8>> = exchange
        .headers
        .iter()
        .map(|(name, value)| [name.as_str().as_bytes(), b": ", value.as_bytes()].concat())
        .collect();
    assert_eq!(head_of(&exchange, head), sent);
    assert_eq!(records[1].block, exchange.request_head);
    check_with_another_reader(&locate(dir.path(), &archived.file), &[exchange]);
}

/// The `warc` crate reads responses with these payloads, each with its request.
fn check_with_another_reader(path: &Path, exchanges: &[Exchange]) {
    let unpacked = BufReader::new(MultiGzDecoder::new(BufReader::new(
        File::open(path).unwrap(),
    )));
    let mut records = warc::WarcReader::new(unpacked)
        .iter_records()
        .map(Result::unwrap);
    assert_eq!(
        *records.next().unwrap().warc_type(),
        warc::RecordType::WarcInfo
    );
    for exchange in exchanges {
        let response = records.next().unwrap();
        assert_eq!(response.warc_version(), "1.1");
        assert_eq!(*response.warc_type(), warc::RecordType::Response);
        assert_eq!(
            response.header(WarcHeader::TargetURI).unwrap(),
            exchange.url.request().as_str()
        );
        assert_eq!(
            response.header(WarcHeader::BlockDigest).unwrap(),
            PayloadDigest::of(response.body()).to_string()
        );
        assert!(response.body().ends_with(exchange.body.held().unwrap()));
        let request = records.next().unwrap();
        assert_eq!(*request.warc_type(), warc::RecordType::Request);
        assert_eq!(
            request.header(WarcHeader::ConcurrentTo).unwrap(),
            response.warc_id()
        );
        assert_eq!(request.body(), exchange.request_head);
    }
    assert!(records.next().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_exchange_is_read_back_unchanged(exchange in an_exchange()) {
        check(exchange);
    }

    #[test]
    fn any_metadata_comes_back_one_field_a_line(
        values in vec("\\PC{0,20}[\\x00-\\x20\\x7f]{0,5}\\PC{0,20}", 1..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let metadata = values.iter().map(|value| ("note", value.clone())).collect();
        let archive = fresh(dir.path());
        let visit = Visit { metadata, ..visit(Vec::new()) };
        let archived = runtime.block_on(archive.write(visit)).unwrap();
        let records = records_at(dir.path(), &archived);
        let block = String::from_utf8(records[0].block.clone()).unwrap();
        let read: Vec<&str> = block.split_terminator("\r\n").collect();
        let ends_a_line =
            |one: char| one.is_control() || matches!(one, '\u{2028}' | '\u{2029}');
        let expected: Vec<String> =
            values.iter().map(|value| value.replace(ends_a_line, " ")).map(|value| {
                format!("note: {value}")
            }).collect();
        prop_assert_eq!(read, expected);
    }
}

#[tokio::test]
async fn another_reader_reads_every_kind_of_record() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let page = exchange("http://example.org/a", "hello");
    let of = Original {
        url: page.url.clone(),
        at: NOON,
    };
    let metadata = vec![("verdict", "exact-duplicate".to_owned())];
    let file = archive.write(visit(vec![page.clone()])).await.unwrap().file;
    archive
        .write(Visit {
            keeping: Keeping::Revisit { of },
            metadata,
            ..visit(vec![page])
        })
        .await
        .unwrap();

    let path = locate(dir.path(), &file);
    let unpacked = BufReader::new(MultiGzDecoder::new(BufReader::new(
        File::open(path).unwrap(),
    )));
    let kinds: Vec<String> = warc::WarcReader::new(unpacked)
        .iter_records()
        .map(|record| record.unwrap().warc_type().to_string())
        .collect();
    assert_eq!(
        kinds,
        [
            "warcinfo", "response", "request", "revisit", "request", "metadata"
        ]
    );
}
