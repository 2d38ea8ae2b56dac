//! The settings of a crawl: defaults < preset < file < flags.
//!
//! Every long option of `crawler crawl` is a key of the file with the same name. Flags and file are
//! laid over the defaults as tables, so an option needs no code of its own to be found in both
//! places. The defaults are in `defaults.rs`, presets in `preset.rs`; values that cannot be are
//! refused in `check.rs`.

mod check;
mod defaults;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use crawl::{DuplicateLinks, IndexedPages, OnDuplicate, Requisites, Sitemaps};
use fetch::{InsecureHost, ProxyUrl, ResolveRule};
use neardup::{Features, Thresholds};
use serde::{Deserialize, Serialize};
use sinks::DigestAlgorithm;
use sinks::warc::Packing;
use store::{DuplicateScope, LikenessRules};
use web::{CanonicalForm, GroupBy, LinkKind, LinkKinds, Relations, ScopeKind};

pub(crate) use self::check::{
    IMPOSSIBLE_CONCURRENCY, IMPOSSIBLE_FACTOR, check_concurrency, check_factor,
};
use crate::args::CrawlArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::features::FeatureSettings;
use crate::machine;
use crate::preset::Preset;
use crate::secrets;
use crate::values::{
    Date, Key, Rate, SignatureIndexPlace, Size, Span, Switch, Tables, maybe_word, word,
};

/// A crawl as it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    pub(crate) seeds: Option<PathBuf>,
    pub(crate) out: PathBuf,
    pub(crate) fresh: bool,
    #[serde(with = "maybe_word")]
    pub(crate) preset: Option<Preset>,

    #[serde(with = "word")]
    pub(crate) scope: ScopeKind,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) drop_parameters: Vec<String>,
    pub(crate) sort_parameters: Switch,
    #[serde(with = "word")]
    pub(crate) page_requisites: Requisites,
    pub(crate) forms: bool,
    pub(crate) script_links: bool,

    #[serde(with = "word")]
    pub(crate) sitemaps: Sitemaps,
    #[serde(with = "maybe_word")]
    pub(crate) sitemap_from: Option<Date>,
    #[serde(with = "maybe_word")]
    pub(crate) sitemap_to: Option<Date>,
    pub(crate) feeds: Switch,

    pub(crate) max_pages: Option<u64>,
    pub(crate) max_depth: Option<u32>,
    #[serde(with = "maybe_word")]
    pub(crate) max_time: Option<Span>,
    #[serde(with = "maybe_word")]
    pub(crate) max_size: Option<Size>,
    pub(crate) max_pages_per_host: Option<u64>,
    pub(crate) max_pages_per_pattern: Option<u64>,
    pub(crate) max_hosts_per_domain: u32,
    pub(crate) traps: Switch,

    #[serde(with = "word")]
    pub(crate) delay: Span,
    pub(crate) delay_factor: f64,
    #[serde(with = "word")]
    pub(crate) max_delay: Span,
    pub(crate) concurrency: usize,
    pub(crate) concurrency_per_host: Option<usize>,
    #[serde(with = "maybe_word")]
    pub(crate) rate: Option<Rate>,
    #[serde(with = "word")]
    pub(crate) group_by: GroupBy,
    pub(crate) user_agent: Option<String>,
    pub(crate) contact: Option<String>,
    pub(crate) ignore_robots: bool,
    #[serde(with = "word")]
    pub(crate) skip_rel: Relations,

    #[serde(with = "word")]
    pub(crate) on_duplicate: OnDuplicate,
    #[serde(with = "word")]
    pub(crate) duplicate_links: DuplicateLinks,
    pub(crate) distance: u32,
    pub(crate) resemblance: Option<f64>,
    #[serde(with = "word")]
    pub(crate) features: Features,
    pub(crate) stop_words: Option<String>,
    pub(crate) frequencies: Option<PathBuf>,
    pub(crate) main_content: Switch,
    pub(crate) main_selector: Vec<String>,
    #[serde(with = "word")]
    pub(crate) duplicate_scope: DuplicateScope,
    pub(crate) per_cluster: u32,
    pub(crate) against: Vec<PathBuf>,
    pub(crate) since: Vec<PathBuf>,
    #[serde(with = "maybe_word")]
    pub(crate) hash_key: Option<Key>,
    #[serde(alias = "mirror")]
    pub(crate) signature_index: SignatureIndexPlace,
    #[serde(with = "word")]
    pub(crate) tables: Tables,

    #[serde(with = "word")]
    pub(crate) max_body: Size,
    #[serde(with = "maybe_word")]
    pub(crate) memory: Option<Size>,
    #[serde(with = "word")]
    pub(crate) timeout: Span,
    pub(crate) tries: u32,
    pub(crate) max_redirects: usize,
    pub(crate) resolve: Vec<String>,
    pub(crate) allow_private: bool,
    pub(crate) ca_certificate: Vec<PathBuf>,
    pub(crate) insecure_host: Vec<String>,
    pub(crate) proxy: Option<String>,
    #[serde(with = "word")]
    pub(crate) compression: Packing,
    pub(crate) compression_level: Option<i32>,
    pub(crate) zstd_dictionary: Option<PathBuf>,
    #[serde(with = "word")]
    pub(crate) digest: DigestAlgorithm,
    pub(crate) outlinks: Switch,
    pub(crate) warc_prefix: String,
    #[serde(with = "maybe_word")]
    pub(crate) warc_max_time: Option<Span>,
    #[serde(with = "word")]
    pub(crate) warc_max_size: Size,
    pub(crate) no_index: bool,
    #[serde(with = "word")]
    pub(crate) index: IndexedPages,
    #[serde(with = "word")]
    pub(crate) index_memory: Size,
    pub(crate) cdxj: Switch,
    #[serde(with = "word")]
    pub(crate) min_free: Size,
    #[serde(with = "word")]
    pub(crate) wait_for_room: Span,

    /// Names of the options for secrets that this crawl was run with; the secrets themselves are
    /// nowhere.
    pub(crate) secrets: Vec<String>,
    /// The seeds themselves: given on the command line, and all of them in the file of a crawl that
    /// was begun.
    pub(crate) url: Vec<String>,
}

