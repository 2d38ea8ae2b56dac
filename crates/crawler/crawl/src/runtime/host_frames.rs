//! The frames of hosts, learned during a crawl.
//!
//! A session saves them when it ends, and the next session loads them. After a kill the crawl
//! learns them again.

use std::cmp::Ordering;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use comparison::HostFrame;
use disk::Disk;
use lru::LruCache;
use policy::LearnedFrames;
use web::Host;

/// Bytes of all frames. Beyond, the hosts at rest for the longest time keep only the blocks that
/// several of their pages have; if that is not enough, they are forgotten.
const MAX_BYTES: usize = 12 << 20;
/// Approximate size of the entry of a host.
const ENTRY_BYTES: usize = 256;

/// The frame of a host, which its pages share.
pub(crate) type SharedFrame = Arc<RwLock<HostFrame>>;

/// The frames of hosts.
#[derive(Debug)]
pub(crate) struct HostFrames {
    state: PathBuf,
    hosts: Mutex<Hosts>,
    /// Numbers that change by themselves on several hosts.
    pub(crate) common: SharedFrame,
}

/// The hosts with a frame. Invariant: `bytes` is the sum over the hosts, and at most `max_bytes`.
#[derive(Debug)]
struct Hosts {
    max_bytes: usize,
    by_use: LruCache<Host, RememberedFrame>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct RememberedFrame {
    frame: SharedFrame,
    bytes: usize,
    /// True if it has no block of a single page.
    is_reduced: bool,
}

impl HostFrames {
    /// Opens the frames that the last session wrote in this state directory. A file that cannot be
    /// read is skipped with a warning.
    pub(crate) fn open(state: &Path) -> Self {
        let learned = LearnedFrames::read(state).unwrap_or_else(|error| {
            let file = LearnedFrames::path(state);
            let file = file.display();
            tracing::warn!(%file, error, "the boilerplate of hosts is learned again");
            LearnedFrames::default()
        });
        let mut hosts = Hosts::new(MAX_BYTES);
        for (host, frame) in learned.hosts {
            let bytes = frame.bytes();
            *write(&hosts.enter(&host)) = frame;
            hosts.note(&host, bytes);
        }
        Self {
            state: state.to_owned(),
            hosts: Mutex::new(hosts),
            common: Arc::new(RwLock::new(learned.common)),
        }
    }

    /// Writes them for the next session.
    pub(crate) fn save(&self, disk: &dyn Disk) -> io::Result<()> {
        let hosts = self.hosts();
        let frames = hosts.by_use.iter().rev();
        let frames: Vec<(&Host, RwLockReadGuard<'_, HostFrame>)> = frames
            .map(|(host, known)| (host, read(&known.frame)))
            .collect();
        let frames = frames.iter();
        let frames = frames.map(|(host, frame)| ((*host).clone(), &**frame));
        let common = read(&self.common);
        LearnedFrames::new(frames.collect(), &*common).write(&self.state, disk)
    }

    /// Returns the frame of a host; an empty one if nothing is remembered.
    pub(crate) fn of(&self, host: &Host) -> SharedFrame {
        let hosts = self.hosts();
        let known = hosts.by_use.peek(host);
        known.map_or_else(SharedFrame::default, |known| Arc::clone(&known.frame))
    }

    /// Lets the frame of a host learn, and remembers it.
    pub(crate) fn learn(&self, host: &Host, learn: impl FnOnce(&mut HostFrame)) {
        let frame = self.hosts().enter(host);
        let bytes = {
            let mut frame = write(&frame);
            learn(&mut frame);
            frame.bytes()
        };
        self.hosts().note(host, bytes);
    }

    fn hosts(&self) -> MutexGuard<'_, Hosts> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hosts {
    fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            by_use: LruCache::unbounded(),
            bytes: 0,
        }
    }

    /// Returns the frame of a host, adding one to a new host.
    fn enter(&mut self, host: &Host) -> SharedFrame {
        let known = self
            .by_use
            .get_or_insert(host.clone(), RememberedFrame::default);
        Arc::clone(&known.frame)
    }

    /// Notes the size of a frame that has learned.
    fn note(&mut self, host: &Host, frame_bytes: usize) {
        if let Some(known) = self.by_use.get_mut(host) {
            let bytes = ENTRY_BYTES + frame_bytes;
            self.bytes = self.bytes + bytes - known.bytes;
            (known.bytes, known.is_reduced) = (bytes, false);
        }
        if self.bytes > self.max_bytes {
            // With some room on top, this happens rarely.
            let left = self.max_bytes / 8 * 7;
            self.reduce(left);
            self.forget(left);
        }
    }

    /// Reduces frames that no visit uses, until this many bytes are left.
    fn reduce(&mut self, left: usize) {
        for (_, known) in self.by_use.iter_mut().rev() {
            if self.bytes <= left {
                return;
            }
            if known.is_reduced {
                continue;
            }
            if let Ok(mut frame) = known.frame.try_write() {
                frame.forget_single_blocks();
                let bytes = ENTRY_BYTES + frame.bytes();
                self.bytes = self.bytes + bytes - known.bytes;
                (known.bytes, known.is_reduced) = (bytes, true);
            }
        }
    }

