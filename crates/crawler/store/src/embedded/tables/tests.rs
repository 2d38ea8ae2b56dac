//! The tables against sets, under random changes and reopenings.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;

const TABLES: [Table; 3] = [Table::new(0), Table::new(7), Table::new(255)];

fn all_of(tables: &SortedTables, table: Table) -> Result<Vec<Posting>, StoreFault> {
    let mut scan = tables.all(table)?;
    let mut found = Vec::new();
    while scan.next_block(&mut found)? {}
    Ok(found)
}

/// Returns scattered numbers, the same for the same seed.
fn scattered(seed: u64, count: u64, among: u64) -> Vec<Posting> {
    let mix = |n: u64| {
        let n = (n ^ n >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (n ^ n >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let mut postings: Vec<Posting> = (0..count)
        .map(|n| mix(mix(seed) ^ n) % among)
        .map(|n| Posting::new(mix(n / 3), n as u32))
        .collect();
    postings.sort_unstable();
    postings.dedup();
    postings
}

#[test]
fn united_postings_are_found_and_removed_ones_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
    let [table, other, _] = TABLES;
    let postings =
        [(5, 1), (5, 9), (6, 0), (u64::MAX, u32::MAX)].map(|(key, of)| Posting::new(key, of));
    tables.unite(table, &postings).unwrap();
    tables.unite(other, &postings[..1]).unwrap();
    tables.remove(table, &postings[1..2]).unwrap();

    let mut documents = Vec::new();
    let visit = |document| {
        documents.push(document);
        ControlFlow::Continue(())
    };
    tables.under(table, 5, visit).unwrap();
    assert_eq!(documents, [1]);
    assert!(tables.contains(table, postings[3]).unwrap());
    assert!(!tables.contains(table, postings[1]).unwrap());
    assert_eq!(
        (tables.count(table).unwrap(), tables.count(other).unwrap()),
        (3, 1)
    );
    assert_eq!(
        all_of(&tables, table).unwrap(),
        [postings[0], postings[2], postings[3]]
    );
}

#[test]
fn a_visit_ends_when_the_visitor_breaks() {
    let directory = tempfile::tempdir().unwrap();
    let tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
    let crowd: Vec<Posting> = (0..2_000)
        .map(|document| Posting::new(7, document))
        .collect();
    tables.unite(TABLES[0], &crowd).unwrap();
    let mut seen = 0;
    let visit = |document| {
        assert_eq!(document, seen);
        seen += 1;
        if seen == 700 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    tables.under(TABLES[0], 7, visit).unwrap();
    assert_eq!(seen, 700);
}

#[test]
fn the_same_few_changes_again_write_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path()).unwrap();
    let tables = SortedTables::open(&database).unwrap();
    tables
        .unite(TABLES[0], &scattered(1, 40_000, u64::MAX))
        .unwrap();
    let (added, removed) = (scattered(2, 20, u64::MAX), scattered(3, 20, u64::MAX));
    tables.update(TABLES[0], &added, &removed).unwrap();
    let before = tables.generation(TABLES[0]).unwrap().number;
    database.flush().unwrap();
    let size = database.size_on_disk().unwrap();
    for _again in 0..200 {
        tables.update(TABLES[0], &added, &removed).unwrap();
    }
    database.flush().unwrap();
    // Writing them would take twelve megabytes; a snapshot of the engine takes a few hundred bytes.
    assert!(database.size_on_disk().unwrap() < size + (1 << 20));
    assert_eq!(tables.generation(TABLES[0]).unwrap().number, before);
}

#[test]
fn many_changes_make_a_new_generation_and_the_old_one_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path()).unwrap();
    let tables = SortedTables::open(&database).unwrap();
    let mut all = BTreeSet::new();
    for round in 0..4 {
        let added = scattered(round, 20_000, u64::MAX);
        all.extend(added.iter().copied());
        tables.unite(TABLES[0], &added).unwrap();
    }
    assert_eq!(tables.generation(TABLES[0]).unwrap().number, 4);
    assert!(
        all_of(&tables, TABLES[0])
            .unwrap()
            .into_iter()
            .eq(all.iter().copied())
    );
    assert_eq!(generations(&database), 1);
}

