//! The pages of two crawls, by the keys of their URLs: some 200 bytes a page of each, and no text.
//!
//! A crawl that was run `--since` or `--against` others did not archive the pages that they had: it
//! shares their captures. The journal of each directory is read once, even if both crawls need it.
//!
//! Payloads are named by their SHA-1, so they can be compared between any two crawls, also those of
//! pages that were left out. The digests of texts are keyed: they are compared only between crawls
//! with the same key that judged pages by the same part.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use neardup::{HashKey, NormalText, PageSignature};
use store::embedded::History;
use store::embedded::record::Record;
use store::{DiscoveredUrl, Fate, VisitRecord};
use web::{Document, Timestamp, UrlKey};

use crate::cli_error::{CliError, usage};
use crate::commands::unreadable;
use crate::crawl_directory;
use crate::progress::SlowProgress;
use crate::read_again::ArchivedPages;
use crate::settings::Settings;

/// A page as a crawl archived it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capture {
    /// The place of its crawl in [`Journals`].
    crawl: usize,
    at: Timestamp,
    body: Option<Body>,
    /// The digest of its text, which is keyed; none where it is no text, or was kept without being
    /// admitted.
    text: Option<u128>,
    file: u32,
    offset: u64,
}

/// The body of a page: its bytes as received, and its content without content codings, which a
/// server may pack differently each time. Old journals have the bytes alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    bytes: u128,
    pub(super) content: u128,
}

impl Body {
    fn of(row: &VisitRecord) -> Option<Self> {
        let bytes = row.payload?;
        let content = row.content().unwrap_or(bytes);
        Some(Self { bytes, content })
    }

    fn is_same(self, other: Self) -> bool {
        self.bytes == other.bytes || self.content == other.content
    }
}

/// The state of a URL in a crawl.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// There was a page with this body.
    Page {
        body: Option<Body>,
        text: TextSource,
    },
    /// It was visited, and there was no page.
    NoPage,
    /// It was reached by the redirect of another URL, and is listed under that one.
    Reached,
    /// It waits to be visited.
    Waiting,
}

/// The place of a page's text.
#[derive(Clone, Copy, Debug)]
pub(super) enum TextSource {
    /// Under its own URL.
    Itself,
    /// Under this URL in the same crawl: it repeats that page.
    Other(UrlKey),
    /// Under this URL in a crawl that this one was run against.
    Earlier(UrlKey),
    /// Nowhere: it was left out as a near-duplicate.
    Nothing,
}

impl State {
    pub(super) const fn is_page(self) -> bool {
        matches!(self, Self::Page { .. })
    }
}

/// The body and the text of a page, by which a moved page is recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) body: Option<Body>,
    pub(super) text: Option<u128>,
}

/// One crawl's journal, read.
struct CrawlJournal {
    directory: PathBuf,
    pages: ArchivedPages,
    key: Option<HashKey>,
    states: HashMap<UrlKey, State>,
    captures: HashMap<UrlKey, Capture>,
    files: Vec<String>,
}

/// The journals of both crawls, and of those that they were run against.
pub(super) struct Journals {
    journals: Vec<CrawlJournal>,
    /// Of the earlier crawl, its own last.
    old: Vec<usize>,
    /// Of the later one.
    new: Vec<usize>,
}

/// One of the two crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
}

impl Journals {
    /// Reads the journals of two crawls.
    pub(super) fn read(old: &Path, new: &Path) -> Result<Self, CliError> {
        let absolute = |directory: &Path| {
            crawl_directory::state_of(directory)?;
            directory.canonicalize().map_err(unreadable(directory))
        };
        let (old, new) = (absolute(old)?, absolute(new)?);
        if old == new {
            return Err(usage(format!("{} is named twice", old.display()))
                .with_remedy("name the directories of two crawls, the earlier one first"));
        }
        let mut journals = Self {
            journals: Vec::new(),
            old: Vec::new(),
            new: Vec::new(),
        };
        let mut progress = SlowProgress::new("journal records read");
        journals.old = journals.chain(&old, &mut progress)?;
        journals.new = journals.chain(&new, &mut progress)?;
        Ok(journals)
    }

