//! Reopening an archive: settled visits stay, byte for byte; unsettled ones are cut.

use std::fs;
use std::path::Path;

use sinks::{ArchiveEnd, ArchiveOptions, Archived, CommitPoint, Sink, SinkFault, WarcArchive};

use crate::fixtures::{after, exchange, files, fresh, kinds, options, records_of, system, visit};
use sinks::warc::{CommitPointFile, locate};

async fn write(archive: &WarcArchive, url: &str) -> Archived {
    archive
        .write(visit(vec![exchange(url, "text")]))
        .await
        .unwrap()
}

fn reopen(dir: &Path, resume: Option<ArchiveEnd>) -> Result<WarcArchive, SinkFault> {
    WarcArchive::open(system(), dir, options(), resume)
}

#[tokio::test]
async fn the_unsettled_tail_is_cut_and_the_archive_goes_on_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let settled = write(&archive, "http://example.org/settled").await;
    write(&archive, "http://example.org/unsettled").await;
    drop(archive);
    let path = locate(dir.path(), &settled.file);
    let before = fs::read(&path).unwrap();

    let archive = reopen(dir.path(), after(&settled)).unwrap();
    let next = write(&archive, "http://example.org/next").await;
    assert_eq!(
        (next.archive_sequence, next.offset, &next.file),
        (0, settled.end, &settled.file)
    );

    let end = usize::try_from(settled.end).unwrap();
    assert_eq!(fs::read(&path).unwrap()[..end], before[..end]);
    let records = records_of(&path);
    assert_eq!(
        kinds(&records),
        ["warcinfo", "response", "request", "response", "request"]
    );
    assert_eq!(records[3].target(), Some("http://example.org/next"));
    assert_eq!(
        records[3].field("WARC-Warcinfo-ID"),
        Some(records[0].id()),
        "it is still the same file"
    );
    let kept = dir.path().join(format!("{}.cut-1", settled.file));
    assert_eq!(fs::read(&kept).unwrap(), before[end..], "the cut part");
    let targets: Vec<_> = records_of(&kept)
        .iter()
        .map(|record| record.target().map(str::to_owned))
        .collect();
    assert_eq!(
        targets,
        vec![Some("http://example.org/unsettled".to_owned()); 2]
    );
}

/// A truncated or older journal records less than the archive has: finished files were deleted, and
/// with them 1,524 pages of a crawl whose server no longer existed.
#[tokio::test]
async fn a_closed_file_is_never_cut() {
    let dir = tempfile::tempdir().unwrap();
    let small = || ArchiveOptions {
        max_file: 1,
        ..options()
    };
    let open = |resume| WarcArchive::open(system(), dir.path(), small(), resume);
    let archive = open(None).unwrap();
    let first = write(&archive, "http://example.org/1").await;
    let second = write(&archive, "http://example.org/2").await;
    archive.close().await.unwrap();
    let before: Vec<_> = files(dir.path())
        .iter()
        .map(|name| (name.clone(), fs::read(dir.path().join(name)).unwrap()))
        .collect();
    for (resume, expected) in [
        (None, vec![&first.file, &second.file]),
        (after(&first), vec![&second.file]),
    ] {
        let refused = open(resume).err().unwrap();
        let message = refused.to_string();
        let SinkFault::JournalEnds { files: named, .. } = refused else {
            panic!("{message}");
        };
        assert_eq!(named.iter().collect::<Vec<_>>(), expected, "{message}");
        for (name, bytes) in &before {
            assert!(fs::read(dir.path().join(name)).unwrap() == *bytes, "{name}");
        }
        assert_eq!(files(dir.path()).len(), before.len());
    }
    // An end that only garbage follows is cut as usual.
    let path = dir.path().join(&second.file);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], b"rubbish"].concat()).unwrap();
    drop(open(after(&second)).unwrap());
    let path = locate(dir.path(), &second.file);
    assert!(fs::read(path).unwrap() == whole);
}

