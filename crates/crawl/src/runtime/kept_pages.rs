//! The kept pages of a crawl, as the comparison of texts needs them: keys by which another page
//! with their content is found, their places in the archive, and the frames of hosts.
//!
//! It is a help, and never a source of truth: a page that is missing here is compared by signatures
//! alone. So its tables have caps. A crawl that ends writes them beside its journal, for the
//! session that continues it; what a kill loses is not made again.
//!
//! Invariant: a page is added once it is settled, so that a page is never left out for one that is
//! not in the archive.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use comparison::{HostFrame, Keys};
use disk::Disk;
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use sinks::warc::{self, WarcReader};
use web::{CanonicalForm, Exchange, Host, PageUrl, UrlKey};

use super::recent_texts::{ComparedText, RecentTexts, SharedFrame};
use super::turns::Turns;

/// Longest blocks of a page that find it.
const LONGEST: usize = 3;
/// Sampled blocks of a page that find it.
const SAMPLED: usize = 3;
/// Longest blocks, and sampled ones, by which kept pages are looked up.
const LOOKED_UP: usize = 48;
/// Pages that a key finds at most.
const MAX_PAGES_OF_KEY: usize = 8;
/// Candidates that are read.
const CANDIDATES: usize = 3;
/// Pages that are remembered. Beyond, pages are found by their signatures alone.
const MAX_PAGES: usize = 4 << 20;
/// Hosts whose frames are remembered. Beyond, the one with the fewest pages is forgotten.
const MAX_HOSTS: usize = 256;
/// Texts of compared pages that stay in memory, in bytes.
const TEXTS: usize = 32 << 20;
/// A larger record is not read: its page is judged by its signature.
const MAX_RECORD: usize = 16 << 20;

/// The kept pages of a crawl.
#[derive(Debug)]
pub struct KeptPages {
    /// The directory of the archive.
    archive: PathBuf,
    /// The file that keeps the tables between sessions.
    file: PathBuf,
    disk: Arc<dyn Disk>,
    tables: Mutex<Tables>,
    /// Numbers that change by themselves on several hosts.
    pub(crate) common: SharedFrame,
    /// The texts of the pages that were compared last.
    pub(crate) texts: RecentTexts,
    /// The visits whose pages are not remembered yet.
    pub(crate) turns: Turns,
}

/// The version of the file. Another one is not read.
const VERSION: u16 = 3;

/// The tables as they are written (postcard).
#[derive(Default, Serialize, Deserialize)]
struct Snapshot {
    version: u16,
    files: Vec<String>,
    pages: Vec<PlaceOfPage>,
    postings: Vec<Posting>,
    frames: Vec<(Host, HostFrame)>,
    common: HostFrame,
}

#[derive(Debug, Default)]
struct Tables {
    files: Vec<String>,
    pages: Vec<PlaceOfPage>,
    /// Lookup keys of pages, and their URLs, up to [`MAX_PAGES_OF_KEY`] pages for each.
    postings: HashTable<Posting>,
    frames: HashMap<Host, SharedFrame>,
}

/// A lookup key of a page: its upper half, since a wrong candidate costs a read and nothing else.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Posting {
    key: u32,
    page: u32,
}

/// The place of a page in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PlaceOfPage {
    url: UrlKey,
    offset: u64,
    file: u32,
    /// The upper half of the hash of its heading or title. A page repeats another one only if both
    /// have the same, or the same canonical URL.
    name: u32,
    /// The upper half of the key of its canonical URL, or of its own if it names none.
    canonical: u32,
    /// True if a later page has all of its content.
    is_contained: bool,
}

/// A kept page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptPage {
    pub(crate) url: UrlKey,
    /// True if a later page has all of its content.
    pub(crate) is_contained: bool,
    file: String,
    offset: u64,
}

impl KeptPages {
    /// Opens the kept pages of a crawl with its archive in this directory, and with the tables that
    /// the last session wrote to `file`. A file that cannot be read is passed over with a warning.
    #[must_use]
    pub fn open(archive: PathBuf, file: PathBuf, disk: Arc<dyn Disk>) -> Self {
        let (tables, common) = Tables::read(&file).unwrap_or_else(|error| {
            let file = file.display();
            tracing::warn!(%file, error, "kept pages are compared by their signatures alone");
            Default::default()
        });
        Self {
            archive,
            file,
            disk,
            tables: Mutex::new(tables),
            common: Arc::new(RwLock::new(common)),
            texts: RecentTexts::new(TEXTS),
            turns: Turns::default(),
        }
    }

    /// Writes the tables for the next session. The visits of all pages must be durable.
    pub(crate) fn save(&self) -> io::Result<()> {
        let snapshot = self.tables().snapshot(read(&self.common).clone());
        let bytes = postcard::to_allocvec(&snapshot).map_err(io::Error::other)?;
        self.disk.replace(&self.file, &bytes)
    }

