//! A random user cannot distinguish the implementations of a frontier, and is handed every page.

use proptest::prelude::*;

use super::*;

/// A URL of a random web: the numbers of its host and its page, and its depth.
type Link = (u8, u8, u32);

/// A step of a random user of a frontier.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Discover(Vec<Link>),
    Lease(usize),
    LeaseRequisites(usize),
    Settle {
        which: usize,
        kind: u8,
        ready: u64,
        links: Vec<Link>,
    },
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 1..60)
}

fn links() -> impl Strategy<Value = Vec<Link>> {
    proptest::collection::vec((0..4_u8, 0..18_u8, 0..3_u32), 0..5)
}

pub(super) fn step() -> impl Strategy<Value = Step> {
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
        (0..40_u64).prop_map(Step::Wait),
    ]
}

pub(super) fn discovered(links: &[Link]) -> Vec<DiscoveredUrl> {
    let discovered = links.iter().map(|(host, page, depth)| {
        // Some are found on left-out pages only, and some are requisites.
        if let Some(page) = page.checked_sub(12) {
            return link(&format!("http://h{host}.test/{page}"), *depth).probed();
        }
        let steps = page.saturating_sub(8);
        link(&format!("http://h{host}.test/{page}"), *depth).needed(steps)
    });
    discovered.collect()
}

/// Plays the steps and returns everything that the user can see.
async fn play(frontier: &dyn Frontier, steps: &[Step]) -> Vec<String> {
    let mut user = User::default();
    for step in steps {
        user.take(frontier, step).await;
    }
    user.saw
}

/// A user of a frontier.
#[derive(Default)]
pub(super) struct User {
    pub(super) saw: Vec<String>,
    /// The user's leases.
    pub(super) out: Vec<Lease>,
    pub(super) now: u64,
    pub(super) ticket: u64,
}

impl User {
    async fn lease(&mut self, frontier: &dyn Frontier, want: usize, filter: LeaseFilter) {
        let supply = frontier.lease(at(self.now), want, filter).await.unwrap();
        self.saw.push(format!("{supply:?}"));
        if let Supply::Leases(leases) = supply {
            let are_admitted = leases.iter().all(|lease| filter.admits(lease.discovered()));
            assert!(are_admitted, "{filter:?}: {leases:?}");
            self.out.extend(leases);
        }
    }

    pub(super) async fn take(&mut self, frontier: &dyn Frontier, step: &Step) {
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
                let settlement = match kind {
                    0 => again(at(self.now + ready * 3)),
                    1 => Settlement::Returned,
                    2 => done_with(&lease, None, discovered(links)),
                    _ => {
                        self.ticket += 1;
                        done_with(&lease, Some(self.ticket - 1), discovered(links))
                    }
                };
                let pace = Pace {
                    ready: at(self.now + ready),
                    failures: u32::from(*kind),
                    crawl_delay: (*kind == 1).then(|| Duration::from_millis(*ready)),
                    wait: Duration::from_millis(*ready),
                    answered: at(self.now),
                    ..Pace::default()
                };
                frontier.settle(lease, settlement, pace).await.unwrap();
            }
            Step::Settle { .. } => {}
            Step::Wait(millis) => self.now += millis,
        }
        self.saw.push(format!("{:?}", frontier.standing()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_step_distinguishes_the_two_frontiers(
        steps in steps(),
        per_host in 1..3_usize,
        limit in proptest::option::of(1..4_u64),
        probes in any::<bool>(),
    ) {
        let rules = FrontierRules {
            per_host,
            max_pages_per_host: limit,
            probes,
            ..FrontierRules::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let subjects = subjects(rules);
        let played = subjects.iter().map(|subject| play(&*subject.frontier, &steps));
        let seen: Vec<_> = played.map(|played| runtime.block_on(played)).collect();
        for (in_memory, embedded) in seen[0].iter().zip(&seen[1]) {
            prop_assert_eq!(in_memory, embedded);
        }
    }

    #[test]
    fn every_discovered_page_is_handed_out_until_it_is_done(
        steps in proptest::collection::vec(links(), 1..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let wanted: HashSet<PageUrl> =
            discovered(&steps.concat()).into_iter().map(|found| found.url).collect();
        for subject in subjects(FrontierRules::default()) {
            let visited = runtime.block_on(visit_all(&*subject.frontier, &steps));
            prop_assert_eq!(visited.len(), wanted.len());
            prop_assert_eq!(&visited.into_iter().collect::<HashSet<_>>(), &wanted);
        }
    }
}

async fn visit_all(frontier: &dyn Frontier, steps: &[Vec<Link>]) -> Vec<PageUrl> {
    for links in steps {
        discover(frontier, discovered(links)).await;
    }
    let (mut now, mut visited) = (at(0), Vec::new());
    loop {
        let leases = match frontier.lease(now, 2, LeaseFilter::All).await.unwrap() {
            Supply::Exhausted => return visited,
            Supply::NothingBefore(time) => {
                now = time;
                continue;
            }
            Supply::Leases(leases) => leases,
        };
        for lease in leases {
            let ready = now + Duration::from_millis(7);
            // Every page fails once before its visit.
            let settlement = if lease.entry.attempts == 0 {
                again(ready)
            } else {
                visited.push(lease.url().clone());
                done(&lease)
            };
            let settled = frontier.settle(lease, settlement, ready.into()).await;
            settled.unwrap();
        }
    }
}
