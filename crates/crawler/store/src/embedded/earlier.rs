//! The pages of earlier crawls that count as seen: their signatures, and their positions in the
//! journals of these crawls.
//!
//! Only kept pages count: originals, and duplicates that were kept too. Their signatures are in
//! memory; their URLs are read from the earlier journal when a page matches (24 bytes per page
//! instead of a URL). The same records give the place in the archive of a page that is requested
//! only if it was modified.
//!
//! Reading takes a shared lock and releases it at the end. An earlier crawl that is running is
//! refused; if it continues afterwards, that does no harm, because a journal only grows.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use journal::{
    Page, Position, Record, Replay, RetainedPage, StoreFault, VisitRecord, record_in, segments,
};
use neardup::{Fingerprint, HashKey, Match, MatchKind, PageSignature, SignatureIndex};
use web::UrlKey;

use super::lock::DirectoryLock;
use crate::near_dup::EarlierCapture;
use crate::rules::{ComparisonOptions, certainty};

/// The kept pages of one or more ended crawls, for reading.
pub struct EarlierCrawls {
    rules: ComparisonOptions,
    key: HashKey,
    journals: Vec<EarlierJournal>,
    pages: Vec<KeptPage>,
    /// The originals, by their index in `pages`.
    originals: SignatureIndex,
    /// Duplicates that were kept, by their index.
    retained: HashMap<u32, EarlierRetained>,
    /// The kept duplicate with these bytes, within a group.
    copies: HashMap<(u64, u128), u32>,
    /// Pages without a signature, by their index: kept without being admitted (`--on-duplicate
    /// keep`), or known from an index of another program.
    unadmitted: HashMap<u32, Unadmitted>,
    /// The names of the decoded bodies that had a content coding, by the index of their page.
    contents: HashMap<u32, u128>,
    /// All pages, sorted by their URLs.
    by_url: Vec<(UrlKey, u32)>,
}

/// A crawl's journal: its directory, and its segments at the time of reading.
struct EarlierJournal {
    directory: PathBuf,
    segments: Vec<(Position, PathBuf)>,
    /// The archive files of its kept pages.
    archive_files: BTreeSet<String>,
}

/// The position of a page's visit.
struct KeptPage {
    key: UrlKey,
    /// The index of its crawl in `journals`.
    journal: u32,
    /// The position of the record of its visit.
    position: Position,
}

struct EarlierRetained {
    original: UrlKey,
    rank: u32,
    signature: PageSignature,
}

/// The identity of a page without a signature.
struct Unadmitted {
    payload: u128,
    fingerprint: Option<Fingerprint>,
}

/// The earlier captures of a page's URL, compared with its current content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Capture {
    /// A capture has the same bytes; its number.
    SameBytes(u32),
    /// All captures have other bytes; the newest.
    OtherBytes(EarlierCapture<u32>),
}

/// An admission whose visit has not ended by this point of the journal.
enum PendingAdmission {
    Original(Box<PageSignature>),
    Retained(Box<RetainedPage>),
}

impl EarlierCrawls {
    /// Reads the crawls whose stores are in `directories`, the oldest first. Returns `None` if
    /// there is no directory. All must use the same hash key, and make their fingerprints from
    /// `features`.
    ///
    /// # Errors
    /// [`StoreFault::InUse`] if a crawl is running, [`StoreFault::Incomparable`] if keys or
    /// features differ, [`StoreFault`] if a journal cannot be read.
    pub fn load(
        directories: &[PathBuf],
        features: &str,
        rules: ComparisonOptions,
    ) -> Result<Option<Self>, StoreFault> {
        let mut earlier: Option<Self> = None;
        for directory in directories {
            let _nobody_writes = DirectoryLock::share(directory)?;
            let path = directory.join("journal");
            let mut replay = Replay::open(&path, 0).map_err(|fault| foreign(fault, directory))?;
            let key = replay.key().ok_or_else(|| StoreFault::Damaged {
                path: path.clone(),
                offset: 0,
                what: "the crawl was never begun".to_owned(),
            })?;
            let earlier = earlier.get_or_insert_with(|| Self::empty(key, rules));
            if key != earlier.key {
                return Err(other_key(directory));
            }
            earlier.read_journal(path, &mut replay, features)?;
        }
        if let Some(earlier) = &mut earlier {
            earlier.by_url.sort_unstable();
        }
        Ok(earlier)
    }

