//! The decision on two pages, from their parts.

use hashbrown::{HashMap, HashSet};

use crate::alike::{Differences, MAX_NUMBERS, places_of_numbers};
use crate::blocks::{Block, ComparedPage, LONG, bag_of};
use crate::frame::{Changes, Frames};
use crate::page_words::PageWords;
use crate::parts::{Left, Parts};
use crate::reason::Reason;

/// Minimum shared words of two pages with the same content.
const MIN_SHARED: usize = 15;
/// Minimum shared words of texts that may differ by a word added within a block.
const MIN_EDITED: usize = 100;
/// Maximum rest of two repeats: one word per this many shared words.
const PART_OF_REPEAT: usize = 20;
/// Maximum rest of a page and its source, in the same unit: markup contains words, too.
const PART_OF_SOURCE: usize = 8;
/// Maximum words of a line that gives the address a page was printed from. It has no weight.
const LINE_OF_ORIGIN: usize = 25;
/// Maximum words of a block in the boilerplate of an edition.
const LONGEST_OF_FRAME: usize = 15;
/// A page has more than the other if it has over this many times as many blocks of its own.
const MORE_BLOCKS: usize = 4;
/// Minimum words of a paragraph. A saying that is picked at random is shorter.
const PARAGRAPH: usize = 25;
/// Minimum confidence in the detected language of a few words.
const MIN_CONFIDENCE: f64 = 0.3;

/// Outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No difference has weight.
    Repeat,
    /// The original contains everything that the page says.
    View,
    /// The page contains everything that the original says.
    ViewOfPage,
    /// A reader needs both.
    Distinct,
    /// None of the above; the resemblance of the texts decides.
    Undecided,
}

impl Outcome {
    /// Returns its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repeat => "repeat",
            Self::View => "view",
            Self::ViewOfPage => "contains",
            Self::Distinct => "distinct",
            Self::Undecided => "undecided",
        }
    }
}

/// The decision on two pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The outcome.
    pub outcome: Outcome,
    /// The difference that makes the pages distinct.
    pub reason: Option<Reason>,
    /// Places that changed or stayed the same, for [`crate::HostFrame::learn_changes`].
    pub changes: Changes,
}

impl Decision {
    fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            reason: None,
            changes: Changes::default(),
        }
    }

    fn distinct(reason: Reason) -> Self {
        Self {
            reason: Some(reason),
            ..Self::of(Outcome::Distinct)
        }
    }
}

/// Decides on a page and its likely original. Set `is_canonical` if one page declares the other as
/// its canonical page, or both declare the same page.
#[must_use]
pub fn decide(
    page: &ComparedPage,
    original: &ComparedPage,
    frames: Frames<'_>,
    is_canonical: bool,
) -> Decision {
    if page.is_partial || original.is_partial {
        return Decision::distinct(Reason::PartlyRead);
    }
    if page.lacks_sentences && original.lacks_sentences {
        return Decision::of(Outcome::Undecided);
    }
    let parts = Parts::of(page, original, frames);
    let is_changing =
        |place: Option<u64>| place.is_some_and(|place| frames.change_by_themselves(place));
    let mut differences = Differences::of(page, original);
    differences.headings(page, original);
    for (ours, theirs) in &parts.pairs {
        differences.pair(ours, theirs, &is_changing);
    }
    let shared = parts.shared + differences.shared;
    let is_one_subject = is_canonical || same_subject(page, original);
    let (our_words, their_words) = (PageWords::of(page), PageWords::of(original));
    let reason = differences.name().or(differences.number.take());
    let mut decision = match reason {
        Some(reason) => Decision::distinct(reason),
        None if !is_one_subject => Decision::of(Outcome::Undecided),
        None => {
            let weighed = Weighed {
                shared,
                ours: weight(&parts.only_page, &their_words, &is_changing),
                theirs: weight(&parts.only_original, &our_words, &is_changing),
                is_canonical,
            };
            Decision::of(weighed.outcome(page, &parts, &differences, &is_changing))
        }
    };
    if shared >= MIN_SHARED && is_one_subject {
        let words = (&our_words, &their_words);
        decision.changes = changes(&parts, &differences, words, frames, shared);
    }
    decision
}

