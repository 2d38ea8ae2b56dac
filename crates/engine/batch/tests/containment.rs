//! Containment is found as by a program that compares all pairs, whatever the memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use batch::{BatchError, ContainmentOptions, Control, DocumentId, ShingledDocument, containments};
use neardup::Shingles;
use proptest::prelude::*;

type Found = (DocumentId, DocumentId, f64);

fn found(sets: &[BTreeSet<u64>], least: f64, memory: usize, workers: usize) -> Vec<Found> {
    let directory = tempfile::tempdir().unwrap();
    let options = ContainmentOptions {
        least,
        memory,
        workers: NonZeroUsize::new(workers).unwrap(),
        scratch: directory.path().to_owned(),
    };
    let documents = sets.iter().enumerate().map(|(number, set)| {
        Ok(ShingledDocument {
            id: number.to_string().into(),
            shingles: Shingles::from_hashes(set.iter().copied().collect()),
        })
    });
    let mut found = Vec::new();
    let summary = containments::<BatchError>(documents, &options, Control::none(), |one| {
        found.push((
            one.document.to_owned(),
            one.contained_in.to_owned(),
            one.containment,
        ));
        Ok(())
    })
    .unwrap();
    assert_eq!(summary.documents, sets.len() as u64);
    assert_eq!(summary.found, found.len() as u64);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    found
}

fn naive(sets: &[BTreeSet<u64>], least: f64) -> Vec<Found> {
    let mut found = Vec::new();
    for (a, one) in sets.iter().enumerate() {
        for (b, two) in sets.iter().enumerate() {
            let containment = one.intersection(two).count() as f64 / one.len() as f64;
            if a != b && containment >= least {
                found.push((a.to_string().into(), b.to_string().into(), containment));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn all_ordered_pairs_are_found_in_order(
        // Shingles of one digit are frequent, the others rare.
        sets in prop::collection::vec(
            prop::collection::btree_set(prop_oneof![0_u64..10, 0_u64..200], 0..25),
            0..40,
        ),
        least in prop_oneof![0.01..=1.0, Just(1.0), Just(0.5), Just(0.8)],
        workers in 1_usize..4,
    ) {
        let expected = naive(&sets, least);
        prop_assert_eq!(&found(&sets, least, 1 << 20, workers), &expected);
    }
}

#[test]
fn more_shingles_than_memory_holds_change_no_finding() {
    // 300 documents of 150 shingles are 720 kB in an index; 64 KiB are allowed.
    let sets: Vec<BTreeSet<u64>> = (0..300_u64)
        .map(|number| {
            let start = number % 60 * 100;
            (start..start + 100 + number / 60 * 10)
                .chain(1_000_000..1_000_010)
                .collect()
        })
        .collect();
    let expected = naive(&sets, 0.9);
    assert!(expected.len() > 500, "{}", expected.len());
    assert_eq!(found(&sets, 0.9, 0, 2), expected);
}
