//! The time of a difference of two texts, word by word.
//!
//! Words are drawn from 20,000 with Zipf's frequencies, as in prose, unless the line says
//! otherwise. Times are processor time of one thread, best of the runs; they include finding the
//! words and counting the shingles.
//!
//! ```text
//! cargo run --release -p benches --bin bench-difference -- [--runs 5]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod prose;

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use clap::Parser;
use differences::Difference;
use nix::time::{ClockId, clock_gettime};

use crate::prose::{between, random, zipf};

/// The size of the large texts in bytes.
const LARGE: usize = 1 << 20;

/// Measure the difference of two texts
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Runs, of which the best counts
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = Options::parse().runs;
    let page: String = (0..5_000).map(|at| zipf(1, at)).collect();
    let one_word_in = |every: u64| -> String {
        let changed = |at| {
            if at % every == 0 {
                zipf(2, at)
            } else {
                zipf(1, at)
            }
        };
        (0..5_000).map(changed).collect()
    };
    let line = |name, a: &str, b: &str| -> Result<(), Box<dyn Error>> {
        let mut best = Duration::MAX;
        for _ in 0..runs.max(1) {
            let before = cpu()?;
            black_box(Difference::of(a, b));
            best = best.min(cpu()? - before);
        }
        let difference = Difference::of(a, b);
        println!(
            "{name:<58} {:>8.2} ms  {:>6} runs{}",
            best.as_secs_f64() * 1e3,
            difference.runs().len(),
            if difference.cut().is_some() {
                ", cut"
            } else {
                ""
            },
        );
        Ok(())
    };
    line("5,000 words, the same", &page, &page)?;
    line("5,000 words, every 100th another", &page, &one_word_in(100))?;
    line("5,000 words, every 5th another", &page, &one_word_in(5))?;
    let other: String = (0..5_000).map(|at| zipf(3, at)).collect();
    line("5,000 words, other prose", &page, &other)?;
    let accents = |text: &str| text.replace('a', "ä").replace('o', "ø");
    line(
        "5,000 words beyond ASCII, every 100th another",
        &accents(&page),
        &accents(&one_word_in(100)),
    )?;
    let large = |word: &dyn Fn(u64) -> String| -> String {
        let mut text = String::with_capacity(LARGE + 64);
        for at in 0.. {
            text.push_str(&word(at));
            if text.len() >= LARGE {
                break;
            }
        }
        text
    };
    line(
        "1 MiB without a common line, prose",
        &large(&|at| zipf(1, at)),
        &large(&|at| zipf(2, at)),
    )?;
    line(
        "1 MiB without a common word",
        &large(&|at| format!("a{at}{}", between(at))),
        &large(&|at| format!("b{at}{}", between(at))),
    )?;
    line(
        "1 MiB, the words of one in the order of another",
        &large(&|at| format!("w{}{}", random(1, at) % 100_000, between(at))),
        &large(&|at| format!("w{}{}", random(2, at) % 100_000, between(at))),
    )?;
    line(
        "1 MiB of two words by chance",
        &large(&|at| format!("{} ", ["a", "b"][random(1, at) as usize % 2])),
        &large(&|at| format!("{} ", ["a", "b"][random(2, at) as usize % 2])),
    )?;
    line(
        "1 MiB of sixty words by chance",
        &large(&|at| format!("{} ", char::from(b'A' + (random(1, at) % 58) as u8))),
        &large(&|at| format!("{} ", char::from(b'A' + (random(2, at) % 58) as u8))),
    )?;
    line(
        "1 MiB of ideographs by chance",
        &large(&|at| ideograph(1, at).to_string()),
        &large(&|at| ideograph(2, at).to_string()),
    )?;
    let up = |at| format!("w{at} ");
    let down = |at: u64| format!("w{} ", 150_000_u64.saturating_sub(at));
    line("1 MiB backwards", &large(&up), &large(&down))?;
    Ok(())
}

fn ideograph(stream: u64, at: u64) -> char {
    let first = u32::from('一');
    char::from_u32(first + (random(stream, at) % 3_000) as u32).unwrap_or('一')
}

/// Returns the processor time of this thread.
fn cpu() -> Result<Duration, Box<dyn Error>> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}
