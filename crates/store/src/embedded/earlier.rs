//! The pages of earlier crawls that count as seen: what they looked like, and where their journals
//! tell of them.
//!
//! Only what was kept counts: originals, and the pages that were let through beside them. Their
//! looks are in memory; who they are is read from the earlier journal when one of them is
//! recognised (24 bytes a page instead of its URLs). The same rows say where the archive has a page
//! that is to be asked for only if it was modified.
//!
//! Reading takes a shared lock, and gives it back at the end: an earlier crawl that still runs is
//! refused, and one that goes on afterwards does no harm, because a journal only ever grows.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use neardup::{Fingerprint, HashKey, Likeness, PageSignature, SignatureIndex};
use web::UrlKey;

use super::lock::DirectoryLock;
use super::record::{Record, RetainedPage};
use super::segment::{Position, Replay, record_at, segments};
use crate::{LikenessRules, Page, StoreFault, VisitRecord};

/// The kept pages of one or more crawls that ended, for reading.
pub struct Earlier {
    rules: LikenessRules,
    key: HashKey,
    journals: Vec<Told>,
    pages: Vec<Kept>,
    /// The originals, by their numbers in `pages`.
    originals: SignatureIndex,
    /// Pages that were let through, by their numbers.
    seated: HashMap<u32, Seated>,
    /// Who of these has these bytes, within a group.
    copies: HashMap<(u64, u128), u32>,
    /// Pages that were kept without being admitted (`--on-duplicate keep`), by their numbers: there
    /// is no signature of them.
    unadmitted: HashMap<u32, Unadmitted>,
    /// All pages by their URLs, sorted.
    by_url: Vec<(UrlKey, u32)>,
}

/// A crawl's journal: its directory, and its segments as they were when it was read.
struct Told {
    directory: PathBuf,
    segments: Vec<(Position, PathBuf)>,
    /// Where its kept pages are archived.
    archive_files: BTreeSet<String>,
}

/// Where a page is told of.
struct Kept {
    key: UrlKey,
    /// The place of its crawl in `journals`.
    journal: u32,
    /// Where the record of its visit begins.
    position: Position,
}

struct Seated {
    original: UrlKey,
    number: u32,
    signature: PageSignature,
}

/// The identity of a page without a signature.
struct Unadmitted {
    payload: u128,
    fingerprint: Option<Fingerprint>,
}

/// The earlier captures of a page's URL, compared with the page as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capture {
    /// One of them has these very bytes: its number.
    SameBytes(u32),
    /// All of them have others.
    OtherBytes(Change),
}

/// The newest capture of a URL, and how far a page with other bytes is from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// Its number.
    pub(crate) of: u32,
    pub(crate) distance: Option<u32>,
    pub(crate) resemblance: Option<f64>,
}

/// A page that was admitted, and whose visit has not ended yet where the journal is being read.
enum Begun {
    Original(Box<PageSignature>),
    LetThrough(Box<RetainedPage>),
}

