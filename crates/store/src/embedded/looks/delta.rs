//! What was heard since the last fold.

use std::collections::BTreeMap;
use std::sync::Arc;

use web::UrlKey;

use super::super::cards::Card;
use super::mirror::Mirror;
use crate::known::RetainedEntry;

/// Changes that the tables on disk do not have yet.
///
/// Invariant: nothing is both added and removed. What is removed need not be on disk: a fold that
/// was cut short may have put it there.
#[derive(Clone, Debug, Default)]
pub(super) struct Delta {
    pub(super) added: BTreeMap<u32, Arc<Card>>,
    pub(super) removed: BTreeMap<u32, Arc<Card>>,
    /// Pages that were let through, or none where that was taken back.
    pub(super) seats: BTreeMap<UrlKey, Option<RetainedEntry>>,
    /// The keys of what was added, where the tables in memory do not have them.
    pub(super) recent: Option<Mirror>,
}

impl Delta {
    pub(super) fn new(has_keys: bool) -> Self {
        Self {
            recent: has_keys.then(Mirror::default),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, document: u32, card: Arc<Card>) {
        if let Some(recent) = &mut self.recent {
            recent.insert(document, &card);
        }
        self.added.insert(document, card);
    }

    pub(super) fn remove(&mut self, document: u32, card: Arc<Card>) {
        if self.added.remove(&document).is_some()
            && let Some(recent) = &mut self.recent
        {
            recent.remove(document, &card);
        }
        self.removed.insert(document, card);
    }

    /// Puts what happened later behind this.
    pub(super) fn append(&mut self, later: Self) {
        for (document, card) in later.added {
            self.add(document, card);
        }
        for (document, card) in later.removed {
            self.remove(document, card);
        }
        self.seats.extend(later.seats);
    }

    /// Bytes held, about, beside its keys.
    pub(super) fn memory(&self) -> usize {
        (self.added.len() + self.removed.len()) * super::CARD_BYTES
            + self.seats.len() * size_of::<(UrlKey, Option<RetainedEntry>)>()
    }
}