fn generations(database: &Database) -> usize {
    let names = database.tree_names().unwrap();
    let of_tables = names
        .iter()
        .filter(|name| name.starts_with(generation::NAMES));
    of_tables.count()
}

#[test]
fn a_generation_in_use_is_deleted_when_the_tables_are_opened_next() {
    let directory = tempfile::tempdir().unwrap();
    let tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
    let (old, more) = (
        scattered(1, 20_000, u64::MAX),
        scattered(2, 20_000, u64::MAX),
    );
    tables.unite(TABLES[0], &old).unwrap();
    let mut scan = tables.all(TABLES[0]).unwrap();
    let mut found = Vec::new();
    scan.next_block(&mut found).unwrap();
    tables.unite(TABLES[0], &more).unwrap();
    while scan.next_block(&mut found).unwrap() {}
    assert_eq!(found, old);
    drop((tables, scan));
    let database = Database::open(directory.path()).unwrap();
    let tables = SortedTables::open(&database).unwrap();
    let all: BTreeSet<Posting> = old.into_iter().chain(more).collect();
    assert!(all_of(&tables, TABLES[0]).unwrap().into_iter().eq(all));
    assert_eq!(generations(&database), 1);
}

#[test]
fn blocks_stay_neither_small_nor_large() {
    let directory = tempfile::tempdir().unwrap();
    let tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
    let all = scattered(1, 60_000, u64::MAX);
    let fill = |least: u64, most: u64| {
        let Summary {
            postings, blocks, ..
        } = tables.summary(TABLES[0]).unwrap();
        assert!(
            (least * blocks..=most * blocks).contains(&postings),
            "{postings} in {blocks}"
        );
    };
    tables.unite(TABLES[0], &all).unwrap();
    fill(380, 390);
    // One in sixty of them is left, so the blocks are joined.
    let leaving: Vec<Posting> = all
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 60 > 0)
        .map(|(_, &p)| p)
        .collect();
    tables.remove(TABLES[0], &leaving).unwrap();
    fill(50, 512);
    for part in 0..10 {
        let part: Vec<Posting> = leaving.iter().skip(part).step_by(10).copied().collect();
        tables.unite(TABLES[0], &part).unwrap();
    }
    fill(200, 512);
    assert_eq!(all_of(&tables, TABLES[0]).unwrap(), all);
    tables.remove(TABLES[0], &all).unwrap();
    assert_eq!(tables.summary(TABLES[0]).unwrap(), Summary::default());
}

/// The process dies while the next generation is written and not yet referenced.
#[test]
fn an_unfinished_generation_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path()).unwrap();
    let tables = SortedTables::open(&database).unwrap();
    let (old, more) = (
        scattered(1, 20_000, u64::MAX),
        scattered(2, 20_000, u64::MAX),
    );
    tables.unite(TABLES[0], &old).unwrap();
    let generation = tables.generation(TABLES[0]).unwrap();
    let half = tables.next(&generation).unwrap();
    let name = Generation::name(TABLES[0], half.number);
    half.tree
        .append(&[(half.key_of(more[0]), b"half a block")])
        .unwrap();
    drop((tables, generation, half));

    let tables = SortedTables::open(&database).unwrap();
    assert!(!database.tree_names().unwrap().contains(&name));
    assert_eq!(all_of(&tables, TABLES[0]).unwrap(), old);
    tables.unite(TABLES[0], &more).unwrap();
    let all: BTreeSet<Posting> = old.into_iter().chain(more).collect();
    assert!(all_of(&tables, TABLES[0]).unwrap().into_iter().eq(all));
    assert_eq!(
        Generation::name(TABLES[0], tables.generation(TABLES[0]).unwrap().number),
        name
    );
}

