//! Finds the block with a page's title, to separate it from sidebars.
//!
//! On a short page a sidebar is most of the text, so the amount of prose does not identify the
//! content. The title does, as it is in the same column. That column is the innermost block with
//! the title and a third of the other words. Lines of links do not count, because sidebars list
//! pages; but an eighth of all words must be in the block, because some pages are lists.

use std::ops::Range;

use crate::html::lines::Line;
use crate::html::prefix_sums::PrefixSums;
use crate::html::region_flags;
use crate::html::regions::Region;

/// Minimum part, in the block, of the words outside the title and outside links …
const PART: f64 = 0.35;

/// … and minimum part of all words outside the title.
const PART_OF_ALL: f64 = 0.12;

/// Flags of regions whose words are not counted. A form may be what the page is for.
const NEVER: u32 = region_flags::FRAME_OR_ASIDE | region_flags::LEFT_OUT & !region_flags::FORM;

/// Returns the lines of the block; `None` for a page without a title, or with several. `judged`
/// marks the lines outside the site's boilerplate.
pub(crate) fn find(lines: &[Line], regions: &[Region], judged: &[bool]) -> Option<Range<usize>> {
    let is_title = |region: &&Region| {
        region.own_flags & region_flags::TITLE != 0
            && region.flags & region_flags::FRAME_OR_ASIDE == 0
    };
    let titles = regions.iter().filter(is_title).map(Region::lines);
    let mut titles = titles.filter(|lines| lines.clone().any(|line| judged[line]));
    let title = titles.next()?;
    if titles.next().is_some() {
        return None;
    }
    // A name that also encloses the title does not mean boilerplate.
    let never = NEVER & !lines[title.start].flags;
    let sums = |is_counted: &dyn Fn(&Line) -> bool| -> PrefixSums {
        let counted = |(index, line): (usize, &Line)| {
            let is_own = judged[index] || line.is_in(region_flags::FORM);
            let is_other = is_own && !line.is_in(never) && !title.contains(&index);
            if is_other && is_counted(line) {
                line.words()
            } else {
                0
            }
        };
        lines.iter().enumerate().map(counted).collect()
    };
    let (words, all) = (sums(&|line| !line.is_short_link()), sums(&|_| true));
    let has = |sums: &PrefixSums, block: &Range<usize>, part: f64| {
        let inside = sums.between(block);
        inside > 0 && inside as f64 >= sums.total() as f64 * part
    };
    // The first region is the page itself. An inner block comes after those around it.
    let around = regions.iter().skip(1).map(Region::lines);
    around
        .filter(|block| block.start <= title.start && title.end <= block.end)
        .rev()
        .find(|block| has(&words, block, PART) && has(&all, block, PART_OF_ALL))
}