    fn empty(key: HashKey, rules: ComparisonOptions) -> Self {
        Self {
            rules,
            key,
            journals: Vec::new(),
            pages: Vec::new(),
            originals: SignatureIndex::new(rules.thresholds),
            retained: HashMap::new(),
            copies: HashMap::new(),
            unadmitted: HashMap::new(),
            contents: HashMap::new(),
            by_url: Vec::new(),
        }
    }

    /// Returns the hash key of all these crawls.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Returns true if no page counts as seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Returns true if any of the crawls kept a page with this URL, without reading from disk.
    #[must_use]
    pub fn knows(&self, url: UrlKey) -> bool {
        self.numbers_of(url).next().is_some()
    }

    /// Returns the newest visit of a page among the crawls selected by `is_asked`: the index of the
    /// crawl among the directories, and the record.
    ///
    /// # Errors
    /// [`StoreFault::Damaged`] if the journal differs from the journal that was read.
    pub fn newest(
        &self,
        url: UrlKey,
        is_asked: impl Fn(usize) -> bool,
    ) -> Result<Option<(usize, VisitRecord)>, StoreFault> {
        let mut newest: Option<(usize, VisitRecord)> = None;
        for number in self.numbers_of(url) {
            let crawl = self.pages[number as usize].journal as usize;
            if !is_asked(crawl) {
                continue;
            }
            let visit = self.visit(number)?;
            if newest
                .as_ref()
                .is_none_or(|(_, known)| known.fetched_at <= visit.fetched_at)
            {
                newest = Some((crawl, visit));
            }
        }
        Ok(newest)
    }

    /// Returns the archive files with the kept pages of a crawl, by the crawl's index among the
    /// directories.
    pub fn archive_files(&self, crawl: usize) -> impl Iterator<Item = &str> {
        let files = self
            .journals
            .get(crawl)
            .map(|journal| &journal.archive_files);
        files.into_iter().flatten().map(String::as_str)
    }

    /// Fails if pages hashed with `key` cannot be compared with these pages.
    pub(crate) fn check_key(&self, key: HashKey) -> Result<(), StoreFault> {
        if key == self.key {
            return Ok(());
        }
        let first = self.journals.first();
        let directory = first.and_then(|journal| journal.directory.parent());
        Err(other_key(directory.unwrap_or(Path::new(""))))
    }

    fn read_journal(
        &mut self,
        directory: PathBuf,
        replay: &mut Replay,
        features: &str,
    ) -> Result<(), StoreFault> {
        self.journals.push(EarlierJournal {
            segments: segments(&directory)?,
            directory: directory.clone(),
            archive_files: BTreeSet::new(),
        });
        let (mut begun, mut position) = (HashMap::new(), 0);
        while let Some((end, record)) = replay.next_record()? {
            match record {
                Record::Begun {
                    features: theirs, ..
                } if theirs != features => {
                    return Err(StoreFault::Incomparable {
                        path: directory,
                        setting: "--features",
                        theirs,
                        ours: features.to_owned(),
                    });
                }
                Record::Admitted { page, signature } => {
                    begun.insert(page.key(), PendingAdmission::Original(signature));
                }
                Record::Retained(retained) => {
                    begun.insert(retained.page.key(), PendingAdmission::Retained(retained));
                }
                Record::Forgotten { page } => drop(begun.remove(&page)),
                Record::Settled(settled) => {
                    let visit = settled.visit.record;
                    let page = begun.remove(&visit.url.key());
                    if visit.kept && visit.fate.is_page() {
                        self.remember(&visit, page, position);
                    }
                }
                // No other record is about a kept page.
                _ => {}
            }
            position = end;
        }
        Ok(())
    }

