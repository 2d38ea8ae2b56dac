//! Settings that admit more URLs or content than in the previous session.

use policy::{DuplicateLinks, OnDuplicate, Requisites};
use reading::Sitemaps;
use settings::Settings;
use settings::values::CookieKeeping;
use web::{PageUrl, ScopeKind};

/// Returns the names of the settings that admit more than before.
pub(super) fn widened(before: &Settings, now: &Settings) -> Vec<&'static str> {
    let compared = of_urls(before, now).into_iter();
    let compared = compared.chain(of_visits(before, now));
    let wider = compared.filter(|(_, is_wider)| *is_wider);
    wider.map(|(name, _)| name).collect()
}

/// Compares the settings about URLs and links.
fn of_urls(from: &Settings, to: &Settings) -> Vec<(&'static str, bool)> {
    let lacks = |some: &[String], others: &[String]| some.iter().any(|one| !others.contains(one));
    vec![
        ("--max-depth", is_raised(from.max_depth, to.max_depth)),
        ("max-depth in [prefix]", is_deeper_below(from, to)),
        ("scope in [seed]", widens_seed(from, to)),
        ("--extra-hops", to.extra_hops > from.extra_hops),
        ("--scope", breadth(to.scope) > breadth(from.scope)),
        ("--exclude", lacks(&from.exclude, &to.exclude)),
        (
            "--include",
            !from.include.is_empty()
                && (to.include.is_empty() || lacks(&to.include, &from.include)),
        ),
        (
            "--drop-parameters",
            lacks(&from.drop_parameters, &to.drop_parameters),
        ),
        (
            "--sort-parameters off",
            from.sort_parameters.is_on() && !to.sort_parameters.is_on(),
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
    ]
}

/// Compares the settings about visits and limits.
fn of_visits(from: &Settings, to: &Settings) -> Vec<(&'static str, bool)> {
    let follows = |settings: &Settings| settings.on_duplicate == OnDuplicate::Follow;
    vec![
        ("--traps off", from.traps.is_on() && !to.traps.is_on()),
        ("--ignore-robots", to.ignore_robots && !from.ignore_robots),
        (
            "--respect-preferences",
            !from.respect_preferences.is_empty()
                && to.respect_preferences != from.respect_preferences,
        ),
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
        ("--max-redirects", to.max_redirects > from.max_redirects),
        ("--cookies", sends_cookies(to) && !sends_cookies(from)),
        ("--spider=false", from.spider && !to.spider),
        ("--types", from.types.is_some() && to.types != from.types),
        (
            "--languages",
            from.languages.is_some() && to.languages != from.languages,
        ),
    ]
}

/// Returns true if cookies that servers set are sent back.
pub(super) fn sends_cookies(settings: &Settings) -> bool {
    settings.cookies == CookieKeeping::Session
}

/// Returns true if a limit was raised or removed.
pub(super) fn is_raised<N: PartialOrd>(before: Option<N>, now: Option<N>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => now > before,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Returns true if the pages below a URL with a limit of its own may be farther from a seed.
fn is_deeper_below(from: &Settings, to: &Settings) -> bool {
    let (before, now) = (from.depth_limits(), to.depth_limits());
    let tables = from.prefix.iter().chain(&to.prefix);
    let mut limited = tables.filter(|(_, own)| own.max_depth.is_some());
    limited.any(|(prefix, _)| is_raised(before.of(prefix.url()), now.of(prefix.url())))
}

/// Returns true if a seed with a scope of its own lets in more.
fn widens_seed(from: &Settings, to: &Settings) -> bool {
    let scope_in = |settings: &Settings, seed: &PageUrl| {
        let own = settings.seed.get(seed).and_then(|own| own.scope);
        breadth(own.unwrap_or(settings.scope))
    };
    let tables = from.seed.iter().chain(&to.seed);
    let mut own = tables.filter(|(_, own)| own.scope.is_some());
    own.any(|(seed, _)| scope_in(to, seed) > scope_in(from, seed))
}

/// Returns the rank of a scope: each scope includes all scopes with lower ranks.
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

/// Returns the rank of the sitemap setting.
pub(super) const fn sitemaps(settings: &Settings) -> u8 {
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
    use settings::values::Switch;

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
        let near = with(|one| one.extra_hops = 1);
        let narrow = with(|one| one.exclude = vec!["/a".to_owned(), "/b".to_owned()]);
        let less = with(|one| one.exclude = vec!["/b".to_owned()]);
        let only = with(|one| one.include = vec!["/c".to_owned()]);
        let shown = with(|one| one.page_requisites = Requisites::Scope);
        let checked = with(|one| one.spider = true);
        let far = with(|one| one.max_redirects += 1);
        let known = with(|one| one.cookies = CookieKeeping::Session);
        let whole = with(|one| one.drop_parameters.clear());
        let unsorted = with(|one| one.sort_parameters = Switch::Off);
        let below = |max| {
            let mut settings = Settings::default();
            let prefix = "http://a.test/x/".parse().unwrap();
            settings.prefix.entry(prefix).or_default().max_depth = Some(max);
            settings
        };
        let (shallow, shallower) = (below(1), below(0));
        let folder = with(|one| {
            let form = one.canonical_form();
            let seed = PageUrl::parse("http://a.test/x/", &form).unwrap();
            one.seed.entry(seed).or_default().scope = Some(ScopeKind::Prefix);
        });
        for (before, now, names) in [
            (&plain, &plain, &[][..]),
            (&shallower, &shallow, &["max-depth in [prefix]"]),
            (&shallow, &plain, &["max-depth in [prefix]"]),
            (&plain, &shallow, &[]),
            (&folder, &plain, &["scope in [seed]"]),
            (&plain, &folder, &[]),
            (&flat, &deep, &["--max-depth"]),
            (&deep, &flat, &[]),
            (&flat, &plain, &["--max-depth"]),
            (&plain, &flat, &[]),
            (&plain, &wide, &["--scope"]),
            (&wide, &plain, &[]),
            (&plain, &near, &["--extra-hops"]),
            (&near, &plain, &[]),
            (&narrow, &less, &["--exclude"]),
            (&less, &narrow, &[]),
            (&only, &plain, &["--include"]),
            (&plain, &only, &[]),
            (&plain, &shown, &["--page-requisites"]),
            (&shown, &plain, &[]),
            (&checked, &plain, &["--spider=false"]),
            (&plain, &checked, &[]),
            (&plain, &far, &["--max-redirects"]),
            (&far, &plain, &[]),
            (&plain, &known, &["--cookies"]),
            (&known, &plain, &[]),
            (&plain, &whole, &["--drop-parameters"]),
            (&whole, &plain, &[]),
            (&plain, &unsorted, &["--sort-parameters off"]),
            (&unsorted, &plain, &[]),
        ] {
            assert_eq!(widened(before, now), names);
        }
    }
}
