//! The pacing rules in force: they may change while a crawl runs, and single hosts may have a
//! longer delay.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use web::Host;

use crate::politeness::gate::Gate;
use crate::politeness::pacing::PacingRules;

/// Rules for all hosts, and for some of them in particular.
pub(crate) struct RulesInForce {
    /// The rules of groups, and of hosts without rules of their own.
    pub(crate) common: PacingRules,
    of_hosts: HashMap<Host, PacingRules>,
    pub(crate) gate: Gate,
}

impl RulesInForce {
    /// Returns the rules with the least delays of single hosts: one more reason for each of them to
    /// wait, of which the longest counts.
    pub(crate) fn new(common: PacingRules, delays: &BTreeMap<Host, Duration>) -> Self {
        let of_host = |delay: Duration| {
            let delay = delay.max(common.delay);
            PacingRules {
                delay,
                max_delay: common.max_delay.max(delay),
                ..common.clone()
            }
        };
        let of_hosts = delays
            .iter()
            .map(|(host, delay)| (host.clone(), of_host(*delay)));
        Self {
            of_hosts: of_hosts.collect(),
            gate: Gate::new(&common),
            common,
        }
    }

    /// Returns the rules of a host.
    pub(crate) fn of(&self, host: &Host) -> &PacingRules {
        self.of_hosts.get(host).unwrap_or(&self.common)
    }
}