    fn remember(
        &mut self,
        visit: &VisitRecord,
        begun: Option<PendingAdmission>,
        position: Position,
    ) {
        if begun.is_none() && visit.payload.is_none() {
            return;
        }
        let number = u32::try_from(self.pages.len()).expect("2^32 signatures would take terabytes");
        let (page, key) = (visit.page(), visit.url.key());
        self.by_url.push((key, number));
        if let (Some(journal), Some(file)) = (self.journals.last_mut(), &visit.warc_file) {
            journal.archive_files.insert(file.clone());
        }
        self.pages.push(KeptPage {
            key,
            journal: u32::try_from(self.journals.len() - 1).expect("a command line is shorter"),
            position,
        });
        let group = self.rules.group(&page, self.key);
        self.contents
            .extend(visit.details.content.map(|content| (number, content)));
        match begun {
            None => {
                let Some(payload) = visit.payload else { return };
                self.copies.entry((group, payload)).or_insert(number);
                let unadmitted = Unadmitted {
                    payload,
                    fingerprint: visit.fingerprint,
                };
                self.unadmitted.insert(number, unadmitted);
            }
            Some(PendingAdmission::Original(mut signature)) => {
                // A visit that did not end may have admitted other bytes than were archived later.
                signature.payload = visit.payload.unwrap_or(signature.payload);
                self.originals
                    .insert_in(group, u64::from(number), *signature);
            }
            Some(PendingAdmission::Retained(mut retained)) => {
                retained.signature.payload = visit.payload.unwrap_or(retained.signature.payload);
                self.copies
                    .entry((group, retained.signature.payload))
                    .or_insert(number);
                let retained = EarlierRetained {
                    original: retained.of.key(),
                    rank: retained.rank,
                    signature: retained.signature,
                };
                self.retained.insert(number, retained);
            }
        }
    }

    /// Returns the ranks that are taken, each with its original.
    pub(crate) fn retained(&self) -> impl Iterator<Item = (UrlKey, u32)> + '_ {
        self.retained
            .values()
            .map(|retained| (retained.original, retained.rank))
    }

    /// Returns the URL of the page with this number.
    pub(crate) fn key_of(&self, number: u32) -> UrlKey {
        self.pages[number as usize].key
    }

    /// Returns the page with this number.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal of that crawl cannot be read.
    pub fn page(&self, number: u32) -> Result<Page, StoreFault> {
        self.visit(number).map(|visit| visit.page())
    }

    fn visit(&self, number: u32) -> Result<VisitRecord, StoreFault> {
        let kept = &self.pages[number as usize];
        let journal = &self.journals[kept.journal as usize];
        match record_in(&journal.segments, kept.position)? {
            Some(Record::Settled(settled)) if settled.visit.record.url.key() == kept.key => {
                Ok(*settled.visit.record)
            }
            _ => Err(StoreFault::Damaged {
                path: journal.directory.clone(),
                offset: kept.position,
                what: "it has changed since this crawl began".to_owned(),
            }),
        }
    }

    /// Compares a page with the captures of its URL; returns `None` if there are none.
    pub(crate) fn capture(&self, url: UrlKey, signature: &PageSignature) -> Option<Capture> {
        let (mut newest, mut same) = (None, None);
        // The crawls were read in order, the oldest first.
        for number in self.numbers_of(url) {
            let Some(payload) = self.payload_of(number) else {
                continue;
            };
            if payload == signature.payload {
                same = Some(number);
            }
            newest = Some(number);
        }
        if let Some(number) = same {
            return Some(Capture::SameBytes(number));
        }
        let of = newest?;
        let (distance, resemblance) = match self.signature_of(of) {
            Some(theirs) => nearness(signature, theirs),
            None => (self.distance_to_unadmitted(of, signature), None),
        };
        Some(Capture::OtherBytes(EarlierCapture {
            page: of,
            distance,
            resemblance,
        }))
    }

    /// Returns the newest capture of a URL with the same content in other bytes, because a content
    /// coding packed it differently. Returns `None` if a capture has the same bytes, or if no
    /// capture has the content.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal of that crawl cannot be read.
    pub fn repacked(
        &self,
        url: UrlKey,
        payload: u128,
        content: u128,
    ) -> Result<Option<Page>, StoreFault> {
        let mut newest = None;
        for number in self.numbers_of(url) {
            let theirs = self.payload_of(number);
            if theirs == Some(payload) {
                return Ok(None);
            }
            if self.contents.get(&number).copied().or(theirs) == Some(content) {
                newest = Some(number);
            }
        }
        newest.map(|number| self.page(number)).transpose()
    }

    /// Returns the name of the bytes of the page with this number.
    fn payload_of(&self, number: u32) -> Option<u128> {
        let signature = self.signature_of(number).map(|theirs| theirs.payload);
        signature.or_else(|| Some(self.unadmitted.get(&number)?.payload))
    }

    fn distance_to_unadmitted(&self, number: u32, signature: &PageSignature) -> Option<u32> {
        let theirs = self.unadmitted.get(&number)?.fingerprint?;
        Some(signature.text.as_deref()?.fingerprint.distance(theirs))
    }

    /// Returns the signature of the page with this number.
    fn signature_of(&self, number: u32) -> Option<&PageSignature> {
        match self.retained.get(&number) {
            Some(retained) => Some(&retained.signature),
            None => self.originals.get(u64::from(number)),
        }
    }

    /// Returns the numbers of the pages with this URL: one per crawl that kept it.
    fn numbers_of(&self, url: UrlKey) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_url.partition_point(|(key, _)| *key < url);
        let same = self.by_url[first..]
            .iter()
            .take_while(move |(key, _)| *key == url);
        same.map(|(_, number)| *number)
    }

    /// Returns the original that is like this signature and does not have any of the URLs in
    /// `except`.
    pub(crate) fn find(
        &self,
        group: u64,
        signature: &PageSignature,
        except: &[UrlKey],
    ) -> Option<(u32, MatchKind)> {
        let number = |found: Match| {
            u32::try_from(found.of).expect("it was inserted under a number of 32 bits")
        };
        let found = match except {
            [] => self.originals.find_in(group, signature),
            _ => {
                let all = self.originals.find_all_in(group, signature).into_iter();
                let mut others = all.filter(|found| !except.contains(&self.key_of(number(*found))));
                others.next()
            }
        };
        match found {
            Some(found) => Some((number(found), found.match_kind)),
            None => {
                let copy = self.unadmitted_copy(group, signature.payload, except)?;
                Some((copy, MatchKind::SamePayload))
            }
        }
    }

    /// Returns the page without a signature that has these bytes. All pages of an index are such
    /// pages.
    fn unadmitted_copy(&self, group: u64, payload: u128, except: &[UrlKey]) -> Option<u32> {
        let number = self.copy_of(group, payload)?;
        let is_other = !except.contains(&self.key_of(number));
        (is_other && self.unadmitted.contains_key(&number)).then_some(number)
    }

    /// Returns the original with this URL, if a page that calls it canonical is like it. Among
    /// several captures, the most certain match wins.
    pub(crate) fn called_canonical(
        &self,
        group: u64,
        url: UrlKey,
        signature: &PageSignature,
    ) -> Option<(u32, MatchKind)> {
        let thresholds = self.rules.thresholds;
        let matches = self.numbers_of(url).filter_map(|number| {
            let theirs = self.originals.get_in(group, u64::from(number))?;
            Some((
                number,
                thresholds.match_kind_to_canonical(signature, theirs)?,
            ))
        });
        // On a tie, the latest.
        matches.max_by(|one, two| {
            let order = certainty(one.1).total_cmp(&certainty(two.1));
            order.then(one.0.cmp(&two.0))
        })
    }

    /// Returns the kept duplicate with these bytes.
    pub(crate) fn copy_of(&self, group: u64, payload: u128) -> Option<u32> {
        self.copies.get(&(group, payload)).copied()
    }
}

