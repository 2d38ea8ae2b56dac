//! Rules and options of a crawl's parts, derived from its settings.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use disk::Disk;
use fetch::{FetchLimits, FetchOptions, FileBudget, MemoryBudget, Secrets, Stalls};
use messages::{CommandError, usage};
use neardup::HashKey;
use policy::{DuplicateLinks, Policy};
use reading::{ListingRules, ReadingRules};
use requests::{HostPacing, PacingRules};
use store::{EarlierCrawls, FrontierRules, HostLimits, StoreOptions};
use web::{CanonicalForm, Clock, Scope, TrapRules};

use crate::settings::Settings;
use crate::values::{CookieKeeping, SignatureIndexPlace};
use crate::{crawl_directory, machine};

/// The longest delay, because clocks are finite.
const LONGEST_DELAY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Maximum time for a body that keeps arriving, in multiples of `--timeout`: an hour by default.
const TIMEOUTS_PER_BODY: u32 = 60;

/// Returns the scope of the settings, without seeds yet.
pub fn scope(settings: &Settings) -> Result<Scope, CommandError> {
    Scope::new(settings.scope, &settings.include, &settings.exclude).map_err(|error| {
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

/// Returns the fetch options of a crawl.
pub(super) fn fetch_options(
    settings: &Settings,
    secrets: Secrets,
    clock: &Clock,
    memory: &MemoryBudget,
    stalls: &Stalls,
) -> Result<FetchOptions, CommandError> {
    Ok(FetchOptions {
        limits: FetchLimits {
            body: settings.max_body.0,
            timeout: settings.timeout.0,
            body_time: settings.timeout.0.saturating_mul(TIMEOUTS_PER_BODY),
            redirects: settings.max_redirects,
            ..FetchLimits::default()
        },
        allow_private: settings.allow_private,
        resolve: settings.resolve_rules()?,
        ca_certificates: settings.ca_certificate.clone(),
        insecure_hosts: settings.insecure_hosts()?,
        proxy: settings.proxy()?,
        secrets: Arc::new(secrets),
        keeps_cookies: settings.cookies == CookieKeeping::Session,
        connections_per_host: max_connections(settings),
        open_files: FileBudget::of_limit(machine::file_limit()),
        memory: memory.clone(),
        spool: Some(crawl_directory::state(&settings.out)),
        stalls: stalls.clone(),
        ..FetchOptions::new(settings.user_agent(), clock.clone())
    })
}

/// Returns the maximum number of connections to any host.
fn max_connections(settings: &Settings) -> usize {
    let own = settings.host.values().filter_map(|own| own.concurrency);
    own.map(NonZeroUsize::get)
        .fold(settings.per_host(), usize::max)
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
        max_depth: settings.max_depth,
        tries: settings.tries,
        redirects: settings.max_redirects,
        ignore_robots: settings.ignore_robots,
        skip_relations: settings.skip_relations(),
        types: settings.types.clone().unwrap_or_default(),
        languages: settings.languages.clone().unwrap_or_default(),
        page_requisites: settings.page_requisites,
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

/// Returns the store options of a crawl.
pub(crate) fn store_options(
    settings: &Settings,
    earlier: Option<Arc<EarlierCrawls>>,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<StoreOptions, CommandError> {
    let pacing = pacing(settings);
    Ok(StoreOptions {
        rules: FrontierRules {
            per_host: settings.per_host(),
            of_hosts: settings.host_table().map(|own| HostLimits {
                leases: own.concurrency.map(NonZeroUsize::get),
                max_pages: own.max_pages,
            }),
            max_pages_per_host: settings.max_pages_per_host,
            closes_patterns: settings.traps.is_on(),
            probes: settings.duplicate_links != DuplicateLinks::None,
            max_pages_per_pattern: settings.max_pages_per_pattern,
            best_first: settings.has_topic(),
            anticipation: anticipation(settings),
            max_hosts_per_domain: Some(settings.max_hosts_per_domain),
            // The same for all hosts: it is unknown which hosts a session asked before it died.
            min_wait: pacing.longest_delay(),
            max_calm_wait: pacing.max_delay.max(pacing.longest_delay()),
            delay_factor: thousandths(settings.delay_factor),
            max_wait: pacing.longest_wait(),
        },
        comparison: settings.comparison()?,
        features: settings.feature_settings_name(),
        key: settings.hash_key.map(|key| key.0),
        earlier,
        new_key: HashKey::new(machine::random()?),
        keys_in_memory: settings.signature_index == SignatureIndexPlace::Memory,
        tables: settings.tables.design(settings.distance).map_err(usage)?,
        now: clock.now(),
        disk: Arc::clone(disk),
    })
}

/// Returns how long a slot may stay empty to wait for a better page. By default, only a crawl with
/// `--max-pages` waits: its pages are worth more than its time.
fn anticipation(settings: &Settings) -> Duration {
    let by_default = match settings.max_pages {
        Some(_) => FrontierRules::ANTICIPATION,
        None => Duration::ZERO,
    };
    settings.anticipation.map_or(by_default, |given| given.0)
}

/// Converts a factor to thousandths, as in the journal. NaN becomes 0.
fn thousandths(factor: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of a float saturates"
    )]
    let thousandths = (factor * 1000.0).round() as u32;
    thousandths
}
