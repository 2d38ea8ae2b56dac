//! Blocks of a page as a comparison counts them, for display.

use crate::blocks::{Block, ComparedPage};
use crate::frame::HostFrame;
use crate::parts::placed;

/// Role of a block in comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Part of the boilerplate, which does not count; with the number of kept pages that have the
    /// block.
    Frame(u32),
    /// In a place that changes on its own, which does not count.
    Changing,
    /// Content, which counts.
    Content,
}

impl HostFrame {
    /// Returns the blocks of a page in page order, with their roles.
    #[must_use]
    pub fn roles<'page>(&self, page: &'page ComparedPage) -> Vec<(Block<'page>, Role)> {
        let placed = placed(page, Some(self)).into_iter();
        let roles = placed.map(|left| {
            let changes = left
                .place
                .is_some_and(|place| self.changes_by_itself(place));
            let role = match self.part(&left.block) {
                Some(part) => Role::Frame(part.pages),
                None if changes => Role::Changing,
                None => Role::Content,
            };
            (left.block, role)
        });
        roles.collect()
    }
}
