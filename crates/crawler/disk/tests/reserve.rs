//! A disk that is full: what is in flight ends well, once.
#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier};

use disk::{Disk, DiskFile, Reserve, ReservedDisk, Restored, ShortWrite};
use testkit::{CallKind, Failure, FaultyDisk, Plan};

const RESERVE: u64 = 100;
const LOW_WATER: u64 = 50;

struct Machine {
    directory: tempfile::TempDir,
    broken: Arc<FaultyDisk>,
    disk: ReservedDisk,
}

/// A disk with `space` bytes in addition to the reserve.
fn machine(space: u64) -> Machine {
    let directory = tempfile::tempdir().unwrap();
    let broken = Arc::new(FaultyDisk::new(directory.path(), 7));
    broken.set_budget(Some(RESERVE + space));
    let reserve = Reserve::take(
        broken.clone(),
        &directory.path().join("reserve"),
        RESERVE,
        LOW_WATER,
    )
    .unwrap();
    let disk = ReservedDisk::new(broken.clone(), Arc::new(reserve));
    Machine {
        directory,
        broken,
        disk,
    }
}

impl Machine {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

#[test]
fn an_append_that_finds_no_room_is_repeated_and_spends_the_reserve() {
    let machine = machine(10);
    let file = machine.disk.create(&machine.path("a")).unwrap();
    machine.disk.append(&file, &[1; 10]).unwrap();
    assert!(!machine.disk.reserve().unwrap().is_spent());
    let bytes: Vec<u8> = (0..60).collect();
    machine.disk.append(&file, &bytes).unwrap();
    assert!(machine.disk.reserve().unwrap().is_spent());
    let found = std::fs::read(machine.path("a")).unwrap();
    assert_eq!(
        (&found[..10], &found[10..]),
        (&[1; 10][..], &bytes[..]),
        "each byte once"
    );

    // The reserve is spent: from here on, full is full.
    let short = machine.disk.append(&file, &[2; 50]).unwrap_err();
    assert_eq!(
        (short.written, short.source.kind()),
        (40, ErrorKind::StorageFull)
    );
}

#[test]
fn a_short_write_counts_the_bytes_before_and_after_the_reserve_was_freed() {
    let machine = machine(10);
    let file = machine.disk.create(&machine.path("a")).unwrap();
    let short = machine.disk.append(&file, &[3; 200]).unwrap_err();
    assert_eq!(short.written, 110);
    assert_eq!(file.length().unwrap(), 110);
}

#[test]
fn a_new_file_is_created_in_the_space_of_the_reserve() {
    let machine = machine(0);
    machine.disk.create(&machine.path("a")).unwrap();
    assert!(machine.disk.reserve().unwrap().is_spent());
}

#[test]
fn the_reserve_is_taken_again_only_above_the_low_water_mark() {
    let machine = machine(0);
    let reserve = machine.disk.reserve().unwrap();
    let file = machine.disk.create(&machine.path("a")).unwrap();
    machine.disk.append(&file, &[1; 20]).unwrap();
    for (budget, expected) in [
        (20 + RESERVE, Restored::NoSpace),
        (20 + RESERVE + LOW_WATER - 1, Restored::NoSpace),
        (20 + RESERVE + LOW_WATER, Restored::Held),
        (20 + RESERVE + LOW_WATER, Restored::Held),
    ] {
        machine.broken.set_budget(Some(budget));
        assert_eq!(reserve.restore().unwrap(), expected);
        assert_eq!(reserve.is_spent(), expected == Restored::NoSpace);
        assert_eq!(machine.path("reserve").exists(), expected == Restored::Held);
    }
}

#[test]
fn without_room_the_reserve_starts_out_spent_and_leaves_no_part_of_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let broken = Arc::new(FaultyDisk::new(directory.path(), 7));
    broken.set_budget(Some(RESERVE - 1));
    let path = directory.path().join("reserve");
    let reserve = Reserve::take(broken.clone(), &path, RESERVE, 0).unwrap();
    assert!(reserve.is_spent() && !path.exists());
    broken.set_budget(None);
    assert_eq!(reserve.restore().unwrap(), Restored::Held);
}

#[test]
fn a_reserve_that_cannot_be_written_for_another_reason_is_an_error() {
    for failure in [Failure::Broken, Failure::ReadOnly] {
        let directory = tempfile::tempdir().unwrap();
        let broken = Arc::new(FaultyDisk::new(directory.path(), 7));
        broken.fail(Plan::from(2, failure));
        let path = directory.path().join("reserve");
        assert!(Reserve::take(broken, &path, RESERVE, 0).is_err());
    }
}

