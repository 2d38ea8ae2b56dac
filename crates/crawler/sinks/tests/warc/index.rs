//! The index of an archive: made while it is written or read again from it, the same lines;
//! whatever happened in between.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use proptest::prelude::*;
use sinks::cdxj::{self, CdxjReader, Difference, Indexed};
use sinks::{
    ArchiveEnd, ArchiveOptions, Archived, CommitPoint, Keeping, Original, Sink, SinkFault, Visit,
    WarcArchive,
};
use testkit::{Failure, FaultyDisk, Plan};

use crate::fixtures::{NOON, after, exchange, fresh, options, page, visit};

/// So little memory that a few lines fill a batch, and some tens of runs are merged.
const LITTLE: usize = 4 << 10;

/// A disk that does not sync.
fn quick(dir: &Path) -> Arc<dyn Disk> {
    Arc::new(FaultyDisk::new(dir, 0))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

fn small() -> ArchiveOptions {
    ArchiveOptions {
        max_file: 20_000,
        ..options()
    }
}

async fn open(
    disk: Arc<dyn Disk>,
    dir: &Path,
    resume: Option<ArchiveEnd>,
) -> Result<Indexed, SinkFault> {
    let archive = WarcArchive::open(disk.clone(), dir, small(), resume)?;
    Indexed::open(Arc::new(archive), disk, dir, LITTLE).await
}

/// One of the shapes that visits have.
fn shaped(shape: u8, number: u32) -> Visit {
    let url = format!("http://www.example.org/{}?b={number}&a", number % 7);
    let mut page_of = exchange(&url, format!("page {number} ").repeat(usize::from(shape)));
    let original = || Original {
        url: page("http://example.org/original"),
        at: NOON,
    };
    match shape % 8 {
        0 => visit(Vec::new()),
        1 => Visit {
            keeping: Keeping::Revisit { of: original() },
            ..visit(vec![page_of])
        },
        2 => {
            page_of.status = 304;
            Visit {
                keeping: Keeping::NotModified { of: original() },
                ..visit(vec![page_of])
            }
        }
        3 => Visit {
            keeping: Keeping::NotArchived,
            metadata: vec![
                ("verdict", "near-duplicate".to_owned()),
                ("duplicate-of", "http://example.org/original".to_owned()),
                ("distance", "3".to_owned()),
                ("resemblance", "0.8125".to_owned()),
                ("http-status", "200".to_owned()),
                ("content-type", "text/html".to_owned()),
                ("title", "é \u{1f600}\r\nduplicate-of: nothing".to_owned()),
            ],
            ..visit(vec![page_of])
        },
        4 => {
            let mut hop = exchange(&format!("http://127.0.0.1:{}/", 8000 + number), "");
            hop.status = 302;
            visit(vec![hop, page_of])
        }
        5 => Visit {
            keeping: Keeping::NotArchived,
            metadata: vec![("verdict", "failed".to_owned())],
            ..visit(Vec::new())
        },
        6 => {
            page_of.headers.clear();
            visit(vec![page_of])
        }
        _ => {
            let mut posted = exchange(&format!("http://example.org/data/{number}"), "[1]");
            let head = "POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\n";
            posted.request_head = format!("{head}{}", 10_000 + number).into_bytes();
            Visit {
                subrequests: vec![posted],
                ..visit(vec![page_of])
            }
        }
    }
}

fn index_of(dir: &Path) -> String {
    fs::read_to_string(dir.join(cdxj::INDEX)).unwrap()
}

/// Returns the index made by reading the archive from its start, with the default memory.
fn from_scratch(dir: &Path) -> String {
    let copy = tempfile::tempdir().unwrap();
    for item in fs::read_dir(dir).unwrap() {
        let item = item.unwrap();
        if item.file_type().unwrap().is_file() && item.file_name() != cdxj::INDEX {
            fs::copy(item.path(), copy.path().join(item.file_name())).unwrap();
        }
    }
    cdxj::make_again(quick(copy.path()), copy.path(), cdxj::MEMORY).unwrap();
    index_of(copy.path())
}

/// `crawler index` removed the old index before it made the new one: a kill in between left none.
#[test]
fn an_interrupted_rebuild_leaves_the_old_index_or_the_new_one() {
    for call in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), call));
        let end = runtime().block_on(async {
            let sink = open(disk.clone(), dir.path(), None).await.unwrap();
            write_all(&sink, visits(60)).await;
            sink.close().await.unwrap()
        });
        let new = index_of(dir.path());
        let old = format!("{new}zz)/ 20260101000000 {{}}\n");
        fs::write(dir.path().join(cdxj::INDEX), &old).unwrap();
        disk.fail(Plan::from(
            disk.calls().len() as u64 + call,
            Failure::Broken,
        ));
        let made = cdxj::make_again(disk.clone(), dir.path(), LITTLE);
        disk.mend();
        let found = index_of(dir.path());
        assert!(found == old || found == new, "neither after {call} calls");
        if made.is_ok() {
            assert!(found == new && call > 10, "{call}");
            assert_indexed(dir.path(), &end);
            return;
        }
        // The remaining runs are listed, and the next rebuild removes them.
        let runs = fs::read_dir(dir.path().join("index")).unwrap();
        let runs = runs
            .filter(|run| run.as_ref().unwrap().path().extension().is_some())
            .count();
        let strays = cdxj::strays(dir.path()).unwrap().len();
        assert!(strays + 2 > runs, "{strays} of {runs} after {call} calls");
        cdxj::make_again(disk, dir.path(), LITTLE).unwrap();
        assert_indexed(dir.path(), &end);
    }
}

