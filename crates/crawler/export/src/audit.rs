//! The tables of an audit: what a site's owner should look at, page by page and link by link.
//!
//! An [`AuditWriter`] writes all tables at the same time, as sheets of a workbook or as one file
//! per table.

use std::io::Write;

use crate::export_info::ExportInfo;
use crate::fault::ExportFault;
use crate::link::BROKEN_LINKS;
use crate::table::{Column, Kind, Table, Value};
use crate::workbook::Workbook;
use crate::writer::{Form, TableWriter};

/// A table of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditTable {
    /// [`AUDIT_PAGES`].
    Pages,
    /// [`AUDIT_REDIRECTS`].
    Redirects,
    /// [`BROKEN_LINKS`].
    Broken,
    /// [`AUDIT_TITLES`].
    Titles,
    /// [`AUDIT_CANONICALS`].
    Canonicals,
    /// [`AUDIT_TRANSLATIONS`].
    Translations,
    /// [`AUDIT_ORPHANS`].
    Orphans,
    /// [`AUDIT_SITEMAP`].
    Sitemap,
}

/// Number of tables.
const TABLES: usize = 8;

impl AuditTable {
    /// All tables, in the order of the sheets.
    pub const ALL: [Self; TABLES] = [
        Self::Pages,
        Self::Redirects,
        Self::Broken,
        Self::Titles,
        Self::Canonicals,
        Self::Translations,
        Self::Orphans,
        Self::Sitemap,
    ];

    /// Returns the name of its sheet, and of its file without the ending.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Redirects => "redirects",
            Self::Broken => "broken",
            Self::Titles => "titles",
            Self::Canonicals => "canonicals",
            Self::Translations => "hreflang",
            Self::Orphans => "orphans",
            Self::Sitemap => "sitemap",
        }
    }

    /// Returns its columns.
    #[must_use]
    pub const fn table(self) -> Table {
        match self {
            Self::Pages => AUDIT_PAGES,
            Self::Redirects => AUDIT_REDIRECTS,
            Self::Broken => BROKEN_LINKS,
            Self::Titles => AUDIT_TITLES,
            Self::Canonicals => AUDIT_CANONICALS,
            Self::Translations => AUDIT_TRANSLATIONS,
            Self::Orphans => AUDIT_ORPHANS,
            Self::Sitemap => AUDIT_SITEMAP,
        }
    }
}

/// One record per visited page, in the order of the visits.
pub const AUDIT_PAGES: Table = Table {
    schema: "audit-pages/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::maybe("requested_url", Kind::Text),
        Column::maybe("status", Kind::U16),
        Column::always("verdict", Kind::Text),
        Column::always("indexable", Kind::Bool),
        Column::maybe("not_indexable_because", Kind::Text),
        Column::maybe("title", Kind::Text),
        Column::maybe("title_length", Kind::U32),
        Column::maybe("description", Kind::Text),
        Column::maybe("description_length", Kind::U32),
        Column::maybe("h1", Kind::Text),
        Column::maybe("h1_count", Kind::U32),
        Column::maybe("robots", Kind::Text),
        Column::maybe("canonical_kind", Kind::Text),
        Column::maybe("canonical", Kind::Text),
        Column::maybe("language", Kind::Text),
        Column::maybe("words", Kind::U32),
        Column::always("depth", Kind::U32),
        Column::always("inlinks", Kind::U32),
        Column::maybe("outlinks", Kind::U32),
        Column::maybe("in_sitemap", Kind::Bool),
        Column::maybe("duplicate_of", Kind::Text),
        Column::always("bytes", Kind::U64),
        Column::maybe("duration_ms", Kind::U64),
        Column::maybe("reason", Kind::Text),
    ],
};

/// One record per URL that redirects, in the order of the visits.
pub const AUDIT_REDIRECTS: Table = Table {
    schema: "audit-redirects/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("status", Kind::U16),
        Column::always("target", Kind::Text),
        Column::maybe("target_status", Kind::U16),
        Column::always("redirects", Kind::U32),
        Column::always("is_loop", Kind::Bool),
        Column::maybe("final_url", Kind::Text),
        Column::maybe("final_status", Kind::U16),
        Column::always("inlinks", Kind::U32),
    ],
};

