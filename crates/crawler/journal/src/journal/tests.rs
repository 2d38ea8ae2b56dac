//! Reading back the journal: the written records, or an error that names the cause.

use disk::SystemDisk;
use neardup::{MatchKind, PageSignature};
use proptest::prelude::*;
use web::{Host, Pace, Timestamp};

use super::*;
use crate::finished_visit::FinishedVisit;
use crate::fixtures::{at, link, visit};
use crate::follower::JournalFollower;
use crate::history::record_at as record_of;
use crate::page::Page;
use crate::record::{DistinctPages, RetainedPage, SettledVisit, is_about_signatures};
use crate::segment::{FORMAT, HEADER_BYTES, Replay, record_in, segments};
use crate::visit_record::Fate;

const KEY: HashKey = HashKey::new(0x0123_4567_89ab_cdef);

fn system() -> Arc<dyn Disk> {
    Arc::new(SystemDisk)
}

fn journal(directory: &Path, segment_bytes: u64) -> Journal {
    Journal::open(system(), directory, KEY, segment_bytes).unwrap()
}

fn record(number: u64) -> Record {
    Record::Discovered {
        first: number,
        finds: vec![link(&format!("http://a.test/{number}"), 1)],
    }
}

fn all(directory: &Path) -> Result<Vec<Record>, StoreFault> {
    let mut replay = Replay::open(directory, 0)?;
    let mut found = Vec::new();
    while let Some((_, record)) = replay.next_record()? {
        found.push(record);
    }
    Ok(found)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    segments(directory)
        .unwrap()
        .into_iter()
        .map(|(_, path)| path)
        .collect()
}

#[test]
fn records_come_back_in_order_over_many_segments_and_from_any_position() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    let ends: Vec<_> = (0..20)
        .map(|number| journal.append(&record(number)).unwrap())
        .collect();
    assert!(files(directory.path()).len() > 3);
    assert_eq!(
        all(directory.path()).unwrap(),
        (0..20).map(record).collect::<Vec<_>>()
    );
    for (number, end) in ends.iter().enumerate() {
        let mut replay = journal.replay(*end).unwrap();
        let next = replay.next_record().unwrap().map(|(_, record)| record);
        assert_eq!(
            next,
            (number < 19).then(|| record(number as u64 + 1)),
            "after record {number}"
        );
    }
}

#[test]
fn a_record_is_read_at_the_position_that_a_replay_gave() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    let mut position = 0;
    let begins: Vec<_> = (0..20)
        .map(|number| std::mem::replace(&mut position, journal.append(&record(number)).unwrap()))
        .collect();
    let segments = segments(directory.path()).unwrap();
    for (number, begin) in (0..20).zip(begins) {
        assert_eq!(record_in(&segments, begin).unwrap(), Some(record(number)));
    }
    assert_eq!(
        record_in(&segments, position).unwrap(),
        None,
        "nothing is there yet"
    );
    assert_eq!(record_in(&[], 0).unwrap(), None);
}

#[test]
fn a_reopened_journal_keeps_its_key_and_continues_at_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let end = journal(directory.path(), 1 << 20)
        .append(&record(0))
        .unwrap();
    let again = Journal::open(system(), directory.path(), HashKey::ZERO, 1 << 20).unwrap();
    assert_eq!(again.key(), KEY);
    assert_eq!(again.end(), end);
    again.append(&record(1)).unwrap();
    assert_eq!(all(directory.path()).unwrap(), [record(0), record(1)]);
}

#[test]
fn a_torn_write_of_any_length_is_cut_off_and_nothing_before_it_is_lost() {
    let written = tempfile::tempdir().unwrap();
    let journal = journal(written.path(), 1 << 20);
    let whole = journal.append(&record(0)).unwrap();
    let end = journal.append(&record(1)).unwrap();
    let bytes = std::fs::read(&files(written.path())[0]).unwrap();
    for length in 0..end {
        for zeros in [0, 40] {
            let torn = tempfile::tempdir().unwrap();
            let path = torn.path().join(format!("{:020}.log", 0));
            let mut padded = bytes[..length as usize].to_vec();
            padded.resize(length as usize + zeros, 0);
            // The header is synced before anything is written behind it.
            if length < HEADER_BYTES as u64 && padded.len() > HEADER_BYTES {
                continue;
            }
            std::fs::write(&path, &padded).unwrap();
            let kept = [whole, end]
                .iter()
                .filter(|end| padded.starts_with(&bytes[..**end as usize]))
                .count();
            let expected: Vec<_> = (0..kept as u64).map(record).collect();
            let reopened = Journal::open(system(), torn.path(), KEY, 1 << 20).unwrap();
            let context = format!("cut at {length}, {zeros} zeros");
            assert_eq!(all(torn.path()).unwrap(), expected, "{context}");
            reopened.append(&record(7)).unwrap();
            assert_eq!(
                all(torn.path()).unwrap().last(),
                Some(&record(7)),
                "{context}"
            );
        }
    }
}

