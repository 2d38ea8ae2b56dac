//! Values derived from several settings, or from the text of a setting.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use messages::{CommandError, usage};
use neardup::Thresholds;
use policy::{RenderMode, Requisites};
use reading::{HostReading, ReadingSettings};
use requests::{AddressBound, ProxyUrl};
use store::ComparisonOptions;
use web::{CanonicalForm, GroupBy, Relations};

use super::Settings;
use crate::features::FeatureSettings;
use crate::machine;

/// Connections per host in an impolite crawl. Browsers open six, wget2 opens five.
const IMPOLITE_PER_HOST: usize = 4;

impl Settings {
    /// Returns the maximum number of pages in flight per host: one, or `IMPOLITE_PER_HOST` if
    /// politeness is turned off altogether. This number keeps a host busy without hundreds of
    /// connections.
    pub fn per_host(&self) -> usize {
        let impolite = self.delay.0.is_zero() && self.delay_factor == 0.0;
        self.concurrency_per_host
            .unwrap_or(if impolite { IMPOLITE_PER_HOST } else { 1 })
    }

    /// Returns the unit that shares one pace.
    pub fn group_by(&self) -> GroupBy {
        self.group_by.unwrap_or_default()
    }

    /// Returns the bound of an address over all its hosts. Hosts that share a pace by address do
    /// not need another bound. Hosts that were explicitly given their own pace are not bounded.
    pub(crate) fn address_bound(&self) -> AddressBound {
        match (&self.address_rate, self.group_by) {
            (Some(rate), _) => AddressBound::Rate(rate.0),
            (None, Some(GroupBy::Host | GroupBy::Address)) => AddressBound::Unbounded,
            (None, None | Some(GroupBy::Domain)) => AddressBound::FollowsDelay,
        }
    }

    /// Returns the memory for holding and reading bodies, in bytes.
    pub fn memory(&self) -> u64 {
        self.memory
            .map_or_else(machine::memory_for_content, |size| size.0)
    }

    /// Returns the settings for reading pages.
    pub fn reading(&self) -> ReadingSettings {
        let reading = |selector: &Option<String>, fields: &BTreeMap<_, _>, render| HostReading {
            main_selector: selector.clone(),
            fields: fields.clone(),
            render: Option::is_some_and(render, RenderMode::is_on),
        };
        let host = self.host.iter().map(|(pattern, own)| {
            let reading = reading(&own.main_selector, &own.fields, own.render);
            (pattern.clone(), reading)
        });
        let prefix = self.prefix.iter().map(|(prefix, own)| {
            let reading = reading(&own.main_selector, &own.fields, own.render);
            (prefix.clone(), reading)
        });
        ReadingSettings {
            drop_parameters: self.drop_parameters.clone(),
            sort_parameters: self.sort_parameters.is_on(),
            page_requisites: self.page_requisites != Requisites::Off,
            forms: self.forms,
            script_links: self.script_links,
            main_content: self.main_content.is_on(),
            main_selector: self.main_selector.clone(),
            host: host.collect(),
            prefix: prefix.collect(),
            render: self.render.is_on(),
            topic: self.topic.clone(),
            topic_file: self.topic_file.clone(),
            topic_of_seeds: self.topic_of_seeds,
            against: self.against.clone(),
        }
    }

    /// Returns the relations of links that are not followed.
    pub fn skip_relations(&self) -> Relations {
        if self.ignore_robots {
            Relations::NONE
        } else {
            self.skip_rel
        }
    }

    /// Returns the canonical form of URLs, which is compared.
    pub fn canonical_form(&self) -> CanonicalForm {
        self.reading().canonical_form()
    }

    /// Returns the rules for comparing pages.
    pub fn comparison(&self) -> Result<ComparisonOptions, CommandError> {
        let thresholds = match self.verify.is_on() {
            true => Thresholds::new(self.distance, self.resemblance),
            false => Thresholds::within(self.distance),
        };
        let thresholds = thresholds.map_err(|error| CommandError::of_usage(&error))?;
        Ok(ComparisonOptions {
            thresholds,
            scope: self.duplicate_scope,
            per_cluster: NonZeroU32::new(self.per_cluster).unwrap_or(NonZeroU32::MIN),
        })
    }

    /// Returns the features of fingerprints.
    pub fn feature_settings(&self) -> Result<FeatureSettings, CommandError> {
        // The frequencies may be for a topic only.
        let is_for_topic = self.has_topic() && !self.features.weights.needs_frequencies();
        let frequencies = self.frequencies.as_deref().filter(|_| !is_for_topic);
        FeatureSettings::new(self.features, self.stop_words.as_deref(), frequencies)
    }

