use std::fs;

use disk::SystemDisk;
use web::{CanonicalForm, PageUrl, Timestamp};

use super::*;
use crate::link_check::{CheckMethod, LinkHop, LinkVerdict};

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).expect("a URL")
}

fn check(path: &str, verdict: LinkVerdict) -> LinkCheck {
    LinkCheck {
        url: url(&format!("http://far.test/{path}")),
        verdict,
        method: Some(CheckMethod::Get),
        checked_at: Timestamp::from_millis(1_795_199_095_120),
        status: Some(404),
        reason: Some("HTTP status 404".to_owned()),
        redirects: vec![LinkHop {
            url: url("http://far.test/old"),
            status: 301,
        }],
        final_url: Some(url("http://far.test/new")),
        linked_from: Some(url("http://home.test/")),
    }
}

fn log(directory: &Path) -> LinkCheckLog {
    LinkCheckLog::open(directory, Arc::new(SystemDisk)).expect("the directory is writable")
}

/// Bytes on disk are promises.
#[test]
fn a_line_has_the_documented_fields_and_is_read_as_it_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let written = check("x", LinkVerdict::Broken);
    log(directory.path()).append(&written).unwrap();
    let text = fs::read_to_string(directory.path().join(LINK_CHECKS_FILE)).unwrap();
    let expected = "{\"url\":\"http://far.test/x\",\"verdict\":\"broken\",\"method\":\"GET\",\
        \"checked_at\":\"2026-11-20T18:24:55.120Z\",\"status\":404,\
        \"reason\":\"HTTP status 404\",\
        \"redirects\":[{\"url\":\"http://far.test/old\",\"status\":301}],\
        \"final_url\":\"http://far.test/new\",\"linked_from\":\"http://home.test/\"}\n";
    assert_eq!(text, expected);
    let read: Vec<LinkCheck> = LinkChecks::open(directory.path())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(read, [written]);
}

#[test]
fn a_line_cut_at_any_byte_is_skipped_and_truncated_and_the_lines_before_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(LINK_CHECKS_FILE);
    let mut whole = log(directory.path());
    for path in ["a", "b"] {
        whole.append(&check(path, LinkVerdict::Ok)).unwrap();
    }
    whole.sync().unwrap();
    let text = fs::read(&path).unwrap();
    let line = text.len() / 2;
    for end in 0..text.len() {
        fs::write(&path, &text[..end]).unwrap();
        let counts = LinkChecks::counts(directory.path()).unwrap().unwrap();
        assert_eq!(counts.ok, (end / line) as u64, "{end}");
        let mut cut = log(directory.path());
        assert_eq!(
            cut.has(url("http://far.test/a").key()),
            end >= line,
            "{end}"
        );
        assert!(!cut.has(url("http://far.test/b").key()), "{end}");
        cut.append(&check("c", LinkVerdict::Broken)).unwrap();
        let counts = LinkChecks::counts(directory.path()).unwrap().unwrap();
        assert_eq!(
            (counts.checked, counts.broken),
            ((end / line) as u64 + 1, 1),
            "{end}"
        );
    }
}

#[test]
fn a_crawl_without_checks_has_no_counts_and_a_wrong_line_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(LinkChecks::counts(directory.path()).unwrap(), None);
    assert_eq!(LinkChecks::open(directory.path()).unwrap().count(), 0);
    fs::write(directory.path().join(LINK_CHECKS_FILE), "{}\n").unwrap();
    assert!(LinkChecks::counts(directory.path()).is_err());
    assert!(LinkCheckLog::open(directory.path(), Arc::new(SystemDisk)).is_err());
}

#[test]
fn a_reader_continues_where_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let mut log = log(directory.path());
    log.append(&check("a", LinkVerdict::Ok)).unwrap();
    let mut checks = LinkChecks::open(directory.path()).unwrap();
    assert!(checks.next().is_some() && checks.next().is_none());
    log.append(&check("b", LinkVerdict::Ok)).unwrap();
    let mut rest = LinkChecks::open_at(directory.path(), checks.position()).unwrap();
    let next = rest.next().unwrap().unwrap();
    assert_eq!(next.url, url("http://far.test/b"));
    let beyond = LinkChecks::open_at(directory.path(), 1 << 20).unwrap();
    assert_eq!((beyond.position(), beyond.count()), (0, 2));
}

#[test]
fn only_a_status_that_says_so_makes_a_link_broken() {
    use LinkVerdict::{Blocked, Broken, Ok, Unknown};
    for (statuses, verdict) in [
        (&[200, 204, 206, 300, 301][..], Ok),
        (
            &[400, 402, 404, 405, 410, 418, 500, 501, 502, 504, 520],
            Broken,
        ),
        (&[401, 403, 407, 451, 600, 999], Blocked),
        (&[304, 408, 421, 425, 429, 503], Unknown),
    ] {
        for status in statuses {
            assert_eq!(LinkVerdict::of_status(*status), verdict, "{status}");
        }
    }
}
