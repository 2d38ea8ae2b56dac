//! A random user of a frontier.

use std::collections::HashMap;
use std::time::Duration;

use journal::{DiscoveredUrl, Fate, Relevance};
use proptest::prelude::*;
use store::{Frontier, FrontierStats, Lease, LeaseFilter, Settlement, Supply};
use web::{Pace, PageUrl};

use crate::fixtures::{again, at, discover, done_with, link};

/// A URL of a random web: the number of its host, the number of its page, and its depth.
pub(crate) type Link = (u8, u8, u32);

/// A step of a random user of a frontier.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Discover(Vec<Link>),
    Lease(usize),
    LeaseRequisites(usize),
    Settle {
        which: usize,
        kind: u8,
        ready: u64,
        links: Vec<Link>,
    },
    /// A leased page redirects to this link.
    Claim(usize, Link),
    Wait(u64),
}

/// Returns links of a page.
pub(crate) fn links() -> impl Strategy<Value = Vec<Link>> {
    proptest::collection::vec((0..4_u8, 0..18_u8, 0..3_u32), 0..5)
}

/// Returns one step.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        links().prop_map(Step::Discover),
        (1..4_usize).prop_map(Step::Lease),
        (1..4_usize).prop_map(Step::LeaseRequisites),
        (0..8_usize, 0..4_u8, 0..50_u64, links()).prop_map(|(which, kind, ready, links)| {
            Step::Settle {
                which,
                kind,
                ready,
                links,
            }
        }),
        (0..8_usize, (0..4_u8, 0..18_u8, 0..3_u32))
            .prop_map(|(which, link)| Step::Claim(which, link)),
        (0..40_u64).prop_map(Step::Wait),
    ]
}

/// Returns the name of a host. The last two are of one domain.
pub(crate) fn host_name(host: u8) -> String {
    match host {
        2.. => format!("h{host}.two.test"),
        _ => format!("h{host}.test"),
    }
}

/// Returns these links as discovered on a page.
pub(crate) fn discovered(links: &[Link]) -> Vec<DiscoveredUrl> {
    let discovered = links.iter().map(|(host, page, depth)| {
        // Some are found only on unarchived pages, and some are requisites.
        if let Some(page) = page.checked_sub(12) {
            let found = link(&format!("http://{}/{page}", host_name(*host)), *depth);
            return match page {
                0..4 => found.probed(),
                _ => found.mirrored(),
            };
        }
        page_or_requisite(*host, *page, *depth)
    });
    discovered.collect()
}

/// Returns a link to a page or, from 8, to a requisite. Three of four pages have a score, which
/// depends on the depth, as does the distance from the scope.
pub(crate) fn page_or_requisite(host: u8, page: u8, depth: u32) -> DiscoveredUrl {
    let found = link(&format!("http://{}/{page}", host_name(host)), depth);
    let found = found.off_scope((depth % 3) as u8);
    if page >= 8 {
        return found.needed(page - 8);
    }
    let score = 4 * (page * 3 + host) + 7 * (depth % 4) as u8;
    match page % 4 {
        0 => found,
        _ => found.with_link_score(score % DiscoveredUrl::LINK_SCORES),
    }
}

/// Returns the end of a visit whose page was compared with a topic, if its link had a score: one
/// page of a host is on topic, so that hosts enter and leave off-topic streaks.
fn judged(lease: &Lease, mut settlement: Settlement) -> Settlement {
    let is_judged = lease.discovered().link_score().is_some() && lease.excluded.is_none();
    if let Settlement::Done(visit) = &mut settlement
        && is_judged
    {
        visit.record.details.relevance = Some(Relevance::from_thousandths(400));
        if !lease.url().as_str().ends_with('5') {
            visit.record.fate = Fate::OffTopic;
            visit.record.kept = false;
        }
    }
    settlement
}

