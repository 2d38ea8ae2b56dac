//! The disk that a crawl writes to, with a reserve; and what to do about one that does not take any
//! more.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::{DiskSpace, DiskSpaceRules};
use disk::{Disk, DiskErrorKind, Reserve, ReservedDisk, SystemDisk};
use tokio::time::Instant;

use crate::cli_error::{CliError, fault, usage};
use crate::history;
use crate::settings::Settings;
use crate::terminal::{printable, say};

/// What is kept in reserve: what 64 pages under way of 128 KiB each take, and their journal.
const RESERVE_BYTES: u64 = 8 << 20;
/// Its name, below the state.
const RESERVE: &str = "reserve";

/// What a crawl is written through; it has no reserve yet.
pub(crate) fn disk() -> Arc<ReservedDisk> {
    Arc::new(ReservedDisk::bare(Arc::new(SystemDisk)))
}

/// Takes the reserve of the crawl in `settings.out`, whose state is ours: nobody else may have it.
pub(crate) fn keep(disk: &ReservedDisk, settings: &Settings) -> Result<Arc<DiskSpace>, CliError> {
    let system: Arc<dyn Disk> = Arc::new(SystemDisk);
    let state = history::state(&settings.out);
    let rules = DiskSpaceRules {
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
    Ok(Arc::new(DiskSpace::new(
        system,
        reserve,
        directories,
        rules,
    )))
}

/// None where files may not grow that large although there is room for it: no waiting would change
/// that.
fn reserve(disk: &Arc<dyn Disk>, state: &Path, low_water: u64) -> io::Result<Option<Arc<Reserve>>> {
    let reserve = Reserve::take(
        Arc::clone(disk),
        &state.join(RESERVE),
        RESERVE_BYTES,
        low_water,
    )?;
    let needed = RESERVE_BYTES.saturating_add(low_water);
    let limited = reserve.is_spent() && disk.free_room(state).is_some_and(|free| free >= needed);
    if limited {
        tracing::info!("files may not grow as large as the reserve: the crawl does without");
    }
    Ok((!limited).then(|| Arc::new(reserve)))
}

/// More free bytes than a step found that had too few: then it is worth another try.
const MORE_ROOM: u64 = 1 << 20;
/// A quota does not show in the bytes that are free: so a step is tried again after that long in
/// any case.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The opening of a crawl on a disk that may be full: steps that find no room wait for some, as a
/// crawl does that runs.
pub(crate) struct Opening<'s> {
    settings: &'s Settings,
    disk: SystemDisk,
    waited: Option<Instant>,
}

impl<'s> Opening<'s> {
    /// Nothing was waited for yet.
    pub(crate) fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            disk: SystemDisk,
            waited: None,
        }
    }

    /// Takes a step, and takes it again while it fails for want of room and the user's patience
    /// lasts.
    pub(crate) async fn step<T>(
        &mut self,
        mut step: impl AsyncFnMut() -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        loop {
            match step().await {
                Err(told) if told.is_for_room() => self.wait(told).await?,
                done => return done,
            }
        }
    }

    /// Waits for more room than there is; returns the complaint where that takes too long.
    async fn wait(&mut self, told: CliError) -> Result<(), CliError> {
        let patience = self.settings.wait_for_room.0;
        let free = self.free();
        if self.waited.is_none() && !patience.is_zero() {
            told.warn();
            let out = printable(&self.settings.out.display().to_string());
            say(&format!(
                "the disk is full where {out} is: make room, and the crawl begins by itself (it waits {patience:?})"
            ));
        }
        let began = *self.waited.get_or_insert_with(Instant::now);
        let tried = Instant::now();
        while tried.elapsed() < TRY_AGAIN_AFTER {
            if began.elapsed() >= patience {
                return Err(told);
            }
            tokio::time::sleep(LOOK_EVERY.min(patience)).await;
            if self.free() > free.saturating_add(MORE_ROOM) {
                break;
            }
        }
        Ok(())
    }

    fn free(&self) -> u64 {
        self.disk.free_room(&self.settings.out).unwrap_or_default()
    }
}

/// A complaint about a file of the crawl in `out`. What the user chose is code 2, what the machine
/// does is code 1.
pub(crate) fn cannot(action: &str, path: &Path, error: &io::Error, out: &Path) -> CliError {
    let told = format!("cannot {action} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory => usage(told),
        kind => {
            fault(&io::Error::new(kind, told)).with_remedy(remedy(DiskErrorKind::of(error), out))
        }
    }
}

/// What is to be done about a fault: by what the disk said, if it was the disk. Nothing is lost,
/// and the same command goes on.
pub(crate) fn remedy_of(error: &(dyn Error + 'static), out: &Path) -> String {
    remedy(
        said(error).map_or(DiskErrorKind::Broken, DiskErrorKind::of),
        out,
    )
}

/// Returns whether a disk without room is behind an error. Where files may not grow (EFBIG), no
/// waiting helps.
pub(crate) fn is_full(error: &(dyn Error + 'static)) -> bool {
    said(error).is_some_and(|said| {
        matches!(
            said.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    })
}

/// Returns what the system said, however deep.
fn said<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    let mut cause = Some(error);
    while let Some(link) = cause {
        if let Some(said) = link.downcast_ref::<io::Error>() {
            return Some(said);
        }
        cause = link.source();
    }
    None
}

fn remedy(trouble: DiskErrorKind, out: &Path) -> String {
    let what = match trouble {
        DiskErrorKind::Full => "make room",
        DiskErrorKind::ReadOnly => {
            "have the file system mounted for writing, and see that you may write there"
        }
        DiskErrorKind::Broken => "mend the disk (the system's log says what is wrong with it)",
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
            assert!(
                told.contains(code) && told.contains(words),
                "{number}: {told}"
            );
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
        assert!(
            remedy_of(&full, Path::new("monday"))
                .contains("make room, then `crawler --out monday`")
        );
        let read_only = Outer(io::ErrorKind::ReadOnlyFilesystem.into());
        assert!(remedy_of(&read_only, Path::new("monday")).contains("mounted for writing"));
    }
}
