//! The kept pages of a crawl for the comparison of texts: lookup keys of their content, their
//! places in the archive, and the frames of hosts.
//!
//! This is a cache, not a source of truth: a page that is missing here or unreadable is compared by
//! its signature alone. So its tables have caps. A page takes about five bytes of memory for each
//! key and two for its tag; the rest is in a log on disk.
//!
//! Invariant: a page is added once it is settled, and counts only if the archive has it at its
//! place, so that a page is never dropped for one that is not in the archive.

mod page_log;

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comparison::Keys;
use disk::Disk;
use hashbrown::HashMap;
use neardup::keys::{KeyTable, ShortKey};
use sinks::warc::{self, WarcReader};
use web::{CanonicalForm, Exchange, PageUrl, UrlKey};

use self::page_log::{Entry, KEYS, PageLog, PageRecord};
use super::host_frames::{self, HostFrames};
use super::recent_texts::{ComparedText, RecentTexts};
use super::turns::Turns;

/// Longest blocks of a page that find it.
const LONGEST: usize = 3;
/// Sampled blocks of a page that find it.
const SAMPLED: usize = 3;
/// Longest blocks of a new page, and sampled ones, that are used to look up kept pages.
const LOOKED_UP: usize = 48;
/// Maximum number of pages per key.
const MAX_PAGES_OF_KEY: usize = 8;
/// Maximum number of candidates that are read.
const CANDIDATES: usize = 3;
/// Pages that are remembered. Beyond, pages are found by their signatures alone.
const MAX_PAGES: u32 = 4 << 20;
/// Texts of compared pages that stay in memory, in bytes.
const TEXTS: usize = 16 << 20;
/// A larger record is not read: its page is judged by its signature.
const MAX_RECORD: usize = 16 << 20;

/// The kept pages of a crawl.
#[derive(Debug)]
pub struct KeptPages {
    /// The directory of the archive.
    archive: PathBuf,
    disk: Arc<dyn Disk>,
    table: Mutex<PageTable>,
    pub(crate) frames: HostFrames,
    /// The texts of the pages that were compared last.
    pub(crate) texts: RecentTexts,
    /// The visits whose pages are not remembered yet.
    pub(crate) turns: Turns,
}

#[derive(Debug)]
struct PageTable {
    log: PageLog,
    memory: InMemory,
    /// True once the log could not be written.
    is_closed: bool,
}

/// The in-memory index of the log.
#[derive(Debug, Default)]
struct InMemory {
    /// The keys of pages, up to [`MAX_PAGES_OF_KEY`] pages per key.
    keys: KeyTable,
    /// By the number of an entry.
    tags: Vec<Tag>,
}

