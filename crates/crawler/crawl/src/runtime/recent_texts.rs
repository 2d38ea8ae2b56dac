//! The texts of the pages that were compared last: reading a page again from the archive costs a
//! millisecond or more, and a site's pages are compared with the same few pages.
//!
//! Invariant: the counted bytes of the texts never exceed the given maximum.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use comparison::ComparedPage;
use lru::LruCache;
use neardup::TextSignature;
use web::{PageUrl, Timestamp, UrlKey};

/// Texts in all, however short they are.
const MAX_TEXTS: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// A page with its text, as it is compared with others.
#[derive(Debug)]
pub(crate) struct ComparedText {
    pub(crate) text: ComparedPage,
    pub(crate) url: PageUrl,
    /// The time of the visit.
    pub(crate) at: Timestamp,
    pub(crate) canonical: Option<PageUrl>,
    /// The language of its text.
    pub(crate) language: Option<String>,
    /// The name of its bytes.
    pub(crate) payload: u128,
    pub(crate) signature: Option<Box<TextSignature>>,
}

/// The pages that were compared last.
#[derive(Debug)]
pub(crate) struct RecentTexts {
    max_bytes: usize,
    texts: Mutex<Texts>,
}

#[derive(Debug)]
struct Texts {
    by_url: LruCache<UrlKey, Arc<ComparedText>>,
    bytes: usize,
}

impl RecentTexts {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let by_url = LruCache::new(MAX_TEXTS);
        Self {
            max_bytes,
            texts: Mutex::new(Texts { by_url, bytes: 0 }),
        }
    }

    /// Returns the text of a page, if it is there.
    pub(crate) fn get(&self, url: UrlKey) -> Option<Arc<ComparedText>> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.by_url.get(&url).map(Arc::clone)
    }

    /// Adds a text and drops the least recently used texts if there are too many.
    pub(crate) fn insert(&self, text: Arc<ComparedText>) {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        texts.bytes += text.text.bytes();
        if let Some((_, replaced)) = texts.by_url.push(text.url.key(), text) {
            texts.bytes -= replaced.text.bytes();
        }
        while texts.bytes > self.max_bytes
            && let Some((_, oldest)) = texts.by_url.pop_lru()
        {
            texts.bytes -= oldest.text.bytes();
        }
    }
}
