//! Settings of parts of a crawl, next to those of single hosts: the tables `[prefix."URL"]` and
//! `[seed."URL"]` of a settings file.
//!
//! A prefix is a page and everything below it. Each key is looked up separately: the longest prefix
//! with the key counts, then the host's table, then the setting of all pages. The table of a seed
//! says what the seed lets in; the crawl does not remember from which seed a page was found, so no
//! other key can depend on it.
//!
//! Invariant: a key stands in the table where it means something. Elsewhere it is refused, with the
//! table where it belongs ([`refuse_misplaced`]).

use std::collections::BTreeMap;
use std::path::Path;

use messages::{CommandError, usage};
use policy::{DepthLimits, RenderMode};
use serde::{Deserialize, Serialize};
use toml::de::DeTable;
use web::{PageUrl, PrefixTable, ScopeKind, UrlPrefix};

use super::Settings;
use super::hosts::{fields, selector};
use crate::suggestions;
use crate::values::maybe_word;

/// Tables by prefixes of URLs.
pub type PrefixTables = BTreeMap<UrlPrefix, PrefixSettings>;

/// Tables by seeds.
pub type SeedTables = BTreeMap<PageUrl, SeedSettings>;

/// Settings of the pages below a URL.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrefixSettings {
    /// Replaces `max-depth`, even if it is higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// CSS selector, tried before the selectors of hosts and of `main-selector`.
    #[serde(deserialize_with = "selector", skip_serializing_if = "Option::is_none")]
    pub main_selector: Option<String>,
    /// CSS selectors by the names of fields, tried before the selectors of hosts.
    #[serde(
        deserialize_with = "fields",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub fields: BTreeMap<String, String>,
    /// Replaces `render`.
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub render: Option<RenderMode>,
}

/// Settings of a seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SeedSettings {
    /// Replaces `scope` for what this seed lets in.
    #[serde(with = "maybe_word", skip_serializing_if = "Option::is_none")]
    pub scope: Option<ScopeKind>,
}

/// The tables of parts, each with the word for its name and with its keys.
const PARTS: [(&str, &str, &[&str]); 3] = [
    (
        "host",
        "NAME",
        &[
            "delay",
            "concurrency",
            "max-pages",
            "main-selector",
            "fields",
            "render",
            "client-cert",
            "client-key",
            "proxy",
            "headers",
        ],
    ),
    (
        "prefix",
        "URL",
        &["max-depth", "main-selector", "fields", "render"],
    ),
    ("seed", "URL", &["scope"]),
];

/// Refuses a key of a part's table that does not belong there, with its line and the place where it
/// belongs or a suggestion. `settings` are the keys of the whole crawl.
pub(super) fn refuse_misplaced(
    text: &str,
    path: &Path,
    table: &DeTable<'_>,
    settings: &[String],
) -> Result<(), CommandError> {
    for (part, _, known) in PARTS {
        let tables = table
            .get(part)
            .and_then(|tables| tables.get_ref().as_table());
        for (name, table) in tables.into_iter().flatten() {
            for (key, _) in table.get_ref().as_table().into_iter().flatten() {
                let word: &str = key.get_ref();
                if known.contains(&word) {
                    continue;
                }
                let line = text[..key.span().start].matches('\n').count() + 1;
                let (path, name) = (path.display(), name.get_ref());
                let error = usage(format!(
                    "{path}: at line {line}: there is no setting {word:?} in [{part}.\"{name}\"]"
                ));
                return Err(error.with_remedy(place_of(word, known, settings)));
            }
        }
    }
    Ok(())
}

/// Returns the place where a key belongs, or a suggestion of one of the `known` keys.
fn place_of(key: &str, known: &[&str], settings: &[String]) -> String {
    let mut others = PARTS.iter().filter(|(_, _, keys)| keys.contains(&key));
    if let Some((part, name, _)) = others.next() {
        return format!("{key} belongs in [{part}.\"{name}\"]");
    }
    if settings.iter().any(|setting| setting == key) {
        return format!("{key} is a setting of the whole crawl: write it above all tables");
    }
    let keys: Vec<String> = known.iter().map(ToString::to_string).collect();
    let suggested = suggestions::for_key(key, &keys);
    suggested.unwrap_or_else(|| format!("the keys of this table are {}", known.join(", ")))
}

impl Settings {
    /// Returns a value of single prefixes by URL; tables without the value are omitted.
    pub(super) fn of_prefixes<T>(
        &self,
        value: impl Fn(&PrefixSettings) -> Option<T>,
    ) -> PrefixTable<T> {
        let values = self
            .prefix
            .iter()
            .filter_map(|(prefix, own)| Some((prefix.clone(), value(own)?)));
        values.collect()
    }

