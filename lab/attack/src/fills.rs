//! Disks that run full: small mounted ones with less space than the crawl needs, which are enlarged
//! later.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::Random;

use crate::archive;
use crate::failure::Failure;
use crate::process::Crawl;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree};

const PAGES: u64 = 400;
const BALLAST: usize = 64 << 10;
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let names = [
        "a disk that runs full while it crawls",
        "a disk that is full when it opens",
    ];
    if !attack.may_mount {
        for name in names {
            table
                .add(Row::new(name).skipped("no small disk can be mounted outside of a namespace"));
        }
        return Ok(());
    }
    let mut random = Random::of(attack.seed, 3);
    let trees = [Tree {
        ballast: BALLAST,
        ..Tree::new("heavy.test", PAGES)
    }];
    let mut tallies = [Tally::default(), Tally::default()];
    while attack.has_time() || tallies.iter().any(|tally| tally.tried == 0) {
        let server = web::serve(&trees);
        let options = [
            "--delay",
            "0",
            "--delay-factor",
            "0",
            "--min-free",
            "0B",
            "--wait-for-space",
            "0s",
        ];
        let crawl = attack
            .crawler
            .crawl(web::arguments(&server, &trees, &options))?;
        let pages = trees[0].urls(&server);
        std::fs::create_dir(crawl.out())?;
        let disk = Disk::mount(&crawl.out(), 12_000 + random.below(16_000) as u64)?;
        // Usually it runs full.
        let filled = crawl.run(&[], LIMIT)?;
        if filled.code != Some(0) {
            tallies[0].judge(&filled);
        }
        if filled.code != Some(0) || !attack.has_time() {
            full_opening(&crawl, &disk, &mut random, &mut tallies[1])?;
        }
        disk.resize(400_000)?;
        // The next session keeps these options unless it is given others.
        let ended = crawl.run(&["--max-pages", "1000000"], LIMIT)?;
        let (lost, twice) = archive::lost_and_twice(&crawl.out(), &pages)?;
        let verified = crawl.command(&["verify", "crawl"])?.end(LIMIT)?;
        if ended.code != Some(0) || verified.code != Some(0) {
            tallies[0].wrong.push(format!(
                "{} {} {}",
                ended.first_errors(),
                verified.output.trim(),
                verified.first_errors()
            ));
        }
        tallies[0].lost += lost;
        tallies[0].twice += twice;
        disk.unmount()?;
    }
    for (name, tally) in names.into_iter().zip(tallies) {
        let figure = tally.wrong.first().cloned();
        let figure = figure.map_or_else(
            || "told each time, and goes on".to_owned(),
            |first| {
                format!(
                    "{} wrong: {}",
                    tally.wrong.len(),
                    first
                        .replace('\n', " ")
                        .chars()
                        .take(160)
                        .collect::<String>()
                )
            },
        );
        let row = Row::new(name)
            .tried(tally.tried)
            .lost(tally.lost, tally.twice, tally.silent);
        table.add(
            row.figure(figure)
                .goal("no free space is not called damage; goes on")
                .is(tally.wrong.is_empty()),
        );
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    tried: u64,
    lost: u64,
    twice: u64,
    silent: u64,
    wrong: Vec<String>,
}

impl Tally {
    /// Judges the messages of a session on a full disk: it must report the full disk, and never
    /// damage.
    fn judge(&mut self, ended: &crate::process::Ended) {
        self.tried += 1;
        let errors = ended.errors.to_lowercase();
        if ended.overran {
            self.wrong.push("it did not end".to_owned());
        } else if ended.errors.trim().is_empty() {
            self.silent += 1;
        } else if errors.contains("damaged")
            || errors.contains("panicked")
            || !errors.contains("free some space")
        {
            self.wrong.push(ended.first_errors());
        }
    }
}

/// Opens the crawl with hardly any space.
fn full_opening(
    crawl: &Crawl,
    disk: &Disk,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let fill = crawl.out().join("crawl.log.fill");
    for _ in 0..4 {
        disk.fill(&fill, random.below(3_000_000) as u64)?;
        let ended = crawl.run(&["--max-pages", "1"], LIMIT)?;
        std::fs::remove_file(&fill)?;
        if ended.code == Some(0) {
            tally.tried += 1;
        } else {
            tally.judge(&ended);
        }
        let aside = archive::files(&crawl.out())?;
        if aside
            .iter()
            .any(|path| path.to_string_lossy().contains(".unusable"))
        {
            tally
                .wrong
                .push("set aside what was only short of space".to_owned());
        }
    }
    Ok(())
}

/// A small disk.
struct Disk {
    place: std::path::PathBuf,
}

impl Disk {
    fn mount(place: &Path, kibibytes: u64) -> Result<Self, Failure> {
        let size = format!("size={kibibytes}k");
        run(Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(place))?;
        Ok(Self {
            place: place.to_owned(),
        })
    }

    fn resize(&self, kibibytes: u64) -> Result<(), Failure> {
        let size = format!("remount,size={kibibytes}k");
        run(Command::new("mount").args(["-o", &size]).arg(&self.place))
    }

    /// Leaves this number of bytes free.
    fn fill(&self, file: &Path, left: u64) -> Result<(), Failure> {
        let df = Command::new("df")
            .args(["-k", "--output=avail"])
            .arg(&self.place)
            .output()?;
        let free = String::from_utf8_lossy(&df.stdout);
        let free: u64 = free
            .lines()
            .last()
            .and_then(|line| line.trim().parse().ok())
            .ok_or("no word from df")?;
        let length = (free << 10).saturating_sub(left);
        std::fs::write(file, vec![0; usize::try_from(length)?])?;
        Ok(())
    }

    fn unmount(self) -> Result<(), Failure> {
        run(Command::new("umount").arg("-l").arg(&self.place))
    }
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let ended = command.status()?;
    if !ended.success() {
        return Err(format!("{command:?} ended with {ended}").into());
    }
    Ok(())
}
