//! The order of visits to pages that may have one content: two views of an article that arrive at
//! the same time would both be kept, because neither is remembered yet.
//!
//! Invariant: a visit waits only for visits that came before it, so waits never form a cycle.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use comparison::Keys;
use tokio::sync::watch;

/// The visits whose pages are not remembered yet, by the headings of their pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    pending: Arc<Mutex<HashMap<u64, Vec<Pending>>>>,
}

/// A visit whose page is not remembered yet.
#[derive(Debug)]
struct Pending {
    /// The lookup keys of its page, sorted.
    keys: Vec<u64>,
    /// Closed at its end.
    end: watch::Receiver<()>,
}

/// The turn of a visit. Later visits that may have the same content wait until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    heading: u64,
    end: watch::Sender<()>,
    turns: Turns,
}

impl Turns {
    /// Waits until no page with this heading and any of these keys is pending.
    pub(crate) async fn wait(&self, keys: &Keys) -> Turn {
        let (turn, before) = self.queue(keys);
        for mut end in before {
            // Nothing is sent: a change is the end of the other visit.
            let _ = end.changed().await;
        }
        turn
    }

    /// Queues a visit, and returns the ends of the visits that it waits for.
    fn queue(&self, keys: &Keys) -> (Turn, Vec<watch::Receiver<()>>) {
        let heading = keys.heading;
        let mut keys = [&keys.longest[..], &keys.sampled, &[keys.whole]].concat();
        keys.sort_unstable();
        let (end, receiver) = watch::channel(());
        let turns = self.clone();
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let of_heading = pending.entry(heading).or_default();
        let may_be_same = |other: &&Pending| {
            let mut ours = keys.iter();
            ours.any(|key| other.keys.binary_search(key).is_ok())
        };
        let before = of_heading.iter().filter(may_be_same);
        let before = before.map(|other| other.end.clone()).collect();
        of_heading.push(Pending {
            keys,
            end: receiver,
        });
        let turn = Turn {
            heading,
            end,
            turns,
        };
        (turn, before)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let ours = self.end.subscribe();
        let pending = self.turns.pending.lock();
        let mut pending = pending.unwrap_or_else(PoisonError::into_inner);
        if let Some(of_heading) = pending.get_mut(&self.heading) {
            of_heading.retain(|other| !other.end.same_channel(&ours));
            if of_heading.is_empty() {
                pending.remove(&self.heading);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn keys(heading: u64, blocks: &[u64]) -> Keys {
        Keys {
            longest: blocks.to_vec(),
            sampled: Vec::new(),
            whole: heading ^ blocks[0],
            heading,
        }
    }

    #[test]
    fn a_visit_waits_for_those_before_it_with_a_heading_and_a_block_in_common() {
        let turns = Turns::default();
        let first = turns.wait(&keys(1, &[10, 11])).now_or_never().unwrap();
        let other_heading = turns.wait(&keys(2, &[10, 11])).now_or_never();
        let other_blocks = turns.wait(&keys(1, &[12])).now_or_never();
        assert!(other_heading.is_some() && other_blocks.is_some());
        let alike = keys(1, &[11, 12]);
        let mut second = Box::pin(turns.wait(&alike));
        assert!(second.as_mut().now_or_never().is_none());
        drop(first);
        // The page with block 12 is pending, too.
        assert!(second.as_mut().now_or_never().is_none());
        drop(other_blocks);
        let second = second.as_mut().now_or_never().unwrap();
        drop((second, other_heading));
        assert!(turns.pending.lock().unwrap().is_empty());
    }

    /// A visit that is given up while it waits would hold up those behind it for ever.
    #[test]
    fn a_visit_that_is_given_up_while_it_waits_holds_up_no_other() {
        let turns = Turns::default();
        let same = keys(1, &[10]);
        let first = turns.wait(&same).now_or_never().unwrap();
        let given_up = turns.wait(&same).now_or_never();
        assert!(given_up.is_none());
        drop(first);
        assert!(turns.wait(&same).now_or_never().is_some());
    }
}
