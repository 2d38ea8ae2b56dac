//! The records of a visit, and their fields.

use std::collections::HashSet;

use bytes::Bytes;
use sinks::warc::{DigestCheck, Record};
use sinks::{Keeping, Original, PayloadDigest, Sink, Visit};
use web::{Exchange, Timestamp};

use crate::fixtures::{
    NOON, after, exchange, files, fresh, headers, kinds, options, page, records_at, records_of,
    system, text, visit, written,
};

#[tokio::test]
async fn a_file_begins_with_its_warcinfo_record() {
    let dir = tempfile::tempdir().unwrap();
    fresh(dir.path());
    let names = files(dir.path());
    assert_eq!(names, ["crawl-20261120182455-00001.warc.gz.open"]);
    let records = records_of(&dir.path().join(&names[0]));
    assert_eq!(kinds(&records), ["warcinfo"]);
    assert_eq!(
        records[0].field("WARC-Filename"),
        names[0].strip_suffix(".open"),
        "its later name"
    );
    assert_eq!(
        records[0].field("Content-Type"),
        Some("application/warc-fields")
    );
    assert_eq!(records[0].target(), None);
    assert_eq!(
        text(&records[0]),
        "software: crawler/0.1.0\r\n\
         format: WARC File Format 1.1\r\n\
         conformsTo: https://iipc.github.io/warc-specifications/\
         specifications/warc-format/warc-1.1/\r\n\
         robots: obey\r\n\
         http-header-user-agent: crawler/0.1.0 (+https://example.org/bot)\r\n\
         setting: scope = \"host\"\r\n\
         setting: max-pages = 10\r\n"
    );
}

#[tokio::test]
async fn a_page_becomes_a_response_and_the_request_for_it() {
    let records = written(visit(vec![exchange("http://example.org/a", "hello")])).await;
    assert_eq!(kinds(&records), ["response", "request"]);
    let [response, request] = &records[..] else {
        panic!("two")
    };

    assert_eq!(response.target(), Some("http://example.org/a"));
    assert_eq!(response.date(), "2026-11-20T18:24:55.120Z");
    assert_eq!(response.field("WARC-IP-Address"), Some("192.0.2.7"));
    assert_eq!(response.field("WARC-Protocol"), Some("http/1.1"));
    assert_eq!(
        response.field("Content-Type"),
        Some("application/http;msgtype=response")
    );
    assert_eq!(response.payload(), Some(PayloadDigest::of(b"hello")));
    assert_eq!(response.block_digest, DigestCheck::Holds);
    assert_eq!(response.payload_digest, DigestCheck::Holds);
    assert_eq!(response.payload_length, Some(5));
    assert_eq!(
        text(response),
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\nhello"
    );

    assert_eq!(request.field("WARC-Concurrent-To"), Some(response.id()));
    assert_eq!(request.date(), response.date());
    assert_eq!(request.target(), response.target());
    assert_eq!(request.block_digest, DigestCheck::Holds);
    assert_eq!(
        text(request),
        "GET /a HTTP/1.1\r\nhost: example.org\r\n\r\n"
    );
}

#[tokio::test]
async fn redirects_are_kept_whole_before_the_page_they_lead_to() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let hop = Exchange {
        status: 301,
        headers: headers(&[("location", b"/b")]),
        ..exchange("http://example.org/a", "moved")
    };
    for keeping in [
        Keeping::Whole,
        Keeping::Revisit {
            of: Original {
                url: page("http://example.org/c"),
                at: NOON,
            },
        },
        Keeping::NotModified {
            of: Original {
                url: page("http://example.org/b"),
                at: NOON,
            },
        },
        Keeping::NotArchived,
        Keeping::TextOnly {
            text: "there".into(),
        },
    ] {
        let page = exchange("http://example.org/b", "there");
        let metadata = vec![("verdict", "unique".to_owned())];
        let visit = Visit {
            keeping: keeping.clone(),
            metadata,
            ..visit(vec![hop.clone(), page])
        };
        let archived = archive.write(visit).await.unwrap();
        let records = records_at(dir.path(), &archived);
        let last: &[&str] = match keeping {
            Keeping::Whole => &["response", "request", "metadata"],
            Keeping::Revisit { .. } | Keeping::NotModified { .. } => {
                &["revisit", "request", "metadata"]
            }
            Keeping::NotArchived => &["metadata"],
            Keeping::TextOnly { .. } => &["conversion", "metadata"],
        };
        assert_eq!(kinds(&records), [&["response", "request"], last].concat());
        assert_eq!(
            text(&records[0]),
            "HTTP/1.1 301 Moved Permanently\r\nlocation: /b\r\n\r\nmoved"
        );
        assert_eq!(records[2].offset, archived.page_offset);
        assert_eq!(records[2].target(), Some("http://example.org/b"));
    }
}

