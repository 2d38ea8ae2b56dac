//! Damage of the state while the servers are away: every record that was readable before must
//! remain readable, and the damage must be reported.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use testkit::Random;

use crate::archive;
use crate::failure::Failure;
use crate::process::Crawl;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree};

const PAGES: u64 = 30;
const FLIPS: usize = 200;
const LIMIT: Duration = Duration::from_secs(30);
/// Sizes of the header of a journal segment, and of the head of each frame
/// (`journal/src/frame.rs`).
const HEADER_BYTES: usize = 36;
const FRAME_HEAD_BYTES: usize = 12;
const MARK_BYTES: usize = 20;

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let finished = FinishedCrawl::new(attack)?;
    finished.cut_at_records(attack, table)?;
    finished.flip_bits(attack, table)
}

/// A finished crawl of several archive files whose server is gone, with its readable records.
struct FinishedCrawl {
    crawl: Crawl,
    before: PathBuf,
    answers: BTreeSet<String>,
    visits: String,
}

/// The consequences of damage.
struct Consequences {
    lost: u64,
    /// True if `verify` or the next session reported it.
    is_reported: bool,
    /// True if the table of visits changed.
    differs: bool,
}

impl FinishedCrawl {
    fn new(attack: &Attack<'_>) -> Result<Self, Failure> {
        let trees = [Tree {
            ballast: 4 << 10,
            ..Tree::new("ill.test", PAGES)
        }];
        let server = web::serve(&trees);
        let options = [
            "--delay",
            "0",
            "--delay-factor",
            "0",
            "--tries",
            "1",
            "--warc-max-size",
            "32KiB",
        ];
        let crawl = attack
            .crawler
            .crawl(web::arguments(&server, &trees, &options))?;
        let ended = crawl.run(&[], LIMIT)?;
        let pages = trees[0].urls(&server);
        if ended.code != Some(0) || archive::lost_and_twice(&crawl.out(), &pages)? != (0, 0) {
            return Err(format!(
                "the crawl to be damaged is not whole: {}",
                ended.first_errors()
            )
            .into());
        }
        let before = crawl.directory().join("before");
        std::fs::rename(crawl.out(), &before)?;
        let mut finished = Self {
            answers: archive::answers(&before)?.into_keys().collect(),
            crawl,
            before,
            visits: String::new(),
        };
        finished.restore()?;
        finished.visits = finished.export()?;
        Ok(finished)
    }

    /// Restores the undamaged crawl.
    fn restore(&self) -> Result<(), Failure> {
        let out = self.crawl.out();
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        archive::copy(&self.before, &out)
    }

    fn export(&self) -> Result<String, Failure> {
        let ended = self
            .crawl
            .command(&["export", "crawl", "--format", "jsonl"])?
            .end(LIMIT)?;
        let mut visits: Vec<&str> = ended.output.lines().collect();
        visits.sort_unstable();
        Ok(visits.join("\n"))
    }

    /// Verifies the damaged crawl, continues it, and compares it with the undamaged one.
    fn examine(&self) -> Result<Consequences, Failure> {
        let verified = self.crawl.command(&["verify", "crawl"])?.end(LIMIT)?;
        let opened = self
            .crawl
            .run(&["--max-time", "300ms", "--wait-for-space", "0s"], LIMIT)?;
        let answers: BTreeSet<String> = archive::answers(&self.crawl.out())?.into_keys().collect();
        let differs = self.export()? != self.visits;
        Ok(Consequences {
            lost: self.answers.difference(&answers).count() as u64,
            is_reported: verified.code != Some(0) || opened.reports_a_problem(),
            differs,
        })
    }