/// The file of a crawl's settings, below its directory.
pub(crate) const SETTINGS_FILE: &str = "crawler.toml";

/// Connections per host of an impolite crawl. Browsers open six, wget2 five.
const IMPOLITE_PER_HOST: usize = 4;

impl Settings {
    /// Merges the preset over the defaults, the file over both and the flags over all. The file is
    /// `--config`, or else the one of the crawl in `--out`, which has every setting: a preset that
    /// is given as a flag is then merged over it.
    pub(crate) fn gather(args: &CrawlArgs) -> Result<Self, CliError> {
        let mut table = toml::Table::try_from(Self::default()).map_err(|error| fault(&error))?;
        let flags = toml::Table::try_from(args).map_err(|error| fault(&error))?;
        let out = flags
            .get("out")
            .and_then(toml::Value::as_str)
            .unwrap_or("crawl")
            .to_owned();
        let begun = Path::new(&out).join(SETTINGS_FILE);
        let is_begun = args.config.is_none() && begun.exists();
        let file = match &args.config {
            Some(file) => read_file(file)?,
            None if is_begun => read_file(&begun)?,
            None => toml::Table::new(),
        };
        match (preset_in(&flags)?, preset_in(&file)?) {
            (Some(preset), _) if is_begun => {
                table.extend(file);
                table.extend(preset.table());
            }
            (Some(preset), _) | (None, Some(preset)) => {
                table.extend(preset.table());
                table.extend(file);
            }
            (None, None) => table.extend(file),
        }
        if flags
            .get("compression")
            .is_some_and(|packing| table.get("compression") != Some(packing))
        {
            // They belong to the packing that is given up.
            table.remove("compression-level");
            table.remove("zstd-dictionary");
        }
        table.extend(flags);
        // What a crawl was begun with says where it was begun; it is continued where the user says
        // now.
        table.insert("out".to_owned(), toml::Value::String(out));
        let settings: Self = table.try_into().map_err(|error| usage(one_line(&error)))?;
        settings.check()?;
        Ok(settings)
    }

    /// Returns the settings of the crawl in `directory`, as it was last run.
    pub(crate) fn of_crawl(directory: &Path) -> Result<Self, CliError> {
        Self::gather(&CrawlArgs {
            out: Some(directory.to_owned()),
            ..CrawlArgs::default()
        })
    }

    /// Returns the file that is kept beside the crawl, and in its archive. It has no secrets: the
    /// hash key is in the journal only, and the proxy's credentials are stored nowhere.
    pub(crate) fn as_run(&self, seeds: Vec<String>) -> Result<String, CliError> {
        let kept = Self {
            seeds: None,
            fresh: false,
            hash_key: None,
            proxy: self.proxy()?.map(|proxy| proxy.to_string()),
            url: seeds,
            ..self.clone()
        };
        let text = toml::to_string(&kept).map_err(|error| fault(&error))?;
        Ok(format!(
            "# This crawl as it was last run. `crawler --out DIR` goes on with it.\n{text}"
        ))
    }

    /// Records that these options were given, so that a run without them is warned.
    pub(crate) fn remember_secrets(&mut self, options: &[String]) {
        for option in options {
            if !self.secrets.contains(option) {
                self.secrets.push(option.clone());
            }
        }
    }

