//! Settings that the nodes of a crawl share, and settings of individual nodes.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use messages::{CommandError, fault, usage};
use web::GroupBy;

use super::Settings;

/// Settings of individual nodes.
const OWN: [&str; 19] = [
    "against",
    "out",
    "seeds",
    "url",
    "fresh",
    "concurrency",
    "memory",
    "index-memory",
    "signature-index",
    "min-free",
    "proxy",
    "hash-key",
    "secrets",
    "sign-requests",
    "warc-max-size",
    "warc-max-time",
    "no-index",
    "index",
    "cdxj",
];

impl Settings {
    /// Returns the text of the settings that all nodes share.
    pub fn shared_text(&self) -> Result<String, CommandError> {
        let table = self.shared_table()?;
        toml::to_string(&table).map_err(|error| fault(&error))
    }

    /// Returns the settings of a node: the shared text, overridden by the node's flags. Refuses
    /// flags that differ from the text.
    pub fn joined(
        flags: &ArgMatches,
        config: Option<&Path>,
        text: &str,
    ) -> Result<Self, CommandError> {
        if config.is_some() {
            let own = Self::gather(flags, config)?;
            own.refuse_difference(text)?;
        }
        let mut file = tempfile::NamedTempFile::new().map_err(|error| fault(&error))?;
        let written = file.write_all(text.as_bytes());
        written.map_err(|error| fault(&error))?;
        let out = flags.get_one::<PathBuf>("out");
        let out = out.map(PathBuf::as_path);
        let (settings, _) = Self::gather_from(flags, out, Some(file.path()))?;
        settings.refuse_difference(text)?;
        Ok(settings)
    }

    /// Returns true if seeds are given, in a file or as arguments.
    pub fn names_seeds(&self) -> bool {
        self.seeds.is_some() || !self.url.is_empty()
    }

    /// Refuses settings that the nodes of a crawl cannot share.
    pub fn refuse_unshared(&self) -> Result<(), CommandError> {
        let refused = [
            (
                self.feature_settings()?.has_to_learn(),
                "--weights tf-idf without --frequencies",
                "each node would learn different frequencies: give --frequencies FILE",
            ),
            (
                self.has_topic(),
                "a topic",
                "each node would weight it by different pages: crawl on one machine",
            ),
            (
                self.group_by() == GroupBy::Address,
                "--group-by address",
                "hosts of one address can belong to different nodes: use --group-by domain",
            ),
            (
                self.renders(),
                "--render",
                "a page's requests can reach hosts of other nodes: crawl on one machine",
            ),
            (
                !self.since.is_empty(),
                "--since",
                "only one machine has the archive of the earlier crawl: crawl on that machine",
            ),
            (
                self.against.iter().any(|path| path.is_file()),
                "--against with a file",
                "only one machine has the file: give the directory of an earlier crawl",
            ),
            (
                self.check_links,
                "--check-links",
                "links come from the archive, of which each node has a part: crawl on one machine",
            ),
        ];
        for (is_given, option, remedy) in refused {
            if is_given {
                let what = format!("a shared crawl does not support {option}");
                return Err(usage(what).with_remedy(remedy));
            }
        }
        Ok(())
    }

    fn refuse_difference(&self, text: &str) -> Result<(), CommandError> {
        let of_crawl: toml::Table = toml::from_str(text).map_err(|error| fault(&error))?;
        let own = self.shared_table()?;
        for (key, value) in &own {
            if of_crawl.get(key) != Some(value) {
                let there = of_crawl
                    .get(key)
                    .map_or("unset".to_owned(), ToString::to_string);
                let what = format!("--{key} is {value}, but {there} in the crawl");
                return Err(
                    usage(what).with_remedy("omit it: nodes use the settings of the first node")
                );
            }
        }
        Ok(())
    }

    fn shared_table(&self) -> Result<toml::Table, CommandError> {
        let mut table = toml::Table::try_from(self).map_err(|error| fault(&error))?;
        table.retain(|key, _| !OWN.contains(&key));
        Ok(table)
    }
}
