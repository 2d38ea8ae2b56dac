//! What long functions tell the person who waits: errors with remedies, warnings and progress.
//!
//! Nothing here knows a terminal. A binary installs a [`Listener`] once, and it receives every line
//! and every count. Without a listener, nothing is shown.

mod command_error;
mod disk_error;
mod listener;
mod numbers;
mod shell;
mod slow_progress;
mod store_error;

pub use web::printable;

pub use self::command_error::{CommandError, Kind, cannot, fault, usage};
pub use self::disk_error::{remedy_for, remedy_of};
pub use self::listener::{Counter, Listener, install, say, warn};
pub use self::numbers::{counted, counted_as, grouped, lasting, wrapped};
pub use self::shell::{pasted, word_of_shell};
pub use self::slow_progress::SlowProgress;
pub use self::store_error::in_use;
