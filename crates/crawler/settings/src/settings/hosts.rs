//! Settings of single hosts: the tables `[host."NAME"]` of a settings file.
//!
//! A name is a host, or `*.example.org` for its subdomains. Each key is looked up separately: the
//! most specific table with the key counts, or else the setting of all hosts.
//!
//! Invariant: header fields, and user and password of a proxy, are not serialized. No file of a
//! crawl and no list of its settings contains them, `Debug` does not show them, and no error
//! repeats them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use policy::values::check_concurrency;
use policy::{RenderMode, RenderRules};
use requests::{HostProxy, SecretField};
use serde::{Deserialize, Deserializer, Serialize, de};
use web::{Host, HostPattern, HostTable, MainSelectors};

use super::Settings;
use crate::values::{Span, maybe_word};

/// Tables by host pattern.
pub type HostTables = BTreeMap<HostPattern, HostSettings>;

/// Settings of single hosts. For missing settings, the settings of all hosts apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct HostSettings {
    /// Replaces `delay`, even if it is shorter.
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Replaces `concurrency-per-host`.
    #[serde(
        deserialize_with = "concurrency",
        skip_serializing_if = "Option::is_none"
    )]
    pub concurrency: Option<NonZeroUsize>,
    /// Replaces `max-pages-per-host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<u64>,
    /// CSS selector, tried before the selectors of `main-selector`.
    #[serde(deserialize_with = "selector", skip_serializing_if = "Option::is_none")]
    pub main_selector: Option<String>,
    /// CSS selectors by the names of fields: `fields = { price = ".price" }`. The texts of the
    /// host's pages have the text of the first element of each. Of a name in several tables, the
    /// most specific selector that matches counts.
    #[serde(
        deserialize_with = "fields",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub fields: BTreeMap<String, String>,
    /// Replaces `render`.
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub render: Option<RenderMode>,
    /// Certificate and its key, for servers that request a client certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_key: Option<PathBuf>,
    /// Replaces `proxy`; `none` is no proxy.
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub proxy: Option<HostProxy>,
    #[serde(skip_serializing)]
    pub headers: HostHeaders,
}

/// Header fields for single hosts, `Name: value` or `@FILE`. `Debug` hides them.
#[derive(Clone, Default, PartialEq)]
pub struct HostHeaders(pub Vec<String>);

impl fmt::Debug for HostHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} header fields", self.0.len())
    }
}

/// One header field or a list, as written in the file.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "headers must be \"Name: value\", \"@FILE\" or a list of these"
)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl<'de> Deserialize<'de> for HostHeaders {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = match OneOrMore::deserialize(deserializer)? {
            OneOrMore::One(field) => vec![field],
            OneOrMore::More(fields) => fields,
        };
        for field in fields.iter().filter(|field| !field.starts_with('@')) {
            let parsed = SecretField::parse(field).map_err(de::Error::custom)?;
            if parsed.origin().is_some() {
                return Err(de::Error::custom(
                    "a field of a host must not have an origin: \"Name: value\"",
                ));
            }
        }
        Ok(Self(fields))
    }
}

fn concurrency<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NonZeroUsize>, D::Error> {
    let pages = NonZeroUsize::deserialize(deserializer)?;
    check_concurrency(pages.get()).map_err(de::Error::custom)?;
    Ok(Some(pages))
}

pub(super) fn selector<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let css = String::deserialize(deserializer)?;
    check_selector(&css)?;
    Ok(Some(css))
}

pub(super) fn fields<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let fields = BTreeMap::<String, String>::deserialize(deserializer)?;
    fields.values().try_for_each(|css| check_selector(css))?;
    Ok(fields)
}

fn check_selector<E: de::Error>(css: &str) -> Result<(), E> {
    // With a host prefix, so that the selector itself is not parsed as `HOST=CSS`.
    let parsed = MainSelectors::parse(&[format!("a.test={css}")]);
    parsed.map(drop).map_err(|_bad| {
        let simple = "names, classes, ids, attributes, ` ` and `>`";
        E::custom(format!("{css:?} is not a CSS selector of {simple}"))
    })
}

