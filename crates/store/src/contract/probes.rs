//! Probes, URLs found on left-out pages only: a sample of them is visited, and a probe becomes an
//! ordinary URL as soon as a kept page links to it.

use super::*;
use crate::embedded::audit;
use crate::patterns::PatternName;

fn probe(text: &str) -> DiscoveredUrl {
    find(text, 3).probed()
}

/// Visits everything, one page at a time; `is_new` says which pages say something new. Returns what
/// was visited and what was left out.
async fn visit_all(
    frontier: &dyn Frontier,
    is_new: impl Fn(&str) -> bool,
    leads_to: impl Fn(&str) -> Vec<DiscoveredUrl>,
) -> (Vec<String>, Vec<String>) {
    let (mut visited, mut left_out) = (Vec::new(), Vec::new());
    while let Some(lease) = leases(frontier, 0, 1).await.pop() {
        let text = lease.url().to_string();
        let mut row = end_of(&lease);
        if lease.barred.is_none() {
            row.fate = if is_new(&text) {
                Fate::Unique
            } else {
                Fate::NearDuplicate
            };
        }
        let kind = if lease.barred.is_none() {
            &mut visited
        } else {
            &mut left_out
        };
        kind.push(text.clone());
        let settlement = Settlement::Done(FinishedVisit {
            finds: leads_to(&text),
            ..FinishedVisit::new(row)
        });
        frontier
            .settle(lease, settlement, at(0).into())
            .await
            .unwrap();
    }
    (visited, left_out)
}

#[tokio::test]
async fn a_probe_waits_behind_everything_else_of_its_host_and_is_queued_once() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let finds = vec![
            probe("http://a.test/x"),
            probe("http://a.test/x"),
            find("http://a.test/deep", 90),
        ];
        assert_eq!(frontier.discover(finds).await.unwrap(), 2, "{name}");
        let (visited, _) = visit_all(frontier, |_| true, |_| Vec::new()).await;
        assert_eq!(visited, ["http://a.test/deep", "http://a.test/x"], "{name}");
        let known = vec![probe("http://a.test/x"), find("http://a.test/x", 1)];
        assert_eq!(
            frontier.discover(known).await.unwrap(),
            0,
            "{name}: it was visited"
        );
    }
}

#[tokio::test]
async fn a_probe_that_a_kept_page_leads_to_as_well_takes_its_better_place_and_is_visited_once() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let finds = vec![probe("http://a.test/x"), find("http://a.test/page", 1)];
        frontier.discover(finds).await.unwrap();
        let leads_to = |text: &str| match text {
            "http://a.test/page" => vec![find("http://a.test/x", 2), find("http://a.test/y", 2)],
            _ => Vec::new(),
        };
        let (visited, _) = visit_all(frontier, |_| true, leads_to).await;
        assert_eq!(
            visited,
            ["http://a.test/page", "http://a.test/x", "http://a.test/y"],
            "{name}"
        );
        assert_eq!(
            frontier.standing().queued,
            0,
            "{name}: its first place is given up"
        );
    }
}

#[tokio::test]
async fn a_folder_of_which_a_sample_brings_nothing_new_is_closed_and_its_neighbour_is_not() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let page = |folder, n| probe(&format!("http://a.test/{folder}/f{}/{n}", n % 50));
        let mut finds: Vec<DiscoveredUrl> = (0..1_000).map(|n| page("mirror", n)).collect();
        finds.extend((0..1_000).map(|n| page("edition", n)));
        frontier.discover(finds).await.unwrap();
        // Half of the edition is new.
        let is_new = |text: &str| text.contains("/edition/") && text.len().is_multiple_of(2);
        let (visited, left_out) = visit_all(frontier, is_new, |_| Vec::new()).await;
        let mirrored = visited
            .iter()
            .filter(|url| url.contains("/mirror/"))
            .count();
        assert!((160..=180).contains(&mirrored), "{name}: {mirrored}");
        assert!(
            left_out.iter().all(|url| url.contains("/mirror/")),
            "{name}"
        );
        assert_eq!(visited.len() + left_out.len(), 2_000, "{name}");
    }
}

