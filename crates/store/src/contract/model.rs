//! A random user of a frontier cannot tell one implementation from another, and is handed every page.

use proptest::prelude::*;

use super::*;

/// What a random user of a frontier does.
#[derive(Clone, Debug)]
enum Step {
    Discover(Vec<(u8, u8, u32)>),
    Lease(usize),
    Settle {
        which: usize,
        how: u8,
        ready: u64,
        finds: Vec<(u8, u8, u32)>,
    },
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let finds = || proptest::collection::vec((0..4_u8, 0..12_u8, 0..3_u32), 0..5);
    let step = prop_oneof![
        finds().prop_map(Step::Discover),
        (1..4_usize).prop_map(Step::Lease),
        (0..8_usize, 0..4_u8, 0..50_u64, finds()).prop_map(|(which, how, ready, finds)| Step::Settle {
            which,
            how,
            ready,
            finds
        }),
        (0..40_u64).prop_map(Step::Wait),
    ];
    proptest::collection::vec(step, 1..60)
}

fn to_finds(finds: &[(u8, u8, u32)]) -> Vec<Find> {
    finds
        .iter()
        .map(|(host, page, depth)| find(&format!("http://h{host}.test/{page}"), *depth))
        .collect()
}

/// Plays the steps and tells everything that could be seen.
async fn play(frontier: &dyn Frontier, steps: &[Step]) -> Vec<String> {
    let (mut seen, mut out, mut now, mut ticket) = (Vec::new(), Vec::<Lease>::new(), 0, 0);
    for step in steps {
        match step {
            Step::Discover(finds) => {
                seen.push(format!(
                    "discovered {}",
                    frontier.discover(to_finds(finds)).await.unwrap()
                ));
            }
            Step::Lease(want) => match frontier.lease(at(now), *want).await.unwrap() {
                Supply::Leases(leases) => {
                    seen.push(format!(
                        "leased {:?}",
                        leases
                            .iter()
                            .map(|l| (l.url.as_str(), l.attempts))
                            .collect::<Vec<_>>()
                    ));
                    out.extend(leases);
                }
                other => seen.push(format!("{other:?}")),
            },
            Step::Settle {
                which,
                how,
                ready,
                finds,
            } if !out.is_empty() => {
                let lease = out.remove(which % out.len());
                let settlement = match how {
                    0 => Settlement::Again {
                        at: at(now + ready * 3),
                    },
                    1 => Settlement::Returned,
                    2 => done_with(&lease, None, to_finds(finds)),
                    _ => {
                        ticket += 1;
                        done_with(&lease, Some(ticket - 1), to_finds(finds))
                    }
                };
                frontier.settle(lease, settlement, at(now + ready)).await.unwrap();
            }
            Step::Settle { .. } => {}
            Step::Wait(millis) => now += millis,
        }
        seen.push(format!("{:?}", frontier.standing()));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn both_frontiers_cannot_be_told_apart(steps in steps(), per_host in 1..3_usize, limit in proptest::option::of(1..4_u64)) {
        let rules = FrontierRules { per_host, max_pages_per_host: limit };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let told: Vec<_> = subjects(rules).iter().map(|subject| runtime.block_on(play(&*subject.frontier, &steps))).collect();
        for (in_memory, embedded) in told[0].iter().zip(&told[1]) {
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
        match frontier.lease(now, 2).await.unwrap() {
            Supply::Exhausted => return visited,
            Supply::NothingBefore(time) => now = time,
            Supply::Leases(leases) => {
                for lease in leases {
                    let ready = now + Duration::from_millis(7);
                    // Each page fails once before it is had.
                    let settlement = if lease.attempts == 0 {
                        Settlement::Again { at: ready }
                    } else {
                        done(&lease)
                    };
                    if lease.attempts > 0 {
                        visited.push(lease.url.clone());
                    }
                    frontier.settle(lease, settlement, ready).await.unwrap();
                }
            }
        }
    }
}