impl HostSettings {
    /// Fills in missing settings from a less specific table.
    fn or(self, wider: &Self) -> Self {
        Self {
            delay: self.delay.or(wider.delay),
            concurrency: self.concurrency.or(wider.concurrency),
            max_pages: self.max_pages.or(wider.max_pages),
            main_selector: self.main_selector.or_else(|| wider.main_selector.clone()),
            fields: wider
                .fields
                .clone()
                .into_iter()
                .chain(self.fields)
                .collect(),
            render: self.render.or(wider.render),
            // A key belongs to its certificate.
            client_key: match self.client_cert {
                Some(_) => self.client_key,
                None => wider.client_key.clone(),
            },
            client_cert: self.client_cert.or_else(|| wider.client_cert.clone()),
            proxy: self.proxy.or_else(|| wider.proxy.clone()),
            headers: match self.headers.0.is_empty() {
                true => wider.headers.clone(),
                false => self.headers,
            },
        }
    }
}

impl Settings {
    /// Returns the tables of hosts, each filled in from less specific tables. So the most specific
    /// table that matches a host contains all its settings. More specific tables come first.
    pub fn resolved_hosts(&self) -> Vec<(HostPattern, HostSettings)> {
        // Of two patterns that match one host, the longer one is more specific.
        let length = |pattern: &HostPattern| Reverse(pattern.to_string().len());
        let mut tables: Vec<_> = self.host.iter().collect();
        tables.sort_by_key(|(pattern, _)| length(pattern));
        let resolved = tables.iter().map(|(pattern, own)| {
            let wider = tables
                .iter()
                .filter(|(other, _)| other != pattern && other.covers(pattern));
            let all = wider.fold((*own).clone(), |own, (_, wider)| own.or(wider));
            ((*pattern).clone(), all)
        });
        resolved.collect()
    }

    /// Returns the settings of single hosts by host.
    pub fn host_table(&self) -> HostTable<HostSettings> {
        self.resolved_hosts().into_iter().collect()
    }

    /// Returns the delay of a host.
    pub fn delay_of(&self, host: &Host) -> Duration {
        let table = self.host_table();
        let own = table.get(host).and_then(|own| own.delay);
        own.unwrap_or(self.delay).0
    }

    /// Returns the maximum number of pages in flight for a host.
    pub fn per_host_of(&self, host: &Host) -> usize {
        let table = self.host_table();
        let own = table.get(host).and_then(|own| own.concurrency);
        own.map_or_else(|| self.per_host(), NonZeroUsize::get)
    }

    /// Returns the rules for running scripts.
    pub fn render_rules(&self) -> RenderRules {
        RenderRules {
            mode: self.render,
            of_hosts: self.host_table().map(|own| own.render),
            of_prefixes: self.of_prefixes(|own| own.render),
            screenshots: self.screenshots,
            posts: self.render_post,
        }
    }

    /// Returns true if scripts are run, of any page.
    pub fn renders(&self) -> bool {
        let of_hosts = self.host.values().filter_map(|own| own.render);
        let mut of_parts = of_hosts.chain(self.prefix.values().filter_map(|own| own.render));
        self.render.is_on() || of_parts.any(RenderMode::is_on)
    }

