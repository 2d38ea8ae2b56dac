//! Sessions that end in order, die, or die in a flush: the next one continues like the store in
//! memory, and nothing is lost.

use proptest::prelude::*;

use super::model::{Step, User, discovered, step};
use super::*;

/// An event in a crawl of many sessions.
#[derive(Clone, Debug)]
enum Event {
    Step(Step),
    /// The tables are written, which changes nothing.
    Flush,
    /// The session ends in order.
    Close,
    /// The process dies.
    Die,
    /// The process dies while a flush is written: these parts of it are in the tables.
    DieFlushing(u8),
    /// The session ends, in order or by a death, and the next one's clock is behind by so much.
    SetBack(bool, u64),
    /// The clock is ahead by a day from here on.
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

/// Begins the next session, in which no lease of the last one is out.
fn begin_session(user: &mut User, standing: Standing) {
    user.out.clear();
    user.ticket = 0;
    user.saw.push(format!("{standing:?}"));
}

async fn play_in_memory(rules: FrontierRules, events: &[Event]) -> Vec<String> {
    let store = MemoryStore::new(rules, LikenessRules::default(), None);
    let mut user = User::default();
    for event in events {
        let in_order = match event {
            Event::Step(step) => {
                user.take(&store, step).await;
                continue;
            }
            Event::Flush => continue,
            Event::Leap => {
                user.now += DAY;
                continue;
            }
            Event::SetBack(dies, by) => {
                user.now = user.now.saturating_sub(*by);
                !dies
            }
            Event::Close => true,
            Event::Die | Event::DieFlushing(_) => false,
        };
        store.reopen(at(user.now), in_order);
        begin_session(&mut user, store.standing());
    }
    user.saw
}

async fn play_on_disk(rules: FrontierRules, events: &[Event]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let open = |now: u64| {
        let options = StoreOptions {
            now: at(now),
            ..options(rules.clone())
        };
        EmbeddedStore::open(directory.path(), &options).unwrap()
    };
    let (mut store, mut user) = (open(0), User::default());
    for event in events {
        match event {
            Event::Step(step) => {
                user.take(&store, step).await;
                continue;
            }
            Event::Flush => {
                store.flush().await.unwrap();
                continue;
            }
            Event::Leap => {
                user.now += DAY;
                continue;
            }
            Event::SetBack(dies, by) => {
                user.now = user.now.saturating_sub(*by);
                if !dies {
                    store.close().await.unwrap();
                }
            }
            Event::Close => store.close().await.unwrap(),
            Event::Die => {}
            Event::DieFlushing(parts) => store.flush_in_part(*parts),
        }
        drop(store);
        store = open(user.now);
        begin_session(&mut user, store.standing());
    }
    drop(store);
    agree(&directory);
    user.saw
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sessions_on_a_disk_continue_like_those_in_memory(
        events in events(),
        per_host in 1..3_usize,
        limit in proptest::option::of(1..4_u64),
        least_wait in 0..30_u64,
        probes in any::<bool>(),
    ) {
        let least_wait = Duration::from_millis(least_wait);
        let rules = FrontierRules {
            per_host,
            max_pages_per_host: limit,
            least_wait,
            probes,
            ..FrontierRules::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let expected = runtime.block_on(play_in_memory(rules.clone(), &events));
        let seen = runtime.block_on(play_on_disk(rules, &events));
        for (in_memory, on_disk) in expected.iter().zip(&seen) {
            prop_assert_eq!(in_memory, on_disk);
        }
        prop_assert_eq!(expected.len(), seen.len());
    }

    /// However often the process dies, every page is visited in the end.
    #[test]
    fn no_page_is_lost_by_sessions_that_die(events in events()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let rules = FrontierRules::default();
            let (mut wanted, mut visited) = (HashSet::new(), HashSet::new());
            let mut store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
            for event in &events {
                match event {
                    Event::Step(Step::Discover(links)) => {
                        let discovered = discovered(links);
                        wanted.extend(discovered.iter().map(|found| found.url.clone()));
                        store.discover(discovered).await.unwrap();
                    }
                    Event::Step(_) => {
                        // One of two is settled, the other is under way when the process dies.
                        let mut out = leases(&store, 0, 2).await;
                        if let Some(lease) = out.pop() {
                            visited.insert(lease.url().clone());
                            visit(&store, lease, 0).await;
                        }
                    }
                    Event::Flush => store.flush().await.unwrap(),
                    Event::Leap => {}
                    Event::Close | Event::Die | Event::DieFlushing(_) | Event::SetBack(..) => {
                        if let Event::DieFlushing(parts) = event {
                            store.flush_in_part(*parts);
                        }
                        drop(store);
                        let options = options(rules.clone());
                        store = EmbeddedStore::open(directory.path(), &options).unwrap();
                    }
                }
            }
            drop(store);
            let store = EmbeddedStore::open(directory.path(), &options(rules.clone())).unwrap();
            while let Some(lease) = leases(&store, 0, 1).await.pop() {
                assert!(visited.insert(lease.url().clone()), "{} is visited twice", lease.url());
                visit(&store, lease, 0).await;
            }
            assert_eq!(store.standing().queued, 0);
            assert_eq!(visited, wanted);
        });
    }
}
