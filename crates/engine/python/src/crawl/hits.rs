//! Hits of a search in the index of a crawl. Snippets are cut as the hits are taken.

use std::path::Path;
use std::vec;

use corpus::PageArchive;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use search::{Finder, Hit, IndexFault, MAX_HITS, Query, Snippets};

use super::table::date_time;
use crate::errors::{invalid, system, with_causes};

/// An iterator over the hits of a search.
#[pyclass(module = "neardup._neardup")]
pub(crate) struct Hits {
    query: Query,
    found: vec::IntoIter<Hit>,
    /// The archive, if snippets are wanted.
    archive: Option<PageArchive>,
}

impl Hits {
    /// Searches the index of the crawl in `directory`.
    ///
    /// # Errors
    /// `ValueError` for a query or numbers that are not possible, `FileNotFoundError` without an
    /// index, and `OSError` for an index that cannot be read.
    pub(super) fn find(
        py: Python<'_>,
        directory: &Path,
        query: &str,
        limit: usize,
        offset: usize,
        archive: Option<PageArchive>,
    ) -> PyResult<Self> {
        let query = Query::parse(query)
            .map_err(|error| invalid(format!("{error}: {}", error.reason.remedy())))?;
        if limit.saturating_add(offset) > MAX_HITS {
            return Err(invalid(format!(
                "limit and offset together must be at most {MAX_HITS}, got {limit} and {offset}"
            )));
        }
        let index = directory.join("search");
        let found = py.detach(|| Finder::open(&index)?.search(&query, limit, offset));
        let found = match found {
            // A crawl commits its index about once a minute.
            Err(IndexFault::Missing { .. }) if search::exists(&index) => Vec::new(),
            Err(fault) => return Err(exception(&fault, directory)),
            Ok(found) => found,
        };
        Ok(Self {
            query,
            found: found.into_iter(),
            archive,
        })
    }
}

#[pymethods]
impl Hits {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(hit) = self.found.next() else {
            return Ok(None);
        };
        let shown = PyDict::new(py);
        shown.set_item("url", &hit.url)?;
        shown.set_item("title", &hit.title)?;
        shown.set_item("score", hit.score)?;
        shown.set_item("date", date_time(py, hit.at)?)?;
        shown.set_item("language", &hit.language)?;
        if let Some(archive) = &self.archive {
            let place = &hit.location;
            let text = py.detach(|| archive.indexed_text_at(&place.file, place.offset));
            let cut = Snippets::of(&self.query).cut(&text.unwrap_or_default());
            shown.set_item("snippet", &cut.text)?;
            let ranges = cut.highlights().into_iter();
            let ranges: Vec<_> = ranges.map(|range| (range.start, range.end)).collect();
            shown.set_item("highlights", ranges)?;
        }
        shown.set_item("warc_file", &hit.location.file)?;
        shown.set_item("warc_offset", hit.location.offset)?;
        Ok(Some(shown))
    }
}

fn exception(fault: &IndexFault, directory: &Path) -> PyErr {
    let remedy = format!(
        "build it from the archive with `crawler reindex {}`",
        directory.display()
    );
    match fault {
        IndexFault::Missing { .. } => PyFileNotFoundError::new_err(format!("{fault}: {remedy}")),
        IndexFault::OtherFormat { .. } | IndexFault::Damaged { .. } => {
            pyo3::exceptions::PyOSError::new_err(format!("{}: {remedy}", with_causes(fault)))
        }
        IndexFault::InUse { .. } | IndexFault::Io { .. } => system(fault),
    }
}
