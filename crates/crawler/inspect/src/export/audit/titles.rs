//! Titles and descriptions that several pages have.

use std::io::Write;

use export::{AUDIT_TITLES, AuditTable, AuditWriter, ExportFault, Value};
use web::UrlKey;

use super::entry_log::EntryLog;
use super::known_urls::KnownUrls;
use super::page_entry::PageEntry;

/// The texts of one field, by the pages that have them. Memory: 16 bytes per page.
pub(super) struct SharedTexts {
    field: Field,
    /// The key of the text and the number of the page.
    pages: Vec<(UrlKey, usize)>,
}

/// A field whose texts should differ between pages.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Title,
    Description,
}

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Description => "description",
        }
    }

    fn of(self, page: &PageEntry) -> Option<&str> {
        match self {
            Self::Title => page.visit.title.as_deref(),
            Self::Description => page.content.as_ref()?.description.as_deref(),
        }
    }
}

impl SharedTexts {
    pub(super) const fn of(field: Field) -> Self {
        Self {
            field,
            pages: Vec::new(),
        }
    }

    /// Adds the page with this number.
    pub(super) fn add(&mut self, page: &PageEntry, number: usize) {
        if let Some(text) = self.field.of(page) {
            self.pages.push((UrlKey::of_name(text), number));
        }
    }

    /// Writes the pages whose text another page has, too. Groups are in the order of their first
    /// pages.
    pub(super) fn write<W: Write + Send>(
        mut self,
        pages: &EntryLog<PageEntry>,
        urls: &KnownUrls,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        self.pages.sort_unstable();
        let groups = self.pages.chunk_by(|(one, _), (other, _)| one == other);
        let mut groups: Vec<_> = groups.filter(|group| group.len() > 1).collect();
        groups.sort_unstable_by_key(|group| group[0].1);
        for group in groups {
            for (_, number) in group {
                let page = pages.read(*number)?;
                let url = urls.get(page.url());
                let is_indexable = url.is_some_and(|url| url.indexability.obstacle().is_none());
                let fields: [Option<Value<'_>>; AUDIT_TITLES.columns.len()] = [
                    Some(Value::Text(self.field.name())),
                    self.field.of(&page).map(Value::Text),
                    Some(Value::Number(group.len() as u64)),
                    Some(Value::Text(page.url().as_str())),
                    Some(Value::Bool(is_indexable)),
                ];
                out.write(AuditTable::Titles, &fields)?;
            }
        }
        Ok(())
    }
}
