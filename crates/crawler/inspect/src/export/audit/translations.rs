//! Translations that pages name (`hreflang`), which should name each other.

use std::io::Write;

use export::{AUDIT_TRANSLATIONS, AuditTable, AuditWriter, ExportFault, Value};
use web::PageUrl;

use super::known_urls::{Indexability, KnownUrls};
use super::page_entry::PageEntry;

/// The links between translations. Memory: 8 bytes per link.
#[derive(Default)]
pub(super) struct Translations {
    /// Keys of pairs of a page and its translation, sorted when all are there.
    links: Vec<u64>,
}

impl Translations {
    /// Adds the translations of a page.
    pub(super) fn add(&mut self, page: &PageEntry) {
        for (_, url) in translations(page) {
            self.links.push(pair_key(page.url(), url));
        }
    }

    /// Ends adding.
    pub(super) fn sort(&mut self) {
        self.links.sort_unstable();
    }

    /// Writes the translations of a page.
    pub(super) fn write<W: Write + Send>(
        &self,
        page: &PageEntry,
        urls: &KnownUrls,
        out: &mut AuditWriter<W>,
    ) -> Result<(), ExportFault> {
        for (language, url) in translations(page) {
            let status = urls.get(url).and_then(|known| known.status());
            let fields: [Option<Value<'_>>; AUDIT_TRANSLATIONS.columns.len()] = [
                Some(Value::Text(page.url().as_str())),
                Some(Value::Text(language)),
                Some(Value::Text(url.as_str())),
                status.map(|status| Value::Number(status.into())),
                self.issue(page, url, urls).map(Value::Text),
            ];
            out.write(AuditTable::Translations, &fields)?;
        }
        Ok(())
    }

    /// Returns the defect of a translation.
    fn issue(&self, page: &PageEntry, url: &PageUrl, urls: &KnownUrls) -> Option<&'static str> {
        if page.is_at(url) {
            return None;
        }
        let Some(known) = urls.get(url) else {
            return Some("not visited");
        };
        let returns = |to| self.links.binary_search(&pair_key(url, to)).is_ok();
        match known.indexability {
            Indexability::Indexable if !known.is_read => None,
            Indexability::Indexable if returns(page.url()) || returns(&page.visit.url) => None,
            Indexability::Indexable => Some("no return link"),
            other => other.obstacle(),
        }
    }
}

fn translations(page: &PageEntry) -> &[(String, PageUrl)] {
    page.content
        .as_ref()
        .map_or(&[], |content| &content.translations)
}

/// Returns the key of a link, which differs from the key of its return link.
fn pair_key(from: &PageUrl, to: &PageUrl) -> u64 {
    from.key().as_u64().rotate_left(1) ^ to.key().as_u64()
}
