//! The inputs that the fuzzer and people found worth keeping, and inputs near them, as ordinary
//! tests.
#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anybytes::TARGETS;
use proptest::prelude::*;

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The inputs of a target, with their names.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let items = std::fs::read_dir(corpora().join(target)).unwrap();
    let mut inputs: Vec<_> = items
        .map(|item| {
            let path = item.unwrap().path();
            (path.display().to_string(), std::fs::read(&path).unwrap())
        })
        .collect();
    inputs.sort();
    inputs
}

#[test]
fn every_target_keeps_its_promises_for_all_of_its_corpus() {
    for (name, target) in TARGETS {
        let inputs = inputs(name);
        assert!(
            inputs.len() >= 8,
            "the corpus of {name} has {} inputs",
            inputs.len()
        );
        for (path, input) in inputs {
            // The name of the input is what a failure must say.
            let kept = std::panic::catch_unwind(|| target(&input));
            assert!(kept.is_ok(), "{name} broke a promise for {path}");
        }
    }
}

#[test]
fn every_corpus_has_a_target_and_every_target_is_fuzzed() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let names = |directory: &Path| -> BTreeSet<String> {
        let items = std::fs::read_dir(directory).unwrap();
        items
            .map(|item| {
                let path = item.unwrap().path();
                path.file_stem().unwrap().to_string_lossy().into_owned()
            })
            .collect()
    };
    assert_eq!(names(&corpora()), targets);
    let fuzzed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lab/fuzz/fuzz_targets");
    assert_eq!(names(&fuzzed), targets);
}

/// An input with a piece of it replaced by a piece of another.
fn spliced(
    inputs: &[(String, Vec<u8>)],
    one: usize,
    other: usize,
    cut: usize,
    length: usize,
) -> Vec<u8> {
    let (one, other) = (
        &inputs[one % inputs.len()].1,
        &inputs[other % inputs.len()].1,
    );
    let start = cut % (one.len() + 1);
    let from = cut / 7 % (other.len() + 1);
    let piece = &other[from..other.len().min(from + length)];
    let rest = one.get(start + length / 2..).unwrap_or_default();
    [&one[..start], piece, rest].concat()
}

proptest! {
    #[test]
    fn targets_keep_their_promises_for_crossings_of_their_inputs(
        one: usize, other: usize, cut: usize, length in 0_usize..64,
    ) {
        for (name, target) in TARGETS {
            target(&spliced(&inputs(name), one, other, cut, length));
        }
    }

    #[test]
    fn targets_keep_their_promises_for_noise(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        for (_, target) in TARGETS {
            target(&bytes);
        }
    }
}
