//! The group commit under many orders of events, which Shuttle chooses: the code is its own, only
//! the locks are Shuttle's.
//!
//! The model surrounds it as the journal does: with a head, where positions are given under a lock
//! and the first caller syncs a full segment, and with a disk that records what it must keep and
//! objects to wrong requests. (Burckhardt et al., "A Randomized Scheduler with Probabilistic
//! Guarantees of Finding Bugs", ASPLOS 2010.)

use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::future::block_on;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};
use tokio::sync::oneshot;

use super::*;

/// Orders of each kind for each story; they dominate the tests' time.
const ORDERS: usize = 250;

struct ShuttleLocks {
    state: shuttle::sync::Mutex<State>,
    exclusive: shuttle::sync::Mutex<()>,
    /// Reading it is a scheduling point.
    between: shuttle::sync::atomic::AtomicBool,
}

impl Locks for ShuttleLocks {
    fn state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.state.lock().unwrap());
        // Shuttle does not know tokio's `Notify`, which follows: without this read it would be one
        // step with the change.
        self.between.load(Ordering::SeqCst);
        changed
    }

    fn exclusive<T>(&self, fsync: impl FnOnce() -> T) -> T {
        let _exclusive = self.exclusive.lock().unwrap();
        fsync()
    }
}

/// The events of one run.
#[derive(Clone, Copy, Default)]
struct Story {
    workers: u64,
    /// Records that each worker appends and syncs.
    records: u64,
    /// Records of a full segment.
    segment: Option<u64>,
    /// The fdatasync that fails; the disk counts from 1.
    failing: Option<u64>,
    /// Every other worker drops its syncs at some moment.
    impatient: bool,
    /// Some leaders never sync, as when their runtime shuts down.
    halting: bool,
}

/// The simulated disk; its atomics order nothing, because everything runs on one thread.
#[derive(Default)]
struct SimulatedDisk {
    appended: AtomicU64,
    kept: AtomicU64,
    begun: AtomicU64,
    failed: AtomicU64,
    /// The fdatasync, counted from 1, by which each position was first kept.
    kept_by: Mutex<Vec<(Position, u64)>>,
}

impl SimulatedDisk {
    fn fsync(&self, failing: Option<u64>) -> io::Result<()> {
        assert_eq!(get(&self.failed), 0, "an fsync that failed is repeated");
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let covered = get(&self.appended);
        thread::yield_now();
        assert_eq!(get(&self.begun), number, "two fsyncs at once");
        if failing == Some(number) {
            self.failed.store(1, Ordering::Relaxed);
            return Err(io::Error::other("broken"));
        }
        self.kept.store(covered, Ordering::Relaxed);
        self.kept_by.lock().unwrap().push((covered, number));
        Ok(())
    }

    fn first_kept_by(&self, position: Position) -> u64 {
        let kept_by = self.kept_by.lock().unwrap();
        let first = kept_by.iter().find(|(covered, _)| *covered >= position);
        first.expect("it is durable").1
    }
}

fn get(number: &AtomicU64) -> u64 {
    number.load(Ordering::Relaxed)
}

struct Model {
    story: Story,
    /// The end of the journal, and the base of its last segment.
    tail: shuttle::sync::Mutex<(Position, Position)>,
    platter: SimulatedDisk,
    commit: Arc<GroupCommit<ShuttleLocks>>,
}

impl Model {
    fn new(story: Story) -> Arc<Self> {
        let locks = ShuttleLocks {
            state: shuttle::sync::Mutex::new(State::durable_to(0)),
            exclusive: shuttle::sync::Mutex::new(()),
            between: shuttle::sync::atomic::AtomicBool::new(false),
        };
        Arc::new(Self {
            story,
            tail: shuttle::sync::Mutex::new((0, 0)),
            platter: SimulatedDisk::default(),
            commit: Arc::new(GroupCommit::new(locks)),
        })
    }

    fn append(&self) -> Result<Position, StoreFault> {
        let mut tail = self.tail.lock().unwrap();
        self.commit.check_writable()?;
        if self
            .story
            .segment
            .is_some_and(|full| tail.0 - tail.1 >= full)
        {
            self.commit.fsync(Path::new(""), || self.fsync())?;
            tail.1 = tail.0;
            self.commit.reached(tail.0);
        }
        tail.0 += 1;
        self.platter.appended.store(tail.0, Ordering::Relaxed);
        Ok(tail.0)
    }

    fn fsync(&self) -> io::Result<()> {
        self.platter.fsync(self.story.failing)
    }

    async fn sync(self: &Arc<Self>, position: Position) -> Result<(), StoreFault> {
        let begun = get(&self.platter.begun);
        let result = self.wait_durable(position).await;
        let kept = get(&self.platter.kept);
        if result.is_ok() {
            assert!(
                kept >= position,
                "reported durable at {position}, kept is {kept}"
            );
            let Story {
                segment, halting, ..
            } = self.story;
            if segment.is_none() && !halting {
                let waited = self.platter.first_kept_by(position).saturating_sub(begun);
                assert!(waited <= 1, "one that was found in flight, and one more");
            }
        } else {
            assert_eq!(get(&self.platter.failed), 1, "nothing else stops it");
        }
        result
    }

