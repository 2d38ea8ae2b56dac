//! The metadata of an export.

use parquet::file::metadata::KeyValue;

use crate::table::Table;

/// Metadata of an export, written where the form has a place for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportInfo {
    /// The version of this program.
    pub version: &'static str,
    /// The version of the algorithms of fingerprints and sketches; only equal versions are
    /// comparable.
    pub algorithm: u16,
    /// True if everything is hashed under the zero key. Another key is a secret and is not written.
    pub zero_key: bool,
    /// Options that change the records, with their values: an export that is continued has the
    /// same.
    pub options: Vec<(&'static str, String)>,
}

impl ExportInfo {
    pub(crate) fn notes(&self, table: Table) -> Vec<KeyValue> {
        let key = if self.zero_key { "zero" } else { "secret" };
        let notes = [
            ("crawler.schema", table.schema.to_owned()),
            ("crawler.version", self.version.to_owned()),
            ("crawler.algorithm", self.algorithm.to_string()),
            ("crawler.hash_key", key.to_owned()),
        ];
        let options = self.options.iter();
        let options = options.map(|(name, value)| (*name, value.clone()));
        notes
            .into_iter()
            .chain(options)
            .map(|(name, value)| KeyValue::new(name.to_owned(), value))
            .collect()
    }
}
