//! Boilerplate of a host: blocks that its pages share, and parts of pages that change on their own.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::blocks::{Block, ComparedPage, LONG, line_key, spread};

/// Maximum number of counted blocks per host. Beyond it, the least frequent blocks are forgotten.
const MAX_BLOCKS: usize = 4_096;
/// Maximum number of places per host that are known to change.
const MAX_PLACES: usize = 256;
/// Minimum number of headings that a boilerplate block occurs under. An article's name may occur on
/// all pages of a list, but these share one heading. A boilerplate block must also occur …
const MIN_CONTENTS_OF_BLOCK: u32 = 8;
/// … on at least one in this many of all kept pages, …
const PART_OF_PAGES: u32 = 10;
/// … or, if it is long, on one in this many: a product's text also occurs on the pages of its
/// colours; …
const PART_OF_PAGES_IF_LONG: u32 = 100;
/// … but on one in this many if it is in their main content.
const PART_OF_CONTENT: u32 = 2;
/// A place changes on its own if it changed in otherwise equal pairs of at least this many
/// contents, …
const MIN_CONTENTS: usize = 3;
/// … or, for a number or a place outside the main content, in at least this many pairs of any
/// content; …
const OFTEN: u32 = 32;
/// … for a name, in at least this many pairs. Doorway pages have the same text for every town.
const OFTEN_FOR_NAME: u32 = 40;
/// Minimum number of values of a number that changes on its own, …
const MIN_VALUES: usize = 5;
/// … and of a name. A size or a register has one of a few values.
const MIN_VALUES_OF_NAME: usize = 32;
/// Minimum number of contents for a place in the main content.
const MIN_CONTENTS_OF_MAIN: usize = 5;
/// Percentage of the kept pages that have a shared line, at least.
const SHARED_PERCENT: u64 = 30;

/// Boilerplate of a host, learned from its kept pages in the order of their visits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFrame {
    /// Number of kept pages.
    pages: u32,
    /// Blocks by shape, and also by hash if that differs.
    blocks: HashMap<u64, FrameBlock>,
    /// Changes by place.
    changes: HashMap<u64, Change>,
}

/// Boilerplate of the hosts of two pages, where known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames<'a> {
    /// Boilerplate of the page's host.
    pub page: Option<&'a HostFrame>,
    /// Boilerplate of the original's host.
    pub original: Option<&'a HostFrame>,
    /// Numbers that change on their own on several hosts, learned with
    /// [`HostFrame::learn_changes`]; each host counts as a content.
    pub common: Option<&'a HostFrame>,
}

impl Frames<'_> {
    /// Returns true for a place that changed at least once, here or on another host.
    pub(crate) fn changed(&self, place: u64) -> bool {
        let frames = [self.page, self.common].into_iter().flatten();
        let mut changes = frames.map(|frame| &frame.changes);
        changes.any(|changes| changes.contains_key(&place))
    }

    /// Returns true for a block that, with these numbers, a page of another content has as well.
    pub(crate) fn has_elsewhere(&self, block: &Block<'_>, content: u64) -> bool {
        let known = self.page.and_then(|frame| frame.blocks.get(&block.hash));
        known.is_some_and(|known| known.contents & !bit_of(content) != 0)
    }

    /// Returns true for a block that, with these numbers, several pages of this content have, and
    /// no page of another.
    pub(crate) fn is_owned(&self, block: &Block<'_>, content: u64) -> bool {
        let known = self.page.and_then(|frame| frame.blocks.get(&block.hash));
        known.is_some_and(|known| known.pages > 1 && known.contents == bit_of(content))
    }

    /// Returns true if a place changes on its own: on the page's host or, for a number or date, on
    /// several others. Sites that run the same software put the same words next to it.
    pub(crate) fn change_by_themselves(&self, place: u64) -> bool {
        self.page
            .is_some_and(|frame| frame.changes_by_itself(place))
            || self.common.is_some_and(|common| {
                let change = common.changes.get(&place);
                change.is_some_and(|change| {
                    change.kind == ChangeKind::Number
                        && change.contents.len() >= MIN_CONTENTS
                        && change.has_most_pairs()
                })
            })
    }
}

