//! The state of a directory after a power cut.
//!
//! Of the names: any of the changes that were not synced, but none without those before it that it
//! needs. Of a file: its durable bytes, and behind them any part of the rest, or the rest's length
//! with zeros or rubbish in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use super::ledger::{Content, Ledger, Node};
use crate::random::Random;

/// Sizes of the blocks that a device writes at a time. The first is smaller than any real one,
/// because tests have short files.
const BLOCKS: [usize; 3] = [64, 512, 4096];

/// Makes the files that are in the books what they could be after a power cut.
pub(super) fn wreck(ledger: &Ledger, random: &mut Random) -> io::Result<()> {
    let survivors = surviving_names(ledger, random);
    let mut left: BTreeMap<PathBuf, Option<Vec<u8>>> = BTreeMap::new();
    for (path, node) in &survivors {
        let unchanged = ledger.names.get(path) == Some(node);
        let content = node.and_then(|node| Some((node, ledger.contents.get(&node)?)));
        let Some((node, content)) = content else {
            left.insert(path.clone(), None);
            continue;
        };
        let now = bytes_of(ledger, node, content)?;
        let after = surviving_bytes(&now, content, random);
        if !unchanged || after != now {
            left.insert(path.clone(), Some(after));
        }
    }
    for (path, bytes) in left {
        match bytes {
            Some(bytes) => fs::write(&path, bytes)?,
            None if path.exists() => fs::remove_file(&path)?,
            None => {}
        }
    }
    Ok(())
}

fn surviving_names(ledger: &Ledger, random: &mut Random) -> BTreeMap<PathBuf, Option<Node>> {
    let mut names = ledger.durable_names.clone();
    let mut undone = BTreeSet::new();
    // Nothing of it, all of it, or each with the same chance: the ends are the likeliest in life,
    // too.
    let chance = random.pick(&[0, 1, 2, 3, 4]);
    for change in &ledger.changes {
        let paths = change.paths();
        let needs_undone = paths.iter().any(|path| undone.contains(*path));
        if needs_undone || random.below(4) >= chance {
            undone.extend(paths.into_iter().map(PathBuf::from));
        } else {
            change.apply(&mut names);
        }
    }
    names
}

/// Returns the present bytes of a file.
fn bytes_of(ledger: &Ledger, node: Node, content: &Content) -> io::Result<Vec<u8>> {
    match ledger.path_of(node) {
        Some(path) => fs::read(path),
        None => Ok(content.buried.clone().unwrap_or_default()),
    }
}

fn surviving_bytes(now: &[u8], content: &Content, random: &mut Random) -> Vec<u8> {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(now.len());
    let certain = match &content.cut {
        Some((from, lost)) if random.below(2) == 0 => {
            // It was never cut, and what came in the place of what was cut off never came.
            let mut before = now[..place(*from)].to_vec();
            before.extend_from_slice(lost);
            return before;
        }
        Some((from, _)) => place(*from),
        None => place(content.durable),
    };
    let tail = now.len() - certain;
    let mut after = now.to_vec();
    if tail == 0 {
        return after;
    }
    let torn = certain + random.below(tail + 1);
    match random.below(6) {
        0 => after.truncate(certain),
        1 => after.truncate(torn),
        2 => {}
        3 => after[torn..].fill(0),
        4 => after[torn..].fill_with(|| random.next().to_le_bytes()[0]),
        // Blocks reach a device in any order.
        _ => {
            let block = random.pick(&BLOCKS);
            let mut at = certain;
            while at < after.len() {
                let end = ((at / block + 1) * block).min(after.len());
                if random.below(2) == 0 {
                    after[at..end].fill(0);
                }
                at = end;
            }
        }
    }
    after
}