#[tokio::test]
async fn a_folder_that_brings_something_new_after_all_reopens_with_what_it_left_out() {
    for subject in subjects(FrontierRules::default()) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        let finds: Vec<DiscoveredUrl> = (0..600)
            .map(|n| probe(&format!("http://a.test/f{}/{n}", n % 30)))
            .collect();
        frontier.discover(finds).await.unwrap();
        // The first 161 that are visited say nothing new, whichever these are.
        let count = std::cell::Cell::new(0);
        let is_new = |_: &str| {
            count.set(count.get() + 1);
            count.get() > 161
        };
        let (visited, left_out) = visit_all(frontier, is_new, |_| Vec::new()).await;
        assert_eq!(visited.len(), 600, "{name}");
        assert!(left_out.len() >= 64, "{name}: it was closed for a while");
        assert_eq!(
            frontier.standing().totals.excluded,
            0,
            "{name}: what was said of them is taken back"
        );
    }
}

#[tokio::test]
async fn what_a_closed_folder_left_out_is_queued_again_when_a_kept_page_leads_there() {
    let rules = FrontierRules {
        probes: false,
        ..FrontierRules::default()
    };
    for subject in subjects(rules) {
        let (frontier, name) = (&*subject.frontier, subject.name);
        frontier
            .discover(vec![probe("http://a.test/x"), probe("http://a.test/y")])
            .await
            .unwrap();
        let (visited, mut left_out) = visit_all(frontier, |_| true, |_| Vec::new()).await;
        left_out.sort();
        assert_eq!(
            (visited.len(), left_out),
            (
                0,
                vec!["http://a.test/x".to_owned(), "http://a.test/y".to_owned()]
            ),
            "{name}"
        );
        assert_eq!(frontier.standing().totals.excluded, 2, "{name}");
        let finds = vec![find("http://a.test/new", 1), find("http://a.test/x", 1)];
        assert_eq!(frontier.discover(finds).await.unwrap(), 2, "{name}");
        assert_eq!(frontier.standing().totals.excluded, 1, "{name}");
        let (visited, _) = visit_all(frontier, |_| true, |_| Vec::new()).await;
        assert_eq!(visited, ["http://a.test/new", "http://a.test/x"], "{name}");
    }
}

#[tokio::test]
async fn what_is_known_of_folders_outlasts_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let rules = FrontierRules::default();
    let open = || EmbeddedStore::open(directory.path(), &options(rules)).unwrap();
    let store = open();
    let finds: Vec<DiscoveredUrl> = (0..700)
        .map(|n| probe(&format!("http://a.test/f{}/{n}", n % 30)))
        .collect();
    store.discover(finds).await.unwrap();
    let mut store = store;
    let (mut visited, mut left_out) = (0, 0);
    // The process dies after every few pages, in a flush sometimes.
    for round in 0..=70_u8 {
        for _ in 0..10 {
            let Some(lease) = leases(&store, 0, 1).await.pop() else {
                break;
            };
            let mut settlement = done(&lease);
            if let Settlement::Done(visit) = &mut settlement
                && lease.barred.is_none()
            {
                visit.row.fate = Fate::NearDuplicate;
            }
            visited += u32::from(lease.barred.is_none());
            left_out += u32::from(lease.barred.is_some());
            store.settle(lease, settlement, at(0).into()).await.unwrap();
        }
        if round % 3 == 0 {
            store.flush().await.unwrap();
        } else {
            store.flush_in_part(round);
        }
        drop(store);
        store = open();
    }
    assert_eq!(visited + left_out, 700);
    assert!((160..=164).contains(&visited), "{visited}");
    store.close().await.unwrap();
    let name = PatternName::from_text("a.test/{duplicates}").unwrap();
    assert_eq!(
        store.reopen(&name).await.unwrap(),
        Some(u64::from(left_out))
    );
    drop(store);
    assert_eq!(
        audit(directory.path()).unwrap().complaints,
        Vec::<String>::new()
    );
}
