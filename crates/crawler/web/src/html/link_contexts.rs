//! The words around links, and their position inside or outside the main content.
//!
//! A link says more together with its block: "the previous version is HERE". The walk records the
//! place of each link in the gathered lines; the words are taken from the lines afterwards, when
//! the lines of the site's boilerplate are known.
//!
//! Invariant: a link costs a bounded number of steps in a block of any length, so that the time for
//! a page is proportional to its length. Link contexts in focused crawling: Pant and Srinivasan,
//! "Link contexts in classifier-guided topical crawlers", TKDE 2006.

use std::ops::Range;

use crate::html::limits::ReadLimits;
use crate::html::lines::{Line, Lines, is_ideographic};
use crate::html::link::LinkContext;
use crate::html::links::{Reference, TRIES_PER_LINK};
use crate::html::region_flags;
use crate::html::regions::{Region, saturated};
use crate::html::work_budget::{self, WorkBudget};

/// The places of links in the lines of a page.
#[derive(Debug)]
pub(crate) struct LinkContexts {
    places: Vec<Place>,
    /// Maximum number of places.
    most: usize,
    /// Cells of tables, which are parts of lines, and the indexes of the open cells.
    cells: Vec<Cell>,
    open: Vec<u32>,
    /// Remaining steps for words.
    budget: WorkBudget,
    /// Maximum length of the words around a link in characters.
    chars: usize,
}

/// The place of a link.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Index of its reference.
    reference: u32,
    /// Position of its anchor text.
    start: u32,
    end: u32,
    /// Innermost block, and the cell in it.
    region: u32,
    cell: Option<u32>,
}

/// A cell of a table.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Position of its text.
    start: u32,
    end: u32,
    /// Block around the cell.
    region: u32,
}

impl LinkContexts {
    pub(crate) fn new(limits: &ReadLimits) -> Self {
        Self {
            places: Vec::new(),
            most: limits.links.saturating_mul(TRIES_PER_LINK),
            cells: Vec::new(),
            open: Vec::new(),
            budget: WorkBudget::new(limits.stream_effort / 4),
            chars: limits.context_chars,
        }
    }

    /// Opens a cell of a table at the end of the lines.
    pub(crate) fn open_cell(&mut self, lines: &Lines) {
        self.open.push(saturated(self.cells.len()));
        self.cells.push(Cell {
            start: saturated(lines.len()),
            end: u32::MAX,
            region: lines.regions.current(),
        });
    }

    /// Closes the innermost cell at the end of the lines.
    pub(crate) fn close_cell(&mut self, lines: &Lines) {
        if let Some(cell) = self.open.pop() {
            self.cells[cell as usize].end = saturated(lines.len());
        }
    }

    /// Adds the place of a link with an anchor text from `start` to the end of the lines.
    pub(crate) fn add(&mut self, reference: usize, start: usize, lines: &Lines) {
        if lines.is_full() || self.places.len() >= self.most {
            return;
        }
        let region = lines.regions.current();
        let cell = self.open.last().copied();
        self.places.push(Place {
            reference: saturated(reference),
            start: saturated(start),
            end: saturated(lines.len()),
            region,
            // A block in the cell is nearer.
            cell: cell.filter(|&cell| self.cells[cell as usize].region == region),
        });
    }

    /// Writes the contexts of the links into their references. `judged` marks the lines outside the
    /// site's boilerplate.
    pub(crate) fn write(
        mut self,
        lines: &Lines,
        regions: &[Region],
        judged: &[bool],
        references: &mut [Reference<'_>],
    ) {
        if self.places.is_empty() {
            return;
        }
        let filled = filled(regions);
        for place in &self.places {
            let Some(reference) = references.get_mut(place.reference as usize) else {
                continue;
            };
            let region = &regions[place.region as usize];
            let filled = &regions[filled[place.region as usize] as usize];
            // A link in a block without text has the flags of the block, and no line.
            let is_framed = region.lines().is_empty() && region.flags & region_flags::FRAME != 0;
            let line = line_of(place, filled, &lines.lines);
            let in_main_content = !is_framed && line.is_none_or(|line| judged[line]);
            let is_known = |known: &LinkContext| known.in_main_content || !in_main_content;
            if reference.context.as_ref().is_some_and(is_known) {
                continue;
            }
            let block = match place.cell {
                Some(cell) => {
                    let cell = self.cells[cell as usize];
                    cell.start as usize..cell.end as usize
                }
                None => text_of(region, &lines.lines),
            };
            let (before, after) = beside(place, block, &lines.text);
            let steps = 1
                + work_budget::of_words(before.len().min(self.chars))
                + work_budget::of_words(after.len().min(self.chars));
            if !self.budget.take(steps) {
                return;
            }
            reference.context = Some(LinkContext {
                around: nearest(before, after, self.chars),
                in_main_content,
            });
        }
    }
}

/// Returns for each block the innermost block with lines: the block itself or a block around it.
fn filled(regions: &[Region]) -> Vec<u32> {
    let mut filled: Vec<u32> = Vec::with_capacity(regions.len());
    for (index, region) in (0_u32..).zip(regions) {
        let outer = filled.get(region.parent as usize).copied();
        let is_empty = region.lines().is_empty();
        filled.push(outer.filter(|_| is_empty).unwrap_or(index));
    }
    filled
}

/// Returns the line of a link within a block; for a link without text in the block, the nearest
/// line.
fn line_of(place: &Place, block: &Region, lines: &[Line]) -> Option<usize> {
    let inside = block.lines();
    let last = inside.end.checked_sub(1).filter(|_| !inside.is_empty())?;
    let line = lines.partition_point(|line| line.end < place.start);
    Some(line.clamp(inside.start, last))
}

/// Returns the position of a block's text.
fn text_of(block: &Region, lines: &[Line]) -> Range<usize> {
    match lines[block.lines()] {
        [first, .., last] => first.start as usize..last.end as usize,
        [line] => line.start as usize..line.end as usize,
        [] => 0..0,
    }
}

/// Returns the text of a block before and after a link.
fn beside<'t>(place: &Place, block: Range<usize>, text: &'t str) -> (&'t str, &'t str) {
    let end = block.end.min(text.len());
    let start = block.start.min(end);
    let before = &text[start..(place.start as usize).clamp(start, end)];
    let after = &text[(place.end as usize).clamp(start, end)..end];
    (before.trim(), after.trim())
}

