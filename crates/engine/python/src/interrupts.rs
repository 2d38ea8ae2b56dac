//! Waiting that Ctrl-C can end.
//!
//! Python runs the handler of a signal only when its main thread holds the interpreter's lock. So a
//! thread that waits for another one wakes up regularly and lets the handler run.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use pyo3::prelude::*;

/// The time between two checks for signals.
const INTERVAL: Duration = Duration::from_millis(50);

/// Returns the next message; `None` once the senders are gone.
///
/// # Errors
/// The exceptions of a signal's handler, usually `KeyboardInterrupt`, and of `meanwhile`, which is
/// called after every interval of waiting.
pub(crate) fn receive<T: Send>(
    py: Python<'_>,
    receiver: &mut Receiver<T>,
    mut meanwhile: impl FnMut(Python<'_>) -> PyResult<()>,
) -> PyResult<Option<T>> {
    loop {
        // A receiver is not shared between threads, but an exclusive reference to it may be.
        let waiting: &mut Receiver<T> = receiver;
        match py.detach(move || waiting.recv_timeout(INTERVAL)) {
            Ok(received) => return Ok(Some(received)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                meanwhile(py)?;
            }
        }
    }
}
