//! Sessions that end in order, die, or die in a flush: the next one goes on as the store in memory
//! does, and nothing is lost.

use proptest::prelude::*;

use super::model::{Step, User, step, to_finds};
use super::*;

/// An event in a crawl of many sessions.
#[derive(Clone, Debug)]
enum Turn {
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

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        12 => step().prop_map(Turn::Step),
        2 => Just(Turn::Flush),
        1 => Just(Turn::Close),
        1 => Just(Turn::Die),
        1 => any::<u8>().prop_map(Turn::DieFlushing),
        1 => (any::<bool>(), prop_oneof![0..60_u64, Just(DAY)])
            .prop_map(|(dies, by)| Turn::SetBack(dies, by)),
        1 => Just(Turn::Leap),
    ];
    proptest::collection::vec(turn, 1..80)
}

/// The next session's user: what was out is not any more.
fn next_session(user: &mut User) {
    user.out.clear();
    user.ticket = 0;
}

async fn play_in_memory(rules: FrontierRules, turns: &[Turn]) -> Vec<String> {
    let (store, mut user) = (
        MemoryStore::new(rules, LikenessRules::default(), None),
        User::default(),
    );
    for turn in turns {
        match turn {
            Turn::Step(step) => user.take(&store, step).await,
            Turn::Flush => {}
            Turn::Leap => user.now += DAY,
            Turn::Close | Turn::Die | Turn::DieFlushing(_) | Turn::SetBack(..) => {
                if let Turn::SetBack(_, by) = turn {
                    user.now = user.now.saturating_sub(*by);
                }
                store.reopen(
                    at(user.now),
                    matches!(turn, Turn::Close | Turn::SetBack(false, _)),
                );
                next_session(&mut user);
                user.saw.push(format!("{:?}", store.standing()));
            }
        }
    }
    user.saw
}

async fn play_on_disk(rules: FrontierRules, turns: &[Turn]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let open = |now: u64| {
        let options = StoreOptions {
            now: at(now),
            ..options(rules)
        };
        EmbeddedStore::open(directory.path(), &options).unwrap()
    };
    let (mut store, mut user) = (open(0), User::default());
    for turn in turns {
        match turn {
            Turn::Step(step) => {
                user.take(&store, step).await;
                continue;
            }
            Turn::Flush => {
                store.flush().await.unwrap();
                continue;
            }
            Turn::Leap => {
                user.now += DAY;
                continue;
            }
            Turn::SetBack(dies, by) => {
                user.now = user.now.saturating_sub(*by);
                if !dies {
                    store.close().await.unwrap();
                }
            }
            Turn::Close => store.close().await.unwrap(),
            Turn::Die => {}
            Turn::DieFlushing(parts) => store.flush_in_part(*parts),
        }
        drop(store);
        store = open(user.now);
        next_session(&mut user);
        user.saw.push(format!("{:?}", store.standing()));
    }
    drop(store);
    let audit = crate::embedded::audit(directory.path()).unwrap();
    assert!(audit.complaints.is_empty(), "{:?}", audit.complaints);
    user.saw
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn sessions_on_a_disk_go_on_as_those_in_memory(
        turns in turns(),
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
        let expected = runtime.block_on(play_in_memory(rules, &turns));
        let seen = runtime.block_on(play_on_disk(rules, &turns));
        for (in_memory, on_disk) in expected.iter().zip(&seen) {
            prop_assert_eq!(in_memory, on_disk);
        }
        prop_assert_eq!(expected.len(), seen.len());
    }

    /// However often the process dies, every page is visited in the end.
    #[test]
    fn no_page_is_lost_by_sessions_that_die(turns in turns()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let rules = FrontierRules::default();
            let (mut wanted, mut had) = (HashSet::new(), HashSet::new());
            let mut store = EmbeddedStore::open(directory.path(), &options(rules)).unwrap();
            for turn in &turns {
                match turn {
                    Turn::Step(Step::Discover(finds)) => {
                        let finds = to_finds(finds);
                        wanted.extend(finds.iter().map(|find| find.url.clone()));
                        store.discover(finds).await.unwrap();
                    }
                    Turn::Step(_) => {
                        // One of two is settled, the other is under way when the process dies.
                        let mut out = leases(&store, 0, 2).await;
                        if let Some(lease) = out.pop() {
                            had.insert(lease.url().clone());
                            let settlement = done(&lease);
                            store.settle(lease, settlement, at(0).into()).await.unwrap();
                        }
                    }
                    Turn::Flush => store.flush().await.unwrap(),
                    Turn::Leap => {}
                    Turn::Close | Turn::Die | Turn::DieFlushing(_) | Turn::SetBack(..) => {
                        if let Turn::DieFlushing(parts) = turn {
                            store.flush_in_part(*parts);
                        }
                        drop(store);
                        store = EmbeddedStore::open(directory.path(), &options(rules)).unwrap();
                    }
                }
            }
            drop(store);
            let store = EmbeddedStore::open(directory.path(), &options(rules)).unwrap();
            loop {
                let leases = leases(&store, 0, 3).await;
                if leases.is_empty() {
                    break;
                }
                for lease in leases {
                    assert!(had.insert(lease.url().clone()), "{} is visited twice", lease.url());
                    let settlement = done(&lease);
                    store.settle(lease, settlement, at(0).into()).await.unwrap();
                }
            }
            assert_eq!(store.standing().queued, 0);
            assert_eq!(had, wanted);
        });
    }
}
