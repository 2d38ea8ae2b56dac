//! Work on many items by threads that live for one call.
//!
//! Threads of a pool that outlives the call do not exist in a forked child, and work that is handed
//! to them there waits for ever (`multiprocessing` forks on Linux before Python 3.14). Starting two
//! threads costs some 50 µs, so a call with few items starts none.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of items that a thread takes at a time.
const BLOCK: usize = 16;

/// Returns the number of threads to use: the requested number, or else the number of cores.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked
        .or_else(|| thread::available_parallelism().ok())
        .unwrap_or(NonZeroUsize::MIN)
}

/// Returns the list of `of(0)` to `of(count - 1)`, computed by up to `threads` threads.
pub(crate) fn map<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    of: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    map_blocks(count, BLOCK, threads, of)
}

/// Does the same with items that each take a millisecond or more.
pub(crate) fn map_each<T: Send>(
    count: usize,
    threads: NonZeroUsize,
    of: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    map_blocks(count, 1, threads, of)
}

fn map_blocks<T: Send>(
    count: usize,
    block: usize,
    threads: NonZeroUsize,
    of: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.get().min(count.div_ceil(block));
    if threads <= 1 {
        return (0..count).map(of).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let first = next.fetch_add(block, Ordering::Relaxed);
            if first >= count {
                return done;
            }
            let last = (first + block).min(count);
            done.push((first, (first..last).map(&of).collect::<Vec<T>>()));
        }
    };
    let mut blocks = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut blocks = work();
        for other in others {
            match other.join() {
                Ok(more) => blocks.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        blocks
    });
    blocks.sort_unstable_by_key(|(first, _)| *first);
    blocks.into_iter().flat_map(|(_, block)| block).collect()
}
