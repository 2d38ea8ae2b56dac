//! Archive sequence numbers, ranges and files when many write at once.

use std::sync::Arc;

use sinks::{ArchiveOptions, Archived, Keeping, Sink, Visit, WarcArchive};

use crate::fixtures::{
    exchange, files, fresh, kinds, options, page, records_at, records_of, system, visit,
};
use sinks::warc::{OPEN, locate};

async fn write_at_once(archive: WarcArchive, tasks: usize, each: usize) -> Vec<Archived> {
    let archive: Arc<dyn Sink> = Arc::new(archive);
    let writers: Vec<_> = (0..tasks)
        .map(|task| {
            let archive = Arc::clone(&archive);
            tokio::spawn(async move {
                let mut ranges = Vec::new();
                for number in 0..each {
                    let url = format!("http://example.org/{task}/{number}");
                    let body = "text ".repeat(task * 40 + number);
                    let mut visit = visit(vec![exchange(&url, body)]);
                    if number % 7 == 3 {
                        visit = Visit {
                            keeping: Keeping::NotArchived,
                            ..visit
                        };
                    }
                    let archived = archive.write(visit).await.unwrap();
                    ranges.push((url, archived));
                }
                ranges
            })
        })
        .collect();
    let mut all = Vec::new();
    for writer in writers {
        all.extend(writer.await.unwrap());
    }
    archive.close().await.unwrap();
    all.sort_by_key(|(_, archived)| archived.archive_sequence);
    all.into_iter().map(|(_, archived)| archived).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tickets_have_no_gaps_and_follow_the_order_of_the_archive() {
    for max_file in [1 << 30, 20_000, 1] {
        let dir = tempfile::tempdir().unwrap();
        let archive = WarcArchive::open(
            system(),
            dir.path(),
            ArchiveOptions {
                max_file,
                ..options()
            },
            None,
        )
        .unwrap();
        let all = write_at_once(archive, 16, 20).await;
        assert_eq!(all.len(), 320);

        let mut before: Option<&Archived> = None;
        for (number, archived) in all.iter().enumerate() {
            assert_eq!(archived.archive_sequence, number as u64);
            if let Some(before) = before
                && before.file == archived.file
            {
                assert_eq!(archived.offset, before.end, "ranges follow one another");
            } else {
                let preface = records_of(&locate(dir.path(), &archived.file)).swap_remove(0);
                assert_eq!(preface.kind(), "warcinfo");
                assert_eq!(
                    archived.offset, preface.length,
                    "a file begins with its first visit"
                );
                assert!(before.is_none_or(|before| before.file < archived.file));
            }
            before = Some(archived);
        }
        let last = before.unwrap();
        assert_eq!(
            std::fs::metadata(locate(dir.path(), &last.file))
                .unwrap()
                .len(),
            last.end
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_visits_are_found_at_the_positions_of_their_archive_sequence_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let archive = ArchiveOptions {
        max_file: 4_000,
        ..options()
    };
    let all = write_at_once(
        WarcArchive::open(system(), dir.path(), archive, None).unwrap(),
        16,
        4,
    )
    .await;
    for archived in &all {
        let records = records_at(dir.path(), archived);
        if archived.offset == archived.end {
            continue;
        }
        assert_eq!(kinds(&records), ["response", "request"]);
        assert_eq!(records[0].offset, archived.page_offset);
        assert_eq!(records[1].offset + records[1].length, archived.end);
        assert_eq!(records[0].target(), records[1].target());
    }
}

#[tokio::test]
async fn a_full_file_is_followed_by_the_next_and_no_visit_straddles_both() {
    let dir = tempfile::tempdir().unwrap();
    let archive = WarcArchive::open(
        system(),
        dir.path(),
        ArchiveOptions {
            max_file: 3_000,
            ..options()
        },
        None,
    )
    .unwrap();
    let mut used = Vec::new();
    for number in 0..20 {
        let archived = archive
            .write(visit(vec![exchange(
                &format!("http://example.org/{number}"),
                "x",
            )]))
            .await
            .unwrap();
        assert!(
            archived.offset < 3_000,
            "a file of 3,000 bytes or more takes no further visit"
        );
        used.push(archived.file);
    }
    used.dedup();
    assert!(used.len() > 2, "{used:?}");
    let on_disk: Vec<String> = used.iter().map(|file| format!("{file}{OPEN}")).collect();
    assert_eq!(on_disk, files(dir.path()));
    assert!(used[2].ends_with("-00003.warc.gz"));
    for file in used {
        let records = records_of(&locate(dir.path(), &file));
        let warcinfo = records[0].id();
        assert!(
            records[1..]
                .iter()
                .all(|record| record.field("WARC-Warcinfo-ID") == Some(warcinfo))
        );
    }
}

#[tokio::test]
async fn a_visit_without_a_record_begins_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let archive = WarcArchive::open(
        system(),
        dir.path(),
        ArchiveOptions {
            max_file: 1,
            ..options()
        },
        None,
    )
    .unwrap();
    archive
        .write(visit(vec![exchange("http://example.org/a", "x")]))
        .await
        .unwrap();
    let silent = archive.write(visit(Vec::new())).await.unwrap();
    assert_eq!((silent.archive_sequence, silent.offset), (1, silent.end));
    assert_eq!(files(dir.path()), [silent.file + OPEN]);
}

#[tokio::test]
async fn a_visit_written_twice_is_kept_twice() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let once = visit(vec![exchange("http://example.org/a", "x")]);
    assert_eq!(once.url, page("http://example.org/a"));
    let first = archive.write(once.clone()).await.unwrap();
    let second = archive.write(once).await.unwrap();
    assert_eq!((first.archive_sequence, second.archive_sequence), (0, 1));
    assert_eq!(first.end, second.offset);
}
