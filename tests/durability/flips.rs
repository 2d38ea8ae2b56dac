//! Flipped bits: either the result is the same, or the program reports the damage; nothing is lost
//! silently.
//!
//! One bit at a time is flipped in the files of `state/`, of a finished crawl and of a killed one.
//! `FLIPS` is the number of places in each file (by default 6: at its beginning, at its end, and
//! anywhere), `FLIP_SEED` repeats a run.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use testkit::{Random, Server};

use crate::support::damage::{files_below, flip_bit, used};
use crate::support::environment::of_environment;
use crate::support::settled_web::Web;
use crate::support::{CommandOutput, Crawl};

const VERIFY: [&str; 4] = ["verify", "crawl", "--format", "json"];
/// A file begins with its header, and ends with the last record.
const HEAD: usize = 40;

/// A crawl, and a copy of what it had written.
struct Patient {
    web: Arc<Web>,
    server: Server,
    crawl: Crawl,
    /// The report of `verify`; none for a killed crawl, where `verify` may report less once the
    /// tail of the journal is torn.
    valid: Option<Value>,
}

impl Patient {
    /// Starts a crawl that is killed at this many requests; without a number it is completed.
    fn new(requests: Option<usize>, options: &[&str]) -> Self {
        let (web, limiter, server) = Web::of_hubs(3).serve();
        let hosts = web.hosts();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let crawl = Crawl::of(&server, &hosts)
            .seeds(&web.seeds(&server))
            .with(options);
        match requests {
            None => {
                limiter.open();
                crawl.complete();
            }
            Some(requests) => limiter.kill_after(requests, || crawl.start()),
        }
        limiter.open();
        let valid = requests
            .is_none()
            .then(|| crawl.run_command(&VERIFY).json());
        crawl.keep_a_copy();
        Self {
            web,
            server,
            crawl,
            valid,
        }
    }

    /// Restores the crawl, except for this bit of this byte.
    fn fall_ill(&self, file: &Path, place: usize, bit: usize) {
        self.crawl.restore();
        self.flip(file, place, bit);
    }

    fn flip(&self, file: &Path, place: usize, bit: usize) {
        flip_bit(&self.crawl.out().join("state").join(file), place, bit);
    }

    /// Asserts that the crawl completes as if nothing had happened, or ends with a message about a
    /// file.
    fn recovers(&self, file: &Path, place: usize, bit: usize) {
        let case = format!("bit {bit} of byte {place} of {}", file.display());
        let run = self.crawl.run();
        if !is_reported_by(&run, &case) {
            self.web
                .is_archived_exactly_once(&self.server, &self.crawl, &run.summary());
            return;
        }
        // The refusal lost nothing: with the byte restored, the crawl continues.
        self.flip(file, place, bit);
        let run = self.crawl.run();
        assert_eq!(run.code, Some(0), "{case}: {run:?}");
        self.web
            .is_archived_exactly_once(&self.server, &self.crawl, &run.summary());
    }
}

/// Returns true if the program reported an error; asserts that the error names the state.
fn is_reported_by(run: &CommandOutput, case: &str) -> bool {
    assert!(!run.errors.contains("panicked"), "{case}: {run:?}");
    match run.code {
        Some(0) => false,
        Some(1 | 2) => {
            let printed = format!("{}{}", run.output, run.errors);
            assert!(printed.contains("state"), "{case}: {printed}");
            true
        }
        _ => panic!("{case}: {run:?}"),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a run that failed can only be repeated by its seed"
)]
fn every_file_is_turned_here_and_there(patient: &Patient) {
    let flips = usize::try_from(of_environment("FLIPS").unwrap_or(6)).unwrap();
    let seed = of_environment("FLIP_SEED").unwrap_or_else(|| RandomState::new().hash_one(()));
    eprintln!("FLIPS={flips} FLIP_SEED={seed}");
    let mut random = Random::of(seed, 0);
    let state = patient.crawl.before().join("state");
    for path in files_below(&state) {
        let file = path.strip_prefix(&state).unwrap();
        // Tables fill the first part of a long file; the rest may be unused.
        let used = used(&std::fs::read(&path).unwrap());
        for flip in 0..flips.min(used) {
            let region = match flip % 3 {
                0 => 0..used.min(HEAD),
                1 => used.saturating_sub(HEAD)..used,
                _ => 0..used,
            };
            let place = region.start + random.below(region.len());
            let bit = random.below(8);
            patient.fall_ill(file, place, bit);
            if random.below(2) == 0 {
                let verified = patient.crawl.run_command(&VERIFY);
                let case = format!("bit {bit} of byte {place} of {}", file.display());
                let is_reported = is_reported_by(&verified, &case);
                if let (false, Some(valid)) = (is_reported, &patient.valid) {
                    assert_eq!(verified.json(), *valid, "{case}");
                }
            }
            patient.recovers(file, place, bit);
        }
    }
}

#[test]
fn flipped_bits_in_the_state_of_a_finished_crawl_are_reported() {
    every_file_is_turned_here_and_there(&Patient::new(None, &[]));
}

#[test]
fn flipped_bits_in_the_state_of_a_killed_crawl_are_reported() {
    every_file_is_turned_here_and_there(&Patient::new(Some(25), &["--features", "word:1+tf-idf"]));
}
