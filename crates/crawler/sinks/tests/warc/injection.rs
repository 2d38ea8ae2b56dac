//! No content of URLs, metadata and header fields adds a field to a record, or a record to the
//! archive.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::GzDecoder;
use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::collection::vec;
use proptest::prelude::*;
use sinks::warc::Record;
use sinks::{ArchiveOptions, Archived, Keeping, Original, Resource, Sink, Visit, WarcArchive};
use web::{CanonicalForm, Exchange, PageUrl};

use crate::fixtures::{
    NOON, exchange, fresh, kinds, options, page, records_at, records_of, system, visit,
};
use sinks::warc::locate;

/// Text that a careless writer would split into lines.
fn hostile() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("\r\nWARC-Type: response"),
        Just("\r\n\r\nWARC/1.1\r\nWARC-Type: warcinfo\r\n\r\n"),
        Just("\nWARC-Target-URI: http://victim.example/"),
        Just("\rverdict: unique"),
        Just("\0"),
        Just("\u{85}next: line\u{2028}\u{2029}"),
        Just(" \t folded\r\n more"),
        Just("\u{1b}[2J\u{9b}"),
        Just("%0d%0aX: y"),
    ];
    vec(
        prop_oneof![line.prop_map(str::to_owned), "\\PC{0,12}", any::<String>()],
        0..6,
    )
    .prop_map(|parts| parts.concat())
}

/// Generates values that `http` accepts; other bytes are dropped, as by a server whose field is
/// refused.
fn a_value() -> impl Strategy<Value = HeaderValue> {
    vec(any::<u8>(), 0..60).prop_map(|bytes| {
        let allowed: Vec<u8> = bytes
            .into_iter()
            .filter(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..))
            .collect();
        HeaderValue::from_bytes(&allowed).unwrap()
    })
}

prop_compose! {
    fn an_exchange()(
        path in hostile(),
        values in vec(a_value(), 0..6),
        status in 200..600_u16,
        body in hostile(),
        request in hostile(),
    ) -> Exchange {
        let mut headers = HeaderMap::new();
        for (number, value) in values.into_iter().enumerate() {
            headers.append(HeaderName::try_from(format!("x-{number}")).unwrap(), value);
        }
        let url = PageUrl::parse(&format!("http://example.org/{path}"), &CanonicalForm::default());
        Exchange {
            url: url.unwrap_or_else(|_| page("http://example.org/")),
            headers,
            status,
            request_head: request.into_bytes(),
            ..exchange("http://example.org/", body)
        }
    }
}

fn a_keeping() -> impl Strategy<Value = Keeping> {
    let of = || Original {
        url: page("http://example.org/original"),
        at: NOON,
    };
    prop_oneof![
        Just(Keeping::Whole),
        Just(Keeping::Revisit { of: of() }),
        Just(Keeping::NotModified { of: of() }),
        Just(Keeping::NotArchived),
    ]
}

/// Returns a record's own header as in the file: version line and fields.
fn header_lines(dir: &Path, archived: &Archived, record: &Record) -> Vec<String> {
    let mut file = File::open(locate(dir, &archived.file)).unwrap();
    file.seek(SeekFrom::Start(record.offset)).unwrap();
    let mut plain = Vec::new();
    GzDecoder::new(file.take(record.length))
        .read_to_end(&mut plain)
        .unwrap();
    let end = plain
        .windows(4)
        .position(|bytes| bytes == b"\r\n\r\n")
        .unwrap();
    let header = String::from_utf8(plain[..end].to_vec()).unwrap();
    // At any of the line breaks, as careless readers do.
    header
        .split(['\r', '\n'])
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The names of the fields of all records of a visit, record by record.
fn names(dir: &Path, archived: &Archived) -> Vec<Vec<String>> {
    let records = records_at(dir, archived);
    let headers = records
        .iter()
        .map(|record| header_lines(dir, archived, record));
    headers
        .map(|lines| {
            let names = lines
                .iter()
                .map(|line| line.split(": ").next().unwrap().to_owned());
            names.collect()
        })
        .collect()
}

fn check(hop: Exchange, last: Exchange, keeping: &Keeping, metadata: &[String]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let benign = || exchange("http://example.org/", "benign");
    let write = |exchanges, metadata: &[String]| {
        let robots = Resource {
            content_type: metadata.first().cloned(),
            ..Resource::of(&benign(), "User-agent: *".into())
        };
        let metadata = metadata.iter().map(|note| ("note", note.clone())).collect();
        let visit = Visit {
            robots: vec![robots],
            keeping: keeping.clone(),
            metadata,
            ..visit(exchanges)
        };
        runtime.block_on(archive.write(visit)).unwrap()
    };
    let plain = write(
        vec![benign(), benign()],
        &vec!["benign".to_owned(); metadata.len()],
    );
    let hostile = write(vec![hop, last], metadata);
    assert_eq!(names(dir.path(), &hostile), names(dir.path(), &plain));
    let (recorded, plain) = (
        records_at(dir.path(), &hostile),
        records_at(dir.path(), &plain),
    );
    assert_eq!(kinds(&recorded), kinds(&plain));
    if let Some(recorded) = recorded.iter().find(|record| record.kind() == "metadata") {
        let block = String::from_utf8(recorded.block.clone()).unwrap();
        let lines = block
            .split(['\r', '\n', '\0', '\u{85}', '\u{2028}', '\u{2029}'])
            .filter(|line| !line.is_empty());
        assert_eq!(lines.clone().count(), metadata.len(), "{block:?}");
        assert!(
            lines.into_iter().all(|line| line.starts_with("note: ")),
            "{block:?}"
        );
    }
    // The head of the response has its status line and its fields only.
    for (record, fields) in recorded
        .iter()
        .filter(|record| record.kind() == "response")
        .zip([0, 1])
    {
        let (head, _) = record.head_and_payload().unwrap();
        let lines = head.split(|byte| matches!(byte, b'\r' | b'\n'));
        let count = lines.filter(|line| !line.is_empty()).count();
        let response = record.response(&CanonicalForm::keep_all()).unwrap();
        assert_eq!(count, 1 + response.headers.len(), "exchange {fields}");
        assert!(!head.contains(&0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_from_outside_becomes_a_field_or_a_record(
        hop in an_exchange(),
        last in an_exchange(),
        keeping in a_keeping(),
        metadata in vec(hostile(), 1..5),
    ) {
        check(hop, last, &keeping, &metadata);
    }

    #[test]
    fn no_setting_becomes_a_field_of_its_own(
        agent in hostile(), operator in hostile(), settings in hostile(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let options = ArchiveOptions {
            user_agent: agent,
            operator: format!("x{operator}"),
            settings,
            ..options()
        };
        WarcArchive::open(system(), dir.path(), options, None).unwrap();
        let file = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
        let records = records_of(&file);
        prop_assert_eq!(kinds(&records), ["warcinfo"]);
        let block = String::from_utf8(records[0].block.clone()).unwrap();
        let known = [
            "software: ", "format: ", "conformsTo: ", "robots: ", "operator: ",
            "http-header-user-agent: ", "setting: ",
        ];
        for line in block.split(['\r', '\n']).filter(|line| !line.is_empty()) {
            let is_known = known.iter().any(|name| line.starts_with(name));
            prop_assert!(is_known, "{:?} in {:?}", line, block);
        }
        for name in &known[..6] {
            let count = block.lines().filter(|line| line.starts_with(name)).count();
            prop_assert!(count <= 1, "{} {}", name, block);
        }
    }
}
