//! Continues a crawl whose settings admit more than in the previous session.
//!
//! `state/settings.toml` contains the settings that the crawl has caught up with: all URLs that
//! they admit are queued. If a session has wider settings or a seed in a new place, the crawl
//! catches up before its first request. It queues URLs whose excluding rule no longer applies, and
//! offers the links of archived pages again. Then the file is replaced. The pass may be repeated,
//! so a session after an interrupt restarts it and compares with the same settings.
//! `DIR/crawler.toml` is unsuitable for this, because users edit it.

mod wider_settings;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crawl::{CrawlContext, Finish, RuleChange, Stop};
use disk::{Disk, SystemDisk};
use journal::{DiscoveredUrl, VisitRecord};
use messages::cannot;
use messages::{CommandError, SlowProgress, fault};
use policy::Policy;
use settings::read_again::{ArchivedPages, BATCH};
use settings::rules::{policy, scope};
use settings::seeds::{self, Seeds};
use settings::{SETTINGS_FILE, Settings, crawl_directory};
use store::EmbeddedStore;
use tokio::runtime::Handle;
use tokio::time::Instant;
use web::{OutOfScope, PageUrl, Scope};

use self::wider_settings::{is_raised, sends_cookies, sitemaps, widened};

/// Name of the file in the state directory with the settings that the crawl has caught up with.
const CAUGHT_UP_WITH: &str = "settings.toml";

/// Maximum number of origins whose robots.txt is searched for sitemaps.
const MAX_ORIGINS: usize = 100_000;

/// The settings that a crawl has caught up with, and their scope with its seeds.
pub struct Before {
    settings: Settings,
    scope: Scope,
}

/// Settings that admit more than before.
pub struct Widened {
    before: Arc<Before>,
    /// Names of these settings.
    names: Vec<&'static str>,
    /// Settings of this session, as they will be in the file.
    text: String,
}

/// The number of URLs that were queued.
pub struct CaughtUp {
    names: Vec<&'static str>,
    links: u64,
    excluded: u64,
    /// End of the session, if it cut the pass short: the next session starts the pass again.
    cut_by: Option<Finish>,
}

impl Before {
    /// Reads the settings of an earlier session; `None` if this is the first session. Must be
    /// called before a long list of seeds is read, because that replaces the crawl's seeds file.
    pub fn read(now: &Settings, store: &EmbeddedStore) -> Result<Option<Arc<Self>>, CommandError> {
        let paths = [path(now), now.out.join(SETTINGS_FILE)];
        let last = paths.iter().find(|path| store.resumed() && path.exists());
        last.map(|last| Self::of_file(last, &now.out, store).map(Arc::new))
            .transpose()
    }

    fn of_file(file: &Path, out: &Path, store: &EmbeddedStore) -> Result<Self, CommandError> {
        let settings = Settings {
            // The directory may have been renamed since.
            out: out.to_owned(),
            ..Settings::of_file(file)?
        };
        let mut scope = scope(&settings)?;
        seeds::each_of_crawl(&settings, &settings.canonical_form(), |seed| {
            scope.add_seed(seed);
        })?;
        for seed in store.adopted_seeds() {
            scope.add_seed(seed);
        }
        Ok(Self { settings, scope })
    }

    /// Returns true if a seed covers a place that no earlier seed covered. `is_long` is true if the
    /// list is in the crawl's seeds file.
    fn has_new_place(
        &self,
        now: &Settings,
        seeds: &Seeds,
        is_long: bool,
    ) -> Result<bool, CommandError> {
        let mut is_new = seeds.urls.iter().any(|seed| is_outside(&self.scope, seed));
        if is_long && !is_new {
            let form = now.canonical_form();
            seeds::each_of_crawl(now, &form, |seed| {
                is_new = is_new || is_outside(&self.scope, seed);
            })?;
        }
        Ok(is_new)
    }
}

