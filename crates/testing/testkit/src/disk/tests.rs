//! The faulty disk fails as planned, and keeps everything that was synced.

use std::collections::BTreeSet;
use std::io::ErrorKind;

use ::disk::DiskErrorKind;
use proptest::prelude::*;

use super::*;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns the directories that power cuts with many seeds leave, each after `prepare`.
fn wrecks(prepare: impl Fn(&FaultyDisk, &Path)) -> BTreeSet<Vec<(String, Vec<u8>)>> {
    (0..200)
        .map(|seed| {
            let directory = directory();
            let disk = FaultyDisk::new(directory.path(), seed);
            prepare(&disk, directory.path());
            disk.power_cut(seed).unwrap();
            content(directory.path())
        })
        .collect()
}

fn content(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|item| {
            let item = item.unwrap();
            (
                item.file_name().into_string().unwrap(),
                fs::read(item.path()).unwrap(),
            )
        })
        .collect();
    found.sort();
    found
}

fn names(wreck: &[(String, Vec<u8>)]) -> Vec<&str> {
    wreck.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn without_a_plan_a_faulty_disk_works_and_counts_calls() {
    let directory = directory();
    let path = directory.path().join("a");
    let disk = FaultyDisk::new(directory.path(), 1);
    disk.replace(&path, b"content").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"content");
    let kinds: Vec<_> = disk.calls().iter().map(|call| call.kind).collect();
    assert_eq!(
        kinds,
        [
            CallKind::Remove,
            CallKind::Create,
            CallKind::Append,
            CallKind::Sync,
            CallKind::Rename,
            CallKind::SyncDirectory
        ]
    );
    assert_eq!(disk.calls()[5].number, 6);
    assert_eq!(disk.calls()[5].path, directory.path());
    assert_eq!(disk.count(), 6);
}

#[test]
fn the_planned_call_fails_once_or_from_then_on() {
    let directory = directory();
    for (failure, expected) in [
        (Failure::NoSpace, DiskErrorKind::Full),
        (Failure::ReadOnly, DiskErrorKind::ReadOnly),
        (Failure::Broken, DiskErrorKind::Broken),
    ] {
        let disk = FaultyDisk::new(directory.path(), 1);
        disk.fail(Plan::once(2, failure));
        let fails: Vec<_> = (0..4)
            .map(|_| disk.sync_directory(directory.path()).err())
            .map(|error| error.map(|error| DiskErrorKind::of(&error)))
            .collect();
        assert_eq!(fails, [None, Some(expected), None, None]);
        disk.fail(Plan::from(6, failure));
        let fails: Vec<_> = (0..4)
            .map(|_| disk.sync_directory(directory.path()).is_err())
            .collect();
        assert_eq!(fails, [false, true, true, true]);
        disk.mend();
        disk.sync_directory(directory.path()).unwrap();
    }
}

#[test]
fn calls_are_counted_by_kind() {
    let directory = directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let file = disk.create(&directory.path().join("a")).unwrap();
    disk.fail(Plan::once(2, Failure::Broken).of_kind(CallKind::Sync));
    disk.sync(&file).unwrap();
    disk.append(&file, b"1").unwrap();
    disk.sync(&file).unwrap_err();
    disk.sync(&file).unwrap();
}

#[test]
fn a_failed_append_has_written_a_part_and_reports_its_length() {
    let lengths: BTreeSet<_> = (0..100)
        .map(|seed| {
            let directory = directory();
            let disk = FaultyDisk::new(directory.path(), seed);
            let file = disk.create(&directory.path().join("a")).unwrap();
            disk.append(&file, b"12").unwrap();
            disk.fail(Plan::once(1, Failure::Broken).of_kind(CallKind::Append));
            let short = disk.append(&file, b"3456").unwrap_err();
            assert_eq!(file.length().unwrap(), 2 + short.written);
            assert!(b"123456".starts_with(&fs::read(file.path()).unwrap()));
            short.written
        })
        .collect();
    assert_eq!(lengths, (0..=4).collect(), "all lengths happen");
}