    /// Forgets hosts until this many bytes are left.
    fn forget(&mut self, left: usize) {
        while self.bytes > left
            && let Some((_, forgotten)) = self.by_use.pop_lru()
        {
            self.bytes -= forgotten.bytes;
        }
    }
}

/// Locks a frame for a change.
pub(crate) fn write(frame: &SharedFrame) -> RwLockWriteGuard<'_, HostFrame> {
    frame.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a frame for reading.
pub(crate) fn read(frame: &SharedFrame) -> RwLockReadGuard<'_, HostFrame> {
    frame.read().unwrap_or_else(PoisonError::into_inner)
}

/// Locks two frames for reading, in the order of their addresses; a frame is not locked twice. Two
/// threads that locked two frames in opposite orders would wait for each other for ever as soon as
/// a writer waits for each frame, because a waiting writer holds up new readers.
pub(crate) fn read_both<'a>(
    one: &'a SharedFrame,
    other: &'a SharedFrame,
) -> (
    RwLockReadGuard<'a, HostFrame>,
    Option<RwLockReadGuard<'a, HostFrame>>,
) {
    match Arc::as_ptr(one).cmp(&Arc::as_ptr(other)) {
        Ordering::Equal => (read(one), None),
        Ordering::Less => {
            let first = read(one);
            (first, Some(read(other)))
        }
        Ordering::Greater => {
            let first = read(other);
            (read(one), Some(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use comparison::{ComparedPage, PageParts};

    use super::*;

    const FOOTER: &str = "Imprint, privacy and everything else that is on every page";

    fn frames(max_bytes: usize) -> HostFrames {
        HostFrames {
            state: PathBuf::new(),
            hosts: Mutex::new(Hosts::new(max_bytes)),
            common: SharedFrame::default(),
        }
    }

    /// Page of a host: 30 blocks of its own, and one that the host's pages share.
    fn page(host: usize, page: usize) -> ComparedPage {
        let heading = format!("Article {page}");
        let own = (0..30).map(|block| format!("Block {block} of {heading} on {host}\n"));
        let text = own.chain([FOOTER.to_owned()]).collect::<String>();
        ComparedPage::of(&PageParts {
            url: "",
            title: Some(&heading),
            heading: Some(&heading),
            main: &text,
            judged: &text,
            is_partial: false,
            is_plain: true,
        })
    }

    /// Lets 60 hosts learn from a dozen pages each, host by host.
    fn learn(frames: &HostFrames) {
        for (number, of_host) in (0..60).flat_map(|host| (0..12).map(move |page| (host, page))) {
            let page = page(number, of_host);
            frames.learn(&host(number), |frame| frame.learn(&page));
            let hosts = frames.hosts();
            let sum: usize = hosts.by_use.iter().map(|(_, known)| known.bytes).sum();
            assert_eq!(hosts.bytes, sum);
            assert!(sum <= hosts.max_bytes, "{sum}");
        }
    }

    fn host(number: usize) -> Host {
        Host::new(&format!("h{number}.test"))
    }

    /// The frames of 256 hosts took 70 MiB.
    #[test]
    fn frames_are_bounded_and_a_host_at_rest_keeps_its_boilerplate() {
        let frames = frames(1 << 19);
        learn(&frames);
        let bytes = |number| read(&frames.of(&host(number))).bytes();
        assert!(bytes(0) < bytes(59) / 8, "{} {}", bytes(0), bytes(59));
        for number in 0..60 {
            let (page, frame) = (page(number, 0), frames.of(&host(number)));
            let footer = page.blocks().last().unwrap();
            assert!(read(&frame).part(&footer).is_some(), "host {number}");
        }
    }

    /// Pages of two hosts of a site were compared in both directions while both frames learned: the
    /// threads could wait for each other for ever.
    #[test]
    fn a_frame_is_not_held_while_the_frame_before_it_is_locked() {
        let mut frames = [SharedFrame::default(), SharedFrame::default()];
        frames.sort_by_key(Arc::as_ptr);
        let [first, second] = &frames;
        let begun = Barrier::new(2);
        std::thread::scope(|threads| {
            let learning = write(first);
            threads.spawn(|| {
                begun.wait();
                drop(read_both(second, first));
            });
            begun.wait();
            let is_free = |_| {
                std::thread::yield_now();
                second.try_write().is_ok()
            };
            assert!((0..10_000).all(is_free), "the other thread holds it");
            drop(learning);
        });
        assert!(read_both(first, first).1.is_none(), "locked once");
    }

    #[test]
    fn hosts_at_rest_for_the_longest_time_are_forgotten_first() {
        let frames = frames(1 << 14);
        learn(&frames);
        let is_known = |number| read(&frames.of(&host(number))).pages() > 0;
        assert!(!is_known(0) && is_known(59));
        let first = (0..60).position(is_known).unwrap();
        assert!((first..60).all(is_known), "without a gap");
    }
}