impl Earlier {
    /// Reads the crawls whose stores are in `directories`, the oldest first; there is at least one.
    /// All must have hashed under one key, and have made their fingerprints from `features`.
    pub fn load(
        directories: &[PathBuf],
        features: &str,
        rules: LikenessRules,
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
            earlier.hear(path, &mut replay, features)?;
        }
        Ok(earlier.map(|mut earlier| {
            earlier.by_url.sort_unstable();
            earlier
        }))
    }

    fn empty(key: HashKey, rules: LikenessRules) -> Self {
        Self {
            rules,
            key,
            journals: Vec::new(),
            pages: Vec::new(),
            originals: SignatureIndex::new(rules.thresholds),
            seated: HashMap::new(),
            copies: HashMap::new(),
            unadmitted: HashMap::new(),
            by_url: Vec::new(),
        }
    }

    /// The key under which all of these crawls hashed.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// How many pages count as seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether none does.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether any of the crawls kept a page with this URL; asks nothing of the disk.
    #[must_use]
    pub fn knows(&self, url: UrlKey) -> bool {
        self.looks(url).next().is_some()
    }

    /// What the newest crawl of those that `is_asked` names kept of a page: its place among the
    /// directories, and its row.
    pub fn newest(
        &self,
        url: UrlKey,
        is_asked: impl Fn(usize) -> bool,
    ) -> Result<Option<(usize, VisitRecord)>, StoreFault> {
        let mut newest: Option<(usize, VisitRecord)> = None;
        for number in self.looks(url) {
            let crawl = self.pages[number as usize].journal as usize;
            if !is_asked(crawl) {
                continue;
            }
            let row = self.row(number)?;
            if newest
                .as_ref()
                .is_none_or(|(_, known)| known.fetched_at <= row.fetched_at)
            {
                newest = Some((crawl, row));
            }
        }
        Ok(newest)
    }

    /// The archive files that have the kept pages of a crawl, by its place among the directories.
    pub fn archive_files(&self, crawl: usize) -> impl Iterator<Item = &str> {
        let journal = self.journals.get(crawl);
        journal
            .into_iter()
            .flat_map(|journal| journal.archive_files.iter().map(String::as_str))
    }

    /// That another crawl's pages can be compared with these.
    pub(crate) fn check_key(&self, key: HashKey) -> Result<(), StoreFault> {
        let first = self
            .journals
            .first()
            .and_then(|journal| journal.directory.parent());
        if key == self.key {
            return Ok(());
        }
        Err(other_key(first.unwrap_or(Path::new(""))))
    }

    fn hear(
        &mut self,
        directory: PathBuf,
        replay: &mut Replay,
        features: &str,
    ) -> Result<(), StoreFault> {
        self.journals.push(Told {
            segments: segments(&directory)?,
            directory: directory.clone(),
            archive_files: BTreeSet::new(),
        });
        let (mut begun, mut position): (HashMap<UrlKey, Begun>, Position) = (HashMap::new(), 0);
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
                    begun.insert(page.key(), Begun::Original(signature));
                }
                Record::Retained(seated) => {
                    begun.insert(seated.page.key(), Begun::LetThrough(seated));
                }
                Record::Forgotten { page } => drop(begun.remove(&page)),
                Record::Settled(settled) => {
                    let row = settled.visit.row;
                    let page = begun.remove(&row.url.key());
                    if row.kept && row.fate.is_page() {
                        self.remember(&row, page, position);
                    }
                }
                // Nothing else tells of a page that was kept.
                _ => {}
            }
            position = end;
        }
        Ok(())
    }

    fn remember(&mut self, row: &VisitRecord, begun: Option<Begun>, position: Position) {
        if begun.is_none() && row.payload.is_none() {
            return;
        }
        let number =
            u32::try_from(self.pages.len()).expect("so many signatures would take terabytes");
        let (page, key) = (row.page(), row.url.key());
        self.by_url.push((key, number));
        if let (Some(journal), Some(file)) = (self.journals.last_mut(), &row.warc_file)
            && !journal.archive_files.contains(file)
        {
            journal.archive_files.insert(file.clone());
        }
        self.pages.push(Kept {
            key,
            journal: u32::try_from(self.journals.len() - 1).expect("a command line is shorter"),
            position,
        });
        let group = self.rules.group(&page, self.key);
        match begun {
            None => {
                let Some(payload) = row.payload else { return };
                self.copies.entry((group, payload)).or_insert(number);
                let unadmitted = Unadmitted {
                    payload,
                    fingerprint: row.fingerprint,
                };
                self.unadmitted.insert(number, unadmitted);
            }
            Some(Begun::Original(mut signature)) => {
                // A visit that did not end may have admitted other bytes than were archived in the
                // end.
                signature.payload = row.payload.unwrap_or(signature.payload);
                self.originals
                    .insert_in(group, u64::from(number), *signature);
            }
            Some(Begun::LetThrough(mut seated)) => {
                seated.signature.payload = row.payload.unwrap_or(seated.signature.payload);
                self.copies
                    .entry((group, seated.signature.payload))
                    .or_insert(number);
                let seated = Seated {
                    original: seated.of.key(),
                    number: seated.rank,
                    signature: seated.signature,
                };
                self.seated.insert(number, seated);
            }
        }
    }

    /// The seats that are taken: original and number of each.
    pub(crate) fn seats(&self) -> impl Iterator<Item = (UrlKey, u32)> + '_ {
        self.seated
            .values()
            .map(|seated| (seated.original, seated.number))
    }

    /// The URL of the page with this number.
    pub(crate) fn key_of(&self, number: u32) -> UrlKey {
        self.pages[number as usize].key
    }

    /// The page with this number.
    pub(crate) fn page(&self, number: u32) -> Result<Page, StoreFault> {
        self.row(number).map(|row| row.page())
    }

    fn row(&self, number: u32) -> Result<VisitRecord, StoreFault> {
        let kept = &self.pages[number as usize];
        let journal = &self.journals[kept.journal as usize];
        match record_at(&journal.segments, kept.position)? {
            Some(Record::Settled(settled)) if settled.visit.row.url.key() == kept.key => {
                Ok(*settled.visit.row)
            }
            _ => Err(StoreFault::Damaged {
                path: journal.directory.clone(),
                offset: kept.position,
                what: "it tells something else than it did when this crawl began".to_owned(),
            }),
        }
    }

    /// Compares a page with what these crawls archived under its URL; none where they archived
    /// nothing.
    pub(crate) fn capture(&self, url: UrlKey, signature: &PageSignature) -> Option<Capture> {
        let mut newest = None;
        let mut same = None;
        // The crawls were read in their order, the oldest first.
        for number in self.looks(url) {
            let payload = match (self.look(number), self.unadmitted.get(&number)) {
                (Some(look), _) => look.payload,
                (None, Some(unadmitted)) => unadmitted.payload,
                (None, None) => continue,
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
        let (distance, resemblance) = match self.look(of) {
            Some(look) => nearness(signature, look),
            None => (self.distance_to_unadmitted(of, signature), None),
        };
        Some(Capture::OtherBytes(Change {
            of,
            distance,
            resemblance,
        }))
    }

    fn distance_to_unadmitted(&self, number: u32, signature: &PageSignature) -> Option<u32> {
        let theirs = self.unadmitted.get(&number)?.fingerprint?;
        Some(signature.text.as_deref()?.fingerprint.distance(theirs))
    }

    /// The signature of the page with this number.
    fn look(&self, number: u32) -> Option<&PageSignature> {
        match self.seated.get(&number) {
            Some(seated) => Some(&seated.signature),
            None => self.originals.get(u64::from(number)),
        }
    }

    /// The numbers of the pages with this URL: one for each crawl that kept it.
    fn looks(&self, url: UrlKey) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_url.partition_point(|(key, _)| *key < url);
        let same = self.by_url[first..]
            .iter()
            .take_while(move |(key, _)| *key == url);
        same.map(|(_, number)| *number)
    }

    /// The original that looks like this.
    pub(crate) fn find(&self, group: u64, signature: &PageSignature) -> Option<(u32, Likeness)> {
        let found = self.originals.find_in(group, signature)?;
        let number = u32::try_from(found.of).expect("it was hung under a number of 32 bits");
        Some((number, found.likeness))
    }

    /// The original with this URL, if a page that calls it canonical is like it: the most certain
    /// of its looks.
    pub(crate) fn called_canonical(
        &self,
        group: u64,
        url: UrlKey,
        signature: &PageSignature,
    ) -> Option<(u32, Likeness)> {
        let thresholds = self.rules.thresholds;
        let looks = self.looks(url).filter_map(|number| {
            let look = self.originals.get_in(group, u64::from(number))?;
            Some((number, thresholds.likeness_to_canonical(signature, look)?))
        });
        most_certain(looks)
    }

    /// The page that was let through with these bytes.
    pub(crate) fn copy_of(&self, group: u64, payload: u128) -> Option<u32> {
        self.copies.get(&(group, payload)).copied()
    }
}

/// Bits between the fingerprints of two pages, and the estimated resemblance of their texts,
/// however unlike they are.
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

/// Of equals the latest.
fn most_certain(looks: impl Iterator<Item = (u32, Likeness)>) -> Option<(u32, Likeness)> {
    looks.max_by(|one, two| {
        let order = crate::known::certainty(one.1).total_cmp(&crate::known::certainty(two.1));
        order.then(one.0.cmp(&two.0))
    })
}

fn other_key(directory: &Path) -> StoreFault {
    StoreFault::Incomparable {
        path: directory.to_owned(),
        setting: "--hash-key",
        theirs: "of its own".to_owned(),
        ours: "another".to_owned(),
    }
}

/// Other versions of the program make other fingerprints: told as what it is, not as a setting of
/// the crawl that begins.
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

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Earlier")
            .field("journals", &self.journals.len())
            .field("pages", &self.pages.len())
            .finish_non_exhaustive()
    }
}
