//! A continued crawl whose settings let in more than those of the session before.
//!
//! `state/settings.toml` has the settings by which the crawl has queued all that they let in. If
//! those of a session let in more, the crawl catches up before its first request: URLs that a rule
//! excluded which holds no longer are queued, and the links of archived pages are offered again.
//! Then the file is replaced. The pass may be repeated, so a session after an interrupt begins it
//! again and compares with the same settings. `DIR/crawler.toml` does not serve, because people
//! edit it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crawl::{
    CrawlContext, DuplicateLinks, OnDuplicate, Policy, Requisites, RuleChange, Sitemaps, Stop,
};
use disk::{Disk, SystemDisk};
use store::embedded::{self, EmbeddedStore};
use store::{DiscoveredUrl, VisitRecord};
use tokio::runtime::Handle;
use web::{PageUrl, Scope, ScopeKind};

use crate::assembly;
use crate::cli_error::{CliError, fault};
use crate::crawl_directory;
use crate::disk_space::cannot;
use crate::progress::SlowProgress;
use crate::read_again::{ArchivedPages, BATCH};
use crate::seeds::Seeds;
use crate::settings::{SETTINGS_FILE, Settings};

/// The name of the file with the settings that the crawl has caught up with, in its state.
const CAUGHT_UP_WITH: &str = "settings.toml";

/// Origins whose robots.txt is looked at for sitemaps.
const MOST_ORIGINS: usize = 100_000;

/// The settings that let in more than before.
pub(crate) struct Widened {
    before: Settings,
    /// The names of these settings.
    names: Vec<&'static str>,
    /// The settings of this session, as the file will have them.
    text: String,
}

/// The number of URLs that were queued.
pub(crate) struct CaughtUp {
    names: Vec<&'static str>,
    links: u64,
    excluded: u64,
    /// True if an interrupt ended it: the next session begins again.
    interrupted: bool,
}

impl Widened {
    /// Compares the settings of a session with those that the crawl has caught up with. Returns
    /// none if they let in no more. Call it before `crawler.toml` is written: that of the last
    /// session counts for a crawl without a file of its own.
    pub(crate) fn note(
        now: &Settings,
        seeds: &Seeds,
        is_resumed: bool,
        disk: &dyn Disk,
    ) -> Result<Option<Self>, CliError> {
        let text = now.as_run(seeds.urls.iter().map(ToString::to_string).collect())?;
        let paths = [path(now), now.out.join(SETTINGS_FILE)];
        let last = paths.iter().find(|path| is_resumed && path.exists());
        if let Some(last) = last {
            let before = Settings::of_file(last)?;
            let names = widened(&before, now);
            if !names.is_empty() {
                return Ok(Some(Self {
                    before,
                    names,
                    text,
                }));
            }
        }
        write(now, &text, disk).map(|()| None)
    }

    /// Queues what the settings let in now, off the reactor, until that is done or a stop is
    /// requested. `adopted` are the URLs that widened the scope earlier.
    pub(crate) async fn catch_up(
        self,
        now: &Settings,
        context: &Arc<CrawlContext>,
        store: &Arc<EmbeddedStore>,
        stop: &Stop,
    ) -> Result<CaughtUp, CliError> {
        let pass = Pass {
            policy: assembly::policy(&self.before, self.before.canonical_form()),
            scope: scope_before(&self.before, store)?,
            before: self.before,
            now: now.clone(),
            context: Arc::clone(context),
            store: Arc::clone(store),
            stop: stop.clone(),
        };
        let runtime = Handle::current();
        let names = self.names;
        let caught_up = tokio::task::spawn_blocking(move || pass.run(&runtime, names)).await;
        let caught_up = caught_up.map_err(|error| fault(&error))??;
        if !caught_up.interrupted {
            context.frontier.checkpoint(None).await?;
            write(now, &self.text, &SystemDisk)?;
        }
        Ok(caught_up)
    }
}

impl CaughtUp {
    /// Describes what was queued.
    pub(crate) fn in_words(&self) -> String {
        let names = self.names.join(", ");
        if self.interrupted {
            return format!(
                "{names} let in more than before; the same command goes on looking for it"
            );
        }
        let (links, excluded) = (self.links, self.excluded);
        format!(
            "{names} let in more than before: links of archived pages queued: {links}, excluded \
             URLs queued again: {excluded}"
        )
    }
}

