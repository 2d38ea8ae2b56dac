//! Every change to a file that must not be lost goes through one trait, [`Disk`], so that tests can
//! break it.
//!
//! [`SystemDisk`] is the machine's own. [`ReservedDisk`] stands around another one and keeps a
//! [`Reserve`]: room that is freed when the disk is full, so that what is under way can end
//! cleanly. [`DiskErrorKind`] says what an error asks for: room, permission, or another disk. A disk that
//! fails the n-th call, writes short, and forgets what was not synced is in the testkit.
//!
//! Reading goes to `std::fs` directly: what cannot be read is found out by whoever reads it. So do
//! sled, which writes its own files, the lock on a directory, which holds no data, and a [`Spool`],
//! which nobody needs after the process.

mod calls;
mod cut;
mod error_kind;
mod reserve;
mod reserved;
mod spool;
mod system;

pub use calls::{Disk, DiskFile, ShortWrite};
pub use cut::{set_aside, set_aside_whole};
pub use error_kind::DiskErrorKind;
pub use reserve::{Reserve, Restored};
pub use reserved::ReservedDisk;
pub use spool::{Spool, Spooled};
pub use system::SystemDisk;
