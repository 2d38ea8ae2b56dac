//! The pacing rules in force: they may change while a crawl runs, and single hosts may have their
//! own.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use requests::PacingRules;
use web::{Host, HostTable};

use crate::politeness::gate::Gate;

/// Rules for all hosts, and for some hosts in particular.
pub(crate) struct RulesInForce {
    /// The rules of groups, and of hosts without rules of their own.
    pub(crate) common: PacingRules,
    /// The rules of hosts whose least delay was changed while the crawl runs.
    changed: HashMap<Host, PacingRules>,
    of_hosts: HostTable<PacingRules>,
    pub(crate) gate: Gate,
}

impl RulesInForce {
    /// Returns the rules with the minimum delays of single hosts. For such a host this is one more
    /// reason to wait, and the longest wait counts.
    pub(crate) fn new(common: PacingRules, delays: &BTreeMap<Host, Duration>) -> Self {
        let longer = |host: &Host, delay: Duration| {
            let rules = common.of_host(host);
            let delay = delay.max(rules.delay);
            PacingRules {
                delay,
                max_delay: rules.max_delay.max(delay),
                ..rules
            }
        };
        let changed: HashMap<_, _> = delays
            .iter()
            .map(|(host, delay)| (host.clone(), longer(host, *delay)))
            .collect();
        let of_hosts = common.of_hosts.map(|own| common.with(*own));
        let own = changed.values().chain(of_hosts.values());
        let delays = own.map(|rules| rules.delay).chain([common.delay]);
        Self {
            gate: Gate::new(common.rate, delays),
            changed,
            of_hosts,
            common,
        }
    }

    /// Returns the rules of a host.
    pub(crate) fn of(&self, host: &Host) -> &PacingRules {
        let changed = self.changed.get(host);
        let own = changed.or_else(|| self.of_hosts.get(host));
        own.unwrap_or(&self.common)
    }
}
