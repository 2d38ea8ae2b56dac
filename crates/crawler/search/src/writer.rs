//! Writes an index, page by page, in bounded memory.
//!
//! tantivy's writer has threads and a queue of 10,000 documents of any size. Here its segments are
//! filled directly ([`crate::fillers`]), so memory stays within the option and an error is returned
//! by the next call at the latest; tantivy's writer only commits, merges and removes segments.
//!
//! Invariant: after a commit the index contains every selected page of the archive up to
//! [`CommitPayload::end`], once, and no page after it. A page that was added later appears with the
//! next commit, or never.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use sinks::ArchiveEnd;
use tantivy::collector::Count;
use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::query::{AllQuery, BooleanQuery, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, SegmentMeta,
    TantivyError, Term,
};

use crate::commit_payload::{CommitPayload, file_order};
use crate::fault::IndexFault;
use crate::fields::{Fields, IndexPage};
use crate::fillers::{BudgetedPage, Fillers};
use crate::merging::Tiers;

/// Options of an index.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// Its directory.
    pub directory: PathBuf,
    /// Maximum bytes of the segments in memory; at least [`MIN_MEMORY`](crate::MIN_MEMORY). At
    /// least half of it is available to pages, regardless of the size of an empty segment.
    pub memory: u64,
    /// Maximum number of segments that are filled at a time, each in its own thread. They share
    /// `memory`, so it is also at most `memory` / [`MIN_MEMORY`](crate::MIN_MEMORY).
    pub segments: NonZeroUsize,
    /// Selection of pages and texts, as one word: an index with another selection is not used.
    pub rules: String,
}

/// Memory of tantivy's writer: the minimum, since it never gets a page.
const IDLE: usize = 15_000_000;

/// An index, open for writing.
pub struct Writer {
    directory: PathBuf,
    fields: Fields,
    index: Index,
    writer: IndexWriter,
    fillers: Fillers,
    covered: CommitPayload,
}

impl Writer {
    /// Creates an index.
    ///
    /// # Errors
    /// [`IndexFault::Io`]; [`IndexFault::Damaged`] if an index exists already.
    pub fn create(options: &IndexOptions) -> Result<Self, IndexFault> {
        writing(&options.directory, || {
            std::fs::create_dir_all(&options.directory)?;
            let (fields, schema) = Fields::schema();
            let settings = IndexSettings {
                // A page has some hundred bytes in the document store: a dedicated thread would
                // cost more than it saves.
                docstore_compress_dedicated_thread: false,
                ..IndexSettings::default()
            };
            let index = Index::builder()
                .schema(schema)
                .settings(settings)
                .tokenizers(Fields::tokenizers())
                .create_in_dir(&options.directory)?;
            let covered = CommitPayload {
                rules: options.rules.clone(),
                end: None,
            };
            // Without a commit the index does not exist yet: the next opening starts over.
            Self::over(options, fields, index, covered)
        })
    }

    /// Opens an index and deletes the pages after `settled`, which the archive no longer contains:
    /// all pages if nothing is settled.
    ///
    /// # Errors
    /// [`IndexFault::Missing`] if the index does not exist; [`IndexFault::Damaged`] if it has other
    /// rules or is damaged; [`IndexFault::OtherFormat`], [`IndexFault::InUse`], [`IndexFault::Io`].
    pub fn open(options: &IndexOptions, settled: Option<&ArchiveEnd>) -> Result<Self, IndexFault> {
        let (fields, index, covered) = open(&options.directory).map_err(IndexFault::unless_full)?;
        if covered.rules != options.rules {
            let (theirs, ours) = (&covered.rules, &options.rules);
            return Err(IndexFault::Damaged {
                directory: options.directory.clone(),
                reason: format!("it was made with different rules: {theirs}, not {ours}"),
            });
        }
        writing(&options.directory, || {
            let mut writer = Self::over(options, fields, index, covered)?;
            writer.cut(settled)?;
            Ok(writer)
        })
    }

    fn over(
        options: &IndexOptions,
        fields: Fields,
        index: Index,
        covered: CommitPayload,
    ) -> tantivy::Result<Self> {
        let idle = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(IDLE)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = index.writer_with_options(idle)?;
        writer.set_merge_policy(Box::new(Tiers));
        Ok(Self {
            directory: options.directory.clone(),
            fields,
            fillers: Fillers::new(&index, fields, options.memory, options.segments),
            index,
            writer,
            covered,
        })
    }

    /// Returns the end of the part of the archive that the index covers.
    #[must_use]
    pub fn covered(&self) -> Option<&ArchiveEnd> {
        self.covered.end.as_ref()
    }

    /// Adds a page.
    ///
    /// # Errors
    /// [`IndexFault::Io`] if the disk is too full for a segment; [`IndexFault::Damaged`] if tantivy
    /// fails. The cause may be an earlier page. The pages since the last commit are then lost.
    pub fn add(&mut self, page: IndexPage) -> Result<(), IndexFault> {
        self.add_budgeted((page, None))
    }

    /// Adds a page, and releases its budget when the page is in a segment.
    pub(crate) fn add_budgeted(&mut self, page: BudgetedPage) -> Result<(), IndexFault> {
        let directory = self.directory.clone();
        writing(&directory, || self.add_now(page))
    }

    /// Makes the added pages durable and visible to readers: the index then covers the archive up
    /// to `end`, and no further.
    ///
    /// # Errors
    /// As for [`Writer::add`].
    pub fn commit(&mut self, end: Option<ArchiveEnd>) -> Result<(), IndexFault> {
        let directory = self.directory.clone();
        writing(&directory, || self.commit_now(end))
    }