fn assert_sorted(index: &str) {
    let lines: Vec<&str> = index.lines().collect();
    assert!(lines.is_sorted_by(|one, other| one.as_bytes() < other.as_bytes()));
}

/// Checks that a closed archive has one complete index and no leftover runs.
fn assert_indexed(dir: &Path, end: &ArchiveEnd) {
    let index = index_of(dir);
    assert_sorted(&index);
    assert!(
        index == from_scratch(dir),
        "another index than the archive's"
    );
    let comparison = cdxj::compare(dir, end).unwrap();
    assert_eq!(comparison.differences, []);
    assert_eq!(comparison.lines, index.lines().count() as u64);
    assert_eq!(comparison.captures, comparison.lines);
    let left: Vec<_> = fs::read_dir(dir.join("index"))
        .unwrap()
        .map(|item| item.unwrap().file_name())
        .collect();
    assert_eq!(left, ["runs"]);
}

/// Writes the visits in turn until one fails, and returns their positions.
async fn write_all(sink: &dyn Sink, visits: impl IntoIterator<Item = Visit>) -> Vec<Archived> {
    let mut written = Vec::new();
    for visit in visits {
        match sink.write(visit).await {
            Ok(archived) => written.push(archived),
            Err(_) => break,
        }
    }
    written
}

/// Settles everything up to `end`, as a checkpoint does.
fn in_order(end: &ArchiveEnd) -> CommitPoint {
    CommitPoint::new(end.clone(), end.clone(), 0)
}

fn visits(count: u32) -> impl Iterator<Item = Visit> {
    (0..count).map(|number| shaped((number * 5 % 8) as u8 + 8, number))
}

