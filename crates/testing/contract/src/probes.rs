//! Probes, URLs found only on unarchived pages: a sample of them is visited, and a probe becomes an
//! ordinary URL as soon as a kept page links to it.

use journal::DiscoveredUrl;
use store::{Frontier, FrontierRules, Lease, Supply};
use web::Timestamp;

use crate::backend::{Backend, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_probe_waits_behind_everything_else_of_its_host_and_is_queued_once,
    a_probe_waits_behind_everything_else_of_its_domain_and_nothing_of_another_delays_it,
    a_probe_that_a_kept_page_links_to_takes_its_better_place_and_is_visited_once,
    a_folder_whose_sample_brings_nothing_new_is_closed_and_its_neighbour_is_not,
    a_folder_that_brings_something_new_after_all_reopens_with_what_it_excluded,
    what_a_closed_folder_excluded_is_queued_again_if_a_kept_page_links_there,
);

pub(crate) const IN_ORDER: &[Sentence] = &scenarios!(
    &[Promise::HostOrder],
    a_probe_of_a_mirror_waits_behind_everything_else_of_the_crawl,
);

pub(crate) const OVER_SESSIONS: &[Sentence] = &scenarios!(
    &[Promise::Sessions],
    the_state_of_folders_outlasts_the_process,
);

fn probe(text: &str) -> DiscoveredUrl {
    link(text, 3).probed()
}

/// Returns `count` probes in `folders` folders of one host.
fn probes(count: u32, folders: u32) -> impl Iterator<Item = DiscoveredUrl> {
    (0..count).map(move |n| probe(&format!("http://a.test/f{}/{n}", n % folders)))
}

/// Visits everything; `is_new` selects the pages that bring something new. Returns the visited URLs
/// and the excluded URLs.
async fn visit_all(
    frontier: &dyn Frontier,
    is_new: impl FnMut(&str) -> bool,
    links: impl Fn(&str) -> Vec<DiscoveredUrl>,
) -> (Vec<String>, Vec<String>) {
    let leased = visit_pages(frontier, usize::MAX, is_new, links).await;
    let (visited, not_visited): (Vec<_>, Vec<_>) = leased
        .into_iter()
        .partition(|(_, excluded)| excluded.is_none());
    let urls = |leased: Vec<(String, _)>| leased.into_iter().map(|(url, _)| url).collect();
    (urls(visited), urls(not_visited))
}

async fn a_probe_waits_behind_everything_else_of_its_host_and_is_queued_once(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let discovered = [
        probe("http://a.test/x"),
        probe("http://a.test/x"),
        link("http://a.test/deep", 90),
    ];
    assert_eq!(discover(frontier, discovered).await, 2);
    let (visited, _) = visit_all(frontier, |_| true, |_| Vec::new()).await;
    assert_eq!(visited, ["http://a.test/deep", "http://a.test/x"]);
    let known = [probe("http://a.test/x"), link("http://a.test/x", 1)];
    let new = discover(frontier, known).await;
    assert_eq!(new, 0, "it was visited");
}

/// The links of duplicates used to wait for the whole crawl: a site of a thousand pages was idle
/// until a site of a million pages was finished, and a long crawl slowed down from 900 pages per
/// second to 270.
async fn a_probe_waits_behind_everything_else_of_its_domain_and_nothing_of_another_delays_it(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let pages = [
        "http://big.test/1",
        "http://big.test/2",
        "http://big.test/3",
    ];
    seed(frontier, pages).await;
    let small = ["http://a.small.test/", "http://b.small.test/"];
    seed(frontier, small).await;
    let probes = ["http://a.small.test/x", "http://c.small.test/x"];
    discover(frontier, probes.map(probe)).await;
    let names = |leases: &[Lease]| {
        let mut names: Vec<String> = urls(leases).into_iter().map(str::to_owned).collect();
        names.sort();
        names
    };
    let mut out = leases(frontier, 0, 9).await;
    assert_eq!(names(&out), [small[0], small[1], pages[0]]);
    out.sort_by_key(|lease| lease.url().to_string());
    let (big, last_of_small, first) = (out.remove(2), out.remove(1), out.remove(0));
    visit(frontier, first, 0).await;
    let while_a_page_of_the_domain_is_out = supply(frontier, 0).await;
    let nothing = Supply::NothingBefore(Timestamp::NEVER);
    assert_eq!(while_a_page_of_the_domain_is_out, nothing);
    visit(frontier, last_of_small, 0).await;
    let out = leases(frontier, 0, 9).await;
    assert_eq!(names(&out), probes, "the other site has more pages");
    visit(frontier, big, 0).await;
    for lease in out {
        visit(frontier, lease, 0).await;
    }
    let (visited, _) = visit_all(frontier, |_| true, |_| Vec::new()).await;
    assert_eq!(visited, pages[1..]);
}