impl Widened {
    /// Compares the settings and seeds of a session with the state that the crawl has caught up
    /// with. Returns `None` if they do not admit more. `is_long` is true for a long list of seeds.
    pub fn note(
        before: Option<&Arc<Before>>,
        now: &Settings,
        seeds: &Seeds,
        is_long: bool,
        disk: &dyn Disk,
    ) -> Result<Option<Self>, CommandError> {
        let text = now.as_run(seeds.urls.iter().map(ToString::to_string).collect())?;
        if let Some(before) = before {
            let mut names = widened(&before.settings, now);
            if before.has_new_place(now, seeds, is_long)? {
                names.push("seeds");
            }
            if !names.is_empty() {
                let before = Arc::clone(before);
                return Ok(Some(Self {
                    before,
                    names,
                    text,
                }));
            }
        }
        write(now, &text, disk).map(|()| None)
    }

    /// Queues the URLs that the settings admit now, off the reactor. Stops when the pass is done, a
    /// stop is requested or the session's `end` is reached.
    pub async fn catch_up(
        self,
        now: &Settings,
        context: &Arc<CrawlContext>,
        store: &Arc<EmbeddedStore>,
        stop: &Stop,
        end: Option<Instant>,
    ) -> Result<CaughtUp, CommandError> {
        let before = &self.before.settings;
        let pass = Pass {
            policy: policy(before, before.canonical_form()),
            before: Arc::clone(&self.before),
            now: now.clone(),
            context: Arc::clone(context),
            store: Arc::clone(store),
            stop: stop.clone(),
            end,
        };
        let runtime = Handle::current();
        let names = self.names;
        let caught_up = tokio::task::spawn_blocking(move || pass.run(&runtime, names)).await;
        let caught_up = caught_up.map_err(|error| fault(&error))??;
        if caught_up.cut_by.is_none() {
            context.frontier.checkpoint(None).await?;
            write(now, &self.text, &SystemDisk)?;
        }
        Ok(caught_up)
    }
}

impl CaughtUp {
    /// Returns the end of the session, if it cut the pass short.
    pub const fn cut_by(&self) -> Option<Finish> {
        self.cut_by
    }

    /// Describes the queued URLs.
    pub fn in_words(&self) -> String {
        let names = self.names.join(", ");
        if self.cut_by.is_some() {
            return format!(
                "{names} widened the scope; the same command continues the search for new links"
            );
        }
        let (links, excluded) = (self.links, self.excluded);
        format!(
            "{names} widened the scope: links of archived pages queued: {links}, excluded URLs \
             requeued: {excluded}"
        )
    }
}

/// Returns true if a seed is outside all places that the seeds of a scope cover.
fn is_outside(scope: &Scope, seed: &PageUrl) -> bool {
    let judged = scope.judge(seed);
    matches!(
        judged,
        Err(OutOfScope::OtherHost | OutOfScope::OtherDomain | OutOfScope::OtherPrefix)
    )
}

fn path(settings: &Settings) -> PathBuf {
    crawl_directory::state(&settings.out).join(CAUGHT_UP_WITH)
}

/// Writes the settings that the crawl has caught up with.
fn write(settings: &Settings, text: &str, disk: &dyn Disk) -> Result<(), CommandError> {
    let path = path(settings);
    disk.replace(&path, text.as_bytes())
        .map_err(|error| cannot("write", &path, &error, &settings.out))
}

/// A pass over the visits of a crawl.
struct Pass {
    before: Arc<Before>,
    now: Settings,
    policy: Policy,
    context: Arc<CrawlContext>,
    store: Arc<EmbeddedStore>,
    stop: Stop,
    /// Time limit of the session.
    end: Option<Instant>,
}

impl Pass {
    fn run(self, runtime: &Handle, names: Vec<&'static str>) -> Result<CaughtUp, CommandError> {
        let excluded = self.queue_excluded(runtime)?;
        let links = match self.cut_by() {
            Some(_) => 0,
            None => self.offer_links(runtime)?,
        };
        Ok(CaughtUp {
            names,
            links,
            excluded,
            cut_by: self.cut_by(),
        })
    }

    /// Returns the end of the session, if it is reached.
    fn cut_by(&self) -> Option<Finish> {
        let is_late = self.end.is_some_and(|end| Instant::now() >= end);
        match self.stop.is_requested() {
            true => Some(Finish::Interrupted),
            false => is_late.then_some(Finish::MaxTime),
        }
    }

