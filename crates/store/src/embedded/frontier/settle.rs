//! What comes back, and what is taken back.
//!
//! Archived pages are journalled in the order of the archive (see
//! [`Frontier::settle`](crate::Frontier::settle)): a settlement that comes before its turn waits in
//! `early` until those before it have come. What still waits when the process dies was never
//! recorded: its page is visited again, and its place in the archive lies beyond the recorded end,
//! where it is cut off.

use web::{Pace, PageUrl};

use super::super::journal::Journal;
use super::super::record::{Record, SettledVisit};
use super::state::Void;
use super::{Ended, Queue};
use crate::fault::StoreFault;
use crate::frontier::{DiscoveredUrl, Lease, QueueEntry, Settlement};
use crate::visit_record::VisitRecord;

impl Queue {
    pub(in super::super) fn settle(
        &mut self,
        journal: &Journal,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        let name = lease.url().host();
        let host = self.hosts.number(&name);
        let is_page = matches!(&settlement, Settlement::Done(visit) if visit.row.is_page());
        self.hosts.change(host, |host| {
            host.leased = host.leased.saturating_sub(1);
            host.unrecorded += u64::from(is_page);
            host.keep_pace(pace);
        });
        if self.alone == Some(lease.entry.sequence) {
            self.alone = None;
        }
        let pace = self.hosts.get(host).pace;
        match settlement {
            Settlement::Done(visit) => {
                let ticket = visit.archived.as_ref().map(|span| span.ticket);
                let ended = Ended {
                    lease,
                    visit,
                    ready: pace.ready,
                };
                match ticket {
                    None => self.end(journal, ended),
                    Some(ticket) => {
                        self.early.insert(ticket, ended);
                        self.end_in_order(journal)
                    }
                }
            }
            Settlement::Again { at } => {
                // It is visited whatever becomes of its folder.
                let _begun = self.wanted_meanwhile(&lease);
                let mut entry = lease.entry;
                entry.attempts += 1;
                self.record(journal, &Record::Postponed { entry, at, pace })
            }
            Settlement::Returned => {
                let wanted = self.wanted_meanwhile(&lease);
                let sequence = lease.entry.sequence;
                let host = name;
                self.record(
                    journal,
                    &Record::Returned {
                        sequence,
                        host,
                        pace,
                    },
                )?;
                let finds = wanted.into_iter().collect();
                self.discover(journal, finds).map(drop)
            }
        }
    }

    fn end_in_order(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(ended) = self.early.remove(&self.next_ticket) {
            self.end(journal, ended)?;
            // Not where that failed: the archive would be taken for settled behind a page that is
            // not.
            self.next_ticket += 1;
        }
        Ok(())
    }

    fn end(&mut self, journal: &Journal, ended: Ended) -> Result<(), StoreFault> {
        let Ended {
            lease,
            mut visit,
            ready,
        } = ended;
        let host = self.hosts.number(&lease.url().host());
        self.note_wanted(&visit.finds);
        visit.finds = self.only_new(visit.finds, &mut visit.left_out);
        // What was reached on the way is seen.
        let reached = &visit.reached;
        visit.finds.retain(|find| !reached.contains(&find.url));
        let wanted_again = self.take_wanted_again(&mut visit.finds);
        let page = u64::from(visit.row.is_page());
        let record = Record::Settled(SettledVisit {
            sequence: lease.entry.sequence,
            priority: lease.discovered().priority,
            first: self.state.next_sequence,
            pace: Pace {
                ready,
                ..self.hosts.get(host).pace
            },
            visit,
        });
        let position = journal.append(&record)?;
        self.hosts.change(host, |host| {
            host.unrecorded = host.unrecorded.saturating_sub(page);
        });
        self.apply(position, &record);
        if let Some(find) = self.wanted_meanwhile(&lease) {
            // Nothing is new about it, unless it was left out.
            self.discover(journal, vec![find])?;
        }
        self.queue_again(journal, wanted_again)?;
        self.change_patterns(journal)?;
        self.revoke_due(journal)
    }

    /// Closes the patterns that are to be closed, and reopens those that are to be reopened, with
    /// what they left out.
    pub(super) fn change_patterns(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while self.hosts.rules().closes_patterns
            && let Some(change) = self.state.patterns.due()
        {
            self.record(journal, &change)?;
        }
        self.requeue_reopened(journal)
    }

    /// Takes back the rows whose original came to nothing: their pages wait again.
    pub(in super::super) fn revoke_due(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(Void { row, reached }) = self.state.voids.due.first().cloned() {
            self.revoke(journal, row, reached)?;
        }
        Ok(())
    }

    /// Queues a page again whose row is void; what it reached on the way may be claimed by it
    /// again.
    pub(in super::super) fn revoke(
        &mut self,
        journal: &Journal,
        row: Box<VisitRecord>,
        reached: Vec<PageUrl>,
    ) -> Result<(), StoreFault> {
        let find =
            DiscoveredUrl::new(row.url.clone(), row.depth, row.via.clone()).needed(row.requisite);
        self.revoke_as(journal, find, row, reached)
    }

    /// The same for a page that waits as it was found now.
    pub(super) fn revoke_as(
        &mut self,
        journal: &Journal,
        find: DiscoveredUrl,
        row: Box<VisitRecord>,
        reached: Vec<PageUrl>,
    ) -> Result<(), StoreFault> {
        let entry = QueueEntry::new(self.state.next_sequence, find);
        self.record(
            journal,
            &Record::Revoked {
                entry,
                row,
                reached,
            },
        )
    }
}
