//! Values for the pages below a URL: the longest entry counts.
//!
//! A prefix is a page and everything below it: `https://example.org/wiki` means `/wiki` and
//! `/wiki/a`, and not `/wiki-old`. A query does not matter. As in a scope, http and https on their
//! default ports count as one place. The prefixes of a page form a chain, from its own path to the
//! root, so one of them is always the longest.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// A page and everything below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UrlPrefix(PageUrl);

/// A text that is not the beginning of a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the beginning of a URL: \"https://example.org/wiki/\", without a query, a \
     fragment or ="
)]
pub struct BadUrlPrefix(String);

impl UrlPrefix {
    /// Returns true if a page is below the prefix, or is the prefix.
    #[must_use]
    pub fn matches(&self, url: &PageUrl) -> bool {
        self.0.authority() == url.authority() && is_below(self.path(), url.as_url().path())
    }

    /// Returns the first page of the prefix.
    #[must_use]
    pub fn url(&self) -> &PageUrl {
        &self.0
    }

    /// Returns the number of bytes of the path: of two prefixes of a page, the longer one is below
    /// the other.
    #[must_use]
    pub fn length(&self) -> usize {
        self.path().len()
    }

    fn path(&self) -> &str {
        self.0.as_url().path()
    }
}

fn is_below(folder: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder) else {
        return folder.strip_suffix('/') == Some(path);
    };
    rest.is_empty() || folder.ends_with('/') || rest.starts_with('/')
}

impl FromStr for UrlPrefix {
    type Err = BadUrlPrefix;

    fn from_str(text: &str) -> Result<Self, BadUrlPrefix> {
        let bad = || BadUrlPrefix(text.to_owned());
        let has_scheme = text.starts_with("http://") || text.starts_with("https://");
        let has_login = text
            .split('/')
            .nth(2)
            .is_some_and(|host| host.contains('@'));
        // `=` separates a prefix from a selector.
        if !has_scheme || has_login || text.contains(['?', '#', '=', ' ', '*']) {
            return Err(bad());
        }
        let url = PageUrl::parse(text, &CanonicalForm::keep_all());
        url.map(Self).map_err(|_no_url| bad())
    }
}

impl TryFrom<String> for UrlPrefix {
    type Error = BadUrlPrefix;

    fn try_from(text: String) -> Result<Self, BadUrlPrefix> {
        text.parse()
    }
}

impl From<UrlPrefix> for String {
    fn from(prefix: UrlPrefix) -> Self {
        prefix.to_string()
    }
}

impl fmt::Display for UrlPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Values by prefixes of URLs. Clones share them.
#[derive(Clone, Debug)]
pub struct PrefixTable<T>(Arc<ByAuthority<T>>);

/// Prefixes with their values by authority, longest first.
type ByAuthority<T> = HashMap<Box<str>, Vec<(UrlPrefix, T)>>;

impl<T> PrefixTable<T> {
    /// Returns the value of the longest prefix of a URL.
    #[must_use]
    pub fn get(&self, url: &PageUrl) -> Option<&T> {
        if self.0.is_empty() {
            return None;
        }
        let mut of_place = self.0.get(url.authority())?.iter();
        let found = of_place.find(|(prefix, _)| prefix.matches(url));
        found.map(|(_, value)| value)
    }

    /// Returns all values, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten().map(|(_, value)| value)
    }
}

impl<T> Default for PrefixTable<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl<T> FromIterator<(UrlPrefix, T)> for PrefixTable<T> {
    fn from_iter<I: IntoIterator<Item = (UrlPrefix, T)>>(entries: I) -> Self {
        let mut places: ByAuthority<T> = HashMap::new();
        for (prefix, value) in entries {
            let place = prefix.url().authority().into();
            places.entry(place).or_default().push((prefix, value));
        }
        for of_place in places.values_mut() {
            of_place.sort_by_key(|(prefix, _)| Reverse(prefix.length()));
        }
        Self(Arc::new(places))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::default()).unwrap()
    }

    fn prefix(text: &str) -> UrlPrefix {
        text.parse().unwrap()
    }

    #[test]
    fn a_prefix_means_its_page_and_everything_below_it() {
        for (text, page, matches) in [
            ("http://a.test/wiki", "http://a.test/wiki", true),
            ("http://a.test/wiki", "http://a.test/wiki/x", true),
            ("http://a.test/wiki", "http://a.test/wiki?page=2", true),
            ("http://a.test/wiki", "http://a.test/wiki-old", false),
            ("http://a.test/@me", "http://a.test/@me/1", true),
            ("http://a.test/wiki/", "http://a.test/wiki", true),
            ("http://a.test/wiki/", "http://a.test/wiki/x/y", true),
            ("http://a.test/wiki/", "http://a.test/wi", false),
            ("http://a.test/", "https://a.test/x", true),
            ("http://a.test/", "http://www.a.test/x", false),
            ("http://a.test/", "http://a.test:8080/x", false),
            ("https://A.test:8443/", "https://a.test:8443/x", true),
        ] {
            assert_eq!(prefix(text).matches(&url(page)), matches, "{text} {page}");
        }
        for text in [
            "",
            "a.test/wiki",
            "ftp://a.test/",
            "http://a.test/?x",
            "http://a.test/a=b",
            "http://a.test/a b",
            "http://u@a.test/",
            "http://a.test/*",
            "http://",
        ] {
            assert!(text.parse::<UrlPrefix>().is_err(), "{text}");
        }
    }

    proptest! {
        /// The oracle looks at every entry.
        #[test]
        fn the_longest_prefix_counts_regardless_of_the_order(
            entries in proptest::collection::vec("http://[ab]\\.test(/[ab]{0,2}){1,3}", 0..12),
            page in "http://[ab]\\.test(/[ab]{0,2}){1,4}",
        ) {
            let entries: Vec<UrlPrefix> = entries.iter().map(|text| prefix(text)).collect();
            let table: PrefixTable<UrlPrefix> =
                entries.iter().map(|one| (one.clone(), one.clone())).collect();
            let page = url(&page);
            let longest = entries.iter().filter(|one| one.matches(&page));
            let longest = longest.map(UrlPrefix::length).max();
            prop_assert_eq!(table.get(&page).map(UrlPrefix::length), longest);
        }
    }
}
