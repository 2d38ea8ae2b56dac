//! Files of fingerprints: read as they were written, and nothing else passes for one.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Path, PathBuf};

use batch::{BatchError, FingerprintFile, FingerprintWriter, ParametersDigest};
use neardup::{ALGORITHM, Features, Fingerprint, HashKey};
use proptest::prelude::*;

fn parameters_digest() -> ParametersDigest {
    ParametersDigest::new("word:1".parse::<Features>().unwrap(), HashKey::new(2026))
}

fn written(path: &Path, fingerprints: &[(u64, u64)], has_ids: bool) -> FingerprintFile {
    let mut writer = FingerprintWriter::create(path, parameters_digest(), has_ids).unwrap();
    for &(bits, id) in fingerprints {
        writer.push(Fingerprint::new(bits), id).unwrap();
    }
    writer.finish().unwrap()
}

/// Returns all that a file has; a file without ids gives 0 for each.
fn read(path: &Path) -> Result<Vec<(u64, u64)>, BatchError> {
    let file = FingerprintFile::open(path)?;
    let mut reader = file.read()?;
    let mut all = Vec::new();
    while let Some(block) = reader.next_block()? {
        assert_eq!(block.position, all.len() as u64);
        let id = |at: usize| block.ids.get(at).copied().unwrap_or(0);
        all.extend(
            block
                .bits
                .iter()
                .enumerate()
                .map(|(at, &bits)| (bits, id(at))),
        );
    }
    assert_eq!(file.len(), all.len() as u64);
    Ok(all)
}

fn some(count: u64) -> Vec<(u64, u64)> {
    (0..count)
        .map(|number| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15), number * 3))
        .collect()
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/fingerprints.hex")
}

/// Thirty-two bytes a line. The algorithm's number is taken out, since the format does not depend
/// on it.
#[test]
fn a_file_has_the_bytes_of_the_golden_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("prints");
    written(&path, &some(5), true);
    let mut bytes = std::fs::read(&path).unwrap();
    let check = |bytes: &[u8]| (HashKey::ZERO.digest(&bytes[..56]) as u64).to_le_bytes();
    assert_eq!(bytes[10..12], ALGORITHM.to_le_bytes());
    assert_eq!(bytes[56..64], check(&bytes));
    bytes[10..12].fill(0);
    let without_algorithm = check(&bytes);
    bytes[56..64].copy_from_slice(&without_algorithm);
    let lines: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    let promised = std::fs::read_to_string(golden()).unwrap();
    assert_eq!(lines, promised.lines().collect::<Vec<_>>());
}

#[test]
fn full_blocks_and_broken_ones_are_read_as_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    for count in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
        for has_ids in [false, true] {
            let path = directory.path().join("prints");
            let file = written(&path, &some(count), has_ids);
            assert_eq!(
                (file.len(), file.has_ids(), file.is_empty()),
                (count, has_ids, count == 0)
            );
            assert_eq!(file.parameters_digest(), parameters_digest());
            let expected: Vec<(u64, u64)> = some(count)
                .into_iter()
                .map(|(bits, id)| (bits, if has_ids { id } else { 0 }))
                .collect();
            assert!(read(&path).unwrap() == expected, "{count}");
        }
    }
}

#[test]
fn an_unfinished_file_is_damaged_and_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("unfinished");
    let mut writer = FingerprintWriter::create(&path, parameters_digest(), false).unwrap();
    for (bits, _) in some(300_000) {
        writer.push(Fingerprint::new(bits), 0).unwrap();
    }
    drop(writer);
    let error = read(&path).unwrap_err();
    assert!(matches!(error, BatchError::Damaged { .. }));
    assert!(error.to_string().contains("unfinished"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = FingerprintFile::open("/no/such/file").unwrap_err();
    assert_eq!(error.to_string(), "cannot read /no/such/file");
    let error = FingerprintWriter::create("/no/such/file", parameters_digest(), false).unwrap_err();
    assert_eq!(error.to_string(), "cannot write /no/such/file");
}

#[test]
fn another_version_and_another_algorithm_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("prints");
    written(&path, &some(3), false);
    let bytes = std::fs::read(&path).unwrap();
    let mut later = bytes.clone();
    later[8] = 2;
    std::fs::write(&path, later).unwrap();
    assert!(matches!(
        read(&path),
        Err(BatchError::OtherFormat { version: 2, .. })
    ));
    // A file of another algorithm that is otherwise valid: its checksum passes.
    let mut other = bytes;
    other[10..12].copy_from_slice(&(ALGORITHM + 1).to_le_bytes());
    let check = HashKey::ZERO.digest(&other[..56]) as u64;
    other[56..64].copy_from_slice(&check.to_le_bytes());
    std::fs::write(&path, other).unwrap();
    let error = read(&path).unwrap_err();
    assert!(
        matches!(error, BatchError::OtherAlgorithm { algorithm, .. } if algorithm == ALGORITHM + 1)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_change_and_any_truncation_is_detected(
        count in 1_u64..60,
        at in 0.0..1.0,
        change in 1_u8..,
        has_ids: bool,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("prints");
        written(&path, &some(count), has_ids);
        let bytes = std::fs::read(&path).unwrap();
        let at = (at * bytes.len() as f64) as usize;
        let mut changed = bytes.clone();
        changed[at] ^= change;
        let mut longer = bytes.clone();
        longer.push(change);
        for wrong in [&changed[..], &bytes[..at], &longer] {
            std::fs::write(&path, wrong).unwrap();
            prop_assert!(read(&path).is_err());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("prints");
        std::fs::write(&path, [b"NEARDUPF\x01\x00", &bytes[..]].concat()).unwrap();
        prop_assert!(read(&path).is_err());
    }
}
