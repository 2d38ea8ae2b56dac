//! The embedded store as a node's working copy of a shared crawl.
//!
//! A shared crawl keeps its journal in a database, and several nodes work on it, each on the hosts
//! that it owns. A node uses the code of this store for its decisions. It applies the records of
//! its new hosts, ships the records that it makes, and takes over the admissions of all nodes from
//! one log. So the working copy decides like a store that is not shared.
//!
//! Invariant: the shared journal is the source of truth. Each session of a node creates its own
//! working copy, which is never opened again.

use journal::{
    ArchiveSpan, DistinctPages, Page, Position, Record, StoreFault, VisitRecord, append_frame,
    encode,
};
use neardup::PageSignature;
use web::{Host, PageUrl, RestartRule, Timestamp, UrlKey};

use super::frontier::{RecordWatch, Void};
use super::store::EmbeddedStore;
use crate::known::{Decision, PageRef};
use crate::near_dup::{RetainedDuplicate, Verdict};

/// The step in the log of all admissions that a page's verdict requires.
#[derive(Clone, Debug, PartialEq)]
pub enum LogStep {
    /// The verdict needs no record.
    Given(Verdict),
    /// The verdict holds once the log has this record.
    Append(Box<Record>, Verdict),
    /// The page is judged again once the log has this record.
    Forget(Box<Record>),
}

/// Consecutive records of the log of all admissions, ready to be applied.
#[derive(Debug, Default)]
pub struct LogChunk {
    /// The frames of all records.
    frames: Vec<u8>,
    /// Each record, with the offset of its frame.
    records: Vec<(Position, Record)>,
}

impl LogChunk {
    /// Decodes a record that postcard has encoded, adds it, and returns it.
    ///
    /// # Errors
    /// Errors of the decoder.
    pub fn push(&mut self, encoded: &[u8]) -> postcard::Result<&Record> {
        let record = postcard::from_bytes(encoded)?;
        let offset = self.frames.len() as Position;
        append_frame(&mut self.frames, encoded);
        self.records.push((offset, record));
        Ok(&self.records[self.records.len() - 1].1)
    }
}

/// The start of a working copy.
pub struct WorkingCopy {
    /// The number of the first new queue entry, above the entries of all earlier sessions.
    pub first_sequence: u64,
    /// The valid end of the node's archive.
    pub archive: Option<ArchiveSpan>,
    /// True if the crawl was begun before.
    pub resumed: bool,
    /// A function that receives the records of the frontier that this session makes.
    pub watch: RecordWatch,
}

impl EmbeddedStore {
    /// Makes this newly created store the working copy of a shared crawl.
    #[must_use]
    pub fn into_working_copy(mut self, start: WorkingCopy) -> Self {
        let WorkingCopy {
            first_sequence,
            archive,
            resumed,
            watch,
        } = start;
        self.opened.archive.clone_from(&archive);
        self.opened.resumed = resumed;
        self.queue()
            .begin_working_copy(first_sequence, archive, watch);
        self
    }

    /// Applies the records of hosts that this node takes over, in the order of the shared journal.
    /// The watch does not receive them. If a session left entries in progress, it died; the record
    /// of its death is applied too, and returned.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables of the working copy cannot be written.
    pub async fn take_over(&self, records: &[Record]) -> Result<Option<Record>, StoreFault> {
        let died = self.queue().take_over(&self.journal, records)?;
        if self.queue().wants_flush() {
            self.save(None, false).await?;
        }
        Ok(died)
    }

    /// Begins the session of hosts whose records were applied by [`EmbeddedStore::take_over`].
    ///
    /// # Errors
    /// [`StoreFault`] if the journal of the working copy cannot be written.
    pub fn begin_session_of(
        &self,
        is_meant: impl Fn(&Host) -> bool,
        now: Timestamp,
    ) -> Result<(), StoreFault> {
        self.queue().begin_session_of(&self.journal, is_meant, now)
    }

    /// Returns all entries that are out on lease, at the end of a session.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal of the working copy cannot be written.
    pub fn return_leases(&self) -> Result<(), StoreFault> {
        self.queue().return_leases(&self.journal)
    }

    /// Makes hosts rest if a session that died may have sent requests to them just before `at`.
    pub fn rest_after_death(
        &self,
        is_meant: impl Fn(&Host) -> bool,
        at: Timestamp,
        rule: RestartRule,
    ) {
        self.queue().rest_after_death(is_meant, at, rule);
    }

