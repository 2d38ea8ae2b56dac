//! Reading a long list of seeds into the queue, part by part.
//!
//! Only one part is in memory at a time; the queue is on disk, and the scope keeps a few bytes per
//! seed. The seeds are copied to a file in the crawl's directory ([`SEEDS_FILE`]), because its
//! scope is built from them. An interrupt or the end of `--max-time` ends the reading. Seeds read
//! until then are queued. The next session reads the user's file again and skips the seeds that it
//! knows.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::RwLock;
use std::time::Duration;

use corpus::is_standard_input;
use crawl::Stop;
use disk::OutputFile;
use journal::DiscoveredUrl;
use messages::cannot;
use messages::{CommandError, SlowProgress, fault};
use settings::Settings;
use settings::seeds::{SEEDS_FILE, SeedReader, SeedWarnings};
use store::Frontier;
use tokio::time::Instant;
use web::{PageUrl, Scope};

use super::{scope_mut, with_disk_remedy};
use crate::disk_space::DiskFullRetry;

/// Lines that are read at a time.
const PART: usize = 4_096;

/// The end of the reading of a list.
#[derive(Default)]
pub struct ReadList {
    /// Time that the reading took.
    pub took: Duration,
    /// Number of seeds after the first ones.
    pub seeds: usize,
    /// Warnings about lines.
    pub warnings: SeedWarnings,
    /// True if an interrupt or the time limit ended the reading before the end of the list.
    pub is_cut: bool,
    /// The user's file, if it was not read completely.
    pub unread: Option<PathBuf>,
}

/// Parts of a crawl that take the seeds of a list.
pub(super) struct ListReading<'a, 's> {
    pub(super) settings: &'s Settings,
    pub(super) frontier: &'a dyn Frontier,
    pub(super) scope: &'a RwLock<Scope>,
    pub(super) retry: &'a mut DiskFullRetry<'s>,
    pub(super) stop: Stop,
}

impl ListReading<'_, '_> {
    /// Reads the rest of a list whose `first` seeds are queued already.
    pub(super) async fn read(
        mut self,
        first: &[PageUrl],
        rest: SeedReader,
    ) -> Result<ReadList, CommandError> {
        let (begun, settings) = (Instant::now(), self.settings);
        let end = settings.max_time.map(|span| begun + span.0);
        let path = settings.out.join(SEEDS_FILE);
        let unwritable = |error: io::Error| cannot("write", &path, &error, &settings.out);
        let mut kept = BufWriter::new(OutputFile::replacing(&path).map_err(unwritable)?);
        write(&mut kept, first).map_err(unwritable)?;
        let mut progress = SlowProgress::new("seeds read");
        let mut list = ReadList::default();
        let mut reader = Some(rest);
        while let Some(mut rest) = reader.take_if(|rest| !rest.is_at_end()) {
            let part = tokio::task::spawn_blocking(move || {
                let seeds = rest.next_part(PART);
                (rest, seeds)
            });
            // Standard input may stay silent for a long time.
            let (rest, seeds) = tokio::select! {
                biased;
                () = self.stop.requested() => break,
                () = until(end) => break,
                read = part => read.map_err(|error| fault(&error))?,
            };
            reader = Some(rest);
            let mut seeds = seeds?;
            {
                let mut scope = scope_mut(self.scope);
                seeds.retain(|seed| scope.add_seed(seed));
            }
            write(&mut kept, &seeds).map_err(unwritable)?;
            self.queue(&seeds).await?;
            list.seeds += seeds.len();
            seeds.iter().for_each(|_| progress.step());
        }
        let kept = kept.into_inner().map_err(io::IntoInnerError::into_error);
        kept.and_then(|mut kept| kept.complete())
            .map_err(unwritable)?;
        match reader {
            Some(rest) => list.warnings = rest.warnings,
            None => {
                list.is_cut = true;
                list.unread = settings.seeds.as_deref().and_then(found_again);
            }
        }
        list.took = begun.elapsed();
        Ok(list)
    }

    async fn queue(&mut self, seeds: &[PageUrl]) -> Result<(), CommandError> {
        let (frontier, settings) = (self.frontier, self.settings);
        let step = async || {
            let urls = seeds.iter().cloned();
            let found = urls.map(|url| DiscoveredUrl::new(url, 0, None)).collect();
            let queued = frontier.discover(found).await;
            queued.map_err(|error| with_disk_remedy(&error, settings))
        };
        self.retry.step(step).await.map(drop)
    }
}

/// Returns a path that the next session can open from any working directory.
fn found_again(file: &Path) -> Option<PathBuf> {
    match is_standard_input(file) {
        true => None,
        false => std::path::absolute(file).ok(),
    }
}

fn write(out: &mut impl Write, seeds: &[PageUrl]) -> io::Result<()> {
    seeds.iter().try_for_each(|seed| writeln!(out, "{seed}"))
}

async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}