    /// Returns the places of a crawl and of all that it was run against, its own last.
    fn chain(
        &mut self,
        directory: &Path,
        progress: &mut SlowProgress,
    ) -> Result<Vec<usize>, CliError> {
        let settings = Settings::of_crawl(directory)?;
        let mut chain = Vec::new();
        // A crawl that ran lists all of them, the oldest first.
        for earlier in &settings.against {
            if !earlier.exists() {
                let (crawl, earlier) = (directory.display(), earlier.display());
                return Err(usage(format!(
                    "{crawl} was run against {earlier}, which is not there"
                ))
                .with_remedy("put it back: what was unchanged is archived there"));
            }
            chain.push(self.place_of(earlier, progress)?);
        }
        chain.push(self.place_of(directory, progress)?);
        Ok(chain)
    }

    fn place_of(
        &mut self,
        directory: &Path,
        progress: &mut SlowProgress,
    ) -> Result<usize, CliError> {
        let mut journals = self.journals.iter();
        if let Some(place) = journals.position(|journal| journal.directory == directory) {
            return Ok(place);
        }
        let journal = CrawlJournal::read(directory, self.journals.len(), progress)?;
        self.journals.push(journal);
        Ok(self.journals.len() - 1)
    }

    fn chain_of(&self, side: Side) -> &[usize] {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    fn own(&self, side: Side) -> &CrawlJournal {
        let place = self.chain_of(side).last();
        &self.journals[*place.expect("a chain ends with its crawl")]
    }

    /// Returns the directory of a crawl's state.
    pub(super) fn state_directory(&self, side: Side) -> PathBuf {
        crawl_directory::state(&self.own(side).directory)
    }

    /// Returns the state of a URL in a crawl; none where that never saw it.
    pub(super) fn state(&self, side: Side, url: UrlKey) -> Option<State> {
        self.own(side).states.get(&url).copied()
    }

    /// Returns the URLs under which a crawl has pages, in a stable order.
    pub(super) fn pages(&self, side: Side) -> Vec<UrlKey> {
        let states = self.own(side).states.iter();
        let mut pages: Vec<UrlKey> = states
            .filter(|(_, state)| state.is_page())
            .map(|(url, _)| *url)
            .collect();
        pages.sort_unstable();
        pages
    }

    /// Returns the capture that has the text of a page; none where no archive has it.
    pub(super) fn capture(&self, side: Side, url: UrlKey) -> Option<Capture> {
        let Some(State::Page { body, text }) = self.state(side, url) else {
            return None;
        };
        match text {
            TextSource::Itself => self.own(side).captures.get(&url).copied(),
            TextSource::Other(of) => self.own(side).captures.get(&of).copied(),
            TextSource::Earlier(of) => self.earlier_capture(side, of, body),
            TextSource::Nothing => None,
        }
    }

    /// Returns the newest capture of a URL in the crawls that this one was run against, preferring
    /// those with this body.
    fn earlier_capture(&self, side: Side, url: UrlKey, body: Option<Body>) -> Option<Capture> {
        let earlier = self.chain_of(side).split_last()?.1;
        let captures = earlier
            .iter()
            .filter_map(|place| self.journals[*place].captures.get(&url));
        captures
            .max_by_key(|capture| {
                let bodies = capture.body.zip(body);
                (
                    bodies.is_some_and(|(theirs, ours)| theirs.is_same(ours)),
                    capture.at,
                )
            })
            .copied()
    }

    /// Returns true where the digests of texts of the two crawls can be compared.
    fn share_digests(&self) -> bool {
        let (old, new) = (self.own(Side::Old), self.own(Side::New));
        old.key.is_some()
            && old.key == new.key
            && old.pages.archive.policy.main_content == new.pages.archive.policy.main_content
    }

    /// Compares the bodies under a URL in both crawls; none if one of them is not known.
    pub(super) fn is_unchanged(&self, url: UrlKey) -> Option<bool> {
        let (old, new) = (self.body(Side::Old, url)?, self.body(Side::New, url)?);
        Some(old.is_same(new))
    }

    fn body(&self, side: Side, url: UrlKey) -> Option<Body> {
        match self.state(side, url)? {
            State::Page { body, .. } => body,
            _ => None,
        }
    }

    /// Reads the document of a capture from its archive.
    pub(super) fn document(&self, capture: &Capture) -> Result<Document, String> {
        let journal = &self.journals[capture.crawl];
        let file = &journal.files[capture.file as usize];
        journal.pages.read_at(file, capture.offset)
    }

    /// Returns the text of a capture by which its crawl judges pages; none if it is not text or
    /// cannot be read.
    fn text(&self, capture: &Capture) -> Option<String> {
        // A page whose text cannot be read any more moves with its bytes alone.
        let document = self.document(capture).ok()?;
        let is_text = document.media != web::Media::Other;
        let main_content = self.journals[capture.crawl]
            .pages
            .archive
            .policy
            .main_content;
        is_text.then(|| match main_content {
            true => document.text,
            false => document.into_full_text(),
        })
    }

    /// Returns the body and the text of a page.
    pub(super) fn identity(&self, side: Side, url: UrlKey) -> Identity {
        let text = self
            .capture(side, url)
            .and_then(|capture| match self.share_digests() {
                true => capture.text,
                false => digest(&self.text(&capture)?),
            });
        Identity {
            body: self.body(side, url),
            text,
        }
    }
}

/// Returns the digest of a text under the zero key; none if it has no words.
fn digest(text: &str) -> Option<u128> {
    let text = NormalText::of(text);
    (!text.is_empty()).then(|| text.digest(HashKey::ZERO))
}

impl CrawlJournal {
    fn read(directory: &Path, place: usize, progress: &mut SlowProgress) -> Result<Self, CliError> {
        let state = crawl_directory::state_of(directory)?;
        let pages = ArchivedPages::of(&Settings::of_crawl(directory)?);
        let history = History::open(&state)?;
        let mut journal = Self {
            directory: directory.to_owned(),
            pages,
            key: history.key(),
            states: HashMap::new(),
            captures: HashMap::new(),
            files: Vec::new(),
        };
        let mut texts = HashMap::new();
        for record in history {
            journal.apply(record?, place, &mut texts);
            progress.step();
        }
        Ok(journal)
    }

