//! Lists of items with link titles: tiles of goods, threads of a forum, stories of a front page.
//! Among prose, a line of links is navigation and is excluded. In such a list it is the title of an
//! item, and without it only prices and dates remain. Templates generate lists: siblings with one
//! name and class, most of them with a link and some other text. A menu contains no other text.

use crate::html::lines::Line;
use crate::html::prefix_sums::PrefixSums;
use crate::html::region_flags;
use crate::html::regions::Region;

/// Minimum number of siblings of one kind that form a list …
const ITEMS: u32 = 8;

/// … and of siblings whose texts describe their links.
const TELLING_ITEMS: u32 = 5;

/// Minimum part of the siblings that must be items.
const PART: f64 = 0.6;

/// Minimum bytes of an item inside and outside links: `Lamp 17`, `9 €`.
const LINKED_BYTES: usize = 6;
const OTHER_BYTES: usize = 5;

/// Minimum bytes of text outside links that describe the links of an item.
const TELLING_BYTES: usize = 40;

/// Lists with fewer words than this part of the other text are not the page's subject.
const PART_OF_TEXT: f64 = 0.5;

/// Minimum number of words of lists.
const WORDS: usize = 30;

/// Flags of regions that contain no list items.
const NEVER: u32 = region_flags::FRAME_OR_ASIDE
    | region_flags::REVIEWS
    | region_flags::BUTTON
    | region_flags::RELATED
    | region_flags::COMMENTS
    | region_flags::HINT
    | region_flags::SHARE
    | region_flags::METADATA
    | region_flags::PROMOTION;

/// Kinds of siblings tracked at a time: table rows alternate.
const KINDS: usize = 4;

/// Siblings of one kind.
#[derive(Clone, Copy, Default)]
struct Group {
    siblings: u32,
    items: u32,
    telling: u32,
}

impl Group {
    fn is_list(&self) -> bool {
        let is_part = |items: u32| f64::from(items) >= f64::from(self.siblings) * PART;
        (self.siblings >= ITEMS && is_part(self.items))
            || (self.siblings >= TELLING_ITEMS && is_part(self.telling))
    }
}

/// Adds the link lines of lists to the chosen lines, if lists are the page's subject.
pub(super) fn keep(chosen: &mut [bool], judged: &[bool], lines: &[Line], regions: &[Region]) {
    let may_be_item = |index: usize, line: &Line| judged[index] && may_be_item(line);
    let missing = lines
        .iter()
        .enumerate()
        .any(|(index, line)| !chosen[index] && line.is_mostly_links() && may_be_item(index, line));
    if !missing {
        return;
    }
    let is_listed = listed(lines, regions);
    let is_item =
        |index: usize, line: &Line| is_listed[line.region as usize] && may_be_item(index, line);
    let (mut in_lists, mut others) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        if is_item(index, line) {
            in_lists += line.words as usize;
        } else if chosen[index] {
            others += line.words as usize;
        }
    }
    if in_lists < WORDS || (in_lists as f64) < others as f64 * PART_OF_TEXT {
        return;
    }
    for (index, line) in lines.iter().enumerate() {
        chosen[index] |= line.is_mostly_links() && is_item(index, line);
    }
}

/// Returns false for lines in regions that contain no list items.
pub(super) fn may_be_item(line: &Line) -> bool {
    !line.is_in(NEVER)
}

/// Finds the blocks that are in lists.
pub(super) fn listed(lines: &[Line], regions: &[Region]) -> Vec<bool> {
    let is_content = |line: &Line| !line.is_in(region_flags::FRAME_OR_ASIDE);
    let linked = PrefixSums::of(lines, is_content, |line| line.linked as usize);
    let all = PrefixSums::of(lines, is_content, |line| (line.end - line.start) as usize);
    let mut groups: Vec<Group> = Vec::new();
    // For each block, the last kinds of its children and their groups; the oldest is replaced.
    let mut last = vec![[(0_u32, u32::MAX); KINDS]; regions.len()];
    let mut group_of = vec![u32::MAX; regions.len()];
    for (index, region) in regions.iter().enumerate().skip(1) {
        let last = &mut last[region.parent as usize];
        let known = last
            .iter()
            .find(|(kind, group)| *kind == region.kind && *group != u32::MAX);
        let group = match known {
            Some(&(_, group)) => group,
            None => {
                let group = u32::try_from(groups.len()).unwrap_or(u32::MAX);
                groups.push(Group::default());
                last.rotate_right(1);
                last[0] = (region.kind, group);
                group
            }
        };
        group_of[index] = group;
        let (linked, all) = (linked.within(region), all.within(region));
        let others = all.saturating_sub(linked);
        let group = &mut groups[group as usize];
        group.siblings += 1;
        group.items += u32::from(linked >= LINKED_BYTES && others >= OTHER_BYTES);
        group.telling += u32::from(linked >= LINKED_BYTES && others >= TELLING_BYTES);
    }
    let mut listed = Vec::with_capacity(regions.len());
    for (region, &group) in regions.iter().zip(&group_of) {
        let is_item = groups.get(group as usize).is_some_and(Group::is_list);
        let inherited = listed.get(region.parent as usize).copied().unwrap_or(false);
        listed.push(is_item || inherited);
    }
    listed
}
