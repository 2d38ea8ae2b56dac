//! The journal on a disk that fails, is full, or loses its power.

use std::collections::BTreeSet;

use proptest::prelude::*;
use testkit::{CallKind, Failure, FaultyDisk, Plan};

use super::*;
use crate::fixtures::link;
use crate::segment::Replay;

const KEY: HashKey = HashKey::new(0x0123_4567_89ab_cdef);
/// Small, so that a test fills many.
const SEGMENT: u64 = 200;

struct Machine {
    directory: tempfile::TempDir,
    disk: Arc<FaultyDisk>,
}

impl Machine {
    fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let disk = Arc::new(FaultyDisk::new(directory.path(), seed));
        Self { directory, disk }
    }

    fn open(&self) -> Result<Journal, StoreFault> {
        Journal::open(self.disk.clone(), self.directory.path(), KEY, SEGMENT)
    }

    /// Returns the numbers of the records that are read back, in order.
    fn found(&self) -> Vec<u64> {
        let mut replay = Replay::open(self.directory.path(), 0).unwrap();
        let mut found = Vec::new();
        while let Some((_, record)) = replay.next_record().unwrap() {
            let Record::Discovered { first, .. } = record else {
                panic!("{record:?}");
            };
            found.push(first);
        }
        found
    }

    /// Fails the power, reopens the journal and returns the numbers of its records.
    fn found_after_power_cut(&self, seed: u64) -> Vec<u64> {
        self.disk.power_cut(seed).unwrap();
        self.disk.power_on();
        let journal = self.open().unwrap();
        let found = self.found();
        journal.append(&record(1_000)).unwrap();
        let more = self.found();
        assert_eq!(
            (&more[..found.len()], &more[found.len()..]),
            (&found[..], &[1_000][..])
        );
        found
    }
}

