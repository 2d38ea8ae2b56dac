use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Cursor;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::embedded::database::{Batch, Database};

/// Copies the files of the directory as a killed process leaves them: all at one moment. The engine
/// goes on writing in threads of its own after a flush, and a copy into which it wrote has the
/// beginning of one moment and the end of another; one run of several hundred saw that.
fn copy(from: &Path, to: &Path) -> PathBuf {
    let mut copied = files_of(from);
    loop {
        let again = files_of(from);
        if copied == again {
            break;
        }
        copied = again;
    }
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir(to).unwrap();
    for (name, bytes) in copied {
        std::fs::write(to.join(name), bytes).unwrap();
    }
    to.join("db")
}

/// Returns the names and bytes of all files. A file may vanish while they are listed.
fn files_of(directory: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap());
    let files = entries.filter_map(|entry| {
        let bytes = std::fs::read(entry.path()).ok()?;
        Some((entry.file_name(), bytes))
    });
    files.collect()
}

/// Overwrites the same keys, so that segments are reused.
fn write(database: &Database, round: u32) {
    let tree = database.tree("tree").unwrap();
    for chunk in 0..8_u32 {
        let mut batch = Batch::default();
        for key in chunk * 16..chunk * 16 + 16 {
            let length = 500 + (key + round) % 50 * 40;
            batch.insert(&key.to_be_bytes(), &vec![round as u8; length as usize]);
        }
        tree.apply(batch).unwrap();
    }
    database.flush().unwrap();
}

fn segments(log: &[u8]) -> Vec<Header> {
    let headers = log.chunks(SEGMENT_BYTES).filter_map(|segment| {
        let header = segment.get(..HEADER_BYTES)?;
        Header::read(header.try_into().unwrap())
    });
    headers.collect()
}

#[test]
fn the_log_of_the_engine_is_whole_while_it_is_open_and_after_it_was_closed() {
    let directory = tempfile::tempdir().unwrap();
    let (path, killed) = (directory.path().join("db"), directory.path().join("killed"));
    let mut last = 0;
    for session in 0..6 {
        let database = Database::open(&path).unwrap();
        for round in 0..12 {
            write(&database, session * 12 + round);
            copy(&path, &killed);
            check(&killed).unwrap();
        }
        drop(Database::open(&killed).unwrap());
        drop(database);
        last = segments(&std::fs::read(path.join("db")).unwrap())
            .iter()
            .map(|header| header.lsn)
            .max()
            .unwrap();
    }
    let log = std::fs::read(path.join("db")).unwrap();
    assert!(
        last / SEGMENT > (log.len() / SEGMENT_BYTES) as Lsn,
        "no segment was used again"
    );
}

/// A bit flipped in the middle of the log cost the rest of its segment: a block of records was read
/// as it was before its last change, and nothing reported it.
#[test]
fn a_bit_flipped_in_the_durable_part_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let (path, killed) = (directory.path().join("db"), directory.path().join("killed"));
    let database = Database::open(&path).unwrap();
    for round in 0..12 {
        write(&database, round);
    }
    let log = std::fs::read(copy(&path, &killed)).unwrap();
    let durable = segments(&log)
        .iter()
        .map(|header| header.durable)
        .max()
        .unwrap();
    let mut found = 0;
    for (number, segment) in log.chunks(SEGMENT_BYTES).enumerate() {
        let Some(header) = Header::read(segment[..HEADER_BYTES].try_into().unwrap()) else {
            continue;
        };
        let used = (durable + 1 - header.lsn).clamp(0, SEGMENT - MAX_HEAD_BYTES as Lsn) as usize;
        // Every bit of the header, and arbitrary places of the messages.
        let places = (0..HEADER_BYTES).chain((HEADER_BYTES..used).step_by(4_999));
        for place in places {
            let mut damaged = log.clone();
            damaged[number * SEGMENT_BYTES + place] ^= 1 << (place % 8);
            let damage = damage_in(&mut Cursor::new(&damaged), 0).unwrap();
            assert!(damage.is_some(), "{place} of segment {number}");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn a_tear_behind_the_durable_part_passes() {
    let directory = tempfile::tempdir().unwrap();
    let (path, killed) = (directory.path().join("db"), directory.path().join("killed"));
    let database = Database::open(&path).unwrap();
    for round in 0..12 {
        write(&database, round);
    }
    let log = std::fs::read(copy(&path, &killed)).unwrap();
    let durable = segments(&log)
        .iter()
        .map(|header| header.durable)
        .max()
        .unwrap();
    let torn = log
        .chunks(SEGMENT_BYTES)
        .enumerate()
        .filter_map(|(number, segment)| {
            let header = Header::read(segment[..HEADER_BYTES].try_into().unwrap())?;
            let behind = (durable + 1 - header.lsn).max(HEADER_BYTES as Lsn) as usize;
            (behind < segment.len()).then_some(number * SEGMENT_BYTES + behind)
        });
    let mut count = 0;
    for place in torn {
        let mut damaged = log.clone();
        damaged[place] ^= 1;
        let damage = damage_in(&mut Cursor::new(&damaged), 0).unwrap();
        assert_eq!(damage, None, "{place}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn numbers_are_read_as_the_engine_codes_them() {
    for (bytes, expected) in [
        (&[0][..], Some(0)),
        (&[240], Some(240)),
        (&[241, 0], Some(240)),
        (&[248, 255], Some(240 + 7 * 256 + 255)),
        (&[249, 0, 0], Some(2_288)),
        (&[249, 255, 255], Some(67_823)),
        (&[250, 1, 2, 3], Some(0x03_0201)),
        (
            &[255, 255, 255, 255, 255, 255, 255, 255, 255],
            Some(u64::MAX),
        ),
        (&[255, 0, 0], None),
        (&[], None),
    ] {
        assert_eq!(number(&mut &bytes[..]), expected, "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_log_or_damage(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), lsn in any::<i64>(),
        durable in any::<i64>(),
        snapshot in any::<i64>(),
    ) {
        let [lsn_bytes, durable_bytes] = [lsn, durable].map(|lsn| (lsn ^ Lsn::MAX).to_le_bytes());
        let mut log = [lsn_bytes, durable_bytes].concat();
        log.splice(..0, (!crc32fast::hash(&log)).to_le_bytes());
        log.extend(&bytes);
        damage_in(&mut Cursor::new(&log), snapshot).unwrap();
        damage_in(&mut Cursor::new(&bytes), snapshot).unwrap();
    }
}
