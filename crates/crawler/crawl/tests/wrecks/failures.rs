//! Failures of one of the first disk calls: of one call, or of all calls from then on.

use std::sync::Arc;

use testkit::{Failure, FaultyDisk, Plan, Random};

use crate::session::Crawl;
use crate::{of_environment, seed};

/// Crawls on a disk that fails, and then on one that works again; sometimes with a power cut
/// between.
fn survives(call: u64, failure: Failure, lasting: bool, random: &mut Random) {
    let case = format!(
        "call {call}: {failure:?}{}",
        if lasting { " for good" } else { "" }
    );
    let mut crawl = Crawl::new();
    let disk = Arc::new(FaultyDisk::new(crawl.directory(), random.next()));
    disk.foreign(&crawl.tables());
    disk.fail(if lasting {
        Plan::from(call, failure)
    } else {
        Plan::once(call, failure)
    });
    let ended = crawl.session(disk.clone());
    let case = format!("{case}, and the session ended with {ended:?}");
    if random.below(2) == 0 {
        disk.power_cut(random.next()).unwrap();
        disk.power_on();
    }
    disk.mend();
    let ended = crawl.session(disk);
    assert!(ended.is_ok(), "{case}; the next one with {ended:?}");
    crawl.is_complete(&case);
}

#[test]
fn a_crawl_continues_after_its_disk_has_failed_at_any_call() {
    let failures = of_environment("FAILURES").unwrap_or(12);
    let mut random = Random::of(seed(), 1);
    let kinds = [Failure::Broken, Failure::NoSpace, Failure::ReadOnly];
    for number in 0..failures {
        // Spread over the first 500 calls, at random; with 500 failures, each of them.
        let step = (500 / failures.max(1)).max(1);
        let call = 1 + number * step + random.below(usize::try_from(step).unwrap()) as u64;
        survives(call, random.pick(&kinds), random.below(2) == 0, &mut random);
    }
}

#[test]
fn a_crawl_on_a_sound_disk_archives_the_whole_web() {
    let mut crawl = Crawl::new();
    let disk = Arc::new(FaultyDisk::new(crawl.directory(), 0));
    disk.foreign(&crawl.tables());
    let ended = crawl.session(disk.clone());
    assert!(ended.is_ok(), "{ended:?}");
    crawl.is_complete("undisturbed");
    assert!(
        disk.count() >= 500,
        "too few calls to let each of 500 fail: {}",
        disk.count()
    );
}
