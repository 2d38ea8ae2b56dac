//! Blocks that differ between two pages, as `--diff` and `why` print them. Blocks that count
//! decided the verdict.

use std::io::{self, Write};

use comparison::{BlockWeight, PrintedBlock};
use messages::printable;

/// Maximum number of blocks in text output. JSON output contains all blocks.
const SHOWN: usize = 40;
/// Maximum length of a block in text output, in characters.
const LONGEST: usize = 160;

/// Writes the blocks as text under the names of both texts. Blocks that count come first.
pub(crate) fn write(
    blocks: &[PrintedBlock],
    (a, b): (&str, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    if blocks.is_empty() {
        return Ok(());
    }
    let (counting, others): (Vec<_>, Vec<_>) =
        (blocks.iter()).partition(|block| block.weight == BlockWeight::Counts);
    writeln!(
        out,
        "blocks that differ: {}, {} with weight",
        blocks.len(),
        counting.len()
    )?;
    for block in counting.iter().chain(&others).take(SHOWN) {
        let texts = [(a, &block.a), (b, &block.b)];
        for (name, text) in texts {
            if let Some(text) = text {
                writeln!(
                    out,
                    "  {:<10}  {name}: {}",
                    block.weight.as_str(),
                    shown(text)
                )?;
            }
        }
    }
    match blocks.len().saturating_sub(SHOWN) {
        0 => writeln!(out),
        more => writeln!(out, "  and {more} more: --format json prints all\n"),
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}