#[test]
fn each_capture_has_a_line_and_each_line_a_record() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let sink = open(quick(dir.path()), dir.path(), None).await.unwrap();
        let written = write_all(&sink, visits(600)).await;
        assert_eq!(written.len(), 600);
        let end = sink.close().await.unwrap();
        assert_eq!(sink.close().await.unwrap(), end);
        assert_indexed(dir.path(), &end);
    });
    let index = index_of(dir.path());
    let mut lines = CdxjReader::new(index.as_bytes());
    let mut duplicates = 0;
    while let Some(entry) = lines.next_entry().unwrap() {
        let record =
            sinks::warc::read_head(&dir.path().join(entry.file()), entry.offset(), 1 << 10)
                .unwrap();
        assert_eq!(record.target(), entry.text("url"));
        let is_duplicate = entry.key.starts_with(cdxj::DUPLICATE);
        duplicates += u32::from(is_duplicate);
        assert_eq!(is_duplicate, record.kind() == "metadata");
        assert_eq!(entry.text("duplicate_of").is_some(), is_duplicate);
        assert_eq!(entry.text("digest"), record.field("WARC-Payload-Digest"));
    }
    assert_eq!(lines.skipped().count() + lines.skipped().unsorted, 0);
    assert_eq!(duplicates, 75);
}

#[test]
fn concurrent_writers_produce_one_index() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    runtime.block_on(async {
        let sink = Arc::new(open(quick(dir.path()), dir.path(), None).await.unwrap());
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let sink = Arc::clone(&sink);
                tokio::spawn(async move {
                    for number in 0..60 {
                        // Large visits are built in another thread, and smaller ones overtake them.
                        let shape = if number % 9 == 0 {
                            255
                        } else {
                            (number % 8) as u8
                        };
                        sink.write(shaped(shape, writer * 100 + number))
                            .await
                            .unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let end = sink.close().await.unwrap();
        assert_indexed(dir.path(), &end);
    });
}

#[test]
fn an_empty_archive_has_an_empty_index() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let sink = open(quick(dir.path()), dir.path(), None).await.unwrap();
        let end = sink.close().await.unwrap();
        assert_indexed(dir.path(), &end);
    });
    assert_eq!(index_of(dir.path()), "");
}

#[test]
fn a_continued_crawl_starts_from_its_closed_index() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let mut resume = None;
        for _ in 0..3 {
            let sink = open(quick(dir.path()), dir.path(), resume).await.unwrap();
            write_all(&sink, visits(40)).await;
            let end = sink.close().await.unwrap();
            assert_indexed(dir.path(), &end);
            resume = Some(end);
        }
        // An archive whose files were removed begins anew, with nothing of the old one.
        let refused = open(quick(dir.path()), dir.path(), None).await.err();
        assert!(
            matches!(refused, Some(SinkFault::JournalEnds { .. })),
            "{refused:?}"
        );
        for item in fs::read_dir(dir.path()).unwrap() {
            let path = item.unwrap().path();
            if sinks::warc::name_of(&path).is_some() {
                fs::remove_file(path).unwrap();
            }
        }
        let sink = open(quick(dir.path()), dir.path(), None).await.unwrap();
        write_all(&sink, visits(3)).await;
        let end = sink.close().await.unwrap();
        assert_indexed(dir.path(), &end);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A kill leaves the files as they are. The journal has the position at which the archive
    /// continues; the rest is cut.
    #[test]
    fn after_any_kill_and_cut_the_index_agrees_with_the_archive(
        sessions in prop::collection::vec(
            (
                prop::collection::vec((0_u8..40, 0_u32..50), 0..60),
                0.0_f64..=1.0,
                any::<bool>(),
            ),
            1..4,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        runtime().block_on(async {
            let mut settled: Vec<ArchiveEnd> = Vec::new();
            for (pages, keep, closes) in sessions {
                // The settlements known at the opening are durable.
                let known = settled.len();
                let opened = open(quick(dir.path()), dir.path(), settled.last().cloned());
                let sink = opened.await.unwrap();
                sink.set_commit_point(None).await.unwrap();
                let pages = pages.into_iter().map(|(shape, number)| shaped(shape, number));
                let written = write_all(&sink, pages).await;
                settled.extend(written.iter().filter_map(after));
                let kept = (settled.len() as f64 * keep).ceil() as usize;
                settled.truncate(kept.max(known));
                if closes {
                    sink.sync().await.unwrap();
                    sink.set_commit_point(settled.last().map(in_order)).await.unwrap();
                    sink.close().await.unwrap();
                }
                drop(sink);
                if let Some(end) = settled.last() {
                    let comparison = cdxj::compare(dir.path(), end).unwrap();
                    assert_eq!(comparison.differences, [], "while it is not open");
                }
            }
            let sink = open(quick(dir.path()), dir.path(), settled.last().cloned()).await.unwrap();
            write_all(&sink, visits(2)).await;
            let end = sink.close().await.unwrap();
            assert_indexed(dir.path(), &end);
        });
    }
}

