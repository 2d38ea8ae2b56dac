//! Claims of redirects: a URL that is discovered while it is claimed is visited once, regardless of
//! how the claim ends.
//!
//! Links to a claimed URL were once dropped. If the redirecting page responded differently after a
//! 503 or a kill, the target was lost for good: one interrupt lost 27 of 60 pages, and `verify`
//! agreed.

use journal::{DiscoveredUrl, Fate, FinishedVisit};
use store::{Frontier, FrontierRules, Lease, Settlement, Supply};

use crate::admissions::{about, admitted};
use crate::backend::{Backend, End, Promise};
use crate::fixtures::*;
use crate::sentence::{Sentence, scenarios};

pub(crate) const SENTENCES: &[Sentence] = &scenarios!(
    &[],
    a_url_discovered_while_it_was_claimed_is_leased_after_the_claim_is_given_up,
    a_url_discovered_while_it_was_claimed_is_not_leased_if_a_settlement_names_it,
    a_probe_that_a_redirect_claims_is_not_leased_meanwhile,
    a_url_that_a_revoked_visit_reached_is_leased_if_the_next_visit_goes_elsewhere,
);

pub(crate) const OVER_SESSIONS: &[Sentence] = &scenarios!(
    &[Promise::Sessions],
    a_url_discovered_while_it_was_claimed_is_leased_by_a_later_session,
);

const MOVED: &str = "http://a.test/moved";
const TARGET: &str = "http://b.a.test/target";

/// The discoveries of the target: as a link, as a seed, as a probe, and as a probe first.
fn discoveries() -> [Vec<DiscoveredUrl>; 4] {
    let probe = || link(TARGET, 3).probed();
    [
        vec![link(TARGET, 2), link(TARGET, 3)],
        vec![link(TARGET, 0)],
        vec![probe()],
        vec![probe(), link(TARGET, 2)],
    ]
}

/// Leases a page whose redirect claims the target.
async fn claiming(frontier: &dyn Frontier) -> Lease {
    seed(frontier, [MOVED]).await;
    let moved = lease(frontier, 0).await;
    assert_eq!(moved.url().as_str(), MOVED);
    assert!(frontier.claim(&moved, &url(TARGET)).await.unwrap());
    moved
}

/// Returns the end of a visit that reached the target.
fn reaching(lease: &Lease, fate: Fate) -> FinishedVisit {
    FinishedVisit {
        reached: vec![url(TARGET)],
        ..FinishedVisit::new(visit_record(lease, fate))
    }
}

/// Visits everything, and returns the URLs in alphabetical order.
async fn visit_all(frontier: &dyn Frontier) -> Vec<String> {
    let leased = visit_pages(frontier, usize::MAX, |_| true, |_| Vec::new()).await;
    let mut urls: Vec<String> = leased.into_iter().map(|(url, _)| url).collect();
    urls.sort();
    urls
}

async fn a_url_discovered_while_it_was_claimed_is_leased_after_the_claim_is_given_up(
    backend: &dyn Backend,
) {
    for found in discoveries() {
        for (number, is_repeated) in [true, true, false].into_iter().enumerate() {
            let session = begin(backend, FrontierRules::default()).await;
            let frontier = session.frontier().as_ref();
            let moved = claiming(frontier).await;
            discover(frontier, found.clone()).await;
            let meanwhile = supply(frontier, 0).await;
            let nothing = matches!(meanwhile, Supply::NothingBefore(_));
            assert!(nothing, "{number}: {meanwhile:?}");
            let settlement = match number {
                0 => again(at(0)),
                1 => Settlement::Returned,
                // It goes elsewhere.
                _ => done(&moved),
            };
            settle(frontier, moved, settlement, 0).await;
            let mut expected = vec![TARGET];
            expected.splice(..0, is_repeated.then_some(MOVED));
            assert_eq!(visit_all(frontier).await, expected, "{number}: {found:?}");
            assert_eq!(frontier.stats().queued, 0);
            assert_eq!(seed(frontier, [TARGET]).await, 0, "it was visited");
            agree(session).await;
        }
    }
}

