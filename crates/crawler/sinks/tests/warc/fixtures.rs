//! Visits to write, and archives to read.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use disk::{Disk, SystemDisk};
use http::{HeaderMap, HeaderName, HeaderValue};
use sinks::warc::{Record, WarcReader, locate};
use sinks::{ArchiveEnd, ArchiveOptions, Archived, Keeping, Sink, Visit, WarcArchive};
use web::{CanonicalForm, Clock, Exchange, PageUrl, Protocol, Timestamp};

/// 2026-11-20T18:24:55.120Z
pub(crate) const NOON: Timestamp = Timestamp::from_millis(1_795_199_095_120);

pub(crate) fn options() -> ArchiveOptions {
    ArchiveOptions {
        software: "crawler/0.1.0".to_owned(),
        user_agent: "crawler/0.1.0 (+https://example.org/bot)".to_owned(),
        robots: "obey".to_owned(),
        settings: "scope = \"host\"\nmax-pages = 10\n".to_owned(),
        ..ArchiveOptions::new(Clock::fixed(NOON))
    }
}

pub(crate) fn system() -> Arc<dyn Disk> {
    Arc::new(SystemDisk)
}

pub(crate) fn fresh(dir: &Path) -> WarcArchive {
    WarcArchive::open(system(), dir, options(), None).unwrap()
}

/// Returns the end at which the archive continues with `archived` as its last visit.
pub(crate) fn after(archived: &Archived) -> Option<ArchiveEnd> {
    Some(ArchiveEnd {
        file: archived.file.clone(),
        end: archived.end,
    })
}

pub(crate) fn page(url: &str) -> PageUrl {
    PageUrl::parse(url, &CanonicalForm::default()).unwrap()
}

pub(crate) fn headers(fields: &[(&str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        headers.append(
            name.parse::<HeaderName>().unwrap(),
            HeaderValue::from_bytes(value).unwrap(),
        );
    }
    headers
}

pub(crate) fn exchange(url: &str, body: impl Into<Bytes>) -> Exchange {
    let body = body.into();
    Exchange {
        url: page(url),
        request_head: b"GET /a HTTP/1.1\r\nhost: example.org\r\n\r\n".to_vec(),
        status: 200,
        headers: headers(&[("content-type", b"text/html")]),
        body: body.into(),
        truncated: None,
        warnings: Vec::new(),
        address: Some("192.0.2.7:443".parse().unwrap()),
        protocol: Protocol::Http11,
        started: NOON,
        elapsed: Duration::from_millis(5),
    }
}

/// Returns a visit that keeps the last of `exchanges` whole and has no metadata.
pub(crate) fn visit(exchanges: Vec<Exchange>) -> Visit {
    let url = exchanges
        .first()
        .map_or_else(|| page("http://example.org/a"), |first| first.url.clone());
    Visit {
        url,
        at: NOON,
        robots: Vec::new(),
        exchanges,
        keeping: Keeping::Whole,
        subrequests: Vec::new(),
        dom: None,
        picture: None,
        payload: None,
        metadata: Vec::new(),
        text: None,
    }
}

/// Returns the names of the files in `dir`, in order.
pub(crate) fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Returns every record of a file, with its whole block.
pub(crate) fn records_of(path: &Path) -> Vec<Record> {
    let mut reader = WarcReader::open(path).unwrap();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record(usize::MAX).unwrap() {
        assert!(record.digests_hold(), "{record:?}");
        records.push(record);
    }
    records
}

/// The records of one visit.
pub(crate) fn records_at(dir: &Path, archived: &Archived) -> Vec<Record> {
    let all = records_of(&locate(dir, &archived.file));
    all.into_iter()
        .filter(|record| (archived.offset..archived.end).contains(&record.offset))
        .collect()
}

pub(crate) fn kinds(records: &[Record]) -> Vec<&str> {
    records.iter().map(Record::kind).collect()
}

/// Returns the block of a record as text, a character a byte, so that no byte is lost.
pub(crate) fn text(record: &Record) -> String {
    record.block.iter().map(|&byte| char::from(byte)).collect()
}

/// Returns the records of `visit` in an archive of its own.
pub(crate) async fn written(visit: Visit) -> Vec<Record> {
    let dir = tempfile::tempdir().unwrap();
    let archived = fresh(dir.path()).write(visit).await.unwrap();
    records_at(dir.path(), &archived)
}