/// Runs three sessions on a disk, each from the commit point of the one before; returns the settled
/// ends.
fn story(disk: &Arc<FaultyDisk>, dir: &Path) -> Option<ArchiveEnd> {
    runtime().block_on(async {
        let mut settled = None;
        for session in 0..3 {
            let Ok(sink) = open(disk.clone(), dir, settled.clone()).await else {
                return settled;
            };
            if sink.set_commit_point(None).await.is_err() {
                return settled;
            }
            let written = write_all(&sink, visits(24)).await;
            // The last visits were written and not settled.
            let last = written
                .len()
                .checked_sub(3)
                .and_then(|last| after(&written[last]));
            settled = last.or(settled);
            if session != 1 {
                // In the order of a crawl: synced, settled, closed.
                let Ok(end) = sink.sync().await else {
                    return settled;
                };
                settled = Some(end);
                if sink
                    .set_commit_point(settled.as_ref().map(in_order))
                    .await
                    .is_err()
                    || sink.close().await.is_err()
                {
                    return settled;
                }
            }
        }
        settled
    })
}

#[test]
fn the_next_opening_repairs_the_index_after_any_failed_call() {
    let count = {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), 1));
        story(&disk, dir.path());
        disk.count()
    };
    assert!(count > 100, "{count} calls");
    for number in 1..=count {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), number));
        disk.fail(Plan::once(number, Failure::Broken));
        let settled = story(&disk, dir.path());
        disk.mend();
        runtime().block_on(async {
            let sink = open(disk.clone(), dir.path(), settled).await.unwrap();
            write_all(&sink, visits(5)).await;
            let end = sink.close().await.unwrap();
            assert_indexed(dir.path(), &end);
        });
    }
}

