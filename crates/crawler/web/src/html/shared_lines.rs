//! Lines at the beginning and the end of a page's text that the site has on many pages.
//!
//! A page cannot show that a slogan above its article stands above every article of the site. A
//! caller that knows the site says so, line by line.

use std::fmt::Debug;

use crate::html::lines::Lines;
use crate::url::page_url::PageUrl;

/// The lines that the pages of a site share.
pub trait SharedLines: Debug + Send + Sync {
    /// Returns true if many pages of the URL's host have the line.
    fn has(&self, url: &PageUrl, line: &str) -> bool;
}

/// Leaves the shared lines before the first and after the last other line out of the chosen ones.
/// Returns true if any was left out. A text that consists of shared lines stays as it is.
pub(super) fn leave_out(
    chosen: &mut [bool],
    all: &Lines,
    is_shared: impl Fn(&str) -> bool,
) -> bool {
    let is_own = |number: usize| {
        let line = all.lines[number];
        chosen[number] && !is_shared(&all.text[line.start as usize..line.end as usize])
    };
    let first = (0..chosen.len()).find(|&number| is_own(number));
    let last = (0..chosen.len()).rfind(|&number| is_own(number));
    let Some((first, last)) = first.zip(last) else {
        return false;
    };
    let outside = [0..first, last + 1..chosen.len()];
    outside.into_iter().fold(false, |found, lines| {
        let lines = &mut chosen[lines];
        let is_found = lines.contains(&true);
        lines.fill(false);
        found || is_found
    })
}
