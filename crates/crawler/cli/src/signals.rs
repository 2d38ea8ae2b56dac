//! Handles signals that end a command, and removes its unfinished files.
//!
//! A crawl and a dashboard handle signals themselves and end gracefully (`commands/crawl.rs`,
//! `commands/serve.rs`). Every other command ends at once: a thread waits for the signal, removes
//! the drafts of the process ([`disk::end_drafts`]) and exits with 128 and the number of the
//! signal, as a shell reports it.
//!
//! Invariant: a signal that was ignored when the process started, as under `nohup`, stays ignored.

use std::process;

use messages::say;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a user, a service manager or a terminal sends to end a command.
struct EndSignals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

/// Makes signals that end the process remove its unfinished files first. If the system refuses the
/// thread or a handler, signals end the process as usual.
pub(crate) fn remove_drafts_at_end() {
    let Ok(runtime) = Builder::new_current_thread().enable_io().build() else {
        return;
    };
    let signals = {
        let _entered = runtime.enter();
        EndSignals {
            interrupt: unless_ignored(SignalKind::interrupt()),
            terminate: unless_ignored(SignalKind::terminate()),
            hangup: unless_ignored(SignalKind::hangup()),
        }
    };
    let waiting = std::thread::Builder::new().name("signals".to_owned());
    if let Err(error) = waiting.spawn(move || wait_and_end(&runtime, signals)) {
        tracing::debug!(%error, "cannot install signal handlers: an interrupt leaves unfinished \
            files");
    }
}

/// Waits for a signal and ends the process.
fn wait_and_end(runtime: &Runtime, mut signals: EndSignals) {
    let kind = runtime.block_on(async {
        tokio::select! {
            () = received(&mut signals.interrupt) => SignalKind::interrupt(),
            () = received(&mut signals.terminate) => SignalKind::terminate(),
            () = received(&mut signals.hangup) => SignalKind::hangup(),
        }
    });
    let ended = disk::end_drafts();
    if ended.removed > 0 {
        say("interrupted: unfinished files are removed");
    }
    process::exit(128 + kind.as_raw_value());
}

/// Listens for a signal, unless the process was started with it ignored.
pub(crate) fn unless_ignored(kind: SignalKind) -> Option<Signal> {
    if is_ignored(kind) {
        return None;
    }
    signal(kind).ok()
}

/// Returns true if the process was started with a signal ignored. Also returns true if the system
/// does not report this, so that the disposition is left unchanged.
fn is_ignored(kind: SignalKind) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return true;
    };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}

/// Waits for the signal; forever without one.
pub(crate) async fn received(signal: &mut Option<Signal>) {
    let received = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if received.is_none() {
        std::future::pending::<()>().await;
    }
}
