//! One file that shows a crawl, made from its journal and its settings, for `crawler report`. Works
//! while the crawl runs.
//!
//! The journal is read once: its records go to the statistics, the list of broken links and the
//! politeness check. If the journal is damaged, the report shows the part before the damage, and
//! the command exits with code 1.

use std::collections::HashSet;
use std::path::Path;

use facts::journal::damaged;
use facts::verify::{CheckedRequests, JournalPoliteness};
use journal::{JournalFollower, StoreFault};
use messages::{CommandError, SlowProgress, fault};
use settings::seeds::each_of_crawl;
use settings::{Settings, crawl_directory};
use setup::shared::OpenCrawl;
use statistics::{CrawlStatistics, LinkStatistics};
use web::{Host, PageUrl};
use web_ui::{Beside, BrokenLinkCollector, MinDelays, Politeness, Report, Setting};

/// Settings that are omitted: the first is a path on this machine, irrelevant to the crawl; the
/// second is never set in a crawl's file.
const OMITTED: [&str; 2] = ["out", "fresh"];

/// Reports on a crawl. If its journal is damaged, the report is about the part before the damage,
/// which is returned, too.
pub fn of_crawl(crawl: &OpenCrawl) -> Result<(Report, Option<StoreFault>), CommandError> {
    let state = crawl_directory::state_of(crawl.directory())?;
    let settings = Settings::of_crawl(crawl.directory())?;
    let damaged = damaged(crawl.directory());
    loop {
        let mut reading = Reading::begin(&state, &settings, crawl.is_replica())?;
        let damage = reading.read().err();
        // A journal that `crawler rebuild` replaced meanwhile is read again from the beginning.
        if !reading.follower.is_replaced().map_err(damaged)? {
            return Ok((reading.end(&settings, damage.as_ref())?, damage));
        }
    }
}

/// A journal that is being read, and everything computed from it.
struct Reading {
    follower: JournalFollower,
    statistics: CrawlStatistics,
    broken_links: BrokenLinkCollector,
    politeness: JournalPoliteness,
}

impl Reading {
    /// Begins to read. A replica of a shared crawl has no archive.
    fn begin(state: &Path, settings: &Settings, is_replica: bool) -> Result<Self, CommandError> {
        let damaged = damaged(&settings.out);
        Ok(Self {
            follower: JournalFollower::open(state).map_err(damaged)?,
            statistics: CrawlStatistics::new(),
            broken_links: BrokenLinkCollector::default(),
            politeness: match is_replica {
                true => JournalPoliteness::without_archive(settings),
                false => JournalPoliteness::new(settings)?,
            },
        })
    }

    /// Reads to the current end of the journal, or to the damage.
    fn read(&mut self) -> Result<(), StoreFault> {
        let mut progress = SlowProgress::new("records");
        let read = self.follower.apply_rest(|position, record| {
            progress.step();
            self.statistics.apply(position, record);
            self.broken_links.apply(record);
            self.politeness.apply(record);
        });
        read.map(drop)
    }

    /// Makes the report.
    fn end(self, settings: &Settings, damage: Option<&StoreFault>) -> Result<Report, CommandError> {
        let mut links = LinkStatistics::default();
        links.catch_up(&settings.out)?;
        let mut broken_links = self.broken_links;
        broken_links.add_checked(&links);
        let notices = damage.map(|damage| {
            format!(
                "{damage}. The values cover the {} bytes before it.",
                self.follower.position()
            )
        });
        let beside = Beside {
            title: title(settings),
            notices: notices.into_iter().collect(),
            settings: shown_settings(settings)?,
            min_delays: min_delays(settings),
            broken_links: broken_links.links(),
            politeness: shown(self.politeness.end()),
        };
        Ok(Report::of(&self.statistics, beside))
    }
}

/// Returns the checked requests for the report.
fn shown(checked: CheckedRequests) -> Politeness {
    Politeness {
        requests: checked.requests,
        hosts: checked.hosts,
        compared: checked.compared,
        too_soon: checked.too_soon,
        findings: checked.findings,
    }
}

