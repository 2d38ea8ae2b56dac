//! All near pairs of a file, sorted.
//!
//! [`self_join()`](crate::self_join()) finds pairs table by table; this function sorts them by
//! their first and then by their second position, outside memory if need be.

use neardup::tables::Pair;

use crate::control::Control;
use crate::error::BatchError;
use crate::fields::take;
use crate::fingerprint_file::FingerprintFile;
use crate::scratch::Scratch;
use crate::self_join::{JoinOptions, JoinSummary, self_join};
use crate::sorter::Sorter;

/// The size of a pair that is sorted: two positions and the distance.
const RECORD: usize = 4 + 4 + 1;

/// Passes every pair of fingerprints in `file` within the distance to `visit`, each once, in the
/// order of the first and then of the second position. Half of the memory is for sorting.
///
/// # Errors
/// The errors of [`self_join()`](crate::self_join()).
pub fn ordered_pairs<E: From<BatchError>>(
    file: &FingerprintFile,
    options: &JoinOptions,
    control: Control<'_>,
    mut visit: impl FnMut(Pair) -> Result<(), E>,
) -> Result<JoinSummary, E> {
    let scratch = Scratch::new(&options.scratch);
    let mut sorter = Sorter::new(&scratch, options.memory / 2);
    let join = JoinOptions {
        memory: options.memory / 2,
        ..options.clone()
    };
    let mut joined = self_join::<E>(file, &join, control, |pair| Ok(sorter.push(encoded(pair))?))?;
    sorter.visit_in_order(joined.pairs, control, |record| visit(decoded(record)))?;
    joined.spilled += scratch.written();
    Ok(joined)
}

/// Returns a record whose bytes are in the order of the pairs: its numbers are big-endian.
fn encoded(pair: Pair) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..4].copy_from_slice(&pair.first.to_be_bytes());
    record[4..8].copy_from_slice(&pair.second.to_be_bytes());
    record[8] = pair.distance as u8;
    record
}

fn decoded(record: &[u8; RECORD]) -> Pair {
    let mut rest = &record[..];
    Pair {
        first: u32::from_be_bytes(take(&mut rest)),
        second: u32::from_be_bytes(take(&mut rest)),
        distance: u32::from(record[8]),
    }
}
