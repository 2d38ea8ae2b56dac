//! The disk that a crawl writes to, its reserve, and the handling of a full disk.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crawl::{DiskSpace, DiskSpaceRules};
use disk::{Disk, Reserve, ReservedDisk, SystemDisk};
use messages::{CommandError, cannot, printable, say};
use settings::{Settings, crawl_directory};
use tokio::time::Instant;

/// Target of log records: files of the crawl's log name the program.
const LOG_TARGET: &str = "crawler::disk_space";

/// Size of the reserve: enough for 64 pages in flight of 128 KiB each, and their journal records.
const RESERVE_BYTES: u64 = 8 << 20;
/// Name of the reserve file, below the state directory.
const RESERVE: &str = "reserve";

/// Takes the reserve of the crawl in `settings.out`. The caller must hold the lock of its state.
pub fn keep(disk: &ReservedDisk, settings: &Settings) -> Result<Arc<DiskSpace>, CommandError> {
    let system: Arc<dyn Disk> = Arc::new(SystemDisk);
    let state = crawl_directory::state(&settings.out);
    let rules = DiskSpaceRules {
        least: settings.min_free.0,
        patience: settings.wait_for_space.0,
    };
    let reserve = reserve(&system, &state, rules.least)
        .map_err(|error| cannot("keep space in reserve in", &state, &error, &settings.out))?;
    if let Some(reserve) = &reserve {
        disk.keep(Arc::clone(reserve));
    }
    // Either directory may be a link to another file system.
    let directories = vec![state, crawl_directory::archive(&settings.out)];
    let space = DiskSpace::new(system, reserve, directories, rules);
    Ok(Arc::new(space))
}

/// Takes the reserve. Returns `None` if a file size limit forbids it, because waiting does not help
/// then.
fn reserve(disk: &Arc<dyn Disk>, state: &Path, low_water: u64) -> io::Result<Option<Arc<Reserve>>> {
    let path = state.join(RESERVE);
    let reserve = Reserve::take(Arc::clone(disk), &path, RESERVE_BYTES, low_water)?;
    let needed = RESERVE_BYTES.saturating_add(low_water);
    let limited = reserve.is_spent() && disk.free_space(state).is_some_and(|free| free >= needed);
    if limited {
        tracing::info!(
            target: LOG_TARGET,
            "the file size limit is below the reserve: the crawl runs without a reserve"
        );
    }
    Ok((!limited).then(|| Arc::new(reserve)))
}

/// Minimum growth of the free space, in bytes, that triggers a retry of a step.
const MORE_ROOM: u64 = 1 << 20;
/// Maximum time until a step is retried: a quota is not visible in the free space.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Interval between reads of the free space.
const READ_EVERY: Duration = Duration::from_secs(1);

/// Opens a crawl on a disk that may be full. A step that runs out of disk space waits for more, as
/// a running crawl does.
pub struct DiskFullRetry<'s> {
    settings: &'s Settings,
    waited: Option<Instant>,
}

impl<'s> DiskFullRetry<'s> {
    /// Begins to open the crawl of these settings.
    pub fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            waited: None,
        }
    }

    /// Runs a step. If the step fails on a full disk, retries it until `--wait-for-space` expires.
    pub async fn step<T>(
        &mut self,
        mut step: impl AsyncFnMut() -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        loop {
            match step().await {
                Err(error) if error.is_disk_full() => self.wait(error).await?,
                done => return done,
            }
        }
    }

    /// Waits for more disk space. Returns the error once `--wait-for-space` expires.
    async fn wait(&mut self, error: CommandError) -> Result<(), CommandError> {
        let patience = self.settings.wait_for_space.0;
        let free = self.free();
        if self.waited.is_none() && !patience.is_zero() {
            error.warn();
            let out = printable(&self.settings.out.display().to_string());
            say(&format!(
                "the disk of {out} is full: free some space, and the crawl starts automatically \
                 (it waits {patience:?})"
            ));
        }
        let began = *self.waited.get_or_insert_with(Instant::now);
        let tried = Instant::now();
        while tried.elapsed() < TRY_AGAIN_AFTER {
            if began.elapsed() >= patience {
                return Err(error);
            }
            tokio::time::sleep(READ_EVERY.min(patience)).await;
            if self.free() > free.saturating_add(MORE_ROOM) {
                break;
            }
        }
        Ok(())
    }

    fn free(&self) -> u64 {
        SystemDisk
            .free_space(&self.settings.out)
            .unwrap_or_default()
    }
}