#[test]
fn after_a_power_cut_the_index_agrees_with_the_archive() {
    for seed in 0..120 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), seed));
        disk.fail(Plan::from(3 + seed * 2, Failure::Broken));
        let settled: Vec<ArchiveEnd> = runtime().block_on(async {
            let Ok(sink) = open(disk.clone(), dir.path(), None).await else {
                return Vec::new();
            };
            let written = write_all(&sink, visits(60)).await;
            sink.close().await.ok();
            written.iter().filter_map(after).collect()
        });
        disk.power_cut(seed).unwrap();
        disk.power_on();
        let whole = sinks::warc::whole_visits(&*disk, dir.path(), None, &settled).unwrap();
        let resume = whole.checked_sub(1).map(|last| settled[last].clone());
        runtime().block_on(async {
            let sink = open(disk.clone(), dir.path(), resume).await.unwrap();
            write_all(&sink, visits(5)).await;
            let end = sink.close().await.unwrap();
            assert_indexed(dir.path(), &end);
        });
    }
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let dir = tempfile::tempdir().unwrap();
    let end = runtime().block_on(async {
        let sink = open(quick(dir.path()), dir.path(), None).await.unwrap();
        write_all(&sink, visits(60)).await;
        sink.close().await.unwrap()
    });
    let index = index_of(dir.path());
    let lines: Vec<&str> = index.lines().collect();
    let swapped = [&[lines[1], lines[0]], &lines[2..]].concat().join("\n") + "\n";
    for (damaged, expected) in [
        (
            index.replacen("length", "lenght", 1),
            Difference::Touched(dir.path().join(cdxj::INDEX)),
        ),
        (
            swapped,
            Difference::Unsorted(dir.path().join(cdxj::INDEX), 2),
        ),
        (
            lines[1..].join("\n") + "\n",
            Difference::NoLine(lines[0].to_owned()),
        ),
        (
            format!(
                "{index}zzz 20260101000000 {{\"offset\": \"1\", \
                 \"length\": \"1\", \"filename\": \"x\"}}\n"
            ),
            Difference::NoCapture(
                "zzz 20260101000000 {\"offset\": \"1\", \"length\": \"1\", \"filename\": \"x\"}"
                    .to_owned(),
            ),
        ),
    ] {
        fs::write(dir.path().join(cdxj::INDEX), damaged).unwrap();
        let comparison = cdxj::compare(dir.path(), &end).unwrap();
        assert!(
            comparison.differences.contains(&expected),
            "{:?}",
            comparison.differences
        );
        runtime().block_on(async {
            let sink = open(quick(dir.path()), dir.path(), Some(end.clone()))
                .await
                .unwrap();
            write_all(&sink, visits(1)).await;
            let end = sink.close().await.unwrap();
            assert_indexed(dir.path(), &end);
        });
        // Restores the byte.
        runtime().block_on(async {
            let sink = open(quick(dir.path()), dir.path(), Some(end.clone()))
                .await
                .unwrap();
            sink.close().await.unwrap();
        });
        assert!(index_of(dir.path()) == index);
    }
}

#[test]
fn an_archive_that_continues_without_an_index_removes_the_old_one() {
    let dir = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let sink = open(quick(dir.path()), dir.path(), None).await.unwrap();
        let written = write_all(&sink, visits(60)).await;
        drop(sink);
        cdxj::remove(&disk::SystemDisk, dir.path()).unwrap();
        let archive =
            WarcArchive::open(quick(dir.path()), dir.path(), small(), after(&written[3])).unwrap();
        write_all(&archive, visits(90)).await;
        let end = archive.close().await.unwrap();
        let sink = open(quick(dir.path()), dir.path(), Some(end))
            .await
            .unwrap();
        let end = sink.close().await.unwrap();
        assert_indexed(dir.path(), &end);
    });
}

#[test]
fn any_files_are_indexed_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let archived = runtime().block_on(async {
        let archive = fresh(dir.path());
        let archived = write_all(&archive, visits(20)).await;
        archive.close().await.unwrap();
        archived
    });
    let packed = dir.path().join(&archived[0].file);
    let plain = dir.path().join("plain.warc");
    let record = "WARC/1.0\r\nWARC-Type: resource\r\n\
    WARC-Target-URI: <http://example.org/a b>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n\
                  WARC-Record-ID: <urn:x>\r\nContent-Type: text/plain;x\r\n\
                  Content-Length: 3\r\n\r\nabc\r\n\r\n";
    fs::write(&plain, format!("{record}{record}")).unwrap();
    let mut out = Vec::new();
    let files = [packed, plain, dir.path().join("missing.warc")];
    let scratch = dir.path().join("scratch");
    let gathering = cdxj::index_files(&disk::SystemDisk, &files, &scratch, &mut out).unwrap();
    assert_eq!(gathering.broken, 1);
    let text = String::from_utf8(out).unwrap();
    assert_sorted(&text);
    assert_eq!(gathering.lines, text.lines().count() as u64);
    let length = record.len() - 4;
    let expected = format!(
        "org,example)/a%20b 20200102030405 {{\"url\": \"http://example.org/a%20b\", \
         \"mime\": \"text/plain\", \
         \"digest\": \"sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\", \
         \"length\": \"{length}\", \"offset\": \"{}\", \"filename\": \"plain.warc\"}}",
        record.len()
    );
    assert!(text.lines().any(|line| line == expected), "{text}");
}