/// Returns the scope of the session before, with its seeds.
fn scope_before(before: &Settings, store: &EmbeddedStore) -> Result<Scope, CliError> {
    let form = before.canonical_form();
    let mut scope = assembly::scope(before)?;
    let seeds = before.url.iter();
    let seeds = seeds.filter_map(|seed| PageUrl::parse(seed, &form).ok());
    for seed in seeds.chain(store.adopted_seeds().iter().cloned()) {
        scope.add_seed(&seed);
    }
    Ok(scope)
}

fn path(settings: &Settings) -> PathBuf {
    crawl_directory::state(&settings.out).join(CAUGHT_UP_WITH)
}

/// Writes the settings that the crawl has caught up with.
fn write(settings: &Settings, text: &str, disk: &dyn Disk) -> Result<(), CliError> {
    let path = path(settings);
    disk.replace(&path, text.as_bytes())
        .map_err(|error| cannot("write", &path, &error, &settings.out))
}

/// A pass over the visits of a crawl.
struct Pass {
    before: Settings,
    now: Settings,
    policy: Policy,
    scope: Scope,
    context: Arc<CrawlContext>,
    store: Arc<EmbeddedStore>,
    stop: Stop,
}

impl Pass {
    fn run(self, runtime: &Handle, names: Vec<&'static str>) -> Result<CaughtUp, CliError> {
        let excluded = self.queue_excluded(runtime)?;
        let links = match self.stop.is_asked() {
            true => 0,
            false => self.offer_links(runtime)?,
        };
        Ok(CaughtUp {
            names,
            links,
            excluded,
            interrupted: self.stop.is_asked(),
        })
    }

    fn queue_excluded(&self, runtime: &Handle) -> Result<u64, CliError> {
        let scope = self.context.scope.read();
        let scope = scope
            .expect("no panic can happen while the scope is locked")
            .clone();
        let change = RuleChange {
            policies: [&self.policy, &self.context.policy],
            scopes: [&self.scope, &scope],
            more_of_patterns: is_raised(
                self.before.max_pages_per_pattern,
                self.now.max_pages_per_pattern,
            ),
        };
        let mut progress = SlowProgress::new("visits compared with the settings");
        let queued = self.store.queue_excluded(|row| {
            progress.step();
            !self.stop.is_asked() && change.lets_in(row)
        });
        Ok(runtime.block_on(queued)?)
    }

    /// Offers the links of all archived pages.
    fn offer_links(&self, runtime: &Handle) -> Result<u64, CliError> {
        let pages = ArchivedPages::of(&self.now);
        let mut progress = SlowProgress::new("archived pages read for links");
        let has_more_sitemaps = sitemaps(&self.now) > sitemaps(&self.before);
        let (mut origins, mut batch, mut queued) = (HashSet::new(), Vec::new(), 0);
        for row in embedded::rows(&crawl_directory::state(&self.now.out))? {
            let row = row?;
            progress.step();
            if self.stop.is_asked() {
                return Ok(queued);
            }
            let is_new = has_more_sitemaps
                && origins.len() < MOST_ORIGINS
                && origins.insert(row.url.origin());
            if is_new {
                let offered = crawl::offer_sitemaps(&self.context, &row);
                queued += runtime.block_on(offered)? as u64;
            }
            if may_have_links(&row) {
                batch.push(row);
            }
            if batch.len() == BATCH {
                queued += self.offer(&mut batch, &pages, runtime)?;
            }
        }
        queued += self.offer(&mut batch, &pages, runtime)?;
        // Pages that cannot be read were named; the crawl goes on without their links.
        Ok(queued)
    }

    fn offer(
        &self,
        batch: &mut Vec<VisitRecord>,
        pages: &ArchivedPages,
        runtime: &Handle,
    ) -> Result<u64, CliError> {
        let links = |row: &VisitRecord, exchange| {
            crawl::links_of_archived(&self.context, &self.policy, row, &exchange)
        };
        let mut queued = 0;
        pages.make_of_answers(batch, links, |links: Vec<DiscoveredUrl>| {
            queued += runtime.block_on(self.context.frontier.discover(links))? as u64;
            Ok::<_, CliError>(())
        })?;
        Ok(queued)
    }
}

/// Returns false for visits whose content has no links that a crawl follows.
fn may_have_links(row: &VisitRecord) -> bool {
    let media = row.content_type.as_deref().unwrap_or_default();
    let is_media = ["image/", "video/", "audio/", "font/"]
        .iter()
        .any(|kind| media.starts_with(kind));
    row.details.unread.is_none() && (!is_media || media == "image/svg+xml")
}