/// Places that changed or stayed the same in an otherwise equal pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Places outside the main content that differ.
    pub beside: Vec<u64>,
    /// Places of numbers and dates that differ, each with a hash of a value.
    pub numbers: Vec<(u64, u64)>,
    /// Places in the main content that differ.
    pub of_content: Vec<u64>,
    /// Places of names that differ, each with a hash of a value.
    pub names: Vec<(u64, u64)>,
    /// Places that are equal in both pages.
    pub stable: Vec<u64>,
}

impl Changes {
    /// Returns true if the pair shows nothing about places.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let places = [&self.beside, &self.of_content, &self.stable];
        let values = [&self.numbers, &self.names];
        places.iter().all(|places| places.is_empty())
            && values.iter().all(|values| values.is_empty())
    }
}

/// A place that changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Change {
    /// Contents whose pairs changed here, up to [`MIN_CONTENTS_OF_MAIN`].
    contents: Vec<u64>,
    /// Number of pairs that changed here.
    changed: u32,
    /// Number of pairs that did not change here.
    stable: u32,
    kind: ChangeKind,
    /// Distinct values of a number or name, up to [`MIN_VALUES_OF_NAME`].
    values: Vec<u64>,
}

/// Kind of a place, which determines how many pairs are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ChangeKind {
    /// A place outside the main content.
    #[default]
    Beside,
    /// A number or a date.
    Number,
    /// A place in the main content.
    OfContent,
    /// A name.
    Name,
}

/// A block of a host's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameBlock {
    /// Number of kept pages that have the block.
    pub pages: u32,
    /// Number of kept pages that have the block in their main content.
    of_content: u32,
    /// Contents that have the block: one bit per content, chosen by its hash.
    contents: u64,
    /// True if the block has many words.
    pub is_long: bool,
}

impl HostFrame {
    /// Learns from a kept page.
    pub fn learn(&mut self, page: &ComparedPage) {
        self.pages += 1;
        let content = bit_of(page.content());
        let mut blocks: Vec<(u64, Block<'_>)> = page
            .blocks()
            .flat_map(|block| [block.shape, block.hash].map(|key| (key, block)))
            .collect();
        blocks.sort_by_key(|(key, _)| *key);
        blocks.dedup_by_key(|(key, _)| *key);
        for (key, block) in blocks {
            let known = self.blocks.entry(key).or_insert(FrameBlock {
                pages: 0,
                of_content: 0,
                contents: 0,
                is_long: block.words >= LONG,
            });
            known.pages += 1;
            known.of_content += u32::from(block.is_main);
            known.contents |= content;
        }
        let mut least = 1;
        while self.blocks.len() > MAX_BLOCKS {
            self.forget_blocks(least);
            least *= 2;
        }
    }

    /// Learns from an otherwise equal pair; `content` distinguishes pairs.
    pub fn learn_changes(&mut self, changes: &Changes, content: u64) {
        let beside = changes
            .beside
            .iter()
            .map(|place| (place, ChangeKind::Beside));
        let of_content = changes
            .of_content
            .iter()
            .map(|place| (place, ChangeKind::OfContent));
        let numbers = changes
            .numbers
            .iter()
            .map(|number| (number, ChangeKind::Number));
        let names = changes.names.iter().map(|name| (name, ChangeKind::Name));
        for ((place, value), kind) in numbers.chain(names) {
            self.learn_change(*place, kind, content, Some(*value));
        }
        for (place, kind) in beside.chain(of_content) {
            self.learn_change(*place, kind, content, None);
        }
        for place in &changes.stable {
            if let Some(change) = self.changes.get_mut(place) {
                change.stable = change.stable.saturating_add(1);
            }
        }
    }

    fn learn_change(&mut self, place: u64, kind: ChangeKind, content: u64, value: Option<u64>) {
        if self.changes.len() >= MAX_PLACES && !self.changes.contains_key(&place) {
            return;
        }
        let change = self.changes.entry(place).or_default();
        change.changed = change.changed.saturating_add(1);
        change.kind = change.kind.max(kind);
        let note = |known: &mut Vec<u64>, most: usize, new: u64| {
            if known.len() < most && !known.contains(&new) {
                known.push(new);
            }
        };
        note(&mut change.contents, MIN_CONTENTS_OF_MAIN, content);
        if let Some(value) = value {
            note(&mut change.values, MIN_VALUES_OF_NAME, value);
        }
    }

    /// Forgets the blocks that a single page has, and frees their memory. Boilerplate stays.
    pub fn forget_single_blocks(&mut self) {
        self.forget_blocks(1);
    }

    /// Forgets the blocks that at most this many pages have.
    fn forget_blocks(&mut self, pages: u32) {
        self.blocks.retain(|_, block| block.pages > pages);
        self.blocks.shrink_to_fit();
    }

    /// Returns an upper estimate of the memory, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        // The table has a byte per bucket, and 8 buckets per 7 entries.
        let of_block = (size_of::<(u64, FrameBlock)>() + 1) * 8 / 7;
        let of_values = (MIN_CONTENTS_OF_MAIN + MIN_VALUES_OF_NAME) * size_of::<u64>();
        let of_change = (size_of::<(u64, Change)>() + 1) * 8 / 7 + of_values;
        size_of::<Self>() + self.blocks.capacity() * of_block + self.changes.len() * of_change
    }