fn record(number: u64) -> Record {
    Record::Discovered {
        first: number,
        finds: vec![link(&format!("http://a.test/{number}"), 1)],
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

fn is_full(fault: &StoreFault) -> bool {
    let StoreFault::File { source, .. } = fault else {
        return false;
    };
    DiskErrorKind::of(source) == DiskErrorKind::Full
}

#[test]
fn a_write_that_finds_no_room_is_cut_off_and_may_be_repeated_once_there_is_room() {
    for budget in 0..600 {
        let machine = Machine::new(budget);
        let journal = machine.open().unwrap();
        machine.disk.set_budget(Some(36 + budget));
        let mut written = Vec::new();
        for number in 0..12 {
            if let Err(fault) = journal.append(&record(number)) {
                assert!(is_full(&fault), "{fault}");
                assert_eq!(machine.found(), written, "nothing torn is left");
                assert!(
                    is_full(&journal.append(&record(number)).unwrap_err()),
                    "still"
                );
                machine.disk.set_budget(None);
                journal.append(&record(number)).unwrap();
            }
            written.push(number);
        }
        assert_eq!(machine.found(), written, "a disk of {budget} bytes");
    }
}

#[test]
fn a_failed_cut_on_a_full_disk_poisons_the_journal() {
    let machine = Machine::new(1);
    let journal = machine.open().unwrap();
    machine
        .disk
        .fail(Plan::once(1, Failure::NoSpace).of_kind(CallKind::Append));
    machine
        .disk
        .fail(Plan::once(1, Failure::Broken).of_kind(CallKind::SetLength));
    assert!(is_full(&journal.append(&record(0)).unwrap_err()));
    assert!(matches!(
        journal.append(&record(0)),
        Err(StoreFault::Poisoned(_))
    ));
}

#[test]
fn any_other_failure_of_a_write_poisons_for_good_and_leaves_whole_frames() {
    for failure in [Failure::Broken, Failure::ReadOnly] {
        let machine = Machine::new(1);
        let journal = machine.open().unwrap();
        journal.append(&record(0)).unwrap();
        machine
            .disk
            .fail(Plan::once(1, failure).of_kind(CallKind::Append));
        assert!(matches!(
            journal.append(&record(1)),
            Err(StoreFault::File { .. })
        ));
        for _ in 0..2 {
            assert!(matches!(
                journal.append(&record(1)),
                Err(StoreFault::Poisoned(_))
            ));
            let synced = runtime().block_on(journal.sync(Position::MAX));
            assert!(matches!(synced, Err(StoreFault::Poisoned(_))));
        }
        assert_eq!(machine.found(), [0]);
        drop(journal);
        machine.open().unwrap().append(&record(1)).unwrap();
        assert_eq!(machine.found(), [0, 1]);
    }
}

#[test]
fn a_sync_that_fails_is_never_repeated_whatever_the_reason() {
    for failure in [Failure::Broken, Failure::NoSpace, Failure::ReadOnly] {
        let machine = Machine::new(1);
        let journal = machine.open().unwrap();
        let end = journal.append(&record(0)).unwrap();
        machine
            .disk
            .fail(Plan::once(1, failure).of_kind(CallKind::Sync));
        let count = |machine: &Machine| {
            let calls = machine.disk.calls();
            calls
                .iter()
                .filter(|call| call.kind == CallKind::Sync)
                .count()
        };
        let before = count(&machine);
        assert!(matches!(
            runtime().block_on(journal.sync(end)),
            Err(StoreFault::File { .. })
        ));
        for _ in 0..2 {
            assert!(matches!(
                runtime().block_on(journal.sync(end)),
                Err(StoreFault::Poisoned(_))
            ));
            assert!(matches!(
                journal.append(&record(1)),
                Err(StoreFault::Poisoned(_))
            ));
            assert!(matches!(
                journal.mark(),
                Err(StoreFault::Poisoned(_)) | Ok(())
            ));
        }
        assert_eq!(count(&machine), before + 1);
        assert!(journal.durable() < end);
    }
}

/// Appends sixteen records over several segments, every third synced, until the first failure.
/// Returns those acknowledged as durable, and those tried.
fn story(machine: &Machine, retry: bool) -> (Vec<u64>, Vec<u64>) {
    let (mut durable, mut tried) = (Vec::new(), Vec::new());
    let Ok(journal) = machine.open() else {
        return (durable, tried);
    };
    let runtime = runtime();
    for number in 0..16 {
        tried.push(number);
        let Ok(end) = repeated(retry, || journal.append(&record(number))) else {
            break;
        };
        if number % 3 == 2 {
            if runtime.block_on(journal.sync(end)).is_err()
                || repeated(retry, || journal.mark()).is_err()
            {
                break;
            }
            durable = (0..=number).collect();
        }
    }
    (durable, tried)
}

/// Calls, and calls again if there was no space.
fn repeated<T>(retry: bool, call: impl Fn() -> Result<T, StoreFault>) -> Result<T, StoreFault> {
    call().or_else(|fault| {
        if retry && is_full(&fault) {
            call()
        } else {
            Err(fault)
        }
    })
}

#[test]
fn acknowledged_records_survive_any_failing_call_and_any_power_cut() {
    let whole = Machine::new(0);
    story(&whole, false);
    let calls = whole.disk.count();
    assert!(calls > 40, "{calls}");
    for number in 1..=calls + 1 {
        for failure in [Failure::Broken, Failure::NoSpace] {
            for seed in 0..3 {
                let machine = Machine::new(seed);
                machine.disk.fail(Plan::from(number, failure));
                let (durable, tried) = story(&machine, false);
                let found = machine.found_after_power_cut(seed ^ number);
                let context = format!("call {number}: {durable:?} durable, {found:?} found");
                assert!(found.starts_with(&durable), "{context}");
                assert!(tried.starts_with(&found), "{context}");
            }
        }
    }
}

#[test]
fn a_write_that_finds_no_room_once_loses_nothing() {
    let whole = Machine::new(0);
    story(&whole, false);
    for kind in [CallKind::Append, CallKind::Create] {
        let calls = whole.disk.calls();
        let count = calls.iter().filter(|call| call.kind == kind).count() as u64;
        // The first call is the opening's, which is not repeated.
        for number in 2..=count {
            let machine = Machine::new(number);
            machine
                .disk
                .fail(Plan::once(number, Failure::NoSpace).of_kind(kind));
            story(&machine, true);
            assert_eq!(
                machine.found(),
                (0..16).collect::<Vec<_>>(),
                "{kind:?} {number}"
            );
        }
    }
}

#[test]
fn a_failing_sync_reports_no_record_of_any_worker_durable_that_is_not() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .build()
        .unwrap();
    for failing in 1..12 {
        let machine = Machine::new(failing);
        let journal = Arc::new(machine.open().unwrap());
        machine
            .disk
            .fail(Plan::from(failing, Failure::Broken).of_kind(CallKind::Sync));
        let acknowledged: BTreeSet<u64> = runtime.block_on(async {
            let mut workers = tokio::task::JoinSet::new();
            for worker in 0..16_u64 {
                let journal = Arc::clone(&journal);
                workers.spawn(async move {
                    let mut acknowledged = Vec::new();
                    for number in worker * 20..worker * 20 + 20 {
                        let Ok(end) = journal.append(&record(number)) else {
                            break;
                        };
                        if journal.sync(end).await.is_ok() {
                            acknowledged.push(number);
                        }
                    }
                    acknowledged
                });
            }
            workers.join_all().await.into_iter().flatten().collect()
        });
        assert!(acknowledged.len() < 320, "the failure was met");
        for seed in 0..4 {
            // Each power cut damages the remains of the one before; everything durable stays.
            let found: BTreeSet<u64> = machine.found_after_power_cut(seed).into_iter().collect();
            assert!(found.is_superset(&acknowledged), "sync {failing} failed");
        }
    }
}

proptest! {
    #[test]
    fn a_power_cut_at_any_moment_leaves_the_synced_records_and_a_beginning_of_the_rest(
        steps in proptest::collection::vec(0..6_u8, 0..60), seed in any::<u64>(),
    ) {
        let machine = Machine::new(seed);
        let journal = machine.open().unwrap();
        let runtime = runtime();
        let (mut written, mut durable) = (0, 0);
        for step in steps {
            match step {
                0 => {
                    runtime.block_on(journal.sync(journal.end())).unwrap();
                    durable = written;
                }
                1 => journal.mark().unwrap(),
                _ => {
                    journal.append(&record(written)).unwrap();
                    written += 1;
                }
            }
        }
        let found = machine.found_after_power_cut(seed);
        prop_assert!(found.len() as u64 >= durable, "{} of {durable}", found.len());
        prop_assert_eq!(&found, &(0..found.len() as u64).collect::<Vec<_>>());
    }
}
