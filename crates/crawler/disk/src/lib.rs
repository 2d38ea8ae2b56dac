//! Durable changes to files. They all go through one trait, [`Disk`], so that tests can make each
//! call fail.
//!
//! [`SystemDisk`] is the machine's own disk. [`ReservedDisk`] wraps another disk and keeps a
//! [`Reserve`]: space that is freed when the disk is full, so that work in progress can end
//! cleanly. [`DiskErrorKind`] classifies an error by its remedy: free space, permission, or another
//! disk. The testkit has a disk that fails the n-th call, writes short, and loses what was not
//! synced.
//!
//! An [`OutputFile`] gets its name once it is complete. A [`DraftPath`] is the path of a file or
//! directory in progress; if the process is interrupted, it is removed.
//!
//! Reads use `std::fs` directly, because a reader notices a failed read. Three writers bypass
//! [`Disk`] too: sled, which writes its own files; the lock on a directory, which holds no data;
//! and a [`Spool`], which does not outlive the process.

mod calls;
mod cut;
mod draft;
mod error_kind;
mod output_file;
mod reserve;
mod reserved;
mod spool;
mod system;

pub use calls::{Disk, DiskFile, ShortWrite};
pub use cut::{set_aside, set_aside_whole};
pub use draft::{DraftPath, DraftsEnded, clear_draft, end_drafts, is_own_draft, is_own_file};
pub use error_kind::{DiskErrorKind, is_shortage_of_files};
pub use output_file::{OutputFile, draft_of};
pub use reserve::{Reserve, Restored};
pub use reserved::ReservedDisk;
pub use spool::{Spool, Spooled, read_at};
pub use system::SystemDisk;
