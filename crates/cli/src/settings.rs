//! The settings of a crawl: defaults < file < flags.
//!
//! Every long option of `crawler crawl` is a key of the file with the same name. Flags and file are laid over the defaults as tables,
//! so an option needs no code of its own to be found in both places. `config/default.toml` says all of this in prose; a test
//! holds it to [`Settings::default`].

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crawl::OnDuplicate;
use fetch::ResolveRule;
use neardup::{Features, Thresholds};
use serde::{Deserialize, Serialize};
use store::{DuplicateScope, LikenessRules};
use web::ScopeKind;

use crate::args::CrawlArgs;
use crate::complaint::{Complaint, fault, usage};
use crate::fingerprints::Recipe;
use crate::values::{Key, Rate, Size, Span, Switch, maybe_word, word};

/// A crawl as it is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    pub(crate) seeds: Option<PathBuf>,
    pub(crate) out: PathBuf,
    pub(crate) fresh: bool,

    #[serde(with = "word")]
    pub(crate) scope: ScopeKind,
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) drop_parameters: Vec<String>,

    pub(crate) max_pages: Option<u64>,
    pub(crate) max_depth: Option<u32>,
    #[serde(with = "maybe_word")]
    pub(crate) max_time: Option<Span>,
    #[serde(with = "maybe_word")]
    pub(crate) max_size: Option<Size>,
    pub(crate) max_pages_per_host: Option<u64>,

    #[serde(with = "word")]
    pub(crate) delay: Span,
    pub(crate) delay_factor: f64,
    #[serde(with = "word")]
    pub(crate) max_delay: Span,
    pub(crate) concurrency: usize,
    pub(crate) concurrency_per_host: Option<usize>,
    #[serde(with = "maybe_word")]
    pub(crate) rate: Option<Rate>,
    pub(crate) user_agent: Option<String>,
    pub(crate) contact: Option<String>,
    pub(crate) ignore_robots: bool,

    #[serde(with = "word")]
    pub(crate) on_duplicate: OnDuplicate,
    pub(crate) distance: u32,
    pub(crate) resemblance: Option<f64>,
    #[serde(with = "word")]
    pub(crate) features: Features,
    pub(crate) stop_words: Option<String>,
    pub(crate) frequencies: Option<PathBuf>,
    pub(crate) main_content: Switch,
    #[serde(with = "word")]
    pub(crate) duplicate_scope: DuplicateScope,
    pub(crate) per_cluster: u32,
    pub(crate) against: Vec<PathBuf>,
    #[serde(with = "maybe_word")]
    pub(crate) hash_key: Option<Key>,

    #[serde(with = "word")]
    pub(crate) max_body: Size,
    #[serde(with = "word")]
    pub(crate) timeout: Span,
    pub(crate) tries: u32,
    pub(crate) max_redirects: usize,
    pub(crate) resolve: Vec<String>,
    pub(crate) allow_private: bool,
    pub(crate) ca_certificate: Vec<PathBuf>,
    #[serde(with = "word")]
    pub(crate) warc_max_size: Size,

    /// The seeds themselves: given on the command line, and all of them in the file of a crawl that was begun.
    pub(crate) url: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seeds: None,
            out: PathBuf::from("crawl"),
            fresh: false,
            scope: ScopeKind::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            drop_parameters: web::CanonicalForm::DEFAULT_PARAMETERS
                .iter()
                .map(ToString::to_string)
                .collect(),
            max_pages: None,
            max_depth: None,
            max_time: None,
            max_size: None,
            max_pages_per_host: None,
            delay: Span(Duration::from_secs(1)),
            delay_factor: 5.0,
            max_delay: Span(Duration::from_secs(30)),
            concurrency: 64,
            concurrency_per_host: None,
            rate: None,
            user_agent: None,
            contact: None,
            ignore_robots: false,
            on_duplicate: OnDuplicate::Drop,
            distance: 3,
            resemblance: None,
            features: Features::default(),
            stop_words: None,
            frequencies: None,
            main_content: Switch::On,
            duplicate_scope: DuplicateScope::Crawl,
            per_cluster: 1,
            against: Vec::new(),
            hash_key: None,
            max_body: Size(50 << 20),
            timeout: Span(Duration::from_secs(60)),
            tries: 3,
            max_redirects: 10,
            resolve: Vec::new(),
            allow_private: false,
            ca_certificate: Vec::new(),
            warc_max_size: Size(1 << 30),
            url: Vec::new(),
        }
    }
}