/// Returns the distance in bits between the fingerprints of two pages and the estimated resemblance
/// of their texts, even if they are very different.
fn nearness(one: &PageSignature, two: &PageSignature) -> (Option<u32>, Option<f64>) {
    let texts = one.text.as_deref().zip(two.text.as_deref());
    let Some((one, two)) = texts else {
        return (None, None);
    };
    if one.digest == two.digest {
        return (Some(0), Some(1.0));
    }
    let sketches = one.sketch.as_ref().zip(two.sketch.as_ref());
    (
        Some(one.fingerprint.distance(two.fingerprint)),
        sketches.map(|(one, two)| one.resemblance(two)),
    )
}

fn other_key(directory: &Path) -> StoreFault {
    StoreFault::Incomparable {
        path: directory.to_owned(),
        setting: "--hash-key",
        theirs: "of its own".to_owned(),
        ours: "another".to_owned(),
    }
}

/// Turns a setting's mismatch into the error about an earlier crawl, because other versions of the
/// program make different fingerprints.
fn foreign(fault: StoreFault, directory: &Path) -> StoreFault {
    match fault {
        StoreFault::Setting {
            setting,
            begun,
            asked,
        } => StoreFault::Incomparable {
            path: directory.to_owned(),
            setting,
            theirs: begun,
            ours: asked,
        },
        other => other,
    }
}

impl fmt::Debug for EarlierCrawls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EarlierCrawls")
            .field("journals", &self.journals.len())
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}
