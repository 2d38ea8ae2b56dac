//! Files that get their names once they are complete, on failing disks.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use disk::draft_of;
use disk::{Disk, SystemDisk};
use export::{Beginning, Differs, WholeFile};
use proptest::prelude::*;
use tempfile::tempdir;
use testkit::{Failure, FaultyDisk, Plan};

fn write(
    disk: Arc<dyn Disk>,
    path: &Path,
    beginning: Beginning,
    pieces: &[&[u8]],
) -> std::io::Result<()> {
    let mut file = WholeFile::begin(disk, path, beginning)?;
    for piece in pieces {
        file.write_all(piece)?;
    }
    file.complete()
}

fn system() -> Arc<dyn Disk> {
    Arc::new(SystemDisk)
}

fn differs(result: std::io::Result<()>) -> Option<u64> {
    let error = result.err()?;
    Some(error.downcast::<Differs>().unwrap().line)
}

#[test]
fn after_any_failed_call_the_file_is_the_old_or_the_new_one_and_can_be_continued() {
    let (old, new) = (
        vec![b'o'; 600_000],
        [vec![b'o'; 600_000], vec![b'n'; 700_000]].concat(),
    );
    for beginning in [
        Beginning::Anew,
        Beginning::Compared,
        Beginning::Behind(600_000),
    ] {
        let written = if matches!(beginning, Beginning::Behind(_)) {
            &new[600_000..]
        } else {
            &new[..]
        };
        let pieces: Vec<&[u8]> = written.chunks(100_000).collect();
        for call in 1.. {
            let directory = tempdir().unwrap();
            let path = directory.path().join("rows");
            std::fs::write(&path, &old).unwrap();
            let disk = Arc::new(FaultyDisk::new(directory.path(), call));
            disk.foreign(&path);
            disk.fail(Plan::once(call, Failure::NoSpace));
            let failed = write(disk.clone(), &path, beginning, &pieces).is_err();
            let there = std::fs::read(&path).unwrap();
            assert!(there == new || failed && there == old, "call {call}");
            if !failed {
                assert!(call > 5, "{call} calls cannot be all");
                break;
            }
            write(system(), &path, Beginning::Compared, &[&new]).unwrap();
            assert!(std::fs::read(&path).unwrap() == new, "call {call}");
            assert!(!draft_of(&path).exists());
        }
    }
}

#[test]
fn after_a_power_cut_the_file_is_whole() {
    for seed in 0..20 {
        let directory = tempdir().unwrap();
        let path = directory.path().join("rows");
        let disk = Arc::new(FaultyDisk::new(directory.path(), seed));
        write(
            disk.clone(),
            &path,
            Beginning::Anew,
            &[&vec![b'x'; 300_000]],
        )
        .unwrap();
        disk.power_cut(seed).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 300_000]);
    }
}

#[test]
fn a_file_that_is_not_a_beginning_is_refused_and_unchanged() {
    let new = b"one\ntwo\nthree\n";
    for (there, line) in [
        (&b"one\ntoo\n"[..], 2),
        (b"zero\n", 1),
        (b"one\ntwo\nthree\nfour\n", 4),
        (b"one\ntwo\0\0x", 2),
    ] {
        for is_draft in [false, true] {
            let directory = tempdir().unwrap();
            let path = directory.path().join("rows");
            let place = if is_draft {
                draft_of(&path)
            } else {
                path.clone()
            };
            std::fs::write(&place, there).unwrap();
            let result = write(system(), &path, Beginning::Compared, &[new]);
            assert_eq!(differs(result), Some(line), "{there:?}");
            assert_eq!(std::fs::read(&place).unwrap(), there);
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn two_exports_do_not_write_one_file() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("rows");
    let mut first = WholeFile::begin(system(), &path, Beginning::Anew).unwrap();
    first.write_all(b"first").unwrap();
    let second = WholeFile::begin(system(), &path, Beginning::Anew)
        .err()
        .unwrap();
    assert_eq!(second.kind(), std::io::ErrorKind::ResourceBusy);
    first.complete().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"first");
}

proptest! {
    #[test]
    fn a_continued_export_equals_a_new_one(
        bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(0), any::<u8>()], 0..3000),
        share in 0..=1000_usize,
        zeros in 0..20_usize,
        is_draft in any::<bool>(),
        size in 1..500_usize,
    ) {
        let directory = tempdir().unwrap();
        let path = directory.path().join("rows");
        let mut there = bytes[..bytes.len() * share / 1000].to_vec();
        there.resize(there.len() + zeros, 0);
        std::fs::write(if is_draft { draft_of(&path) } else { path.clone() }, &there).unwrap();
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        let result = write(system(), &path, Beginning::Compared, &pieces);
        prop_assert!(result.is_ok(), "{:?}", result);
        // Zeros at the end of a complete file stay.
        if is_draft || there.len() <= bytes.len() {
            prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
        prop_assert!(!draft_of(&path).exists());
    }
}