    /// Returns the maximum numbers of links from a seed.
    pub fn depth_limits(&self) -> DepthLimits {
        DepthLimits {
            others: self.max_depth,
            of_prefixes: self.of_prefixes(|own| own.max_depth),
        }
    }

    /// Returns the scope of single seeds, as pages of this crawl.
    pub fn seed_scopes(&self) -> impl Iterator<Item = (PageUrl, ScopeKind)> {
        let form = self.canonical_form();
        self.seed.iter().filter_map(move |(seed, own)| {
            let seed = PageUrl::parse(seed.as_str(), &form).ok()?;
            Some((seed, own.scope?))
        })
    }

    /// Checks that the scope of each seed can have an effect.
    pub(super) fn check_seed_scopes(&self) -> Result<(), CommandError> {
        for (seed, own) in &self.seed {
            if own.scope == Some(ScopeKind::Any) {
                let error = format!("[seed.\"{seed}\"]: scope any of one seed is that of all");
                return Err(usage(error).with_remedy("use --scope any, or domain for this seed"));
            }
            if own.scope.is_some() && self.scope == ScopeKind::Any {
                let error = format!("[seed.\"{seed}\"]: its scope has no effect with --scope any");
                return Err(usage(error).with_remedy("omit one of the two"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (String, String) {
        let table = DeTable::parse(text).unwrap();
        let keys = Settings::keys();
        let refused = refuse_misplaced(text, Path::new("my.toml"), table.get_ref(), &keys);
        let error = refused.unwrap_err();
        (
            error.message().to_owned(),
            error.remedy().unwrap_or_default().to_owned(),
        )
    }

    #[test]
    fn the_keys_of_each_table_are_those_that_are_read() {
        for (part, name, keys) in PARTS {
            let name = if name == "URL" {
                "http://a.test/"
            } else {
                "a.test"
            };
            let text = format!("[{part}.\"{name}\"]\nx = 1\n");
            let error = toml::from_str::<Settings>(&text).unwrap_err();
            let known: Vec<&str> = error
                .message()
                .split('`')
                .skip(1)
                .step_by(2)
                .skip(1)
                .collect();
            assert_eq!(known, keys, "{part}: {error}");
        }
    }

    #[test]
    fn a_misplaced_or_misspelt_key_is_refused_with_its_place() {
        for (text, error, remedy) in [
            (
                "[prefix.\"http://a.test/x/\"]\nmax-depth = 1\ndelay = \"5s\"\n",
                "my.toml: at line 3: there is no setting \"delay\" in \
                 [prefix.\"http://a.test/x/\"]",
                "delay belongs in [host.\"NAME\"]",
            ),
            (
                "[seed.\"http://a.test/\"]\nmax-depth = 1\n",
                "at line 2",
                "max-depth belongs in [prefix.\"URL\"]",
            ),
            (
                "[host.\"a.test\"]\nscope = \"prefix\"\n",
                "at line 2",
                "scope belongs in [seed.\"URL\"]",
            ),
            (
                "[prefix.\"http://a.test/\"]\nproxy = \"x\"\n",
                "at line 2",
                "proxy belongs in [host.\"NAME\"]",
            ),
            (
                "[prefix.\"http://a.test/\"]\nmax-deph = 1\n",
                "\"max-deph\"",
                "did you mean max-depth?",
            ),
            (
                "[seed.\"http://a.test/\"]\nzzz = 1\n",
                "\"zzz\"",
                "the keys of this table are scope",
            ),
        ] {
            let (found, help) = refused(text);
            assert!(found.contains(error), "{text}: {found}");
            assert_eq!(help, remedy, "{text}");
        }
    }

    #[test]
    fn the_scope_of_one_seed_cannot_be_any_and_needs_a_narrower_one_around_it() {
        let check = |text: &str| {
            toml::from_str::<Settings>(text)
                .unwrap()
                .check_seed_scopes()
        };
        assert!(check("[seed.\"http://a.test/\"]\nscope = \"prefix\"\n").is_ok());
        assert!(check("[seed.\"http://a.test/\"]\nscope = \"any\"\n").is_err());
        assert!(check("scope = \"any\"\n[seed.\"http://a.test/\"]\nscope = \"host\"\n").is_err());
        assert!(
            toml::from_str::<Settings>("[seed.\"a.test\"]\n").is_err(),
            "not a URL"
        );
    }
}
