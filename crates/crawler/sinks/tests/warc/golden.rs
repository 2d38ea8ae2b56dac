//! The bytes of each kind of record, to the last one, under a fixed clock and seed.
//!
//! They are promises: archives are kept, and others read them. A deliberate change replaces
//! `golden/records.warc` with the output of the failing test.

use std::path::Path;
use std::time::Duration;

use http::HeaderMap;
use sinks::warc::{Compression, locate};
use sinks::{ArchiveOptions, Keeping, Original, Resource, Sink, Visit, WarcArchive};
use web::{Exchange, Protocol, Timestamp, Truncation};

use crate::fixtures::{NOON, exchange, headers, options, page, system, visit};

const RECORDS: &[u8] = include_bytes!("golden/records.warc");

fn later(millis: u64) -> Timestamp {
    NOON + Duration::from_millis(millis)
}

/// One visit of each kind.
fn visits() -> Vec<Visit> {
    let home = Exchange {
        protocol: Protocol::Http2,
        headers: headers(&[
            ("content-type", b"text/html; charset=utf-8"),
            ("content-length", b"5"),
        ]),
        ..exchange("https://example.org/", "hello")
    };
    let robots = Resource {
        url: page("https://example.org/robots.txt"),
        content_type: Some("text/plain".to_owned()),
        body: "User-agent: *\nDisallow: /private\n".into(),
        truncated: None,
        address: home.address,
        protocol: Protocol::Http2,
        at: NOON,
    };
    let moved = Exchange {
        status: 301,
        headers: headers(&[("location", b"/"), ("content-length", b"0")]),
        ..exchange("http://example.org/", "")
    };
    let original = || Original {
        url: page("https://example.org/"),
        at: NOON,
    };
    let note = |name, value: &str| (name, value.to_owned());
    vec![
        Visit {
            robots: vec![robots],
            metadata: vec![
                note("verdict", "unique"),
                note("title", "Hello"),
                note("hopsFromSeed", "0"),
                note("fetchTimeMs", "5"),
                note("outlink", "https://example.org/a L =NAVLINK_MISC"),
                note("outlink", "https://example.org/a.png E =EMBED_MISC"),
            ],
            ..visit(vec![moved, home])
        },
        Visit {
            keeping: Keeping::Revisit { of: original() },
            metadata: vec![
                note("verdict", "exact-duplicate"),
                note("duplicate-of", "https://example.org/"),
            ],
            ..visit(vec![Exchange {
                started: later(1_000),
                ..exchange("https://mirror.example/", "hello")
            }])
        },
        Visit {
            keeping: Keeping::NotModified { of: original() },
            payload: Some(sinks::PayloadDigest::of(b"hello")),
            ..visit(vec![Exchange {
                status: 304,
                started: later(2_000),
                headers: headers(&[("etag", b"\"1\"")]),
                ..exchange("https://example.org/", "")
            }])
        },
        Visit {
            keeping: Keeping::NotArchived,
            metadata: vec![note("verdict", "near-duplicate"), note("distance", "2")],
            ..visit(vec![Exchange {
                started: later(3_000),
                ..exchange("https://example.org/print", "hello!")
            }])
        },
        visit(vec![Exchange {
            started: later(4_000),
            headers: headers(&[
                ("transfer-encoding", b"chunked"),
                ("content-encoding", b"gzip"),
            ]),
            truncated: Some(Truncation::Disconnect),
            address: Some("[2001:db8::1]:80".parse().unwrap()),
            protocol: Protocol::Http10,
            ..exchange("http://example.org/cut", "\x1f")
        }]),
        Visit {
            metadata: vec![note("verdict", "failed"), note("reason", "HTTP status 500")],
            ..visit(vec![Exchange {
                status: 500,
                started: later(5_000),
                headers: HeaderMap::new(),
                address: None,
                ..exchange("http://example.org/broken", "")
            }])
        },
    ]
}

#[tokio::test]
async fn the_bytes_of_records_are_stable() {
    let dir = tempfile::tempdir().unwrap();
    let options = ArchiveOptions {
        compression: Compression::None,
        part_of: "crawl".to_owned(),
        operator: "https://example.org/bot".to_owned(),
        ..options()
    };
    let archive = WarcArchive::open(system(), dir.path(), options, None).unwrap();
    for visit in visits() {
        archive.write(visit).await.unwrap();
    }
    let end = archive.close().await.unwrap();
    let written = std::fs::read(locate(dir.path(), &end.file)).unwrap();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("records.warc");
    if written != RECORDS {
        std::fs::write(&kept, &written).unwrap();
    }
    assert!(
        written == RECORDS,
        "{} differs from golden/records.warc",
        kept.display()
    );
}
