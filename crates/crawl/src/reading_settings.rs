//! Settings for reading the archived pages of a crawl again.
//!
//! The commands and the Python package build their [`Policy`] from these settings, so both read a
//! page as it was read when it was visited. Once a crawl has begun, its `crawler.toml` contains all
//! these settings.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, de};
use web::{
    BadSelector, CanonicalForm, HostPattern, LanguageFilter, LinkKind, LinkKinds, MainSelectors,
    ReadLimits, Relations, TypeFilter,
};

use crate::policy::{OnDuplicate, Policy};
use crate::steps::duplicate_links::DuplicateLinks;
use crate::steps::listings::rules::ListingRules;
use crate::steps::requisites::Requisites;

/// Bytes of a decoded document that are read.
const MAX_DECODED: u64 = 8 << 20;

/// The settings that decide how a page is read, named as in the configuration file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ReadingSettings {
    /// Query parameters that are ignored when URLs are compared.
    pub drop_parameters: Vec<String>,
    /// True if the order of query parameters is ignored.
    #[serde(deserialize_with = "on_or_off")]
    pub sort_parameters: bool,
    /// The requisites that are links.
    #[serde(deserialize_with = "requisites")]
    pub page_requisites: Requisites,
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
    /// The words of a topic.
    pub topic: Option<String>,
    /// Examples of a topic.
    pub topic_file: Vec<PathBuf>,
    /// True if the seeds are examples of a topic.
    pub topic_of_seeds: bool,
}

/// The settings of single hosts that decide how a page is read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct HostReading {
    /// A selector that is tried before the selectors for all hosts.
    pub main_selector: Option<String>,
}

impl Default for ReadingSettings {
    fn default() -> Self {
        let parameters = CanonicalForm::DEFAULT_PARAMETERS.iter();
        Self {
            drop_parameters: parameters.map(ToString::to_string).collect(),
            sort_parameters: true,
            page_requisites: Requisites::Off,
            forms: false,
            script_links: false,
            main_content: true,
            main_selector: Vec::new(),
            host: BTreeMap::new(),
            topic: None,
            topic_file: Vec::new(),
            topic_of_seeds: false,
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
    pub fn link_kinds(&self) -> LinkKinds {
        let wanted = [
            (LinkKind::Requisite, self.page_requisites != Requisites::Off),
            (LinkKind::Form, self.forms),
            (LinkKind::Script, self.script_links),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.fold(LinkKinds::PAGES, |kinds, (kind, _)| kinds.with(kind))
    }

    /// Returns the canonical form for comparing URLs.
    #[must_use]
    pub fn canonical_form(&self) -> CanonicalForm {
        CanonicalForm::new(&self.drop_parameters).sort_parameters(self.sort_parameters)
    }

    /// Returns true if the crawl has a topic.
    #[must_use]
    pub fn has_topic(&self) -> bool {
        self.topic.is_some() || !self.topic_file.is_empty() || self.topic_of_seeds
    }

    /// Returns the selectors of main content: first the selectors of single hosts, the most
    /// specific first, then the selectors for all hosts.
    #[must_use]
    pub fn main_selectors(&self) -> Vec<String> {
        // Of two patterns that match one host, the longer one is more specific.
        let mut hosts: Vec<_> = self.host.iter().collect();
        hosts.sort_by_key(|(pattern, _)| Reverse(pattern.to_string().len()));
        let of_hosts = hosts.into_iter().filter_map(|(pattern, own)| {
            let css = own.main_selector.as_ref()?;
            Some(format!("{pattern}={css}"))
        });
        of_hosts.chain(self.main_selector.iter().cloned()).collect()
    }

    /// Returns a policy with the rules for reading pages. Its other rules are defaults, without
    /// effect on what a page contains.
    ///
    /// # Errors
    /// [`BadSelector`] for a selector that cannot be used.
    pub fn policy(&self) -> Result<Policy, BadSelector> {
        Ok(Policy {
            on_duplicate: OnDuplicate::Drop,
            duplicate_text: false,
            duplicate_links: DuplicateLinks::default(),
            max_depth: None,
            page_requisites: self.page_requisites,
            tries: 1,
            redirects: 0,
            ignore_robots: false,
            skip_relations: Relations::NOFOLLOW,
            types: TypeFilter::default(),
            languages: LanguageFilter::default(),
            main_content: self.main_content,
            main_selectors: MainSelectors::parse(&self.main_selectors())?,
            agent: "crawler".to_owned(),
            max_decoded: MAX_DECODED,
            index: None,
            digest: sinks::DigestAlgorithm::Sha1,
            outlinks: false,
            read: ReadLimits {
                kinds: self.link_kinds(),
                link_context: self.has_topic(),
                ..ReadLimits::default()
            },
            listings: ListingRules::default(),
            canonical: self.canonical_form(),
            traps: None,
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

fn requisites<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Requisites, D::Error> {
    let word = String::deserialize(deserializer)?;
    word.parse().map_err(de::Error::custom)
}
