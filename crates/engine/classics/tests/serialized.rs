//! Stored values in formats of serde: read as they were written, and checked.

use std::fmt::Debug;

use classics::minhash::{MinHash, MinHasher};
use classics::samples::Sketch1997;
use neardup::Shingles;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn is_read_as_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = serde_json::to_string(value).expect("is written as JSON");
    assert_eq!(
        &serde_json::from_str::<T>(&json).expect("is read from JSON"),
        value,
        "{json}"
    );
    let stored = postcard::to_allocvec(value).expect("is written as bytes");
    assert_eq!(
        &postcard::from_bytes::<T>(&stored).expect("is read from bytes"),
        value
    );
}

#[test]
fn values_are_read_as_they_were_written_in_text_and_in_binary_formats() {
    let shingles = Shingles::from_hashes((0..2_000).map(|n| n * 0x9e37_79b9).collect());
    is_read_as_written(&MinHasher::default().of(&shingles));
    is_read_as_written(&Sketch1997::of(&shingles));
}

#[test]
fn invalid_values_are_refused_with_the_rule() {
    fn refused<T: DeserializeOwned + Debug>(json: &str, rule: &str) {
        let error = serde_json::from_str::<T>(json)
            .expect_err("is refused")
            .to_string();
        assert!(error.contains(rule), "{json}: {error}");
    }
    refused::<MinHash>("[1,0]", "algorithm 1");
    refused::<MinHash>("[3,0,9,0,0]", "family");
    refused::<Sketch1997>("[3,0]", "fingerprints of 5 bytes");
}
