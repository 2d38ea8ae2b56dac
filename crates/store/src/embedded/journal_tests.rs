//! The journal is read back as it was written, or says why not.

use neardup::{Likeness, Portrait};
use proptest::prelude::*;
use web::Timestamp;

use super::super::segment::{HEADER_BYTES, Replay, record_at, segments};
use super::*;
use crate::contract::{find, row};
use crate::{Fate, Lease, Page};

const KEY: HashKey = HashKey::new(0x0123_4567_89ab_cdef);

fn journal(directory: &Path, segment_bytes: u64) -> Journal {
    Journal::open(directory, KEY, segment_bytes).unwrap()
}

fn record(number: u64) -> Record {
    Record::Discovered {
        first: number,
        finds: vec![find(&format!("http://a.test/{number}"), 1)],
    }
}

fn all(directory: &Path) -> Result<Vec<Record>, StoreFault> {
    let mut replay = Replay::open(directory, 0)?;
    let mut found = Vec::new();
    while let Some((_, record)) = replay.next_record()? {
        found.push(record);
    }
    Ok(found)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    segments(directory)
        .unwrap()
        .into_iter()
        .map(|(_, path)| path)
        .collect()
}

#[test]
fn records_come_back_in_order_over_many_segments_and_from_any_position() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    let ends: Vec<_> = (0..20)
        .map(|number| journal.append(&record(number)).unwrap())
        .collect();
    assert!(files(directory.path()).len() > 3);
    assert_eq!(
        all(directory.path()).unwrap(),
        (0..20).map(record).collect::<Vec<_>>()
    );
    for (number, end) in ends.iter().enumerate() {
        let mut replay = journal.replay(*end).unwrap();
        let next = replay.next_record().unwrap().map(|(_, record)| record);
        assert_eq!(
            next,
            (number < 19).then(|| record(number as u64 + 1)),
            "after record {number}"
        );
    }
}

#[test]
fn a_record_is_read_where_a_replay_came_by_it() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    let mut position = 0;
    let begins: Vec<_> = (0..20)
        .map(|number| std::mem::replace(&mut position, journal.append(&record(number)).unwrap()))
        .collect();
    let segments = segments(directory.path()).unwrap();
    for (number, begin) in (0..20).zip(begins) {
        assert_eq!(record_at(&segments, begin).unwrap(), Some(record(number)));
    }
    assert_eq!(
        record_at(&segments, position).unwrap(),
        None,
        "nothing is there yet"
    );
    assert_eq!(record_at(&[], 0).unwrap(), None);
}

#[test]
fn a_reopened_journal_keeps_its_key_and_goes_on_where_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let end = journal(directory.path(), 1 << 20).append(&record(0)).unwrap();
    let again = Journal::open(directory.path(), HashKey::ZERO, 1 << 20).unwrap();
    assert_eq!(again.key(), KEY);
    assert_eq!(again.end(), end);
    again.append(&record(1)).unwrap();
    assert_eq!(all(directory.path()).unwrap(), [record(0), record(1)]);
}

#[test]
fn a_torn_write_of_any_length_is_cut_off_and_nothing_before_it_is_lost() {
    let written = tempfile::tempdir().unwrap();
    let journal = journal(written.path(), 1 << 20);
    let whole = journal.append(&record(0)).unwrap();
    let end = journal.append(&record(1)).unwrap();
    let bytes = std::fs::read(&files(written.path())[0]).unwrap();
    for length in 0..end {
        for zeros in [0, 40] {
            let torn = tempfile::tempdir().unwrap();
            let path = torn.path().join(format!("{:020}.log", 0));
            let mut padded = bytes[..length as usize].to_vec();
            padded.resize(length as usize + zeros, 0);
            // Zeros that happen to complete the header are no torn header: that file system lied about the order.
            if length < HEADER_BYTES as u64 && padded.len() >= HEADER_BYTES {
                continue;
            }
            std::fs::write(&path, &padded).unwrap();
            let kept = [whole, end]
                .iter()
                .filter(|end| padded.starts_with(&bytes[..**end as usize]))
                .count();
            let expected: Vec<_> = (0..kept as u64).map(record).collect();
            let reopened = Journal::open(torn.path(), KEY, 1 << 20);
            // A head that is cut in its middle and followed by zeros cannot be told from damage: it is reported.
            match reopened {
                Ok(reopened) => {
                    assert_eq!(
                        all(torn.path()).unwrap(),
                        expected,
                        "cut at {length}, {zeros} zeros"
                    );
                    reopened.append(&record(7)).unwrap();
                    assert_eq!(all(torn.path()).unwrap().last(), Some(&record(7)));
                }
                Err(StoreFault::Damaged { .. }) => assert!(zeros > 0, "cut at {length}"),
                Err(other) => panic!("cut at {length}: {other}"),
            }
        }
    }
}

