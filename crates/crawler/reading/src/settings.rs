//! Settings for reading the archived pages of a crawl again.
//!
//! The commands and the Python package build their [`ReadingRules`] from these settings, so both
//! read a page as it was read when it was visited. Once a crawl has begun, its `crawler.toml`
//! contains all these settings.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de};
use web::{
    BadSelector, CanonicalForm, FieldSelectors, HostPattern, LinkKind, LinkKinds, MainSelectors,
    ReadLimits, UrlPrefix,
};

use crate::rules::ReadingRules;

/// The settings that decide how a page is read, named as in the configuration file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ReadingSettings {
    /// Query parameters that are ignored when URLs are compared.
    pub drop_parameters: Vec<String>,
    /// True if the order of query parameters is ignored.
    #[serde(deserialize_with = "on_or_off")]
    pub sort_parameters: bool,
    /// True if page requisites are links.
    #[serde(deserialize_with = "requisites")]
    pub page_requisites: bool,
    /// True if forms are links.
    pub forms: bool,
    /// True if URLs in scripts are links.
    pub script_links: bool,
    /// True if a page is judged by its main content.
    #[serde(deserialize_with = "on_or_off")]
    pub main_content: bool,
    /// Selectors of main content on all hosts.
    pub main_selector: Vec<String>,
    /// Selectors of main content on single hosts.
    pub host: BTreeMap<HostPattern, HostReading>,
    /// Settings of the pages below a URL, which go before those of hosts.
    pub prefix: BTreeMap<UrlPrefix, HostReading>,
    /// True if scripts are run.
    #[serde(deserialize_with = "render")]
    pub render: bool,
    /// The words of a topic.
    pub topic: Option<String>,
    /// Examples of a topic.
    pub topic_file: Vec<PathBuf>,
    /// True if the seeds are examples of a topic.
    pub topic_of_seeds: bool,
    /// Earlier crawls, oldest first, whose archives contain pages that did not change since.
    pub against: Vec<PathBuf>,
}

/// The settings of single hosts, or of the pages below a URL, that decide how a page is read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct HostReading {
    /// A selector that is tried before the selectors for all hosts.
    pub main_selector: Option<String>,
    /// Selectors of fields by their names.
    pub fields: BTreeMap<String, String>,
    /// True if scripts are run.
    #[serde(deserialize_with = "render")]
    pub render: bool,
}

impl Default for ReadingSettings {
    fn default() -> Self {
        let parameters = CanonicalForm::DEFAULT_PARAMETERS.iter();
        Self {
            drop_parameters: parameters.map(ToString::to_string).collect(),
            sort_parameters: true,
            page_requisites: false,
            forms: false,
            script_links: false,
            main_content: true,
            main_selector: Vec::new(),
            host: BTreeMap::new(),
            prefix: BTreeMap::new(),
            render: false,
            topic: None,
            topic_file: Vec::new(),
            topic_of_seeds: false,
            against: Vec::new(),
        }
    }
}

impl ReadingSettings {
    /// Reads the settings in a configuration file; other settings in it are ignored.
    ///
    /// # Errors
    /// The file is not TOML, or a value is not allowed.
    pub fn parse(file: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(file)
    }

    /// Returns the kinds of links that are extracted.
    #[must_use]
    fn link_kinds(&self) -> LinkKinds {
        let wanted = [
            (LinkKind::Requisite, self.page_requisites),
            (LinkKind::Form, self.forms),
            (LinkKind::Script, self.script_links),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.fold(LinkKinds::PAGES, |kinds, (kind, _)| kinds.with(kind))
    }

    /// Returns the canonical form for comparing URLs. They have routes of applications if scripts
    /// are run, which show them.
    #[must_use]
    pub fn canonical_form(&self) -> CanonicalForm {
        let mut of_parts = self.host.values().chain(self.prefix.values());
        let is_rendered = self.render || of_parts.any(|own| own.render);
        CanonicalForm::new(&self.drop_parameters)
            .sort_parameters(self.sort_parameters)
            .keep_routes(is_rendered)
    }

    /// Returns true if the crawl has a topic.
    #[must_use]
    pub fn has_topic(&self) -> bool {
        self.topic.is_some() || !self.topic_file.is_empty() || self.topic_of_seeds
    }

    /// Returns the selectors of main content: first the selectors of the pages below a URL, then
    /// the selectors of single hosts, the most specific first, then the selectors for all hosts.
    #[must_use]
    pub fn main_selectors(&self) -> Vec<String> {
        let of_parts = self.parts().into_iter().filter_map(|(pages, own)| {
            let css = own.main_selector.as_ref()?;
            Some(format!("{pages}={css}"))
        });
        of_parts.chain(self.main_selector.iter().cloned()).collect()
    }

    /// Returns the selectors of fields by name, the most specific first.
    fn field_selectors(&self) -> BTreeMap<String, Vec<String>> {
        let mut selectors: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (pages, own) in self.parts() {
            for (name, css) in &own.fields {
                let of_name = selectors.entry(name.clone()).or_default();
                of_name.push(format!("{pages}={css}"));
            }
        }
        selectors
    }

    /// Returns the settings of the pages below a URL and of single hosts, the most specific first:
    /// of two prefixes of a page the longer one, and of two patterns that match a host, too.
    fn parts(&self) -> Vec<(String, &HostReading)> {
        let mut prefixes: Vec<_> = self.prefix.iter().collect();
        prefixes.sort_by_key(|(prefix, _)| Reverse(prefix.length()));
        let mut hosts: Vec<_> = self.host.iter().collect();
        hosts.sort_by_key(|(pattern, _)| Reverse(pattern.to_string().len()));
        let prefixes = prefixes
            .into_iter()
            .map(|(prefix, own)| (prefix.to_string(), own));
        let hosts = hosts
            .into_iter()
            .map(|(pattern, own)| (pattern.to_string(), own));
        prefixes.chain(hosts).collect()
    }

    /// Returns the rules for reading pages.
    ///
    /// # Errors
    /// [`BadSelector`] for a selector that cannot be used.
    pub fn rules(&self) -> Result<ReadingRules, BadSelector> {
        Ok(ReadingRules {
            main_content: self.main_content,
            main_selectors: MainSelectors::parse(&self.main_selectors())?,
            fields: FieldSelectors::parse(self.field_selectors())?,
            limits: ReadLimits {
                kinds: self.link_kinds(),
                link_context: self.has_topic(),
                ..ReadLimits::default()
            },
            canonical: self.canonical_form(),
            ..ReadingRules::default()
        })
    }
}

fn on_or_off<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(de::Error::custom(format!("{other:?} is not on or off"))),
    }
}

/// Returns true for the values of `render` that run scripts.
fn render<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "off" => Ok(false),
        "shells" | "all" => Ok(true),
        other => Err(de::Error::custom(format!(
            "{other:?} is not off, shells or all"
        ))),
    }
}

/// Returns true for the words of `page-requisites` that make requisites links.
fn requisites<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "off" => Ok(false),
        "scope" | "any" => Ok(true),
        other => Err(de::Error::custom(format!(
            "{other:?} is not off, scope or any"
        ))),
    }
}