    /// Returns the number of pages of one host under way at a time: one, unless politeness was
    /// turned off altogether; then as many as keep a host busy without hundreds of connections.
    pub(crate) fn per_host(&self) -> usize {
        let impolite = self.delay.0.is_zero() && self.delay_factor == 0.0;
        self.concurrency_per_host
            .unwrap_or(if impolite { IMPOLITE_PER_HOST } else { 1 })
    }

    /// Returns the memory for bodies and for reading them, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
            .map_or_else(machine::memory_for_content, |size| size.0)
    }

    /// Returns the kinds of links that are extracted from pages.
    pub(crate) fn link_kinds(&self) -> LinkKinds {
        let wanted = [
            (LinkKind::Requisite, self.page_requisites != Requisites::Off),
            (LinkKind::Form, self.forms),
            (LinkKind::Script, self.script_links),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.fold(LinkKinds::PAGES, |kinds, (kind, _)| kinds.with(kind))
    }

    /// Returns the relations of links that are not followed.
    pub(crate) fn skip_relations(&self) -> Relations {
        if self.ignore_robots {
            Relations::NONE
        } else {
            self.skip_rel
        }
    }

    /// Returns the form in which URLs are compared.
    pub(crate) fn canonical_form(&self) -> CanonicalForm {
        CanonicalForm::new(&self.drop_parameters).sort_parameters(self.sort_parameters.is_on())
    }

    /// Returns the rules for comparing pages.
    pub(crate) fn likeness(&self) -> Result<LikenessRules, CliError> {
        let thresholds = Thresholds::new(self.distance, self.resemblance)
            .map_err(|error| CliError::of_usage(&error))?;
        Ok(LikenessRules {
            thresholds,
            scope: self.duplicate_scope,
            per_cluster: NonZeroU32::new(self.per_cluster).unwrap_or(NonZeroU32::MIN),
        })
    }

    /// Returns the features of fingerprints.
    pub(crate) fn feature_settings(&self) -> Result<FeatureSettings, CliError> {
        FeatureSettings::new(
            self.features,
            self.stop_words.as_deref(),
            self.frequencies.as_deref(),
        )
    }

    /// Returns the name of the features in the state of a crawl. Fingerprints of different names
    /// are never compared.
    pub(crate) fn feature_settings_name(&self) -> String {
        match &self.stop_words {
            Some(language) => format!("{} without stop words of {language}", self.features),
            None => self.features.to_string(),
        }
    }

    /// Returns the `User-Agent` field: the crawler's name and the operator's contact.
    pub(crate) fn user_agent(&self) -> String {
        let honest = || match &self.contact {
            Some(contact) => format!(
                "crawler/{} (archiving crawler; contact: {contact})",
                env!("CARGO_PKG_VERSION")
            ),
            None => format!(
                "crawler/{} (archiving crawler; contact not given)",
                env!("CARGO_PKG_VERSION")
            ),
        };
        self.user_agent.clone().unwrap_or_else(honest)
    }

    /// Returns the name by which robots.txt may address the crawler: the product token of the user
    /// agent (RFC 9309, section 2.2.1).
    pub(crate) fn agent_token(&self) -> String {
        let user_agent = self.user_agent();
        String::from_utf8_lossy(web::product_token(user_agent.as_bytes())).into_owned()
    }

    /// Returns the `--resolve` rules.
    pub(crate) fn resolve_rules(&self) -> Result<Vec<ResolveRule>, CliError> {
        let rule = |text: &String| {
            text.parse()
                .map_err(|error| usage(format!("--resolve {text}: {error}")))
        };
        self.resolve.iter().map(rule).collect()
    }

    /// Returns the `--insecure-host`s.
    pub(crate) fn insecure_hosts(&self) -> Result<Vec<InsecureHost>, CliError> {
        let host = |text: &String| {
            text.parse()
                .map_err(|error| usage(format!("--insecure-host {text}: {error}")))
        };
        self.insecure_host.iter().map(host).collect()
    }

    /// Returns the `--proxy`. An error does not repeat it: it may hold a password.
    pub(crate) fn proxy(&self) -> Result<Option<ProxyUrl>, CliError> {
        let proxy = self.proxy.as_deref().map(str::parse).transpose();
        proxy.map_err(|error| usage(format!("--proxy: {error}")))
    }
}

/// Returns the preset that a file or the flags name.
fn preset_in(table: &toml::Table) -> Result<Option<Preset>, CliError> {
    let word = table.get("preset").and_then(toml::Value::as_str);
    let preset = word.map(str::parse).transpose();
    preset.map_err(|error| usage(format!("--preset: {error}")))
}

