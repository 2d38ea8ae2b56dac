//! A crawl for Python: its visits, texts and links as tables ([`table`]), and its search index
//! ([`hits`]), and what its journal says ([`questions`]).
//!
//! Pages are read again from the archive, by the code and with the settings of the commands.

mod columns;
mod hits;
mod questions;
mod rows;
pub(crate) mod table;

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use corpus::PageArchive;
use export::TextOptions;
use facts::changes::Changes;
use facts::duplicates::{self, Duplicate};
use facts::hosts::PacedHosts;
use facts::patterns::{Pattern, TrapLine, TrapsFound};
use facts::similar::{self, Limits};
use facts::skipped::Unvisited;
use facts::status::Status;
use facts::why::Explanation;
use facts::{ReadableCrawl, pair, verify};
use journal::ReasonKind;
use messages::{CommandError, fault, usage};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use reading::ReadingSettings;
use store::EmbeddedStore;

use self::hits::Hits;
use self::questions::{Abandoned, Answers, answer};
use self::rows::Contents;
use self::table::CrawlTable;
use crate::arrow_stream::ArrowData;
use crate::errors::{invalid, of_command};
use crate::parallel;

/// Opens the crawl in a directory that `crawler` made. It may be read while it runs; later visits
/// are then missing.
///
/// Arguments:
///     directory: The directory of the crawl (``crawler --out``).
///
/// Raises FileNotFoundError if the directory does not contain a crawl.
#[pyfunction]
pub(crate) fn open(directory: PathBuf) -> PyResult<Crawl> {
    let state = directory.join("state");
    if !EmbeddedStore::exists(&state) {
        return Err(PyFileNotFoundError::new_err(format!(
            "no crawl in {}: give the directory that was given to crawler --out",
            directory.display()
        )));
    }
    Ok(Crawl { directory, state })
}

/// A crawl, opened by `neardup.crawl.open`.
#[pyclass(frozen, module = "neardup.crawl")]
pub(crate) struct Crawl {
    directory: PathBuf,
    state: PathBuf,
}

#[pymethods]
impl Crawl {
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
    ///     boilerplate: Keep the lines that begin or end many pages of a host.
    ///     threads: The number of threads; one per core unless given.
    ///
    /// Raises OSError if the journal cannot be opened. A page that cannot be read from the archive
    /// is named in a RuntimeWarning at the end.
    #[pyo3(signature = (*, markdown=false, duplicates=false, boilerplate=false, threads=None))]
    fn texts<'py>(
        &self,
        py: Python<'py>,
        markdown: bool,
        duplicates: bool,
        boilerplate: bool,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Bound<'py, CrawlTable>> {
        let texts = TextOptions {
            markdown,
            duplicates,
            boilerplate,
            ..TextOptions::default()
        };
        self.table(py, Contents::Texts(texts), threads)
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

