//! Disk space: a crawl waits for space instead of ending.
//!
//! Active visits are finished from the reserve (`disk::Reserve`), which is freed by the first write
//! that finds no space. Leasing pauses as soon as the reserve is freed or free space falls below
//! the low-water mark, and continues when there is space again.
//!
//! Invariant: between the first sign of a shortage and its end no visit begins.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use disk::{Disk, Reserve, Restored};
use tokio::time::Instant;

use crate::fault::{Fault, Shortage};

/// The interval of checks. A crawl writes less than the low-water mark in that time.
pub(crate) const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The space that a crawl needs, and its patience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpaceRules {
    /// The low-water mark: with fewer bytes free, no visit begins. Zero disables it.
    pub least: u64,
    /// The time that a crawl waits for space before it ends.
    pub patience: Duration,
}

/// The file systems that a crawl writes to.
#[derive(Debug)]
pub struct DiskSpace {
    disk: Arc<dyn Disk>,
    reserve: Option<Arc<Reserve>>,
    directories: Vec<PathBuf>,
    rules: DiskSpaceRules,
    is_short: AtomicBool,
}

impl DiskSpace {
    /// Returns the disk space of these directories. `reserve` is the reserve that writes through
    /// the crawl's disk may free, if there is one.
    #[must_use]
    pub fn new(
        disk: Arc<dyn Disk>,
        reserve: Option<Arc<Reserve>>,
        directories: Vec<PathBuf>,
        rules: DiskSpaceRules,
    ) -> Self {
        Self {
            disk,
            reserve,
            directories,
            rules,
            is_short: AtomicBool::new(false),
        }
    }

    /// Returns true while the crawl waits for space.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.is_short.load(Ordering::Relaxed)
    }

    /// Returns a directory of the crawl that is gone: writes still succeed, but nobody can reach
    /// the files.
    #[must_use]
    pub fn gone(&self) -> Option<PathBuf> {
        let is_gone = |path: &&PathBuf| {
            std::fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        self.directories.iter().find(is_gone).cloned()
    }

    fn check_directories(&self) -> Result<(), Fault> {
        self.gone().map_or(Ok(()), |path| Err(Fault::Gone { path }))
    }

    /// Returns the shortage, if there is one. Restores the reserve if possible. Blocks on the disk.
    fn shortage(&self, paused: bool) -> io::Result<Option<Shortage>> {
        let spent = self.reserve.as_deref().filter(|reserve| reserve.is_spent());
        // A pause ends a little above the mark, or a disk at the mark would begin and end one every
        // second.
        let margin = if paused { self.rules.least / 4 } else { 0 };
        let reserved = spent.map_or(0, Reserve::bytes);
        let least = self.rules.least;
        let needed = least.saturating_add(margin).saturating_add(reserved);
        let short = |directory: &PathBuf, free| Shortage {
            path: directory.clone(),
            free,
            needed,
        };
        for directory in &self.directories {
            let free = self.disk.free_space(directory);
            if free.is_some_and(|free| free < needed) {
                return Ok(Some(short(directory, free)));
            }
        }
        let restored = spent.map(Reserve::restore).transpose()?;
        let is_missing = matches!(restored, Some(Restored::NoSpace));
        let directory = self.directories.first().filter(|_| is_missing);
        Ok(directory.map(|directory| short(directory, self.disk.free_space(directory))))
    }
}

/// The monitor of a crawl's disk space while it runs.
pub(crate) struct DiskSpaceMonitor {
    disk_space: Arc<DiskSpace>,
    pause: Option<Pause>,
}

struct Pause {
    began: Instant,
    saved: bool,
}

impl DiskSpaceMonitor {
    pub(crate) fn new(disk_space: &Arc<DiskSpace>) -> Self {
        Self {
            disk_space: Arc::clone(disk_space),
            pause: None,
        }
    }

    /// Returns true if the reserve was freed since the last check. Costs nothing.
    pub(crate) fn is_reserve_spent(&self) -> bool {
        let reserve = self.disk_space.reserve.as_ref();
        !self.pauses() && reserve.is_some_and(|reserve| reserve.is_spent())
    }

    /// Returns true if no visit may begin.
    pub(crate) fn pauses(&self) -> bool {
        self.pause.is_some()
    }

    /// Returns true once per pause, when the last active visit has ended: the results should be
    /// saved.
    pub(crate) fn must_save(&mut self, in_flight: usize) -> bool {
        let pause = self.pause.as_mut().filter(|_| in_flight == 0);
        pause.is_some_and(|pause| !std::mem::replace(&mut pause.saved, true))
    }

    /// Begins or ends a pause, and warns the user; returns a fault if the patience has run out.
    pub(crate) async fn check(&mut self) -> Result<(), Fault> {
        let (space, paused) = (Arc::clone(&self.disk_space), self.pauses());
        let checking = tokio::task::spawn_blocking(move || {
            space.check_directories()?;
            space.shortage(paused).map_err(Fault::Reserve)
        });
        let found = checking.await.map_err(Fault::Panicked)??;
        self.disk_space
            .is_short
            .store(found.is_some(), Ordering::Relaxed);
        let Some(shortage) = found else {
            if let Some(pause) = self.pause.take() {
                let waited = pause.began.elapsed();
                tracing::warn!(
                    ?waited,
                    "disk space is available again: the crawl continues"
                );
            }
            return Ok(());
        };
        let patience = self.disk_space.rules.patience;
        // Without patience the fault says it.
        if !paused && !patience.is_zero() {
            tracing::warn!(
                path = %shortage.path.display(),
                free = shortage.free,
                needed = shortage.needed,
                "the disk is full: {shortage}. No new page is started; free some space, and the \
                 crawl continues automatically (it waits {patience:?})"
            );
        }
        let pause = self.pause.get_or_insert_with(|| Pause {
            began: Instant::now(),
            saved: false,
        });
        if pause.began.elapsed() >= patience {
            return Err(Fault::NoSpace { shortage, patience });
        }
        Ok(())
    }

    /// Releases the reserve at the end of a crawl; a fault if a directory is gone.
    pub(crate) async fn release(self) -> Result<(), Fault> {
        let released = tokio::task::spawn_blocking(move || {
            self.disk_space.check_directories()?;
            let reserve = self.disk_space.reserve.as_ref();
            reserve.map_or(Ok(()), |reserve| reserve.release().map_err(Fault::Reserve))
        });
        released.await.map_err(Fault::Panicked)?
    }
}
