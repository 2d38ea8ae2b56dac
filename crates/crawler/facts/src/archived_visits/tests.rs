use std::path::Path;

use corpus::{PageArchive, PagePlace};
use reading::ReadingRules;
use sinks::Keeping;
use sinks::warc::{WarcReader, locate};

use super::*;
use crate::rendered_visits::{DOM, HOP, NOON, PAGE, archived, revisit, url};

/// Returns the only visit of an archive.
fn only_visit(archive: &Path) -> Visit {
    let form = CanonicalForm::default();
    let mut visits = Visits::open(archive, None, &form).unwrap();
    let Some(Ok((_, visit))) = visits.next_visit() else {
        panic!("no visit");
    };
    assert!(visits.next_visit().is_none());
    visit
}

fn urls(visit: &Visit) -> Vec<&str> {
    let urls = visit.exchanges.iter();
    urls.map(|exchange| exchange.url.as_str()).collect()
}

fn text(exchange: &Exchange) -> String {
    let body = exchange.body.beginning(1 << 20).unwrap();
    String::from_utf8(body.into()).unwrap()
}

#[tokio::test]
async fn the_page_of_a_rendered_visit_is_the_one_that_its_notes_name() {
    for (keeping, kept) in [(Keeping::Whole, true), (revisit(), false)] {
        let dir = tempfile::tempdir().unwrap();
        let notes = vec![("render-requests", "2".to_owned())];
        let written = archived(dir.path(), keeping, notes).await;

        let visit = only_visit(dir.path());
        assert_eq!(urls(&visit), [HOP, PAGE]);
        assert_eq!(visit.url, Some(url(HOP)));
        assert_eq!(visit.kept, kept);
        assert_eq!(visit.original_at, (!kept).then_some(NOON));
        assert_eq!(visit.page_offset, written.page_offset);
        assert_eq!(visit.dom_offset, written.dom_offset);
        assert_eq!(visit.end, written.end);
        let page = visit.exchanges.last().unwrap();
        assert!(page.request_head.starts_with(b"GET http://a.test/app "));

        let dom = visit.dom.unwrap();
        assert_eq!(text(&dom), DOM);
        let media = dom.content_type();
        assert_eq!(media.as_deref(), Some("text/html;charset=utf-8"));
        assert_eq!(dom.header("link"), page.header("link"));
    }
}

#[tokio::test]
async fn sub_requests_of_a_page_that_was_not_archived_are_no_hops() {
    let text = Keeping::TextOnly {
        text: "Hello".into(),
    };
    for keeping in [Keeping::NotArchived, text] {
        let dir = tempfile::tempdir().unwrap();
        let notes = vec![
            ("http-status", "200".to_owned()),
            ("render-requests", "2".to_owned()),
        ];
        let written = archived(dir.path(), keeping, notes).await;

        let visit = only_visit(dir.path());
        assert_eq!(urls(&visit), [HOP, PAGE]);
        assert_eq!(visit.exchanges[1].status, 200);
        assert!(!visit.kept);
        assert_eq!(visit.page_offset, written.page_offset);
        assert!(visit.dom.is_none() && visit.dom_offset.is_none());
    }
}

#[tokio::test]
async fn a_rendered_page_is_read_again_from_its_dom() {
    for keeping in [Keeping::Whole, revisit()] {
        let dir = tempfile::tempdir().unwrap();
        let notes = vec![("verdict", "unique".to_owned())];
        let written = archived(dir.path(), keeping, notes).await;
        let archive = PageArchive {
            directory: dir.path().to_owned(),
            rules: ReadingRules::default(),
        };
        let (file, dom) = (written.file.as_str(), written.content_offset());

        let page = archive.page_at(file, dom).unwrap();
        assert_eq!(page.document.text.trim(), "Gr\u{fc}\u{df}e next");
        assert_eq!(page.document.links[0].url, url("http://a.test/next"));
        assert_eq!(text(&archive.response_at(file, dom).unwrap()), DOM);
        assert!(archive.indexed_text_at(file, dom).is_some());

        // With the page, it has the header fields and the digest of the page, too.
        let place = PagePlace {
            file,
            page: written.page_offset,
            dom: Some(dom),
        };
        let page = archive.page(place).unwrap();
        assert_eq!(page.document.text.trim(), "Gr\u{fc}\u{df}e next");
        let canonical = page.document.canonical;
        assert_eq!(canonical, Some(url("http://a.test/canonical")));
        assert!(page.digest.is_some());
        assert_eq!(text(&archive.response(place).unwrap()), DOM);
    }
}

#[tokio::test]
async fn the_text_of_a_page_is_no_dom() {
    let dir = tempfile::tempdir().unwrap();
    let text = Keeping::TextOnly {
        text: "Hello".into(),
    };
    let written = archived(dir.path(), text, vec![("verdict", "unique".to_owned())]).await;
    let path = locate(dir.path(), &written.file);
    let mut reader = WarcReader::open_at(&path, written.page_offset).unwrap();
    let record = reader.next_record(HELD).unwrap().unwrap();
    assert_eq!(record.kind(), "conversion");
    assert!(!record.is_dom());
    assert!(record.dom(&CanonicalForm::default()).is_none());
}