async fn a_url_discovered_while_it_was_claimed_is_not_leased_if_a_settlement_names_it(
    backend: &dyn Backend,
) {
    for found in discoveries() {
        let session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        let moved = claiming(frontier).await;
        seed(frontier, ["http://c.a.test/"]).await;
        // It is found by a call, on another page, and on the target itself.
        discover(frontier, found.clone()).await;
        let other = lease(frontier, 0).await;
        let settlement = done_with(&other, None, found.clone());
        settle(frontier, other, settlement, 0).await;
        let visit = FinishedVisit {
            finds: found.clone(),
            ..reaching(&moved, Fate::Unique)
        };
        settle(frontier, moved, Settlement::Done(visit), 0).await;
        assert_eq!(supply(frontier, 0).await, Supply::Exhausted, "{found:?}");
        assert_eq!(frontier.stats().queued, 0);
        agree(session).await;
    }
}

async fn a_probe_that_a_redirect_claims_is_not_leased_meanwhile(backend: &dyn Backend) {
    for is_named in [true, false] {
        let session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        seed(frontier, [MOVED]).await;
        discover(frontier, [link(TARGET, 3).probed()]).await;
        let moved = lease(frontier, 0).await;
        assert!(frontier.claim(&moved, &url(TARGET)).await.unwrap());
        let meanwhile = supply(frontier, 0).await;
        let nothing = matches!(meanwhile, Supply::NothingBefore(_));
        assert!(nothing, "{meanwhile:?}");
        let settlement = match is_named {
            true => Settlement::Done(reaching(&moved, Fate::Unique)),
            false => done(&moved),
        };
        settle(frontier, moved, settlement, 0).await;
        let expected: &[&str] = if is_named { &[] } else { &[TARGET] };
        assert_eq!(visit_all(frontier).await, expected);
        assert_eq!(frontier.stats().queued, 0);
        agree(session).await;
    }
}

async fn a_url_that_a_revoked_visit_reached_is_leased_if_the_next_visit_goes_elsewhere(
    backend: &dyn Backend,
) {
    for (is_named, is_found) in [(false, false), (false, true), (true, true)] {
        let session = begin(backend, FrontierRules::default()).await;
        let (frontier, index) = (session.frontier().as_ref(), session.index().as_ref());
        let original = "http://o.test/";
        assert_eq!(admitted(index, original, &about("tea", 1)).await, "unique");
        let moved = claiming(frontier).await;
        let mut visit = reaching(&moved, Fate::ExactDuplicate);
        visit.record.duplicate_of = Some(url(original));
        settle(frontier, moved, Settlement::Done(visit), 0).await;
        index.forget(url(original).key()).await.unwrap();
        let moved = lease(frontier, 0).await;
        assert_eq!(moved.url().as_str(), MOVED, "its visit is void");
        if is_found {
            discover(frontier, [link(TARGET, 2)]).await;
        }
        let settlement = match is_named {
            true => {
                let is_claimed = frontier.claim(&moved, &url(TARGET)).await.unwrap();
                assert!(is_claimed, "its own redirect is not in its way");
                Settlement::Done(reaching(&moved, Fate::Unique))
            }
            false => done(&moved),
        };
        settle(frontier, moved, settlement, 0).await;
        let expected: &[&str] = if is_named { &[] } else { &[TARGET] };
        assert_eq!(visit_all(frontier).await, expected, "{is_named} {is_found}");
        agree(session).await;
    }
}

async fn a_url_discovered_while_it_was_claimed_is_leased_by_a_later_session(backend: &dyn Backend) {
    let ends = [End::InOrder, End::Death, End::DeathInFlush(9)];
    for (found, end) in discoveries().into_iter().flat_map(|found| {
        let with = move |end| (found.clone(), end);
        ends.map(with)
    }) {
        let mut session = begin(backend, FrontierRules::default()).await;
        let frontier = session.frontier().as_ref();
        let moved = claiming(frontier).await;
        discover(frontier, found.clone()).await;
        drop(moved);
        session.flush().await;
        session = session.reopen(end, at(0)).await;
        let frontier = session.frontier().as_ref();
        let again = leases(frontier, 0, 9).await;
        let mut names = urls(&again);
        names.sort_unstable();
        let is_probe = found.iter().all(DiscoveredUrl::is_probed);
        match is_probe {
            true => assert_eq!(names, [MOVED], "{end:?}"),
            false => assert_eq!(names, [MOVED, TARGET], "{end:?}: {found:?}"),
        }
        for lease in again {
            // The redirector goes elsewhere now.
            visit(frontier, lease, 0).await;
        }
        let rest: &[&str] = if is_probe { &[TARGET] } else { &[] };
        assert_eq!(visit_all(frontier).await, rest, "{end:?}: {found:?}");
        agree(session).await;
    }
}