/// Weights, in words, of two pages with one subject and no differing fact.
struct Weighed {
    /// Words that both pages have.
    shared: usize,
    /// Words of blocks that only the page has.
    ours: usize,
    /// Words of blocks that only the original has.
    theirs: usize,
    is_canonical: bool,
}

impl Weighed {
    fn outcome(
        &self,
        page: &ComparedPage,
        parts: &Parts<'_>,
        differences: &Differences<'_>,
        is_changing: &impl Fn(Option<u64>) -> bool,
    ) -> Outcome {
        let Self { shared, .. } = *self;
        // In a short text every word counts, unless one page has more blocks and the other has only
        // a few boilerplate blocks, as a print view has the terms of sale.
        let is_edited = differences.ours + differences.theirs > 0;
        let has_more = |more: &[Left<'_>], words: usize, less: &[Left<'_>]| {
            let has_own = less.iter().any(|left| !left.is_frame);
            words > 0 || !has_own && more.len() > MORE_BLOCKS * less.len()
        };
        let is_part = differences.ours == 0
            && has_more(&parts.only_original, self.theirs, &parts.only_page)
            || differences.theirs == 0
                && has_more(&parts.only_page, self.ours, &parts.only_original);
        let is_short_edit = is_edited && !is_part && shared < MIN_EDITED;
        let changes_mostly = changes_mostly(parts, differences, is_changing);
        if differences.replaced > 0 || is_short_edit || changes_mostly {
            return Outcome::Undecided;
        }
        if shared < MIN_SHARED {
            let mut left = parts.only_page.iter().chain(&parts.only_original);
            let has_other = left.any(|left| !left.is_frame && !is_changing(left.place));
            return match shared > 0 && !has_other && !is_edited {
                true => Outcome::Repeat,
                false => Outcome::Undecided,
            };
        }
        let part = match differences.ignores_signs {
            true => PART_OF_SOURCE,
            false => PART_OF_REPEAT,
        };
        let is_next_to_nothing = |words: usize| words <= shared / part;
        let is_list = parts.is_list();
        // An item that only one of two lists has is not a small rest, however short it is.
        let has_items = |left: &[Left<'_>]| {
            let mut own = left
                .iter()
                .filter(|left| left.block.is_main && !left.is_frame);
            is_list && own.any(|left| !is_changing(left.place))
        };
        let mut has_nothing =
            is_next_to_nothing(self.ours + differences.ours) && !has_items(&parts.only_page);
        let mut lacks_nothing = is_next_to_nothing(self.theirs + differences.theirs)
            && !has_items(&parts.only_original);
        if !(has_nothing && lacks_nothing) && is_edition(parts, page) {
            has_nothing = is_next_to_nothing(differences.ours);
            lacks_nothing = is_next_to_nothing(differences.theirs);
        }
        // A view has the whole prose, without the boilerplate. A page is another edition if a part
        // is missing in the middle, if words are missing in sentences, or if it is part of a page
        // without boilerplate. A list may be shown without the texts of its items.
        let is_whole = |more: &[Left<'_>], in_sentences: usize, has_frame: bool| {
            let within = more
                .iter()
                .filter(|left| left.is_within && !left.is_frame && !is_changing(left.place));
            let missing: usize = within.map(|left| left.block.words).sum();
            let is_one_text = is_list || is_next_to_nothing(missing) && has_frame;
            self.is_canonical || is_one_text && is_next_to_nothing(in_sentences)
        };
        let is_in_original = is_whole(
            &parts.only_original,
            differences.theirs_in_sentences,
            parts.original_has_frame,
        );
        let is_in_page = is_whole(
            &parts.only_page,
            differences.ours_in_sentences,
            parts.page_has_frame,
        );
        match (has_nothing, lacks_nothing) {
            (true, true) => Outcome::Repeat,
            (true, false) if is_in_original => Outcome::View,
            (false, true) if is_in_page => Outcome::ViewOfPage,
            _ => Outcome::Undecided,
        }
    }
}

