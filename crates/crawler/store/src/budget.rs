//! A cap on the hosts per registrable domain, because the owner of a domain can create any number
//! of names below it.

use std::collections::{HashMap, HashSet};
use std::iter;

use journal::{DiscoveredUrl, ExcludedLinks};
use web::{Host, UrlKey};

use crate::frontier::HOSTS_RULE;

/// Number of known hosts per registrable domain and per branch, by the key of the name: 16 bytes
/// per name.
///
/// A branch is the first name below the domain, such as `u1.example.com` in `a.u1.example.com`: the
/// part that one user of a platform with wildcard names owns.
#[derive(Clone, Debug, Default)]
pub struct DomainCounts(HashMap<UrlKey, u32>);

impl DomainCounts {
    /// Counts a host that becomes known.
    pub fn add(&mut self, host: &Host) {
        for name in names(host) {
            *self.0.entry(name).or_insert(0) += 1;
        }
    }

    /// Uncounts a host that is forgotten.
    pub(crate) fn remove(&mut self, host: &Host) {
        for name in names(host) {
            if let Some(count) = self.0.get_mut(&name) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Copies the counts that concern a host, unless they are there.
    fn start_from(&mut self, known: &Self, host: &Host) {
        for name in names(host) {
            let known = known.0.get(&name).copied().unwrap_or(0);
            self.0.entry(name).or_insert(known);
        }
    }

    /// Returns true if a new host fits among the `max` hosts of its domain. A branch gets at most
    /// half of the places that the rest of the domain leaves, so it cannot crowd out other hosts.
    #[must_use]
    pub fn has_room(&self, host: &Host, max: u32) -> bool {
        let mut counts = names(host).map(|name| self.0.get(&name).copied().unwrap_or(0));
        let in_domain = counts.next().unwrap_or(0);
        in_domain < max
            && counts.all(|in_branch| {
                let elsewhere = in_domain.saturating_sub(in_branch);
                in_branch < max.saturating_sub(elsewhere).div_ceil(2)
            })
    }
}

/// Returns the keys of a host's registrable domain and, for a host below a branch, of the branch.
fn names(host: &Host) -> impl Iterator<Item = UrlKey> {
    let domain = host.registrable_domain();
    let labels = host.as_str().strip_suffix(domain).unwrap_or_default();
    let below = labels.trim_end_matches('.').rfind('.');
    let branch = below.map(|dot| UrlKey::of_name(&host.as_str()[dot + 1..]));
    iter::once(UrlKey::of_name(domain)).chain(branch)
}

/// Removes URLs of unknown hosts from `discovered` if they do not fit among the `max` known hosts
/// of their domain. The remaining URLs may add hosts up to that cap. Seeds always stay.
pub fn exclude(
    discovered: &mut Vec<DiscoveredUrl>,
    max: u32,
    domains: &DomainCounts,
    is_known: impl Fn(&Host) -> bool,
) -> Option<ExcludedLinks> {
    let mut excluded: Option<ExcludedLinks> = None;
    let mut last: Option<Host> = None;
    let (mut new_hosts, mut counts) = (HashSet::new(), DomainCounts::default());
    discovered.retain(|found| {
        // Most links of a page point to one host.
        let name = found.url.as_url().host_str();
        if last
            .as_ref()
            .is_some_and(|last| name == Some(last.as_str()))
        {
            return true;
        }
        let host = found.url.host();
        let stays = is_known(&host) || new_hosts.contains(&host) || {
            counts.start_from(domains, &host);
            let enters = found.depth == 0 || counts.has_room(&host, max);
            if enters {
                counts.add(&host);
                new_hosts.insert(host.clone());
            }
            enters
        };
        if stays {
            last = Some(host);
            return true;
        }
        let excluded = excluded.get_or_insert_with(|| ExcludedLinks {
            rule: HOSTS_RULE.to_owned(),
            links: 0,
            example: found.url.clone(),
        });
        excluded.links += 1;
        false
    });
    excluded
}
