use std::time::Duration;

use disk::SystemDisk;
use http::{HeaderMap, HeaderValue, header};
use reading::ReadingRules;
use sinks::{ArchiveOptions, Archived, Keeping, MetadataField, Original, Visit, WarcArchive};
use web::{CanonicalForm, PageUrl, Protocol, Timestamp};

use super::*;

const NOON: Timestamp = Timestamp::from_millis(1_795_199_095_120);

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

fn exchange(place: &str, body: &'static str) -> Exchange {
    let mut headers = HeaderMap::new();
    let media = HeaderValue::from_static("text/html");
    headers.insert(header::CONTENT_TYPE, media);
    Exchange {
        url: url(place),
        request_head: Vec::new(),
        status: 200,
        headers,
        body: body.into(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: NOON,
        elapsed: Duration::ZERO,
    }
}

/// Writes a visit to a page whose script made a request.
async fn visit(
    archive: &WarcArchive,
    place: &str,
    keeping: Keeping,
    notes: Vec<MetadataField>,
) -> Archived {
    let visit = Visit {
        url: url(place),
        at: NOON,
        robots: Vec::new(),
        exchanges: vec![exchange(place, "<script src=app.js></script>")],
        keeping,
        subrequests: vec![exchange("http://cdn.test/data", "<p>Data")],
        dom: Some(format!("<p>{place}").into()),
        picture: Some(b"\x89PNG".as_slice().into()),
        payload: None,
        metadata: notes,
        text: None,
    };
    archive.write(visit).await.unwrap()
}

#[tokio::test]
async fn pages_are_read_from_their_doms_and_sub_requests_are_no_pages() {
    let dir = tempfile::tempdir().unwrap();
    let options = ArchiveOptions::new(Clock::fixed(NOON));
    let archive = WarcArchive::open(Arc::new(SystemDisk), dir.path(), options, None).unwrap();
    let unique = || vec![("verdict", "unique".to_owned())];
    let of = |place| Keeping::Revisit {
        of: Original {
            url: url(place),
            at: NOON,
        },
    };
    let (one, two) = ("http://a.test/one", "http://a.test/two");
    let first = visit(&archive, one, Keeping::Whole, unique()).await;
    let second = visit(&archive, two, Keeping::Whole, unique()).await;
    let duplicate = vec![("verdict", "exact-duplicate".to_owned())];
    assert!(Fate::of_word(&duplicate[0].1).is_some_and(Fate::is_duplicate));
    visit(&archive, "http://a.test/three", of(one), duplicate).await;
    visit(
        &archive,
        "http://a.test/four",
        Keeping::NotArchived,
        unique(),
    )
    .await;

    let policy = Policy::new(ReadingRules::default());
    let mut found = Vec::new();
    each_page(dir.path(), None, &policy, |page| {
        let document = reading::document_here(&policy.reading, &page.exchange).unwrap();
        let text = document.text.trim().to_owned();
        found.push((
            page.exchange.url.to_string(),
            page.offset,
            page.end.end,
            text,
        ));
        Ok(())
    })
    .unwrap();
    let expected = [(one, &first), (two, &second)].map(|(place, archived)| {
        let (offset, end) = (archived.content_offset(), archived.end);
        (place.to_owned(), offset, end, place.to_owned())
    });
    assert_eq!(found, expected);
}