/// A page's tag in memory, which rules out most non-candidates without reading the log. From the
/// lowest bit: eight bits of [`PageRecord::name`], seven of [`PageRecord::canonical`], and one set
/// if a later page has all of its content.
#[derive(Clone, Copy, Debug, Default)]
struct Tag(u16);

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
    /// Opens the kept pages of a crawl with its archive and its state in these directories. Damaged
    /// data is skipped with a warning.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn open(archive: PathBuf, state: &Path, disk: Arc<dyn Disk>) -> io::Result<Self> {
        let mut memory = InMemory::default();
        let visit = |number, entry| memory.add(number, &entry);
        let log = PageLog::open(state, Arc::clone(&disk), visit)?;
        let table = PageTable {
            log,
            memory,
            is_closed: false,
        };
        Ok(Self {
            archive,
            disk,
            table: Mutex::new(table),
            frames: HostFrames::open(state),
            texts: RecentTexts::new(TEXTS),
            turns: Turns::default(),
        })
    }

    /// Makes pages and frames durable for the next session.
    pub(crate) fn save(&self) -> io::Result<()> {
        self.table().log.sync()?;
        self.frames.save(&*self.disk)
    }

    /// Returns a page, if it is remembered.
    pub(crate) fn of(&self, url: UrlKey) -> Option<KeptPage> {
        let table = self.table();
        let (number, record) = table.find(url)?;
        table.page(number, &record)
    }

    /// Returns the pages with the name or canonical URL of this page that share most of its content
    /// according to their keys.
    pub(crate) fn candidates(&self, page: &ComparedText, keys: &Keys) -> Vec<KeptPage> {
        let mut blocks = [&keys.longest[..], &keys.sampled].concat();
        blocks.sort_unstable();
        blocks.dedup();
        // The same content counts for more than any number of blocks.
        let whole = (keys.whole, 4 * LOOKED_UP);
        // The name alone is no reason to read a page, except for a source, whose blocks are markup.
        let heading = page.text.is_plain().then_some((keys.heading, 1));
        let (name, canonical) = (upper_half(keys.heading), canonical(page));
        let is_alike = |record: &PageRecord| record.name == name || record.canonical == canonical;
        let tag = Tag::of(name, canonical);
        let table = self.table();
        let mut found: HashMap<u32, usize> = HashMap::new();
        for (key, weight) in [whole].into_iter().chain(heading) {
            for page in table.memory.keys.under(ShortKey::of(key)) {
                *found.entry(page).or_default() += weight;
            }
        }
        let blocks = blocks.iter().map(|block| ShortKey::of(*block));
        let keys = blocks.map(|key| (&table.memory.keys, key));
        KeyTable::each_under(keys, |page| *found.entry(page).or_default() += 1);
        found.retain(|page, _| table.memory.tags[*page as usize].may_be_alike(tag));
        let mut found: Vec<(u32, usize)> = found.into_iter().collect();
        found.sort_by_key(|(page, sum)| Reverse((*sum, *page)));
        let read = found.into_iter().filter_map(|(number, _)| {
            let record = table.log.page(number).filter(is_alike)?;
            table.page(number, &record)
        });
        read.take(CANDIDATES).collect()
    }

    /// Remembers a page that was settled as kept, and that it contains other kept pages.
    pub(crate) fn remember(
        &self,
        page: Arc<ComparedText>,
        keys: &Keys,
        (file, offset): (&str, u64),
        contains: &[PageUrl],
    ) {
        self.frames
            .learn(&page.url.host(), |frame| frame.learn(&page.text));
        let record = PageRecord {
            url: page.url.key(),
            offset,
            name: upper_half(keys.heading),
            canonical: canonical(&page),
            ..PageRecord::EMPTY
        };
        let has_name = page.text.is_plain();
        self.texts.insert(page);
        let mut table = self.table();
        if table.is_closed || table.log.len() >= MAX_PAGES {
            return;
        }
        if let Err(error) = table.add(record, file, keys, has_name, contains) {
            tracing::warn!(%error, "further pages are compared only by their signatures");
            table.is_closed = true;
        }
    }

    /// Reads a page from the archive.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn read(&self, page: &KeptPage, form: &CanonicalForm) -> Result<Exchange, String> {
        read_response(&self.archive, page, form)
    }

    /// Returns the lookup keys of a page, by what is known of its host's frame.
    pub(crate) fn keys(&self, page: &ComparedText) -> Keys {
        let frame = self.frames.of(&page.url.host());
        page.text
            .keys(LOOKED_UP, LOOKED_UP, &host_frames::read(&frame))
    }

    fn table(&self) -> MutexGuard<'_, PageTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageTable {
    /// Returns the number and the record of the latest visit to a URL that is remembered.
    fn find(&self, url: UrlKey) -> Option<(u32, PageRecord)> {
        let numbers = self.memory.keys.under(ShortKey::of(url.as_u64()));
        let pages = numbers.filter_map(|number| Some((number, self.log.page(number)?)));
        let of_url = pages.filter(|(_, record)| record.url == url);
        of_url.max_by_key(|(number, _)| *number)
    }

    fn page(&self, number: u32, record: &PageRecord) -> Option<KeptPage> {
        Some(KeptPage {
            url: record.url,
            is_contained: self.memory.tags[number as usize].is_contained(),
            file: self.log.file_name(record.file)?.to_owned(),
            offset: record.offset,
        })
    }

    /// Adds a page in a file, with its keys, which contains these others.
    fn add(
        &mut self,
        mut record: PageRecord,
        file: &str,
        keys: &Keys,
        has_name: bool,
        contains: &[PageUrl],
    ) -> io::Result<()> {
        for contained in contains {
            if let Some((number, _)) = self.find(contained.key()) {
                self.append(&Entry::Contained(number))?;
            }
        }
        record.file = self.log.file(file)?;
        record.keys = self.memory.free_keys(keys, has_name);
        self.append(&Entry::Page(record))
    }

    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let number = self.log.len();
        self.log.append(entry)?;
        self.memory.add(number, entry);
        Ok(())
    }
}

