//! Chooses a page's main content and the text that verdicts are made from.
//!
//! Templates make different pages look similar, so a page is judged by its main content: the block
//! with the prose, without the boilerplate. If that has fewer than fifty words, the whole page is
//! used. A page of links or of goods has no prose; its content is everything outside the
//! boilerplate. On a short page, everything next to the block with the title is excluded.
//!
//! `docs/measurements/extraction.md` compares the quality with other extractors;
//! `tests/labelled.rs` guards it.

use std::collections::HashSet;
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use crate::html::compared_text::{self, Compared, words_in};
use crate::html::document::{ComparedText, Document, MainContent};
use crate::html::limits::ReadLimits;
use crate::html::lines::{Line, Lines};
use crate::html::page_kind::PageKind;
use crate::html::prefix_sums::PrefixSums;
use crate::html::regions::Region;
use crate::html::{
    boilerplate, item_lists, main_content, region_flags, shared_lines, titled_block,
};

/// Minimum number of words of a main content.
pub const MIN_MAIN_WORDS: usize = 50;

/// In a main content with fewer words, a sidebar may be a large part.
const MIN_WORDS_OF_CONTENT: usize = 250;

/// The rest of the page is not boilerplate if the main block has less prose than this …
const FEW_WORDS: usize = 100;

/// … and less than this part of the page's words …
const SMALL_PART: f64 = 0.25;

/// … or less than this part of its own words is prose.
const LITTLE_PROSE: f64 = 0.3;

/// Minimum number of words of a paragraph whose repetition is dropped.
const REPEATED_WORDS: u32 = 24;

/// Minimum part of prose in a content whose lines of links are excluded, as navigation among prose.
/// With less prose, these lines are the content.
const PROSE_AMONG_LINKS: f64 = 0.5;

impl Document {
    /// Chooses the texts of a page. `judge_links` gets the lines outside the site's boilerplate;
    /// `is_shared` returns true for lines to leave out at both ends of the text; `markdown` returns
    /// the chosen lines as Markdown, on request.
    pub(super) fn choose_texts(
        &mut self,
        mut all: Lines,
        limits: &ReadLimits,
        judge_links: impl FnOnce(&Lines, &[Region], &[bool]),
        is_shared: Option<impl Fn(&str) -> bool>,
        markdown: impl FnOnce(&Lines, &dyn Fn(usize) -> bool) -> Option<String>,
    ) {
        all.end_line();
        all.text.pop();
        let mut regions = std::mem::take(&mut all.regions);
        let regions = regions.finish(all.lines.len());
        let compared = compared_text::find(&all.lines, regions);
        judge_links(&all, regions, &compared.lines);
        let Chosen {
            lines: mut chosen,
            is_around_title,
        } = choose(&all.lines, regions, &compared);
        self.heading = compared_text::heading(&all, regions, &compared, limits.title_chars);
        if limits.fields {
            self.kind = Some(PageKind::of(&all.lines, regions, &compared));
        }

        let page_words = all.words();
        let is_frame = |words: usize| words < MIN_MAIN_WORDS && words * 2 < page_words;
        if !compared.is_marked && is_frame(compared.words) {
            self.compared_own = MainContent::PageFallback {
                main_text: gather(&all, &compared.lines),
            };
        } else if compared.lines.contains(&false) {
            self.compared = ComparedText::Main;
        }

        let mut main = None;
        if chosen.contains(&false) {
            let words = words_in(&all.lines, &chosen);
            if words >= MIN_MAIN_WORDS || compared.is_marked || is_around_title {
                leave_repeated_out(&mut chosen, &all);
                main = Some(gather(&all, &chosen));
            } else if is_frame(words) {
                self.own = MainContent::PageFallback {
                    main_text: gather(&all, &chosen),
                };
            }
        }
        if self.compared == ComparedText::Main && (main.is_none() || chosen != compared.lines) {
            self.compared = ComparedText::Other(gather(&all, &compared.lines));
        }
        if main.is_none() {
            chosen.fill(true);
        }
        if let Some(is_shared) = is_shared
            && shared_lines::leave_out(&mut chosen, &all, is_shared)
        {
            main = Some(gather(&all, &chosen));
        }
        self.markdown = markdown(&all, &|line| chosen[line]);
        (self.text, self.full) = match main {
            Some(main) => (main, Some(all.text)),
            None => (all.text, None),
        };
    }
}

fn gather(all: &Lines, chosen: &[bool]) -> String {
    let mut gathered = String::with_capacity(all.text.len());
    for (line, _) in all.lines.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        gathered.push_str(&all.text[line.start as usize..line.end as usize]);
        gathered.push('\n');
    }
    gathered.pop();
    gathered
}

/// The lines of the main content.
struct Chosen {
    /// True for each line of the main content.
    lines: Vec<bool>,
    /// True if everything next to the block with the title is excluded.
    is_around_title: bool,
}