#[test]
fn a_segment_that_is_missing_in_the_middle_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 200);
    for number in 0..20 {
        journal.append(&record(number)).unwrap();
    }
    std::fs::remove_file(&files(directory.path())[1]).unwrap();
    assert!(matches!(
        all(directory.path()),
        Err(StoreFault::Damaged { .. })
    ));
}

#[test]
fn a_journal_of_another_format_is_refused_by_name_and_number() {
    let directory = tempfile::tempdir().unwrap();
    drop(journal(directory.path(), 1 << 20));
    let path = &files(directory.path())[0];
    let mut bytes = std::fs::read(path).unwrap();
    bytes[8] = 99;
    let checksum = crc32fast::hash(&bytes[..32]);
    bytes[32..].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
    let refused = Journal::open(system(), directory.path(), KEY, 1 << 20)
        .err()
        .unwrap();
    assert!(
        refused.to_string().ends_with(&format!(
            "was written in format 99, but this program reads format {FORMAT}"
        )),
        "{refused}"
    );
}

#[tokio::test]
async fn one_sync_makes_the_records_of_many_workers_durable() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 1 << 20);
    let first = journal.append(&record(0)).unwrap();
    let second = journal.append(&record(1)).unwrap();
    assert!(journal.durable() < first);
    journal.sync(first).await.unwrap();
    assert_eq!(journal.durable(), second);
}

/// Bytes on disk are promises: a change of the golden file needs a new `FORMAT`.
#[test]
fn the_golden_journal_is_still_written_and_read() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/journal.hex");
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 1 << 20);
    let records = golden_records();
    for record in &records {
        journal.append(record).unwrap();
    }
    let bytes = std::fs::read(&files(directory.path())[0]).unwrap();
    let hex: Vec<String> = bytes
        .chunks(32)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect())
        .collect();
    let hex = hex.join("\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, format!("{hex}\n")).unwrap();
    }
    assert_eq!(
        hex,
        std::fs::read_to_string(golden).unwrap().trim(),
        "the bytes on disk changed: raise FORMAT, and make the file anew with UPDATE_GOLDEN=1"
    );
    assert_eq!(all(directory.path()).unwrap(), records);
}

#[test]
fn the_records_that_a_follower_passes_over_are_those_about_signatures() {
    let admitted = Record::Admitted {
        page: retained(&link("http://a.test/", 0).url).page,
        signature: Box::new(PageSignature {
            payload: 77,
            text: None,
        }),
    };
    for record in [vec![admitted], golden_records()].concat() {
        let expected = matches!(
            record,
            Record::Admitted { .. } | Record::Forgotten { .. } | Record::Retained(_)
        );
        let payload = postcard::to_stdvec(&record).unwrap();
        assert_eq!(is_about_signatures(&payload), expected, "{record:?}");
    }
}