#[test]
fn a_small_disk_accepts_writes_up_to_its_budget() {
    let directory = directory();
    fs::write(directory.path().join("somebody's"), [0; 6]).unwrap();
    let disk = FaultyDisk::new(directory.path(), 1);
    disk.set_budget(Some(10));
    let file = disk.create(&directory.path().join("a")).unwrap();
    let short = disk.append(&file, b"12345").unwrap_err();
    assert_eq!(
        (short.written, short.source.kind()),
        (4, ErrorKind::StorageFull)
    );
    assert_eq!(disk.free_space(directory.path()), Some(0));
    let refused = disk.create(&directory.path().join("b")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    assert_eq!(
        disk.set_length(&file, 5).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    disk.set_length(&file, 2).unwrap();
    disk.append(&file, b"34").unwrap();
    disk.set_budget(Some(12));
    disk.append(&file, b"56").unwrap();
    assert_eq!(fs::read(file.path()).unwrap(), b"123456");
    assert_eq!(disk.used(), 12);
}

#[test]
fn a_file_that_was_synced_with_its_directory_outlasts_every_power_cut() {
    let all = wrecks(|disk, root| {
        let file = disk.create(&root.join("a")).unwrap();
        disk.append(&file, b"synced").unwrap();
        disk.sync(&file).unwrap();
        disk.sync_directory(root).unwrap();
        disk.append(&file, b"ab").unwrap();
        assert_eq!(disk.durable_length(&root.join("a")), 6);
    });
    assert!(all.iter().all(|wreck| wreck[0].1.starts_with(b"synced")));
    let tails: BTreeSet<&[u8]> = all.iter().map(|wreck| &wreck[0].1[6..]).collect();
    for tail in [&b""[..], b"a", b"ab", b"\0\0", b"a\0"] {
        assert!(tails.contains(tail), "{tail:?} never happens");
    }
    assert!(
        tails
            .iter()
            .any(|tail| tail.len() == 2 && !b"ab\0".contains(&tail[1]))
    );
}

#[test]
fn a_new_name_that_was_not_synced_may_be_missing() {
    let all = wrecks(|disk, root| {
        let file = disk.create(&root.join("a")).unwrap();
        disk.append(&file, b"synced").unwrap();
        disk.sync(&file).unwrap();
    });
    let expected = [vec![], vec![("a".to_owned(), b"synced".to_vec())]];
    assert_eq!(all, expected.into());
}

#[test]
fn a_rename_is_atomic() {
    let all = wrecks(|disk, root| {
        fs::write(root.join("old"), "was there").unwrap();
        fs::write(root.join("new"), "in the way").unwrap();
        disk.rename(&root.join("old"), &root.join("new")).unwrap();
    });
    let file = |name: &str, bytes: &str| (name.to_owned(), bytes.as_bytes().to_vec());
    let undone = vec![file("new", "in the way"), file("old", "was there")];
    assert_eq!(all, [undone, vec![file("new", "was there")]].into());
}

#[test]
fn a_removal_that_was_not_synced_may_be_undone() {
    let all = wrecks(|disk, root| {
        fs::write(root.join("a"), "back").unwrap();
        disk.remove(&root.join("a")).unwrap();
    });
    assert_eq!(
        all,
        [vec![], vec![("a".to_owned(), b"back".to_vec())]].into()
    );
    let all = wrecks(|disk, root| {
        fs::write(root.join("a"), "gone").unwrap();
        disk.remove(&root.join("a")).unwrap();
        disk.sync_directory(root).unwrap();
    });
    assert_eq!(all, [vec![]].into());
}

#[test]
fn a_truncation_that_was_not_synced_may_be_undone() {
    let all = wrecks(|disk, root| {
        fs::write(root.join("a"), "123456").unwrap();
        let file = disk.open(&root.join("a")).unwrap();
        disk.set_length(&file, 4).unwrap();
        disk.set_length(&file, 2).unwrap();
        disk.append(&file, b"x").unwrap();
    });
    let found: BTreeSet<&[u8]> = all.iter().map(|wreck| &wreck[0].1[..]).collect();
    assert!(
        found.contains(&b"123456"[..]) && found.contains(&b"12x"[..]) && found.contains(&b"12"[..])
    );
    let all = wrecks(|disk, root| {
        fs::write(root.join("a"), "123456").unwrap();
        let file = disk.open(&root.join("a")).unwrap();
        disk.set_length(&file, 2).unwrap();
        disk.sync(&file).unwrap();
    });
    assert_eq!(all, [vec![("a".to_owned(), b"12".to_vec())]].into());
}

#[test]
fn data_lost_by_a_failed_sync_stays_lost_after_a_later_sync() {
    let all = wrecks(|disk, root| {
        let file = disk.create(&root.join("a")).unwrap();
        disk.sync_directory(root).unwrap();
        disk.append(&file, b"lost").unwrap();
        disk.fail(Plan::once(1, Failure::Broken).of_kind(CallKind::Sync));
        disk.sync(&file).unwrap_err();
        disk.append(&file, b" too").unwrap();
        disk.sync(&file).unwrap();
        assert_eq!(disk.durable_length(&root.join("a")), 0);
    });
    assert!(all.contains(&vec![("a".to_owned(), Vec::new())]));
}

#[test]
fn a_file_is_replaced_atomically() {
    let all = wrecks(|disk, root| {
        fs::write(root.join("a"), "old").unwrap();
        // The power fails before the last call.
        disk.fail(Plan::once(1, Failure::Broken).of_kind(CallKind::SyncDirectory));
        disk.replace(&root.join("a"), b"new").unwrap_err();
    });
    let contents: BTreeSet<&[u8]> = all
        .iter()
        .flatten()
        .filter(|(name, _)| name == "a")
        .map(|(_, bytes)| &bytes[..])
        .collect();
    assert_eq!(contents, [&b"new"[..], b"old"].into());
    assert!(all.iter().all(|wreck| names(wreck).contains(&"a")));
}

#[test]
fn without_power_every_call_fails_and_open_files_stay_closed() {
    let directory = directory();
    let disk = FaultyDisk::new(directory.path(), 1);
    let path = directory.path().join("a");
    let file = disk.create(&path).unwrap();
    disk.sync_directory(directory.path()).unwrap();
    disk.power_cut(1).unwrap();
    disk.open(&path).unwrap_err();
    disk.append(&file, b"1").unwrap_err();
    disk.power_on();
    disk.append(&file, b"1").unwrap_err();
    disk.sync(&file).unwrap_err();
    let file = disk.open(&path).unwrap();
    disk.append(&file, b"1").unwrap();
}

#[test]
fn foreign_files_are_kept_removed_restored_or_truncated() {
    let all: BTreeSet<_> = (0..200)
        .map(|seed| {
            let directory = directory();
            let theirs = directory.path().join("theirs");
            fs::create_dir(&theirs).unwrap();
            fs::write(theirs.join("a"), "before").unwrap();
            let disk = FaultyDisk::new(directory.path(), seed);
            disk.foreign(&theirs);
            disk.remember(&theirs).unwrap();
            fs::write(theirs.join("a"), "AFTERWARDS").unwrap();
            fs::write(theirs.join("b"), "new").unwrap();
            disk.power_cut(seed).unwrap();
            theirs.exists().then(|| content(&theirs))
        })
        .collect();
    let file = |name: &str, bytes: &str| (name.to_owned(), bytes.as_bytes().to_vec());
    assert!(all.contains(&None));
    assert!(all.contains(&Some(vec![file("a", "before")])));
    assert!(all.contains(&Some(vec![file("a", "AFTERWARDS"), file("b", "new")])));
    assert!(all.contains(&Some(vec![file("a", "AFTER"), file("b", "new")])));
}

/// A call on one of two files.
#[derive(Clone, Debug)]
enum Step {
    Make(bool),
    Append(bool, u8),
    Sync(bool),
    Cut(bool),
    Swap,
    Drop(bool),
    SyncNames,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        any::<bool>().prop_map(Step::Make),
        (any::<bool>(), 1..9_u8).prop_map(|(of, count)| Step::Append(of, count)),
        any::<bool>().prop_map(Step::Sync),
        any::<bool>().prop_map(Step::Cut),
        Just(Step::Swap),
        any::<bool>().prop_map(Step::Drop),
        Just(Step::SyncNames),
    ];
    proptest::collection::vec(step, 0..24)
}

proptest! {
    /// A power cut after a sync of everything changes nothing.
    #[test]
    fn after_a_sync_of_everything_a_power_cut_changes_nothing(
        steps in steps(),
        seed in any::<u64>(),
    ) {
        let directory = directory();
        let disk = FaultyDisk::new(directory.path(), seed);
        let path = |first: bool| directory.path().join(if first { "a" } else { "b" });
        for step in &steps {
            // Files that are not there refuse: that is part of it.
            let _refused = match step {
                Step::Make(of) => disk.create(&path(*of)).map(drop),
                Step::Append(of, count) => disk.open(&path(*of)).and_then(|file| {
                    Ok(disk.append(&file, &vec![*count; usize::from(*count)])?)
                }),
                Step::Sync(of) => disk.open(&path(*of)).and_then(|file| disk.sync(&file)),
                Step::Cut(of) => disk.open(&path(*of)).and_then(|file| {
                    let length = file.length()?;
                    disk.set_length(&file, length / 2)
                }),
                Step::Swap => disk.rename(&path(true), &path(false)),
                Step::Drop(of) => disk.remove(&path(*of)),
                Step::SyncNames => disk.sync_directory(directory.path()),
            };
        }
        for of in [true, false] {
            if let Ok(file) = disk.open(&path(of)) {
                disk.sync(&file).unwrap();
            }
        }
        disk.sync_directory(directory.path()).unwrap();
        let before = content(directory.path());
        disk.power_cut(seed).unwrap();
        prop_assert_eq!(content(directory.path()), before);
    }
}