    /// Returns the name of the features in a crawl's state. Fingerprints with different feature
    /// names are never compared.
    pub fn feature_settings_name(&self) -> String {
        match &self.stop_words {
            Some(language) => format!("{} without stop words of {language}", self.features),
            None => self.features.to_string(),
        }
    }

    /// Returns the `User-Agent` field: the crawler's name and the operator's contact.
    pub fn user_agent(&self) -> String {
        let honest = || {
            let contact = match &self.contact {
                Some(contact) => format!(": {contact}"),
                None => " not given".to_owned(),
            };
            let version = env!("CARGO_PKG_VERSION");
            format!("crawler/{version} (archiving crawler; contact{contact})")
        };
        self.user_agent.clone().unwrap_or_else(honest)
    }

    /// Returns the crawler's name in robots.txt: the product token of the user agent (RFC 9309,
    /// section 2.2.1).
    pub fn agent_token(&self) -> String {
        let user_agent = self.user_agent();
        String::from_utf8_lossy(web::product_token(user_agent.as_bytes())).into_owned()
    }

    /// Returns the `--proxy`. An error does not repeat the URL, which may contain a password.
    pub fn proxy(&self) -> Result<Option<ProxyUrl>, CommandError> {
        let proxy = self.proxy.as_deref().map(str::parse).transpose();
        proxy.map_err(|error| usage(format!("--proxy: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::values::Span;

    #[test]
    fn robots_txt_may_address_the_crawler_by_the_first_word_of_the_user_agent() {
        let named = |user_agent: &str| Settings {
            user_agent: Some(user_agent.to_owned()),
            ..Settings::default()
        };
        assert_eq!(Settings::default().agent_token(), "crawler");
        assert_eq!(
            named("Archive-Bot/2.1 (+https://example.org)").agent_token(),
            "Archive-Bot"
        );
        assert_eq!(named("MJ12bot/v1").agent_token(), "MJ12bot");
        assert!(named("/2.1").check().is_err());
        assert!(named("*").check().is_err());
    }

    /// The Python package reads pages with the file of a crawl, as the commands do.
    #[test]
    fn the_file_of_a_crawl_has_the_settings_by_which_its_pages_are_read() {
        let settings: Settings = toml::from_str(
            "drop-parameters = [\"ref\"]\nsort-parameters = \"off\"\nforms = true\n\
             page-requisites = \"any\"\nscript-links = true\nmain-content = \"off\"\n\
             main-selector = [\"main\"]\ntopic = \"tides\"\ntopic-file = [\"a\"]\n\
             topic-of-seeds = true\ndelay = \"2s\"\n\
             [host.\"*.example.org\"]\nmain-selector = \"article\"\ndelay = \"5s\"\n\
             [prefix.\"http://example.org/x/\"]\nmain-selector = \"p\"\nmax-depth = 1\n\
             [prefix.\"http://example.org/y/\"]\nrender = \"all\"\n",
        )
        .unwrap();
        for settings in [settings, Settings::default()] {
            let file = settings.as_run(Vec::new()).unwrap();
            assert_eq!(ReadingSettings::parse(&file).unwrap(), settings.reading());
        }
    }

    #[test]
    fn a_host_gets_one_connection_and_several_only_without_politeness() {
        let impolite = Settings {
            delay: Span(Duration::ZERO),
            delay_factor: 0.0,
            ..Settings::default()
        };
        assert_eq!(Settings::default().per_host(), 1);
        assert_eq!(impolite.per_host(), 4);
    }

    #[test]
    fn an_address_is_bounded_unless_the_settings_say_otherwise() {
        let rate = || "50/s".parse().ok();
        let explicit = AddressBound::Rate(NonZeroU32::new(50).unwrap());
        for (address_rate, group_by, expected) in [
            (None, None, AddressBound::FollowsDelay),
            (None, Some(GroupBy::Domain), AddressBound::FollowsDelay),
            (None, Some(GroupBy::Host), AddressBound::Unbounded),
            (None, Some(GroupBy::Address), AddressBound::Unbounded),
            (rate(), None, explicit),
            (rate(), Some(GroupBy::Host), explicit),
        ] {
            let settings = Settings {
                address_rate,
                group_by,
                ..Settings::default()
            };
            assert_eq!(settings.address_bound(), expected, "{group_by:?}");
        }
    }
}