/// Returns up to `most` characters of the words nearest to the place between two texts.
fn nearest(before: &str, after: &str, most: usize) -> String {
    // One character is reserved for the space between them.
    let room = most.saturating_sub(1);
    let behind = after.chars().take(room).count();
    let before = last_words(before, (room / 2).max(room - behind));
    let after = first_words(after, room - before.chars().count());
    let mut words = String::with_capacity(before.len() + 1 + after.len());
    words.push_str(before);
    if !before.is_empty() && !after.is_empty() {
        words.push(' ');
    }
    words.push_str(after);
    if words.contains('\n') {
        words = words.replace('\n', " ");
    }
    words
}

/// Returns the last words of a text, at most `most` characters. Longer words are cut.
fn last_words(text: &str, most: usize) -> &str {
    let Some((cut, _)) = text.char_indices().rev().nth(most) else {
        return text;
    };
    let kept = &text[text.ceil_char_boundary(cut + 1)..];
    let from = text.len() - kept.len();
    let mut starts = kept.char_indices().map(|(at, _)| from + at);
    let start = starts.find(|&at| is_between_words(text, at));
    text[start.unwrap_or(from)..].trim()
}

/// Returns the first words of a text, at most `most` characters. Longer words are cut.
fn first_words(text: &str, most: usize) -> &str {
    let Some((cut, _)) = text.char_indices().nth(most) else {
        return text;
    };
    let kept = &text[..cut];
    let mut ends = kept.char_indices().rev().map(|(at, c)| at + c.len_utf8());
    let end = ends.find(|&at| is_between_words(text, at));
    text[..end.unwrap_or(cut)].trim()
}

/// Returns true if a position is next to white space or an ideograph, which is a word.
fn is_between_words(text: &str, at: usize) -> bool {
    let is_edge = |c: char| c.is_whitespace() || is_ideographic(c);
    let (before, after) = text.split_at(at);
    before.chars().next_back().is_none_or(is_edge) || after.chars().next().is_none_or(is_edge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::link::LinkKind;

    /// Returns the number of contexts that are written for links of one paragraph within a budget.
    fn written(links: usize, budget: WorkBudget) -> usize {
        let limits = ReadLimits {
            links,
            ..ReadLimits::default()
        };
        let mut lines = Lines::new(0, &limits);
        let mut contexts = LinkContexts::new(&limits);
        contexts.budget = budget;
        let mut references = Vec::new();
        for link in 0..links {
            lines.push("word ", 0, false);
            let start = lines.len();
            lines.push("link ", 0, true);
            contexts.add(link, start, &lines);
            references.push(Reference::new("a".into(), LinkKind::Page, "", 0));
        }
        lines.end_line();
        let mut regions = std::mem::take(&mut lines.regions);
        let regions = regions.finish(lines.lines.len());
        contexts.write(&lines, regions, &[true], &mut references);
        let with_context = references
            .iter()
            .filter(|reference| reference.context.is_some());
        with_context.count()
    }

    #[test]
    fn a_link_in_a_paragraph_of_20_000_costs_no_more_steps_than_in_one_of_100() {
        const PER_LINK: usize = 7;
        for links in [100, 1_000, 20_000] {
            let enough = WorkBudget::new(links * PER_LINK);
            assert_eq!(written(links, enough), links);
            let half = WorkBudget::new(links * PER_LINK / 2);
            assert!(written(links, half).abs_diff(links / 2) <= 10, "{links}");
        }
    }
}
