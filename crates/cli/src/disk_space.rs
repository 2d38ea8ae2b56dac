//! The disk that a crawl writes to, with a reserve; and what to do about one that does not take any
//! more.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::{DiskSpace, DiskSpaceRules};
use disk::{Disk, DiskErrorKind, Reserve, ReservedDisk, SystemDisk};
use tokio::time::Instant;

use crate::cli_error::{CliError, fault, usage};
use crate::crawl_directory;
use crate::disk_error::remedy_for;
use crate::settings::Settings;
use crate::terminal::{printable, say};

/// The size of the reserve: 64 pages under way of 128 KiB each, and their journal.
const RESERVE_BYTES: u64 = 8 << 20;
/// Its name, below the state.
const RESERVE: &str = "reserve";

/// Returns the disk that a crawl writes to, without a reserve yet.
pub(crate) fn disk() -> Arc<ReservedDisk> {
    Arc::new(ReservedDisk::bare(Arc::new(SystemDisk)))
}

/// Takes the reserve of the crawl in `settings.out`, whose state is ours: nobody else may have it.
pub(crate) fn keep(disk: &ReservedDisk, settings: &Settings) -> Result<Arc<DiskSpace>, CliError> {
    let system: Arc<dyn Disk> = Arc::new(SystemDisk);
    let state = crawl_directory::state(&settings.out);
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
    let directories = vec![state, crawl_directory::archive(&settings.out)];
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
pub(crate) struct DiskFullRetry<'s> {
    settings: &'s Settings,
    disk: SystemDisk,
    waited: Option<Instant>,
}

impl<'s> DiskFullRetry<'s> {
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
                Err(told) if told.is_disk_full() => self.wait(told).await?,
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
                "the disk is full where {out} is: make room, and the crawl starts by itself (it \
                 waits {patience:?})"
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
        kind => fault(&io::Error::new(kind, told))
            .with_remedy(remedy_for(DiskErrorKind::of(error), out)),
    }
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
}
