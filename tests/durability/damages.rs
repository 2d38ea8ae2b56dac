//! A state that is damaged anywhere: no record of the archive disappears, and what is lost is said.
//!
//! The journal of a finished crawl and of one that was killed is cut at its records and within
//! them, and bits are turned in every file below `state/`. Each time `verify` looks, and the crawl
//! goes on while its server is away: a page that is taken for unvisited then has no second chance.
//! `DAMAGE_STEP` cuts at every so-manieth place (7 otherwise), `DAMAGE_BITS` says how many bits are
//! turned (24 otherwise), `FLIP_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use sinks::warc::{WarcReader, name_of};
use testkit::Random;

use crate::support::damage::{boundaries, files_below, flip_bit, used};
use crate::support::environment::of_environment;
use crate::support::settled_web::Web;
use crate::support::{Crawl, Ran};

/// A crawl whose server is away, and a copy of what it had written.
struct Patient {
    crawl: Crawl,
    /// The records of its archive, by their ids.
    records: BTreeSet<String>,
    verdicts: BTreeMap<String, String>,
}

/// The number of attempts, and the faults that they found.
#[derive(Default)]
struct Findings {
    tried: usize,
    silent: Vec<String>,
    lost: Vec<String>,
}

impl Patient {
    /// Starts a crawl that is killed after these numbers of requests, one a session; without any it
    /// comes to its end.
    fn new(kills: &[usize]) -> Self {
        let (web, turnstile, server) = Web::of_hubs(2).serve();
        let hosts = web.hosts();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let crawl = Crawl::of(&server, &hosts)
            .seeds(&web.seeds(&server))
            .with(&["--tries=1", "--warc-max-size=6KiB"]);
        for requests in kills {
            turnstile.kill_after(*requests, || crawl.start());
        }
        turnstile.open();
        if kills.is_empty() {
            crawl.complete();
        }
        drop(server);
        crawl.keep_a_copy();
        crawl.restore();
        let mut patient = Self {
            crawl,
            records: BTreeSet::new(),
            verdicts: BTreeMap::new(),
        };
        patient.records = patient.readable();
        patient.verdicts = patient.crawl.verdicts();
        patient
    }

    /// The ids of the records that a reader finds in the archive, and in what was cut off it.
    fn readable(&self) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        for item in fs::read_dir(self.crawl.out().join("archive")).unwrap() {
            let path = item.unwrap().path();
            let is_piece = path.to_string_lossy().contains(".cut-");
            if name_of(&path).is_none() && !is_piece {
                continue;
            }
            let mut reader = WarcReader::open(&path).unwrap();
            while let Ok(Some(record)) = reader.next_record(0) {
                // A file of which nothing else is left is begun anew.
                if record.kind() != "warcinfo" {
                    assert!(record.digests_hold(), "{record:?}");
                    ids.insert(record.id().to_owned());
                }
            }
        }
        ids
    }

    /// Files below `state/` that hold something, but for the lock.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = files_below(&self.crawl.before().join("state"));
        files.retain(|path| {
            path.file_name().unwrap() != "lock" && used(&fs::read(path).unwrap()) > 0
        });
        files
    }

    /// The only segment of its journal, as it was.
    fn journal(&self) -> PathBuf {
        let mut files = self.files();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// The same file in the crawl that is damaged.
    fn in_the_crawl(&self, file: &Path) -> PathBuf {
        let file = file.strip_prefix(self.crawl.before()).unwrap();
        self.crawl.out().join(file)
    }

    /// Looks at the damage, and goes on with it.
    fn goes_on(&self, case: &str, findings: &mut Findings) {
        findings.tried += 1;
        let verified = self.crawl.tell(&["verify", "crawl"]);
        // As long as it takes to open what is there, and to fail at what waits; pages that sessions
        // died with wait for longer.
        let ran = self.crawl.run_with(&["--max-time=200ms"]);
        for ran in [&verified, &ran] {
            assert!(!ran.errors.contains("panicked"), "{case}: {ran:?}");
        }
        let gone: Vec<_> = self.records.difference(&self.readable()).cloned().collect();
        if !gone.is_empty() {
            findings
                .lost
                .push(format!("{case}: {} records: {ran:?}", gone.len()));
        }
        if speaks_up(&verified) || speaks_up(&ran) {
            return;
        }
        let verdicts = self.crawl.verdicts();
        let is_kept = |(url, verdict): (&String, &String)| verdicts.get(url) == Some(verdict);
        let missing = self.verdicts.iter().filter(|row| !is_kept(*row)).count();
        if missing > 0 {
            findings.silent.push(format!("{case}: {missing} rows"));
        }
    }
}

/// Returns true if the program reported that something is wrong.
fn speaks_up(ran: &Ran) -> bool {
    ran.code != Some(0) || ran.errors.contains("WARN") || ran.errors.contains("warning:")
}

#[expect(clippy::print_stderr, reason = "`just attack` counts what was tried")]
fn every_damage_is_found(patient: &Patient, what: &str) {
    let step = usize::try_from(of_environment("DAMAGE_STEP").unwrap_or(7)).unwrap();
    let bits = of_environment("DAMAGE_BITS").unwrap_or(24);
    let seed = of_environment("FLIP_SEED").unwrap_or_else(|| RandomState::new().hash_one(()));
    eprintln!("DAMAGE_STEP={step} DAMAGE_BITS={bits} FLIP_SEED={seed}");
    let mut findings = Findings::default();
    let journal = patient.journal();
    let whole = fs::read(&journal).unwrap();
    for two in boundaries(&whole).windows(2).step_by(step) {
        for length in [two[0], (two[0] + two[1]) / 2] {
            patient.crawl.restore();
            fs::write(patient.in_the_crawl(&journal), &whole[..length]).unwrap();
            let case = format!("{what}: the journal cut to {length} of {}", whole.len());
            patient.goes_on(&case, &mut findings);
        }
    }
    let (mut random, files) = (Random::of(seed, 0), patient.files());
    for _ in 0..bits {
        let file = &files[random.below(files.len())];
        let (place, bit) = (
            random.below(used(&fs::read(file).unwrap())),
            random.below(8),
        );
        patient.crawl.restore();
        flip_bit(&patient.in_the_crawl(file), place, bit);
        let case = format!("{what}: bit {bit} of byte {place} of {}", file.display());
        patient.goes_on(&case, &mut findings);
    }
    let Findings {
        tried,
        silent,
        lost,
    } = findings;
    eprintln!(
        "damages: {tried} tried, silent {}, lost {}",
        silent.len(),
        lost.len()
    );
    assert_eq!((silent, lost), (Vec::new(), Vec::new()));
}

#[test]
fn no_damage_of_a_finished_crawl_s_state_is_silent_or_costs_a_record() {
    every_damage_is_found(&Patient::new(&[]), "finished");
}

#[test]
fn no_damage_of_a_killed_crawl_s_state_is_silent_or_costs_a_record() {
    every_damage_is_found(&Patient::new(&[17]), "killed");
}

#[test]
fn no_damage_of_a_state_that_was_killed_twice_is_silent_or_costs_a_record() {
    every_damage_is_found(&Patient::new(&[9, 11]), "killed twice");
}