/// Returns the shortest waits of hosts.
pub fn min_delays(settings: &Settings) -> MinDelays {
    let own = settings.resolved_hosts().into_iter();
    MinDelays {
        of_all: settings.delay.0,
        of_hosts: own
            .filter_map(|(pattern, own)| Some((pattern, own.delay?.0)))
            .collect(),
    }
}

/// Names the crawl by the hosts of its seeds.
pub fn title(settings: &Settings) -> String {
    let mut named = SeedHosts::default();
    let read = each_of_crawl(settings, &settings.canonical_form(), |seed| named.add(seed));
    match read {
        Ok(()) => named.in_words(),
        Err(_) => "a crawl whose seeds cannot be read".to_owned(),
    }
}

/// Names a crawl that begins by the hosts of its seeds.
pub fn title_of(seeds: &[PageUrl]) -> String {
    let mut named = SeedHosts::default();
    seeds.iter().for_each(|seed| named.add(seed));
    named.in_words()
}

/// The hosts of seeds. The first two keep their order.
#[derive(Default)]
struct SeedHosts {
    all: HashSet<Host>,
    first: Vec<Host>,
}

impl SeedHosts {
    fn add(&mut self, seed: &PageUrl) {
        let host = seed.host();
        if self.first.len() < 2 && !self.all.contains(&host) {
            self.first.push(host.clone());
        }
        self.all.insert(host);
    }

    fn in_words(&self) -> String {
        match (&self.first[..], self.all.len()) {
            ([], _) => "a crawl without seeds".to_owned(),
            ([one], _) => one.as_str().to_owned(),
            ([one, two, ..], 2) => format!("{one} and {two}"),
            ([one, ..], hosts) => format!("{one} and {} more hosts", hosts - 1),
        }
    }
}

/// Returns the settings as `crawler.toml` keeps them: without secrets.
pub fn shown_settings(settings: &Settings) -> Result<Vec<Setting>, CommandError> {
    let table = table_of(settings)?;
    let defaults = table_of(&Settings::default())?;
    let shown = table
        .iter()
        .filter(|(name, _)| !OMITTED.contains(&name.as_str()));
    let shown = shown.map(|(name, value)| Setting {
        name: name.clone(),
        value: value.to_string(),
        is_changed: defaults.get(name) != Some(value),
    });
    Ok(shown.collect())
}

fn table_of(settings: &Settings) -> Result<toml::Table, CommandError> {
    let text = settings.as_run(settings.url.clone())?;
    toml::from_str(&text).map_err(|error| fault(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crawl_is_named_by_the_hosts_of_its_seeds() {
        for (seeds, expected) in [
            (&[][..], "a crawl without seeds"),
            (&["http://a.test/", "http://a.test/x"], "a.test"),
            (&["http://a.test/", "http://b.test/"], "a.test and b.test"),
            (
                &[
                    "http://a.test/",
                    "no URL",
                    "http://b.test/",
                    "http://c.test/",
                ],
                "a.test and 2 more hosts",
            ),
        ] {
            let settings = Settings {
                url: seeds.iter().map(|seed| (*seed).to_owned()).collect(),
                ..Settings::default()
            };
            assert_eq!(title(&settings), expected);
        }
    }

    #[test]
    fn settings_are_shown_without_secrets_and_changed_ones_are_marked() {
        let settings = Settings {
            proxy: Some("http://user:opensesame@proxy.test:3128".to_owned()),
            hash_key: Some("0123456789abcdef".parse().unwrap()),
            tries: 7,
            ..Settings::default()
        };
        let shown = shown_settings(&settings).unwrap();
        let text = format!("{shown:?}");
        assert!(
            !text.contains("opensesame") && !text.contains("0123456789abcdef"),
            "{text}"
        );
        assert!(shown.iter().all(|setting| setting.name != "out"));
        let changed = shown.iter().filter(|setting| setting.is_changed);
        let changed: Vec<&str> = changed.map(|setting| setting.name.as_str()).collect();
        assert_eq!(changed, ["proxy", "tries"]);
    }
}