#[tokio::test]
async fn a_revisit_names_its_original_and_has_no_payload() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let first = archive
        .write(visit(vec![exchange("http://example.org/a", "same")]))
        .await
        .unwrap();
    let again = Exchange {
        started: Timestamp::from_millis(1_795_199_099_000),
        headers: headers(&[("content-length", b"4")]),
        ..exchange("http://mirror.example/a", "same")
    };
    let of = Original {
        url: page("http://example.org/a"),
        at: NOON,
    };
    let revisit = Visit {
        keeping: Keeping::Revisit { of },
        ..visit(vec![again])
    };
    let second = archive.write(revisit).await.unwrap();

    let original = records_at(dir.path(), &first).swap_remove(0);
    let records = records_at(dir.path(), &second);
    assert_eq!(kinds(&records), ["revisit", "request"]);
    let revisit = &records[0];
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        original.target()
    );
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(original.date()));
    assert_eq!(revisit.payload(), original.payload());
    assert_eq!(
        revisit.field("WARC-Profile"),
        Some("http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
    );
    assert_eq!(revisit.truncated(), Some("length"), "section 6.7.2");
    assert_eq!(
        revisit.field("Content-Type"),
        Some("application/http;msgtype=response")
    );
    assert_eq!(revisit.date(), "2026-11-20T18:24:59.000Z");
    assert_eq!(
        text(revisit),
        "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n",
        "the length is the original's"
    );
    assert_eq!(records[1].field("WARC-Concurrent-To"), Some(revisit.id()));
}

#[tokio::test]
async fn a_not_modified_answer_is_kept_as_received_and_names_its_original() {
    let response = Exchange {
        status: 304,
        headers: headers(&[("etag", b"\"1\"")]),
        started: Timestamp::from_millis(1_795_199_099_000),
        ..exchange("http://example.org/a", "")
    };
    for payload in [None, Some(PayloadDigest::of(b"hello"))] {
        let of = Original {
            url: page("http://example.org/a"),
            at: NOON,
        };
        let records = written(Visit {
            keeping: Keeping::NotModified { of },
            payload,
            ..visit(vec![response.clone()])
        })
        .await;
        assert_eq!(kinds(&records), ["revisit", "request"]);
        let revisit = &records[0];
        assert_eq!(
            revisit.field("WARC-Profile"),
            Some("http://netpreserve.org/warc/1.1/revisit/server-not-modified"),
            "section 6.7.3"
        );
        assert_eq!(
            revisit.field("WARC-Refers-To-Target-URI"),
            Some("http://example.org/a")
        );
        assert_eq!(
            revisit.field("WARC-Refers-To-Date"),
            Some("2026-11-20T18:24:55.120Z")
        );
        assert_eq!(revisit.date(), "2026-11-20T18:24:59.000Z");
        assert_eq!(
            revisit.payload(),
            payload,
            "the digest of the original, never of this response"
        );
        assert_eq!(revisit.truncated(), None);
        assert_eq!(
            text(revisit),
            "HTTP/1.1 304 Not Modified\r\netag: \"1\"\r\n\r\n"
        );
        assert_eq!(records[1].field("WARC-Concurrent-To"), Some(revisit.id()));
    }
}

#[tokio::test]
async fn notes_become_a_metadata_record_beside_the_page() {
    let metadata = vec![
        ("verdict", "near-duplicate".to_owned()),
        ("distance", "2".to_owned()),
    ];
    let page = exchange("http://example.org/a", "hello");
    for (keeping, expected) in [
        (Keeping::Whole, vec!["response", "request", "metadata"]),
        (Keeping::NotArchived, vec!["metadata"]),
    ] {
        let records = written(Visit {
            keeping,
            metadata: metadata.clone(),
            ..visit(vec![page.clone()])
        })
        .await;
        assert_eq!(kinds(&records), expected);
        let metadata = records.last().unwrap();
        let page_record = records.first().filter(|record| record.kind() == "response");
        assert_eq!(
            metadata.field("WARC-Concurrent-To"),
            page_record.map(Record::id)
        );
        assert_eq!(metadata.target(), Some("http://example.org/a"));
        assert_eq!(
            metadata.field("Content-Type"),
            Some("application/warc-fields")
        );
        assert_eq!(
            metadata.payload_digest,
            DigestCheck::Absent,
            "section 5.9: metadata has no payload"
        );
        assert_eq!(text(metadata), "verdict: near-duplicate\r\ndistance: 2\r\n");
    }
}