/// Returns true if a page has more main content in places that change on their own than it shares
/// with the other page. Changing content is a small part of a page, so these places were learned
/// wrongly for it.
fn changes_mostly(
    parts: &Parts<'_>,
    differences: &Differences<'_>,
    is_changing: &impl Fn(Option<u64>) -> bool,
) -> bool {
    let shared = parts.shared_main + differences.shared;
    [&parts.only_page, &parts.only_original].iter().any(|left| {
        let content = left
            .iter()
            .filter(|left| left.block.is_main && !left.is_frame);
        let changing = content.filter(|left| is_changing(left.place));
        changing.map(|left| left.block.words).sum::<usize>() > shared
    })
}

/// Returns what the pair shows about places, if the pages are otherwise equal.
fn changes(
    parts: &Parts<'_>,
    differences: &Differences<'_>,
    (page, original): (&PageWords<'_>, &PageWords<'_>),
    frames: Frames<'_>,
    shared: usize,
) -> Changes {
    let of =
        |left: &[Left<'_>]| -> HashSet<u64> { left.iter().filter_map(|left| left.place).collect() };
    let (ours, theirs) = (of(&parts.only_page), of(&parts.only_original));
    let mut both: HashSet<u64> = ours.intersection(&theirs).copied().collect();
    // Most of the content does not change on its own. In the main content, only the smaller part
    // may, and similar blocks are another state of the same thing.
    let is_of_content = |left: &&Left<'_>| left.block.is_main && !left.is_frame;
    let pairs = parts.pairs.iter().flat_map(|(ours, theirs)| [ours, theirs]);
    for place in pairs.filter(is_of_content).filter_map(|left| left.place) {
        both.remove(&place);
    }
    let mut words: HashMap<u64, usize> = HashMap::new();
    for left in [&parts.only_page, &parts.only_original] {
        let mut of_side: HashMap<u64, usize> = HashMap::new();
        for left in left.iter().filter(is_of_content) {
            if let Some(place) = left.place {
                *of_side.entry(place).or_default() += left.block.words;
            }
        }
        for (place, sum) in of_side {
            let most = words.entry(place).or_default();
            *most = sum.max(*most);
        }
    }
    both.retain(|place| words.get(place).is_none_or(|words| 2 * words <= shared));
    // A site picks changing text again for each page, and long text from a stock. A paragraph that
    // no other page has, or that several pages of one content have, is edited instead: it belongs
    // to an article and its old revisions.
    let content = page.page.content();
    let is_part_of_text = |left: &Left<'_>| {
        let is_prose = is_of_content(&left) && left.block.words >= PARAGRAPH;
        let block = left.block;
        is_prose && !frames.has_elsewhere(&block, content) || frames.is_owned(&block, content)
    };
    let is_edited = |place: &u64| {
        let mut left = parts.only_page.iter().chain(&parts.only_original);
        left.any(|left| left.place == Some(*place) && is_part_of_text(left))
    };
    let (edited, both): (HashSet<u64>, HashSet<u64>) = both.into_iter().partition(is_edited);
    let in_both = |place: Option<u64>| place.is_some_and(|place| both.contains(&place));
    let [ours_rest, theirs_rest] = [(&parts.only_page, original), (&parts.only_original, page)]
        .map(|(left, other)| weight(left, other, &in_both));
    let of_pairs = differences.ours + differences.theirs - differences.of_numbers;
    // One side may have more: views, like repeats, differ in text that changes on its own.
    let most = shared / PART_OF_REPEAT;
    if ours_rest.min(theirs_rest) + of_pairs > most || differences.has_other_number {
        return Changes::default();
    }
    // A site regenerates its views, so text that stays the same in them is a fact. A copy keeps the
    // date of its page as it keeps a price, and lists share some item or other.
    let is_view = ours_rest.max(theirs_rest) > most && !parts.is_list();
    let numbers = match differences.places.len() <= MAX_NUMBERS {
        true => differences.places.clone(),
        false => Vec::new(),
    };
    let (of_content, beside): (Vec<u64>, Vec<u64>) =
        both.iter().partition(|place| words.contains_key(*place));
    let is_stable = |place: &u64| !ours.contains(place) && !theirs.contains(place);
    let stable = parts.places.iter().copied().filter(is_stable);
    let stable = stable.chain(edited);
    let numbered = if is_view { &*parts.numbered } else { &[] };
    let numbers_alike = places_of_numbers(numbered, |place| frames.changed(place));
    Changes {
        beside,
        numbers,
        of_content,
        names: match differences.names_at.len() <= MAX_NUMBERS {
            true => differences.names_at.clone(),
            false => Vec::new(),
        },
        stable: stable.chain(numbers_alike).collect(),
    }
}

