//! A crawl that is killed at random moments, any number of times, ends with the same archive, index
//! and search as one that is not killed.
//!
//! `KILLS` is the number of kills (by default 50), `KILL_SEED` repeats a run that failed: the kill
//! points are the same, though not to the microsecond.

use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::time::Duration;

use testkit::{Log, Random};

use crate::support::Crawl;
use crate::support::barrier;
use crate::support::environment::of_environment;
use crate::support::kill_points::{self, KillPoint, Session};
use crate::support::settled_web::Web;

const DELAY: Duration = Duration::from_millis(120);
/// Kills between two verifications of the crawl.
const ROUNDS: usize = 8;
/// Kills between two changes of the compression.
const ROUNDS_A_PACKING: usize = 5;
const PACKINGS: [&str; 3] = [
    "--compression=gzip",
    "--compression=zstd",
    "--compression=none",
];

/// A crawl that was killed and then completed.
struct Survivor {
    hosts: Vec<String>,
    log: Log,
    /// The times of the kills, on the clock of the log; by the end of each the server had read
    /// everything that had been sent.
    kills: Vec<RangeInclusive<Duration>>,
}

/// Kills a crawl `kills` times, completes it, and checks everything but its politeness.
#[expect(
    clippy::print_stderr,
    reason = "a run that failed can only be repeated by its seed"
)]
fn survivor(kills: usize, seed: u64) -> Survivor {
    eprintln!("KILLS={kills} KILL_SEED={seed}");
    let mut random = Random::of(seed, 0);
    let sessions: Vec<Session> = (0..kills).map(|_| Session::draw(&mut random)).collect();
    let requests: usize = sessions.iter().map(|session| session.requests).sum();
    let (web, limiter, server) = Web::of_requests(requests as u64).serve();
    let hosts = web.hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let delay = format!("{}ms", DELAY.as_millis());
    let crawl = Crawl::polite(&server, &hosts, &delay)
        .seeds(&web.seeds(&server))
        .with(&["--delay-factor=0", "--tries=2", "--warc-max-size=32KiB"]);
    let mut killed = Vec::new();
    for (round, session) in sessions.into_iter().enumerate() {
        let outside = (&server, &limiter, &*crawl.out());
        let packing = PACKINGS[round / ROUNDS_A_PACKING % PACKINGS.len()];
        let (at, errors) = kill_points::kill(session, outside, || crawl.start_with(&[packing]));
        assert!(!errors.contains("panicked"), "{session:?}: {errors}");
        barrier::wait(&server);
        killed.push(at..=server.elapsed());
        if round % ROUNDS == ROUNDS - 1 && !matches!(session.kill_point, KillPoint::Start(_)) {
            crawl.is_sound();
        }
    }
    limiter.open();
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");
    web.is_archived_exactly_once(&server, &crawl, &summary);
    Survivor {
        hosts: web.hosts(),
        log: server.log(),
        kills: killed,
    }
}

#[test]
fn an_undisturbed_crawl_archives_the_whole_web() {
    assert_eq!(impolite(&survivor(0, 0)), [] as [String; 0]);
}

#[test]
fn a_crawl_that_is_killed_at_random_moments_archives_every_page_exactly_once_and_stays_polite() {
    let kills = of_environment("KILLS").unwrap_or(50);
    let seed = of_environment("KILL_SEED").unwrap_or_else(|| RandomState::new().hash_one(()));
    let survivor = survivor(usize::try_from(kills).unwrap(), seed);
    assert_eq!(impolite(&survivor), [] as [String; 0]);
}

/// Returns a sentence for each request that came too soon: less than the delay after the host's
/// answer before it was sent or, after a kill, after the request before it arrived.
///
/// Arrival times and the intended response times are compared: a request that is sent a given time
/// after an answer arrives at least that long after the answered request, whatever the load of the
/// machine.
fn impolite(survivor: &Survivor) -> Vec<String> {
    let mut findings = Vec::new();
    for host in &survivor.hosts {
        let hits: Vec<_> = survivor.log.of(host).collect();
        for two in hits.windows(2) {
            let [earlier, later] = two else { continue };
            let between = |kill: &RangeInclusive<Duration>| {
                earlier.at <= *kill.end() && *kill.start() <= later.at
            };
            let cut = survivor.kills.iter().any(between);
            let latency = if cut {
                Duration::ZERO
            } else {
                Web::latency(&earlier.target)
            };
            let gap = later.at - earlier.at;
            if gap < latency + DELAY {
                findings.push(format!(
                    "{host}: {} came {gap:?} after {} (killed in between: {cut})",
                    later.target, earlier.target
                ));
            }
        }
    }
    findings
}
