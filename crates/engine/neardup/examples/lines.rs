//! Prints the lines of standard input without those that repeat an earlier one, nearly or exactly:
//! `cargo run --example lines < texts.txt`.

use std::io::{self, BufRead, Write};

use neardup::TextIndex;

fn main() -> io::Result<()> {
    let mut originals = TextIndex::default();
    let mut out = io::stdout().lock();
    for (number, line) in (1..).zip(io::stdin().lock().lines()) {
        let line: String = line?;
        match originals.insert_original(number, &line) {
            None => writeln!(out, "{line}")?,
            Some(found) => writeln!(io::stderr(), "line {number} repeats line {}", found.of)?,
        }
    }
    Ok(())
}
