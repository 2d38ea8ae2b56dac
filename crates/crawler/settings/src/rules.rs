//! The rules of a crawl, derived from its settings.

use std::num::NonZeroUsize;
use std::time::Duration;

use journal::Fate;
use messages::{CommandError, usage};
use policy::{IndexedPages, Policy};
use reading::{ListingRules, ReadingRules};
use requests::{HostPacing, PacingRules};
use web::{CanonicalForm, Scope, TrapRules};

use crate::control_in_force::last_in_force;
use crate::settings::Settings;
use crate::{machine, seeds};

/// The longest delay, because clocks are finite.
const LONGEST_DELAY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Returns the scope of the settings, without seeds yet.
pub fn scope(settings: &Settings) -> Result<Scope, CommandError> {
    let scope = Scope::new(settings.scope, &settings.include, &settings.exclude);
    let scope = scope.map(|scope| scope.with_kinds(settings.seed_scopes()));
    scope.map_err(|error| {
        // The expression's engine draws a picture of the mistake and names it in the last line.
        let drawn = error.source.to_string();
        let named = drawn.lines().last().unwrap_or_default();
        let named = named.strip_prefix("error: ").unwrap_or(named);
        let remedy =
            "regular expressions use the syntax of the Rust crate `regex`: https://docs.rs/regex";
        usage(format!(
            "--include or --exclude {:?}: {named}",
            error.pattern
        ))
        .with_remedy(remedy)
    })
}

/// Returns the scope of a crawl with its seeds and the exclusions in effect.
pub fn scope_in_force(settings: &Settings, form: &CanonicalForm) -> Result<Scope, CommandError> {
    let mut scope = scope(settings)?;
    if let Some(in_force) = last_in_force(&settings.out)? {
        scope.exclude_now(in_force.overrides.exclude);
    }
    seeds::each_of_crawl(settings, form, |seed| {
        scope.add_seed(seed);
    })?;
    Ok(scope)
}

/// Returns the rules for the pauses between requests.
pub fn pacing(settings: &Settings) -> PacingRules {
    let (delay, max_delay) = (settings.delay.0, settings.max_delay.0);
    PacingRules {
        delay: delay.min(LONGEST_DELAY),
        factor: settings.delay_factor,
        max_delay: max_delay.max(delay).min(LONGEST_DELAY),
        connections_per_host: settings.per_host(),
        of_hosts: settings.host_table().map(|own| HostPacing {
            delay: own.delay.map(|delay| delay.0.min(LONGEST_DELAY)),
            connections: own.concurrency.map(NonZeroUsize::get),
        }),
        rate: settings.rate.map(|rate| rate.0),
        group_by: settings.group_by(),
        address: settings.address_bound(),
        ..PacingRules::default()
    }
}

/// Returns the rules for reading, archiving and following pages.
pub fn policy(settings: &Settings, canonical: CanonicalForm) -> Policy {
    let traps = settings.traps.is_on();
    Policy {
        on_duplicate: settings.on_duplicate,
        duplicate_text: settings.duplicate_text.is_on(),
        duplicate_links: settings.duplicate_links,
        depth: settings.depth_limits(),
        extra_hops: settings.extra_hops,
        tries: settings.tries,
        redirects: settings.max_redirects,
        ignore_robots: settings.ignore_robots,
        skip_relations: settings.skip_relations(),
        archives_interstitials: settings.archive_interstitials.is_on(),
        respected: settings.respect_preferences,
        spider: settings.spider,
        types: settings.types.clone().unwrap_or_default(),
        languages: settings.languages.clone().unwrap_or_default(),
        page_requisites: settings.page_requisites,
        render: settings.render_rules(),
        digest: settings.digest,
        outlinks: settings.outlinks.is_on(),
        index: (!settings.no_index).then_some(settings.index),
        traps: traps.then(|| TrapRules::at(machine::clock().now())),
        reading: reading(settings, canonical),
    }
}

/// Returns the rules for reading pages.
fn reading(settings: &Settings, canonical: CanonicalForm) -> ReadingRules {
    let (from, to) = (&settings.sitemap_from, &settings.sitemap_to);
    let rules = settings.reading().rules();
    ReadingRules {
        agent: settings.agent_token(),
        pdf: pdf::reader(),
        listings: ListingRules {
            sitemaps: settings.sitemaps,
            feeds: settings.feeds.is_on(),
            from: from.as_ref().map(|date| date.lastmod.first),
            to: to.as_ref().map(|date| date.lastmod.last),
            ..ListingRules::default()
        },
        canonical,
        ..rules.expect("settings were checked when they were read")
    }
}

/// Returns the rules of the search index as the index stores them.
pub fn index_rules(settings: &Settings) -> String {
    let main_content = settings.main_content.is_on();
    let text = if main_content { "main" } else { "full" };
    format!("{}-{text}", settings.index)
}

/// Returns true if an index with these rules, as written by [`index_rules`], contains pages with
/// this fate.
pub fn is_indexed(rules: &str, fate: Fate) -> bool {
    let which = rules.split('-').next().and_then(|word| word.parse().ok());
    which.unwrap_or(IndexedPages::Unique).has(fate)
}
