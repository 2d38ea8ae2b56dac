use journal::{FinishedVisit, Rendered};
use settings::Settings;
use sinks::{Archived, Keeping};

use super::*;
use crate::rendered_visits::{NOON, archived, record, revisit};

/// Compares an archive with a journal that has this visit; returns the findings.
fn findings(directory: &Path, archived: &Archived, record: VisitRecord) -> Vec<String> {
    let settled = SettledVisit {
        sequence: 0,
        priority: 0,
        first: 1,
        pace: NOON.into(),
        visit: FinishedVisit {
            archived: Some(ArchiveSpan {
                archive_sequence: archived.archive_sequence,
                file: archived.file.clone(),
                end: archived.end,
            }),
            ..FinishedVisit::new(record)
        },
    };
    let settings = Settings {
        delay: settings::values::Span(std::time::Duration::ZERO),
        ..Settings::default()
    };
    let politeness = Politeness::new(&settings, (None, None));
    let mut findings = Findings::default();
    let form = CanonicalForm::default();
    let mut archive = Archive::new(directory, form, politeness, &mut findings);
    let journal = Journal::of_durable_visits();
    archive.compare(&settled, &journal, &mut Revocations::default());
    archive.end();
    findings.texts
}

fn notes() -> Vec<sinks::MetadataField> {
    vec![
        ("verdict", "unique".to_owned()),
        ("http-status", "200".to_owned()),
    ]
}

#[tokio::test]
async fn a_rendered_visit_has_records_of_any_url_and_its_dom() {
    let text = Keeping::TextOnly {
        text: "Hello".into(),
    };
    for (keeping, kept) in [
        (Keeping::Whole, true),
        (revisit(), false),
        (Keeping::NotArchived, false),
        (text, false),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let shown = format!("{keeping:?}");
        let written = archived(dir.path(), keeping, notes()).await;
        let found = findings(dir.path(), &written, record(&written, kept));
        assert_eq!(found, Vec::<String>::new(), "{shown}");
    }
}

#[tokio::test]
async fn scripts_that_failed_may_have_made_requests() {
    let dir = tempfile::tempdir().unwrap();
    let written = archived(dir.path(), Keeping::NotArchived, notes()).await;
    let mut visit = record(&written, false);
    visit.details.rendered = Some(Rendered::Failed("out of memory".to_owned()));
    let found = findings(dir.path(), &written, visit);
    assert_eq!(found, Vec::<String>::new());
}

#[tokio::test]
async fn a_dom_at_another_place_is_missing_there_and_unexpected_here() {
    let dir = tempfile::tempdir().unwrap();
    let written = archived(dir.path(), Keeping::Whole, notes()).await;
    let mut visit = record(&written, true);
    let offset = written.dom_offset.map(|dom| dom + 1);
    visit.details.rendered = Some(Rendered::Dom { offset, adds: true });
    let found = findings(dir.path(), &written, visit);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("an unexpected conversion record"),
        "{found:?}"
    );
    assert!(found[1].contains(": no DOM, in the visit"), "{found:?}");
}

#[tokio::test]
async fn a_dom_that_no_visit_names_is_unexpected_as_is_its_picture() {
    let dir = tempfile::tempdir().unwrap();
    let written = archived(dir.path(), Keeping::Whole, notes()).await;
    let mut visit = record(&written, true);
    visit.details.rendered = Some(Rendered::Dom {
        offset: None,
        adds: true,
    });
    let found = findings(dir.path(), &written, visit);
    assert_eq!(found.len(), 2, "{found:?}");
    for (found, kind) in found.iter().zip(["conversion", "resource"]) {
        let what = format!("an unexpected {kind} record");
        assert!(found.contains(&what), "{found}");
    }
}

#[tokio::test]
async fn a_picture_of_another_page_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let written = archived(dir.path(), Keeping::Whole, notes()).await;
    let mut visit = record(&written, true);
    let of_other = [
        "a response record of http://a.test/app",
        "a conversion record of http://a.test/app",
        "a resource record of urn:view:http://a.test/app",
    ];
    visit.final_url = Some(crate::rendered_visits::url("http://a.test/other"));
    let found = findings(dir.path(), &written, visit);
    for what in of_other {
        assert!(found.iter().any(|found| found.contains(what)), "{found:?}");
    }
}

#[tokio::test]
async fn a_visit_without_scripts_has_no_records_of_other_urls() {
    let dir = tempfile::tempdir().unwrap();
    let written = archived(dir.path(), Keeping::Whole, notes()).await;
    let mut visit = record(&written, true);
    visit.details.rendered = None;
    let found = findings(dir.path(), &written, visit);
    // Two responses, two requests, the DOM, and its picture.
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(
        found[0].contains("a response that no visit refers to"),
        "{found:?}"
    );
}