#[tokio::test]
async fn the_text_of_a_page_that_was_not_archived_is_a_conversion_and_no_capture() {
    let dir = tempfile::tempdir().unwrap();
    let visit = Visit {
        keeping: Keeping::TextOnly {
            text: "Grüße\nthere".into(),
        },
        metadata: vec![("verdict", "near-duplicate".to_owned())],
        ..visit(vec![exchange("http://example.org/a", "<p>Grüße<p>there")])
    };
    let archived = fresh(dir.path()).write(visit).await.unwrap();
    assert!(archived.captures.is_empty(), "{:?}", archived.captures);
    let records = records_at(dir.path(), &archived);
    let [conversion, metadata] = records.as_slice() else {
        panic!("{:?}", kinds(&records));
    };
    assert_eq!(conversion.block, "Grüße\nthere".as_bytes());
    assert_eq!(conversion.target(), Some("http://example.org/a"));
    assert_eq!(
        conversion.field("Content-Type"),
        Some("text/plain;charset=utf-8")
    );
    assert_eq!(metadata.field("WARC-Refers-To"), Some(conversion.id()));
    assert_eq!(metadata.field("WARC-Concurrent-To"), None);
    assert_eq!(archived.page_offset, conversion.offset);
}

/// Returns a visit to a page whose script requested data.
fn rendered(keeping: Keeping) -> Visit {
    Visit {
        keeping,
        subrequests: vec![
            exchange("http://example.org/app.js", "run()"),
            exchange("http://example.org/data", "[1]"),
        ],
        dom: Some("<p>Grüße".into()),
        picture: Some(Bytes::from_static(b"\x89PNG\r\n")),
        metadata: vec![("verdict", "unique".to_owned())],
        ..visit(vec![exchange(
            "http://example.org/a",
            "<script src=app.js>",
        )])
    }
}

#[tokio::test]
async fn a_rendered_page_is_followed_by_its_requests_and_its_dom() {
    let dir = tempfile::tempdir().unwrap();
    let archived = fresh(dir.path())
        .write(rendered(Keeping::Whole))
        .await
        .unwrap();
    let records = records_at(dir.path(), &archived);
    let shown = [
        "response",
        "request",
        "response",
        "request",
        "response",
        "request",
        "conversion",
        "resource",
        "metadata",
    ];
    assert_eq!(kinds(&records), shown);
    assert_eq!(records[2].target(), Some("http://example.org/app.js"));
    let places = [records[2].offset, records[4].offset];
    assert_eq!(archived.subrequest_offsets, places);
    assert_eq!(archived.captures.len(), 4, "a DOM is no capture");

    let dom = &records[6];
    assert_eq!(archived.page_offset, records[0].offset);
    assert_eq!(archived.dom_offset, Some(dom.offset));
    assert_eq!(archived.content_offset(), dom.offset);
    assert_eq!(dom.target(), Some("http://example.org/a"));
    assert_eq!(dom.field("WARC-Refers-To"), Some(records[0].id()));
    assert_eq!(dom.field("Content-Type"), Some("text/html;charset=utf-8"));
    assert_eq!(dom.block, "<p>Grüße".as_bytes());
    let picture = &records[7];
    assert_eq!(picture.target(), Some("urn:view:http://example.org/a"));
    assert_eq!(picture.date(), records[0].date());
    assert_eq!(picture.field("WARC-Concurrent-To"), Some(records[0].id()));
    assert_eq!(picture.field("Content-Type"), Some("image/png"));
    assert_eq!(picture.block, b"\x89PNG\r\n"[..]);
    // The key is the one of Python's surt 0.3.1, which cdxj-indexer and pywb use.
    let line = archived.captures[3].line("a.warc");
    let shown = "urn:view:http://example.org/a 20";
    assert!(line.starts_with(shown), "{line}");
    let fields = "\"url\": \"urn:view:http://example.org/a\", \"mime\": \"image/png\", \"digest\"";
    assert!(line.contains(fields), "{line}");
    let metadata = &records[8];
    assert_eq!(metadata.field("WARC-Concurrent-To"), Some(records[0].id()));
}

