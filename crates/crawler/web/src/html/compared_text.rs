//! Selects the lines for a verdict, and the heading that names the page. A reader wants only the
//! main content, but a verdict must keep everything that distinguishes two pages: a list of links,
//! a synopsis next to the text, a table, a forum post. So everything outside the site's boilerplate
//! counts, and a doubtful block is content. Of 508 wrongly merged pairs of LLVM's pages, 307 were
//! equal only because their lines of links had been removed. Elements and roles declare the
//! boilerplate; class names for a sidebar, a menu or a footer do so if they are credible. If a page
//! has a `<main>`, everything outside it is boilerplate.

use crate::html::lines::{Line, Lines, joined};
use crate::html::prefix_sums::PrefixSums;
use crate::html::regions::Region;
use crate::html::{boilerplate, region_flags};

/// A block with more than this part of a page's words is not a sidebar, regardless of its name …
const PART_OF_PAGE: f64 = 0.5;

/// … unless more than this part of its words is in lines of links, and the page's title is outside
/// it.
const LINKS_OF_MENU: f64 = 0.6;

/// Maximum number of lines of a heading.
const HEADING_LINES: usize = 64;

/// The lines outside the boilerplate.
pub(super) struct Compared {
    /// True for each line outside the boilerplate.
    pub lines: Vec<bool>,
    /// True if the page or the user marks the content; then nothing else is content.
    pub is_marked: bool,
    /// Number of words in these lines.
    pub words: usize,
}

/// Finds the lines outside the boilerplate.
pub(super) fn find(lines: &[Line], regions: &[Region]) -> Compared {
    if let Some(selected) = marked(lines, |line| line.is_in(region_flags::SELECTED)) {
        return selected;
    }
    let menus = menus(lines, regions);
    let is_framed = |line: &Line| {
        line.is_in(region_flags::FRAME)
            || (line.is_in(region_flags::HINT) && menus[line.region as usize])
    };
    if let Some(main) = marked(lines, |line| {
        line.is_in(region_flags::MAIN) && !is_framed(line)
    }) {
        return main;
    }
    of(lines, |line| !is_framed(line))
}

fn of(lines: &[Line], is_compared: impl Fn(&Line) -> bool) -> Compared {
    let chosen: Vec<bool> = lines.iter().map(is_compared).collect();
    Compared {
        words: words_in(lines, &chosen),
        lines: chosen,
        is_marked: false,
    }
}

/// Returns the number of words in the chosen lines.
pub(super) fn words_in(lines: &[Line], chosen: &[bool]) -> usize {
    let chosen = lines.iter().zip(chosen).filter(|(_, chosen)| **chosen);
    chosen.map(|(line, _)| line.words()).sum()
}

/// Returns the marked lines, if they have words.
fn marked(lines: &[Line], is_compared: impl Fn(&Line) -> bool) -> Option<Compared> {
    let compared = of(lines, is_compared);
    (compared.words > 0).then_some(Compared {
        is_marked: true,
        ..compared
    })
}

/// Finds the blocks inside boilerplate parts named by a class, if the name is credible.
fn menus(lines: &[Line], regions: &[Region]) -> Vec<bool> {
    let is_named = |region: &Region| {
        region.own_flags & region_flags::HINT != 0 && region.flags & region_flags::FRAME == 0
    };
    if !regions.iter().any(is_named) {
        return vec![false; regions.len()];
    }
    let is_content = |line: &Line| !line.is_in(region_flags::FRAME);
    let is_link = |line: &Line| is_content(line) && line.is_mostly_links();
    let words = PrefixSums::of(lines, is_content, Line::words);
    let links = PrefixSums::of(lines, is_link, Line::words);
    let titles = boilerplate::titles(regions);
    let title = regions
        .iter()
        .find(|region| region.own_flags & region_flags::TITLE != 0 && words.within(region) > 0)
        .map(Region::lines);
    let mut menus: Vec<bool> = Vec::with_capacity(regions.len());
    for region in regions {
        let is_menu = is_named(region) && {
            let of_links = links.within(region) as f64 / words.within(region).max(1) as f64;
            let is_small = words.within(region) as f64 <= words.total() as f64 * PART_OF_PAGE;
            let is_beside = title
                .as_ref()
                .is_some_and(|title| !region.lines().contains(&title.start));
            let is_content = region.flags
                & (region_flags::MAIN | region_flags::ARTICLE | region_flags::BODY)
                != 0;
            let has_links = of_links > LINKS_OF_MENU;
            let is_foot = boilerplate::is_foot(region, &words, &titles);
            // In marked content a name alone is weak evidence: it may be a dish of a menu, or a
            // chapter in a `toc`.
            is_foot || (is_small && (has_links || !is_content)) || (has_links && is_beside)
        };
        let inherited = menus.get(region.parent as usize).copied().unwrap_or(false);
        menus.push(is_menu || inherited);
    }
    menus
}

/// Returns the heading that names a page: the first `<h1>` in the compared lines, or else the first
/// heading there. If marked content has no `<h1>`, an `<h1>` outside it takes precedence over
/// lesser headings.
pub(super) fn heading(
    all: &Lines,
    regions: &[Region],
    compared: &Compared,
    most: usize,
) -> Option<String> {
    let first = |sign: u32, is_in: &dyn Fn(usize) -> bool| {
        let mut regions = regions.iter().filter(|region| region.own_flags & sign != 0);
        regions.find_map(|region| {
            let lines = region
                .lines()
                .take(HEADING_LINES)
                .filter(|&index| is_in(index));
            let text = folded(all, lines, most);
            (!text.is_empty()).then_some(text)
        })
    };
    let is_compared = |index: usize| compared.lines[index];
    let is_beside = |index: usize| {
        compared.is_marked && !all.lines[index].is_in(region_flags::FRAME | region_flags::HINT)
    };
    first(region_flags::TITLE, &is_compared)
        .or_else(|| first(region_flags::TITLE, &is_beside))
        .or_else(|| first(region_flags::HEADING, &is_compared))
        .or_else(|| first(region_flags::HEADING, &is_beside))
}

fn folded(all: &Lines, lines: impl Iterator<Item = usize>, most: usize) -> String {
    let lines = lines.map(|index| all.lines[index]);
    let lines = lines.filter(|line| line.words > 0);
    let texts = lines.map(|line| &all.text[line.start as usize..line.end as usize]);
    let mut text = joined(texts, most);
    // Manuals append a permalink sign to headings.
    let end = text.trim_end_matches(['¶', ' ']).len();
    text.truncate(end);
    text
}
