//! What of a page is its own.
//!
//! Templates make different pages look alike, so a page is judged by its main content: what is left
//! without the frame, in the block that holds the prose. What is left must be a text: under fifty
//! words the whole page is taken. A page of links or of goods has no prose to go by; its content is
//! all that is not the frame.
//!
//! How well this does, beside others, is in `docs/extraction.md`; `tests/labelled.rs` holds it
//! there.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::html::document::{JudgedText, MainContent};
use crate::html::judged_text::{self, Judged};
use crate::html::lines::{Line, Lines};
use crate::html::regions::{PrefixSums, Region};
use crate::html::{boilerplate, item_lists, main_content, region_flags};

/// Under so many words a main content is none.
pub const MIN_MAIN_WORDS: usize = 50;

/// A line of so many words is prose, in a paragraph and elsewhere.
const PROSE_IN_PARAGRAPH: u32 = 5;
const PROSE_ELSEWHERE: u32 = 10;

/// A block with less prose than this is no text of which the rest of the page would be the frame …
const FEW_WORDS: usize = 100;

/// … if it has less than this part of the page's words …
const SMALL_PART: f64 = 0.25;

/// … or less than this part of its own words is prose.
const LITTLE_PROSE: f64 = 0.3;

/// A paragraph of so many words that stands there twice is read once.
const REPEATED_WORDS: u32 = 24;

/// Lines of links among prose lead to other pages; where less than this part is prose, they are
/// what the page has.
const PROSE_AMONG_LINKS: f64 = 0.5;

/// What a page says.
pub(crate) struct Texts {
    pub text: String,
    /// The whole page, where that is more than `text`.
    pub full: Option<String>,
    pub own: MainContent,
    pub judged: JudgedText,
    pub judged_own: MainContent,
    pub heading: Option<String>,
}

/// Chooses what of a page is read and what it is judged by; a heading has at most so many
/// characters.
pub(crate) fn finish(mut all: Lines, heading_chars: usize) -> Texts {
    all.end_line();
    all.text.pop();
    let mut regions = std::mem::take(&mut all.regions);
    let regions = regions.finish(all.lines.len());
    let judged = judged_text::find(&all.lines, regions);
    let mut chosen = choose(&all.lines, regions, &judged);
    let heading = judged_text::heading(&all, regions, &judged, heading_chars);

    let page_words = words_of(all.lines.iter());
    let is_frame = |words: usize| words < MIN_MAIN_WORDS && words * 2 < page_words;
    let (mut judged_text, mut judged_own) = (JudgedText::Full, MainContent::Main);
    if !judged.is_marked && is_frame(judged.words) {
        judged_own = MainContent::PageFallback {
            own_text: gather(&all, &judged.lines),
        };
    } else if judged.lines.contains(&false) {
        judged_text = JudgedText::Main;
    }

    let (mut main, mut own) = (None, MainContent::Main);
    if chosen.contains(&false) {
        let words = words_in(&all.lines, &chosen);
        if words >= MIN_MAIN_WORDS || judged.is_marked {
            leave_repeated_out(&mut chosen, &all);
            main = Some(gather(&all, &chosen));
        } else if is_frame(words) {
            own = MainContent::PageFallback {
                own_text: gather(&all, &chosen),
            };
        }
    }
    if judged_text == JudgedText::Main && (main.is_none() || chosen != judged.lines) {
        judged_text = JudgedText::Other(gather(&all, &judged.lines));
    }
    let (text, full) = match main {
        Some(main) => (main, Some(all.text)),
        None => (all.text, None),
    };
    Texts {
        text,
        full,
        own,
        judged: judged_text,
        judged_own,
        heading,
    }
}