    async fn wait_durable(self: &Arc<Self>, position: Position) -> Result<(), StoreFault> {
        loop {
            let leader = match self.commit.join(position).await {
                Role::Durable => return Ok(()),
                Role::Failed(fault) => return Err(fault),
                Role::Lead(leader) => leader,
            };
            if self.story.halting && chance(2) == 0 {
                drop(leader);
                continue;
            }
            let model = Arc::clone(self);
            let (sender, receiver) = oneshot::channel();
            thread::spawn(move || {
                // As in the journal.
                leader.lead(
                    |commit| model.lead(commit),
                    |first| drop(sender.send(first)),
                );
            });
            return receiver.await.expect("the leader answers, or has panicked");
        }
    }

    fn lead(&self, commit: &GroupCommit<ShuttleLocks>) -> Result<Position, StoreFault> {
        let end = self.tail.lock().unwrap().0;
        commit.fsync(Path::new(""), || self.fsync())?;
        Ok(end)
    }

    /// Appends and syncs until something fails. Returns the number of records reported durable.
    fn work(self: &Arc<Self>, impatient: bool) -> u64 {
        let mut durable = 0;
        for _ in 0..self.story.records {
            let Ok(position) = self.append() else {
                break;
            };
            if impatient {
                let model = Arc::clone(self);
                let syncing =
                    shuttle::future::spawn(async move { model.sync(position).await.is_ok() });
                for _ in 0..chance(4) {
                    thread::yield_now();
                }
                syncing.abort();
                durable += u64::from(block_on(syncing).unwrap_or(false));
            } else {
                match block_on(self.sync(position)) {
                    Ok(()) => durable += 1,
                    Err(_) => break,
                }
            }
        }
        durable
    }
}

/// Returns a number below `below`.
fn chance(below: u64) -> u64 {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().gen_range(0..below)
}

fn run(story: Story) {
    let model = Model::new(story);
    let workers: Vec<_> = (0..story.workers)
        .map(|worker| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.work(story.impatient && worker % 2 == 1))
        })
        .collect();
    let durable: u64 = workers
        .into_iter()
        .map(|worker| worker.join().unwrap())
        .sum();
    if story.failing.is_none() && !story.impatient {
        assert_eq!(durable, story.workers * story.records);
    }
    // Later callers are served too: the turn was given up.
    let position = model.append().unwrap_or(Position::MAX);
    let served = block_on(model.sync(position)).is_ok();
    assert_eq!(served, get(&model.platter.failed) == 0);
}

fn explore(scheduler: impl Scheduler + 'static, story: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.failure_persistence = shuttle::FailurePersistence::Print;
    Runner::new(scheduler, config).run(story);
}

/// Explores random orders, and orders with few but deep preemptions.
fn explore_many(story: Story) {
    explore(RandomScheduler::new_from_seed(1, ORDERS), move || {
        run(story);
    });
    explore(PctScheduler::new_from_seed(2, 3, ORDERS), move || {
        run(story);
    });
}

#[test]
fn in_any_order_every_caller_is_served_and_none_too_early() {
    explore_many(Story {
        workers: 4,
        records: 3,
        ..Story::default()
    });
}

#[test]
fn in_any_order_a_full_segment_and_the_group_do_not_disturb_each_other() {
    for failing in [None, Some(1), Some(2), Some(3)] {
        explore_many(Story {
            workers: 3,
            records: 3,
            segment: Some(2),
            failing,
            ..Story::default()
        });
    }
}

#[test]
fn in_any_order_nothing_is_durable_after_a_failed_sync_and_every_caller_learns_of_it() {
    for failing in 1..4 {
        explore_many(Story {
            workers: 4,
            records: 2,
            failing: Some(failing),
            ..Story::default()
        });
    }
}

#[test]
fn in_any_order_a_caller_that_cancels_or_cannot_lead_blocks_no_other() {
    for (halting, failing) in [
        (false, None),
        (true, None),
        (false, Some(2)),
        (true, Some(2)),
    ] {
        explore_many(Story {
            workers: 4,
            records: 2,
            failing,
            impatient: true,
            halting,
            ..Story::default()
        });
    }
}

#[test]
fn sixteen_callers_share_one_fdatasync_in_any_order() {
    let together = || {
        let model = Model::new(Story::default());
        let positions: Vec<_> = (0..16).map(|_| model.append().unwrap()).collect();
        let workers: Vec<_> = positions
            .into_iter()
            .map(|position| {
                let model = Arc::clone(&model);
                thread::spawn(move || block_on(model.sync(position)).unwrap())
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(get(&model.platter.begun), 1);
    };
    explore(RandomScheduler::new_from_seed(1, ORDERS), together);
    explore(PctScheduler::new_from_seed(2, 3, ORDERS), together);
}
