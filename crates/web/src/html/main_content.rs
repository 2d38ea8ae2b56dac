//! Which block of a page holds its main content.
//!
//! Two steps. First where the author says so: `<main>`, `<article>`, a block named as the text of
//! an article, each if it holds enough of the prose and no other like it nearly as much (a page of
//! many articles is a list of them, and no one of them is its content). Then downwards, as long as
//! a single block holds nearly all of the prose: what it leaves beside is the frame. Readability
//! (Arc90, 2009) and boilerpipe (Kohlschütter et al., WSDM 2010) rest on the same: running text
//! tells content from frame.
//!
//! The second step is careful where an author has marked the content, and goes into no section,
//! list or table: these are parts of a text, of a manual above all.

use crate::html::region_flags;
use crate::html::regions::{PrefixSums, Region};

/// A mark, and when it is followed.
struct Mark {
    sign: u32,
    /// The part of the prose so far that it must hold.
    of_prose: f64,
    /// The part of the prose in all blocks with this mark that it must hold.
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

/// Less prose marks nothing.
const MARKED_WORDS: usize = 40;

/// The part of the prose that a block must hold to be entered.
const PART_ENTERED: f64 = 0.8;

/// The same where the author has marked the content.
const PART_ENTERED_IN_MARKED: f64 = 0.95;

/// The author's mark and the block below it.
pub(crate) struct MainBlock {
    /// What the author marked as content; the whole page if nothing is marked.
    pub marked: usize,
    /// Where the content is.
    pub block: usize,
}

/// Finds the block, given what is left out and the prose without that.
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
        // Of blocks inside one another the outermost.
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

/// For each block the one in it that has the most prose.
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
