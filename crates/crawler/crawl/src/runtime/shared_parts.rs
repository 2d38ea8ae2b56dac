//! Scripts, styles and fonts of rendered pages: requested once, and answered from then on from
//! memory or from the archive.
//!
//! Invariant: a part leaves memory only once the archive has it. If the archive cannot be read, the
//! part is requested again.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hashbrown::HashMap;
use http::HeaderMap;
use sinks::warc::{self, WarcReader};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use web::{CanonicalForm, Exchange, UrlKey};

/// Maximum number of bytes of parts in memory, apart from parts that are not archived yet.
const HELD: usize = 32 << 20;

/// Maximum number of parts. Further parts are requested for each page.
const MAX_PARTS: usize = 1 << 16;

/// Maximum number of bytes of a part.
pub(crate) const MAX_PART: usize = 20 << 20;

/// A response to a request of a page's scripts, without content coding.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Part {
    /// Returns the part of a page that a response has; `None` if it is larger than `most` bytes.
    pub(crate) fn of(exchange: &Exchange, most: u64) -> Option<Self> {
        let decoded = web::decode(&exchange.headers, &exchange.body, most);
        (!decoded.truncated).then(|| Self {
            status: exchange.status,
            headers: exchange.headers.clone(),
            body: decoded.bytes,
        })
    }

    /// Returns true if other pages may get the part. An overloaded server may send it later.
    pub(crate) const fn is_lasting(&self) -> bool {
        self.status < 500 && self.status != 429
    }
}

/// The parts of all pages so far.
#[derive(Debug, Default)]
pub(crate) struct SharedParts {
    /// The directory of the archive.
    archive: PathBuf,
    table: Mutex<PartTable>,
}

#[derive(Debug, Default)]
struct PartTable {
    slots: HashMap<UrlKey, Arc<AsyncMutex<Slot>>>,
    /// The parts in memory, in the order of their arrival.
    held: VecDeque<UrlKey>,
    bytes: usize,
}

/// The place of a part in the archive.
#[derive(Debug)]
pub(crate) struct PartPlace {
    file: PathBuf,
    offset: u64,
}

/// A slot for a part. While it is locked, the part is being requested.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// The part, if it is in memory.
    pub(crate) part: Option<Part>,
    /// The archive file and the offset of its record.
    place: Option<(String, u64)>,
}

impl SharedParts {
    pub(crate) fn new(archive: PathBuf) -> Self {
        Self {
            archive,
            table: Mutex::default(),
        }
    }

    /// Locks the slot of a URL, so that one page requests the part and others wait; `None` if there
    /// are too many parts.
    pub(crate) async fn lock(&self, url: UrlKey) -> Option<OwnedMutexGuard<Slot>> {
        let slot = {
            let slots = &mut self.table().slots;
            match slots.get(&url) {
                Some(slot) => Arc::clone(slot),
                None if slots.len() >= MAX_PARTS => return None,
                None => Arc::clone(slots.entry(url).or_default()),
            }
        };
        Some(slot.lock_owned().await)
    }

    /// Returns the place of the part in a slot, if the archive has it.
    pub(crate) fn place(&self, slot: &Slot) -> Option<PartPlace> {
        let (file, offset) = slot.place.as_ref()?;
        Some(PartPlace {
            file: warc::locate(&self.archive, file),
            offset: *offset,
        })
    }

    /// Keeps a part in its slot. Drops the oldest archived parts if there is too much in memory.
    pub(crate) fn keep(&self, url: UrlKey, slot: &mut Slot, part: Part) {
        let mut table = self.table();
        table.bytes += part.body.len();
        table.held.push_back(url);
        slot.part = Some(part);
        for _ in 0..table.held.len() {
            if table.bytes <= HELD {
                return;
            }
            table.drop_oldest();
        }
    }

    /// Notes the place of a part in the archive, unless it has one.
    pub(crate) async fn archived(&self, url: UrlKey, file: &str, offset: u64) {
        let slot = self.table().slots.get(&url).cloned();
        if let Some(slot) = slot {
            let mut slot = slot.lock().await;
            // Other pages do not get a part that was not kept.
            if slot.part.is_some() {
                slot.place.get_or_insert_with(|| (file.to_owned(), offset));
            }
        }
    }

    /// Forgets a part that was not archived with the page that requested it.
    pub(crate) async fn forget(&self, url: UrlKey) {
        let slot = self.table().slots.get(&url).cloned();
        if let Some(slot) = slot {
            let mut slot = slot.lock().await;
            if slot.place.is_none()
                && let Some(part) = slot.part.take()
            {
                let mut table = self.table();
                table.bytes -= part.body.len();
                table.held.retain(|held| *held != url);
            }
        }
    }

    fn table(&self) -> MutexGuard<'_, PartTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartTable {
    /// Drops the oldest part from memory, unless it is in use or not archived yet.
    fn drop_oldest(&mut self) {
        let Some(url) = self.held.pop_front() else {
            return;
        };
        let slot = self.slots.get(&url).cloned();
        if let Some(mut slot) = slot.as_ref().and_then(|slot| slot.try_lock().ok())
            && slot.place.is_some()
        {
            self.bytes -= slot.part.take().map_or(0, |part| part.body.len());
        } else {
            self.held.push_back(url);
        }
    }
}

impl PartPlace {
    /// Reads the part from the archive; returns `None` if it cannot be read.
    pub(crate) fn read(&self, form: &CanonicalForm) -> Option<Part> {
        let read = WarcReader::open_at(&self.file, self.offset)
            .and_then(|mut reader| reader.next_record(MAX_PART));
        match read {
            Ok(record) => Part::of(&record?.response(form)?, MAX_PART as u64),
            Err(error) => {
                tracing::warn!(%error, "a part of pages cannot be read: it is requested again");
                None
            }
        }
    }
}
