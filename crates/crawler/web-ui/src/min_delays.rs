//! The shortest pauses that a crawl leaves between two requests of a host.

use std::time::Duration;

use web::{Host, HostTable};

/// The `delay` of all hosts, and of hosts with settings of their own.
#[derive(Clone, Debug, Default)]
pub struct MinDelays {
    /// The delay of hosts without one of their own.
    pub of_all: Duration,
    /// The delays of single hosts.
    pub of_hosts: HostTable<Duration>,
}

impl MinDelays {
    /// Returns the delay of a host.
    #[must_use]
    pub fn of(&self, host: &Host) -> Duration {
        *self.of_hosts.get(host).unwrap_or(&self.of_all)
    }
}
