//! Whole crawls on a disk that breaks: the power fails at any call, or calls fail, once or for
//! good.
//!
//! A crawl of a small web is assembled as by the command line, without the network and the clock: a
//! function answers, and time passes only when every task waits, so delays and the five seconds
//! between two checkpoints cost nothing.
//!
//! `POWER_CUTS` is the number of power cuts (by default 12, always the same), `FAILURES` the number
//! of failing calls among the first 500 of a crawl (by default 12, spread; with 500, each),
//! `WRECK_SEED` repeats a run.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod failures;
mod power;
mod resuming;
mod session;
mod site;
mod witness;

use std::hash::{BuildHasher, RandomState};

fn of_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}")),
    )
}

/// The seed of the random choices; printed, so that a failed run can be repeated.
#[expect(
    clippy::print_stderr,
    reason = "a run that failed can only be repeated by its seed"
)]
fn seed() -> u64 {
    let seed = of_environment("WRECK_SEED").unwrap_or_else(|| RandomState::new().hash_one(()));
    eprintln!("WRECK_SEED={seed}");
    seed
}
