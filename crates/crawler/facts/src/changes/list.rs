//! A part of the changes between two crawls, for programs and agents.

use std::collections::BTreeMap;
use std::path::Path;

use messages::{CommandError, fault, usage};
use serde_json::Value;

use super::{Change, ChangeKind, Changes};

/// Maximum size of a change, in bytes; a larger one is listed without the words that changed.
const MAX_CHANGE: usize = 4 << 10;

/// A part of the list of changes.
#[derive(Debug)]
pub struct ChangeList {
    /// The number of pages of each kind.
    pub counts: BTreeMap<&'static str, u64>,
    /// The number of entries of the whole list.
    pub total: usize,
    /// Entries as `crawler changes --format json` prints them; large ones lack `added` and
    /// `removed`.
    pub listed: Vec<Value>,
}

impl ChangeList {
    /// Compares two crawls, and lists at most `most` changes from the one with this number on:
    /// those of a kind, or all except unchanged pages.
    ///
    /// # Errors
    /// [`CommandError`] if `kind` is none, or one of the crawls cannot be read.
    pub fn between(
        old: &Path,
        new: &Path,
        kind: Option<&str>,
        from: usize,
        most: usize,
    ) -> Result<Self, CommandError> {
        let wanted = kind.map(ChangeKind::parse).transpose()?;
        let mut list = Self {
            counts: BTreeMap::new(),
            total: 0,
            listed: Vec::new(),
        };
        let mut changes = Changes::between(old, new, false)?;
        let given = changes.each(|change| list.add(change, wanted, from, most));
        given??;
        Ok(list)
    }

    fn add(
        &mut self,
        change: &Change<'_>,
        wanted: Option<ChangeKind>,
        from: usize,
        most: usize,
    ) -> Result<(), CommandError> {
        *self.counts.entry(change.kind.as_str()).or_default() += 1;
        let is_wanted = match wanted {
            Some(wanted) => change.kind == wanted,
            None => change.kind != ChangeKind::Unchanged,
        };
        if is_wanted {
            self.total += 1;
            if self.total > from && self.listed.len() < most {
                self.listed.push(entry(change)?);
            }
        }
        Ok(())
    }
}

impl ChangeKind {
    /// Reads the word of a kind.
    fn parse(word: &str) -> Result<Self, CommandError> {
        let kind = Self::ALL.into_iter().find(|kind| kind.as_str() == word);
        kind.ok_or_else(|| {
            let kinds = Self::ALL.map(Self::as_str).join(", ");
            let unknown = usage(format!("{word:?} is no kind of change"));
            unknown.with_remedy(format!("the kinds are {kinds}"))
        })
    }
}

/// Returns a change as it is printed, without its words if it is too large.
fn entry(change: &Change<'_>) -> Result<Value, CommandError> {
    // Through text: `to_value` would widen the digits of a resemblance.
    let printed = serde_json::to_string(change).map_err(|error| fault(&error))?;
    let mut entry: Value = serde_json::from_str(&printed).map_err(|error| fault(&error))?;
    if printed.len() > MAX_CHANGE
        && let Some(fields) = entry.as_object_mut()
    {
        fields.remove("added");
        fields.remove("removed");
        let reason = format!("the words that changed exceed {MAX_CHANGE} bytes");
        fields.insert("reason".to_owned(), reason.into());
    }
    Ok(entry)
}
