//! Idle connections over all hosts: which origins may keep one.
//!
//! The engine's pool bounds the idle connections of an origin and closes them after [`IDLE`], but
//! not their number over all origins: 4,000 hosts that were asked in turn took 4,000 files and 285
//! MiB. So an origin keeps its connections only while it has a seat here. Without a seat it gets a
//! new connection, which ends with the response.
//!
//! Invariant: a seat is free again only once the pool has closed the connections of its origin. The
//! pool looks every [`IDLE`] for connections that were idle for longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Lifetime of idle connections: as long as a polite crawler may need them again, and no longer,
/// because over many hosts they dominate memory.
pub(crate) const IDLE: Duration = Duration::from_secs(10);
/// Time from an origin's last request until certainly all its connections are closed.
const CLOSED: Duration = IDLE.saturating_mul(2);
/// Minimum time between two searches for seats that are free again.
const SEARCH_EVERY: Duration = Duration::from_secs(1);

/// The seats of a client.
#[derive(Debug)]
pub(crate) struct IdleSeats {
    seats: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    by_origin: HashMap<String, Use>,
    searched: Option<Instant>,
}

#[derive(Debug)]
struct Use {
    in_flight: usize,
    /// End of the last request.
    last: Instant,
}

/// A seat in use, until the response was read.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<IdleSeats>,
    origin: String,
}

impl IdleSeats {
    /// Returns free seats for `idle` connections, if an origin keeps `of_origin` at most.
    pub(crate) fn new(idle: usize, of_origin: usize) -> Arc<Self> {
        Arc::new(Self {
            seats: (idle / of_origin.max(1)).max(1),
            taken: Mutex::default(),
        })
    }

    /// Returns the origin's seat, or a free one; `None` if all seats are taken.
    pub(crate) fn take(self: &Arc<Self>, origin: String) -> Option<Seat> {
        let now = Instant::now();
        let mut taken = self.taken();
        if let Some(own) = taken.by_origin.get_mut(&origin) {
            own.in_flight += 1;
        } else {
            if taken.by_origin.len() >= self.seats {
                taken.search(now);
            }
            if taken.by_origin.len() >= self.seats {
                return None;
            }
            let (in_flight, last) = (1, now);
            taken
                .by_origin
                .insert(origin.clone(), Use { in_flight, last });
        }
        let seats = Arc::clone(self);
        Some(Seat { seats, origin })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Frees the seats whose connections are closed.
    fn search(&mut self, now: Instant) {
        if self.searched.is_some_and(|last| now < last + SEARCH_EVERY) {
            return;
        }
        self.searched = Some(now);
        self.by_origin
            .retain(|_, own| own.in_flight > 0 || now < own.last + CLOSED);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(own) = self.seats.taken().by_origin.get_mut(&self.origin) {
            own.in_flight -= 1;
            own.last = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(number: usize) -> String {
        format!("http://h{number}.test")
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_origins_keep_connections_as_there_are_seats() {
        let seats = IdleSeats::new(9, 4);
        let (first, second) = (seats.take(origin(1)), seats.take(origin(2)));
        assert!(first.is_some() && second.is_some());
        assert!(seats.take(origin(3)).is_none());
        assert!(seats.take(origin(1)).is_some(), "it has a seat");
        drop(first);
        tokio::time::sleep(CLOSED - Duration::from_secs(1)).await;
        assert!(
            seats.take(origin(3)).is_none(),
            "its connection may be open"
        );
        tokio::time::sleep(SEARCH_EVERY).await;
        assert!(seats.take(origin(3)).is_some());
        assert!(seats.take(origin(1)).is_none());
        assert!(second.is_some(), "a request in flight keeps its seat");
        assert!(seats.take(origin(2)).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn an_origin_that_is_asked_again_and_again_keeps_its_seat() {
        let seats = IdleSeats::new(1, 1);
        for _request in 0..100 {
            assert!(seats.take(origin(1)).is_some());
            tokio::time::sleep(IDLE).await;
            assert!(seats.take(origin(2)).is_none());
        }
    }
}