#[test]
fn the_fields_of_a_settled_visit_keep_their_order_on_disk() {
    /// Mirrors the variant.
    #[derive(serde::Serialize)]
    struct Layout<'a> {
        sequence: u64,
        record: &'a crate::VisitRecord,
        archived: Option<crate::ArchiveSpan>,
        first: u64,
        finds: Vec<crate::DiscoveredUrl>,
        reached: Vec<web::PageUrl>,
        pace: Pace,
        priority: u8,
        excluded: Vec<crate::ExcludedLinks>,
        details: crate::VisitDetails,
    }
    let seed = link("http://a.test/", 0);
    let record = crate::VisitRecord::new(seed.clone(), Fate::Unique, Timestamp::from_millis(5));
    let visit = FinishedVisit {
        record: Box::new(record.clone()),
        archived: Some(crate::ArchiveSpan {
            archive_sequence: 1,
            file: "a.warc.gz".to_owned(),
            end: 300,
        }),
        finds: vec![link("http://a.test/found", 1)],
        reached: vec![link("http://b.test/reached", 0).url],
        excluded: vec![crate::ExcludedLinks {
            rule: "calendar".to_owned(),
            links: 2,
            example: seed.url,
        }],
    };
    let settled = SettledVisit {
        sequence: 3,
        priority: 7,
        first: 9,
        pace: Timestamp::from_millis(11).into(),
        visit: visit.clone(),
    };
    let layout = Layout {
        sequence: 3,
        record: &record,
        archived: visit.archived,
        first: 9,
        finds: visit.finds,
        reached: visit.reached,
        pace: Timestamp::from_millis(11).into(),
        priority: 7,
        excluded: visit.excluded,
        details: crate::VisitDetails::default(),
    };
    let bytes = postcard::to_stdvec(&settled).unwrap();
    assert_eq!(bytes, postcard::to_stdvec(&layout).unwrap());
    assert_eq!(
        postcard::from_bytes::<SettledVisit>(&bytes).unwrap(),
        settled
    );
}

/// Returns the records of the golden journal.
fn golden_records() -> Vec<Record> {
    [
        records_of_visits(),
        records_of_clocks(),
        records_with_details(),
        records_on_topics(),
        records_of_cuts(),
        records_of_contained_pages(),
        records_of_contents(),
    ]
    .concat()
}

/// Returns a record of each kind of event in a simple crawl.
fn records_of_visits() -> Vec<Record> {
    let seed = link("http://a.test/", 0);
    let entry = crate::QueueEntry {
        sequence: 3,
        discovered: seed.clone(),
        attempts: 2,
        crashes: 1,
    };
    let pace = Pace {
        ready: Timestamp::from_millis(7),
        failures: 1,
        crawl_delay: Some(std::time::Duration::from_millis(1500)),
        retry_after: Some(std::time::Duration::from_secs(2)),
        wait: std::time::Duration::from_millis(2500),
        why: web::WaitReason::SlowDown,
        answered: Timestamp::from_millis(5),
        address: Some(std::net::IpAddr::from([192, 0, 2, 1])),
    };
    let settled = crate::VisitRecord {
        payload: Some(0x0123_4567_89ab_cdef),
        ..visit(&seed, Fate::NearDuplicate)
    };
    vec![
        Record::Begun {
            at: Timestamp::from_millis(1),
            features: "word:1".to_owned(),
        },
        Record::Discovered {
            first: 0,
            finds: vec![seed.clone(), seed.clone().needed(2)],
        },
        Record::Forgotten {
            page: seed.url.key(),
        },
        Record::Postponed {
            entry: entry.clone(),
            at: Timestamp::from_millis(2),
            pace,
            reason: None,
        },
        Record::SeedAdopted {
            url: seed.url.clone(),
        },
        Record::Retained(Box::new(retained(&seed.url))),
        Record::Settled(SettledVisit {
            sequence: 3,
            priority: crate::DiscoveredUrl::BEHIND,
            first: 1,
            pace: Pace::default(),
            visit: FinishedVisit {
                excluded: vec![crate::ExcludedLinks {
                    rule: "calendar".to_owned(),
                    links: 2,
                    example: seed.url.clone(),
                }],
                ..FinishedVisit::new(settled.clone())
            },
        }),
        Record::Leased { sequences: vec![3] },
        Record::Stopped,
        Record::Died { sequences: vec![3] },
        Record::Paced {
            host: seed.url.host(),
            pace,
        },
        Record::RobotsRead {
            origin: "http://a.test".to_owned(),
            robots: crate::Robots {
                text: Some(b"User-agent: *".to_vec()),
                until: Timestamp::from_millis(8),
            },
        },
        Record::Archived {
            file: "a.warc.gz".to_owned(),
            end: 9,
        },
        Record::Revoked {
            entry: entry.clone(),
            reached: vec![settled.url.clone()],
            visit: Box::new(settled),
        },
        Record::Returned {
            sequence: 3,
            host: Host::new("a.test"),
            pace: Timestamp::from_millis(5).into(),
        },
        Record::PatternClosed(crate::PatternName::from_text("a.test/f/{n}?a").unwrap()),
        Record::PatternReopened(crate::PatternName::from_text("a.test/f/{n}?a").unwrap()),
        Record::Superseded { entry },
    ]
}

