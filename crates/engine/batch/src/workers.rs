//! Worker threads, and a caller that takes their results.

use std::num::NonZeroUsize;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// The result of a send when no one receives results any more: the worker should end.
#[derive(Debug)]
pub(crate) struct Disconnected;

/// The sending end of the queue from a worker to the caller.
#[derive(Debug)]
pub(crate) struct ResultSender<T>(SyncSender<T>);

impl<T> ResultSender<T> {
    pub(crate) fn send(&self, result: T) -> Result<(), Disconnected> {
        self.0.send(result).map_err(|_refused| Disconnected)
    }
}

/// Runs `work` on `workers` threads and passes the results that they send to `take` on this thread.
/// The first error of `take` ends the work.
///
/// The queue between them holds two results per worker, so that workers wait when `take` is slow.
pub(crate) fn work<T: Send, E>(
    workers: NonZeroUsize,
    work: impl Fn(&ResultSender<T>) -> Result<(), Disconnected> + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(2 * workers.get());
        for _ in 0..workers.get() {
            let sender = ResultSender(sender.clone());
            let work = &work;
            // `Disconnected` means that `take` has returned an error.
            scope.spawn(move || work(&sender).is_ok());
        }
        drop(sender);
        receiver.into_iter().try_for_each(&mut take)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn everything_that_is_sent_arrives_and_an_error_ends_all_workers() {
        let three = NonZeroUsize::new(3).unwrap();
        let count = |limit: u64| {
            let next = AtomicU32::new(0);
            let mut sum = 0;
            let ended = work(
                three,
                |sender| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number > 10_000 {
                            return Ok(());
                        }
                        sender.send(u64::from(number))?;
                    }
                },
                |number| {
                    sum += number;
                    if sum > limit { Err(sum) } else { Ok(()) }
                },
            );
            (ended.is_ok(), sum)
        };
        assert_eq!(count(u64::MAX), (true, 50_005_000));
        let (ended_well, sum) = count(100);
        assert!(!ended_well && (101..20_000).contains(&sum), "{sum}");
    }
}