#[tokio::test]
async fn the_response_to_a_post_is_found_by_its_body() {
    let dir = tempfile::tempdir().unwrap();
    let mut posted = exchange("http://example.org/data?z", "[1]");
    let head =
        "POST /data?z HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 21\r\n\r\n";
    posted.request_head = format!("{head}{{\"q\": \"Tide /\\u00e9\"}}").into_bytes();
    let visited = Visit {
        subrequests: vec![posted.clone()],
        ..visit(vec![exchange(
            "http://example.org/a",
            "<script src=app.js>",
        )])
    };
    let archived = fresh(dir.path()).write(visited).await.unwrap();
    assert_eq!(
        records_at(dir.path(), &archived)[3].block,
        posted.request_head
    );
    let file = sinks::warc::locate(dir.path(), &archived.file);
    let line = archived.captures[1].line(&archived.file);
    // As cdxj-indexer 1.5.0 writes it with `--post-append`.
    let key = "org,example)/data?__wb_method=post&q=tide+/%c3%a9&z ";
    assert!(line.starts_with(key), "{line}");
    let end = ", \"requestBody\": \"q=Tide+%2F%C3%A9\", \"method\": \"POST\"}\n";
    assert!(line.ends_with(end), "{line}");
    let (mut index, scratch) = (Vec::new(), dir.path().join("scratch"));
    sinks::cdxj::index_files(&disk::SystemDisk, &[file], &scratch, &mut index).unwrap();
    let index = String::from_utf8(index).unwrap();
    assert!(
        index.lines().any(|found| found == line.trim_end()),
        "{index}"
    );
}

#[tokio::test]
async fn the_requests_of_a_page_are_kept_even_if_the_page_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let archived = fresh(dir.path())
        .write(rendered(Keeping::NotArchived))
        .await
        .unwrap();
    let records = records_at(dir.path(), &archived);
    let shown = ["response", "request", "response", "request", "metadata"];
    assert_eq!(kinds(&records), shown);
    assert_eq!(archived.dom_offset, None);
    assert_eq!(archived.page_offset, records[4].offset);
}

#[tokio::test]
async fn a_visit_without_a_response_has_metadata_or_no_record() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let excluded = Visit {
        metadata: vec![("verdict", "excluded".to_owned())],
        ..visit(Vec::new())
    };
    let noted = archive.write(excluded).await.unwrap();
    assert_eq!(kinds(&records_at(dir.path(), &noted)), ["metadata"]);
    assert_eq!(noted.page_offset, noted.offset);

    for nothing in [
        visit(Vec::new()),
        Visit {
            keeping: Keeping::NotArchived,
            ..visit(vec![exchange("http://example.org/a", "")])
        },
    ] {
        let silent = archive.write(nothing).await.unwrap();
        assert_eq!(
            (silent.offset, silent.end, silent.page_offset),
            (noted.end, noted.end, noted.end)
        );
    }
}

#[tokio::test]
async fn a_digest_from_the_caller_is_written_unchecked() {
    let payload = Some(PayloadDigest::of(b"hello"));
    let known = written(Visit {
        payload,
        ..visit(vec![exchange("http://example.org/a", "hello")])
    })
    .await;
    assert_eq!(known[0].payload(), payload);
}

#[tokio::test]
async fn no_two_records_share_an_id_not_even_across_openings() {
    let dir = tempfile::tempdir().unwrap();
    let mut end = None;
    for _ in 0..3 {
        let archive =
            sinks::WarcArchive::open(system(), dir.path(), options(), end.clone()).unwrap();
        for _ in 0..2 {
            let archived = archive
                .write(visit(vec![exchange("http://example.org/a", "same")]))
                .await
                .unwrap();
            end = after(&archived);
        }
    }
    let other_seed = sinks::ArchiveOptions {
        seed: 1,
        ..options()
    };
    let other = tempfile::tempdir().unwrap();
    let archive = sinks::WarcArchive::open(system(), other.path(), other_seed, None).unwrap();
    archive
        .write(visit(vec![exchange("http://example.org/a", "same")]))
        .await
        .unwrap();

    let mut ids = HashSet::new();
    for dir in [dir.path(), other.path()] {
        let records = records_of(&dir.join(&files(dir)[0]));
        let warcinfo = records[0].id().to_owned();
        for record in records {
            assert!(
                record.id().starts_with("<urn:uuid:") && record.id().len() == 47,
                "{}",
                record.id()
            );
            assert_eq!(
                record.field("WARC-Warcinfo-ID").unwrap_or(&warcinfo),
                warcinfo
            );
            assert!(ids.insert(record.id().to_owned()), "{record:?}");
        }
    }
    assert_eq!(ids.len(), 1 + 3 * 2 * 2 + 1 + 2);
}
