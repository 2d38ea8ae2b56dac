//! Decision on a page and its likely original, by comparing their texts.
//!
//! Signatures find candidates. They do not see a name, a sign or a number, but they see the
//! boilerplate of a site, so the two texts decide (`docs/adr/0029`). Each text is a list of blocks,
//! one per line, as extracted by the reader of pages. Blocks of the site's boilerplate are left
//! out, equal blocks are matched anywhere, and the rest is judged:
//! | what is left | outcome |
//! |---|---|
//! | a number, a name or a sign that differs in otherwise similar blocks | distinct |
//! | a page that was read only in part | distinct |
//! | next to nothing on either side | a repeat |
//! | next to nothing on one side, under one heading | a view: the other page has all of it |
//! | anything else | undecided: the resemblance of the signatures counts |
//!
//! A [`HostFrame`] learns the boilerplate of a host from kept pages, and the parts of pages that
//! change on their own from otherwise equal pairs.
//!
//! Pure: no clock, no disk, no threads.

mod alike;
mod blocks;
mod decision;
mod differing;
mod frame;
mod keys;
mod page_words;
mod parts;
mod printed_block;
mod reason;
mod roles;

pub use blocks::{Block, ComparedPage, PageParts};
pub use decision::{Decision, Outcome, decide};
pub use differing::{BlockWeight, DifferingBlock, differing_blocks};
pub use frame::{Changes, FrameBlock, Frames, HostFrame};
pub use keys::Keys;
pub use printed_block::PrintedBlock;
pub use reason::Reason;
pub use roles::Role;
