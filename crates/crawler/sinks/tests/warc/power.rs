//! An archive on a disk that fails or loses power: synced bytes are there, and the end of the whole
//! part is known.

use std::path::Path;
use std::sync::Arc;

use sinks::warc::{name_of, whole_visits};
use sinks::{ArchiveEnd, ArchiveOptions, Archived, Sink, SinkFault, WarcArchive};
use testkit::{CallKind, Failure, FaultyDisk, Plan};

use crate::fixtures::{after, exchange, files, options, records_of, visit};

fn small() -> ArchiveOptions {
    ArchiveOptions {
        max_file: 1_500,
        ..options()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

async fn write(archive: &WarcArchive, number: usize) -> Result<Archived, SinkFault> {
    let page = exchange(
        &format!("http://example.org/{number}"),
        format!("page {number}"),
    );
    archive.write(visit(vec![page])).await
}

/// Writes twelve visits, syncs every third, closes the archive, opens it again and continues;
/// returns the written visits and the number of durable ones.
fn story(disk: &Arc<FaultyDisk>, dir: &Path, options: &ArchiveOptions) -> (Vec<Archived>, usize) {
    let (mut written, mut durable) = (Vec::new(), 0);
    let ended = runtime().block_on(async {
        for first in [0, 12] {
            let end = written.last().and_then(after);
            let archive = WarcArchive::open(disk.clone(), dir, options.clone(), end)?;
            for number in first..first + 12 {
                written.push(write(&archive, number).await?);
                if number % 3 == 2 {
                    archive.sync().await?;
                    durable = written.len();
                }
            }
            archive.close().await?;
        }
        Ok::<(), SinkFault>(())
    });
    // A fault ends the session.
    drop(ended);
    (written, durable)
}

/// Checks, after a power cut, that all durable visits are whole and that the archive continues
/// after the last whole one.
fn goes_on(disk: &Arc<FaultyDisk>, dir: &Path, written: &[Archived], durable: usize) -> usize {
    let known = durable
        .checked_sub(1)
        .and_then(|last| after(&written[last]));
    let ends: Vec<ArchiveEnd> = written.iter().filter_map(after).collect();
    let whole = whole_visits(&**disk, dir, known.as_ref(), &ends).unwrap();
    assert!(whole >= durable, "{whole} whole of {durable} durable");

    let resume = whole.checked_sub(1).and_then(|last| after(&written[last]));
    runtime().block_on(async {
        let archive = WarcArchive::open(disk.clone(), dir, small(), resume).unwrap();
        write(&archive, 99).await.unwrap();
        archive.close().await.unwrap();
    });
    let pages: Vec<String> = files(dir)
        .iter()
        .filter(|file| name_of(Path::new(file)).is_some())
        .flat_map(|file| records_of(&dir.join(file)))
        .filter(|record| record.kind() == "response")
        .map(|record| record.target().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (0..whole)
        .chain([99])
        .map(|number| format!("http://example.org/{number}"))
        .collect();
    assert_eq!(pages, expected);
    whole
}

#[test]
fn no_failed_call_loses_or_repeats_a_durable_visit() {
    let count = {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), 0));
        story(&disk, dir.path(), &small());
        disk.count()
    };
    assert!(count > 80, "{count}");
    for number in 1..=count + 1 {
        for failure in [Failure::Broken, Failure::NoSpace, Failure::ReadOnly] {
            let dir = tempfile::tempdir().unwrap();
            let disk = Arc::new(FaultyDisk::new(dir.path(), number));
            disk.fail(Plan::from(number, failure));
            let (written, durable) = story(&disk, dir.path(), &small());
            disk.power_cut(number).unwrap();
            disk.power_on();
            goes_on(&disk, dir.path(), &written, durable);
        }
    }
}

#[test]
fn a_power_cut_keeps_all_bytes_or_only_the_synced_ones() {
    let found: std::collections::BTreeSet<usize> = (0..60)
        .map(|seed| {
            let dir = tempfile::tempdir().unwrap();
            let disk = Arc::new(FaultyDisk::new(dir.path(), seed));
            disk.fail(Plan::from(3, Failure::Broken).of_kind(CallKind::Sync));
            let (written, durable) = story(&disk, dir.path(), &options());
            assert_eq!((written.len(), durable), (9, 6));
            disk.power_cut(seed).unwrap();
            disk.power_on();
            goes_on(&disk, dir.path(), &written, durable)
        })
        .collect();
    assert_eq!(found, (6..=9).collect(), "and any offset in between");
}

#[test]
fn records_recovered_after_a_crash_survive_a_power_cut() {
    for seed in 0..60 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(dir.path(), seed));
        let written: Vec<Archived> = runtime().block_on(async {
            let archive = WarcArchive::open(disk.clone(), dir.path(), options(), None).unwrap();
            let mut written = Vec::new();
            for number in 0..8 {
                written.push(write(&archive, number).await.unwrap());
            }
            written
        });
        // Only the process died: all bytes are there, but none is known to be durable before a
        // check.
        let ends: Vec<ArchiveEnd> = written.iter().filter_map(after).collect();
        assert_eq!(whole_visits(&*disk, dir.path(), None, &ends).unwrap(), 8);
        disk.power_cut(seed).unwrap();
        disk.power_on();
        assert_eq!(goes_on(&disk, dir.path(), &written, 8), 8);
    }
}