/// The pages whose title or description another page has, too; group by group.
pub const AUDIT_TITLES: Table = Table {
    schema: "audit-titles/1",
    columns: &[
        Column::always("field", Kind::Text),
        Column::always("text", Kind::Text),
        Column::always("pages", Kind::U32),
        Column::always("url", Kind::Text),
        Column::always("indexable", Kind::Bool),
    ],
};

/// The pages that name another page as their canonical page.
pub const AUDIT_CANONICALS: Table = Table {
    schema: "audit-canonicals/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("canonical", Kind::Text),
        Column::always("canonical_kind", Kind::Text),
        Column::maybe("canonical_status", Kind::U16),
    ],
};

/// One record per translation that a page names.
pub const AUDIT_TRANSLATIONS: Table = Table {
    schema: "audit-hreflang/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("hreflang", Kind::Text),
        Column::always("translation", Kind::Text),
        Column::maybe("translation_status", Kind::U16),
        Column::maybe("issue", Kind::Text),
    ],
};

/// The pages that a sitemap lists, and that no page links to.
pub const AUDIT_ORPHANS: Table = Table {
    schema: "audit-orphans/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::always("sitemap", Kind::Text),
        Column::maybe("status", Kind::U16),
    ],
};

/// The differences between the sitemaps and the pages of the crawl.
pub const AUDIT_SITEMAP: Table = Table {
    schema: "audit-sitemap/1",
    columns: &[
        Column::always("url", Kind::Text),
        Column::maybe("sitemap", Kind::Text),
        Column::always("issue", Kind::Text),
        Column::maybe("status", Kind::U16),
    ],
};

/// Writes the tables of an audit.
pub struct AuditWriter<W: Write + Send> {
    form: Writing<W>,
    records: [u64; TABLES],
}

enum Writing<W: Write + Send> {
    Tables(Vec<TableWriter<W>>),
    Workbook(Box<Workbook>, W),
}

impl<W: Write + Send> AuditWriter<W> {
    /// Begins a workbook.
    ///
    /// # Errors
    /// [`ExportFault`] if its temporary files cannot be written.
    pub fn workbook(out: W) -> Result<Self, ExportFault> {
        let tables = AuditTable::ALL.map(|table| (table.name(), table.table()));
        let workbook = Box::new(Workbook::begin(&tables)?);
        Ok(Self {
            form: Writing::Workbook(workbook, out),
            records: [0; TABLES],
        })
    }

    /// Begins a file for each table, in the order of [`AuditTable::ALL`].
    ///
    /// # Errors
    /// [`ExportFault`] if the beginning of a table cannot be written.
    pub fn tables(
        form: Form,
        about: &ExportInfo,
        outs: impl IntoIterator<Item = W>,
    ) -> Result<Self, ExportFault> {
        let tables = AuditTable::ALL.into_iter().zip(outs);
        let writers =
            tables.map(|(table, out)| TableWriter::begin(form, table.table(), about, out));
        Ok(Self {
            form: Writing::Tables(writers.collect::<Result<_, _>>()?),
            records: [0; TABLES],
        })
    }

    /// Writes a record of a table.
    ///
    /// # Errors
    /// [`ExportFault`] if the output cannot be written.
    pub fn write(
        &mut self,
        table: AuditTable,
        fields: &[Option<Value<'_>>],
    ) -> Result<(), ExportFault> {
        let number = table as usize;
        self.records[number] += 1;
        match &mut self.form {
            Writing::Tables(writers) => writers[number].write(fields),
            Writing::Workbook(workbook, _) => workbook.write(number, fields),
        }
    }

    /// Returns the number of records of a table so far.
    #[must_use]
    pub fn records(&self, table: AuditTable) -> u64 {
        self.records[table as usize]
    }

    /// Ends the tables.
    ///
    /// # Errors
    /// [`ExportFault`] if their end cannot be written.
    pub fn finish(self) -> Result<(), ExportFault> {
        match self.form {
            Writing::Tables(writers) => {
                for writer in writers {
                    writer.finish()?;
                }
                Ok(())
            }
            Writing::Workbook(workbook, mut out) => {
                workbook.finish(&mut out)?;
                Ok(out.flush()?)
            }
        }
    }
}