#[test]
fn a_sync_that_finds_no_room_is_not_repeated() {
    let machine = machine(1000);
    let file = machine.disk.create(&machine.path("a")).unwrap();
    let syncs = |machine: &Machine| {
        let calls = machine.broken.calls();
        calls
            .iter()
            .filter(|call| call.kind == CallKind::Sync)
            .count()
    };
    let before = syncs(&machine);
    machine
        .broken
        .fail(Plan::once(1, Failure::NoSpace).of_kind(CallKind::Sync));
    assert_eq!(
        machine.disk.sync(&file).unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    assert_eq!(syncs(&machine), before + 1);
    assert!(!machine.disk.reserve().unwrap().is_spent());
}

#[test]
fn a_file_size_limit_and_a_broken_disk_do_not_spend_the_reserve() {
    for failure in [Failure::TooLong, Failure::Broken, Failure::ReadOnly] {
        let machine = machine(1000);
        let file = machine.disk.create(&machine.path("a")).unwrap();
        machine
            .broken
            .fail(Plan::once(1, failure).of_kind(CallKind::Append));
        machine.disk.append(&file, &[1; 10]).unwrap_err();
        assert!(!machine.disk.reserve().unwrap().is_spent(), "{failure:?}");
    }
}

/// A disk on which two find out that it is full before either of them can do anything about it.
#[derive(Debug)]
struct Together {
    disk: Arc<FaultyDisk>,
    both_know: Barrier,
    /// Failures that are waited for still.
    waiting: AtomicUsize,
}

impl Disk for Together {
    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite> {
        let appended = self.disk.append(file, bytes);
        let counts = |left: usize| left.checked_sub(1);
        if appended.is_err() && self.waiting.fetch_update(SeqCst, SeqCst, counts).is_ok() {
            self.both_know.wait();
        }
        appended
    }

    fn create(&self, path: &Path) -> io::Result<DiskFile> {
        self.disk.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<DiskFile> {
        self.disk.open(path)
    }

    fn sync(&self, file: &DiskFile) -> io::Result<()> {
        self.disk.sync(file)
    }

    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()> {
        self.disk.set_length(file, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn create_directories(&self, path: &Path) -> io::Result<()> {
        self.disk.create_directories(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_directory(path)
    }

    fn free_space(&self, path: &Path) -> Option<u64> {
        self.disk.free_space(path)
    }
}

/// The one that came second found the reserve spent and gave up: a full disk ended crawls whose
/// bytes would have fitted.
#[test]
fn two_calls_that_find_the_disk_full_before_the_reserve_is_freed_both_get_room() {
    let directory = tempfile::tempdir().unwrap();
    let broken = Arc::new(FaultyDisk::new(directory.path(), 7));
    broken.set_budget(Some(RESERVE));
    let reserve = Reserve::take(
        broken.clone(),
        &directory.path().join("reserve"),
        RESERVE,
        LOW_WATER,
    )
    .unwrap();
    let together = Together {
        disk: broken,
        both_know: Barrier::new(2),
        waiting: AtomicUsize::new(2),
    };
    let disk = ReservedDisk::new(Arc::new(together), Arc::new(reserve));
    std::thread::scope(|scope| {
        for name in ["a", "b"] {
            let (disk, path) = (&disk, directory.path().join(name));
            scope.spawn(move || {
                let file = disk.create(&path).unwrap();
                disk.append(&file, &[1; 10]).unwrap();
            });
        }
    });
    for name in ["a", "b"] {
        assert_eq!(std::fs::read(directory.path().join(name)).unwrap(), [1; 10]);
    }
}

#[test]
fn of_many_concurrent_appends_to_a_full_disk_those_that_fit_succeed() {
    let machine = machine(0);
    // Each of them needs a tenth of what the reserve frees.
    std::thread::scope(|scope| {
        for number in 0..10_u8 {
            let machine = &machine;
            scope.spawn(move || {
                let path = machine.path(&number.to_string());
                let file = machine.disk.create(&path).unwrap();
                machine.disk.append(&file, &[number; 10]).unwrap();
            });
        }
    });
    for number in 0..10_u8 {
        assert_eq!(
            std::fs::read(machine.path(&number.to_string())).unwrap(),
            [number; 10]
        );
    }
    assert!(machine.disk.reserve().unwrap().is_spent());
}
