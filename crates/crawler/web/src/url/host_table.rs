//! Values for hosts and for the subdomains of hosts: the most specific entry counts.
//!
//! A pattern is the name of a host, `example.org`, or `*.example.org` for all its subdomains, at
//! any depth and without the host itself. The patterns that match a host form a chain, from its
//! name to the shortest domain, so one of the patterns is always the most specific.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::url::canonical::CanonicalForm;
use crate::url::host::Host;
use crate::url::page_url::PageUrl;

/// A host, or the subdomains of a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostPattern {
    host: Host,
    subdomains: bool,
}

/// A text that is not a pattern of hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a host: \"example.org\", or \"*.example.org\" for its subdomains")]
pub struct BadHostPattern(String);

impl HostPattern {
    /// Returns true if the pattern matches the host.
    #[must_use]
    pub fn matches(&self, host: &Host) -> bool {
        match self.subdomains {
            false => self.host == *host,
            true => {
                let before = host.as_str().strip_suffix(self.host.as_str());
                before.is_some_and(|before| before.ends_with('.'))
            }
        }
    }

    /// Returns true if this pattern matches every host that `other` matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self == other || self.subdomains && self.matches(&other.host)
    }
}

impl FromStr for HostPattern {
    type Err = BadHostPattern;

    fn from_str(text: &str) -> Result<Self, BadHostPattern> {
        let bad = || BadHostPattern(text.to_owned());
        let (name, subdomains) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        if name.is_empty() || name.contains(['/', '?', '#', '@', ' ', '*', '\t', '\n', '\r']) {
            return Err(bad());
        }
        let url = PageUrl::parse(&format!("http://{name}/"), &CanonicalForm::keep_all());
        let url = url.map_err(|_no_url| bad())?;
        // Politeness ignores ports, and an address has no subdomains.
        let is_bare = url.as_url().port().is_none() && !name.ends_with(":80");
        let is_name = url.as_url().domain().is_some();
        if !is_bare || subdomains && !is_name {
            return Err(bad());
        }
        Ok(Self {
            host: url.host(),
            subdomains,
        })
    }
}

impl TryFrom<String> for HostPattern {
    type Error = BadHostPattern;

    fn try_from(text: String) -> Result<Self, BadHostPattern> {
        text.parse()
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subdomains {
            f.write_str("*.")?;
        }
        self.host.fmt(f)
    }
}

/// Values by patterns of hosts. Clones share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTable<T>(Arc<Entries<T>>);

#[derive(Debug, PartialEq, Eq)]
struct Entries<T> {
    hosts: HashMap<Host, T>,
    /// Keyed by the domain of the subdomains.
    subdomains: HashMap<Host, T>,
}

impl<T> HostTable<T> {
    /// Returns the value of the most specific pattern that matches a host.
    #[must_use]
    pub fn get(&self, host: &Host) -> Option<&T> {
        let Entries { hosts, subdomains } = &*self.0;
        if hosts.is_empty() && subdomains.is_empty() {
            return None;
        }
        let mut rest = host.as_str();
        hosts.get(host).or_else(|| {
            while let Some((_, domain)) = rest.split_once('.') {
                if let Some(found) = subdomains.get(domain) {
                    return Some(found);
                }
                rest = domain;
            }
            None
        })
    }

    /// Returns a table of the same patterns with other values.
    #[must_use]
    pub fn map<U>(&self, value: impl Fn(&T) -> U) -> HostTable<U> {
        let mapped = |entries: &HashMap<Host, T>| {
            let entries = entries.iter();
            entries
                .map(|(host, old)| (host.clone(), value(old)))
                .collect()
        };
        HostTable(Arc::new(Entries {
            hosts: mapped(&self.0.hosts),
            subdomains: mapped(&self.0.subdomains),
        }))
    }

    /// Returns all values, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.hosts.values().chain(self.0.subdomains.values())
    }
}

impl<T> Default for HostTable<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

/// The last of several values for a pattern counts.
impl<T> FromIterator<(HostPattern, T)> for HostTable<T> {
    fn from_iter<I: IntoIterator<Item = (HostPattern, T)>>(entries: I) -> Self {
        let (mut hosts, mut subdomains) = (HashMap::new(), HashMap::new());
        for (pattern, value) in entries {
            match pattern.subdomains {
                true => subdomains.insert(pattern.host, value),
                false => hosts.insert(pattern.host, value),
            };
        }
        Self(Arc::new(Entries { hosts, subdomains }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    #[test]
    fn a_pattern_names_a_host_or_its_subdomains_without_itself() {
        for (text, host, matches) in [
            ("example.org", "example.org", true),
            ("Example.ORG", "example.org", true),
            ("example.org", "www.example.org", false),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", "badexample.org", false),
            ("münchen.test", "xn--mnchen-3ya.test", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("[::1]", "[::1]", true),
        ] {
            let found = pattern(text).matches(&Host::new(host));
            assert_eq!(found, matches, "{text} and {host}");
        }
        let bad = [
            "",
            "*",
            "*.",
            "**.a.test",
            "a.*.test",
            "a b",
            "a.test/b",
            "a.test:80",
            "a.test:8080",
            "u@a.test",
            "*.127.0.0.1",
            "*.[::1]",
        ];
        for text in bad {
            assert!(text.parse::<HostPattern>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_most_specific_pattern_counts_whatever_the_order() {
        let entries = [
            "*.org",
            "*.example.org",
            "www.example.org",
            "*.www.example.org",
        ];
        for entries in [entries, [entries[3], entries[1], entries[2], entries[0]]] {
            let table: HostTable<&str> = entries
                .map(|text| (pattern(text), text))
                .into_iter()
                .collect();
            for (host, expected) in [
                ("www.example.org", Some("www.example.org")),
                ("a.www.example.org", Some("*.www.example.org")),
                ("wiki.example.org", Some("*.example.org")),
                ("example.org", Some("*.org")),
                ("example.com", None),
                ("org", None),
            ] {
                assert_eq!(table.get(&Host::new(host)).copied(), expected, "{host}");
            }
        }
        assert_eq!(HostTable::<u8>::default().get(&Host::new("a.test")), None);
    }

    #[test]
    fn a_pattern_covers_those_below_it() {
        for (wide, narrow, covers) in [
            ("*.org", "*.example.org", true),
            ("*.org", "example.org", true),
            ("*.example.org", "*.example.org", true),
            ("*.example.org", "example.org", false),
            ("example.org", "*.example.org", false),
            ("*.example.org", "*.org", false),
        ] {
            assert_eq!(
                pattern(wide).covers(&pattern(narrow)),
                covers,
                "{wide}, {narrow}"
            );
        }
    }
}
