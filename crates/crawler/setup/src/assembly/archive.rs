//! The archive of a crawl, and its CDXJ index.

use std::sync::Arc;

use disk::Disk;
use messages::cannot;
use messages::{CommandError, fault, pasted};
use settings::{Settings, crawl_directory};
use sinks::cdxj::{self, Indexed};
use sinks::{Sink, SinkFault, WarcArchive};
use store::EmbeddedStore;
use web::Clock;

use super::with_disk_remedy;
use crate::archiving;

/// Opens the archive and truncates it at its commit point.
pub(super) async fn open(
    settings: &Settings,
    store: &EmbeddedStore,
    clock: &Clock,
    disk: &Arc<dyn Disk>,
) -> Result<WarcArchive, CommandError> {
    let directory = crawl_directory::archive(&settings.out);
    disk.create_directories(&directory)
        .map_err(|error| cannot("create", &directory, &error, &settings.out))?;
    let options = archiving::options(settings, clock)?;
    let archive = crawl::open_archive(store, disk, &directory, options).await;
    archive.map_err(|error| match error {
        crawl::Fault::Sink(error) => damaged(&error, settings),
        other => with_disk_remedy(&other, settings),
    })
}

/// Wraps the archive with its CDXJ index, or removes the index if it is off.
pub(super) async fn with_cdxj(
    settings: &Settings,
    archive: Arc<dyn Sink>,
    disk: &Arc<dyn Disk>,
) -> Result<Arc<dyn Sink>, CommandError> {
    let directory = crawl_directory::archive(&settings.out);
    if !settings.cdxj.is_on() {
        cdxj::remove(&**disk, &directory).map_err(|error| with_disk_remedy(&error, settings))?;
        return Ok(archive);
    }
    match Indexed::open(archive, Arc::clone(disk), &directory, cdxj::MEMORY).await {
        Ok(indexed) => Ok(Arc::new(indexed)),
        Err(error) => Err(damaged(&error, settings)),
    }
}

/// Converts the fault of an archive that differs from its last synced state.
fn damaged(error: &SinkFault, settings: &Settings) -> CommandError {
    if let Ok(Some(node_file)) = crawl_directory::node_file(&settings.out) {
        return fault(error).with_remedy(format!(
            "this archive does not match node {} in the store: restore the node's archive, or \
             choose another --out; nothing was changed",
            node_file.node
        ));
    }
    match error {
        SinkFault::JournalEnds { .. } => {
            fault(error).with_remedy(crawl_directory::rebuild_from_archive(&settings.out))
        }
        SinkFault::Missing { .. } | SinkFault::TooShort { .. } | SinkFault::Damaged { .. } => {
            let out = pasted(&settings.out);
            fault(error).with_remedy(format!(
                "it was on disk before: restore it; or see what is missing with `crawler verify \
                 {out}`, and continue with the rest by `crawler rebuild {out} --from-archive`"
            ))
        }
        other => with_disk_remedy(other, settings),
    }
}
