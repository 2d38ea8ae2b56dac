//! Signatures as bytes.
//!
//! All numbers are little-endian. Invariant: the encoding is stable for ever, because signature
//! files hold it (`golden/signatures.hex`).

use neardup::{
    BAG_BYTES, BagSketch, Fingerprint, MAX_TITLE_TERMS_BYTES, PageSignature, SKETCH_BYTES, Sketch,
    TextSignature, TitleTerms,
};

/// Maximum bytes of a document's id in a signature file: 1 MiB.
pub const MAX_ID: usize = 1 << 20;

/// Maximum bytes of an encoded signature.
pub(crate) const MAX_SIGNATURE_BYTES: usize =
    16 + 1 + 16 + 4 + 1 + 16 + 8 + 1 + SKETCH_BYTES + 1 + BAG_BYTES + 1 + MAX_TITLE_TERMS_BYTES;

/// Appends a signature to `bytes`.
pub(crate) fn encode(signature: &PageSignature, bytes: &mut Vec<u8>) {
    bytes.extend(signature.payload.to_le_bytes());
    bytes.push(u8::from(signature.text.is_some()));
    let Some(text) = signature.text.as_deref() else {
        return;
    };
    // All fields are named, so that a new one is not forgotten here.
    let TextSignature {
        digest,
        words,
        main_content,
        fingerprint,
        sketch,
        bag,
        title_terms,
    } = text;
    bytes.extend(digest.to_le_bytes());
    bytes.extend(words.to_le_bytes());
    bytes.push(u8::from(main_content.is_some()));
    bytes.extend(main_content.unwrap_or(0).to_le_bytes());
    bytes.extend(fingerprint.as_u64().to_le_bytes());
    bytes.push(u8::from(sketch.is_some()));
    bytes.extend(sketch.as_ref().map_or([0; SKETCH_BYTES], Sketch::to_bytes));
    bytes.push(u8::from(bag.is_some()));
    bytes.extend(bag.as_ref().map_or([0; BAG_BYTES], BagSketch::to_bytes));
    let title_terms = title_terms
        .as_ref()
        .map_or_else(Vec::new, TitleTerms::to_bytes);
    bytes.push(title_terms.len() as u8);
    bytes.extend(title_terms);
}

/// Splits the next signature off `rest`; `None` if `rest` is too short.
pub(crate) fn decode(rest: &mut &[u8]) -> Option<PageSignature> {
    let payload = u128::from_le_bytes(next(rest)?);
    if next(rest)? == [0] {
        return Some(PageSignature {
            payload,
            text: None,
        });
    }
    let digest = u128::from_le_bytes(next(rest)?);
    let words = u32::from_le_bytes(next(rest)?);
    let has_main_content = next(rest)? == [1];
    let main_content = u128::from_le_bytes(next(rest)?);
    let fingerprint = Fingerprint::new(u64::from_le_bytes(next(rest)?));
    let has_sketch = next(rest)? == [1];
    let sketch = next(rest)?;
    let has_bag = next(rest)? == [1];
    let bag = next(rest)?;
    let [term_bytes] = next(rest)?;
    let (title_terms, after) = rest.split_at_checked(usize::from(term_bytes))?;
    *rest = after;
    Some(PageSignature {
        payload,
        text: Some(Box::new(TextSignature {
            digest,
            words,
            main_content: has_main_content.then_some(main_content),
            fingerprint,
            sketch: has_sketch.then(|| Sketch::from_bytes(&sketch)),
            bag: has_bag.then(|| BagSketch::from_bytes(&bag)),
            title_terms: TitleTerms::from_bytes(title_terms),
        })),
    })
}

/// Splits the next `N` bytes off `rest`.
pub(crate) fn next<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = rest.split_first_chunk()?;
    *rest = left;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardup::{Features, HashKey, PageText, SignatureBuilder};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_signature_is_read_as_it_was_written(
            payload: u128,
            words in prop::collection::vec("[a-z]{1,9}", 0..40),
            has_main_content: bool,
            title: Option<String>,
        ) {
            let text = words.join(" ");
            let half = text.get(..text.len() / 2).unwrap_or_default();
            let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
            let whole = PageText {
                main_content: has_main_content.then_some(half),
                title: title.as_deref(),
                heading: words.first().map(String::as_str),
                ..PageText::of(&text)
            };
            for page in [None, Some(whole)] {
                let signature = signature_builder.signature(payload, page);
                let mut bytes = Vec::new();
                encode(&signature, &mut bytes);
                prop_assert!(bytes.len() <= MAX_SIGNATURE_BYTES);
                for shorter in 0..bytes.len() {
                    prop_assert_eq!(decode(&mut &bytes[..shorter]), None);
                }
                prop_assert_eq!(decode(&mut &bytes[..]), Some(signature));
            }
        }

    }
}
