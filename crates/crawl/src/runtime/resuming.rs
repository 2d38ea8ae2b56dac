//! How the archive of a crawl goes on, in line with what the journal tells.
//!
//! What the journal does not tell of is cut off the archive and kept beside it, or the opening is
//! refused where the journal told of it once (`sinks/src/warc/surplus.rs`); what a power cut took
//! from the archive is taken back in the journal, and visited again. Then the journal is told where
//! the archive ends: what it said before may lie beyond.
//!
//! Invariant: afterwards every page that is settled has its bytes on the disk, the archive ends
//! with the last of them, and nothing that is written later is taken for durable before it is.

use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use sinks::warc::{beginning, settled_behind, whole_visits};
use sinks::{ArchiveEnd, ArchiveOptions, Sink, SinkFault, WarcArchive};
use store::embedded::EmbeddedStore;
use store::{ArchivePlace, ArchiveSpan, Frontier};

use crate::context::settled;
use crate::fault::Fault;

/// Opens the archive in `directory`, which is made where it is missing. Call it before the first
/// lease; may be repeated when it was cut short.
///
/// # Errors
/// [`Fault::Sink`] where the archive lacks what was on the disk for certain, or the disk refuses;
/// [`Fault::Store`] where the journal cannot be told.
pub async fn open_archive(
    store: &EmbeddedStore,
    disk: &Arc<dyn Disk>,
    directory: &Path,
    options: ArchiveOptions,
) -> Result<WarcArchive, Fault> {
    take_back(store, &**disk, directory, &options.prefix).await?;
    let end = settled_end(store, directory)?;
    let is_known = end.is_some() || store.archive_tail().durable.is_some();
    let archive = WarcArchive::open(Arc::clone(disk), directory, options, end)?;
    archive.settled(None).await?;
    if is_known {
        // What lay behind the end is cut off now, be it all of it: an older record must not call
        // durable what comes there.
        let synced = archive.sync().await?;
        let ArchiveEnd { file, end } = synced.clone();
        let durable = store.checkpoint(Some(ArchivePlace { file, end })).await?;
        archive.settled(settled(synced, durable)).await?;
    }
    Ok(archive)
}

/// Where the last settled visit ends in the archive; where there is none, the place behind the
/// files of other crawlers, if there are any: those stay.
///
/// # Errors
/// [`Fault::Sink`] where the directory cannot be looked at.
pub fn settled_end(store: &EmbeddedStore, directory: &Path) -> Result<Option<ArchiveEnd>, Fault> {
    match store.archive_end() {
        Some(ArchiveSpan { file, end, .. }) => Ok(Some(ArchiveEnd { file, end })),
        None => Ok(beginning(directory)?),
    }
}

/// After a power cut the journal may tell of pages that the archive has lost: they wait again.
async fn take_back(
    store: &EmbeddedStore,
    disk: &dyn Disk,
    directory: &Path,
    prefix: &str,
) -> Result<(), Fault> {
    let tail = store.archive_tail();
    let end_of = |place: &ArchivePlace| ArchiveEnd {
        file: place.file.clone(),
        end: place.end,
    };
    let visits: Vec<ArchiveEnd> = tail.visits.iter().map(end_of).collect();
    let durable = tail.durable.as_ref();
    let whole = whole_visits(disk, directory, durable.map(end_of).as_ref(), &visits)?;
    if whole == visits.len() {
        return Ok(());
    }
    let last_whole = whole.checked_sub(1).and_then(|last| tail.visits.get(last));
    let (file, end) = last_whole
        .or(durable)
        .map_or(("", 0), |place| (place.file.as_str(), place.end));
    // Where the archive cannot go on from there, nothing is to be changed.
    let place = last_whole.or(durable).map(end_of);
    let files = settled_behind(directory, prefix, place.as_ref())?;
    if !files.is_empty() {
        let directory = directory.to_owned();
        return Err(SinkFault::JournalEnds { directory, files }.into());
    }
    let pages = store.revoke_after(file, end).await?;
    tracing::warn!(
        pages,
        file,
        end,
        "the archive lost these pages, as a power cut does: they are visited again"
    );
    Ok(())
}