impl InMemory {
    /// Adds the entry with this number, which is the next.
    fn add(&mut self, number: u32, entry: &Entry) {
        let mut tag = Tag::default();
        match entry {
            Entry::Page(page) => {
                tag = Tag::of(page.name, page.canonical);
                self.keys.insert(ShortKey::of(page.url.as_u64()), number);
                for key in page.keys.into_iter().filter(|key| *key != 0) {
                    self.keys.insert(ShortKey::new(key), number);
                }
            }
            Entry::Contained(page) => self.tags[*page as usize].0 |= Tag::CONTAINED,
        }
        self.tags.push(tag);
    }

    /// Chooses the lookup keys of a new page. A key that already finds many pages is skipped.
    fn free_keys(&self, keys: &Keys, has_name: bool) -> [u32; KEYS] {
        let whole = [keys.whole];
        let name = has_name.then_some(keys.heading);
        let mut free = [0; KEYS];
        let mut posted = 0;
        for (keys, most) in [
            (&whole[..], 1),
            (name.as_slice(), 1),
            (&keys.longest, LONGEST),
            (&keys.sampled, SAMPLED),
        ] {
            let mut keys = keys.iter().map(|key| ShortKey::of(*key));
            let most = posted + most;
            while posted < most
                && let Some(key) = keys.next()
            {
                let is_free = self.keys.under(key).nth(MAX_PAGES_OF_KEY - 1).is_none();
                if is_free && !free.contains(&key.as_u32()) {
                    free[posted] = key.as_u32();
                    posted += 1;
                }
            }
        }
        free
    }
}

impl Tag {
    const NAME: u16 = 0x00ff;
    const CANONICAL: u16 = 0x7f00;
    const CONTAINED: u16 = 0x8000;

    fn of(name: u32, canonical: u32) -> Self {
        let [name, canonical] = [name as u16, canonical as u16];
        Self(name & Self::NAME | canonical & Self::CANONICAL)
    }

    /// Returns false if neither name nor canonical URL are the same.
    fn may_be_alike(self, other: Self) -> bool {
        let differing = self.0 ^ other.0;
        differing & Self::NAME == 0 || differing & Self::CANONICAL == 0
    }

    fn is_contained(self) -> bool {
        self.0 & Self::CONTAINED != 0
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

fn read_response(
    archive: &Path,
    page: &KeptPage,
    form: &CanonicalForm,
) -> Result<Exchange, String> {
    let file = warc::locate(archive, &page.file);
    let record = WarcReader::open_at(&file, page.offset)
        .and_then(|mut reader| reader.next_record(MAX_RECORD))
        .map_err(|fault| fault.to_string())?;
    let response = record.and_then(|record| match record.kind() {
        "response" => record.response(form),
        _ => record.dom(form),
    });
    let response = response.filter(|exchange| exchange.url.key() == page.url);
    let (file, offset) = (file.display(), page.offset);
    response.ok_or_else(|| format!("{file} at {offset}: no response of the page"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_with_eight_keys_takes_forty_bytes_of_memory() {
        let pages: u32 = 1 << 17;
        let mut memory = InMemory::default();
        let key = |n: u32| ShortKey::of(u64::from(n)).as_u32().max(1);
        for number in 0..pages {
            let keys = [0, 1, 2, 3, 4, 5, 6].map(|n| key(7 * number + n));
            let mut page = PageRecord {
                url: UrlKey::from_u64(u64::MAX / u64::from(pages) * u64::from(number)),
                ..PageRecord::EMPTY
            };
            page.keys[..keys.len()].copy_from_slice(&keys);
            memory.add(number, &Entry::Page(page));
        }
        let bytes = memory.keys.memory() + size_of_val(&memory.tags[..]);
        let of_page = bytes as f64 / f64::from(pages);
        assert!((30.0..=40.0).contains(&of_page), "{of_page}");
    }
}