    /// Makes the last commit and leaves further merges to the next opening.
    ///
    /// # Errors
    /// As for [`Writer::add`].
    pub fn close(mut self, end: Option<ArchiveEnd>) -> Result<(), IndexFault> {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        self.commit(end)
    }

    fn add_now(&mut self, page: BudgetedPage) -> tantivy::Result<()> {
        let written = self.fillers.add(page)?;
        self.append(written)
    }

    /// Appends segments to the index: the next commit makes them visible.
    fn append(&self, segments: Vec<SegmentMeta>) -> tantivy::Result<()> {
        let mut segments = segments.into_iter();
        segments.try_for_each(|segment| self.writer.add_segment(segment))
    }

    fn commit_now(&mut self, end: Option<ArchiveEnd>) -> tantivy::Result<()> {
        let written = self.fillers.flush()?;
        self.append(written)?;
        self.covered.end = end;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&self.covered.write());
        commit.commit()?;
        Ok(())
    }

    /// Deletes the pages that the archive no longer contains, and pages after the last commit's
    /// end.
    fn cut(&mut self, settled: Option<&ArchiveEnd>) -> tantivy::Result<()> {
        let end = match (settled, &self.covered.end) {
            (Some(settled), Some(covered)) => {
                let ends = [settled, covered].into_iter();
                let first = ends.min_by_key(|end| (file_order(&end.file), end.end));
                first.cloned()
            }
            _ => None,
        };
        let searcher = searcher_of(&self.index)?;
        let behind = self.behind(&searcher, end.as_ref())?;
        if end == self.covered.end && searcher.search(&*behind, &Count)? == 0 {
            return Ok(());
        }
        self.writer.delete_query(behind)?;
        self.commit_now(end)
    }

    /// Returns a query for the pages after `end`.
    fn behind(
        &self,
        searcher: &Searcher,
        end: Option<&ArchiveEnd>,
    ) -> tantivy::Result<Box<dyn Query>> {
        let Some(ArchiveEnd { file, end }) = end else {
            return Ok(Box::new(AllQuery));
        };
        let Fields {
            file: files,
            offset,
            ..
        } = self.fields;
        let of_file = |name: &str| -> Box<dyn Query> {
            let term = Term::from_field_text(files, name);
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        };
        let from = Bound::Included(Term::from_field_u64(offset, *end));
        let rest: Box<dyn Query> = Box::new(RangeQuery::new(from, Bound::Unbounded));
        let in_file = BooleanQuery::intersection(vec![of_file(file), rest]);
        let mut behind: Vec<Box<dyn Query>> = vec![Box::new(in_file)];
        for segment in searcher.segment_readers() {
            let names = segment.inverted_index(files)?;
            let mut names = names.terms().stream()?;
            while names.advance() {
                let name = String::from_utf8_lossy(names.key());
                if file_order(file) < file_order(&name) {
                    behind.push(of_file(&name));
                }
            }
        }
        Ok(Box::new(BooleanQuery::union(behind)))
    }
}

/// Opens an index of this version for reading or writing.
pub(crate) fn open(directory: &Path) -> Result<(Fields, Index, CommitPayload), IndexFault> {
    if !exists(directory) {
        return Err(IndexFault::Missing {
            directory: directory.to_owned(),
        });
    }
    let opened = guarded(directory, || {
        let mut index = Index::open(MmapDirectory::open(directory)?)?;
        index.set_tokenizers(Fields::tokenizers());
        let (fields, schema) = Fields::schema();
        let metas = index.load_metas()?;
        // A kill can leave an index without a commit; it contains no pages.
        if metas.payload.is_none() && metas.segments.is_empty() {
            let directory = directory.to_owned();
            return Ok(Err(IndexFault::Missing { directory }));
        }
        let payload = metas.payload.unwrap_or_default();
        if CommitPayload::is_of_other_format(&payload) {
            let directory = directory.to_owned();
            return Ok(Err(IndexFault::OtherFormat { directory }));
        }
        let covered = CommitPayload::read(&payload).filter(|_| index.schema() == schema);
        let Some(covered) = covered else {
            let reason = format!("it has different fields, or its commit contains {payload:?}");
            return Err(TantivyError::SchemaError(reason));
        };
        Ok(Ok((fields, index, covered)))
    });
    opened?
}

/// Returns true if the directory has an index, damaged or not.
#[must_use]
pub fn exists(directory: &Path) -> bool {
    directory.join("meta.json").exists()
}

/// Returns a searcher of the last commit.
pub(crate) fn searcher_of(index: &Index) -> tantivy::Result<Searcher> {
    let builder = index.reader_builder();
    let reader: IndexReader = builder.reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok(reader.searcher())
}

/// Runs `work`, which writes; does not report a full disk as damage.
fn writing<T>(
    directory: &Path,
    work: impl FnOnce() -> tantivy::Result<T>,
) -> Result<T, IndexFault> {
    guarded(directory, work).map_err(IndexFault::unless_full)
}

/// Runs `work` and turns panics of tantivy into faults.
pub(crate) fn guarded<T>(
    directory: &Path,
    work: impl FnOnce() -> tantivy::Result<T>,
) -> Result<T, IndexFault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(IndexFault::of(directory, &error)),
        Err(panic) => Err(IndexFault::of_panic(directory, &*panic)),
    }
}
