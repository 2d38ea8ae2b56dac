//! Trust in boilerplate flags.
//!
//! A name is only a hint: a wrapper's class says `comments-open`, a whole page is one form, a forum
//! consists of comments. So no flag excludes a block with most of a page's text.

use std::ops::Range;

use crate::html::prefix_sums::PrefixSums;
use crate::html::region_flags;
use crate::html::regions::Region;

/// A block is excluded only if it contains less than this part of the page's prose.
const PART_OF_PAGE: f64 = 0.5;

/// Exception: comments are excluded at any size if an article has at least this many words of
/// prose.
const ARTICLE_WORDS: usize = 60;

/// A sidebar of the titled block has at most this many times its prose.
const MAX_BESIDE: usize = 10;

/// If at least this part of the prose is hidden, a script shows it later.
const HIDDEN_PART: f64 = 0.7;

/// Returns the trusted flags of each region: flags of [`region_flags::LEFT_OUT`], and
/// [`region_flags::REVIEWS`]. `words` counts the words outside the boilerplate; `titled` is the
/// line range of the block with the title.
pub(crate) fn trusted(
    regions: &[Region],
    prose: &PrefixSums,
    words: &PrefixSums,
    titled: Option<&Range<usize>>,
) -> Vec<u32> {
    let most = prose.total() as f64 * PART_OF_PAGE;
    let has_article = regions.iter().any(|region| {
        region.own_flags & (region_flags::BODY | region_flags::ARTICLE) != 0
            && region.flags & region_flags::LEFT_OUT == 0
            && prose.within(region) >= ARTICLE_WORDS
    });
    let sum = |sign: u32| -> usize {
        outermost(regions, sign)
            .map(|region| prose.within(region))
            .sum()
    };
    let mut ignored = 0;
    if sum(region_flags::HIDDEN) as f64 >= prose.total() as f64 * HIDDEN_PART {
        ignored |= region_flags::HIDDEN;
    }
    // Each forum post is marked, and no post is most of the page.
    if sum(region_flags::COMMENTS) as f64 > most && !has_article {
        ignored |= region_flags::COMMENTS;
    }
    let titles = titles(regions);
    let is_of_buyers = |region: &Region| {
        let is_content = region.own_flags
            & (region_flags::MAIN | region_flags::ARTICLE | region_flags::BODY)
            != 0;
        region.own_flags & region_flags::REVIEWS != 0 && !is_content && !holds(region, &titles)
    };
    let reviews = outermost(regions, region_flags::REVIEWS).filter(|region| is_of_buyers(region));
    let of_buyers: usize = reviews.map(|region| prose.within(region)).sum();
    let has_others = prose.total() - of_buyers.min(prose.total()) >= ARTICLE_WORDS;
    let mut trusted = Vec::with_capacity(regions.len());
    for region in regions {
        // If a flag is not trusted for a parent, it is not trusted for its parts.
        let around = regions[region.parent as usize].flags;
        let mut own_flags = region.own_flags & region_flags::LEFT_OUT & !ignored & !around;
        if own_flags != 0 && prose.within(region) as f64 > most {
            let is_comments =
                own_flags & region_flags::COMMENTS != 0 && region.flags & region_flags::BODY == 0;
            let is_foot = is_foot(region, words, &titles);
            // The sidebar of a short page is most of the page.
            let is_sidebar = own_flags & region_flags::HINT != 0
                && titled.is_some_and(|titled| is_beside(region, titled, prose));
            if !(is_comments && has_article || is_foot || is_sidebar) {
                own_flags = 0;
            }
        }
        if has_others && is_of_buyers(region) {
            own_flags |= region_flags::REVIEWS;
        }
        let inherited = trusted.get(region.parent as usize).copied().unwrap_or(0);
        trusted.push(own_flags | inherited);
    }
    trusted
}

/// Returns true for a block next to the block with the title. A block with far more prose is the
/// content, regardless of its name.
fn is_beside(region: &Region, titled: &Range<usize>, prose: &PrefixSums) -> bool {
    let inside = region.lines();
    let is_apart = titled.end <= inside.start || inside.end <= titled.start;
    is_apart && prose.within(region) <= MAX_BESIDE * prose.between(titled)
}

/// Returns the first lines of the page's first-level headings and main element.
pub(crate) fn titles(regions: &[Region]) -> Vec<usize> {
    let is_title = region_flags::TITLE | region_flags::MAIN;
    let titles = regions.iter().filter(|region| {
        region.own_flags & is_title != 0 && region.flags & region_flags::FRAME == 0
    });
    // Blocks are sorted by their first lines.
    titles.map(|region| region.lines().start).collect()
}

fn holds(region: &Region, titles: &[usize]) -> bool {
    let lines = region.lines();
    let next = titles.partition_point(|&title| title < lines.start);
    titles.get(next).is_some_and(|&title| title < lines.end)
}

/// Maximum part of a page's words after its foot.
const PART_BEHIND_FOOT: f64 = 0.1;

/// Returns true for a block named as the foot of a page that comes near the page's end, after other
/// words, and contains no title. The foot of a short page is most of the page.
pub(crate) fn is_foot(region: &Region, words: &PrefixSums, titles: &[usize]) -> bool {
    let (before, inside) = (words.before(region), words.within(region));
    let behind = words.total().saturating_sub(before + inside) as f64;
    let is_last = behind <= words.total() as f64 * PART_BEHIND_FOOT;
    region.own_flags & region_flags::FOOT != 0 && before > 0 && is_last && !holds(region, titles)
}

fn outermost(regions: &[Region], sign: u32) -> impl Iterator<Item = &Region> {
    regions.iter().filter(move |region| {
        region.own_flags & sign != 0 && regions[region.parent as usize].flags & sign == 0
    })
}