    /// Stops leasing URLs of these hosts. Returns the number of their URLs that are out on lease.
    pub fn close_hosts(&self, is_meant: impl Fn(&Host) -> bool) -> u64 {
        self.queue().close_hosts(is_meant)
    }

    /// Forgets closed hosts that another node takes over.
    pub fn forget_hosts(&self, is_meant: impl Fn(&Host) -> bool) {
        self.queue().forget_hosts(is_meant);
    }

    /// Judges a page by the admissions that have been applied, without changing anything.
    ///
    /// # Errors
    /// [`StoreFault`] if the tables or the journal of the working copy cannot be read.
    pub fn judge(
        &self,
        page: &Page,
        signature: &PageSignature,
        canonical: Option<&PageUrl>,
    ) -> Result<LogStep, StoreFault> {
        let mut signatures = self.signatures();
        let admitted = || Record::Admitted {
            page: page.clone(),
            signature: Box::new(signature.clone()),
        };
        Ok(match signatures.judge(page, signature, canonical)? {
            Decision::Own => LogStep::Given(Verdict::Own),
            Decision::Forget => {
                let page = page.key();
                LogStep::Forget(Box::new(Record::Forgotten { page }))
            }
            Decision::New => LogStep::Append(Box::new(admitted()), Verdict::Unique),
            Decision::Version {
                capture,
                is_admitted,
            } => {
                let capture = capture.try_map(|number| self.page(PageRef::Earlier(number)))?;
                let verdict = Verdict::Changed(Box::new(capture));
                match is_admitted {
                    true => LogStep::Given(verdict),
                    false => LogStep::Append(Box::new(admitted()), verdict),
                }
            }
            Decision::Retained(place) => {
                let of = signatures.per_cluster();
                LogStep::Given(self.retained_before(place, of)?)
            }
            Decision::Retain(of, rank) => {
                let original = of.try_map(|of| self.page(of))?;
                let record = super::admission::retained_page(page, signature, &original, rank);
                let of = signatures.per_cluster();
                let retained = RetainedDuplicate { rank, of };
                let verdict = Verdict::Retained(Box::new(original), retained);
                LogStep::Append(Box::new(Record::Retained(Box::new(record))), verdict)
            }
            Decision::Duplicate(of) => {
                let original = of.try_map(|of| self.page(of))?;
                LogStep::Given(Verdict::Duplicate(Box::new(original)))
            }
        })
    }

    /// Returns the record that revokes the admission of a page; `None` if the page is not known.
    ///
    /// # Errors
    /// [`StoreFault`] if the tables of the working copy cannot be read.
    pub fn revocation_of(&self, page: UrlKey) -> Result<Option<Record>, StoreFault> {
        let is_known = self.signatures().knows(page)?;
        Ok(is_known.then_some(Record::Forgotten { page }))
    }

    /// Returns the record that separates two pages.
    #[must_use]
    pub fn separation_of(page: &PageUrl, original: &PageUrl) -> Record {
        Record::Distinct(DistinctPages {
            page: page.clone(),
            original: original.clone(),
        })
    }

    /// Applies a record of the log of all admissions.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables of the working copy cannot be written.
    pub fn apply_admission(&self, record: &Record) -> Result<(), StoreFault> {
        let frame = encode(record);
        let mut signatures = self.signatures();
        let end = self.journal.append_frame(&frame)?;
        signatures.apply(end - frame.len() as u64, record)
    }

    /// Applies many records of that log. Much faster than one by one: they are written at once, and
    /// their keys are indexed together, at the next judgement at the latest.
    ///
    /// # Errors
    /// [`StoreFault`], as for [`EmbeddedStore::apply_admission`].
    pub fn apply_log(&self, chunk: LogChunk) -> Result<(), StoreFault> {
        let LogChunk { frames, records } = chunk;
        if records.is_empty() {
            return Ok(());
        }
        let mut signatures = self.signatures();
        let begin = self.journal.append_frame(&frames)? - frames.len() as Position;
        for (offset, record) in records {
            signatures.apply_owned(begin + offset, record)?;
        }
        Ok(())
    }

    /// Indexes the keys of the applied records now, so that the next judgement does not wait.
    pub fn index_log(&self) {
        self.signatures().index_added();
    }

    /// Revokes the record of a visit, and queues its URL again, with the score of its `priority`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal of the working copy cannot be written.
    pub fn revoke_visit(
        &self,
        visit: VisitRecord,
        priority: u8,
        reached: Vec<PageUrl>,
    ) -> Result<(), StoreFault> {
        let void = Void {
            visit: Box::new(visit),
            reached,
            priority,
        };
        self.queue().revoke(&self.journal, void)
    }
}