    /// Returns the frame of a host.
    pub(crate) fn frame(&self, host: &Host) -> SharedFrame {
        let mut tables = self.tables();
        if let Some(frame) = tables.frames.get(host) {
            return Arc::clone(frame);
        }
        if tables.frames.len() >= MAX_HOSTS {
            let pages = |frame: &SharedFrame| read(frame).pages();
            let fewest = tables.frames.iter().min_by_key(|(_, frame)| pages(frame));
            if let Some(host) = fewest.map(|(host, _)| host.clone()) {
                tables.frames.remove(&host);
            }
        }
        let frame = SharedFrame::default();
        tables.frames.insert(host.clone(), Arc::clone(&frame));
        frame
    }

    /// Returns a page, if it is remembered.
    pub(crate) fn of(&self, url: UrlKey) -> Option<KeptPage> {
        let tables = self.tables();
        tables.number_of(url).map(|page| tables.page(page))
    }

    /// Returns the pages of a page's name that share most of its content, as far as keys tell.
    pub(crate) fn candidates(&self, page: &ComparedText, keys: &Keys) -> Vec<KeptPage> {
        let mut blocks = [&keys.longest[..], &keys.sampled].concat();
        blocks.sort_unstable();
        blocks.dedup();
        // The same content counts for more than any number of blocks.
        let whole = (keys.whole, 4 * LOOKED_UP);
        let blocks = blocks.into_iter().map(|block| (block, 1));
        // The name alone is no reason to read a page, except for a source, whose blocks are markup.
        let least = usize::from(!page.text.is_plain());
        let (name, canonical) = (upper_half(keys.heading), canonical(page));
        let tables = self.tables();
        let mut found: HashMap<u32, usize> = HashMap::new();
        for (key, weight) in blocks.chain([whole, (keys.heading, 0)]) {
            for page in tables.pages_with(key) {
                *found.entry(page).or_default() += weight;
            }
        }
        let is_candidate = |(page, sum): &(u32, usize)| {
            let place = tables.pages[*page as usize];
            *sum >= least && (place.name == name || place.canonical == canonical)
        };
        let mut found: Vec<(u32, usize)> = found.into_iter().filter(is_candidate).collect();
        found.sort_by_key(|(page, sum)| Reverse((*sum, *page)));
        found.truncate(CANDIDATES);
        found.iter().map(|(page, _)| tables.page(*page)).collect()
    }

    /// Remembers a page that was settled as kept, and that it contains other kept pages.
    pub(crate) fn remember(
        &self,
        page: Arc<ComparedText>,
        keys: Keys,
        (file, offset): (&str, u64),
        contains: &[PageUrl],
    ) {
        let (url, canonical) = (page.url.key(), canonical(&page));
        write(&page.frame).learn(&page.text);
        self.texts.insert(page);
        let mut tables = self.tables();
        for contained in contains {
            tables.contain(contained.key());
        }
        let Ok(number) = u32::try_from(tables.pages.len()) else {
            return;
        };
        if tables.pages.len() >= MAX_PAGES {
            return;
        }
        let file = tables.file(file);
        tables.pages.push(PlaceOfPage {
            url,
            offset,
            file,
            name: upper_half(keys.heading),
            canonical,
            is_contained: false,
        });
        tables.post(url.as_u64(), number);
        tables.post(keys.whole, number);
        tables.post(keys.heading, number);
        // A block that finds many pages already is passed over for the next.
        for (blocks, most) in [(keys.longest, LONGEST), (keys.sampled, SAMPLED)] {
            let mut posted = 0;
            let mut blocks = blocks.into_iter();
            while let Some(block) = (posted < most).then(|| blocks.next()).flatten() {
                posted += usize::from(tables.post(block, number));
            }
        }
    }

    /// Reads a page from the archive.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn read(&self, page: &KeptPage, form: &CanonicalForm) -> Result<Exchange, String> {
        read_answer(&self.archive, page, form)
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The frames that a crawl has learned.
#[derive(Debug, Default)]
pub struct LearnedFrames {
    /// Hosts with their frames, in no order.
    pub hosts: Vec<(Host, HostFrame)>,
    /// Numbers that change by themselves on several hosts.
    pub common: HostFrame,
}

impl LearnedFrames {
    /// Reads the frames from the file that a session wrote at its end.
    ///
    /// # Errors
    /// The reason why it cannot be read. A file that is missing has no frames.
    pub fn read(file: &Path) -> Result<Self, String> {
        let snapshot = Snapshot::read(file)?;
        Ok(Self {
            hosts: snapshot.frames,
            common: snapshot.common,
        })
    }

    /// Returns the frame of a host, if one was learned.
    #[must_use]
    pub fn of(&self, host: &Host) -> Option<&HostFrame> {
        let known = self.hosts.iter().find(|(known, _)| known == host);
        known.map(|(_, frame)| frame)
    }
}

impl Snapshot {
    fn read(file: &Path) -> Result<Self, String> {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error.to_string()),
        };
        let snapshot: Self = postcard::from_bytes(&bytes).map_err(|error| error.to_string())?;
        if snapshot.version != VERSION {
            return Err(format!("version {} is unknown", snapshot.version));
        }
        Ok(snapshot)
    }
}