/// Returns records with requests that differ from their URLs.
fn records_of_requests() -> Vec<Record> {
    let found = link("http://a.test/b?z=1&a=2;jsessionid=3", 1);
    let visit = crate::VisitRecord::new(found.clone(), Fate::Failed, at(5));
    let revoked = Record::Revoked {
        entry: crate::QueueEntry::new(12, found.clone()),
        visit: Box::new(visit),
        reached: Vec::new(),
    };
    let finds = vec![found];
    vec![Record::Discovered { first: 11, finds }, revoked]
}

/// A URL was requested in canonical form after a restart, and a signed one answered with 403.
#[test]
fn requests_come_back_as_pages_wrote_them() {
    let directory = tempfile::tempdir().unwrap();
    let journal = journal(directory.path(), 1 << 20);
    for record in records_of_requests() {
        journal.append(&record).unwrap();
    }
    let read = all(directory.path()).unwrap();
    let [
        Record::Discovered { finds, .. },
        Record::Revoked { entry, visit, .. },
    ] = &read[..]
    else {
        panic!("{read:?}");
    };
    for url in [&finds[0].url, &entry.discovered.url, &visit.url] {
        assert_eq!(url.as_str(), "http://a.test/b?a=2&z=1");
        assert_eq!(url.request_target(), "/b?z=1&a=2;jsessionid=3");
    }
}

/// Returns records of a page with the digest of its decoded content.
fn records_of_contents() -> Vec<Record> {
    let found = link("http://a.test/packed", 1);
    let visit = crate::VisitRecord {
        details: crate::VisitDetails {
            content: Some(0x0123_4567_89ab_cdef),
            language_confidence: Some(97),
            needs_scripts: true,
            rendered: Some(crate::Rendered::Dom {
                offset: Some(17),
                adds: true,
            }),
            preferences: "train=n (robots.txt content-usage), search=y (noai)"
                .parse()
                .ok(),
            ..crate::VisitDetails::default()
        },
        ..crate::VisitRecord::new(found.clone(), Fate::Unique, at(8))
    };
    vec![
        Record::Settled(SettledVisit {
            sequence: 15,
            priority: found.priority,
            first: 16,
            pace: Pace::default(),
            visit: FinishedVisit::new(visit.clone()),
        }),
        Record::Revoked {
            entry: crate::QueueEntry::new(16, found),
            visit: Box::new(visit),
            reached: Vec::new(),
        },
    ]
}

/// Returns records of a page that has the content of another one.
fn records_of_contained_pages() -> Vec<Record> {
    let found = link("http://a.test/whole", 1);
    let visit = crate::VisitRecord {
        details: crate::VisitDetails {
            contains: vec![link("http://a.test/print/whole", 1).url],
            ..crate::VisitDetails::default()
        },
        ..crate::VisitRecord::new(found.clone(), Fate::Unique, at(7))
    };
    vec![
        Record::Settled(SettledVisit {
            sequence: 13,
            priority: found.priority,
            first: 14,
            pace: Pace::default(),
            visit: FinishedVisit::new(visit.clone()),
        }),
        Record::Revoked {
            entry: crate::QueueEntry::new(14, found),
            visit: Box::new(visit),
            reached: Vec::new(),
        },
    ]
}

/// Returns records of requests, held URLs and limits.
fn records_of_cuts() -> Vec<Record> {
    let found = link("http://a.test/list", 1);
    let visit = |cuts, unread| crate::VisitRecord {
        details: crate::VisitDetails {
            cuts,
            unread,
            ..crate::VisitDetails::default()
        },
        ..crate::VisitRecord::new(found.clone(), Fate::Unique, at(6))
    };
    let links = crate::Cut {
        limit: crate::Limit::Links,
        lost: 2_000,
    };
    let mut records = records_of_requests();
    let held = [link("http://a.test/target", 2), link("http://a.test/", 0)];
    records.extend([
        Record::Held { finds: held.into() },
        Record::Settled(SettledVisit {
            sequence: 10,
            priority: found.priority,
            first: 11,
            pace: Pace::default(),
            visit: FinishedVisit::new(visit(vec![links, crate::Cut::by(crate::Limit::Text)], None)),
        }),
        Record::Revoked {
            entry: crate::QueueEntry::new(12, found.clone()),
            visit: Box::new(visit(Vec::new(), Some(crate::UnreadFormat::Pdf))),
            reached: Vec::new(),
        },
    ]);
    records
}

