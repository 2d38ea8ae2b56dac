//! Resumption: the archive of a crawl is opened in line with the journal.
//!
//! The part of the archive that the journal does not know is cut off and kept in a file next to it,
//! or opening is refused if the journal knew it once (`sinks/src/warc/unsettled_tail.rs`). Pages
//! whose bytes were lost from the archive in a power cut are revoked in the journal, and visited
//! again. Then the archive's end is written to the journal, since its earlier records may point
//! beyond that end.
//!
//! Invariant: afterwards every settled page has its bytes on the disk, the archive ends with the
//! last settled page, and later writes never count as durable before they are.

use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use journal::ArchiveSpan;
use sinks::warc::{beginning, settled_behind, whole_visits};
use sinks::{ArchiveEnd, ArchiveOptions, Sink, SinkFault, WarcArchive};
use store::{ArchivePlace, EmbeddedStore};

use crate::context;
use crate::fault::Fault;

/// Opens the archive in `directory`, which is created if it is missing. Call it before the first
/// lease; it may be repeated after an interruption.
///
/// # Errors
/// [`Fault::Sink`] if the archive lacks bytes that were certainly on the disk, or the disk refuses;
/// [`Fault::Store`] if the journal cannot be written.
pub async fn open_archive(
    store: &EmbeddedStore,
    disk: &Arc<dyn Disk>,
    directory: &Path,
    options: ArchiveOptions,
) -> Result<WarcArchive, Fault> {
    take_back(store, &**disk, directory, &options.prefix).await?;
    let end = commit_point(store, directory)?;
    let is_known = end.is_some() || store.archive_tail().durable.is_some();
    let archive = WarcArchive::open(Arc::clone(disk), directory, options, end)?;
    archive.set_commit_point(None).await?;
    if is_known {
        // The rest behind the end is cut off now, even if it was all: an older record must not call
        // durable what is written there.
        context::save(&archive, store).await?;
    }
    Ok(archive)
}

/// Returns the end of the last settled visit in the archive. If no visit is settled, returns the
/// place after the files of other crawlers, which stay, if any exist.
///
/// # Errors
/// [`Fault::Sink`] if the directory cannot be read.
pub fn commit_point(store: &EmbeddedStore, directory: &Path) -> Result<Option<ArchiveEnd>, Fault> {
    match store.archive_end() {
        Some(ArchiveSpan { file, end, .. }) => Ok(Some(ArchiveEnd { file, end })),
        None => Ok(beginning(directory)?),
    }
}

/// Revokes the pages that the archive has lost in a power cut: they are queued again.
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
    // If the archive cannot continue from there, nothing is changed.
    let place = last_whole.or(durable).map(end_of);
    let files = settled_behind(directory, prefix, place.as_ref())?;
    if !files.is_empty() {
        let directory = directory.to_owned();
        return Err(SinkFault::JournalEnds { directory, files }.into());
    }
    let (file, end) = place.map_or((String::new(), 0), |place| (place.file, place.end));
    let pages = store.revoke_after(&file, end).await?;
    tracing::warn!(
        pages,
        file,
        end,
        "the archive lost these pages, as in a power cut: they are visited again"
    );
    Ok(())
}
