//! Damage anywhere in the state: no record of the archive disappears, and every loss is reported.
//!
//! The journal of a finished crawl and of one that was killed is cut at its records and within
//! them, and bits are flipped in every file below `state/`. Each time `verify` runs, and the crawl
//! continues without its server: a page that wrongly counts as unvisited cannot be fetched again.
//! `DAMAGE_STEP` is the step between cuts (by default 7), `DAMAGE_BITS` the number of flipped bits
//! (by default 24), `FLIP_SEED` repeats a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use sinks::warc::{WarcReader, name_of};
use testkit::Random;

use crate::support::damage::{boundaries, files_below, flip_bit, used};
use crate::support::environment::of_environment;
use crate::support::settled_web::Web;
use crate::support::{CommandOutput, Crawl};

/// A crawl whose server has stopped, and a copy of its files.
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
    /// Starts a crawl that is killed after these numbers of requests, one per session; without any
    /// it is completed.
    fn new(kills: &[usize]) -> Self {
        let (web, limiter, server) = Web::of_hubs(2).serve();
        let hosts = web.hosts();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let crawl = Crawl::of(&server, &hosts)
            .seeds(&web.seeds(&server))
            .with(&["--tries=1", "--warc-max-size=6KiB"]);
        for requests in kills {
            limiter.kill_after(*requests, || crawl.start());
        }
        limiter.open();
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
                // A file without any other record is begun anew.
                if record.kind() != "warcinfo" {
                    assert!(record.digests_hold(), "{record:?}");
                    ids.insert(record.id().to_owned());
                }
            }
        }
        ids
    }

    /// Returns the files below `state/` that are not empty, except the lock.
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

    /// Verifies the damaged crawl, and continues it.
    fn goes_on(&self, case: &str, findings: &mut Findings) {
        findings.tried += 1;
        let verified = self.crawl.run_command(&["verify", "crawl"]);
        // Long enough to open the crawl and to fail at the waiting pages; pages with which sessions
        // died wait longer.
        let run = self.crawl.run_with(&["--max-time=200ms"]);
        for run in [&verified, &run] {
            assert!(!run.errors.contains("panicked"), "{case}: {run:?}");
        }
        let gone: Vec<_> = self.records.difference(&self.readable()).cloned().collect();
        if !gone.is_empty() {
            findings
                .lost
                .push(format!("{case}: {} records: {run:?}", gone.len()));
        }
        if is_reported_by(&verified) || is_reported_by(&run) {
            return;
        }
        let verdicts = self.crawl.verdicts();
        let is_kept = |(url, verdict): (&String, &String)| verdicts.get(url) == Some(verdict);
        let missing = self
            .verdicts
            .iter()
            .filter(|visit| !is_kept(*visit))
            .count();
        if missing > 0 {
            findings.silent.push(format!("{case}: {missing} visits"));
        }
    }
}

/// Returns true if the program reported that something is wrong.
fn is_reported_by(run: &CommandOutput) -> bool {
    run.code != Some(0) || run.errors.contains("WARN") || run.errors.contains("warning:")
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
fn damage_to_the_state_of_a_finished_crawl_is_reported_and_costs_no_record() {
    every_damage_is_found(&Patient::new(&[]), "finished");
}

#[test]
fn damage_to_the_state_of_a_killed_crawl_is_reported_and_costs_no_record() {
    every_damage_is_found(&Patient::new(&[17]), "killed");
}

#[test]
fn damage_to_the_state_of_a_crawl_killed_twice_is_reported_and_costs_no_record() {
    every_damage_is_found(&Patient::new(&[9, 11]), "killed twice");
}