/// A file was closed once it was full and synced, even before its visits were settled: the next
/// session took them for unsettled and deleted them. Now a file is closed after the settlements,
/// which the archive notes.
#[tokio::test]
async fn a_file_is_closed_after_the_settlements_of_its_visits() {
    let dir = tempfile::tempdir().unwrap();
    let small = || ArchiveOptions {
        max_file: 1,
        ..options()
    };
    let open = |resume| WarcArchive::open(system(), dir.path(), small(), resume);
    let archive = open(None).unwrap();
    archive.set_commit_point(None).await.unwrap();
    let first = write(&archive, "http://example.org/1").await;
    let second = write(&archive, "http://example.org/2").await;
    let end = archive.sync().await.unwrap();
    let is_open = |visit: &Archived| locate(dir.path(), &visit.file).extension().unwrap() == "open";
    assert!(is_open(&first) && is_open(&second), "nothing is settled");
    let settled = |visit: &Archived| CommitPoint::new(end.clone(), after(visit).unwrap(), 7);
    archive
        .set_commit_point(Some(settled(&first)))
        .await
        .unwrap();
    assert!(is_open(&first), "its last visit may differ");
    archive
        .set_commit_point(Some(settled(&second)))
        .await
        .unwrap();
    assert!(!is_open(&first) && is_open(&second));
    assert_eq!(
        CommitPoint::read(dir.path()).unwrap(),
        CommitPointFile::Read(settled(&second))
    );
    let third = write(&archive, "http://example.org/3").await;
    archive.close().await.unwrap();
    assert!(is_open(&third), "it was never settled");
    drop(archive);
    // Not even an open file is cut before the noted end.
    let refused = open(after(&first)).err().unwrap();
    assert!(
        matches!(refused, SinkFault::JournalEnds { .. }),
        "{refused}"
    );
    drop(open(after(&second)).unwrap());
    assert!(dir.path().join(format!("{}.cut-1", third.file)).is_file());
}

#[tokio::test]
async fn a_record_that_a_power_cut_tore_is_cut_too() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let settled = write(&archive, "http://example.org/settled").await;
    let torn = write(&archive, "http://example.org/torn").await;
    drop(archive);
    let path = locate(dir.path(), &settled.file);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(torn.end - 7)
        .unwrap();

    reopen(dir.path(), after(&settled)).unwrap();
    assert_eq!(
        kinds(&records_of(&path)),
        ["warcinfo", "response", "request"]
    );
}

#[tokio::test]
async fn later_files_are_set_aside_and_files_of_others_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let small = || ArchiveOptions {
        max_file: 1,
        ..options()
    };
    let archive = WarcArchive::open(system(), dir.path(), small(), None).unwrap();
    let mut all = Vec::new();
    for number in 0..4 {
        all.push(write(&archive, &format!("http://example.org/{number}")).await);
    }
    drop(archive);
    let others = [
        "crawl-20261120182455-00009.warc.gz.bak",
        "other-20261120182455-00009.warc.gz",
        "crawl-20261120182455-9.warc.gz",
        "index.cdxj",
    ];
    for name in others {
        fs::write(dir.path().join(name), "somebody else's").unwrap();
    }
    fs::create_dir(dir.path().join("crawl-20261120182455-00009.warc.gz")).unwrap();

    let archive = WarcArchive::open(system(), dir.path(), small(), after(&all[1])).unwrap();
    let mut expected = vec![all[0].file.clone(), format!("{}.open", all[1].file)];
    expected.extend(all[2..].iter().map(|visit| format!("{}.cut-1", visit.file)));
    expected.extend(others.map(str::to_owned));
    expected.push("crawl-20261120182455-00009.warc.gz".to_owned());
    expected.sort();
    assert_eq!(files(dir.path()), expected);

    let next = write(&archive, "http://example.org/next").await;
    assert_eq!(
        (next.archive_sequence, &next.file),
        (0, &all[2].file),
        "the file was full, so the next one begins"
    );
}

#[tokio::test]
async fn without_settled_visits_the_archive_begins_anew() {
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
    write(&archive, "http://example.org/a").await;
    write(&archive, "http://example.org/b").await;
    drop(archive);
    fs::write(dir.path().join("notes.txt"), "mine").unwrap();

    fresh(dir.path());
    let names = files(dir.path());
    assert_eq!(
        names,
        [
            "crawl-20261120182455-00001.warc.gz.cut-1",
            "crawl-20261120182455-00001.warc.gz.open",
            "crawl-20261120182455-00002.warc.gz.cut-1",
            "notes.txt"
        ]
    );
    assert_eq!(
        kinds(&records_of(&dir.path().join(&names[1]))),
        ["warcinfo"]
    );
}

#[tokio::test]
async fn an_end_within_the_first_record_leaves_that_record_whole() {
    let dir = tempfile::tempdir().unwrap();
    let lost = write(&fresh(dir.path()), "http://example.org/a").await;
    let archive = reopen(
        dir.path(),
        Some(ArchiveEnd {
            file: lost.file.clone(),
            end: 0,
        }),
    )
    .unwrap();
    let next = write(&archive, "http://example.org/b").await;
    assert_eq!((next.offset, next.file), (lost.offset, lost.file));
}