/// Returns the names of the settings that let in more than before.
fn widened(before: &Settings, now: &Settings) -> Vec<&'static str> {
    let lacks = |some: &[String], others: &[String]| some.iter().any(|one| !others.contains(one));
    let follows = |settings: &Settings| settings.on_duplicate == OnDuplicate::Follow;
    let (from, to) = (before, now);
    let compared = [
        ("--max-depth", is_raised(from.max_depth, to.max_depth)),
        ("--scope", breadth(to.scope) > breadth(from.scope)),
        ("--exclude", lacks(&from.exclude, &to.exclude)),
        (
            "--include",
            !from.include.is_empty()
                && (to.include.is_empty() || lacks(&to.include, &from.include)),
        ),
        (
            "--page-requisites",
            extent(to.page_requisites) > extent(from.page_requisites),
        ),
        ("--forms", to.forms && !from.forms),
        ("--script-links", to.script_links && !from.script_links),
        ("--sitemaps", sitemaps(to) > sitemaps(from)),
        ("--feeds", to.feeds.is_on() && !from.feeds.is_on()),
        (
            "--sitemap-from",
            from.sitemap_from.is_some() && to.sitemap_from != from.sitemap_from,
        ),
        (
            "--sitemap-to",
            from.sitemap_to.is_some() && to.sitemap_to != from.sitemap_to,
        ),
        ("--traps off", from.traps.is_on() && !to.traps.is_on()),
        ("--ignore-robots", to.ignore_robots && !from.ignore_robots),
        (
            "--skip-rel",
            to.skip_relations() != from.skip_relations() && !to.ignore_robots,
        ),
        (
            "--duplicate-links",
            rank(to.duplicate_links) > rank(from.duplicate_links),
        ),
        ("--on-duplicate", follows(to) && !follows(from)),
        (
            "--max-hosts-per-domain",
            to.max_hosts_per_domain > from.max_hosts_per_domain,
        ),
        (
            "--max-pages-per-pattern",
            is_raised(from.max_pages_per_pattern, to.max_pages_per_pattern),
        ),
        ("--types", from.types.is_some() && to.types != from.types),
        (
            "--languages",
            from.languages.is_some() && to.languages != from.languages,
        ),
    ];
    let wider = compared.into_iter().filter(|(_, is_wider)| *is_wider);
    wider.map(|(name, _)| name).collect()
}

/// Returns true if a limit was raised or removed.
fn is_raised<N: PartialOrd>(before: Option<N>, now: Option<N>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => now > before,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Returns the place of a scope among the others: each has those before it in it.
const fn breadth(scope: ScopeKind) -> u8 {
    match scope {
        ScopeKind::Prefix => 0,
        ScopeKind::Host => 1,
        ScopeKind::Domain => 2,
        ScopeKind::Any => 3,
    }
}

const fn extent(requisites: Requisites) -> u8 {
    match requisites {
        Requisites::Off => 0,
        Requisites::Scope => 1,
        Requisites::Any => 2,
    }
}

const fn sitemaps(settings: &Settings) -> u8 {
    match settings.sitemaps {
        Sitemaps::Off => 0,
        Sitemaps::On => 1,
        Sitemaps::Guess => 2,
    }
}

const fn rank(links: DuplicateLinks) -> u8 {
    match links {
        DuplicateLinks::None => 0,
        DuplicateLinks::Probe => 1,
        DuplicateLinks::Follow => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_let_in_more_are_named_and_narrower_ones_are_not() {
        let with = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings
        };
        let plain = with(|_| {});
        let deep = with(|one| one.max_depth = Some(3));
        let flat = with(|one| one.max_depth = Some(1));
        let wide = with(|one| one.scope = ScopeKind::Domain);
        let narrow = with(|one| one.exclude = vec!["/a".to_owned(), "/b".to_owned()]);
        let less = with(|one| one.exclude = vec!["/b".to_owned()]);
        let only = with(|one| one.include = vec!["/c".to_owned()]);
        let shown = with(|one| one.page_requisites = Requisites::Scope);
        for (before, now, names) in [
            (&plain, &plain, &[][..]),
            (&flat, &deep, &["--max-depth"]),
            (&deep, &flat, &[]),
            (&flat, &plain, &["--max-depth"]),
            (&plain, &flat, &[]),
            (&plain, &wide, &["--scope"]),
            (&wide, &plain, &[]),
            (&narrow, &less, &["--exclude"]),
            (&less, &narrow, &[]),
            (&only, &plain, &["--include"]),
            (&plain, &only, &[]),
            (&plain, &shown, &["--page-requisites"]),
            (&shown, &plain, &[]),
        ] {
            assert_eq!(widened(before, now), names);
        }
    }
}