    /// Cuts the journal after each of its records in turn.
    fn cut_at_records(&self, attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
        let journal = archive::files(&self.before.join("state/journal"))?;
        let [segment] = &journal[..] else {
            return Err(format!("the journal has {} segments, not one", journal.len()).into());
        };
        let bytes = std::fs::read(segment)?;
        let ends = record_ends(&bytes);
        let within = attack.budget.mul_f64(0.65);
        let (mut tried, mut lost, mut worst, mut silent) = (0, 0, 0, 0);
        // Spread over the whole journal, so that a short run covers all of it.
        for index in spread(ends.len()) {
            if attack.began.elapsed() > within {
                break;
            }
            self.restore()?;
            let damaged = self.damaged(segment)?;
            std::fs::write(damaged, &bytes[..ends[index]])?;
            let came = self.examine()?;
            tried += 1;
            lost += came.lost;
            worst = worst.max(came.lost);
            silent += u64::from(!came.is_reported && (came.lost > 0 || came.differs));
        }
        let figure = format!(
            "{tried} of {} boundaries; at worst {worst} of {} pages gone",
            ends.len(),
            self.answers.len()
        );
        let row = Row::new("journal cut at a record, server away")
            .tried(tried)
            .lost(lost, 0, silent);
        table.add(
            row.figure(figure)
                .goal("every archived page stays readable")
                .is(worst == 0),
        );
        Ok(())
    }

    /// Flips bits anywhere in the state.
    fn flip_bits(&self, attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
        let mut random = Random::of(attack.seed, 4);
        let files = archive::files(&self.before.join("state"))?;
        let files: Vec<PathBuf> = files
            .into_iter()
            .filter(|path| std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0))
            .collect();
        let (mut tried, mut lost, mut silent) = (0, 0, 0);
        let mut unseen = Vec::new();
        for number in 0..FLIPS {
            if !attack.has_time() {
                break;
            }
            // Every other time the journal, because it is the truth; otherwise any file.
            let mut journals = files.iter().filter(|path| is_journal(path));
            let file = match journals.next() {
                Some(journal) if number % 2 == 0 => journal,
                _ => &files[random.below(files.len())],
            };
            self.restore()?;
            let damaged = self.damaged(file)?;
            let mut bytes = std::fs::read(&damaged)?;
            let place = random.below(bytes.len());
            bytes[place] ^= 1 << random.below(8);
            std::fs::write(&damaged, bytes)?;
            let came = self.examine()?;
            tried += 1;
            lost += came.lost;
            if !came.is_reported {
                if came.lost > 0 || came.differs {
                    silent += 1;
                } else {
                    unseen.push(format!(
                        "{}@{place}",
                        file.file_name().unwrap_or_default().to_string_lossy()
                    ));
                }
            }
        }
        let some: Vec<&str> = unseen.iter().take(3).map(String::as_str).collect();
        let figure = match some.len() {
            0 => format!("{tried} of {FLIPS} bits, each of them told"),
            _ => format!(
                "{tried} of {FLIPS} bits; {} untold without effect ({} …)",
                unseen.len(),
                some.join(", ")
            ),
        };
        let row = Row::new("a bit of the state turned, server away")
            .tried(tried)
            .lost(lost, 0, silent);
        table.add(row.figure(figure).goal("told, or without effect"));
        Ok(())
    }

    /// Returns the file of the crawl that corresponds to one of the untouched crawl.
    fn damaged(&self, file: &Path) -> Result<PathBuf, Failure> {
        Ok(self.crawl.out().join(file.strip_prefix(&self.before)?))
    }
}

fn is_journal(path: &Path) -> bool {
    path.to_string_lossy().contains("/journal/")
}

/// Returns the ends of the records of a segment, without the last one.
fn record_ends(segment: &[u8]) -> Vec<usize> {
    let mut ends = vec![HEADER_BYTES];
    let mut at = HEADER_BYTES;
    while let Some(head) = segment.get(at..at + FRAME_HEAD_BYTES) {
        // A mark is not a record (`mark.rs`).
        if head[3] & 0x80 != 0 {
            at += MARK_BYTES;
            continue;
        }
        let length = head[..4]
            .iter()
            .rev()
            .fold(0, |length, byte| length << 8 | usize::from(*byte));
        at += FRAME_HEAD_BYTES + length;
        if length == 0 || at >= segment.len() {
            break;
        }
        ends.push(at);
    }
    ends
}

/// Returns all numbers below `count`, widely spaced ones first.
fn spread(count: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut step = count.next_power_of_two();
    let mut seen = vec![false; count];
    while step > 0 {
        for index in (0..count).step_by(step) {
            let index = count - 1 - index;
            if !std::mem::replace(&mut seen[index], true) {
                order.push(index);
            }
        }
        step /= 2;
    }
    order
}
