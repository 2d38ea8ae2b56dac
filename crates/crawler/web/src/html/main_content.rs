//! Finds the block with a page's main content.
//!
//! The search has two steps. First it follows the author's marks: `<main>`, `<article>`, a block
//! named as the text of an article. Each must contain enough of the prose, and no similar block may
//! contain nearly as much (a page of many articles is a list of articles). Then it descends while a
//! single block contains nearly all of the prose; the rest is the boilerplate. Readability (Arc90,
//! 2009) and boilerpipe (Kohlschütter et al., WSDM 2010) also separate content from boilerplate by
//! running text.
//!
//! The second step is careful in marked content, and never enters a section, list or table: these
//! are parts of a text, especially in manuals.

use crate::html::prefix_sums::PrefixSums;
use crate::html::region_flags;
use crate::html::regions::Region;

/// A mark and the conditions for following it.
struct Mark {
    sign: u32,
    /// Minimum part of the current prose in the block.
    of_prose: f64,
    /// Minimum part of the prose in all blocks with this mark.
    of_marked: f64,
}

const MARKS: &[Mark] = &[
    Mark {
        sign: region_flags::MAIN,
        of_prose: 0.1,
        of_marked: 0.5,
    },
    Mark {
        sign: region_flags::ARTICLE,
        of_prose: 0.4,
        of_marked: 0.7,
    },
    Mark {
        sign: region_flags::BODY,
        of_prose: 0.3,
        of_marked: 0.7,
    },
];

/// Minimum number of words of prose in a marked block.
const MARKED_WORDS: usize = 40;

/// Minimum part of the prose that a block must contain for the search to enter it.
const PART_ENTERED: f64 = 0.8;

/// The same in marked content.
const PART_ENTERED_IN_MARKED: f64 = 0.95;

/// The marked block and the main block inside it.
pub(crate) struct MainBlock {
    /// The marked block, or the whole page without marks.
    pub marked: usize,
    /// The block with the content.
    pub block: usize,
}

/// Finds the main block, given the excluded flags and the remaining prose.
pub(crate) fn find(regions: &[Region], left_out: &[u32], prose: &PrefixSums) -> MainBlock {
    let mut marked = 0;
    for mark in MARKS {
        marked = follow(mark, marked, regions, left_out, prose);
    }
    let richest = richest_inside(regions, prose);
    let enough = prose.within(&regions[marked]) as f64;
    let mut block = marked;
    while let Some(next) = richest[block] {
        let region = &regions[next as usize];
        let part = if region.flags
            & (region_flags::MAIN | region_flags::ARTICLE | region_flags::BODY)
            == 0
        {
            PART_ENTERED
        } else {
            PART_ENTERED_IN_MARKED
        };
        let is_part = region.own_flags & (region_flags::PARAGRAPH | region_flags::PART) != 0;
        if is_part || (prose.within(region) as f64) < part * enough {
            break;
        }
        block = next as usize;
    }
    MainBlock { marked, block }
}

fn follow(
    mark: &Mark,
    from: usize,
    regions: &[Region],
    left_out: &[u32],
    prose: &PrefixSums,
) -> usize {
    let here = &regions[from];
    let (mut richest, mut most, mut all) = (from, 0, 0);
    let mut past = here.lines().start;
    for (index, region) in regions.iter().enumerate().skip(from + 1) {
        let lines = region.lines();
        if lines.start >= here.lines().end {
            break;
        }
        let is_marked =
            region.own_flags & mark.sign != 0 && region.flags & region_flags::FRAME_OR_ASIDE == 0;
        // The outermost of nested blocks counts.
        if !is_marked || left_out[index] != 0 || lines.start < past {
            continue;
        }
        past = lines.end;
        let words = prose.within(region);
        all += words;
        if words > most {
            (richest, most) = (index, words);
        }
    }
    let part = |of: usize, part: f64| most as f64 >= of as f64 * part;
    let is_followed = most >= MARKED_WORDS
        && part(prose.within(here), mark.of_prose)
        && part(all, mark.of_marked);
    if is_followed { richest } else { from }
}

/// Returns for each block the child with the most prose.
fn richest_inside(regions: &[Region], prose: &PrefixSums) -> Vec<Option<u32>> {
    let mut richest = vec![None; regions.len()];
    let mut most = vec![0; regions.len()];
    for (index, region) in (0_u32..).zip(regions).skip(1) {
        let (parent, words) = (region.parent as usize, prose.within(region));
        if words > most[parent] {
            (richest[parent], most[parent]) = (Some(index), words);
        }
    }
    richest
}