/// Returns records of a focused crawl.
fn records_on_topics() -> Vec<Record> {
    let found = link("http://a.test/aside", 1).with_link_score(5);
    let relevance = |thousandths| Some(crate::Relevance::from_thousandths(thousandths));
    let record = |fate, relevance| crate::VisitRecord {
        details: crate::VisitDetails {
            relevance,
            ..crate::VisitDetails::default()
        },
        ..crate::VisitRecord::new(found.clone(), fate, at(5))
    };
    vec![
        Record::Settled(SettledVisit {
            sequence: 7,
            priority: found.priority,
            first: 8,
            pace: Pace::default(),
            visit: FinishedVisit {
                finds: vec![
                    link("http://a.test/behind", 2)
                        .with_link_score(31)
                        .put_behind(),
                ],
                ..FinishedVisit::new(record(Fate::OffTopic, relevance(420)))
            },
        }),
        Record::Revoked {
            entry: crate::QueueEntry::new(9, found.clone()),
            visit: Box::new(record(Fate::NearDuplicate, relevance(1_000))),
            reached: vec![found.url.clone()],
        },
    ]
}

/// Returns records with the details of a visit.
fn records_with_details() -> Vec<Record> {
    let found = link("http://a.test/print", 1).off_scope(2);
    let mut visit = crate::VisitRecord::new(found.clone(), Fate::NearDuplicate, at(5));
    visit.details = crate::VisitDetails {
        rule: Some(crate::DuplicateRule::ByCanonical),
        duration: Some(std::time::Duration::from_millis(1_250)),
        words: Some(300),
        redirects: 2,
        digest: Some("sha1:2JXWZQ5BN2TU5PQNV4ILDK3AWBPOTNQV".to_owned()),
        is_sitemap: true,
        ..visit.details
    };
    vec![
        Record::Settled(SettledVisit {
            sequence: 4,
            priority: crate::DiscoveredUrl::ORDERED,
            first: 5,
            pace: Pace::default(),
            visit: FinishedVisit::new(visit),
        }),
        Record::Postponed {
            entry: crate::QueueEntry::new(6, found.clone()),
            at: at(7),
            pace: Pace::default(),
            reason: Some(crate::Reason::said("no answer within 60s")),
        },
        Record::Distinct(DistinctPages {
            page: found.url,
            original: link("http://a.test/", 0).url,
        }),
    ]
}

/// Returns records of clocks and paces.
fn records_of_clocks() -> Vec<Record> {
    let second = std::time::Duration::from_secs(1);
    vec![
        Record::Restarted {
            at: Timestamp::from_millis(9),
            rule: web::RestartRule {
                min_wait: second,
                max_wait: 30 * second,
                factor: 5000,
            },
        },
        Record::ClockSetBack {
            to: Timestamp::from_millis(5),
            min_wait: second,
        },
        Record::ClockSet {
            at: Timestamp::from_millis(6),
            ahead: 2 * second,
            behind: std::time::Duration::ZERO,
        },
        Record::Paced {
            host: Host::new("a.test"),
            pace: Pace::unanswered(Timestamp::from_millis(4), second),
        },
    ]
}

/// Returns a kept duplicate without a text: texts have golden files of their own.
fn retained(url: &web::PageUrl) -> RetainedPage {
    let page = Page {
        url: url.clone(),
        final_url: url.clone(),
        at: Timestamp::from_millis(4),
    };
    RetainedPage {
        page: page.clone(),
        signature: PageSignature {
            payload: 77,
            text: None,
        },
        of: page,
        earlier: true,
        match_kind: MatchKind::SameText,
        rank: 2,
        by_canonical: true,
    }
}

