//! `gzip -1` of the pages of a web: a measure of what the same bytes cost at least, on the same
//! machine in the same minutes.

use std::io::Write;
use std::process::{Command, Stdio};

use testkit::Corpus;

use crate::Failure;
use crate::crawled::cpu;

/// Number of pages that are compressed, spread over the web.
const SAMPLE: usize = 4_000;

/// Returns the CPU seconds of `gzip -1` per 1,000 pages.
pub(crate) fn cpu_per_thousand(corpus: &Corpus) -> Result<f64, Failure> {
    let before = cpu()?;
    let mut gzip = Command::new("gzip")
        .arg("-1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let mut input = gzip.stdin.take().ok_or("no standard input")?;
    let pages = (0..corpus.len()).step_by(corpus.len().div_ceil(SAMPLE));
    let count = pages.len();
    for page in pages {
        input.write_all(&corpus.html(page, 80))?;
    }
    drop(input);
    let status = gzip.wait()?;
    if !status.success() {
        return Err(format!("gzip ended with {status}").into());
    }
    Ok(1000.0 * (cpu()? - before) / count as f64)
}
