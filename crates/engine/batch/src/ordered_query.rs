//! Queries with sorted matches: the REDUCE of the paper.
//!
//! (Manku, Jain and Das Sarma, WWW 2007, section 4: each shard of the repository is searched for
//! all queries (MAP), and the results make one sorted file without duplicates (REDUCE).) Matches
//! are sorted by their position in the repository and then by the number of the query, outside
//! memory if need be. No pair is found twice, and shards are ranges of positions, so that the
//! results of the shards, concatenated in the order of the shards, are exactly the results of one
//! run.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::MIN_MEMORY;
use crate::control::Control;
use crate::error::BatchError;
use crate::fields::take;
use crate::fingerprint_file::{FingerprintFile, positions};
use crate::query::{QueryMatch, index, read_all};
use crate::repository::Repository;
use crate::scratch::Scratch;
use crate::shard::Shard;
use crate::sorter::Sorter;

/// The options of a query.
#[derive(Clone, Debug)]
pub struct QueryOptions {
    /// Maximum distance of a match, 0 to [`neardup::tables::MAX_DISTANCE`].
    pub distance: u32,
    /// The part of the repository that is searched.
    pub shard: Shard,
    /// The approximate memory budget for matches in bytes, without the index of the queries. At
    /// least [`MIN_MEMORY`] are used.
    pub memory: usize,
    /// The number of threads that search.
    pub workers: NonZeroUsize,
    /// The directory for matches that exceed the memory, in files without names.
    pub scratch: PathBuf,
}

/// The summary of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuerySummary {
    /// The number of queries.
    pub queries: u64,
    /// The number of fingerprints searched.
    pub searched: u64,
    /// The number of matches handed over.
    pub matches: u64,
}

/// The size of a match that is sorted: position, query and distance.
const RECORD: usize = 8 + 4 + 1;

/// Passes every match of `queries` in a shard of `repository` to `visit`, each pair once, in the
/// order of the repository, and for one position in the order of the queries.
///
/// # Errors
/// The errors of `visit` as they are; [`BatchError::OtherParameters`] for fingerprints that cannot
/// be compared, and [`BatchError`] for a damaged file, a scratch directory that cannot be used, too
/// many queries or too great a distance.
pub fn ordered_query<E: From<BatchError>>(
    queries: &FingerprintFile,
    repository: &Repository,
    options: &QueryOptions,
    control: Control<'_>,
    mut visit: impl FnMut(QueryMatch) -> Result<(), E>,
) -> Result<QuerySummary, E> {
    let scratch = Scratch::new(&options.scratch);
    let mut sorter = Sorter::new(&scratch, options.memory.max(MIN_MEMORY));
    let (mut matches, workers) = (0, options.workers);
    let take = |found| {
        matches += 1;
        sorter.push(encoded(found))
    };
    let searched = match repository {
        Repository::File(file) => {
            let indexed = index::<BatchError>(queries, file, options.distance, control)?;
            indexed.run_shard(file, options.shard, workers, control, take)?
        }
        Repository::Index(index) => {
            let asked = read_all(queries, index.parameters_digest(), index.path(), control)?;
            let positions = positions(options.shard, index.len());
            index.search(&asked, options.distance, &positions, workers, control, take)?;
            positions.end - positions.start
        }
    };
    sorter.visit_in_order(matches, control, |record| visit(decoded(record)))?;
    Ok(QuerySummary {
        queries: queries.len(),
        searched,
        matches,
    })
}

/// A match with the id of the fingerprint in the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupedMatch {
    /// The match.
    pub found: QueryMatch,
    /// The id; `None` if the repository lacks ids.
    pub id: Option<u64>,
}

/// The size of a match that is sorted by its query: query, distance, position, a flag and an id.
const GROUPED: usize = 4 + 1 + 8 + 1 + 8;

/// Passes every match of `queries` in a shard of `repository` to `visit`, each pair once, in the
/// order of the queries, and for one query the nearest first, equally near ones in the order of the
/// repository.
///
/// # Errors
/// The errors of [`ordered_query`].
pub fn grouped_query<E: From<BatchError>>(
    queries: &FingerprintFile,
    repository: &Repository,
    options: &QueryOptions,
    control: Control<'_>,
    mut visit: impl FnMut(GroupedMatch) -> Result<(), E>,
) -> Result<QuerySummary, E> {
    let scratch = Scratch::new(&options.scratch);
    let half = QueryOptions {
        memory: options.memory / 2,
        ..options.clone()
    };
    let mut sorter = Sorter::<GROUPED>::new(&scratch, half.memory.max(MIN_MEMORY));
    // Ids are read fastest in the order of the repository.
    let mut ids = repository.ids()?;
    let summary = ordered_query::<E>(queries, repository, &half, control, |found| {
        let id = ids.id(found.position)?;
        let mut record = [0; GROUPED];
        record[..4].copy_from_slice(&found.query.to_be_bytes());
        record[4] = found.distance as u8;
        record[5..13].copy_from_slice(&found.position.to_be_bytes());
        record[13] = id.is_some().into();
        record[14..].copy_from_slice(&id.unwrap_or_default().to_be_bytes());
        Ok(sorter.push(record)?)
    })?;
    sorter.visit_in_order(summary.matches, control, |record| {
        let mut rest = &record[..];
        let query = u32::from_be_bytes(take(&mut rest));
        let [distance] = take(&mut rest);
        let position = u64::from_be_bytes(take(&mut rest));
        let [has_id] = take(&mut rest);
        let id = u64::from_be_bytes(take(&mut rest));
        visit(GroupedMatch {
            found: QueryMatch {
                query,
                position,
                distance: distance.into(),
            },
            id: (has_id == 1).then_some(id),
        })
    })?;
    Ok(summary)
}

/// Returns a record whose bytes are in the order of the matches: its numbers are big-endian.
fn encoded(found: QueryMatch) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&found.position.to_be_bytes());
    record[8..12].copy_from_slice(&found.query.to_be_bytes());
    record[12] = found.distance as u8;
    record
}

fn decoded(record: &[u8; RECORD]) -> QueryMatch {
    let mut rest = &record[..];
    QueryMatch {
        position: u64::from_be_bytes(take(&mut rest)),
        query: u32::from_be_bytes(take(&mut rest)),
        distance: u32::from(record[12]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_are_in_the_order_of_positions_and_then_of_queries(
            one: (u64, u32),
            two: (u64, u32),
            distance in 0_u32..8,
        ) {
            let found = |(position, query)| QueryMatch { query, position, distance };
            let (a, b) = (encoded(found(one)), encoded(found(two)));
            prop_assert_eq!(a.cmp(&b), one.cmp(&two));
            prop_assert_eq!(decoded(&a), found(one));
        }
    }
}
