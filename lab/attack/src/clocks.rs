//! Clocks that jump: a crawl that was written a day ahead is opened now, and another has its clock
//! set back while it runs.
//!
//! A preloaded library (`LD_PRELOAD`) shifts the clock of the process. It is made here with the C
//! compiler that building the crawler needs as well, and adds the number in a file to the time of
//! day.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::Failure;
use crate::process::Crawl;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree};

const PAGES: u64 = 30;
const HOST: &str = "clock.test";
const DAY: i64 = 24 * 3600;

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    static volatile int64_t *ahead;
    if (!real) {
        const char *path = getenv("ATTACK_CLOCK");
        int file = path ? open(path, O_RDONLY) : -1;
        void *map = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
        ahead = map == MAP_FAILED ? 0 : map;
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    }
    int told = real(clock, time);
    if (told == 0 && clock == CLOCK_REALTIME && ahead) time->tv_sec += *ahead;
    return told;
}
"#;

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let names = [
        "a journal from a day ahead, opened now",
        "a clock set back a day under a crawl",
    ];
    let server = web::serve(&[Tree::new(HOST, PAGES)]);
    let trees = [Tree::new(HOST, PAGES)];
    let options = ["--delay", "200ms", "--delay-factor", "0"];
    let time = Duration::from_secs(PAGES / 5 + 7);

    let mut crawl = attack
        .crawler
        .crawl(web::arguments(&server, &trees, &options))?;
    let Some(clock) = Clock::of(&mut crawl)? else {
        for name in names {
            table.add(Row::new(name).skipped("no C compiler: nothing to move a clock with"));
        }
        return Ok(());
    };
    clock.set(DAY)?;
    let mut ahead = crawl.start(&[])?;
    ahead.ends_within(Duration::from_secs(3))?;
    ahead.kill()?;
    clock.set(0)?;
    let before = web::requests(&server, HOST);
    let ended = crawl.run(&[], time)?;
    let came = web::requests(&server, HOST) - before;
    let is_reported = ended.errors.to_lowercase().contains("clock");
    add(table, names[0], ended.code, came, is_reported);

    let server = web::serve(&trees);
    let mut crawl = attack
        .crawler
        .crawl(web::arguments(&server, &trees, &options))?;
    if let Some(clock) = Clock::of(&mut crawl)? {
        clock.set(DAY)?;
        let mut running = crawl.start(&[])?;
        running.ends_within(Duration::from_secs(3))?;
        let before = web::requests(&server, HOST);
        clock.set(0)?;
        let ended = running.end(time)?;
        let came = web::requests(&server, HOST) - before;
        let is_reported = ended.errors.to_lowercase().contains("clock");
        add(table, names[1], ended.code, came, is_reported);
    }
    Ok(())
}

fn add(table: &mut Table, name: &str, code: Option<i32>, came: u64, is_reported: bool) {
    let goes_on = came > 0 && code == Some(0);
    let silent = u64::from(!goes_on && !is_reported);
    let figure = format!(
        "{came} requests after it, {}",
        if goes_on {
            "to the end"
        } else {
            "then it stood still"
        }
    );
    let figure = format!(
        "{figure}; {}",
        if is_reported {
            "the jump is told"
        } else {
            "no word of the clock"
        }
    );
    let row = Row::new(name).tried(1).lost(0, 0, silent).figure(figure);
    table.add(row.goal("goes on to the end").is(goes_on));
}

/// The clock of the processes of a crawl.
struct Clock {
    file: PathBuf,
}

impl Clock {
    /// Gives a crawl a clock of its own; none if there is no compiler.
    fn of(crawl: &mut Crawl) -> Result<Option<Self>, Failure> {
        let directory = crawl.directory().to_owned();
        let Some(library) = compiled(&directory)? else {
            return Ok(None);
        };
        let clock = Self {
            file: directory.join("clock"),
        };
        clock.set(0)?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        crawl.environment = vec![
            ("LD_PRELOAD".to_owned(), text(&library)),
            ("ATTACK_CLOCK".to_owned(), text(&clock.file)),
        ];
        Ok(Some(clock))
    }

    /// Sets its offset from the machine's clock, in seconds. The file is written in place:
    /// processes have it mapped.
    fn set(&self, seconds: i64) -> Result<(), Failure> {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.file)?;
        Ok(file.write_all_at(&seconds.to_ne_bytes(), 0)?)
    }
}

fn compiled(directory: &Path) -> Result<Option<PathBuf>, Failure> {
    let (source, library) = (directory.join("clock.c"), directory.join("clock.so"));
    std::fs::write(&source, LIBRARY)?;
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .status();
    Ok(made.is_ok_and(|status| status.success()).then_some(library))
}