async fn a_probe_of_a_mirror_waits_behind_everything_else_of_the_crawl(backend: &dyn Backend) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let mirrored = link("http://mirror.test/x", 1).mirrored();
    let found = [
        mirrored,
        probe("http://other.test/x"),
        link("http://original.test/x", 1),
    ];
    discover(frontier, found).await;
    let mut out = leases(frontier, 0, 9).await;
    assert_eq!(
        urls(&out),
        ["http://other.test/x", "http://original.test/x"]
    );
    while let Some(lease) = out.pop() {
        let while_others_are_out = supply(frontier, 0).await;
        assert_eq!(
            while_others_are_out,
            Supply::NothingBefore(Timestamp::NEVER)
        );
        visit(frontier, lease, 0).await;
    }
    assert_eq!(
        urls(&leases(frontier, 0, 9).await),
        ["http://mirror.test/x"]
    );
}

async fn a_probe_that_a_kept_page_links_to_takes_its_better_place_and_is_visited_once(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let discovered = [probe("http://a.test/x"), link("http://a.test/page", 1)];
    discover(frontier, discovered).await;
    let links = |url: &str| match url {
        "http://a.test/page" => vec![link("http://a.test/x", 2), link("http://a.test/y", 2)],
        _ => Vec::new(),
    };
    let (visited, _) = visit_all(frontier, |_| true, links).await;
    let expected = ["http://a.test/page", "http://a.test/x", "http://a.test/y"];
    assert_eq!(visited, expected);
    let queued = frontier.stats().queued;
    assert_eq!(queued, 0, "its first place is given up");
}

async fn a_folder_whose_sample_brings_nothing_new_is_closed_and_its_neighbour_is_not(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    let page = |folder, n| probe(&format!("http://a.test/{folder}/f{}/{n}", n % 50));
    for folder in ["mirror", "edition"] {
        discover(frontier, (0..1_000).map(|n| page(folder, n))).await;
    }
    // Half of the edition is new.
    let is_new = |url: &str| url.contains("/edition/") && url.len().is_multiple_of(2);
    let (visited, not_visited) = visit_all(frontier, is_new, |_| Vec::new()).await;
    let is_mirrored = |url: &&String| url.contains("/mirror/");
    let mirrored = visited.iter().filter(is_mirrored).count();
    assert!((160..=180).contains(&mirrored), "{mirrored}");
    assert!(not_visited.iter().all(|url| is_mirrored(&url)));
    assert_eq!(visited.len() + not_visited.len(), 2_000);
}

async fn a_folder_that_brings_something_new_after_all_reopens_with_what_it_excluded(
    backend: &dyn Backend,
) {
    let session = begin(backend, FrontierRules::default()).await;
    let frontier = session.frontier().as_ref();
    discover(frontier, probes(600, 30)).await;
    // The first 161 visits bring nothing new, regardless of their URLs.
    let mut count = 0;
    let is_new = |_: &str| {
        count += 1;
        count > 161
    };
    let (visited, not_visited) = visit_all(frontier, is_new, |_| Vec::new()).await;
    assert_eq!(visited.len(), 600, "and {} excluded", not_visited.len());
    assert!(not_visited.len() >= 64, "it was closed for a while");
    let excluded = frontier.stats().totals.excluded;
    assert_eq!(excluded, 0, "their records are revoked");
}

async fn what_a_closed_folder_excluded_is_queued_again_if_a_kept_page_links_there(
    backend: &dyn Backend,
) {
    let rules = FrontierRules {
        probes: false,
        ..FrontierRules::default()
    };
    let session = begin(backend, rules).await;
    let frontier = session.frontier().as_ref();
    let not_visited = [probe("http://a.test/x"), probe("http://a.test/y")];
    discover(frontier, not_visited).await;
    let (visited, mut not_visited) = visit_all(frontier, |_| true, |_| Vec::new()).await;
    not_visited.sort();
    assert_eq!(visited, Vec::<String>::new());
    assert_eq!(not_visited, ["http://a.test/x", "http://a.test/y"]);
    assert_eq!(frontier.stats().totals.excluded, 2);
    let links = [link("http://a.test/new", 1), link("http://a.test/x", 1)];
    assert_eq!(discover(frontier, links).await, 2);
    assert_eq!(frontier.stats().totals.excluded, 1);
    let (visited, _) = visit_all(frontier, |_| true, |_| Vec::new()).await;
    assert_eq!(visited, ["http://a.test/new", "http://a.test/x"]);
}

async fn the_state_of_folders_outlasts_the_process(backend: &dyn Backend) {
    let mut session = begin(backend, FrontierRules::default()).await;
    discover(session.frontier().as_ref(), probes(700, 30)).await;
    let (mut visited, mut not_visited) = (0, 0);
    // The process dies after every few pages, sometimes during a flush.
    for round in 0..=70 {
        let frontier = session.frontier().as_ref();
        for (_, excluded) in visit_pages(frontier, 10, |_| false, |_| Vec::new()).await {
            visited += u32::from(excluded.is_none());
            not_visited += u32::from(excluded.is_some());
        }
        session = die(session, round).await;
    }
    assert_eq!(visited + not_visited, 700);
    assert!((160..=164).contains(&visited), "{visited}");
    agree(session).await;
}
