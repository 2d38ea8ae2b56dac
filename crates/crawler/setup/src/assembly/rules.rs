//! Rules and options of a crawl's parts, derived from its settings.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use disk::Disk;
use fetch::{
    ClientCertificate, ClientCertificates, FetchLimits, FetchOptions, FileBudget, MemoryBudget,
    Secrets, Stalls,
};
use messages::{CommandError, usage};
use neardup::HashKey;
use policy::DuplicateLinks;
use settings::rules::pacing;
use settings::values::{CookieKeeping, SignatureIndexPlace};
use settings::{Settings, crawl_directory, machine};
use store::{EarlierCrawls, FrontierRules, HostLimits, StoreOptions};
use web::{Clock, PageUrl};

/// Maximum time for a body that keeps arriving, in multiples of `--timeout`: an hour by default.
const TIMEOUTS_PER_BODY: u32 = 60;

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
        resolve: parse_each("resolve", &settings.resolve)?,
        ca_certificates: settings.ca_certificate.clone(),
        insecure_hosts: parse_each("insecure-host", &settings.insecure_host)?,
        proxy: settings.proxy()?,
        host_proxies: settings.host_table().map(|own| own.proxy.clone()),
        secrets: Arc::new(secrets),
        nonce_seed: machine::random()?,
        keeps_cookies: settings.cookies == CookieKeeping::Session,
        connections_per_host: max_connections(settings),
        open_files: FileBudget::of_limit(machine::file_limit()),
        memory: memory.clone(),
        spool: Some(crawl_directory::state(&settings.out)),
        stalls: stalls.clone(),
        ..FetchOptions::new(settings.user_agent(), clock.clone())
    })
}

/// Parses the values of a repeatable option.
fn parse_each<T: FromStr<Err: Display>>(
    option: &str,
    values: &[String],
) -> Result<Vec<T>, CommandError> {
    let parse = |value: &String| {
        let parsed = value.parse();
        parsed.map_err(|error| usage(format!("--{option} {value}: {error}")))
    };
    values.iter().map(parse).collect()
}

/// Returns the client certificates, bound to these seeds and to single hosts.
pub(super) fn client_certificates(settings: &Settings, seeds: &[PageUrl]) -> ClientCertificates {
    let of = |certificate: Option<PathBuf>, key: Option<PathBuf>| {
        certificate.map(|certificate| ClientCertificate {
            key: key.unwrap_or_else(|| certificate.clone()),
            certificate,
        })
    };
    let of_hosts = settings
        .resolved_hosts()
        .into_iter()
        .filter_map(|(pattern, own)| {
            let certificate = of(own.client_cert, own.client_key)?;
            Some((pattern, certificate))
        });
    let of_seeds = of(settings.client_cert.clone(), settings.client_key.clone());
    ClientCertificates::new(of_seeds, of_hosts.collect(), seeds)
}

/// Returns the maximum number of connections to any host.
fn max_connections(settings: &Settings) -> usize {
    let own = settings.host.values().filter_map(|own| own.concurrency);
    own.map(NonZeroUsize::get)
        .fold(settings.per_host(), usize::max)
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
            probes_scripts: settings.renders(),
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
