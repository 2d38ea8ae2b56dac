//! The closing of patterns, and the visits before it: the simulation behind docs/adr/0007.
//!
//! A site has pages of one pattern. `share` per cent of them say something new, each by itself or
//! in runs of a mean length of `run`. It is visited as a crawl does: what is excluded is excluded.
//! `SITES=200 PAGES=10000 cargo test --release -p store simulation -- --nocapture` prints the table
//! of the ADR.

use journal::Fate;
use testkit::Random;

use super::tests::visit;
use super::*;

#[derive(Default)]
struct Outcome {
    /// Sites whose pattern was closed, and their visits before that.
    closed: u64,
    visits_before: u64,
    new: u64,
    new_excluded: u64,
    fruitless: u64,
    /// Sites whose pattern is not closed at the end.
    open: u64,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn simulate(share: u64, run: u64) -> Outcome {
    let (sites, pages) = (number("SITES", 6), number("PAGES", 3_000));
    let mut outcome = Outcome::default();
    for site in 0..sites {
        visit_site(share, run, pages, site, &mut outcome);
    }
    let before = outcome.visits_before.checked_div(outcome.closed);
    println!(
        "| {share} % | {run} | {:.1} % | {} | {:.2} % | {} | {:.1} % |",
        100.0 * outcome.closed as f64 / sites as f64,
        before.map_or("-".to_owned(), |visits| visits.to_string()),
        100.0 * outcome.new_excluded as f64 / outcome.new.max(1) as f64,
        outcome.fruitless / sites,
        100.0 * outcome.open as f64 / sites as f64,
    );
    outcome
}

fn visit_site(share: u64, run: u64, pages: u64, site: u64, outcome: &mut Outcome) {
    let mut random = Random::of(share << 32 | run, site);
    let mut patterns = Patterns::default();
    let (mut was_closed, mut is_new) = (false, random.next() % 100 < share);
    for page in 0..pages {
        if run == 1 {
            is_new = random.next() % 100 < share;
        } else {
            // Runs of new pages and of others take turns; their mean lengths are as the shares.
            let mean = if is_new {
                run * share / (100 - share)
            } else {
                run
            };
            is_new ^= random.next().is_multiple_of(mean.max(1));
        }
        outcome.new += u64::from(is_new);
        let fate = if is_new {
            Fate::Unique
        } else {
            Fate::NearDuplicate
        };
        let excluded = visit(&mut patterns, page, fate, None).is_some();
        outcome.new_excluded += u64::from(excluded && is_new);
        outcome.fruitless += u64::from(!excluded && !is_new);
        if excluded && !was_closed {
            was_closed = true;
            outcome.closed += 1;
            outcome.visits_before += page;
        }
    }
    let is_open = |report: PatternReport<'_>| report.state != PatternState::Closed;
    outcome.open += u64::from(patterns.reports().all(is_open));
}

#[test]
fn simulation_of_honest_sites_and_traps() {
    println!(
        "| new | run | sites closed | visits before | new pages excluded \
         | fruitless fetches a site | open at the end |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (share, run) in [(0, 1), (1, 1)] {
        let outcome = simulate(share, run);
        assert_eq!(
            outcome.closed,
            number("SITES", 6),
            "{share} %: a trap is closed"
        );
        assert!(
            outcome.visits_before / outcome.closed < 400,
            "{share} %: and soon"
        );
    }
    for (share, run) in [(2, 1), (3, 1), (5, 1), (10, 1)] {
        simulate(share, run);
    }
    for (share, run) in [(20, 1), (50, 1), (80, 1), (80, 10)] {
        let outcome = simulate(share, run);
        assert_eq!(
            outcome.closed, 0,
            "{share} % in runs of {run}: honest sites stay open"
        );
    }
    // Repetitions in runs so long that they look like a trap while they last: it opens again by
    // itself.
    for (share, run) in [(50, 50), (80, 50), (80, 200), (80, 1_000), (95, 200)] {
        simulate(share, run);
    }
}
