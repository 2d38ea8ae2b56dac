//! The kind of a page: an article, a list of links to others, or a form.
//!
//! A corpus wants articles; lists of posts, results and goods repeat what stands elsewhere. The
//! rules count the words outside the site's boilerplate. `docs/measurements/extraction.md` has
//! their errors on labelled pages.

use crate::html::compared_text::Compared;
use crate::html::lines::Line;
use crate::html::regions::Region;
use crate::html::{item_lists, region_flags};

/// Minimum part of a list's words that are in lines of links …
const LINKED: f64 = 0.3;

/// … or in lists of items with links …
const LISTED: f64 = 0.3;

/// … of which less than this part is prose.
const PROSE_OF_LIST: f64 = 0.4;

/// Minimum part of a form's words that are in forms.
const IN_FORM: f64 = 0.5;

/// Minimum number of words of prose of an article whose text is in a form: some sites wrap every
/// page in one.
const PROSE_OF_ARTICLE: usize = 50;

/// The kind of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// A text, or anything that is neither a list nor a form.
    Article,
    /// Mostly links to other pages, perhaps with excerpts.
    List,
    /// Mostly fields to fill in: a login, a search, a contact.
    Form,
}

impl PageKind {
    /// Returns its name, as in exports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::List => "list",
            Self::Form => "form",
        }
    }

    pub(super) fn of(lines: &[Line], regions: &[Region], compared: &Compared) -> Self {
        let listed = item_lists::listed(lines, regions);
        let is_item = |line: &Line| listed[line.region as usize] && item_lists::may_be_item(line);
        let count = |words: &dyn Fn(&Line) -> usize| {
            let chosen = lines.iter().zip(&compared.lines);
            chosen
                .filter(|(_, is_compared)| **is_compared)
                .map(|(line, _)| words(line))
                .sum::<usize>()
        };
        let words_if = |is_counted: &dyn Fn(&Line) -> bool| {
            count(&|line| if is_counted(line) { line.words() } else { 0 }) as f64
        };
        let (words, prose) = (compared.words as f64, count(&Line::prose));
        let in_forms = words_if(&|line| line.is_in(region_flags::FORM));
        if prose < PROSE_OF_ARTICLE && in_forms > words * IN_FORM {
            return Self::Form;
        }
        let is_listed = words_if(&is_item) >= words * LISTED;
        let is_linked = words_if(&Line::is_mostly_links) >= words * LINKED;
        match is_linked || is_listed && (prose as f64) < words * PROSE_OF_LIST {
            true if compared.words > 0 => Self::List,
            _ => Self::Article,
        }
    }
}
