//! Pages that are gone or moved between two crawls, for `crawler changes`.

use std::collections::{HashMap, HashSet};

use journal::StoreFault;
use messages::{CommandError, SlowProgress};
use web::UrlKey;

use crate::captures::{Journals, Side, State};

/// The pages of two crawls that moved or are gone.
pub(crate) struct Moves {
    /// The journals of both crawls.
    pub(crate) journals: Journals,
    /// The old URL of each moved page, by its new URL.
    pub(crate) moved: HashMap<UrlKey, UrlKey>,
    /// Spelling of these old URLs, by key.
    pub(crate) moved_from: HashMap<UrlKey, String>,
    /// Pages of the earlier crawl that the later one does not have.
    pub(crate) gone: HashSet<UrlKey>,
}

impl Moves {
    /// Compares the two crawls whose journals these are.
    pub(crate) fn of(journals: Journals) -> Result<Self, CommandError> {
        let mut moves = Self {
            journals,
            moved: HashMap::new(),
            moved_from: HashMap::new(),
            gone: HashSet::new(),
        };
        moves.match_moved();
        moves.name_moved()?;
        Ok(moves)
    }

    /// Finds pages that are gone, and pairs them with new pages that have their bytes or their
    /// text.
    fn match_moved(&mut self) {
        let journals = &self.journals;
        let is_page = |side, url| journals.state(side, url).is_some_and(State::is_page);
        let mut progress = SlowProgress::new("pages searched under other URLs");
        let (mut by_content, mut by_text) = (HashMap::new(), HashMap::new());
        let gone = journals.pages(Side::Old).into_iter();
        for url in gone.filter(|url| !is_page(Side::New, *url)) {
            self.gone.insert(url);
            progress.step();
            let identity = journals.identity(Side::Old, url);
            if let Some(body) = identity.body {
                by_content.entry(body.content).or_insert(url);
            }
            if let Some(text) = identity.text {
                by_text.entry(text).or_insert(url);
            }
        }
        if self.gone.is_empty() {
            return;
        }
        let mut taken = HashSet::new();
        let new = journals.pages(Side::New).into_iter();
        for url in new.filter(|url| !is_page(Side::Old, *url)) {
            progress.step();
            let identity = journals.identity(Side::New, url);
            let same_bytes = identity.body.and_then(|body| by_content.get(&body.content));
            let same_text = || identity.text.and_then(|text| by_text.get(&text));
            let from = same_bytes.or_else(same_text);
            if let Some(from) = from.filter(|from| taken.insert(**from)) {
                self.moved.insert(url, *from);
            }
        }
        self.gone.retain(|url| !taken.contains(url));
    }

    /// Looks up the old URLs of moved pages: so far only their keys are known.
    fn name_moved(&mut self) -> Result<(), StoreFault> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let wanted: HashSet<UrlKey> = self.moved.values().copied().collect();
        for visit in journal::visits(&self.journals.state_directory(Side::Old))? {
            let url = visit?.url;
            if wanted.contains(&url.key()) {
                self.moved_from.insert(url.key(), url.to_string());
            }
        }
        Ok(())
    }
}