    fn apply(&mut self, record: Record, place: usize, texts: &mut HashMap<UrlKey, u128>) {
        match record {
            Record::Discovered { finds, .. } | Record::Held { finds } => self.wait(&finds),
            Record::Admitted { page, signature } => {
                texts.extend(text_of(&signature).map(|text| (page.key(), text)));
            }
            Record::Retained(retained) => {
                texts.extend(text_of(&retained.signature).map(|text| (retained.page.key(), text)));
            }
            Record::Settled(settled) => {
                let visit = settled.visit;
                let row = &visit.row;
                self.wait(&visit.finds);
                for url in &visit.reached {
                    self.states.insert(url.key(), State::Reached);
                }
                let url = row.url.key();
                self.states.insert(url, state_of(row));
                if row.kept && row.fate.is_page() {
                    self.capture(row, texts.get(&url).copied(), place);
                }
            }
            Record::Revoked { row, .. } => {
                self.states.insert(row.url.key(), State::Waiting);
                self.captures.remove(&row.url.key());
            }
            // Nothing else decides on a page.
            _ => {}
        }
    }

    fn wait(&mut self, discovered: &[DiscoveredUrl]) {
        for page in discovered {
            self.states.entry(page.url.key()).or_insert(State::Waiting);
        }
    }

    fn capture(&mut self, row: &VisitRecord, text: Option<u128>, crawl: usize) {
        let (Some(name), Some(offset)) = (&row.warc_file, row.warc_offset) else {
            return;
        };
        // Most pages are in the file of the page before.
        let known = self.files.iter().rposition(|file| file == name);
        let file = known.unwrap_or_else(|| {
            self.files.push(name.clone());
            self.files.len() - 1
        });
        let capture = Capture {
            crawl,
            at: row.fetched_at,
            body: Body::of(row),
            text,
            file: u32::try_from(file).expect("an archive has fewer files"),
            offset,
        };
        self.captures.insert(row.url.key(), capture);
    }
}

fn text_of(signature: &PageSignature) -> Option<u128> {
    signature.text.as_ref().map(|text| text.digest)
}

fn state_of(row: &VisitRecord) -> State {
    if !row.fate.is_page() {
        return State::NoPage;
    }
    let text = match (row.fate, &row.duplicate_of) {
        _ if row.kept => TextSource::Itself,
        (Fate::ExactDuplicate, Some(of)) if row.of_earlier => TextSource::Earlier(of.key()),
        (Fate::ExactDuplicate, Some(of)) => TextSource::Other(of.key()),
        _ => TextSource::Nothing,
    };
    State::Page {
        body: Body::of(row),
        text,
    }
}
