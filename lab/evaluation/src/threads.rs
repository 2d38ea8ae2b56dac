//! The same work for many items, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the results of `work` for 0, 1, … `count` - 1, in this order.
pub(crate) fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    // One by one, since some documents are a thousand times as long as others.
    let work_off = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return done;
            }
            done.push((number, work(number)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work_off)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker
                .join()
                .expect("a worker that panicked ends the evaluation")
        });
        joined.flatten().collect()
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        assert_eq!(each(0, |n| n), Vec::<usize>::new());
        assert_eq!(
            each(1_000, |n| n * n),
            (0..1_000).map(|n| n * n).collect::<Vec<_>>()
        );
    }
}
