//! Which signs are believed.
//!
//! A name is a hint and no promise: the class of a wrapper says `comments-open`, a whole page is one form, a
//! forum is nothing but comments. So a block that holds most of what a page has to say is left out by none.

use super::place;
use super::regions::{Region, Sums};

/// What is inside a block is left out only if that is less than this part of the page's prose.
const PART_OF_PAGE: f64 = 0.5;

/// Unless it is comments and there is an article beside with so many words of prose.
const ARTICLE_WORDS: usize = 60;

/// If more of the prose than this is not shown, it is shown later, by a script.
const UNSEEN_PART: f64 = 0.7;

/// What is to be believed of where each block stands, of the signs in [`place::LEFT_OUT`].
pub(crate) fn believed(regions: &[Region], prose: &Sums) -> Vec<u32> {
    let most = prose.total() as f64 * PART_OF_PAGE;
    let has_article = regions.iter().any(|region| {
        region.signs & (place::BODY | place::ARTICLE) != 0
            && region.place & place::LEFT_OUT == 0
            && prose.within(region) >= ARTICLE_WORDS
    });
    let unseen: usize = outermost(regions, place::UNSEEN)
        .map(|region| prose.within(region))
        .sum();
    let ignored = if unseen as f64 >= prose.total() as f64 * UNSEEN_PART {
        place::UNSEEN
    } else {
        0
    };
    let mut believed = Vec::with_capacity(regions.len());
    for region in regions {
        // What was said around and not believed is not believed of its parts either.
        let around = regions[region.parent as usize].place;
        let mut signs = region.signs & place::LEFT_OUT & !ignored & !around;
        if signs != 0 && prose.within(region) as f64 > most {
            let is_comments = signs & place::COMMENTS != 0 && region.place & place::BODY == 0;
            if !(is_comments && has_article) {
                signs = 0;
            }
        }
        let inherited = believed.get(region.parent as usize).copied().unwrap_or(0);
        believed.push(signs | inherited);
    }
    believed
}

fn outermost(regions: &[Region], sign: u32) -> impl Iterator<Item = &Region> {
    regions
        .iter()
        .filter(move |region| region.signs & sign != 0 && regions[region.parent as usize].place & sign == 0)
}