#[test]
fn a_table_that_lost_a_block_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
    let all = scattered(1, 3_000, u64::MAX);
    tables.unite(TABLES[0], &all).unwrap();
    let mut batch = Batch::default();
    let generation = tables.generation(TABLES[0]).unwrap();
    batch.remove(&generation.key_of(all[0]));
    generation.tree.apply(batch).unwrap();
    let fault = all_of(&tables, TABLES[0]).unwrap_err();
    assert!(matches!(fault, StoreFault::Tables { .. }), "{fault}");
}

#[derive(Clone, Debug)]
enum Step {
    Update(usize, Vec<Posting>, Vec<Posting>),
    /// The same, but the process dies after some batches of changes, and applies them again.
    CutShort(usize, Vec<Posting>, usize),
    Reopen,
}

/// Few keys, so that some repeat; some with many documents, so that one key fills several blocks.
fn changes() -> impl Strategy<Value = Vec<Posting>> {
    let key = prop_oneof![
        0..40_u64,
        any::<u64>().prop_map(|key| key & 0xff00_0000_0000_0007)
    ];
    let few = prop::collection::vec((key, 0..400_u32), 0..60);
    let many = (any::<u64>(), 0..2_500_u64, 1..9_000_u64);
    let all = prop_oneof![
        3 => few.prop_map(|few| {
            few.into_iter().map(|(key, of)| Posting::new(key, of)).collect::<Vec<_>>()
        }),
        1 => many.prop_map(|(seed, count, among)| scattered(seed, count, among)),
        1 => (0..40_u64, 0..900_u32)
            .prop_map(|(key, most)| (0..most).map(|of| Posting::new(key, of)).collect()),
    ];
    all.prop_map(|mut all: Vec<Posting>| {
        all.sort_unstable();
        all
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let table = 0..TABLES.len();
    let step = prop_oneof![
        6 => (table.clone(), changes(), changes())
            .prop_map(|(table, added, removed)| Step::Update(table, added, removed)),
        2 => (table, changes(), any::<prop::sample::Index>())
            .prop_map(|(table, added, cut)| {
                let cut = cut.index(added.len() + 1);
                Step::CutShort(table, added, cut)
            }),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn tables_hold_the_same_as_sets(
        steps in steps(), probes in prop::collection::vec((0..40_u64, any::<u64>()), 6),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut tables = SortedTables::open(&Database::open(directory.path()).unwrap()).unwrap();
        let mut sets: BTreeMap<Table, BTreeSet<Posting>> =
            TABLES.map(|table| (table, BTreeSet::new())).into();
        for step in steps {
            match step {
                Step::Update(table, added, removed) => {
                    let set = sets.get_mut(&TABLES[table]).unwrap();
                    set.extend(&added);
                    removed.iter().for_each(|posting| { set.remove(posting); });
                    tables.update(TABLES[table], &added, &removed).unwrap();
                }
                Step::CutShort(table, added, cut) => {
                    sets.get_mut(&TABLES[table]).unwrap().extend(&added);
                    tables.unite(TABLES[table], &added[..cut]).unwrap();
                    tables.unite(TABLES[table], &added).unwrap();
                }
                Step::Reopen => {
                    drop(tables);
                    let database = Database::open(directory.path()).unwrap();
                    tables = SortedTables::open(&database).unwrap();
                }
            }
        }
        for (&table, set) in &sets {
            let all: Vec<Posting> = set.iter().copied().collect();
            prop_assert_eq!(all_of(&tables, table).unwrap(), all);
            prop_assert_eq!(tables.count(table).unwrap(), set.len() as u64);
            for &(near, far) in &probes {
                let ranges = [(near, near), (near, far.max(near)), (far, u64::MAX), (0, near)];
                for (low, high) in ranges {
                    let mut found = Vec::new();
                    let collect = |posting| {
                        found.push(posting);
                        ControlFlow::Continue(())
                    };
                    tables.range(table, low..=high, collect).unwrap();
                    let held = set.range(Posting::new(low, 0)..=Posting::new(high, u32::MAX));
                    prop_assert_eq!(found, held.copied().collect::<Vec<_>>());
                }
                let posting = Posting::new(near, far as u32 % 400);
                prop_assert_eq!(tables.contains(table, posting).unwrap(), set.contains(&posting));
            }
        }
    }
}