fn words_of<'l>(lines: impl Iterator<Item = &'l Line>) -> usize {
    lines.map(|line| line.words as usize).sum()
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

/// For each line, whether it is of the main content.
fn choose(lines: &[Line], regions: &[Region], judged: &Judged) -> Vec<bool> {
    if judged.is_marked && lines.iter().any(|line| line.is_in(region_flags::SELECTED)) {
        return judged.lines.clone();
    }
    let is_eligible = |line: &Line| !judged.is_marked || line.is_in(region_flags::MAIN);
    let mut chosen = choose_among(lines, regions, is_eligible);
    leave_buttons_out(&mut chosen, lines);
    if words_in(lines, &chosen) < MIN_MAIN_WORDS {
        // Too little to leave more out than the frame.
        chosen.clone_from(&judged.lines);
        if !judged.is_marked {
            leave_buttons_out(&mut chosen, lines);
        }
    }
    item_lists::keep(&mut chosen, &judged.lines, lines, regions);
    chosen
}

/// Leaves buttons out: they say what can be done with a page. A heading that unfolds stays.
fn leave_buttons_out(chosen: &mut [bool], lines: &[Line]) {
    for (chosen, line) in chosen.iter_mut().zip(lines) {
        *chosen &= !line.is_in(region_flags::BUTTON) || line.is_in(region_flags::HEADING);
    }
}

/// Leaves out paragraphs that stand there already: once for large screens and once for small ones,
/// or quoted in an answer. One that follows itself is meant so.
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

fn words_in(lines: &[Line], chosen: &[bool]) -> usize {
    words_of(
        lines
            .iter()
            .zip(chosen)
            .filter(|(_, chosen)| **chosen)
            .map(|(line, _)| line),
    )
}

fn choose_among(
    lines: &[Line],
    regions: &[Region],
    is_eligible: impl Fn(&Line) -> bool,
) -> Vec<bool> {
    let framed = |line: &Line| line.is_in(region_flags::FRAME_OR_ASIDE) || !is_eligible(line);
    let prose = PrefixSums::of(
        lines
            .iter()
            .map(|line| if framed(line) { 0 } else { prose_of(line) }),
    );
    let words = PrefixSums::of(
        lines
            .iter()
            .map(|line| if framed(line) { 0 } else { line.words as usize }),
    );
    let left_out = boilerplate::trusted(regions, &prose, &words);
    let is_out = |line: &Line| framed(line) || left_out[line.region as usize] != 0;
    let sum = |words: fn(&Line) -> usize| {
        PrefixSums::of(
            lines
                .iter()
                .map(|line| if is_out(line) { 0 } else { words(line) }),
        )
    };
    let (prose, words) = (sum(prose_of), sum(|line| line.words as usize));

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
        // What it is about is said beside the block, and tells pages apart that say little else.
        let is_title = line.is_in(region_flags::TITLE) && !framed(line) && marked.contains(&index);
        let is_inside =
            inside.contains(&index) && !is_out(line) && !(links_out && line.is_mostly_links());
        is_title || is_inside
    };
    lines.iter().enumerate().map(choose).collect()
}

/// Words that speak in sentences, as far as can be seen from one line.
fn prose_of(line: &Line) -> usize {
    let least = if line.is_in(region_flags::PARAGRAPH) {
        PROSE_IN_PARAGRAPH
    } else {
        PROSE_ELSEWHERE
    };
    let is_prose =
        line.words >= least && !line.is_in(region_flags::HEADING) && !line.is_mostly_links();
    if is_prose { line.words as usize } else { 0 }
}

/// A page of lists: what its author marked, else all but the frame.
fn choose_without_prose(lines: &[Line], is_out: impl Fn(&Line) -> bool) -> Vec<bool> {
    let words_in = |sign: u32| {
        words_of(
            lines
                .iter()
                .filter(|line| line.is_in(sign) && !is_out(line)),
        )
    };
    let marked = [region_flags::MAIN, region_flags::ARTICLE]
        .into_iter()
        .find(|&sign| words_in(sign) >= MIN_MAIN_WORDS);
    let is_inside = |line: &Line| marked.is_none_or(|sign| line.is_in(sign)) && !is_out(line);
    let words = words_of(lines.iter().filter(|line| is_inside(line)));
    let others = words_of(
        lines
            .iter()
            .filter(|line| is_inside(line) && !line.is_mostly_links()),
    );
    let links_out = marked.is_none() || others as f64 >= PROSE_AMONG_LINKS * words as f64;
    let choose = |line: &Line| is_inside(line) && !(links_out && line.is_mostly_links());
    lines.iter().map(choose).collect()
}
