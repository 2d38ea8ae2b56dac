//! The messages at the beginning of a crawl.

use corpus::is_standard_input;
use messages::{counted, pasted, printable, say, warn};
use settings::seeds::Seeds;
use settings::{Settings, rules};
use web::ScopeKind;

/// Maximum number of seed folders that are printed.
const SHOWN_FOLDERS: usize = 3;

/// Prints the warnings, and the start of the crawl: `count` seeds; `seeds` contains the first of
/// them.
pub(super) fn greet(
    settings: &Settings,
    (seeds, count): (&Seeds, usize),
    warnings: &[String],
    resumed: bool,
    node: Option<&str>,
) {
    seeds.warnings.lines().for_each(|warning| warn(&warning));
    warnings.iter().for_each(|warning| warn(warning));
    if settings.ignore_robots {
        warn("robots.txt, nofollow and noarchive are IGNORED; the archive records it");
    }
    for host in &settings.insecure_host {
        warn(&format!(
            "certificates of {host} are NOT VERIFIED: an attacker on the network can read and \
             change its pages; the archive records it"
        ));
    }
    if settings.contact.is_none() && settings.user_agent.is_none() {
        warn("no --contact: site owners cannot reach you about this crawl");
    }
    if let Some(node) = node {
        let out = printable(&settings.out.display().to_string());
        say(&format!(
            "node {node} joins the crawl, with its archive in {out}; interrupt at any time, the \
             same command continues"
        ));
        return;
    }
    let verb = match resumed {
        true => "continuing",
        false => "crawling into",
    };
    say(&format!(
        "{verb} {} from {}; interrupt at any time, the same command continues",
        pasted(&settings.out),
        counted(count as u64, "seed")
    ));
    if settings.scope == ScopeKind::Prefix {
        say_folders(settings, seeds, count);
    }
    // Of a long list, only the first seeds are known here.
    if count == seeds.urls.len() {
        warn_about_tables(settings, seeds);
    }
}

/// Warns about tables of seeds that this crawl does not have.
fn warn_about_tables(settings: &Settings, seeds: &Seeds) {
    for (url, _) in settings.seed_scopes() {
        if !seeds.urls.contains(&url) {
            let url = printable(url.as_str());
            warn(&format!(
                "[seed.\"{url}\"] has no effect: {url} is not a seed of this crawl"
            ));
        }
    }
}

/// Prints the folders of the first seeds: without a trailing slash, a path may name a different
/// folder than the user expects.
fn say_folders(settings: &Settings, seeds: &Seeds, count: usize) {
    let Ok(scope) = rules::scope(settings) else {
        return;
    };
    for seed in seeds.urls.iter().take(SHOWN_FOLDERS) {
        say(&format!(
            "scope prefix: {}",
            printable(&scope.territory(seed))
        ));
    }
    if count > SHOWN_FOLDERS {
        say(&format!("scope prefix: and {} more", count - SHOWN_FOLDERS));
    }
}

/// Returns the message about a list that was not read completely.
pub(super) fn cut_list(settings: &Settings) -> String {
    match settings.seeds.as_deref() {
        Some(file) if !is_standard_input(file) => format!(
            "{} was not read completely; the same command reads it again, and skips known seeds",
            printable(&file.display().to_string())
        ),
        _ => "the seeds were not read completely: give them again to continue".to_owned(),
    }
}