fn read_file(path: &Path) -> Result<toml::Table, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    // Once for its keys and values, so that a mistake is reported with its line; then as a table
    // that has only what it says.
    let wrong = |error: toml::de::Error| usage(format!("{}: {}", path.display(), one_line(&error)));
    if let Ok(table) = toml::from_str(&text) {
        secrets::refuse_in(&table, path)?;
    }
    toml::from_str::<Settings>(&text).map_err(wrong)?;
    let mut table: toml::Table = toml::from_str(&text).map_err(wrong)?;
    // The name of `signature-index` in earlier versions.
    if let Some(place) = table.remove("mirror") {
        table.insert("signature-index".to_owned(), place);
    }
    Ok(table)
}

/// Describes an error of a file and its place in one line.
pub(crate) fn one_line(error: &toml::de::Error) -> String {
    let place = error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    let place = place
        .strip_prefix("TOML parse error ")
        .map_or(String::new(), |place| format!("{place}: "));
    format!("{place}{}", error.message().replace('\n', "; "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_file_over_the_defaults() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "delay = \"2s\"\ntries = 7\n").unwrap();
        let out = directory.path().join("out");
        let args = CrawlArgs {
            delay: Some("3s".parse().unwrap()),
            config: Some(file),
            out: Some(out),
            ..CrawlArgs::default()
        };
        let settings = Settings::gather(&args).unwrap();
        assert_eq!(settings.delay, "3s".parse().unwrap());
        assert_eq!(settings.tries, 7);
        assert_eq!(settings.concurrency, 64);
    }

    #[test]
    fn a_preset_changes_defaults_and_whoever_says_otherwise_wins() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.toml");
        std::fs::write(&file, "preset = \"archive\"\npage-requisites = \"off\"\n").unwrap();
        let out = directory.path().join("out");
        let args = CrawlArgs {
            config: Some(file),
            out: Some(out.clone()),
            ..CrawlArgs::default()
        };
        let kept = |settings: &Settings| (settings.on_duplicate, settings.page_requisites);
        let by_file = Settings::gather(&args).unwrap();
        assert_eq!(kept(&by_file), (OnDuplicate::Keep, Requisites::Off));
        let by_flag = Settings::gather(&CrawlArgs {
            on_duplicate: Some(OnDuplicate::Follow),
            ..args.clone()
        });
        assert_eq!(by_flag.unwrap().on_duplicate, OnDuplicate::Follow);
        let other = Settings::gather(&CrawlArgs {
            preset: Some(Preset::Focused),
            ..args
        });
        let other = other.unwrap();
        assert_eq!(kept(&other), (OnDuplicate::Drop, Requisites::Off));
        assert_eq!(other.preset, Some(Preset::Focused));

        // The crawl keeps the settings themselves, and goes on with them, or with those of another
        // preset.
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join(SETTINGS_FILE), by_file.as_run(Vec::new()).unwrap()).unwrap();
        let goes_on = CrawlArgs {
            out: Some(out),
            ..CrawlArgs::default()
        };
        let settings = Settings::gather(&goes_on).unwrap();
        assert_eq!(kept(&settings), (OnDuplicate::Keep, Requisites::Off));
        let settings = Settings::gather(&CrawlArgs {
            preset: Some(Preset::Archive),
            ..goes_on
        });
        assert_eq!(
            kept(&settings.unwrap()),
            (OnDuplicate::Keep, Requisites::Scope)
        );
    }

    #[test]
    fn a_crawl_goes_on_with_the_settings_that_it_was_begun_with() {
        let directory = tempfile::tempdir().unwrap();
        let begun = Settings {
            delay: Span(Duration::from_millis(250)),
            ..Settings::default()
        };
        let seeds = vec!["http://a.test/".to_owned()];
        std::fs::write(
            directory.path().join(SETTINGS_FILE),
            begun.as_run(seeds.clone()).unwrap(),
        )
        .unwrap();
        let args = CrawlArgs {
            out: Some(directory.path().to_owned()),
            ..CrawlArgs::default()
        };
        let settings = Settings::gather(&args).unwrap();
        assert_eq!(settings.delay, begun.delay);
        assert_eq!(settings.url, seeds);
        assert_eq!(settings.out, directory.path());
    }

    #[test]
    fn robots_txt_may_call_us_by_the_first_word_of_the_user_agent() {
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

    #[test]
    fn politeness_off_means_many_connections_and_polite_means_one() {
        let impolite = Settings {
            delay: Span(Duration::ZERO),
            delay_factor: 0.0,
            ..Settings::default()
        };
        assert_eq!(Settings::default().per_host(), 1);
        assert_eq!(impolite.per_host(), 4);
    }
}
