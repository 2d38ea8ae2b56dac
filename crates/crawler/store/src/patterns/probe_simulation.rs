//! The cost of a full mirror, and the loss of an edition of which a part is new: the simulation
//! behind docs/adr/0011.
//!
//! A site of 10,000 pages in a number of folders is known from unarchived pages only. A share of
//! its pages is new: each by itself, or folder by folder. It is visited as a crawl does, in the
//! order of the queue. `SITES=50 cargo test --release -p store probe_simulation -- --nocapture`
//! prints the table of the ADR.

use std::collections::VecDeque;

use journal::{Fate, QueueEntry};
use testkit::Random;
use web::UrlKey;

use super::*;
use crate::fixtures::{link, url};
use crate::frontier::FrontierRules;

const PAGES: u64 = 10_000;

/// The results of the sites of one kind.
#[derive(Default)]
struct Outcome {
    fetches: u64,
    max_fetches: u64,
    new: u64,
    lost: u64,
}

/// Returns true for the new pages of a site.
fn is_new(share: u64, by_folder: bool, folder: u64, page: u64, site: u64) -> bool {
    let draw = match by_folder {
        true => Random::of(site, folder).next(),
        false => Random::of(site, page << 20).next(),
    };
    draw % 1_000 < share
}

fn visit_site(folders: u64, share: u64, by_folder: bool, site: u64, outcome: &mut Outcome) {
    let mut patterns = Patterns::default();
    let rules = FrontierRules::default();
    let address = |page: u64| format!("http://m{site}.test/d{}/p{page}", page % folders);
    let mut discovered: Vec<DiscoveredUrl> = (0..PAGES)
        .map(|page| link(&address(page), 2).probed())
        .collect();
    discovered.sort_by_key(|found| found.priority);
    let mut queue: VecDeque<DiscoveredUrl> = discovered.into();
    let mut excluded: BTreeMap<UrlKey, VisitRecord> = BTreeMap::new();
    let (mut fetches, mut found) = (0, 0);
    while let Some(page) = queue.pop_front() {
        let number: u64 = page
            .url
            .as_str()
            .rsplit_once("/p")
            .unwrap()
            .1
            .parse()
            .unwrap();
        let exclusion = patterns.exclusion(&QueueEntry::new(0, page.clone()), &rules);
        let mut visit = VisitRecord::new(page.clone(), Fate::Excluded, web::Timestamp::default());
        visit.reason.clone_from(&exclusion);
        if exclusion.is_none() {
            fetches += 1;
            visit.status = Some(200);
            visit.fate = Fate::NearDuplicate;
            visit.duplicate_of = Some(url("http://a.test/"));
            if is_new(share, by_folder, number % folders, number, site) {
                visit.fate = Fate::Unique;
                found += 1;
            }
        } else {
            excluded.insert(page.url.key(), visit.clone());
        }
        patterns.settled(&visit, &[], page.priority, Some(0));
        while let Some(change) = patterns.due(&FrontierRules::default()) {
            patterns.apply(&change);
        }
        while let Some(visits) = patterns.to_requeue() {
            let pages: Vec<UrlKey> = visits.iter().map(|(page, _)| page).collect();
            for page in pages {
                let visit = excluded.remove(&page).unwrap();
                patterns.revoked(&visit);
                queue.push_back(link(visit.url.as_str(), 2).probed());
            }
        }
    }
    let new = (0..PAGES).filter(|page| is_new(share, by_folder, page % folders, *page, site));
    let new = new.count() as u64;
    outcome.fetches += fetches;
    outcome.max_fetches = outcome.max_fetches.max(fetches);
    outcome.new += new;
    outcome.lost += new - found;
}

fn simulate(folders: u64, share: u64, by_folder: bool) -> Outcome {
    let sites = std::env::var("SITES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(2);
    let mut outcome = Outcome::default();
    (0..sites).for_each(|site| visit_site(folders, share, by_folder, site, &mut outcome));
    println!(
        "| {folders} | {}.{} % | {} | {} | {} | {:.2} % |",
        share / 10,
        share % 10,
        if by_folder { "folders" } else { "pages" },
        outcome.fetches / sites,
        outcome.max_fetches,
        100.0 * outcome.lost as f64 / outcome.new.max(1) as f64,
    );
    outcome
}

#[test]
fn probe_simulation_of_mirrors_and_editions() {
    println!("| folders | new | by | fetches | at most | new pages lost |");
    println!("|--:|--:|---|--:|--:|--:|");
    for folders in [1, 20, 100, 1_000] {
        let mirror = simulate(folders, 0, false);
        assert!(
            mirror.max_fetches <= 200,
            "{folders}: {}",
            mirror.max_fetches
        );
    }
    for folders in [20, 100, 1_000] {
        for by_folder in [false, true] {
            assert_eq!(
                simulate(folders, 500, by_folder).lost,
                0,
                "{folders} {by_folder}"
            );
        }
    }
    for (folders, share) in [
        (20, 5),
        (100, 5),
        (20, 20),
        (100, 20),
        (100, 50),
        (100, 100),
        (20, 200),
    ] {
        simulate(folders, share, false);
        simulate(folders, share, true);
    }
}
