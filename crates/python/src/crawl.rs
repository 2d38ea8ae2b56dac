//! A crawl for Python: its visits, texts and links as tables ([`table`]), and its search index
//! ([`hits`]).
//!
//! Pages are read again from the archive, by the code and with the settings of the commands.

mod columns;
mod hits;
mod rows;
pub(crate) mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use corpus::PageArchive;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use reading::ReadingSettings;
use store::EmbeddedStore;

use self::hits::Hits;
use self::rows::Contents;
use self::table::CrawlTable;
use crate::arrow_stream::ArrowData;
use crate::errors::{invalid, system};
use crate::parallel;

/// A directory that `crawler` made. It may be read while the crawl runs; the rows then lack later
/// visits.
///
/// Arguments:
///     directory: The directory of the crawl (``crawler --out``).
///
/// Raises FileNotFoundError if the directory does not contain a crawl.
#[pyclass(frozen, module = "neardup")]
pub(crate) struct Crawl {
    directory: PathBuf,
    state: PathBuf,
}

#[pymethods]
impl Crawl {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        let state = directory.join("state");
        if !EmbeddedStore::exists(&state) {
            return Err(PyFileNotFoundError::new_err(format!(
                "no crawl in {}: give the directory that was given to crawler --out",
                directory.display()
            )));
        }
        Ok(Self { directory, state })
    }

    /// Returns the visited URLs, one per row, ordered by the end of each visit, with the columns of
    /// ``crawler export --format parquet``.
    ///
    /// Raises OSError if the journal cannot be opened.
    fn pages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, CrawlTable>> {
        self.table(py, Contents::Pages, None)
    }

    /// Returns the texts of the kept pages, one per row, with the columns of ``crawler export
    /// --text``: ``url``, ``title``, ``text``, ``language``, ``fetched_at`` and others.
    ///
    /// Arguments:
    ///     markdown: Markdown instead of plain text.
    ///     duplicates: Texts of archived duplicates, too.
    ///     threads: The number of threads; one per core unless given.
    ///
    /// Raises OSError if the journal cannot be opened. A page that cannot be read from the archive
    /// is named in a RuntimeWarning at the end.
    #[pyo3(signature = (*, markdown=false, duplicates=false, threads=None))]
    fn texts<'py>(
        &self,
        py: Python<'py>,
        markdown: bool,
        duplicates: bool,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, CrawlTable>> {
        let texts = Contents::Texts {
            markdown,
            duplicates,
        };
        self.table(py, texts, threads)
    }

    /// Returns the links of the kept pages, one per row, with the columns of ``crawler export
    /// --links``: ``source``, ``target``, ``anchor``, ``rel`` and ``kind``.
    ///
    /// Arguments:
    ///     threads: The number of threads; one per core unless given.
    ///
    /// Raises OSError if the journal cannot be opened. A page that cannot be read from the archive
    /// is named in a RuntimeWarning at the end.
    #[pyo3(signature = (*, threads=None))]
    fn links<'py>(
        &self,
        py: Python<'py>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, CrawlTable>> {
        self.table(py, Contents::Links, threads)
    }

    /// Returns an iterator over the pages that a query finds, best first: dictionaries with the
    /// fields of ``crawler search --format json``.
    ///
    /// Arguments:
    ///     query: Words that all occur; ``"a phrase"``, ``-without``, ``this OR that``, ``title:``,
    ///         ``text:``, ``url:``, ``host:``, ``lang:``, ``after:`` and ``before:``.
    ///     limit: The maximum number of hits.
    ///     offset: The number of hits that are skipped.
    ///     snippets: Show the words in their context, which is read from the archive.
    ///
    /// Raises ValueError for a query that is not possible, FileNotFoundError if the crawl lacks a
    /// search index, OSError if the index cannot be read.
    #[pyo3(signature = (query, *, limit=10, offset=0, snippets=true))]
    fn search(
        &self,
        py: Python<'_>,
        query: &str,
        limit: usize,
        offset: usize,
        snippets: bool,
    ) -> PyResult<Hits> {
        let archive = match snippets {
            true => Some(self.archive()?),
            false => None,
        };
        Hits::find(py, &self.directory, query, limit, offset, archive)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (PathBuf,)) {
        (py.get_type::<Self>(), (self.directory.clone(),))
    }

    fn __repr__(&self) -> String {
        format!("Crawl({:?})", self.directory.display().to_string())
    }
}

impl Crawl {
    fn table<'py>(
        &self,
        py: Python<'py>,
        contents: Contents,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, CrawlTable>> {
        let archive = match contents {
            Contents::Pages => None,
            Contents::Texts { .. } | Contents::Links => Some(self.archive()?),
        };
        let threads = parallel::threads(threads);
        let table = CrawlTable::of(self.state.clone(), contents, archive, threads)?;
        Bound::new(py, PyClassInitializer::from(ArrowData).add_subclass(table))
    }

    /// Returns the archive, with the rules that its pages were read with. A crawl without a
    /// settings file was made by `crawler rebuild`, with the defaults.
    fn archive(&self) -> PyResult<PageArchive> {
        let path = self.directory.join("crawler.toml");
        let in_file = |error: &dyn std::fmt::Display| {
            let error = error.to_string();
            invalid(format!("{}: {}", path.display(), error.trim_end()))
        };
        let settings = match std::fs::read_to_string(&path) {
            Ok(file) => ReadingSettings::parse(&file).map_err(|error| in_file(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                ReadingSettings::default()
            }
            Err(error) => return Err(system(&error)),
        };
        Ok(PageArchive {
            directory: self.directory.join("archive"),
            rules: settings.rules().map_err(|error| in_file(&error))?,
        })
    }
}