/// Chooses the lines of the main content.
fn choose(lines: &[Line], regions: &[Region], compared: &Compared) -> Chosen {
    if compared.is_marked && lines.iter().any(|line| line.is_in(region_flags::SELECTED)) {
        return Chosen {
            lines: compared.lines.clone(),
            is_around_title: false,
        };
    }
    let is_eligible = |line: &Line| !compared.is_marked || line.is_in(region_flags::MAIN);
    let titled = titled_block::find(lines, regions, &compared.lines);
    let mut chosen = choose_among(lines, regions, titled.as_ref(), is_eligible);
    leave_buttons_out(&mut chosen, lines);
    let is_short = !compared.is_marked && words_in(lines, &chosen) < MIN_WORDS_OF_CONTENT;
    let titled = titled.filter(|_| is_short);
    let mut eligible = compared.lines.clone();
    if let Some(inside) = &titled {
        keep_between(&mut chosen, inside);
        keep_between(&mut eligible, inside);
    }
    if words_in(lines, &chosen) < MIN_MAIN_WORDS {
        // Too little text remains to exclude more.
        chosen.clone_from(&eligible);
        if !compared.is_marked {
            leave_buttons_out(&mut chosen, lines);
        }
    }
    item_lists::keep(&mut chosen, &eligible, lines, regions);
    Chosen {
        lines: chosen,
        is_around_title: titled.is_some(),
    }
}

/// Excludes the lines outside this range.
fn keep_between(chosen: &mut [bool], lines: &Range<usize>) {
    chosen[..lines.start].fill(false);
    chosen[lines.end..].fill(false);
}

/// Excludes buttons, which offer actions. A heading that unfolds stays.
fn leave_buttons_out(chosen: &mut [bool], lines: &[Line]) {
    for (chosen, line) in chosen.iter_mut().zip(lines) {
        *chosen &= !line.is_in(region_flags::BUTTON) || line.is_in(region_flags::HEADING);
    }
}

/// Excludes repeated paragraphs: a page repeats them for large and small screens, or quotes them in
/// a response. A paragraph that directly follows itself is intended.
fn leave_repeated_out(chosen: &mut [bool], all: &Lines) {
    let mut seen = HashSet::new();
    let mut last = None;
    for (chosen, line) in chosen.iter_mut().zip(&all.lines) {
        if *chosen && line.words >= REPEATED_WORDS {
            let text = xxh3_64(&all.text.as_bytes()[line.start as usize..line.end as usize]);
            *chosen = seen.insert(text) || last == Some(text);
            last = Some(text);
        }
    }
}

fn choose_among(
    lines: &[Line],
    regions: &[Region],
    titled: Option<&Range<usize>>,
    is_eligible: impl Fn(&Line) -> bool,
) -> Vec<bool> {
    let framed = |line: &Line| line.is_in(region_flags::FRAME_OR_ASIDE) || !is_eligible(line);
    let is_content = |line: &Line| !framed(line);
    let prose = PrefixSums::of(lines, is_content, Line::prose);
    let words = PrefixSums::of(lines, is_content, Line::words);
    let left_out = boilerplate::trusted(regions, &prose, &words, titled);
    let is_out = |line: &Line| framed(line) || left_out[line.region as usize] != 0;
    let is_in = |line: &Line| !is_out(line);
    let prose = PrefixSums::of(lines, is_in, Line::prose);
    let words = PrefixSums::of(lines, is_in, Line::words);

    let trunk = main_content::find(regions, &left_out, &prose);
    let block = &regions[trunk.block];
    let (block_prose, block_words) = (prose.within(block), words.within(block));
    let is_small = (block_words as f64) < SMALL_PART * words.total() as f64;
    let is_no_prose = (block_prose as f64) < LITTLE_PROSE * block_words as f64;
    if block_prose < FEW_WORDS && (is_small || is_no_prose) {
        return choose_without_prose(lines, is_out);
    }
    let links_out = block_prose as f64 >= PROSE_AMONG_LINKS * block_words as f64;
    let (inside, marked) = (block.lines(), regions[trunk.marked].lines());
    let choose = |(index, line): (usize, &Line)| {
        // The title is outside the block, and distinguishes pages with little other text.
        let is_title = line.is_in(region_flags::TITLE) && !framed(line) && marked.contains(&index);
        let is_inside =
            inside.contains(&index) && !is_out(line) && !(links_out && line.is_mostly_links());
        is_title || is_inside
    };
    lines.iter().enumerate().map(choose).collect()
}

/// Chooses the lines of a page of lists: the part that its author marked, or else everything
/// outside the boilerplate.
fn choose_without_prose(lines: &[Line], is_out: impl Fn(&Line) -> bool) -> Vec<bool> {
    let words_where = |is_counted: &dyn Fn(&Line) -> bool| -> usize {
        let counted = lines.iter().filter(|line| is_counted(line));
        counted.map(Line::words).sum()
    };
    let is_marked = |sign: u32| words_where(&|line| line.is_in(sign) && !is_out(line));
    let marked = [region_flags::MAIN, region_flags::ARTICLE]
        .into_iter()
        .find(|&sign| is_marked(sign) >= MIN_MAIN_WORDS);
    let is_inside = |line: &Line| marked.is_none_or(|sign| line.is_in(sign)) && !is_out(line);
    let words = words_where(&is_inside);
    let others = words_where(&|line| is_inside(line) && !line.is_mostly_links());
    let links_out = marked.is_none() || others as f64 >= PROSE_AMONG_LINKS * words as f64;
    let choose = |line: &Line| is_inside(line) && !(links_out && line.is_mostly_links());
    lines.iter().map(choose).collect()
}
