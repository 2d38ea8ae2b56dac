//! Serde's traits for values with a written or stored form (feature `serde`).
//!
//! In text formats, fingerprints are hexadecimal digits and features have the syntax of the command
//! line; sketches are the bytes of their stored forms. Invariants: every value that is read passes
//! through the constructor of its type, so that an invalid value is refused; the binary forms are
//! stable for ever, because they are on the disks of crawls.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bag::{BAG_BYTES, BagSketch};
use crate::features::{Features, Unit, Weights};
use crate::fingerprint::Fingerprint;
use crate::sketch::{SKETCH_BYTES, Sketch};
use crate::title_terms::{MAX_TITLE_TERMS_BYTES, TitleTerms};

/// Serializes a type in its written form, so that a configuration file reads like the command line.
macro_rules! serialized_as_written {
    ($($kind:ty),*) => { $(
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(WrittenVisitor(PhantomData))
            }
        }
    )* };
}

serialized_as_written!(Unit, Weights, Features);

/// Serialized as digits in text formats, and as a number in others.
impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.as_u64().serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(WrittenVisitor(PhantomData))
        } else {
            u64::deserialize(deserializer).map(Self::new)
        }
    }
}

/// Serializes a type as the bytes of its `to_bytes`; deserializes at most `$most` bytes with
/// `$read`.
macro_rules! serialized_as_bytes {
    ($kind:ty, $most:expr, $read:expr) => {
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&self.to_bytes())
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bytes = read::<{ $most }, D>(deserializer)?;
                let read: fn(&[u8]) -> Result<Self, String> = $read;
                read(&bytes).map_err(Error::custom)
            }
        }
    };
}

serialized_as_bytes!(Sketch, SKETCH_BYTES, |bytes| {
    let fitting = bytes.as_array().map(Sketch::from_bytes);
    fitting.ok_or_else(|| of_length("a sketch", SKETCH_BYTES, bytes))
});
serialized_as_bytes!(BagSketch, BAG_BYTES, |bytes| {
    let fitting = bytes.as_array().map(BagSketch::from_bytes);
    fitting.ok_or_else(|| of_length("the sketch of a bag", BAG_BYTES, bytes))
});
serialized_as_bytes!(TitleTerms, MAX_TITLE_TERMS_BYTES, |bytes| {
    TitleTerms::from_bytes(bytes).ok_or_else(|| "these are not the bytes of title terms".to_owned())
});

fn of_length(what: &str, expected: usize, bytes: &[u8]) -> String {
    format!("{what} must have {expected} bytes, got {}", bytes.len())
}

/// A visitor of strings that are parsed.
struct WrittenVisitor<Kind>(PhantomData<Kind>);

impl<Kind: FromStr<Err: fmt::Display>> Visitor<'_> for WrittenVisitor<Kind> {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, written: &str) -> Result<Kind, E> {
        written.parse().map_err(E::custom)
    }
}

/// Reads a byte string of at most `MAX` bytes. A longer string is refused while it is read, so that
/// a false length costs no memory.
fn read<'de, const MAX: usize, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_bytes(BytesVisitor::<MAX>)
}

struct BytesVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for BytesVisitor<MAX> {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX} bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        if bytes.len() > MAX {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        Ok(bytes.to_vec())
    }

    /// Reads a list of numbers, as written by formats without bytes, such as JSON.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            if bytes.len() == MAX {
                return Err(Error::invalid_length(MAX + 1, &self));
            }
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;

    use super::*;
    use crate::features::Width;
    use crate::key::HashKey;
    use crate::shingles::Shingles;
    use crate::signature::{PageText, SignatureBuilder};
    use crate::thresholds::{Match, MatchKind, Thresholds};

    fn is_read_as_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
        let json = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value, "{json}");
        let stored = postcard::to_allocvec(value).unwrap();
        assert_eq!(&postcard::from_bytes::<T>(&stored).unwrap(), value);
    }

    #[test]
    fn values_are_read_as_they_were_written_in_text_and_in_binary_formats() {
        let shingles = Shingles::from_hashes((0..2_000).map(|n| n * 0x9e37_79b9).collect());
        is_read_as_written(&Fingerprint::new(0xfeed));
        is_read_as_written(&Features::default());
        is_read_as_written(&Width::VERIFICATION);
        is_read_as_written(&HashKey::new(5));
        is_read_as_written(&Thresholds::new(3, 0.5).unwrap());
        is_read_as_written(&Thresholds::default());
        is_read_as_written(&Thresholds::within(3).unwrap());
        is_read_as_written(&Sketch::of(&shingles).unwrap());
        is_read_as_written(&Match {
            of: "a page".to_owned(),
            match_kind: MatchKind::Near {
                distance: 3,
                resemblance: 0.5,
            },
        });
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let text = "enough words for a sketch of them ".repeat(5);
        let page = PageText {
            title: Some("A sketch of words"),
            ..PageText::of(&text)
        };
        is_read_as_written(&builder.signature(u128::MAX, Some(page)));
    }

    #[test]
    fn text_formats_have_fingerprints_as_digits_and_binary_ones_as_numbers() {
        let fingerprint = Fingerprint::new(0xfeed);
        let json = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(json, "\"000000000000feed\"");
        assert_eq!(
            postcard::to_allocvec(&fingerprint).unwrap(),
            postcard::to_allocvec(&0xfeed_u64).unwrap()
        );
        let features = serde_json::to_string(&Features::default()).unwrap();
        assert_eq!(features, "\"word:1+log-tf\"");
    }

    #[test]
    fn invalid_values_are_refused_with_the_rule() {
        fn refused<T: DeserializeOwned + Debug>(json: &str, rule: &str) {
            let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
            assert!(error.contains(rule), "{json}: {error}");
        }
        refused::<Fingerprint>("\"feed\"", "it must have 16 hexadecimal digits");
        refused::<Fingerprint>("65261", "expected a string");
        refused::<Features>("\"word:0\"", "between 1 and 64");
        refused::<Width>("65", "between 1 and 64");
        let alone = "{\"distance\":8,\"rule\":\"Distance\"}";
        refused::<Thresholds>(alone, "between 0 and 7 bits");
        let thresholds = "{\"distance\":3,\"rule\":{\"Resemblance\":2.0}}";
        refused::<Thresholds>(thresholds, "between 0 and 1");
        refused::<Sketch>("[1,2,3]", "must have 160 bytes, got 3");
    }
}