/// A user of a frontier.
#[derive(Default)]
pub(crate) struct User {
    /// Everything that the user has seen.
    pub(crate) saw: Vec<String>,
    /// The user's leases.
    pub(crate) out: Vec<Lease>,
    /// The URLs that redirects of the leased pages have reached, by the numbers of the entries.
    reached: HashMap<u64, Vec<PageUrl>>,
    /// The time in milliseconds.
    pub(crate) now: u64,
    /// The next archive sequence number of the archive.
    pub(crate) archive_sequence: u64,
}

impl User {
    /// Begins the next session, without the leases of the last one.
    pub(crate) fn begin_session(&mut self, stats: FrontierStats) {
        self.out.clear();
        self.reached.clear();
        self.archive_sequence = 0;
        self.saw.push(format!("{stats:?}"));
    }

    async fn lease(&mut self, frontier: &dyn Frontier, want: usize, filter: LeaseFilter) {
        let supply = frontier.lease(at(self.now), want, filter).await.unwrap();
        self.saw.push(format!("{supply:?}"));
        if let Supply::Leases(leases) = supply {
            let has_pages = leases.iter().any(|lease| lease.discovered().requisite == 0);
            assert!(
                filter == LeaseFilter::All || !has_pages,
                "{filter:?}: {leases:?}"
            );
            self.out.extend(leases);
        }
    }

    /// Takes a step and records everything that can be seen.
    pub(crate) async fn take(&mut self, frontier: &dyn Frontier, step: &Step) {
        match step {
            Step::Discover(links) => {
                let new = discover(frontier, discovered(links)).await;
                self.saw.push(format!("discovered {new}"));
            }
            Step::Lease(want) => self.lease(frontier, *want, LeaseFilter::All).await,
            Step::LeaseRequisites(want) => {
                self.lease(frontier, *want, LeaseFilter::Requisites).await;
            }
            Step::Settle {
                which,
                kind,
                ready,
                links,
            } if !self.out.is_empty() => {
                let lease = self.out.remove(which % self.out.len());
                let reached = self.reached.remove(&lease.entry.sequence);
                let mut settlement = match kind {
                    0 => again(at(self.now + ready * 3)),
                    1 => Settlement::Returned,
                    2 => judged(&lease, done_with(&lease, None, discovered(links))),
                    _ => {
                        self.archive_sequence += 1;
                        let done =
                            done_with(&lease, Some(self.archive_sequence - 1), discovered(links));
                        judged(&lease, done)
                    }
                };
                if let Settlement::Done(visit) = &mut settlement {
                    // Half of the settlements do not name what was claimed.
                    let is_named = ready % 2 == 0;
                    visit.reached = reached.filter(|_| is_named).unwrap_or_default();
                }
                // Some hosts have had their last chance.
                let is_down = *kind < 2 && ready % 4 == 3;
                let (failures, wait) = match is_down {
                    true => (9, Duration::from_secs(600)),
                    false => (u32::from(*kind), Duration::from_millis(*ready)),
                };
                let pace = Pace {
                    ready: at(self.now + ready),
                    failures,
                    crawl_delay: (*kind == 1).then(|| Duration::from_millis(*ready)),
                    wait,
                    answered: at(self.now),
                    ..Pace::default()
                };
                frontier.settle(lease, settlement, pace).await.unwrap();
            }
            Step::Claim(which, link) if !self.out.is_empty() => {
                let lease = &self.out[which % self.out.len()];
                let target = discovered(&[*link]).remove(0).url;
                // Of another host, the target may be apart in one store and not in another.
                if target != *lease.url() && target.host() == lease.url().host() {
                    let is_claimed = frontier.claim(lease, &target).await.unwrap();
                    self.saw.push(format!("claimed {is_claimed}"));
                    if is_claimed {
                        let sequence = lease.entry.sequence;
                        self.reached.entry(sequence).or_default().push(target);
                    }
                }
            }
            Step::Settle { .. } | Step::Claim(..) => {}
            Step::Wait(millis) => self.now += millis,
        }
        self.saw.push(format!("{:?}", frontier.stats()));
    }
}
