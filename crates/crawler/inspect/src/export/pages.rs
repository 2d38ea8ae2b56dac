//! Archived pages, read again on all cores, and the records made from their contents, in the order
//! of the visits.

use std::io::Write;
use std::path::Path;

use export::{ExportFault, TextChunk, TextRules, Visit, VisitPosition};
use facts::frames;
use messages::CommandError;
use settings::read_again::{ArchivedPages, BATCH};
use settings::{Settings, crawl_directory};

use super::destination::Destination;
use super::links::{self, FailedUrls};

/// Records made from pages.
pub enum PageRecords {
    /// One per link.
    Links,
    /// One per link to a URL in this list.
    BrokenLinks(FailedUrls),
    /// One per page, with its text.
    Texts(TextRules),
}

/// The visits whose records are written next, with the pages of the archive.
pub struct PageBatch {
    pages: ArchivedPages,
    records: PageRecords,
    visits: Vec<(Visit, VisitPosition)>,
}

impl PageBatch {
    /// Returns an empty batch of visits of the crawl in `directory`.
    pub fn of_crawl(directory: &Path, records: PageRecords) -> Result<Self, CommandError> {
        let mut pages = ArchivedPages::of(&Settings::of_crawl(directory)?);
        let reading = &mut pages.archive.rules;
        match &records {
            PageRecords::Links | PageRecords::BrokenLinks(_) => export::widen(&mut reading.limits),
            PageRecords::Texts(rules) => {
                rules.widen(&mut reading.limits);
                if !rules.keeps_boilerplate() {
                    let state = crawl_directory::state_of(directory)?;
                    reading.shared_lines = Some(frames::shared_lines(&state));
                }
            }
        }
        Ok(Self {
            pages,
            records,
            visits: Vec::new(),
        })
    }

    /// Adds a visit. Its records are written with the rest of the batch.
    pub fn add<W: Write + Send>(
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

    /// Writes the records of all visits that were added.
    pub fn write<W: Write + Send>(
        &mut self,
        destination: &mut Destination<W>,
    ) -> Result<(), ExportFault> {
        let failed = match &self.records {
            PageRecords::BrokenLinks(failed) => Some(failed),
            PageRecords::Links | PageRecords::Texts(_) => None,
        };
        match &self.records {
            PageRecords::Links | PageRecords::BrokenLinks(_) => self.pages.make_all(
                &mut self.visits,
                |(visit, _)| Some(&visit.record),
                |_, page| page.document.links,
                |(visit, mark), found| {
                    let found = found.unwrap_or_default();
                    links::write(&visit.record, &found, failed, |fields| {
                        destination.write(fields)
                    })?;
                    destination.wrote(mark)
                },
            ),
            PageRecords::Texts(rules) => self.pages.make_all(
                &mut self.visits,
                |(visit, _)| rules.is_wanted(&visit.record).then_some(&visit.record),
                |_, page| Some((rules.text_of(page.document, page.digest)?, page.record)),
                |(visit, mark), text| {
                    if let Some((text, record)) = text.flatten() {
                        let media = text.content_type();
                        let text = text.record(&visit.record);
                        match rules.makes_chunks() {
                            true => TextChunk::of(&text)
                                .try_for_each(|chunk| destination.write(&chunk.fields()))?,
                            false => destination.write_text(&text, &record, media)?,
                        }
                    }
                    destination.wrote(mark)
                },
            ),
        }
    }

    /// Returns an error if pages are missing.
    pub fn check_unread(&self) -> Result<(), CommandError> {
        self.pages.check_unread(match self.records {
            PageRecords::Links | PageRecords::BrokenLinks(_) => {
                "their links are missing; everything else is complete"
            }
            PageRecords::Texts(_) => "their texts are missing; everything else is complete",
        })
    }
}