/// Writes five synced records and a mark.
fn marked(directory: &Path) -> PathBuf {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let journal = journal(directory, 1 << 20);
    for number in 0..5 {
        journal.append(&record(number)).unwrap();
    }
    let end = journal.end();
    runtime.block_on(journal.sync(end)).unwrap();
    journal.mark().unwrap();
    assert_eq!(journal.end(), end, "a mark is no record");
    let length = std::fs::metadata(&files(directory)[0]).unwrap().len();
    journal.mark().unwrap();
    runtime.block_on(journal.sync(end)).unwrap();
    let path = files(directory).remove(0);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), length, "said once");
    path
}

proptest! {
    #[test]
    fn a_flipped_bit_in_synced_bytes_is_reported(at in 0..10_000_usize, bit in 0..8_u32) {
        let directory = tempfile::tempdir().unwrap();
        let path = marked(directory.path());
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        std::fs::write(path, &bytes).unwrap();
        let written: Vec<_> = (0..5).map(record).collect();
        match all(directory.path()) {
            Ok(found) => {
                prop_assert!(at >= bytes.len() - 20, "only in the mark itself: byte {at}");
                prop_assert_eq!(found, written);
            }
            Err(
                StoreFault::Damaged { .. }
                | StoreFault::Format { .. }
                | StoreFault::Setting { .. },
            ) => {}
            Err(other) => prop_assert!(false, "byte {at}: {other}"),
        }
    }

    #[test]
    fn a_flipped_bit_in_unsynced_bytes_never_yields_other_records(
        at in HEADER_BYTES..10_000_usize, bit in 0..8_u32,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let journal = journal(directory.path(), 1 << 20);
        let ends: Vec<_> = (0..5).map(|number| journal.append(&record(number)).unwrap()).collect();
        let path = &files(directory.path())[0];
        let mut bytes = std::fs::read(path).unwrap();
        let at = HEADER_BYTES + (at - HEADER_BYTES) % (bytes.len() - HEADER_BYTES);
        bytes[at] ^= 1 << bit;
        std::fs::write(path, &bytes).unwrap();
        let whole = ends.iter().filter(|end| **end <= at as u64).count() as u64;
        prop_assert_eq!(all(directory.path()).unwrap(), (0..whole).map(record).collect::<Vec<_>>());
    }
}

fn appended(follower: &mut JournalFollower) -> Vec<Record> {
    let mut found = Vec::new();
    while let Some((_, record)) = follower.next_record().unwrap() {
        found.push(record);
    }
    found
}

/// Returns a store's directory without a journal.
fn empty_state() -> tempfile::TempDir {
    let state = tempfile::tempdir().unwrap();
    std::fs::create_dir(state.path().join("journal")).unwrap();
    state
}

#[test]
fn a_follower_returns_each_record_once_while_segments_are_appended() {
    let state = empty_state();
    let mut follower = JournalFollower::open(state.path()).unwrap();
    assert_eq!(appended(&mut follower), [], "there is no journal yet");
    let journal = journal(&state.path().join("journal"), 200);
    let mut next = 0;
    for records in [1, 0, 7, 2] {
        for number in next..next + records {
            journal.append(&record(number)).unwrap();
        }
        let expected: Vec<_> = (next..next + records).map(record).collect();
        assert_eq!(appended(&mut follower), expected);
        next += records;
    }
    assert!(files(&state.path().join("journal")).len() > 1);
}

#[test]
fn a_follower_gives_the_position_at_which_a_record_is_read_again() {
    let state = empty_state();
    let journal = journal(&state.path().join("journal"), 200);
    for number in 0..20 {
        journal.append(&record(number)).unwrap();
    }
    let mut follower = JournalFollower::open(state.path()).unwrap();
    while let Some((position, found)) = follower.next_record().unwrap() {
        assert_eq!(record_of(state.path(), position).unwrap(), found);
        let mut later = JournalFollower::open_at(state.path(), position).unwrap();
        assert_eq!(later.next_record().unwrap(), Some((position, found)));
    }
}

#[test]
fn a_frame_that_is_half_written_is_read_once_it_is_whole() {
    let state = empty_state();
    let directory = state.path().join("journal");
    let whole = journal(&directory, 1 << 20).append(&record(0)).unwrap();
    let frame = encode(&record(1));
    let path = &files(&directory)[0];
    let mut follower = JournalFollower::open(state.path()).unwrap();
    assert_eq!(appended(&mut follower), [record(0)]);
    for length in 1..frame.len() {
        let mut bytes = std::fs::read(path).unwrap()[..whole as usize].to_vec();
        bytes.extend(&frame[..length]);
        std::fs::write(path, bytes).unwrap();
        assert_eq!(appended(&mut follower), [], "{length} bytes");
    }
    let mut bytes = std::fs::read(path).unwrap()[..whole as usize].to_vec();
    bytes.extend(&frame);
    std::fs::write(path, bytes).unwrap();
    assert_eq!(appended(&mut follower), [record(1)]);
}

