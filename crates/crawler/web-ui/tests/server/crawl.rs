//! The directory of a crawl, written without a crawl: a journal with one string in each place that
//! text from the web can have.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use comparison::{BlockWeight, DifferingBlock};
use differences::{PageOfPair, PageTextState, Pair};
use disk::SystemDisk;
use journal::{
    DiscoveredUrl, ExcludedLinks, Fate, FinishedVisit, Journal, QueueEntry, Reason, Record,
    SEGMENT_BYTES, SettledVisit, VisitRecord,
};
use neardup::{Fingerprint, HashKey, Thresholds};
use tempfile::TempDir;
use web::{CanonicalForm, Pace, PageUrl, Timestamp};
use web_ui::{
    CrawlQueries, Explanation, JudgedPair, ListedChanges, MinDelays, Setting, SimilarPage,
    WatchedCrawl,
};

pub(crate) const UNIQUE: &str = "http://site.test/";
pub(crate) const DUPLICATE: &str = "http://site.test/copy";
pub(crate) const FAILED: &str = "http://site.test/broken";
pub(crate) const EXCLUDED: &str = "http://site.test/closed";

/// A crawl of a few visits.
pub(crate) struct CrawlFixture {
    directory: TempDir,
    /// The string that stands wherever the web chooses one.
    string: String,
    /// The archive file that the journal names.
    pub(crate) file: String,
    pub(crate) journal: Journal,
    next: std::cell::Cell<u64>,
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

impl CrawlFixture {
    /// Writes a crawl whose pages and servers say `string` wherever they can.
    pub(crate) fn saying(string: &str) -> Self {
        let fixture = Self::empty(string);
        for (place, fate) in [
            (UNIQUE, Fate::Unique),
            (DUPLICATE, Fate::NearDuplicate),
            (FAILED, Fate::Failed),
            (EXCLUDED, Fate::Excluded),
        ] {
            fixture.visit(place, fate);
        }
        fixture
    }

    /// Writes a crawl that has visited nothing.
    pub(crate) fn empty(string: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let journal = directory.path().join("state/journal");
        std::fs::create_dir_all(&journal).unwrap();
        std::fs::create_dir_all(directory.path().join("archive")).unwrap();
        let disk = Arc::new(SystemDisk);
        let journal = Journal::open(disk, &journal, HashKey::new(7), SEGMENT_BYTES).unwrap();
        let at = Timestamp::from_millis(1_790_000_000_000);
        let features = "word:1".to_owned();
        journal.append(&Record::Begun { at, features }).unwrap();
        Self {
            directory,
            string: string.to_owned(),
            file: "crawl-00000.warc.gz".to_owned(),
            journal,
            next: std::cell::Cell::new(0),
        }
    }

    /// Queues these URLs by one record, and returns the sequence number of the first.
    pub(crate) fn discover(&self, places: &[&str]) -> u64 {
        let first = self.next.get();
        self.next.set(first + places.len() as u64);
        let found = |place: &&str| DiscoveredUrl::new(url(place), 1, Some(url(UNIQUE)));
        let finds = places.iter().map(found).collect();
        self.journal
            .append(&Record::Discovered { first, finds })
            .unwrap();
        first
    }

    /// Begins the visits of these queue entries.
    pub(crate) fn lease(&self, sequences: &[u64]) {
        let sequences = sequences.to_vec();
        self.journal.append(&Record::Leased { sequences }).unwrap();
    }

    /// Revokes the visit of a duplicate.
    pub(crate) fn revoke(&self, place: &str) {
        let found = DiscoveredUrl::new(url(place), 1, Some(url(UNIQUE)));
        let mut visit = VisitRecord::new(found.clone(), Fate::NearDuplicate, Timestamp::default());
        visit.duplicate_of = Some(url(UNIQUE));
        let entry = QueueEntry {
            sequence: self.next.replace(self.next.get() + 1),
            discovered: found,
            attempts: 0,
            crashes: 0,
        };
        let revoked = Record::Revoked {
            entry,
            visit: Box::new(visit),
            reached: Vec::new(),
        };
        self.journal.append(&revoked).unwrap();
    }

    /// Holds the lock of the crawl, as a process that runs it does, until the file is dropped.
    pub(crate) fn run(&self) -> std::fs::File {
        let lock = std::fs::File::create(self.path("state/lock")).unwrap();
        lock.lock().unwrap();
        lock
    }

    /// Appends a visit to the journal.
    pub(crate) fn visit(&self, place: &str, fate: Fate) {
        let sequence = self.discover(&[place]);
        self.settle(sequence, place, fate);
    }

