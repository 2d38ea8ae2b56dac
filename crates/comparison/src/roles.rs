//! The blocks of a page as a comparison counts them, to be shown to a user.

use crate::blocks::{Block, ComparedPage};
use crate::frame::HostFrame;
use crate::parts::placed;

/// The role of a block in comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is a part of the frame, and does not count. So many kept pages have it.
    Frame(u32),
    /// It stands where pages change by themselves, and does not count.
    Changing,
    /// It counts.
    Content,
}

impl HostFrame {
    /// Returns the blocks of a page with their roles, in order.
    #[must_use]
    pub fn roles<'page>(&self, page: &'page ComparedPage) -> Vec<(&'page Block, Role)> {
        let placed = placed(page, Some(self)).into_iter();
        let roles = placed.map(|left| {
            let changes = left
                .place
                .is_some_and(|place| self.changes_by_itself(place));
            let role = match self.part(left.block) {
                Some(part) => Role::Frame(part.pages),
                None if changes => Role::Changing,
                None => Role::Content,
            };
            (left.block, role)
        });
        roles.collect()
    }
}
