//! A random user of a frontier cannot tell one implementation from another, and is handed every
//! page.

use proptest::prelude::*;

use super::*;

/// A step of a random user of a frontier.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Discover(Vec<(u8, u8, u32)>),
    Lease(usize),
    LeaseRequisites(usize),
    Settle {
        which: usize,
        how: u8,
        ready: u64,
        finds: Vec<(u8, u8, u32)>,
    },
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 1..60)
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let finds = || proptest::collection::vec((0..4_u8, 0..18_u8, 0..3_u32), 0..5);
    prop_oneof![
        finds().prop_map(Step::Discover),
        (1..4_usize).prop_map(Step::Lease),
        (1..4_usize).prop_map(Step::LeaseRequisites),
        (0..8_usize, 0..4_u8, 0..50_u64, finds()).prop_map(|(which, how, ready, finds)| {
            Step::Settle {
                which,
                how,
                ready,
                finds,
            }
        }),
        (0..40_u64).prop_map(Step::Wait),
    ]
}

pub(super) fn to_finds(finds: &[(u8, u8, u32)]) -> Vec<DiscoveredUrl> {
    finds
        .iter()
        .map(|(host, page, depth)| {
            // Some of them are found on left-out pages only, and some are needed by pages.
            if let Some(page) = page.checked_sub(12) {
                return find(&format!("http://h{host}.test/{page}"), *depth).probed();
            }
            let requisite = page.saturating_sub(8);
            find(&format!("http://h{host}.test/{page}"), *depth).needed(requisite)
        })
        .collect()
}

/// Plays the steps and tells everything that could be seen.
async fn play(frontier: &dyn Frontier, steps: &[Step]) -> Vec<String> {
    let mut user = User::default();
    for step in steps {
        user.take(frontier, step).await;
    }
    user.saw
}

/// A user of a frontier, with what is out on lease.
#[derive(Default)]
pub(super) struct User {
    pub(super) saw: Vec<String>,
    pub(super) out: Vec<Lease>,
    pub(super) now: u64,
    pub(super) ticket: u64,
}

impl User {
    fn had(&mut self, supply: Supply) {
        match supply {
            Supply::Leases(leases) => {
                self.saw.push(format!("leased {leases:?}"));
                self.out.extend(leases);
            }
            other => self.saw.push(format!("{other:?}")),
        }
    }

    pub(super) async fn take(&mut self, frontier: &dyn Frontier, step: &Step) {
        match step {
            Step::Discover(finds) => {
                let new = frontier.discover(to_finds(finds)).await.unwrap();
                self.saw.push(format!("discovered {new}"));
            }
            Step::Lease(want) => self.had(
                frontier
                    .lease(at(self.now), *want, LeaseFilter::All)
                    .await
                    .unwrap(),
            ),
            Step::LeaseRequisites(want) => {
                let supply = frontier
                    .lease(at(self.now), *want, LeaseFilter::Requisites)
                    .await
                    .unwrap();
                if let Supply::Leases(leases) = &supply {
                    assert!(
                        leases.iter().all(|lease| lease.discovered().requisite > 0),
                        "{leases:?}"
                    );
                }
                self.had(supply);
            }
            Step::Settle {
                which,
                how,
                ready,
                finds,
            } if !self.out.is_empty() => {
                let lease = self.out.remove(which % self.out.len());
                let settlement = match how {
                    0 => Settlement::Again {
                        at: at(self.now + ready * 3),
                    },
                    1 => Settlement::Returned,
                    2 => done_with(&lease, None, to_finds(finds)),
                    _ => {
                        self.ticket += 1;
                        done_with(&lease, Some(self.ticket - 1), to_finds(finds))
                    }
                };
                let pace = Pace {
                    ready: at(self.now + ready),
                    failures: u32::from(*how),
                    crawl_delay: (*how == 1).then(|| Duration::from_millis(*ready)),
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
    fn both_frontiers_cannot_be_told_apart(
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
    fn every_discovered_page_is_handed_out_until_it_is_done(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for subject in subjects(FrontierRules::default()) {
            let mut wanted = HashSet::new();
            for step in &steps {
                if let Step::Discover(finds) = step {
                    wanted.extend(to_finds(finds).into_iter().map(|find| find.url));
                }
            }
            let visited = runtime.block_on(visit_all(&*subject.frontier, &steps));
            prop_assert_eq!(visited.len(), wanted.len());
            prop_assert_eq!(visited.into_iter().collect::<HashSet<_>>(), wanted);
        }
    }
}

async fn visit_all(frontier: &dyn Frontier, steps: &[Step]) -> Vec<PageUrl> {
    for step in steps {
        if let Step::Discover(finds) = step {
            frontier.discover(to_finds(finds)).await.unwrap();
        }
    }
    let (mut now, mut visited) = (at(0), Vec::new());
    loop {
        match frontier.lease(now, 2, LeaseFilter::All).await.unwrap() {
            Supply::Exhausted => return visited,
            Supply::NothingBefore(time) => now = time,
            Supply::Leases(leases) => {
                for lease in leases {
                    let ready = now + Duration::from_millis(7);
                    // Each page fails once before it is had.
                    let settlement = if lease.entry.attempts == 0 {
                        Settlement::Again { at: ready }
                    } else {
                        done(&lease)
                    };
                    if lease.entry.attempts > 0 {
                        visited.push(lease.url().clone());
                    }
                    frontier
                        .settle(lease, settlement, ready.into())
                        .await
                        .unwrap();
                }
            }
        }
    }
}