    /// Returns the number of kept pages that the boilerplate was learned from.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Returns the number of places that change on their own.
    #[must_use]
    pub fn changing_places(&self) -> usize {
        let places = self.changes.keys();
        places
            .filter(|place| self.changes_by_itself(**place))
            .count()
    }

    /// Returns the counts of a block if it is part of the boilerplate, with any numbers.
    #[must_use]
    pub fn part(&self, block: &Block<'_>) -> Option<FrameBlock> {
        self.known(block.shape)
    }

    /// Returns true if the block is part of the boilerplate with exactly these numbers.
    pub(crate) fn has(&self, block: &Block<'_>) -> bool {
        self.known(block.hash).is_some()
    }

    fn known(&self, key: u64) -> Option<FrameBlock> {
        let known = *self.blocks.get(&key)?;
        let is_boilerplate = known.is_long && known.pages >= self.pages / PART_OF_PAGES_IF_LONG;
        (known.has_contents() && (is_boilerplate || self.is_common(known))).then_some(known)
    }

    /// Returns true for a line that more than 30 % of the kept pages have, with these numbers or,
    /// if the line is long, with any.
    #[must_use]
    pub fn has_line(&self, line: &str) -> bool {
        let known = self.blocks.get(&line_key(line));
        known.is_some_and(|known| {
            let part = u64::from(self.pages) * SHARED_PERCENT;
            known.has_contents() && u64::from(known.pages) * 100 > part
        })
    }

    /// Returns true for a block on a tenth of the pages, or on half of them if it is mostly in the
    /// main content: `Size: 1 word` is on many pages, but is a fact on each.
    pub(crate) fn is_common(&self, block: FrameBlock) -> bool {
        let part = match 2 * block.of_content > block.pages {
            true => PART_OF_CONTENT,
            false => PART_OF_PAGES,
        };
        block.pages >= self.pages / part
    }

    /// Returns true if a place changes on its own: it changed in pairs of several contents, and in
    /// most pairs.
    #[must_use]
    pub fn changes_by_itself(&self, place: u64) -> bool {
        self.changes.get(&place).is_some_and(|change| {
            let has_contents = match change.kind {
                ChangeKind::Beside | ChangeKind::Number => {
                    change.contents.len() >= MIN_CONTENTS || change.changed >= OFTEN
                }
                ChangeKind::OfContent => change.contents.len() >= MIN_CONTENTS_OF_MAIN,
                ChangeKind::Name => change.changed >= OFTEN_FOR_NAME,
            };
            has_contents && change.has_most_pairs()
        })
    }
}

impl FrameBlock {
    /// Returns true if the block occurs under enough headings.
    fn has_contents(&self) -> bool {
        self.contents.count_ones() >= MIN_CONTENTS_OF_BLOCK
    }
}

impl Change {
    /// Returns true if the place changed in most pairs, with enough values.
    fn has_most_pairs(&self) -> bool {
        let values = match self.kind {
            ChangeKind::Number => MIN_VALUES,
            ChangeKind::Name => MIN_VALUES_OF_NAME,
            ChangeKind::Beside | ChangeKind::OfContent => 0,
        };
        self.values.len() >= values && self.changed >= self.stable
    }
}

/// Returns the bit of a content in `FrameBlock::contents`.
fn bit_of(content: u64) -> u64 {
    1 << (content % u64::from(u64::BITS))
}

/// Returns the place after a block of the boilerplate.
pub(crate) fn place_behind(shape: u64) -> u64 {
    spread(shape.wrapping_add(1))
}