    /// Returns the counts of the crawl: a dictionary with the fields of ``crawler status --format
    /// json``.
    ///
    /// Raises OSError if the journal cannot be read.
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (directory, state) = (self.directory.clone(), self.state.clone());
        answer(py, move |answering| {
            answering.give(&Status::read(&directory, &state)?).ok();
            Ok(())
        })
    }

    /// Returns an iterator over the pages that repeat others: dictionaries with the fields of
    /// ``crawler duplicates --format json``, in the order of the visits.
    ///
    /// Raises OSError if the journal cannot be read.
    fn duplicates(&self) -> Answers {
        let state = self.state.clone();
        Answers::to(move |answering| {
            for row in journal::visits(&state)? {
                let row = row?;
                let duplicate = Duplicate::of(&row);
                if duplicate.is_some_and(|one| answering.give(&one).is_err()) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Returns an iterator over the clusters of pages with the same content: dictionaries with the
    /// list ``members``, which begins with the original, as in ``crawler duplicates --clusters``.
    ///
    /// Raises OSError if the journal cannot be read.
    fn clusters(&self) -> Answers {
        let state = self.state.clone();
        Answers::to(move |answering| {
            let clusters = duplicates::clusters(&state)?;
            clusters.iter().try_for_each(|one| answering.give(one)).ok();
            Ok(())
        })
    }

    /// Returns an iterator over the URL patterns of the crawl, closed ones first, and then over the
    /// rules that classified links as traps: dictionaries with the fields of ``crawler patterns
    /// --format json``.
    ///
    /// Raises OSError if the journal cannot be read.
    fn patterns(&self) -> Answers {
        let state = self.state.clone();
        Answers::to(move |answering| {
            let found = TrapsFound::read(&state)?;
            let mut reports = found.reports().into_iter();
            let mut rules = found.rules.iter();
            reports
                .try_for_each(|report| answering.give(&Pattern::of(&report)))
                .and_then(|()| {
                    rules.try_for_each(|(trap, rule)| answering.give(&TrapLine { trap, rule }))
                })
                .ok();
            Ok(())
        })
    }

    /// Compares this crawl with an earlier one. Returns an iterator over the pages of both:
    /// dictionaries with the fields of ``crawler changes --format json``. The pages of this crawl
    /// come first, and then the pages that are gone.
    ///
    /// Arguments:
    ///     earlier: The earlier crawl.
    ///     diff: Add all runs of words of each changed text, as ``diff``.
    ///
    /// Raises ValueError if both are the same crawl, or if a settings file is not valid, OSError if
    /// a journal cannot be read.
    #[pyo3(signature = (earlier, *, diff=false))]
    fn changes(&self, earlier: &Self, diff: bool) -> PyResult<Answers> {
        let (old, new) = (earlier.directory.clone(), self.directory.clone());
        // Wrong settings are an error of the call, not of the first answer.
        for directory in [&old, &new] {
            ReadableCrawl::of(directory).map_err(|error| of_command(&error))?;
        }
        Ok(Answers::to(move |answering| {
            let mut changes = Changes::between(&old, &new, diff)?;
            changes.each(|change| answering.give(change))?.ok();
            Ok(())
        }))
    }

    /// Explains which rule of the crawl decided on a URL: a dictionary with the fields of ``crawler
    /// why --format json``.
    ///
    /// Arguments:
    ///     url: Any URL, visited or not.
    ///
    /// Raises ValueError for a text that is not a URL and for settings that are not valid, OSError
    /// if the journal cannot be read.
    fn why<'py>(&self, py: Python<'py>, url: String) -> PyResult<Bound<'py, PyAny>> {
        let directory = self.directory.clone();
        answer(py, move |answering| {
            let explained = Explanation::of(&directory, &url)?;
            answering.give(&explained.answer()).ok();
            Ok(())
        })
    }

    /// Returns an iterator over the URLs that the crawl has seen and not visited: dictionaries with
    /// the fields of ``crawler skipped --format json``. The archived pages are read again for links
    /// that were never queued.
    ///
    /// Arguments:
    ///     why: Only URLs that this kind of rule left out: ``"duplicate-links"``, ``"pattern"``,
    ///         ``"scope"``, ``"limit"``, ``"robots"``, ``"trap"``, ``"page"``, ``"cut"`` or
    ///         ``"other"``.
    ///
    /// Raises ValueError for another kind and for settings that are not valid, OSError if the
    /// journal or, at the end, a page cannot be read.
    #[pyo3(signature = (*, why=None))]
    fn skipped(&self, why: Option<&str>) -> PyResult<Answers> {
        let why: Option<ReasonKind> = why.map(str::parse).transpose().map_err(invalid)?;
        let directory = self.directory.clone();
        Ok(Answers::to(move |answering| {
            let Unvisited { urls, gaps } = Unvisited::read(&directory, why)?;
            let mut is_abandoned = false;
            let given = urls.each(|skipped| {
                if why.is_none_or(|why| why == skipped.kind()) {
                    let given = answering.give(&skipped.line());
                    is_abandoned = given.is_err();
                    return given.map_err(|Abandoned| io::ErrorKind::BrokenPipe.into());
                }
                Ok(())
            });
            match given {
                _ if is_abandoned => Ok(()),
                Err(error) => Err(fault(&error)),
                Ok(()) => gaps.check(),
            }
        }))
    }

    /// Returns an iterator over the kept pages that are similar to a page, nearest first:
    /// dictionaries with the fields of ``crawler similar --format json``.
    ///
    /// Arguments:
    ///     url: A page that the crawl archived.
    ///     distance: The maximum number of differing fingerprint bits; any number unless given.
    ///     resemblance: The minimum resemblance, 0 to 1; unless given, that of the crawl or 0.7.
    ///     limit: The maximum number of pages.
    ///
    /// Raises ValueError for a URL without a page, for values that are not possible and for
    /// settings that are not valid, OSError if the journal cannot be read.
    #[pyo3(signature = (url, *, distance=None, resemblance=None, limit=10))]
    fn similar(
        &self,
        url: String,
        distance: Option<u32>,
        resemblance: Option<f64>,
        limit: usize,
    ) -> PyResult<Answers> {
        if let Some(share) = resemblance
            && !(0.0..=1.0).contains(&share)
        {
            let message = format!("resemblance must be between 0 and 1, got {share}");
            return Err(invalid(message));
        }
        let limits = Limits {
            distance: distance.unwrap_or(u64::BITS),
            resemblance,
            hits: limit,
        };
        let directory = self.directory.clone();
        Ok(Answers::to(move |answering| {
            let hits = similar::to_page(&directory, &url, limits)?;
            hits.iter().try_for_each(|hit| answering.give(hit)).ok();
            Ok(())
        }))
    }

    /// Returns a page that repeats another next to its original: a dictionary with the fields of
    /// ``crawler duplicates --diff URL --format json``.
    ///
    /// Arguments:
    ///     url: The page that repeats another.
    ///
    /// Raises ValueError for a page that is not a duplicate and for settings that are not valid,
    /// OSError if the journal cannot be read.
    fn pair<'py>(&self, py: Python<'py>, url: String) -> PyResult<Bound<'py, PyAny>> {
        let directory = self.directory.clone();
        answer(py, move |answering| {
            let judged = pair::judged(&directory, &url)?;
            answering.give(&judged.answer()).ok();
            Ok(())
        })
    }

    /// Returns an iterator over the hosts of the crawl with their pace, most pages first:
    /// dictionaries with the fields of ``crawler status --hosts --format json``.
    ///
    /// Raises ValueError for settings that are not valid, OSError if the journal cannot be read.
    fn hosts(&self) -> Answers {
        let directory = self.directory.clone();
        Answers::to(move |answering| {
            let hosts = PacedHosts::read(&directory)?;
            let mut lines = hosts.lines().into_iter();
            lines.try_for_each(|line| answering.give(&line)).ok();
            Ok(())
        })
    }

    /// Checks that archive, journal, indexes and tables of the crawl agree. Returns a dictionary
    /// with the fields of ``crawler verify --format json``: ``agrees``, the counts, and
    /// ``findings``.
    ///
    /// Raises ValueError while the crawl runs and for settings that are not valid, OSError if the
    /// journal cannot be read.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let directory = self.directory.clone();
        answer(py, move |answering| {
            answering.give(&verify::check(&directory)?).ok();
            Ok(())
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (PathBuf,))> {
        let open = py.import("neardup.crawl")?.getattr("open")?;
        Ok((open, (self.directory.clone(),)))
    }

    fn __repr__(&self) -> String {
        format!(
            "neardup.crawl.open({:?})",
            self.directory.display().to_string()
        )
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
            Contents::Texts(_) | Contents::Links => Some(self.archive()?),
        };
        let threads = parallel::threads(threads);
        let table = CrawlTable::of(self.state.clone(), contents, archive, threads)?;
        Bound::new(py, PyClassInitializer::from(ArrowData).add_subclass(table))
    }

    /// Returns the archive, with the rules that its pages were read with.
    fn archive(&self) -> PyResult<PageArchive> {
        archive(&self.directory).map_err(|error| of_command(&error))
    }
}

/// Returns the archive of the crawl in a directory, with the rules that its pages were read with. A
/// crawl without a settings file was made by `crawler rebuild`, with the defaults.
fn archive(directory: &Path) -> Result<PageArchive, CommandError> {
    let path = directory.join("crawler.toml");
    let in_file = |error: &dyn std::fmt::Display| {
        usage(format!(
            "{}: {}",
            path.display(),
            error.to_string().trim_end()
        ))
    };
    let settings = match std::fs::read_to_string(&path) {
        Ok(file) => ReadingSettings::parse(&file).map_err(|error| in_file(&error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => ReadingSettings::default(),
        Err(error) => return Err(fault(&error)),
    };
    Ok(PageArchive {
        directory: directory.join("archive"),
        rules: settings.rules().map_err(|error| in_file(&error))?,
    })
}