#[tokio::test]
async fn an_archive_without_its_settled_bytes_is_not_continued() {
    let dir = tempfile::tempdir().unwrap();
    let settled = write(&fresh(dir.path()), "http://example.org/a").await;
    let path = locate(dir.path(), &settled.file);
    let end = |end| {
        Some(ArchiveEnd {
            file: settled.file.clone(),
            end,
        })
    };

    let short = reopen(dir.path(), end(settled.end + 1));
    assert!(matches!(
        short,
        Err(SinkFault::TooShort { end, length, .. })
            if end == length + 1 && length == settled.end
    ));
    fs::write(&path, vec![0; usize::try_from(settled.end).unwrap()]).unwrap();
    assert!(matches!(
        reopen(dir.path(), end(settled.end)),
        Err(SinkFault::Damaged { .. })
    ));
    fs::remove_file(&path).unwrap();
    let missing = reopen(dir.path(), end(settled.end)).err().unwrap();
    let closed = dir.path().join(&settled.file);
    assert!(matches!(&missing, SinkFault::Missing { path: named } if *named == closed));
    assert!(missing.to_string().contains(&settled.file), "{missing}");
}

#[tokio::test]
async fn only_a_name_of_ours_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "",
        "notes.txt",
        "../crawl-20261120182455-00001.warc.gz",
        "/etc/passwd",
    ] {
        let foreign = reopen(
            dir.path(),
            Some(ArchiveEnd {
                file: name.to_owned(),
                end: 0,
            }),
        );
        assert!(matches!(foreign, Err(SinkFault::Foreign { name: named }) if named == name));
    }
    assert!(files(dir.path()).is_empty());
}

#[tokio::test]
async fn a_file_is_named_open_until_it_is_complete_and_synced() {
    let dir = tempfile::tempdir().unwrap();
    let small = ArchiveOptions {
        max_file: 1,
        ..options()
    };
    let archive = WarcArchive::open(system(), dir.path(), small, None).unwrap();
    let first = write(&archive, "http://example.org/1").await.file;
    let second = write(&archive, "http://example.org/2").await.file;
    let open = |file: &str| format!("{file}.open");
    assert_eq!(files(dir.path()), [open(&first), open(&second)]);
    assert_eq!(
        archive.sync().await.unwrap().file,
        second,
        "the ends are reported without it"
    );
    assert_eq!(files(dir.path()), [first.clone(), open(&second)]);
    for _ in 0..2 {
        archive.close().await.unwrap();
        assert_eq!(files(dir.path()), [first.clone(), second.clone()]);
    }
    archive.sync().await.unwrap();
    assert_eq!(files(dir.path()), [first, second]);
}

/// The process died after a file was full and the next one was begun, before the first was closed.
#[tokio::test]
async fn a_full_file_that_was_not_closed_is_closed_by_the_next_opening() {
    let dir = tempfile::tempdir().unwrap();
    let small = ArchiveOptions {
        max_file: 1,
        ..options()
    };
    let archive = WarcArchive::open(system(), dir.path(), small, None).unwrap();
    let first = write(&archive, "http://example.org/1").await;
    let second = write(&archive, "http://example.org/2").await;
    drop(archive);
    reopen(dir.path(), after(&second)).unwrap();
    assert_eq!(
        files(dir.path()),
        [first.file, format!("{}.open", second.file)]
    );
}

#[tokio::test]
async fn a_file_under_both_of_its_names_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    let settled = write(&archive, "http://example.org/a").await;
    archive.close().await.unwrap();
    let closed = dir.path().join(&settled.file);
    let copy = dir.path().join(format!("{}.open", settled.file));
    fs::copy(&closed, &copy).unwrap();
    let twice = reopen(dir.path(), after(&settled)).err().unwrap();
    assert!(matches!(twice, SinkFault::Twice { .. }), "{twice}");
    assert!(closed.exists() && copy.exists(), "nothing was changed");
}

#[tokio::test]
async fn an_archive_with_another_prefix_is_continued_and_cut() {
    let dir = tempfile::tempdir().unwrap();
    let named = |prefix: &str| ArchiveOptions {
        prefix: prefix.to_owned(),
        max_file: 1,
        ..options()
    };
    let open = |prefix, end| WarcArchive::open(system(), dir.path(), named(prefix), end).unwrap();
    let first = write(&open("a", None), "http://example.org/1").await;
    let lost = write(&open("b", after(&first)), "http://example.org/2").await;
    assert!(lost.file.starts_with("b-"));
    // The second session was killed before anything of it was settled.
    let next = write(&open("c", after(&first)), "http://example.org/3").await;
    assert!(next.file.starts_with("c-"));
    assert_eq!(
        files(dir.path()),
        [
            first.file + ".open",
            lost.file + ".cut-1",
            next.file + ".open"
        ]
    );
    for prefix in ["", "../c", "c/d"] {
        let refused = WarcArchive::open(system(), dir.path(), named(prefix), None);
        assert!(matches!(refused, Err(SinkFault::Foreign { name }) if name == prefix));
    }
}
