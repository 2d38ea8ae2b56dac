//! Recovery after a power cut.

use std::fs;

use sinks::warc::whole_visits;
use sinks::{ArchiveEnd, ArchiveOptions, Sink, SinkFault, WarcArchive};

use crate::fixtures::{exchange, options, visit};
use sinks::warc::locate;

async fn five_visits(max_file: u64) -> (tempfile::TempDir, Vec<ArchiveEnd>) {
    let dir = tempfile::tempdir().unwrap();
    let options = ArchiveOptions {
        max_file,
        ..options()
    };
    let archive = WarcArchive::open(
        std::sync::Arc::new(disk::SystemDisk),
        dir.path(),
        options,
        None,
    )
    .unwrap();
    let mut ends = Vec::new();
    for number in 0..5 {
        let url = format!("http://example.org/{number}");
        let archived = archive
            .write(visit(vec![exchange(&url, "text")]))
            .await
            .unwrap();
        ends.push(ArchiveEnd {
            file: archived.file,
            end: archived.end,
        });
    }
    assert_eq!(archive.close().await.unwrap(), ends[4]);
    (dir, ends)
}

#[tokio::test]
async fn visits_count_up_to_the_first_that_is_not_whole() {
    for max_file in [1 << 30, 1] {
        for lost in 0..5 {
            let (dir, ends) = five_visits(max_file).await;
            assert_eq!(
                whole_visits(&disk::SystemDisk, dir.path(), None, &ends).unwrap(),
                5
            );
            let path = locate(dir.path(), &ends[lost].file);
            let mut bytes = fs::read(&path).unwrap();
            bytes[usize::try_from(ends[lost].end).unwrap() - 20] ^= 1;
            fs::write(&path, &bytes).unwrap();
            assert_eq!(
                whole_visits(&disk::SystemDisk, dir.path(), None, &ends).unwrap(),
                lost
            );
            // The durable part is not read.
            let durable = Some(&ends[lost]);
            assert_eq!(
                whole_visits(&disk::SystemDisk, dir.path(), durable, &ends).unwrap(),
                5
            );
        }
    }
}

#[tokio::test]
async fn a_missing_durable_visit_is_a_fault() {
    let (dir, ends) = five_visits(1 << 30).await;
    let path = locate(dir.path(), &ends[0].file);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..usize::try_from(ends[2].end).unwrap() - 1]).unwrap();
    let fault = whole_visits(&disk::SystemDisk, dir.path(), Some(&ends[2]), &ends).unwrap_err();
    assert!(matches!(fault, SinkFault::TooShort { .. }), "{fault:?}");
    assert_eq!(
        whole_visits(&disk::SystemDisk, dir.path(), Some(&ends[1]), &ends).unwrap(),
        2
    );
    fs::remove_file(&path).unwrap();
    let fault = whole_visits(&disk::SystemDisk, dir.path(), Some(&ends[1]), &ends).unwrap_err();
    assert!(matches!(fault, SinkFault::Missing { .. }), "{fault:?}");
    assert_eq!(
        whole_visits(&disk::SystemDisk, dir.path(), None, &ends).unwrap(),
        0
    );
}
