//! The texts of documents that are a file each: their ids are its path, so they are read again to
//! be compared block by block, as a crawl compares pages with its archive.
//!
//! Invariant: a text counts only if its file still contains the bytes that the signature was made
//! from.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use batch::dedup::{DocumentTexts, NamedDocument, TextVerdict};
use comparison::{ComparedPage, Frames, Outcome, decide};
use lru::LruCache;

use crate::documents::only_document;
use crate::input_options::InputOptions;
use crate::names::is_read_once;
use crate::reader::Reader;

/// Texts that stay in memory, in bytes.
const TEXTS: usize = 32 << 20;
/// Texts in all, however short they are.
const MAX_TEXTS: NonZeroUsize = NonZeroUsize::new(1 << 14).unwrap();

/// The texts of documents that are a file each.
#[derive(Debug)]
pub struct FileTexts {
    reader: Reader,
    options: InputOptions,
    texts: Mutex<Texts>,
}

/// The most recently used texts, by payload; `None` for a document without a text.
#[derive(Debug)]
struct Texts {
    by_payload: LruCache<u128, Option<Arc<ComparedPage>>>,
    bytes: usize,
}

impl FileTexts {
    /// Creates a source of texts that reads files as these documents were read.
    #[must_use]
    pub fn new(reader: Reader, options: InputOptions) -> Self {
        let by_payload = LruCache::new(MAX_TEXTS);
        Self {
            reader,
            options,
            texts: Mutex::new(Texts {
                by_payload,
                bytes: 0,
            }),
        }
    }

    fn text(&self, document: NamedDocument<'_>) -> Option<Arc<ComparedPage>> {
        let lock = || self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().by_payload.get(&document.payload) {
            return known.clone();
        }
        let text = self.read(document).map(Arc::new);
        lock().insert(document.payload, text.clone());
        text
    }

    fn read(&self, document: NamedDocument<'_>) -> Option<ComparedPage> {
        let path = Path::new(document.id);
        let is_file = !is_read_once(path) && path.metadata().is_ok_and(|data| data.is_file());
        if !is_file {
            return None;
        }
        let found = only_document(path, &self.options).ok()?;
        if found.content.is_partial() || found.content.digest() != document.payload {
            return None;
        }
        self.reader.compared(&self.reader.read(&found.content))
    }
}

impl Texts {
    /// Adds a text, and removes the least recently used texts if they exceed the memory.
    fn insert(&mut self, payload: u128, text: Option<Arc<ComparedPage>>) {
        let bytes = |text: &Option<Arc<ComparedPage>>| text.as_ref().map_or(0, |text| text.bytes());
        self.bytes += bytes(&text);
        if let Some((_, replaced)) = self.by_payload.push(payload, text) {
            self.bytes -= bytes(&replaced);
        }
        while self.bytes > TEXTS
            && let Some((_, oldest)) = self.by_payload.pop_lru()
        {
            self.bytes -= bytes(&oldest);
        }
    }
}

impl DocumentTexts for FileTexts {
    fn compare(
        &self,
        document: NamedDocument<'_>,
        earlier: NamedDocument<'_>,
    ) -> Option<TextVerdict> {
        let (ours, theirs) = (self.text(document)?, self.text(earlier)?);
        match decide(&ours, &theirs, Frames::default(), false).outcome {
            Outcome::Repeat | Outcome::View => Some(TextVerdict::Repeats),
            Outcome::ViewOfPage => Some(TextVerdict::Contains),
            Outcome::Distinct => Some(TextVerdict::Distinct),
            Outcome::Undecided => None,
        }
    }
}