#[test]
fn a_follower_notices_that_another_journal_has_the_place_of_its_own() {
    let state = empty_state();
    let directory = state.path().join("journal");
    journal(&directory, 1 << 20).append(&record(0)).unwrap();
    let mut follower = JournalFollower::open(state.path()).unwrap();
    assert_eq!(appended(&mut follower), [record(0)]);
    assert!(!follower.is_replaced().unwrap());
    std::fs::rename(&directory, state.path().join("journal.old")).unwrap();
    assert!(follower.is_replaced().unwrap());
    assert!(follower.restart().is_err(), "no journal is there");
    std::fs::create_dir(&directory).unwrap();
    let other = Journal::open(system(), &directory, HashKey::ZERO, 1 << 20).unwrap();
    for number in 7..9 {
        other.append(&record(number)).unwrap();
    }
    assert!(follower.is_replaced().unwrap());
    follower.restart().unwrap();
    assert_eq!(appended(&mut follower), [record(7), record(8)]);
}

#[test]
fn a_follower_reports_a_damaged_segment() {
    let state = empty_state();
    let directory = state.path().join("journal");
    let journal = journal(&directory, 200);
    for number in 0..20 {
        journal.append(&record(number)).unwrap();
    }
    let path = &files(&directory)[1];
    let mut bytes = std::fs::read(path).unwrap();
    bytes[HEADER_BYTES + 20] ^= 1;
    std::fs::write(path, bytes).unwrap();
    let mut follower = JournalFollower::open(state.path()).unwrap();
    let fault = loop {
        match follower.next_record() {
            Ok(found) => assert!(found.is_some(), "it ended without a fault"),
            Err(fault) => break fault,
        }
    };
    assert!(matches!(fault, StoreFault::Damaged { .. }), "{fault}");
}

/// Returns the records that are handed over up to the end, or to a fault.
fn handed_over(follower: &mut JournalFollower) -> (Vec<(Position, Record)>, Option<String>) {
    let mut found = Vec::new();
    let read = follower.apply_rest(|position, record| found.push((position, record.clone())));
    let fault = read.map(|count| assert_eq!(count, found.len() as u64));
    (found, fault.err().map(|fault| fault.to_string()))
}

#[test]
fn records_decoded_on_a_second_thread_are_those_of_one_up_to_the_end_or_a_damage() {
    let state = empty_state();
    let directory = state.path().join("journal");
    let journal = journal(&directory, 20_000);
    let mut in_pieces = JournalFollower::open(state.path()).unwrap();
    let mut pieces = Vec::new();
    // Few and many, and as many as make whole batches.
    for records in [0, 1, 255, 256, 257, 384, 3_000] {
        for _ in 0..records {
            let number = pieces.len() as u64 + journal.end();
            journal.append(&record(number)).unwrap();
        }
        let (found, fault) = handed_over(&mut in_pieces);
        assert_eq!((found.len(), fault), (records, None));
        pieces.extend(found);
    }
    let mut one_by_one = JournalFollower::open(state.path()).unwrap();
    let mut expected = Vec::new();
    while let Some(found) = one_by_one.next_record().unwrap() {
        expected.push(found);
    }
    assert!(pieces == expected);

    let damaged = &files(&directory)[4];
    let mut bytes = std::fs::read(damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(damaged, bytes).unwrap();
    let (found, fault) = handed_over(&mut JournalFollower::open(state.path()).unwrap());
    assert!(found.len() > 256 && found == expected[..found.len()]);
    let mut follower = JournalFollower::open(state.path()).unwrap();
    let fault_of_one = loop {
        match follower.next_record() {
            Ok(found) => assert!(found.is_some(), "it ended without a fault"),
            Err(fault) => break fault.to_string(),
        }
    };
    assert_eq!(fault, Some(fault_of_one));
}
