//! The documents of all shards of a corpus, in reading order.

use std::collections::BTreeMap;

use super::{Extent, Numbered, SignatureFile, SignatureReader};
use crate::dedup::Document;
use crate::error::BatchError;

/// An iterator over the documents of all shards of a run, in the reading order of a single run
/// without shards, so that the decisions are the same.
#[derive(Debug)]
pub struct MergedShards {
    /// The next document of each shard that has one, with its shard, by its number.
    heads: BTreeMap<u64, (Document, usize)>,
    readers: Vec<SignatureReader>,
    totals: Vec<Option<u64>>,
    /// The number of the next document.
    next: u64,
    has_failed: bool,
}

impl MergedShards {
    /// Opens the shards, in any order; one file of all documents is a merge as well.
    ///
    /// # Errors
    /// [`BatchError::OtherSignatures`] for files that are not comparable, [`BatchError::Shards`] if
    /// these are not all shards of one corpus, each once, and the errors of reading.
    pub fn open(files: &[SignatureFile]) -> Result<Self, BatchError> {
        let Some(first) = files.first() else {
            return Err(BatchError::Shards("there is none".to_owned()));
        };
        let mut found = Vec::new();
        for file in files {
            file.header().check_equal(file.path(), first.header())?;
            match file.header().extent {
                Extent::Shard(shard) => found.push((shard.of(), shard.number())),
                Extent::All => found.push((1, 1)),
                Extent::Originals => {
                    return Err(BatchError::Shards(format!(
                        "{} is an index of originals",
                        file.path().display()
                    )));
                }
            }
        }
        found.sort_unstable();
        let count = found.len() as u32;
        if !found
            .iter()
            .copied()
            .eq((1..=count).map(|number| (count, number)))
        {
            let shown: Vec<String> = found.iter().map(|(of, at)| format!("{at}/{of}")).collect();
            return Err(BatchError::Shards(format!("got {}", shown.join(", "))));
        }
        let readers = files.iter().map(SignatureFile::read);
        let mut merged = Self {
            heads: BTreeMap::new(),
            readers: readers.collect::<Result<_, _>>()?,
            totals: vec![None; files.len()],
            next: 0,
            has_failed: false,
        };
        for shard in 0..files.len() {
            merged.advance(shard)?;
        }
        Ok(merged)
    }

    /// Reads the next document of a shard.
    fn advance(&mut self, shard: usize) -> Result<(), BatchError> {
        let reader = &mut self.readers[shard];
        let Some(numbered) = reader.next() else {
            self.totals[shard] = reader.total();
            return Ok(());
        };
        let Numbered { number, document } = numbered?;
        match self.heads.insert(number, (document, shard)) {
            None => Ok(()),
            Some(_) => Err(BatchError::Shards(format!(
                "two of them have document {number}"
            ))),
        }
    }

    fn next_document(&mut self) -> Result<Option<Document>, BatchError> {
        match self.heads.pop_first() {
            Some((number, (document, shard))) if number == self.next => {
                self.next += 1;
                self.advance(shard)?;
                Ok(Some(document))
            }
            None if self.totals.iter().all(|total| *total == Some(self.next)) => Ok(None),
            _ => Err(BatchError::Shards(format!(
                "document {} is missing: they were made from different documents",
                self.next
            ))),
        }
    }
}

impl Iterator for MergedShards {
    type Item = Result<Document, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = self.next_document();
        self.has_failed = next.is_err();
        next.transpose()
    }
}
