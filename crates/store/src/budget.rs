//! A cap on the hosts of one registrable domain: the owner of a domain can create names below it
//! without end.

use std::collections::{HashMap, HashSet};

use web::{Host, UrlKey};

use crate::discovered_url::DiscoveredUrl;
use crate::frontier::{HOSTS_RULE, LeftOut};

/// The number of known hosts of each registrable domain, by the key of its name: 16 bytes a domain.
#[derive(Clone, Debug, Default)]
pub(crate) struct DomainCounts(HashMap<UrlKey, u32>);

impl DomainCounts {
    /// Counts a host that becomes known.
    pub(crate) fn add(&mut self, host: &Host) {
        *self.0.entry(key_of(host)).or_insert(0) += 1;
    }

    /// Takes back the count of a host that is forgotten.
    pub(crate) fn remove(&mut self, host: &Host) {
        if let Some(count) = self.0.get_mut(&key_of(host)) {
            *count = count.saturating_sub(1);
        }
    }

    fn of(&self, host: &Host) -> u32 {
        self.0.get(&key_of(host)).copied().unwrap_or(0)
    }
}

fn key_of(host: &Host) -> UrlKey {
    UrlKey::of_name(host.registrable_domain())
}

/// Removes from `discovered` the URLs of unknown hosts whose domain has `max` known hosts already.
/// The URLs that stay may add hosts up to that cap. Seeds stay.
pub(crate) fn leave_out(
    discovered: &mut Vec<DiscoveredUrl>,
    max: u32,
    domains: &DomainCounts,
    is_known: impl Fn(&Host) -> bool,
) -> Option<LeftOut> {
    let mut left_out: Option<LeftOut> = None;
    let mut last: Option<Host> = None;
    let (mut new_hosts, mut new_of_domain) = (HashSet::new(), HashMap::<UrlKey, u32>::new());
    discovered.retain(|found| {
        // Most links of a page lead to one host.
        let name = found.url.as_url().host_str();
        if last
            .as_ref()
            .is_some_and(|last| name == Some(last.as_str()))
        {
            return true;
        }
        let host = found.url.host();
        let stays = is_known(&host) || new_hosts.contains(&host) || {
            let new = new_of_domain.entry(key_of(&host)).or_insert(0);
            let has_room = found.depth == 0 || domains.of(&host) + *new < max;
            *new += u32::from(has_room);
            has_room && new_hosts.insert(host.clone())
        };
        if stays {
            last = Some(host);
            return true;
        }
        let left_out = left_out.get_or_insert_with(|| LeftOut {
            rule: HOSTS_RULE.to_owned(),
            links: 0,
            example: found.url.clone(),
        });
        left_out.links += 1;
        false
    });
    left_out
}
