//! The decision on a page and its likely original, by their texts.
//!
//! Signatures find candidates. They do not see a name, a sign or a number, and they see the frame
//! of a site: so the two texts decide (`docs/adr/0029`). Both are lists of blocks, one a line, as
//! the reader of pages gives them. Blocks of the site's frame are left out, equal blocks are
//! matched wherever they stand, and what is left is judged:
//!
//! | what is left | outcome |
//! |---|---|
//! | a number, a name or a sign that differs in blocks that are alike otherwise | distinct |
//! | one of the pages was read in part only | distinct |
//! | next to nothing on either side | a repeat |
//! | next to nothing on one side, under one heading | a view: the other page has all of it |
//! | anything else | undecided: the resemblance of the signatures counts |
//!
//! A [`HostFrame`] learns the frame of a host from the pages that are kept, and the parts of pages
//! that change by themselves from pairs that are equal otherwise.
//!
//! Pure: no clock, no disk, no threads.

mod alike;
mod blocks;
mod decision;
mod differing;
mod frame;
mod keys;
mod parts;
mod reason;
mod roles;

pub use blocks::{Block, ComparedPage, PageParts};
pub use decision::{Decision, Outcome, decide};
pub use differing::{BlockWeight, DifferingBlock, differing_blocks};
pub use frame::{Changes, FrameBlock, Frames, HostFrame};
pub use keys::Keys;
pub use reason::Reason;
pub use roles::Role;
