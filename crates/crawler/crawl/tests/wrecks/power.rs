//! Power cuts at random disk calls: unsynced bytes are lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use testkit::{Failure, FaultyDisk, Plan, Random};

use crate::session::{Crawl, Tables};
use crate::{of_environment, seed};

#[test]
fn a_crawl_whose_power_fails_at_random_calls_loses_no_page_and_archives_none_twice() {
    let (cuts, seed) = match of_environment("POWER_CUTS") {
        Some(cuts) => (cuts, seed()),
        None => (12, 7),
    };
    let mut random = Random::of(seed, 0);
    let mut cut = 0;
    while cut < cuts {
        let mut crawl = Crawl::new();
        let disk = Arc::new(FaultyDisk::new(crawl.directory(), random.next()));
        disk.foreign(&crawl.tables());
        let mut wrecked = BTreeMap::new();
        loop {
            if random.below(3) == 0 {
                disk.remember(&crawl.tables()).unwrap();
            }
            // Sometimes more calls than an undisturbed session makes.
            let most = 1 << (4 + random.below(7));
            let call = 1 + random.below(most) as u64;
            let call = disk.count() + call;
            disk.fail(Plan::from(call, Failure::Broken));
            let ended = crawl.session(disk.clone());
            let case =
                format!("cut {cut} at call {call} of its session, which ended with {ended:?}");
            crawl.asked_no_page_in_vain(&case);
            if ended.is_ok() {
                disk.mend();
                crawl.is_complete(&case);
                break;
            }
            assert!(
                disk.count() >= call,
                "{case}: it ended before the power failed"
            );
            let left = files(&crawl.tables());
            disk.power_cut(random.next()).unwrap();
            disk.power_on();
            cut += 1;
            let found = files(&crawl.tables());
            if found != left {
                wrecked.clone_from(&found);
            }
            if random.below(4) == 0 {
                // Some sessions end before they read the tables.
                let tables = if found == wrecked {
                    Tables::Wrecked
                } else {
                    Tables::Whole
                };
                crawl.is_sound(tables, &case);
            }
        }
    }
}

/// Returns the files below a directory with their content.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    if !directory.is_dir() {
        return files;
    }
    for item in std::fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}