/// The file that a crawl keeps of its settings, below its directory.
pub(crate) const AS_RUN: &str = "crawler.toml";

/// What browsers open to a host is six, what wget2 opens is five.
const IMPOLITE_PER_HOST: usize = 4;

impl Settings {
    /// Lays the file over the defaults and the flags over both. The file is `--config`, or else the one that the crawl in
    /// `--out` was begun with.
    pub(crate) fn gather(args: &CrawlArgs) -> Result<Self, Complaint> {
        let mut table = toml::Table::try_from(Self::default()).map_err(|error| fault(&error))?;
        let flags = toml::Table::try_from(args).map_err(|error| fault(&error))?;
        let out = flags
            .get("out")
            .and_then(toml::Value::as_str)
            .unwrap_or("crawl")
            .to_owned();
        let begun = Path::new(&out).join(AS_RUN);
        if let Some(file) = &args.config {
            table.extend(read_file(file)?);
        } else if begun.exists() {
            table.extend(read_file(&begun)?);
        }
        table.extend(flags);
        // What a crawl was begun with says where it was begun; it is continued where the user says now.
        table.insert("out".to_owned(), toml::Value::String(out));
        let settings: Self = table.try_into().map_err(|error| usage(one_line(&error)))?;
        settings.check()?;
        Ok(settings)
    }

    /// The settings of the crawl in `directory`, as it was last run.
    pub(crate) fn of_crawl(directory: &Path) -> Result<Self, Complaint> {
        Self::gather(&CrawlArgs {
            out: Some(directory.to_owned()),
            ..CrawlArgs::default()
        })
    }

    /// The file that is kept beside the crawl, and in its archive. It does not tell the hash key, which is a secret, and
    /// which the crawl keeps in its journal.
    pub(crate) fn as_run(&self, seeds: Vec<String>) -> Result<String, Complaint> {
        let kept = Self {
            seeds: None,
            fresh: false,
            hash_key: None,
            url: seeds,
            ..self.clone()
        };
        let text = toml::to_string(&kept).map_err(|error| fault(&error))?;
        Ok(format!(
            "# This crawl as it was last run. `crawler --out DIR` goes on with it.\n{text}"
        ))
    }

    /// Pages of one host under way at a time: one, unless politeness was turned off altogether; then as many as keep a host busy
    /// without keeping hundreds of connections.
    pub(crate) fn per_host(&self) -> usize {
        let impolite = self.delay.0.is_zero() && self.delay_factor == 0.0;
        self.concurrency_per_host
            .unwrap_or(if impolite { IMPOLITE_PER_HOST } else { 1 })
    }

    /// Which pages are compared, and when two are alike.
    pub(crate) fn likeness(&self) -> Result<LikenessRules, Complaint> {
        let thresholds =
            Thresholds::new(self.distance, self.resemblance).map_err(|error| Complaint::of_usage(&error))?;
        Ok(LikenessRules {
            thresholds,
            scope: self.duplicate_scope,
            per_cluster: NonZeroU32::new(self.per_cluster).unwrap_or(NonZeroU32::MIN),
        })
    }

    /// What fingerprints are made of.
    pub(crate) fn recipe(&self) -> Result<Recipe, Complaint> {
        Recipe::new(
            self.features,
            self.stop_words.as_deref(),
            self.frequencies.as_deref(),
        )
    }

    /// What fingerprints are made of, as the state of a crawl names it: those of another name are never compared.
    pub(crate) fn recipe_name(&self) -> String {
        match &self.stop_words {
            Some(language) => format!("{} without stop words of {language}", self.features),
            None => self.features.to_string(),
        }
    }

    /// The `User-Agent` field: who we are, and whom to write to.
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

    /// The name that robots.txt may call us by: the product token of the user agent (RFC 9309 section 2.2.1).
    pub(crate) fn agent_token(&self) -> String {
        let token = |character: &char| character.is_ascii_alphabetic() || matches!(character, '-' | '_');
        self.user_agent().chars().take_while(token).collect()
    }

    /// The `--resolve` rules.
    pub(crate) fn resolve_rules(&self) -> Result<Vec<ResolveRule>, Complaint> {
        let rule = |text: &String| {
            text.parse()
                .map_err(|error| usage(format!("--resolve {text}: {error}")))
        };
        self.resolve.iter().map(rule).collect()
    }