    /// Returns the selectors of main content: first the selectors of prefixes, then those of single
    /// hosts, most specific first, and then the selectors of all pages.
    pub(crate) fn main_selectors(&self) -> Vec<String> {
        self.reading().main_selectors()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn each_key_is_that_of_the_most_specific_table_that_has_it() {
        let settings = settings(
            "delay = \"1s\"\nmain-selector = [\"main\"]\n\
             [host.\"*.example.org\"]\ndelay = \"5s\"\nmain-selector = \"article\"\n\
             [host.\"www.example.org\"]\nconcurrency = 3\nmain-selector = \"#page\"\n\
             [host.\"*.org\"]\ndelay = \"9s\"\nconcurrency = 2\n",
        );
        for (host, delay, connections) in [
            ("www.example.org", 5, 3),
            ("wiki.example.org", 5, 2),
            ("example.org", 9, 2),
            ("example.com", 1, 1),
        ] {
            let host = Host::new(host);
            assert_eq!(
                settings.delay_of(&host),
                Duration::from_secs(delay),
                "{host}"
            );
            assert_eq!(settings.per_host_of(&host), connections, "{host}");
        }
        assert_eq!(
            settings.main_selectors(),
            ["www.example.org=#page", "*.example.org=article", "main"]
        );
    }

    #[test]
    fn header_fields_are_written_nowhere() {
        let settings = settings("[host.\"a.test\"]\nheaders = [\"X-Key: hidden\", \"@file\"]\n");
        assert_eq!(settings.host.values().next().unwrap().headers.0.len(), 2);
        assert!(!settings.as_run(Vec::new()).unwrap().contains("hidden"));
        assert!(!format!("{settings:?}").contains("hidden"));
    }

    #[test]
    fn the_password_of_a_proxy_is_written_nowhere() {
        let settings = settings(
            "[host.\"*.test\"]\nproxy = \"http://me:hidden@p.test:3128\"\n\
             [host.\"a.test\"]\nproxy = \"none\"\n",
        );
        let proxy_of = |host: &str| {
            let table = settings.host_table();
            let own = table
                .get(&Host::new(host))
                .and_then(|own| own.proxy.clone());
            own.map(|proxy| proxy.to_string())
        };
        assert_eq!(proxy_of("b.test").as_deref(), Some("http://p.test:3128"));
        assert_eq!(proxy_of("a.test").as_deref(), Some("none"));
        let kept = settings.as_run(Vec::new()).unwrap();
        assert!(kept.contains("proxy = \"http://p.test:3128\""), "{kept}");
        assert!(!format!("{kept}{settings:?}").contains("hidden"));
    }

    #[test]
    fn a_mistake_is_refused_and_a_secret_is_not_repeated() {
        for (line, message) in [
            ("dealy = \"5s\"", "unknown field `dealy`"),
            ("delay = 5", "5 must be written \"5s\""),
            ("concurrency = 0", "expected a nonzero"),
            ("concurrency = 10001", "from 1 to 10000"),
            ("max-pages = -1", "-1"),
            ("main-selector = \"p:has(a)\"", "is not a CSS selector"),
            ("fields = { price = \"p:has(a)\" }", "is not a CSS selector"),
            ("fields = \".price\"", "expected a map"),
            ("proxy = \"ftp://u:hidden@p.test\"", "scheme must be http"),
            ("proxy = \"direct\"", "\"none\" is no proxy"),
            ("headers = 7", "headers must be"),
            ("headers = [\"hidden\"]", "Name: value"),
            (
                "headers = \"Cookie: hidden\"",
                "cookie cannot be set this way",
            ),
            (
                "headers = \"https://a.test X-Key: hidden\"",
                "must not have an origin",
            ),
        ] {
            let text = format!("[host.\"a.test\"]\n{line}\n");
            let error = toml::from_str::<Settings>(&text).unwrap_err();
            let shown = super::super::one_line(&error);
            assert!(shown.contains(message), "{line}: {shown}");
            assert!(shown.contains("at line 2"), "{line}: {shown}");
            assert!(!shown.contains("hidden"), "{line}: {shown}");
        }
        let error = toml::from_str::<Settings>("[host.\"a b\"]\n").unwrap_err();
        let shown = super::super::one_line(&error);
        assert!(
            shown.contains("at line 1") && shown.contains("is not a host"),
            "{shown}"
        );
    }
}
