//! The links of archived pages: read again from the archive, on all cores, and written in the order
//! of the visits.
//!
//! The journal does not have the words and the relations of a link. They are read as during the
//! visit, except that longer words are kept, and every relation.

use std::io::Write;
use std::path::Path;

use export::{ExportFault, Link, Visit, VisitPosition};
use store::VisitRecord;
use web::Document;

use super::Destination;
use crate::cli_error::CliError;
use crate::commands::read_again::{ArchivedPages, BATCH};
use crate::settings::Settings;

/// Characters of the words of a link.
const ANCHOR_CHARS: usize = 500;
/// Bytes of the relations of a link.
const REL_BYTES: usize = 200;

/// The visits whose links are written next, with the pages of the archive.
pub(super) struct LinkBatch {
    pages: ArchivedPages,
    visits: Vec<(Visit, VisitPosition)>,
}

impl LinkBatch {
    /// Returns an empty batch of visits of the crawl in `directory`.
    pub(super) fn of_crawl(directory: &Path) -> Result<Self, CliError> {
        let mut pages = ArchivedPages::of(&Settings::of_crawl(directory)?);
        pages.policy.read.anchor_chars = ANCHOR_CHARS;
        pages.policy.read.rel_bytes = REL_BYTES;
        Ok(Self {
            pages,
            visits: Vec::new(),
        })
    }

    /// Adds a visit. Its links are written with those of others.
    pub(super) fn add<W: Write + Send>(
        &mut self,
        visit: Visit,
        mark: VisitPosition,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        self.visits.push((visit, mark));
        match self.visits.len() < BATCH {
            true => Ok(()),
            false => self.write(destination),
        }
    }

    /// Writes the links of all visits that were added.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        let write = |(visit, mark): (Visit, VisitPosition), document: Option<Document>| {
            if let Some(document) = document {
                write_links(&visit.row, &document, destination)?;
            }
            destination.wrote(mark)
        };
        self.pages
            .read_all(&mut self.visits, |(visit, _)| &visit.row, write)
    }

    /// Returns an error if links are missing.
    pub(super) fn check_unread(&self) -> Result<(), CliError> {
        self.pages
            .check_unread("their links are missing, everything else is there")
    }
}

fn write_links<W: Write + Send>(
    row: &VisitRecord,
    document: &Document,
    destination: &mut Destination<W>,
) -> Result<(), ExportFault> {
    let source = row.final_url.as_ref().unwrap_or(&row.url).as_str();
    for link in &document.links {
        let link = Link {
            source,
            target: link.url.as_str(),
            anchor: &link.anchor,
            rel: &link.rel,
            kind: link.kind.as_str(),
        };
        destination.write(&link.fields())?;
    }
    Ok(())
}