    fn check(&self) -> Result<(), Complaint> {
        let refuse = |option: &str, value: &dyn std::fmt::Display, range: &str| {
            Err(usage(format!("--{option} {value} is impossible")).with_remedy(range))
        };
        if let Some(impossible) = self.resemblance.filter(|figure| !(0.0..=1.0).contains(figure)) {
            let range = "a resemblance lies between 0 and 1; without one, it goes by the length of the texts";
            return refuse("resemblance", &impossible, range);
        }
        if self.distance > neardup::MAX_DISTANCE {
            let range = format!(
                "fingerprints are compared within 0 to {} bits; 3 is the default",
                neardup::MAX_DISTANCE
            );
            return refuse("distance", &self.distance, &range);
        }
        if !(0.0..=1000.0).contains(&self.delay_factor) {
            return refuse(
                "delay-factor",
                &self.delay_factor,
                "a number from 0 to 1000; 5 is the default",
            );
        }
        if !(1..=10_000).contains(&self.concurrency) {
            return refuse(
                "concurrency",
                &self.concurrency,
                "a number of pages from 1 to 10000; 64 is the default",
            );
        }
        if self.concurrency_per_host == Some(0) {
            return refuse("concurrency-per-host", &0, "at least 1, which is the default");
        }
        if self.per_cluster == 0 {
            return refuse("per-cluster", &0, "at least 1, which is the default");
        }
        if self.tries == 0 {
            return refuse("tries", &0, "at least 1; 3 is the default");
        }
        if self.timeout.0.is_zero() {
            return refuse("timeout", &"0", "a time span such as 60s");
        }
        if self.agent_token().is_empty() {
            let shape = "it begins with a name of letters, - and _, by which robots.txt can call us: Name/1.0 (+contact)";
            return refuse("user-agent", &self.user_agent(), shape);
        }
        let visible = self
            .user_agent()
            .chars()
            .all(|character| character == ' ' || character.is_ascii_graphic());
        if !visible {
            return refuse(
                "user-agent",
                &self.user_agent(),
                "visible ASCII characters, as HTTP has it",
            );
        }
        Ok(())
    }
}

fn read_file(path: &Path) -> Result<toml::Table, Complaint> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    // Once for its keys and values, so that a mistake is reported with its line; then as a table that has only what it says.
    let wrong = |error: toml::de::Error| usage(format!("{}: {}", path.display(), one_line(&error)));
    toml::from_str::<Settings>(&text).map_err(wrong)?;
    toml::from_str(&text).map_err(wrong)
}

fn one_line(error: &toml::de::Error) -> String {
    let place = error.to_string().lines().next().unwrap_or_default().to_owned();
    let place = place
        .strip_prefix("TOML parse error ")
        .map_or(String::new(), |place| format!("{place}: "));
    format!("{place}{}", error.message().replace('\n', "; "))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    const DOCUMENTED: &str = include_str!("../../../config/default.toml");

    #[test]
    fn the_documented_defaults_are_the_defaults_in_code() {
        let documented: Settings = toml::from_str(DOCUMENTED).unwrap();
        assert_eq!(documented, Settings::default());
    }

    #[test]
    fn every_setting_and_every_option_is_documented_in_the_default_file() {
        let documented = |key: &str| {
            let set = format!("\n{key} = ");
            let unset = format!("\n# {key} = ");
            DOCUMENTED.contains(&set) || DOCUMENTED.contains(&unset)
        };
        let command = crate::args::Arguments::command();
        let crawl = command.find_subcommand("crawl").unwrap();
        let not_settings = ["config", "summary", "quiet", "help", "version"];
        for option in crawl.get_arguments().filter_map(|argument| argument.get_long()) {
            assert!(
                not_settings.contains(&option) || documented(option),
                "--{option} is missing in config/default.toml"
            );
        }
        for key in toml::Table::try_from(Settings::default()).unwrap().keys() {
            assert!(documented(key), "{key} is missing in config/default.toml");
        }
    }

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
    fn a_crawl_goes_on_with_the_settings_that_it_was_begun_with() {
        let directory = tempfile::tempdir().unwrap();
        let begun = Settings {
            delay: Span(Duration::from_millis(250)),
            ..Settings::default()
        };
        let seeds = vec!["http://a.test/".to_owned()];
        std::fs::write(
            directory.path().join(AS_RUN),
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
        assert!(named("/2.1").check().is_err());
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
