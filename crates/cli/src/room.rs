//! The disk that a crawl writes to, with a reserve; and what to do about one that does not take any more.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crawl::{Room, RoomRules};
use disk::{Disk, Reserve, ReservedDisk, SystemDisk, Trouble};

use crate::complaint::{Complaint, fault, usage};
use crate::history;
use crate::settings::Settings;

/// What is kept in reserve: what 64 pages under way of 128 KiB each take, and their journal.
const RESERVE_BYTES: u64 = 8 << 20;
/// Its name, below the state.
const RESERVE: &str = "reserve";

/// What a crawl is written through; it has no reserve yet.
pub(crate) fn disk() -> Arc<ReservedDisk> {
    Arc::new(ReservedDisk::bare(Arc::new(SystemDisk)))
}

/// Takes the reserve of the crawl in `settings.out`, whose state is ours: nobody else may have it.
pub(crate) fn keep(disk: &ReservedDisk, settings: &Settings) -> Result<Arc<Room>, Complaint> {
    let system: Arc<dyn Disk> = Arc::new(SystemDisk);
    let state = history::state(&settings.out);
    let rules = RoomRules {
        least: settings.min_free.0,
        patience: settings.wait_for_room.0,
    };
    let reserve = reserve(&system, &state, rules.least)
        .map_err(|error| cannot("keep room in reserve in", &state, &error, &settings.out))?;
    if let Some(reserve) = &reserve {
        disk.keep(Arc::clone(reserve));
    }
    // One of them may be a link to another file system.
    let directories = vec![state, history::archive(&settings.out)];
    Ok(Arc::new(Room::new(system, reserve, directories, rules)))
}

/// None where files may not grow that large although there is room for it: no waiting would change that.
fn reserve(disk: &Arc<dyn Disk>, state: &Path, low_water: u64) -> io::Result<Option<Arc<Reserve>>> {
    let reserve = Reserve::take(Arc::clone(disk), &state.join(RESERVE), RESERVE_BYTES, low_water)?;
    let needed = RESERVE_BYTES.saturating_add(low_water);
    let limited = reserve.is_spent() && disk.free_room(state).is_some_and(|free| free >= needed);
    if limited {
        tracing::info!("files may not grow as large as the reserve: the crawl does without");
    }
    Ok((!limited).then(|| Arc::new(reserve)))
}

/// A complaint about a file of the crawl in `out`. What the user chose is code 2, what the machine does is code 1.
pub(crate) fn cannot(action: &str, path: &Path, error: &io::Error, out: &Path) -> Complaint {
    let told = format!("cannot {action} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => usage(told),
        _ => fault(&io::Error::other(told)).with_remedy(remedy(Trouble::of(error), out)),
    }
}

/// What is to be done about a fault: by what the disk said, if it was the disk. Nothing is lost, and the same command goes on.
pub(crate) fn remedy_of(error: &(dyn Error + 'static), out: &Path) -> String {
    let mut cause = Some(error);
    while let Some(link) = cause {
        if let Some(said) = link.downcast_ref::<io::Error>() {
            return remedy(Trouble::of(said), out);
        }
        cause = link.source();
    }
    remedy(Trouble::Broken, out)
}

fn remedy(trouble: Trouble, out: &Path) -> String {
    let what = match trouble {
        Trouble::Full => "make room",
        Trouble::ReadOnly => "have the file system mounted for writing, and see that you may write there",
        Trouble::Broken => "mend the disk (the system's log says what is wrong with it)",
    };
    format!(
        "nothing is lost: {what}, then `crawler --out {}` goes on",
        out.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_does_is_a_fault_and_says_what_to_do() {
        let out = Path::new("monday");
        let told = |number| {
            let error = io::Error::from_raw_os_error(number);
            format!(
                "{:?}",
                cannot("write", Path::new("monday/crawl.log"), &error, out)
            )
        };
        // ENOSPC, EROFS, EIO, EACCES
        for (number, code, words) in [
            (28, "code: 1", "make room"),
            (30, "code: 1", "mounted for writing"),
            (5, "code: 1", "mend the disk"),
            (13, "code: 2", "monday/crawl.log"),
        ] {
            let told = told(number);
            assert!(told.contains(code) && told.contains(words), "{number}: {told}");
            assert!(told.contains("cannot write monday/crawl.log"), "{told}");
        }
    }

    #[test]
    fn the_remedy_goes_by_what_the_disk_said_however_deep() {
        #[derive(Debug)]
        struct Outer(io::Error);
        impl std::fmt::Display for Outer {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("outer")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let full = Outer(io::ErrorKind::StorageFull.into());
        assert!(remedy_of(&full, Path::new("monday")).contains("make room, then `crawler --out monday`"));
        let read_only = Outer(io::ErrorKind::ReadOnlyFilesystem.into());
        assert!(remedy_of(&read_only, Path::new("monday")).contains("mounted for writing"));
    }
}
