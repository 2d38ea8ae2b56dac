//! The listener that a binary installs, and the lines that it receives.

use std::sync::OnceLock;

use web::printable;

/// A receiver of lines and counts.
pub trait Listener: Send + Sync {
    /// Shows a line. It may contain text from the web.
    fn say(&self, line: &str);

    /// Begins to count items that `what` names.
    fn counter(&self, what: &'static str) -> Box<dyn Counter>;
}

/// A count that a listener shows. It ends when it is dropped.
pub trait Counter: Send {
    /// Shows this number of items.
    fn show(&self, items: u64);

    /// Changes the name of the counted items.
    fn name(&self, what: &'static str);
}

static INSTALLED: OnceLock<Box<dyn Listener>> = OnceLock::new();

/// Installs the listener of this process. Only the first call has an effect.
pub fn install(listener: Box<dyn Listener>) {
    INSTALLED.get_or_init(|| listener);
}

/// Returns the listener, if one is installed.
pub(crate) fn installed() -> Option<&'static dyn Listener> {
    INSTALLED.get().map(|listener| &**listener)
}

/// Says a line.
pub fn say(line: &str) {
    if let Some(listener) = installed() {
        listener.say(line);
    }
}

/// Says a warning, with the characters escaped that command a terminal.
pub fn warn(text: &str) {
    say(&format!("warning: {}", printable(text)));
}
