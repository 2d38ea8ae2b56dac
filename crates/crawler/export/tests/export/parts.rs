//! Continuing a directory of Parquet files.

use std::path::Path;
use std::sync::Arc;

use disk::draft_of;
use disk::{Disk, SystemDisk};
use export::{ExportFault, Parts, SKETCHES, Visit};
use proptest::prelude::*;
use tempfile::tempdir;
use testkit::{Failure, FaultyDisk, Plan};

use crate::read_back::{ABOUT, RecordText, from_parquet, record_text, visit};

fn export(
    disk: Arc<dyn Disk>,
    directory: &Path,
    visits: &[Visit],
    rows_per_file: u64,
    go_on: bool,
) -> Result<(), ExportFault> {
    let mut parts = Parts::begin(disk, directory, SKETCHES, ABOUT, rows_per_file, go_on)?;
    for visit in visits {
        if let Some(mark) = parts.advance(visit)? {
            parts.write(&visit.fields())?;
            parts.wrote(mark)?;
        }
    }
    parts.finish()
}

fn system() -> Arc<dyn Disk> {
    Arc::new(SystemDisk)
}

/// Returns the records of all parts, and the number of parts.
fn there(directory: &Path) -> (Vec<RecordText>, usize) {
    let mut records = Vec::new();
    for number in 0.. {
        let path = directory.join(format!("part-{number:05}.parquet"));
        match std::fs::read(&path) {
            Ok(bytes) => records.extend(from_parquet(bytes)),
            Err(_) => return (records, number),
        }
    }
    unreachable!()
}

fn truth(visits: &[Visit]) -> Vec<RecordText> {
    visits
        .iter()
        .map(|visit| record_text(&visit.fields()))
        .collect()
}

fn some(count: u32) -> Vec<Visit> {
    (0..count).map(visit).collect()
}

#[test]
fn all_parts_but_the_last_are_full() {
    for (visits, parts) in [(0, 1), (1, 1), (3, 1), (4, 2), (6, 2), (7, 3)] {
        let directory = tempdir().unwrap();
        export(system(), directory.path(), &some(visits), 3, false).unwrap();
        assert_eq!(there(directory.path()), (truth(&some(visits)), parts));
    }
}

#[test]
fn parts_of_another_crawl_or_another_state_are_refused() {
    let directory = tempdir().unwrap();
    let here = directory.path();
    export(system(), here, &some(7), 3, false).unwrap();
    let before = there(here);
    let mut others = some(9);
    others[4].record.title = Some("told otherwise".to_owned());
    let foreign = |visits: &[Visit]| match export(system(), here, visits, 3, true) {
        Err(ExportFault::ForeignPart { path, .. }) => path.file_name().unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(foreign(&others), "part-00001.parquet");
    assert_eq!(foreign(&some(5)), "part-00001.parquet");
    assert!(matches!(
        export(system(), here, &some(9), 3, false),
        Err(ExportFault::Occupied(_))
    ));
    std::fs::write(here.join("part-00003.parquet"), b"PAR1 and then nothing").unwrap();
    assert_eq!(foreign(&some(9)), "part-00003.parquet");
    std::fs::remove_file(here.join("part-00003.parquet")).unwrap();
    assert_eq!(there(here), before);
}

#[test]
fn after_any_failed_call_parts_are_whole_and_can_be_continued() {
    let visits = some(8);
    for call in 1.. {
        let directory = tempdir().unwrap();
        let here = directory.path().join("parts");
        let disk = Arc::new(FaultyDisk::new(directory.path(), call));
        disk.fail(Plan::once(call, Failure::NoSpace));
        let failed = export(disk, &here, &visits, 3, false).is_err();
        let (records, _) = there(&here);
        assert_eq!(records, truth(&visits)[..records.len()], "call {call}");
        if !failed {
            assert!(call > 10, "{call} calls cannot be all");
            break;
        }
        export(system(), &here, &visits, 3, true).unwrap();
        assert_eq!(there(&here).0, truth(&visits), "call {call}");
        assert!(!draft_of(&here.join("part-00000.parquet")).exists());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn each_visit_is_written_once_and_in_order_across_continuations(
        ends in prop::collection::vec(0..40_u32, 1..6),
        rows_per_file in 1..12_u64,
    ) {
        let directory = tempdir().unwrap();
        let mut ends = ends;
        ends.sort_unstable();
        for end in &ends {
            export(system(), directory.path(), &some(*end), rows_per_file, true).unwrap();
            prop_assert_eq!(there(directory.path()).0, truth(&some(*end)));
        }
    }
}
