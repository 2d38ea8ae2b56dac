//! Reads an index: queries and statistics.
//!
//! A finder sees the last commit before it was opened, even if the crawl continues.

use std::path::{Path, PathBuf};

use sinks::ArchiveEnd;
use tantivy::collector::{Collector, Count};
use tantivy::query::EnableScoring;
use tantivy::schema::Value;
use tantivy::{DocAddress, Executor, Searcher, TantivyDocument};
use web::Timestamp;

use crate::best_hits::BestHits;
use crate::columns::{Columns, RecordLocation};
use crate::commit_payload::CommitPayload;
use crate::fault::IndexFault;
use crate::fields::Fields;
use crate::plan::plan;
use crate::query::clause::Query;
use crate::writer::{guarded, open, searcher_of};

/// Maximum number of hits of a search, including skipped hits: all are held in memory.
pub const MAX_HITS: usize = 100_000;

/// Finds pages.
pub struct Finder {
    directory: PathBuf,
    fields: Fields,
    searcher: Searcher,
    /// Columns of each segment.
    columns: Vec<Columns>,
    threads: Executor,
    covered: CommitPayload,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// URL, as in the record.
    pub url: String,
    /// Title.
    pub title: Option<String>,
    /// Primary subtag of the language.
    pub language: Option<String>,
    /// Time of the fetch.
    pub at: Timestamp,
    /// Relevance: BM25 of title and text; higher is better.
    pub score: f32,
    /// Position of the record.
    pub location: RecordLocation,
}

impl Finder {
    /// Opens the index in `directory`; another process may write to it at the same time.
    ///
    /// # Errors
    /// [`IndexFault::Missing`] if the index does not exist, [`IndexFault::OtherFormat`] if another
    /// version wrote it, [`IndexFault::Damaged`] if it is damaged, [`IndexFault::Io`] if it cannot
    /// be read.
    pub fn open(directory: &Path) -> Result<Self, IndexFault> {
        let (fields, index, covered) = open(directory)?;
        guarded(directory, || {
            let searcher = searcher_of(&index)?;
            let segments = searcher.segment_readers().iter();
            Ok(Self {
                directory: directory.to_owned(),
                fields,
                columns: segments.map(Columns::of).collect::<tantivy::Result<_>>()?,
                searcher,
                threads: Executor::single_thread(),
                covered,
            })
        })
    }

    /// Searches segments with `threads` threads in parallel.
    ///
    /// # Errors
    /// [`IndexFault::Damaged`] if the system cannot start more threads.
    pub fn with_threads(self, threads: usize) -> Result<Self, IndexFault> {
        let directory = self.directory.clone();
        guarded(&directory, || {
            let threads = match threads.min(self.segments()) {
                0 | 1 => Executor::single_thread(),
                several => Executor::multi_thread(several, "search-")?,
            };
            Ok(Self { threads, ..self })
        })
    }

    /// Returns the end of the part of the archive that the index covers.
    #[must_use]
    pub fn covered(&self) -> Option<&ArchiveEnd> {
        self.covered.end.as_ref()
    }

    /// Returns the rules that selected the pages.
    #[must_use]
    pub fn rules(&self) -> &str {
        &self.covered.rules
    }

    /// Returns the number of pages in the index.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Returns the number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.searcher.segment_readers().len()
    }

    /// Returns the best hits after the first `offset`, best first; of equal scores, the page that
    /// was fetched first. Skipped and returned hits together are at most [`MAX_HITS`], and returned
    /// hits at most `limit`.
    ///
    /// # Errors
    /// [`IndexFault::Damaged`] if the index is damaged, [`IndexFault::Io`] if it cannot be read.
    pub fn search(
        &self,
        query: &Query,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<Hit>, IndexFault> {
        let limit = limit.min(MAX_HITS.saturating_sub(offset));
        if limit == 0 {
            return Ok(Vec::new());
        }
        guarded(&self.directory, || {
            let best = BestHits {
                limit: offset + limit,
                columns: &self.columns,
            };
            let found = self.run(query, &best)?;
            let found = found.into_iter().skip(offset);
            found
                .map(|(score, address)| self.hit(score, address))
                .collect()
        })
    }

    /// Returns the number of pages that match.
    ///
    /// # Errors
    /// [`IndexFault::Damaged`] if the index is damaged, [`IndexFault::Io`] if it cannot be read.
    pub fn count(&self, query: &Query) -> Result<usize, IndexFault> {
        guarded(&self.directory, || self.run(query, &Count))
    }

    fn run<C: Collector>(&self, query: &Query, collector: &C) -> tantivy::Result<C::Fruit> {
        let scoring = match collector.requires_scoring() {
            true => EnableScoring::enabled_from_searcher(&self.searcher),
            false => EnableScoring::disabled_from_searcher(&self.searcher),
        };
        let query = plan(query, &self.fields);
        self.searcher
            .search_with_executor(&*query, collector, &self.threads, scoring)
    }

    fn hit(&self, score: f32, address: DocAddress) -> tantivy::Result<Hit> {
        let columns = &self.columns[address.segment_ord as usize];
        let page: TantivyDocument = self.searcher.doc(address)?;
        let text = |field| {
            let value = page.get_first(field);
            value.and_then(|value| value.as_str()).map(str::to_owned)
        };
        Ok(Hit {
            url: text(self.fields.url).unwrap_or_default(),
            title: text(self.fields.title),
            language: text(self.fields.language),
            at: columns.date(address.doc_id)?,
            score,
            location: columns.location(address.doc_id)?,
        })
    }

    /// Calls `each` with the location of every page in the index, in arbitrary order.
    ///
    /// # Errors
    /// [`IndexFault::Damaged`] if the index is damaged, [`IndexFault::Io`] if it cannot be read.
    pub fn locations(&self, mut each: impl FnMut(RecordLocation)) -> Result<(), IndexFault> {
        guarded(&self.directory, || {
            let segments = self.searcher.segment_readers().iter();
            for (segment, columns) in segments.zip(&self.columns) {
                for page in segment.doc_ids_alive() {
                    each(columns.location(page)?);
                }
            }
            Ok(())
        })
    }

    /// Returns the files of the index whose checksums do not match.
    ///
    /// # Errors
    /// [`IndexFault::Damaged`] if the index is damaged, [`IndexFault::Io`] if it cannot be read.
    pub fn damaged_files(&self) -> Result<Vec<PathBuf>, IndexFault> {
        guarded(&self.directory, || {
            let mut damaged = Vec::from_iter(self.searcher.index().validate_checksum()?);
            damaged.sort();
            Ok(damaged)
        })
    }
}
