//! The pages of two crawls by URL key: about 200 bytes per page and crawl, without text.
//!
//! A crawl that ran with `--since` or `--against` did not archive the pages of the earlier crawls:
//! it shares their captures. The journal of each directory is read once, even if both crawls need
//! it.
//!
//! Payloads are identified by their SHA-1, so any two crawls can be compared, and unarchived pages
//! have payload digests, too. Text digests are keyed: they are compared only if both crawls have
//! the same key and judged pages by the same part.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use journal::{DiscoveredUrl, Fate, History, Record, VisitRecord};
use messages::{CommandError, SlowProgress, usage};
use neardup::{HashKey, NormalText, PageSignature};
use web::{Document, Timestamp, UrlKey};

use crate::readable_crawl::ReadableCrawl;

/// A page as a crawl archived it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capture {
    /// Index of its crawl in [`Journals`].
    crawl: usize,
    at: Timestamp,
    body: Option<Body>,
    /// Keyed digest of its text. `None` if it is not text, or if it was kept without being
    /// admitted.
    text: Option<u128>,
    file: u32,
    offset: u64,
}

/// The body of a page: its bytes as received, and its content after content codings are removed. A
/// server may encode the same content differently each time. Old journals only have the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    bytes: u128,
    /// Hash of the content.
    pub(crate) content: u128,
}

impl Body {
    fn of(visit: &VisitRecord) -> Option<Self> {
        let bytes = visit.payload?;
        let content = visit.content().unwrap_or(bytes);
        Some(Self { bytes, content })
    }

    fn is_same(self, other: Self) -> bool {
        self.bytes == other.bytes || self.content == other.content
    }
}

/// The state of a URL in a crawl.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// A page with this body.
    Page {
        /// The body, if known.
        body: Option<Body>,
        /// Where its text is.
        text: TextSource,
    },
    /// Visited, but there was no page.
    NoPage,
    /// Reached by a redirect from another URL, and listed under that URL.
    Reached,
    /// Waiting to be visited.
    Waiting,
}

/// Source of a page's text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextSource {
    /// The capture of its own URL.
    Itself,
    /// The capture of this URL in the same crawl: the page repeats that page.
    Other(UrlKey),
    /// The capture of this URL in a crawl that this crawl was run against.
    Earlier(UrlKey),
    /// No capture: the page was not archived, as a near-duplicate.
    Nothing,
}

impl State {
    /// Returns true for a page.
    pub(crate) const fn is_page(self) -> bool {
        matches!(self, Self::Page { .. })
    }
}

/// The body and the text of a page. A moved page has the same body or the same text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    /// The body, if known.
    pub(crate) body: Option<Body>,
    /// Hash of the text, if known.
    pub(crate) text: Option<u128>,
}

/// One crawl's journal, read.
struct CrawlJournal {
    directory: PathBuf,
    crawl: ReadableCrawl,
    key: Option<HashKey>,
    states: HashMap<UrlKey, State>,
    captures: HashMap<UrlKey, Capture>,
    files: Vec<String>,
}

/// The journals of both crawls and of the crawls that they were run against.
pub(crate) struct Journals {
    journals: Vec<CrawlJournal>,
    /// Journals of the earlier crawl, its own last.
    old: Vec<usize>,
    /// Journals of the later crawl, its own last.
    new: Vec<usize>,
}

/// One of the two crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The earlier crawl.
    Old,
    /// The later crawl.
    New,
}

impl Journals {
    /// Reads the journals of two crawls.
    pub(crate) fn read(old: &Path, new: &Path) -> Result<Self, CommandError> {
        let (old, new) = (absolute(old)?, absolute(new)?);
        let mut journals = Self {
            journals: Vec::new(),
            old: Vec::new(),
            new: Vec::new(),
        };
        journals.new = journals.chain(&old, &mut progress())?;
        journals.advance(&new)
    }

    /// Compares the later crawl with a crawl that is later still. Journals are read once.
    pub(crate) fn advance(mut self, newer: &Path) -> Result<Self, CommandError> {
        let newer = absolute(newer)?;
        if self.own(Side::New).directory == newer {
            return Err(usage(format!("{} is named twice", newer.display()))
                .with_remedy("give the directories of two crawls, the earlier one first"));
        }
        let chain = self.chain(&newer, &mut progress())?;
        self.old = std::mem::replace(&mut self.new, chain);
        Ok(self)
    }