impl Tables {
    fn read(file: &Path) -> Result<(Self, HostFrame), String> {
        let snapshot = Snapshot::read(file)?;
        let pages = snapshot.pages.len();
        let has_pages = snapshot
            .postings
            .iter()
            .all(|posting| (posting.page as usize) < pages);
        let files = snapshot.files.len();
        let has_files = snapshot
            .pages
            .iter()
            .all(|page| (page.file as usize) < files);
        if !has_pages || !has_files {
            return Err("it names pages or files that it lacks".to_owned());
        }
        let mut tables = Self {
            files: snapshot.files,
            pages: snapshot.pages,
            ..Self::default()
        };
        for posting in snapshot.postings {
            tables.insert(posting);
        }
        let frames = snapshot.frames.into_iter();
        let shared = frames.map(|(host, frame)| (host, Arc::new(RwLock::new(frame))));
        tables.frames = shared.collect();
        Ok((tables, snapshot.common))
    }

    fn snapshot(&self, common: HostFrame) -> Snapshot {
        let frames = self.frames.iter();
        Snapshot {
            version: VERSION,
            files: self.files.clone(),
            pages: self.pages.clone(),
            postings: self.postings.iter().copied().collect(),
            frames: frames
                .map(|(host, frame)| (host.clone(), read(frame).clone()))
                .collect(),
            common,
        }
    }

    fn insert(&mut self, posting: Posting) {
        let hash = |posting: &Posting| spread(posting.key);
        self.postings
            .insert_unique(spread(posting.key), posting, hash);
    }

    /// Returns the pages with a key.
    fn pages_with(&self, key: u64) -> impl Iterator<Item = u32> {
        let upper = upper_half(key);
        let postings = self.postings.iter_hash(spread(upper));
        let postings = postings.filter(move |posting| posting.key == upper);
        postings.map(|posting| posting.page)
    }

    /// Returns the number of a page, if it is remembered.
    fn number_of(&self, url: UrlKey) -> Option<u32> {
        let mut pages = self.pages_with(url.as_u64());
        pages.find(|page| self.pages[*page as usize].url == url)
    }

    /// Notes that a later page has all of a page's content.
    fn contain(&mut self, url: UrlKey) {
        if let Some(page) = self.number_of(url) {
            self.pages[page as usize].is_contained = true;
        }
    }

    /// Notes a key of a page, the last one that was added. Returns false if many have it already.
    fn post(&mut self, key: u64, page: u32) -> bool {
        let (pages, is_known) = self
            .pages_with(key)
            .fold((0, false), |(pages, known), other| {
                (pages + 1, known || other == page)
            });
        if pages >= MAX_PAGES_OF_KEY || is_known {
            return false;
        }
        let key = upper_half(key);
        self.insert(Posting { key, page });
        true
    }

    fn page(&self, number: u32) -> KeptPage {
        let place = self.pages[number as usize];
        KeptPage {
            url: place.url,
            is_contained: place.is_contained,
            file: self.files[place.file as usize].clone(),
            offset: place.offset,
        }
    }

    /// Returns the number of a file.
    fn file(&mut self, name: &str) -> u32 {
        let known = self.files.iter().rposition(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }
}

/// Returns the upper half of the key of the URL that a page names as its canonical one, or of its
/// own.
fn canonical(page: &ComparedText) -> u32 {
    let canonical = page.canonical.as_ref().unwrap_or(&page.url);
    upper_half(canonical.key().as_u64())
}

fn upper_half(key: u64) -> u32 {
    (key >> 32) as u32
}

/// Spreads a key over the bits that the table uses.
fn spread(key: u32) -> u64 {
    u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn read_answer(archive: &Path, page: &KeptPage, form: &CanonicalForm) -> Result<Exchange, String> {
    let file = warc::locate(archive, &page.file);
    let record = WarcReader::open_at(&file, page.offset)
        .and_then(|mut reader| reader.next_record(MAX_RECORD))
        .map_err(|fault| fault.to_string())?;
    let answer = record
        .filter(|record| record.kind() == "response")
        .and_then(|record| record.answer(form));
    let answer = answer.filter(|exchange| exchange.url.key() == page.url);
    let (file, offset) = (file.display(), page.offset);
    answer.ok_or_else(|| format!("{file} at {offset}: no answer of the page"))
}

/// Returns the lookup keys of a page, by what is known of its host's frame.
pub(crate) fn keys(page: &ComparedText) -> Keys {
    page.text.keys(LOOKED_UP, LOOKED_UP, &read(&page.frame))
}

/// Locks a frame for a change.
pub(crate) fn write(frame: &SharedFrame) -> RwLockWriteGuard<'_, HostFrame> {
    frame.write().unwrap_or_else(PoisonError::into_inner)
}

/// Locks a frame for reading.
pub(crate) fn read(frame: &SharedFrame) -> RwLockReadGuard<'_, HostFrame> {
    frame.read().unwrap_or_else(PoisonError::into_inner)
}
