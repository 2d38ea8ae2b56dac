//! A door that holds answers back until the test opens it.
//!
//! With it a test says "while this page was on its way" without sleeping: wait until the answer is
//! held, do what has to happen meanwhile, open.

use std::sync::Arc;

use tokio::sync::watch;

/// A door, closed at first. Clones are the same door.
///
/// ```no_run
/// # async fn example() {
/// use testkit::{Gate, Reply, Server, Site};
///
/// let gate = Gate::new();
/// let held = gate.clone();
/// let server = Server::start(Site::new(move |_| Reply::text("at last").hold(&held))).await;
/// // … the crawler asks for a page …
/// gate.arrivals(1).await;
/// // … and is interrupted while it waits …
/// gate.open();
/// # drop(server);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    open: bool,
    arrivals: usize,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed door.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }

    /// Lets present and later arrivals through.
    pub fn open(&self) {
        self.0.send_modify(|state| state.open = true);
    }

    /// Waits until at least `count` answers have come to the door since it was made, held or let
    /// through.
    pub async fn arrivals(&self, count: usize) {
        self.wait_until(|state| state.arrivals >= count).await;
    }

    /// [`Gate::arrivals`] for a thread that has no runtime.
    ///
    /// # Panics
    /// Inside a runtime, where blocking would hold up the others: use [`Gate::arrivals`] there.
    pub fn arrivals_blocking(&self, count: usize) {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without drivers needs nothing from the system")
            .block_on(self.arrivals(count));
    }

    /// Comes to the door and waits until it is open.
    pub async fn pass(&self) {
        self.0.send_modify(|state| state.arrivals += 1);
        self.wait_until(|state| state.open).await;
    }

    async fn wait_until(&self, condition: impl FnMut(&State) -> bool) {
        self.0
            .subscribe()
            .wait_for(condition)
            .await
            .expect("the sender is this gate, which is alive");
    }
}
