//! The bound of one address over all its hosts: few requests at a time, and a bounded rate.
//!
//! One machine may have any number of names, and a pace per name bounds nothing then. BUbiNG
//! (Boldi et al., ACM TWEB 2018) has a delay per address as well as per host.
//!
//! | the bound | from one request to the next | requests in flight |
//! |---|---|---|
//! | `FollowsDelay` | a tenth of the wait of one host with the address's response times | 4 |
//! | `Rate(n)` | 1/n s | 4, or n if that is more |
//! | `Unbounded` | nothing | any number |
//!
//! So by default an address counts as ten hosts, and gets fewer requests while it answers slowly
//! or asks to slow down. Without a delay `FollowsDelay` bounds nothing. Hosts whose own rules
//! allow more than the common ones are exempt: their pace was set explicitly.

use std::net::IpAddr;
use std::time::Duration;

use web::Host;

use crate::pacing::{AddressBound, HostPace, PacedResponse, PacingRules, ResponseKind};

/// Number of hosts that an address counts as.
const HOSTS: u32 = 10;
/// Maximum number of requests in flight, unless the rules say more.
const AT_A_TIME: usize = 4;

impl PacingRules {
    /// Returns the minimum time between two requests to one address; `None` without a bound.
    #[must_use]
    pub fn address_gap(&self) -> Option<Duration> {
        match self.address {
            AddressBound::FollowsDelay if self.delay.is_zero() => None,
            AddressBound::FollowsDelay => Some(self.delay / HOSTS),
            AddressBound::Rate(rate) => Some(Duration::from_secs(1) / rate.get()),
            AddressBound::Unbounded => None,
        }
    }

    /// Returns the time from one request to the next if all responses of an address are like this
    /// one; `None` without a bound.
    #[must_use]
    pub fn address_gap_after(&self, response: &PacedResponse) -> Option<Duration> {
        let least = self.address_gap()?;
        if self.address != AddressBound::FollowsDelay {
            return Some(least);
        }
        let wait = match response.kind {
            ResponseKind::SlowDown { .. } => self.max_delay.max(self.delay),
            ResponseKind::Fine
            | ResponseKind::Broken { .. }
            | ResponseKind::Failed
            | ResponseKind::Blocked => {
                let fine = PacedResponse {
                    kind: ResponseKind::Fine,
                    ..*response
                };
                HostPace::default().after(&fine, self, 0.0).1.wait
            }
        };
        Some(wait / HOSTS)
    }

    /// Returns the maximum number of requests in flight to one address.
    #[must_use]
    pub fn address_slots(&self) -> usize {
        let by_rate = match self.address {
            AddressBound::Rate(rate) => usize::try_from(rate.get()).unwrap_or(usize::MAX),
            AddressBound::FollowsDelay | AddressBound::Unbounded => 0,
        };
        AT_A_TIME.max(by_rate).max(self.connections_per_host)
    }

    /// Returns true if requests to this host count for the bound of its address.
    #[must_use]
    pub fn bounds_address_of(&self, host: &Host) -> bool {
        let may_do_more = || {
            self.of_hosts.get(host).is_some_and(|own| {
                let is_faster = own.delay.is_some_and(|delay| delay < self.delay);
                is_faster || own.connections > Some(self.connections_per_host)
            })
        };
        self.address_gap().is_some() && !may_do_more()
    }

    /// Returns the address that bounds a request to `host`, if its bound is in force.
    #[must_use]
    pub fn bounded_address(&self, host: &Host, address: Option<IpAddr>) -> Option<IpAddr> {
        // An IPv4 address mapped into IPv6 is the IPv4 address (RFC 4291 section 2.5.5.2).
        let address = address?.to_canonical();
        self.bounds_address_of(host).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use web::HostTable;

    use super::*;
    use crate::pacing::HostPacing;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn rate(per_second: u32) -> AddressBound {
        AddressBound::Rate(NonZeroU32::new(per_second).unwrap())
    }

    fn rules(delay: u64, address: AddressBound) -> PacingRules {
        PacingRules {
            delay: ms(delay),
            address,
            ..PacingRules::default()
        }
    }

    #[test]
    fn an_address_counts_as_ten_hosts_and_an_explicit_rate_counts_as_it_is() {
        use AddressBound::{FollowsDelay, Unbounded};
        for (delay, bound, gap, slots) in [
            (1_000, FollowsDelay, Some(100), 4),
            (10_000, FollowsDelay, Some(1_000), 4),
            (0, FollowsDelay, None, 4),
            (0, rate(2), Some(500), 4),
            (1_000, rate(100), Some(10), 100),
            (1_000, Unbounded, None, 4),
        ] {
            let rules = rules(delay, bound);
            assert_eq!(rules.address_gap(), gap.map(ms), "{delay} {bound:?}");
            assert_eq!(rules.address_slots(), slots, "{delay} {bound:?}");
        }
        let wide = PacingRules {
            connections_per_host: 9,
            ..rules(1_000, FollowsDelay)
        };
        assert_eq!(wide.address_slots(), 9, "a host alone is not bounded");
    }

    #[test]
    fn an_address_that_answers_slowly_or_asks_to_slow_down_gets_less() {
        let slow_down = ResponseKind::SlowDown { retry_after: None };
        for (elapsed, kind, gap) in [
            (100, ResponseKind::Fine, 100),
            (3_000, ResponseKind::Fine, 1_500),
            (60_000, ResponseKind::Fine, 3_000),
            (0, ResponseKind::Failed, 100),
            (100, slow_down, 3_000),
        ] {
            let elapsed = ms(elapsed);
            let response = PacedResponse { elapsed, kind };
            let after = |bound| rules(1_000, bound).address_gap_after(&response);
            assert_eq!(after(AddressBound::FollowsDelay), Some(ms(gap)));
            assert_eq!(after(rate(50)), Some(ms(20)));
            assert_eq!(after(AddressBound::Unbounded), None);
        }
    }

    #[test]
    fn hosts_whose_own_rules_allow_more_are_exempt() {
        let own = |delay: Option<u64>, connections| HostPacing {
            delay: delay.map(ms),
            connections,
        };
        for (own, is_bounded) in [
            (own(None, None), true),
            (own(Some(2_000), None), true),
            (own(Some(2_000), Some(1)), true),
            (own(Some(200), None), false),
            (own(None, Some(2)), false),
        ] {
            let rules = PacingRules {
                of_hosts: HostTable::from_iter([("a.test".parse().unwrap(), own)]),
                ..PacingRules::default()
            };
            assert_eq!(rules.bounds_address_of(&Host::new("a.test")), is_bounded);
            assert!(rules.bounds_address_of(&Host::new("b.test")));
        }
    }

    #[test]
    fn an_address_has_one_bound_in_any_spelling() {
        let bounded = |address: &str| {
            let address = address.parse().unwrap();
            PacingRules::default().bounded_address(&Host::new("a.test"), Some(address))
        };
        assert_eq!(bounded("192.0.2.1"), bounded("::ffff:192.0.2.1"));
        assert_ne!(bounded("192.0.2.1"), bounded("192.0.2.2"));
        let unknown = PacingRules::default().bounded_address(&Host::new("a.test"), None);
        assert_eq!(unknown, None);
    }
}
