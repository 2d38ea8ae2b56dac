//! A random user cannot distinguish a store from the store in memory, and receives every page.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use store::{Frontier, FrontierRules, LeaseFilter, Supply};
use tokio::runtime::Runtime;
use web::PageUrl;

use crate::backend::{Backend, Promise};
use crate::fixtures::{again, at, begin, discover, done};
use crate::memory::Memory;
use crate::property::holds;
use crate::sentence::{Sentence, properties};
use crate::user::{Link, Step, User, discovered, links, step};

pub(crate) const IN_ORDER: &[Sentence] = &properties!(
    &[Promise::HostOrder],
    no_step_distinguishes_the_frontier_from_the_one_in_memory,
);

pub(crate) const PROPERTIES: &[Sentence] =
    &properties!(&[], every_discovered_page_is_handed_out_until_it_is_done,);

/// Plays the steps and returns everything that the user can see.
async fn play(backend: &dyn Backend, rules: FrontierRules, steps: &[Step]) -> Vec<String> {
    let session = begin(backend, rules).await;
    let mut user = User::default();
    for step in steps {
        user.take(session.frontier().as_ref(), step).await;
    }
    user.saw
}

fn no_step_distinguishes_the_frontier_from_the_one_in_memory(
    backend: &dyn Backend,
    runtime: &Runtime,
) {
    let values = (
        proptest::collection::vec(step(), 1..60),
        1..3_usize,
        proptest::option::of(1..4_u64),
        any::<bool>(),
        any::<bool>(),
        0..40_u64,
    );
    holds(
        backend,
        64,
        file!(),
        &values,
        |(steps, per_host, limit, probes, best_first, anticipation)| {
            let rules = FrontierRules {
                per_host,
                max_pages_per_host: limit,
                probes,
                best_first,
                anticipation: Duration::from_millis(anticipation),
                ..FrontierRules::default()
            };
            let expected = runtime.block_on(play(&Memory, rules.clone(), &steps));
            let seen = runtime.block_on(play(backend, rules, &steps));
            for (in_memory, in_backend) in expected.iter().zip(&seen) {
                prop_assert_eq!(in_memory, in_backend);
            }
            Ok(())
        },
    );
}

fn every_discovered_page_is_handed_out_until_it_is_done(backend: &dyn Backend, runtime: &Runtime) {
    let values = proptest::collection::vec(links(), 1..20);
    holds(backend, 64, file!(), &values, |steps| {
        let found = discovered(&steps.concat()).into_iter();
        let wanted: HashSet<PageUrl> = found.map(|found| found.url).collect();
        let visited = runtime.block_on(async {
            let session = begin(backend, FrontierRules::default()).await;
            visit_all(session.frontier().as_ref(), &steps).await
        });
        prop_assert_eq!(visited.len(), wanted.len());
        prop_assert_eq!(visited.into_iter().collect::<HashSet<_>>(), wanted);
        Ok(())
    });
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
                // A store repeats this answer while it waits for its own tasks. Let them run.
                tokio::task::yield_now().await;
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
