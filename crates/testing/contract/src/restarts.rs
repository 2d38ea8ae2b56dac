//! Sessions that end cleanly, die, or die in a flush: the next session continues like the store in
//! memory, and nothing is lost.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use store::FrontierRules;
use tokio::runtime::Runtime;
use web::PageUrl;

use crate::backend::{Backend, End, Promise};
use crate::fixtures::{agree, at, begin, discover, leases, visit};
use crate::memory::Memory;
use crate::property::holds;
use crate::sentence::{Sentence, properties};
use crate::user::{Step, User, discovered, step};

pub(crate) const IN_ORDER: &[Sentence] = &properties!(
    &[
        Promise::Sessions,
        Promise::HostOrder,
        Promise::OrderOverSessions,
        Promise::QuarantinedAlone
    ],
    sessions_continue_like_those_in_memory,
);

pub(crate) const PROPERTIES: &[Sentence] =
    &properties!(&[Promise::Sessions], no_page_is_lost_by_sessions_that_die,);

/// An event in a crawl of many sessions.
#[derive(Clone, Debug)]
enum Event {
    Step(Step),
    /// The tables are written, which changes nothing.
    Flush,
    /// The session ends cleanly.
    Close,
    /// The process dies.
    Die,
    /// The process dies while a flush is being written: each set bit is a part that is not written.
    DieFlushing(u8),
    /// The session ends, cleanly or by a death, and the next session's clock is behind by this
    /// amount.
    SetBack(bool, u64),
    /// The clock is ahead by a day from now on.
    Leap,
}

const DAY: u64 = 24 * 3600 * 1000;

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        12 => step().prop_map(Event::Step),
        2 => Just(Event::Flush),
        1 => Just(Event::Close),
        1 => Just(Event::Die),
        1 => any::<u8>().prop_map(Event::DieFlushing),
        1 => (any::<bool>(), prop_oneof![0..60_u64, Just(DAY)])
            .prop_map(|(dies, by)| Event::SetBack(dies, by)),
        1 => Just(Event::Leap),
    ];
    proptest::collection::vec(event, 1..80)
}

/// Plays the events and returns everything that the user can see.
async fn play(backend: &dyn Backend, rules: FrontierRules, events: &[Event]) -> Vec<String> {
    let (mut session, mut user) = (begin(backend, rules).await, User::default());
    for event in events {
        let end = match event {
            Event::Step(step) => {
                user.take(session.frontier().as_ref(), step).await;
                continue;
            }
            Event::Flush => {
                session.flush().await;
                continue;
            }
            Event::Leap => {
                user.now += DAY;
                continue;
            }
            Event::SetBack(dies, by) => {
                user.now = user.now.saturating_sub(*by);
                if *dies { End::Death } else { End::InOrder }
            }
            Event::Close => End::InOrder,
            Event::Die => End::Death,
            Event::DieFlushing(parts) => End::DeathInFlush(*parts),
        };
        session = session.reopen(end, at(user.now)).await;
        user.begin_session(session.frontier().stats());
    }
    agree(session).await;
    user.saw
}

fn sessions_continue_like_those_in_memory(backend: &dyn Backend, runtime: &Runtime) {
    let values = (
        events(),
        1..3_usize,
        proptest::option::of(1..4_u64),
        0..30_u64,
        any::<bool>(),
        any::<bool>(),
        0..40_u64,
    );
    holds(
        backend,
        48,
        file!(),
        &values,
        |(events, per_host, limit, min_wait, probes, best_first, anticipation)| {
            let rules = FrontierRules {
                per_host,
                max_pages_per_host: limit,
                min_wait: Duration::from_millis(min_wait),
                probes,
                best_first,
                anticipation: Duration::from_millis(anticipation),
                ..FrontierRules::default()
            };
            let expected = runtime.block_on(play(&Memory, rules.clone(), &events));
            let seen = runtime.block_on(play(backend, rules, &events));
            for (in_memory, in_backend) in expected.iter().zip(&seen) {
                prop_assert_eq!(in_memory, in_backend);
            }
            prop_assert_eq!(expected.len(), seen.len());
            Ok(())
        },
    );
}

/// Even if the process dies many times, every page is visited in the end.
fn no_page_is_lost_by_sessions_that_die(backend: &dyn Backend, runtime: &Runtime) {
    holds(backend, 48, file!(), &events(), |events| {
        let (visited, wanted) = runtime.block_on(visit_all(backend, &events));
        prop_assert_eq!(visited, wanted);
        Ok(())
    });
}

/// Plays the events, then visits everything that is waiting. Returns the visited URLs and the
/// discovered URLs.
async fn visit_all(
    backend: &dyn Backend,
    events: &[Event],
) -> (HashSet<PageUrl>, HashSet<PageUrl>) {
    let (mut wanted, mut visited) = (HashSet::new(), HashSet::new());
    let mut session = begin(backend, FrontierRules::default()).await;
    for event in events {
        let frontier = session.frontier().as_ref();
        match event {
            Event::Step(Step::Discover(links)) => {
                let discovered = discovered(links);
                wanted.extend(discovered.iter().map(|found| found.url.clone()));
                discover(frontier, discovered).await;
            }
            Event::Step(_) => {
                // One of two is settled, the other is in progress when the process dies.
                let mut out = leases(frontier, 0, 2).await;
                if let Some(lease) = out.pop() {
                    visited.insert(lease.url().clone());
                    visit(frontier, lease, 0).await;
                }
            }
            Event::Flush => session.flush().await,
            Event::Leap => {}
            Event::Close | Event::Die | Event::SetBack(..) => {
                session = session.reopen(End::Death, at(0)).await;
            }
            Event::DieFlushing(parts) => {
                session = session.reopen(End::DeathInFlush(*parts), at(0)).await;
            }
        }
    }
    session = session.reopen(End::Death, at(0)).await;
    let frontier = session.frontier().as_ref();
    while let Some(lease) = leases(frontier, 0, 1).await.pop() {
        assert!(
            visited.insert(lease.url().clone()),
            "{} is visited twice",
            lease.url()
        );
        visit(frontier, lease, 0).await;
    }
    assert_eq!(frontier.stats().queued, 0);
    (visited, wanted)
}