    fn queue_excluded(&self, runtime: &Handle) -> Result<u64, CommandError> {
        let scope = self.context.scope.read();
        let scope = scope
            .expect("no panic can happen while the scope is locked")
            .clone();
        let (before, now) = (&self.before.settings, &self.now);
        let change = RuleChange {
            policies: [&self.policy, &self.context.policy],
            scopes: [&self.before.scope, &scope],
            more_of_patterns: is_raised(before.max_pages_per_pattern, now.max_pages_per_pattern),
            sends_cookies: sends_cookies(now) && !sends_cookies(before),
        };
        let mut progress = SlowProgress::new("visits compared with the settings");
        let queued = self.store.queue_excluded(|visit| {
            progress.step();
            self.cut_by().is_none() && change.lets_in(visit)
        });
        Ok(runtime.block_on(queued)?)
    }

    /// Offers the links of all archived pages.
    fn offer_links(&self, runtime: &Handle) -> Result<u64, CommandError> {
        let pages = ArchivedPages::of(&self.now);
        let mut progress = SlowProgress::new("archived pages read for links");
        let has_more_sitemaps = sitemaps(&self.now) > sitemaps(&self.before.settings);
        let (mut origins, mut batch, mut queued) = (HashSet::new(), Vec::new(), 0);
        for visit in journal::visits(&crawl_directory::state(&self.now.out))? {
            let visit = visit?;
            progress.step();
            if self.cut_by().is_some() {
                return Ok(queued);
            }
            let is_new = has_more_sitemaps
                && origins.len() < MAX_ORIGINS
                && origins.insert(visit.url.origin());
            if is_new {
                let offered = crawl::offer_sitemaps(&self.context, &visit);
                queued += runtime.block_on(offered)? as u64;
            }
            if may_have_links(&visit) {
                batch.push(visit);
            }
            if batch.len() == BATCH {
                queued += self.offer(&mut batch, &pages, runtime)?;
            }
        }
        queued += self.offer(&mut batch, &pages, runtime)?;
        // Unreadable pages were named; the crawl continues without their links.
        Ok(queued)
    }

    fn offer(
        &self,
        batch: &mut Vec<VisitRecord>,
        pages: &ArchivedPages,
        runtime: &Handle,
    ) -> Result<u64, CommandError> {
        let links = |visit: &VisitRecord, exchange| {
            crawl::links_of_archived(&self.context, &self.policy, visit, &exchange)
        };
        let mut queued = 0;
        pages.make_of_answers(batch, links, |links: Vec<DiscoveredUrl>| {
            queued += runtime.block_on(self.context.frontier.discover(links))? as u64;
            Ok::<_, CommandError>(())
        })?;
        Ok(queued)
    }
}

/// Returns false for visits whose content cannot contain links that a crawl follows.
fn may_have_links(visit: &VisitRecord) -> bool {
    let media = visit.content_type.as_deref().unwrap_or_default();
    let is_media = ["image/", "video/", "audio/", "font/"]
        .iter()
        .any(|kind| media.starts_with(kind));
    visit.details.unread.is_none() && (!is_media || media == "image/svg+xml")
}

#[cfg(test)]
mod tests {
    use web::ScopeKind;

    use super::*;

    #[test]
    fn a_seed_of_another_place_is_new_and_one_that_an_expression_keeps_out_is_not() {
        let form = Settings::default().canonical_form();
        let url = |text: &str| PageUrl::parse(text, &form).unwrap();
        let (only, none) = (["/a/".to_owned()], ["/no/".to_owned()]);
        let of = |kind| {
            let mut scope = Scope::new(kind, &only, &none).unwrap();
            scope.add_seed(&url("http://a.test/a/"));
            scope
        };
        for (kind, seed, is_new) in [
            (ScopeKind::Host, "http://a.test/b", false),
            (ScopeKind::Host, "http://a.test/no/1", false),
            (ScopeKind::Host, "http://b.test/no/1", false),
            (ScopeKind::Host, "http://b.test/a/", true),
            (ScopeKind::Prefix, "http://a.test/a/1", false),
            (ScopeKind::Prefix, "http://a.test/c/", true),
            (ScopeKind::Any, "http://b.test/", false),
        ] {
            assert_eq!(is_outside(&of(kind), &url(seed)), is_new, "{seed}");
        }
    }
}