    /// Ends the visit of a queue entry.
    pub(crate) fn settle(&self, sequence: u64, place: &str, fate: Fate) {
        let found = DiscoveredUrl::new(url(place), 1, Some(url(UNIQUE)));
        let at = Timestamp::from_millis(1_790_000_000_000 + sequence);
        let mut record = VisitRecord::new(found, fate, at);
        let string = || Some(self.string.clone());
        record.status = Some(200);
        record.bytes = 1_000;
        (record.title, record.reason) = (string(), string().map(Reason::said));
        (record.content_type, record.charset, record.language) = (string(), string(), string());
        record.fingerprint = Some(Fingerprint::new(sequence));
        (record.warc_file, record.warc_offset) = (Some(self.file.clone()), Some(0));
        record.kept = fate == Fate::Unique;
        if fate.is_duplicate() {
            record.duplicate_of = Some(url(UNIQUE));
            (record.distance, record.resemblance) = (Some(3), Some(0.91));
        }
        let visit = FinishedVisit {
            excluded: vec![ExcludedLinks {
                rule: self.string.clone(),
                links: 3,
                example: url(EXCLUDED),
            }],
            ..FinishedVisit::new(record)
        };
        let settled = SettledVisit {
            sequence,
            priority: 0,
            first: self.next.get(),
            pace: Pace::from(at),
            visit,
        };
        self.journal.append(&Record::Settled(settled)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the crawl as the dashboard sees it. Its settings, and its answers to questions, have
    /// the string as well.
    pub(crate) fn watched(&self) -> WatchedCrawl {
        let directory = self.directory.path().to_owned();
        let [of_why, of_similar, of_pair, of_text] = [(); 4].map(|()| self.string.clone());
        let setting = Setting {
            name: self.string.clone(),
            value: self.string.clone(),
            is_changed: true,
        };
        WatchedCrawl {
            state: directory.join("state"),
            archive: directory.join("archive"),
            search: directory.join("search"),
            directory,
            title: self.string.clone(),
            settings: vec![setting],
            min_delays: MinDelays {
                of_all: Duration::from_secs(1),
                ..MinDelays::default()
            },
            form: CanonicalForm::default(),
            takes_actions: true,
            queries: CrawlQueries {
                explain: Box::new(move |_| {
                    Ok(Explanation {
                        verdict: "not-queued".to_owned(),
                        reason: of_why.clone(),
                    })
                }),
                similar: Box::new(move |_| {
                    Ok(vec![SimilarPage {
                        url: of_similar.clone(),
                        verdict: Fate::NearDuplicate,
                        distance: 2,
                        resemblance: 0.9,
                    }])
                }),
                pair: Box::new(move |_| Ok(judged(&of_pair))),
                text: Box::new(move |_, _| Some(of_text.clone())),
                visits_csv: Box::new(|_, most| Ok(format!("url\r\n{most}").into_bytes())),
                hosts_csv: Box::new(|_, letters, most| {
                    Ok(format!("host\r\n{letters} {most}").into_bytes())
                }),
                changes: Some(Box::new(|_, _, _| Ok(changes()))),
            },
        }
    }
}

/// Returns a pair whose texts, titles and reason are this string.
fn judged(string: &str) -> JudgedPair {
    let page = PageOfPair {
        url: string.to_owned(),
        title: Some(string.to_owned()),
        heading: Some(string.to_owned()),
        canonical: Some(string.to_owned()),
        text: PageTextState::Known(format!("{string} {string}")),
        ..PageOfPair::default()
    };
    let member = PageOfPair {
        text: PageTextState::Known(format!("{string} other words")),
        ..page.clone()
    };
    let url = PageUrl::parse("http://a.test/copy", &CanonicalForm::default()).unwrap();
    let found = DiscoveredUrl::new(url, 0, None);
    let mut visit = VisitRecord::new(found, Fate::NearDuplicate, Timestamp::default());
    visit.reason = Some(Reason::said(string));
    JudgedPair {
        pair: Pair::of(page, member, &Thresholds::default(), false),
        visit,
        blocks: vec![DifferingBlock {
            page: Some(string.to_owned()),
            original: Some(string.to_owned()),
            weight: BlockWeight::Counts,
        }],
    }
}

/// Returns a change with all fields.
fn changes() -> ListedChanges {
    let change = serde_json::json!({
        "change": "changed",
        "url": "http://a.test/new",
        "from": "http://a.test/old",
        "resemblance": 0.5,
        "added": ["new words"],
        "removed": ["old words"],
        "reason": "the words differ",
    });
    ListedChanges {
        counts: ["new", "changed", "moved", "gone", "unchanged", "unknown"]
            .map(|kind| (kind, 1))
            .into(),
        total: 1,
        listed: vec![change],
    }
}
