//! Coded blocks of fingerprints, as they lie in files and tables.

use classics::blocks::{CODEBOOK_BYTES, Codebook, Decoder, encode};

/// Reads a codebook and a block: an error, or ascending fingerprints that survive coding and
/// decoding.
pub fn blocks(bytes: &[u8]) {
    let Some((book, block)) = bytes.split_first_chunk::<CODEBOOK_BYTES>() else {
        return;
    };
    let book =
        Codebook::from_bytes(book).unwrap_or_else(|_| Codebook::for_count(u64::from(book[0])));
    let Ok(decoder) = Decoder::new(&book, block) else {
        return;
    };
    let Ok(fingerprints) = decoder.collect::<Result<Vec<u64>, _>>() else {
        return;
    };
    assert!(fingerprints.is_sorted());
    let (again, count) = encode(&book, &fingerprints, usize::MAX);
    assert_eq!(count, fingerprints.len());
    let decoded: Result<Vec<u64>, _> = Decoder::new(&book, &again)
        .expect("ours begins as a block")
        .collect();
    assert_eq!(decoded.as_ref(), Ok(&fingerprints));
}