#[test]
fn a_segment_that_is_missing_in_the_middle_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    for number in 0..20 {
        journal.append(&record(number)).unwrap();
    }
    std::fs::remove_file(&files(directory.path())[1]).unwrap();
    assert!(matches!(all(directory.path()), Err(StoreFault::Damaged { .. })));
}

#[test]
fn a_journal_of_another_format_is_refused_by_name_and_number() {
    let directory = tempfile::tempdir().unwrap();
    drop(journal(directory.path(), 1 << 20));
    let path = &files(directory.path())[0];
    let mut bytes = std::fs::read(path).unwrap();
    bytes[8] = 99;
    std::fs::write(path, bytes).unwrap();
    let refused = Journal::open(directory.path(), KEY, 1 << 20).err().unwrap();
    assert!(
        refused
            .to_string()
            .ends_with("was written in format 99, this program reads format 2"),
        "{refused}"
    );
}

#[tokio::test]
async fn one_sync_makes_durable_what_many_have_written() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 1 << 20);
    let first = journal.append(&record(0)).unwrap();
    let second = journal.append(&record(1)).unwrap();
    assert!(journal.durable() < first);
    journal.sync(first).await.unwrap();
    assert_eq!(journal.durable(), second);
}

/// Bytes on disk are promises: a change of this test's file needs a new `FORMAT`.
#[test]
fn the_golden_journal_is_still_written_and_read() {
    let golden = include_str!("../../golden/journal.hex");
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 1 << 20);
    for record in golden_records() {
        journal.append(&record).unwrap();
    }
    let bytes = std::fs::read(&files(directory.path())[0]).unwrap();
    let hex: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    assert_eq!(
        hex.join("\n"),
        golden.trim(),
        "the bytes on disk changed: raise FORMAT and make the file anew"
    );
    assert_eq!(all(directory.path()).unwrap(), golden_records());
}

fn golden_records() -> Vec<Record> {
    let seed = find("http://a.test/", 0);
    let entry = super::super::record::Entry {
        sequence: 3,
        find: seed.clone(),
        attempts: 2,
    };
    let lease = Lease {
        url: seed.url.clone(),
        depth: 0,
        via: None,
        attempts: 0,
        sequence: 3,
    };
    vec![
        Record::Begun {
            at: Timestamp::from_millis(1),
            features: "word:1".to_owned(),
        },
        Record::Discovered {
            first: 0,
            finds: vec![seed.clone()],
        },
        Record::Forgotten { page: seed.url.key() },
        Record::Postponed {
            entry,
            at: Timestamp::from_millis(2),
        },
        Record::SeedAdopted {
            url: seed.url.clone(),
        },
        Record::LetThrough(Box::new(let_through(&seed.url))),
        Record::Settled {
            sequence: 3,
            row: Box::new(row(&lease, Fate::NearDuplicate)),
            archived: None,
            first: 1,
            finds: Vec::new(),
            reached: Vec::new(),
        },
    ]
}

/// Without a text: what a text looks like has golden files of its own.
fn let_through(url: &web::PageUrl) -> super::super::record::LetThrough {
    let page = Page {
        url: url.clone(),
        final_url: url.clone(),
        at: Timestamp::from_millis(4),
    };
    super::super::record::LetThrough {
        page: page.clone(),
        portrait: Portrait {
            payload: 77,
            text: None,
        },
        of: page,
        earlier: true,
        likeness: Likeness::SameText,
        number: 2,
    }
}

proptest! {
    #[test]
    fn a_flipped_bit_anywhere_is_never_taken_for_other_records(at in 0..10_000_usize, bit in 0..8_u32) {
        let directory = tempfile::tempdir().unwrap();
        let journal = journal(directory.path(), 1 << 20);
        for number in 0..5 {
            journal.append(&record(number)).unwrap();
        }
        let path = &files(directory.path())[0];
        let mut bytes = std::fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        std::fs::write(path, &bytes).unwrap();
        let written: Vec<_> = (0..5).map(record).collect();
        match all(directory.path()) {
            // The last frame's content may be a torn write; every other flip must be reported.
            Ok(found) => prop_assert!(found == written[..4], "byte {at}: {} records", found.len()),
            Err(StoreFault::Damaged { .. } | StoreFault::Format { .. } | StoreFault::Setting { .. }) => {}
            Err(other) => prop_assert!(false, "byte {at}: {other}"),
        }
    }
}