/// Returns the number of weighted words in blocks that only one page has: blocks of the main
/// content, and long blocks outside it. In short blocks, words that occur anywhere in the other
/// page do not count.
fn weight(
    left: &[Left<'_>],
    other: &PageWords<'_>,
    changes: &impl Fn(Option<u64>) -> bool,
) -> usize {
    let left = left.iter();
    let left = left.filter(|left| counts(&left.block) && !left.is_frame && !changes(left.place));
    left.map(|left| match left.block.words >= LONG {
        true => left.block.words,
        false => {
            let words = bag_of(left.block.text);
            words.iter().filter(|word| !other.contain(**word)).count()
        }
    })
    .sum()
}

/// Returns true for a block of the main content, or a long block outside it, except a line with the
/// address that the page was printed from.
pub(crate) fn counts(block: &Block<'_>) -> bool {
    let is_of_origin = block.words <= LINE_OF_ORIGIN && block.has_address();
    (block.is_main || block.words >= LONG) && !is_of_origin
}

/// Returns true for one text in the boilerplate of two editions: the blocks that only one page has
/// are short, in another language than the rest, and each page has a different language.
fn is_edition(parts: &Parts<'_>, page: &ComparedPage) -> bool {
    let is_short = |left: &Left<'_>| left.block.words <= LONGEST_OF_FRAME;
    let both_have_some = !parts.only_page.is_empty() && !parts.only_original.is_empty();
    let mut left = parts.only_page.iter().chain(&parts.only_original);
    if !both_have_some || !left.all(is_short) {
        return false;
    }
    let language = |blocks: &mut dyn Iterator<Item = Block<'_>>| {
        let text: Vec<&str> = blocks.map(|block| block.text).collect();
        let found = whatlang::detect(&text.join(" "))?;
        (found.confidence() >= MIN_CONFIDENCE).then(|| found.lang())
    };
    let of = |left: &[Left<'_>]| language(&mut left.iter().map(|left| left.block));
    let only_page: HashSet<u64> = parts.only_page.iter().map(|left| left.block.hash).collect();
    let shared = &mut page
        .blocks()
        .filter(|block| !only_page.contains(&block.hash));
    match (
        of(&parts.only_page),
        of(&parts.only_original),
        language(shared),
    ) {
        (Some(ours), Some(theirs), Some(shared)) => {
            ours != theirs && ours != shared && theirs != shared
        }
        _ => false,
    }
}

/// Returns true for pages with the same heading that names them, or with the same title.
///
/// A heading names a page if the title contains it: `Documentation` heads every page of a manual.
fn same_subject(page: &ComparedPage, original: &ComparedPage) -> bool {
    let is_named = |page: &ComparedPage| page.title.contains(&page.heading);
    match page.heading.is_empty() && original.heading.is_empty() {
        true => page.title == original.title,
        false if page.is_plain || original.is_plain => page.content() == original.content(),
        false if page.heading != original.heading => false,
        false => {
            let are_titled = !page.title.is_empty() && !original.title.is_empty();
            !are_titled || page.title == original.title || is_named(page) && is_named(original)
        }
    }
}
