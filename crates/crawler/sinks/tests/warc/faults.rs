//! Faults of the machine: after the first, nothing more is written.

use std::path::Path;
use std::process::Command;

use sinks::{Sink, SinkFault, WarcArchive};

use crate::fixtures::{exchange, files, fresh, kinds, options, records_of, system, visit};
use sinks::warc::locate;

/// Set if this test runs again under a limit on the size of files.
const LIMITED: &str = "SINKS_TEST_LIMITED_DIR";

#[tokio::test]
async fn a_file_that_may_not_grow_poisons_the_archive_and_keeps_its_whole_records() {
    let Some(dir) = std::env::var_os(LIMITED) else {
        return run_limited(
            "faults::a_file_that_may_not_grow_poisons_the_archive_and_keeps_its_whole_records",
        );
    };
    let dir = Path::new(&dir);
    let archive = fresh(dir);
    let kept = archive
        .write(visit(vec![exchange("http://example.org/a", noise(10_000))]))
        .await
        .unwrap();
    let full = archive
        .write(visit(vec![exchange(
            "http://example.org/b",
            noise(100_000),
        )]))
        .await;
    assert!(matches!(full, Err(SinkFault::Full { .. })), "{full:?}");
    for _ in 0..2 {
        // A small page would still fit.
        let after = archive
            .write(visit(vec![exchange("http://example.org/c", "small")]))
            .await;
        assert!(
            matches!(after, Err(SinkFault::Poisoned { .. })),
            "{after:?}"
        );
        assert!(matches!(
            archive.sync().await,
            Err(SinkFault::Poisoned { .. })
        ));
        assert!(matches!(
            archive.close().await,
            Err(SinkFault::Poisoned { .. })
        ));
    }
    let path = locate(dir, &kept.file);
    assert_eq!(
        std::fs::metadata(&path).unwrap().len(),
        kept.end,
        "the torn write was cut back"
    );
    assert_eq!(
        kinds(&records_of(&path)),
        ["warcinfo", "response", "request"]
    );
}

/// Returns incompressible bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// Runs one test of this program again with files of at most 32 blocks of 512 or 1,024 bytes. The
/// signal of the limit is ignored, so that writes return an error.
fn run_limited(test: &str) {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"trap '' XFSZ && ulimit -f "$2" && exec "$0" --exact "$1""#;
    let run = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args([test, "32"])
        .env(LIMITED, dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn a_path_that_is_not_a_directory_is_a_fault_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    for place in [file.clone(), file.join("below")] {
        let fault = WarcArchive::open(system(), &place, options(), None)
            .err()
            .unwrap();
        assert!(
            matches!(
                fault,
                SinkFault::Io {
                    doing: "create",
                    ..
                }
            ),
            "{fault:?}"
        );
        assert!(
            fault.to_string().contains(place.to_str().unwrap()),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_begun_poisons_the_archive() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("archive");
    let archive = WarcArchive::open(
        system(),
        &inner,
        sinks::ArchiveOptions {
            max_file: 1,
            ..options()
        },
        None,
    )
    .unwrap();
    let page = || visit(vec![exchange("http://example.org/a", "x")]);
    archive.write(page()).await.unwrap();
    std::fs::rename(&inner, dir.path().join("elsewhere")).unwrap();
    assert!(matches!(
        archive.write(page()).await,
        Err(SinkFault::Io {
            doing: "create",
            ..
        })
    ));
    std::fs::rename(dir.path().join("elsewhere"), &inner).unwrap();
    assert!(
        matches!(archive.write(page()).await, Err(SinkFault::Poisoned { .. })),
        "not retried"
    );
    assert_eq!(files(&inner).len(), 1);
}

#[tokio::test]
async fn a_closed_archive_refuses_writes() {
    let dir = tempfile::tempdir().unwrap();
    let archive = fresh(dir.path());
    archive.sync().await.unwrap();
    archive.close().await.unwrap();
    archive.close().await.unwrap();
    let late = archive
        .write(visit(vec![exchange("http://example.org/a", "x")]))
        .await;
    assert!(matches!(late, Err(SinkFault::Closed { .. })));
}
