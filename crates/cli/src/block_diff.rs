//! The blocks in which two pages differ, as `--diff` prints them: the ones that count decided.

use std::io::{self, Write};

use comparison::DifferingBlock;
use serde::Serialize;

use crate::terminal::printable;

/// Blocks that people see. Programs get all.
const SHOWN: usize = 40;
/// The longest text of a block that people see, in characters.
const LONGEST: usize = 160;

/// A block that differs, for programs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PrintedBlock {
    /// `counts`, or the reason why it does not: `frame`, `changes`, `same-words` or `aside`.
    weight: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
}

/// Returns the blocks for programs. In each, the first text is the one that `is_page_first` names.
pub(crate) fn printed(blocks: Vec<DifferingBlock>, is_page_first: bool) -> Vec<PrintedBlock> {
    let blocks = blocks.into_iter();
    let printed = blocks.map(|block| {
        let (a, b) = match is_page_first {
            true => (block.page, block.original),
            false => (block.original, block.page),
        };
        let weight = block.weight.as_str();
        PrintedBlock { weight, a, b }
    });
    printed.collect()
}

/// Writes the blocks for people, those that count first, under the names of both texts.
pub(crate) fn write(
    blocks: &[PrintedBlock],
    (a, b): (&str, &str),
    out: &mut dyn Write,
) -> io::Result<()> {
    if blocks.is_empty() {
        return Ok(());
    }
    let (counting, others): (Vec<_>, Vec<_>) =
        blocks.iter().partition(|block| block.weight == "counts");
    writeln!(
        out,
        "blocks that differ: {}, {} of them count",
        blocks.len(),
        counting.len()
    )?;
    for block in counting.iter().chain(&others).take(SHOWN) {
        let texts = [(a, &block.a), (b, &block.b)];
        for (name, text) in texts {
            if let Some(text) = text {
                writeln!(out, "  {:<10}  {name}: {}", block.weight, shown(text))?;
            }
        }
    }
    match blocks.len().saturating_sub(SHOWN) {
        0 => writeln!(out),
        more => writeln!(out, "  and {more} more: --format json has all\n"),
    }
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text),
    }
}