    /// Returns the indexes of a crawl and of all crawls that it was run against, its own last.
    fn chain(
        &mut self,
        directory: &Path,
        progress: &mut SlowProgress,
    ) -> Result<Vec<usize>, CommandError> {
        let mut chain = Vec::new();
        // Its settings list all earlier crawls, oldest first.
        for earlier in &ReadableCrawl::of(directory)?.against {
            if !earlier.exists() {
                let (crawl, earlier) = (directory.display(), earlier.display());
                return Err(usage(format!(
                    "{crawl} was run against {earlier}, which does not exist"
                ))
                .with_remedy("restore it: the content of unchanged pages is archived there"));
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
    ) -> Result<usize, CommandError> {
        let mut journals = self.journals.iter();
        if let Some(place) = journals.position(|journal| journal.directory == directory) {
            return Ok(place);
        }
        let journal = CrawlJournal::read(
            directory,
            ReadableCrawl::of(directory)?,
            self.journals.len(),
            progress,
        )?;
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
    pub(crate) fn state_directory(&self, side: Side) -> PathBuf {
        self.own(side).crawl.state.clone()
    }

    /// Returns the state of a URL in a crawl; `None` if the crawl never saw it.
    pub(crate) fn state(&self, side: Side, url: UrlKey) -> Option<State> {
        self.own(side).states.get(&url).copied()
    }

    /// Returns the URLs of a crawl's pages in a stable order.
    pub(crate) fn pages(&self, side: Side) -> Vec<UrlKey> {
        let states = self.own(side).states.iter();
        let mut pages: Vec<UrlKey> = states
            .filter(|(_, state)| state.is_page())
            .map(|(url, _)| *url)
            .collect();
        pages.sort_unstable();
        pages
    }

    /// Returns the capture with the text of a page; `None` if no archive contains it.
    pub(crate) fn capture(&self, side: Side, url: UrlKey) -> Option<Capture> {
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

    /// Returns the newest capture of a URL in the crawls that this crawl was run against. Captures
    /// with this body are preferred.
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

    /// Returns true if the text digests of the two crawls can be compared.
    fn share_digests(&self) -> bool {
        let (old, new) = (self.own(Side::Old), self.own(Side::New));
        old.key.is_some()
            && old.key == new.key
            && old.crawl.archive.rules.main_content == new.crawl.archive.rules.main_content
    }

    /// Compares the bodies of a URL in both crawls; `None` if a body is unknown.
    pub(crate) fn is_unchanged(&self, url: UrlKey) -> Option<bool> {
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
    pub(crate) fn document(&self, capture: &Capture) -> Result<Document, String> {
        let journal = &self.journals[capture.crawl];
        let file = &journal.files[capture.file as usize];
        let page = journal.crawl.archive.page_at(file, capture.offset)?;
        Ok(page.document)
    }

    /// Returns the part of a capture's text that its crawl compares; `None` if the capture is not
    /// text or cannot be read.
    fn text(&self, capture: &Capture) -> Option<String> {
        // If the text of a page cannot be read, only its bytes can show that it moved.
        let document = self.document(capture).ok()?;
        let is_text = document.media != web::Media::Other;
        let main_content = self.journals[capture.crawl]
            .crawl
            .archive
            .rules
            .main_content;
        is_text.then(|| match main_content {
            true => document.text,
            false => document.into_full_text(),
        })
    }

    /// Returns the body and the text of a page.
    pub(crate) fn identity(&self, side: Side, url: UrlKey) -> Identity {
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

fn progress() -> SlowProgress {
    SlowProgress::new("journal records read")
}

/// Returns the absolute path of a crawl's directory.
fn absolute(directory: &Path) -> Result<PathBuf, CommandError> {
    ReadableCrawl::of(directory)?;
    directory
        .canonicalize()
        .map_err(|error| usage(format!("cannot read {}: {error}", directory.display())))
}

/// Returns the digest of a text under the zero key; `None` for a text without words.
fn digest(text: &str) -> Option<u128> {
    let text = NormalText::of(text);
    (!text.is_empty()).then(|| text.digest(HashKey::ZERO))
}

impl CrawlJournal {
    fn read(
        directory: &Path,
        crawl: ReadableCrawl,
        place: usize,
        progress: &mut SlowProgress,
    ) -> Result<Self, CommandError> {
        let history = History::open(&crawl.state)?;
        let mut journal = Self {
            directory: directory.to_owned(),
            crawl,
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
                let record = &visit.record;
                self.wait(&visit.finds);
                for url in &visit.reached {
                    self.states.insert(url.key(), State::Reached);
                }
                let url = record.url.key();
                self.states.insert(url, state_of(record));
                if record.has_page() {
                    self.capture(record, texts.get(&url).copied(), place);
                }
            }
            Record::Revoked { visit, .. } => {
                self.states.insert(visit.url.key(), State::Waiting);
                self.captures.remove(&visit.url.key());
            }
            // No other record affects a page.
            _ => {}
        }
    }

    fn wait(&mut self, discovered: &[DiscoveredUrl]) {
        for page in discovered {
            self.states.entry(page.url.key()).or_insert(State::Waiting);
        }
    }

    fn capture(&mut self, visit: &VisitRecord, text: Option<u128>, crawl: usize) {
        let Some((name, offset)) = visit.content_place() else {
            return;
        };
        // Most pages are in the same file as the page before.
        let known = self.files.iter().rposition(|file| file == name);
        let file = known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        });
        let capture = Capture {
            crawl,
            at: visit.fetched_at,
            body: Body::of(visit),
            text,
            file: u32::try_from(file).expect("an archive has fewer files"),
            offset,
        };
        self.captures.insert(visit.url.key(), capture);
    }
}

fn text_of(signature: &PageSignature) -> Option<u128> {
    signature.text.as_ref().map(|text| text.digest)
}

fn state_of(visit: &VisitRecord) -> State {
    if !visit.fate.is_page() {
        return State::NoPage;
    }
    let text = match (visit.fate, &visit.duplicate_of) {
        _ if visit.kept => TextSource::Itself,
        (Fate::ExactDuplicate, Some(of)) if visit.of_earlier => TextSource::Earlier(of.key()),
        (Fate::ExactDuplicate, Some(of)) => TextSource::Other(of.key()),
        _ => TextSource::Nothing,
    };
    State::Page {
        body: Body::of(visit),
        text,
    }
}
