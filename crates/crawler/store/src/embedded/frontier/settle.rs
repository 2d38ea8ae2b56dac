//! Settlements, and revocations.
//!
//! Archived visits are journalled in the order of the archive (`archive_order.rs`): a settlement
//! before its turn waits until all before it have arrived.

use journal::{DiscoveredUrl, Journal, QueueEntry, Record, SettledVisit, StoreFault};
use web::Pace;

use super::Queue;
use super::archive_order::Ended;
use super::state::Void;
use crate::frontier::{Lease, Settlement};

impl Queue {
    pub(in super::super) fn settle(
        &mut self,
        journal: &Journal,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        let host = self.hosts.number_of(lease.url());
        let is_page = matches!(&settlement, Settlement::Done(visit) if visit.record.is_page());
        self.hosts.change(host, |host| {
            host.leased = host.leased.saturating_sub(1);
            host.unrecorded += u64::from(is_page);
            host.keep_pace(pace);
        });
        self.out.end_alone(lease.entry.sequence);
        let pace = self.hosts.get(host).pace;
        match settlement {
            Settlement::Done(visit) => {
                let archive_sequence = visit.archived.as_ref().map(|span| span.archive_sequence);
                let ended = Ended {
                    lease,
                    visit,
                    ready: pace.ready,
                };
                match archive_sequence {
                    None => self.end(journal, ended),
                    Some(archive_sequence) => {
                        self.archive_order.add(archive_sequence, ended);
                        self.end_in_order(journal)
                    }
                }
            }
            Settlement::Again { at, reason, counts } => {
                // It is visited even if its folder is closed in the meantime.
                let _begun = self.out.end_probe(lease.discovered());
                let mut entry = lease.entry;
                let sequence = entry.sequence;
                entry.attempts += u32::from(counts);
                let reason = Some(reason);
                let postponed = Record::Postponed {
                    entry,
                    at,
                    pace,
                    reason,
                };
                self.record(journal, &postponed)?;
                self.give_up_claims(journal, sequence)
            }
            Settlement::Returned => {
                let wanted = self.out.end_probe(lease.discovered());
                let returned = Record::Returned {
                    sequence: lease.entry.sequence,
                    host: lease.url().host(),
                    pace,
                };
                self.record(journal, &returned)?;
                self.give_up_claims(journal, lease.entry.sequence)?;
                let discovered = wanted.into_iter().collect();
                self.discover(journal, discovered).map(drop)
            }
        }
    }

    fn end_in_order(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(ended) = self.archive_order.take_next() {
            self.end(journal, ended)?;
            // After a failure the archive must not count as settled behind this visit.
            self.archive_order.advance();
        }
        Ok(())
    }

    fn end(&mut self, journal: &Journal, ended: Ended) -> Result<(), StoreFault> {
        let Ended {
            lease,
            mut visit,
            ready,
        } = ended;
        let host = self.hosts.number_of(lease.url());
        self.out.note_wanted(&visit.finds);
        // URLs reached by redirects are seen.
        let reached = &visit.reached;
        visit.finds.retain(|found| !reached.contains(&found.url));
        self.hold_claimed(journal, &mut visit.finds, &mut visit.excluded)?;
        visit.finds = self.only_new(visit.finds, &mut visit.excluded);
        let wanted_again = self.take_wanted_again(&mut visit.finds);
        let page = u64::from(visit.record.is_page());
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
        let span = journal.append_at(&record)?;
        self.hosts.change(host, |host| {
            host.unrecorded = host.unrecorded.saturating_sub(page);
        });
        self.apply_own(span, &record);
        if let Some(found) = self.out.end_probe(lease.discovered()) {
            // It is new only if it was excluded.
            self.discover(journal, vec![found])?;
        }
        self.queue_again(journal, wanted_again)?;
        self.give_up_claims(journal, lease.entry.sequence)?;
        self.used.settled.push((lease, record));
        self.change_patterns(journal)?;
        self.revoke_due(journal)
    }

    /// Closes and reopens the patterns that are due, and queues the URLs that reopened patterns
    /// excluded.
    pub(super) fn change_patterns(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(change) = self.state.patterns.due(self.hosts.rules()) {
            self.record(journal, &change)?;
        }
        self.requeue_reopened(journal)
    }

    /// Revokes the visit records whose original failed, and queues their URLs again.
    pub(in super::super) fn revoke_due(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(void) = self.state.voids.due.first().cloned() {
            self.revoke(journal, void)?;
        }
        Ok(())
    }

    /// Revokes a visit record and queues its URL again, with its score. The next visit may claim
    /// again the URLs that this visit reached.
    pub(in super::super) fn revoke(
        &mut self,
        journal: &Journal,
        void: Void,
    ) -> Result<(), StoreFault> {
        let found = void.visit.discovered().with_priority_of(void.priority);
        self.revoke_as(journal, found, void)
    }

    /// Revokes the record of a visit that a user wants repeated, and queues its URL again: it is
    /// visited even if its pattern is closed.
    pub(in super::super) fn revoke_by_action(
        &mut self,
        journal: &Journal,
        void: Void,
    ) -> Result<(), StoreFault> {
        let found = void.visit.discovered().ordered();
        self.revoke_as(journal, found, void)
    }

    /// Revokes a visit record and queues its URL again as it is discovered now.
    pub(super) fn revoke_as(
        &mut self,
        journal: &Journal,
        discovered: DiscoveredUrl,
        void: Void,
    ) -> Result<(), StoreFault> {
        let Void { visit, reached, .. } = void;
        let revoked = Record::Revoked {
            entry: QueueEntry::new(self.state.next_sequence, discovered),
            visit,
            reached,
        };
        self.record(journal, &revoked)
    }
}
