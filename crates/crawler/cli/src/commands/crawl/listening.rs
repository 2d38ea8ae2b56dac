//! The signals that stop a crawl.

use crawl::StopHandle;
use indicatif::ProgressBar;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;

use crate::progress;
use crate::signals::{received, unless_ignored};

/// The task that listens to signals, once it has begun.
pub(super) struct Listening {
    ready: Option<(StopHandle, ProgressBar, bool)>,
    pub(super) task: Option<JoinHandle<()>>,
}

impl Listening {
    pub(super) fn new(handle: StopHandle, bar: &ProgressBar, quiet: bool) -> Self {
        Self {
            ready: Some((handle, bar.clone(), quiet)),
            task: None,
        }
    }

    /// Begins to listen, once.
    pub(super) fn begin(&mut self) {
        if let Some((handle, bar, quiet)) = self.ready.take() {
            let signals = StopSignals::register();
            self.task = Some(tokio::spawn(listen(signals, handle, bar, quiet)));
        }
    }
}

/// Signals that request an end. Signals that arrive between registration and
/// [`StopSignals::received`] are kept.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl StopSignals {
    /// Registers the handlers. Returns `None` if the system refuses; then a signal ends the
    /// process.
    fn register() -> Option<Self> {
        let (Ok(interrupt), Ok(terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            tracing::warn!("cannot install signal handlers: an interrupt ends the process");
            return None;
        };
        Some(Self {
            interrupt,
            terminate,
            // Ignored under `nohup`.
            hangup: unless_ignored(SignalKind::hangup()),
        })
    }

    /// Waits for the next signal.
    async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = received(&mut self.hangup) => {}
        }
    }
}

/// Stops the crawl gently at the first signal, and at once at the second.
async fn listen(signals: Option<StopSignals>, handle: StopHandle, bar: ProgressBar, quiet: bool) {
    let Some(mut signals) = signals else {
        return std::future::pending().await;
    };
    let lines = [
        "finishing pages in progress; interrupt again to stop at once (the crawl can be continued \
         either way)",
        "stopping at once",
    ];
    for line in lines {
        signals.received().await;
        // Before the message, which promises the stop.
        handle.request();
        if !quiet {
            progress::say_above(&bar, line);
        }
    }
}
