//! The effect of a record on the frontier, which is the same when it is written and when it is
//! replayed.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use journal::{ArchiveSpan, DiscoveredUrl, Position, QueueEntry, Record, SettledVisit, StoreFault};
use web::{Pace, PageUrl, Timestamp, UrlKey};

use super::Queue;
use super::place::{Body, Place, Rank};
use crate::seen::{seen_as, settled_probe};

impl Queue {
    /// Applies a record; `span` is its frame in the journal.
    pub(in super::super) fn apply(&mut self, span: Range<Position>, record: &Record) {
        match record {
            Record::Begun { .. } => {}
            Record::Discovered {
                first,
                finds: discovered,
            } => self.queue(*first, discovered),
            Record::Held { finds } => finds.iter().for_each(|found| self.state.held.hold(found)),
            Record::Leased { sequences } => {
                self.state.asked = true;
                self.state.in_flight.lease(sequences);
            }
            Record::Returned {
                sequence,
                host,
                pace,
            } => {
                let host = self.hosts.number(host);
                self.keep_pace(host, *pace);
                self.state.in_flight.come_back(*sequence);
                if let Some(place) = self.come_back(*sequence) {
                    self.wait_again(place);
                }
            }
            Record::Postponed {
                entry, at, pace, ..
            } => {
                let host = self.hosts.number_of(&entry.discovered.url);
                self.keep_pace(host, *pace);
                self.postpone(entry, *at);
            }
            Record::Settled(settled) => {
                let visit_place = settled.visit.record.excluding_pattern().map(|_| span.start);
                self.apply_settled(settled);
                self.state.patterns.apply_at(record, visit_place);
                self.queue(settled.first, &settled.visit.finds);
            }
            Record::SeedAdopted { url } => {
                if !self.state.adopted.contains(url) {
                    self.state.adopted.push(url.clone());
                }
            }
            Record::Stopped => {
                self.state.in_flight.clear();
                self.state.asked = false;
            }
            Record::Restarted { at, rule } => {
                let floor = *at + rule.min_wait;
                self.wait_after_death(floor, |pace| pace.after_restart(*at, *rule));
            }
            Record::ClockSetBack { to, min_wait } => {
                self.set_back(*to, *min_wait);
                self.touch_all();
            }
            // Waits use a clock that cannot be set. Separated pages concern the signatures.
            Record::ClockSet { .. } | Record::Distinct(_) => {}
            Record::Died { sequences } => {
                for sequence in sequences {
                    self.state.in_flight.crash(*sequence);
                }
            }
            Record::Paced { host, pace } => {
                let host = self.hosts.number(host);
                self.keep_pace(host, *pace);
            }
            Record::RobotsRead { origin, .. } => {
                self.robots.insert(origin.clone(), span.start);
            }
            Record::Archived { file, end } => {
                self.state.archived_at = [self.state.archived_at[1], span.end];
                if std::mem::take(&mut self.state.archive_cut) {
                    self.state.archive = Some(ArchiveSpan {
                        archive_sequence: 0,
                        file: file.clone(),
                        end: *end,
                    });
                }
            }
            Record::Admitted { page, .. } => self.state.voids.admitted(page.key()),
            Record::Retained(retained) => self.state.voids.admitted(retained.page.key()),
            Record::Forgotten { page } => self.state.voids.forgotten(*page),
            Record::PatternClosed(_) | Record::PatternReopened(_) => {
                self.state.patterns.apply(record);
            }
            Record::Revoked {
                entry,
                visit,
                reached,
            } => {
                self.state.voids.revoked(visit);
                self.state.patterns.apply(record);
                self.state.archive_cut |= visit.warc_file.is_none() && self.state.archive.is_some();
                self.state.totals.uncount(visit);
                self.state.held.revoked(entry, reached);
                let host = self.hosts.number_of(&visit.url);
                self.hosts.change(host, |host| {
                    host.pages = host.pages.saturating_sub(u64::from(visit.is_page()));
                });
                self.seen.add(&[seen_as(&entry.discovered)]);
                self.queue_entry(entry);
            }
            Record::Superseded { entry } => {
                let place = self.place_of(entry);
                self.take_out(place);
                self.state.held.ended(entry.sequence);
            }
        }
    }

    /// Takes the entry of a finished visit out of the queue.
    fn apply_settled(&mut self, settled: &SettledVisit) {
        let SettledVisit {
            sequence,
            priority,
            pace,
            visit,
            ..
        } = settled;
        let record = &visit.record;
        let place = Place {
            host: self.hosts.number_of(&record.url),
            rank: Rank::of_visit(record, *priority, *sequence),
        };
        self.keep_pace(place.host, *pace);
        self.take_out(place);
        self.state.totals.count(record);
        self.state.voids.settled(record, *priority, &visit.reached);
        self.seen.add(settled_probe(record, *priority).as_slice());
        self.hosts.change(place.host, |host| {
            host.pages += u64::from(record.is_page());
            host.off_topic_streak.count(record);
        });
        if visit.archived.is_some() {
            self.state.archive.clone_from(&visit.archived);
        }
        let reached: Vec<UrlKey> = visit.reached.iter().map(PageUrl::key).collect();
        self.seen.add(&reached);
        reached.iter().for_each(|url| self.state.held.reached(*url));
        self.state.held.ended(*sequence);
    }

    /// Queues new URLs, and marks them as seen.
    fn queue(&mut self, first: u64, discovered: &[DiscoveredUrl]) {
        let keys: Vec<UrlKey> = discovered.iter().map(seen_as).collect();
        self.seen.add(&keys);
        self.state.next_sequence = self
            .state
            .next_sequence
            .max(first + discovered.len() as u64);
        // The links of a page share the text of the page that they were found on.
        let mut via: Option<(&PageUrl, Arc<str>)> = None;
        for (sequence, found) in (first..).zip(discovered) {
            if via.as_ref().map(|(url, _)| *url) != found.via.as_ref() {
                via = found.via.as_ref().map(|url| (url, url.as_str().into()));
            }
            let shared = via.as_ref().map(|(_, text)| Arc::clone(text));
            self.put(found, sequence, shared);
        }
    }

    fn queue_entry(&mut self, entry: &QueueEntry) {
        self.state.next_sequence = self.state.next_sequence.max(entry.sequence + 1);
        let via = entry.discovered.via.as_ref().map(|via| via.as_str().into());
        self.put(&entry.discovered, entry.sequence, via);
    }

    fn put(&mut self, discovered: &DiscoveredUrl, sequence: u64, via: Option<Arc<str>>) {
        self.state.held.queued(discovered);
        let host = self.hosts.number_of(&discovered.url);
        let rank = Rank::of(discovered, sequence);
        let body = Body {
            url: discovered.url.to_stored().into(),
            via,
        };
        self.waiting.add(Place { host, rank }, body);
        self.hosts.change(host, |host| {
            host.update_counts(rank, |counts| counts.live += 1);
            host.rewind(rank);
        });
        self.host_groups.touch(host);
    }

    /// Removes a settled entry.
    fn take_out(&mut self, place: Place) {
        let sequence = place.rank.sequence;
        self.state.in_flight.settle(sequence);
        self.forget_tries(place);
        self.come_back(sequence);
        let newly_gone = self.waiting.take_out(place);
        self.hosts.change(place.host, |host| {
            host.update_counts(place.rank, |counts| {
                counts.live = counts.live.saturating_sub(1);
            });
            host.gone += u32::from(newly_gone);
        });
        self.host_groups.touch(place.host);
    }

    fn postpone(&mut self, entry: &QueueEntry, at: Timestamp) {
        let place = self.place_of(entry);
        self.state.in_flight.come_back(entry.sequence);
        self.come_back(entry.sequence);
        self.forget_tries(place);
        self.retries.postpone(place, entry.attempts, at);
        self.hosts.update_counts(place, |counts| counts.later += 1);
        self.host_groups.touch(place.host);
    }

    fn forget_tries(&mut self, place: Place) {
        if self.retries.forget(place) {
            self.hosts.update_counts(place, |counts| {
                counts.later = counts.later.saturating_sub(1);
            });
        }
    }

    /// Takes an entry back from its lease. Returns its place if it was out.
    fn come_back(&mut self, sequence: u64) -> Option<Place> {
        let place = self.out.come_back(sequence)?;
        self.hosts
            .update_counts(place, |counts| counts.out = counts.out.saturating_sub(1));
        Some(place)
    }

    fn touch_all(&mut self) {
        for host in self.hosts.numbers() {
            self.host_groups.touch(host);
        }
    }

    fn wait_after_death(&mut self, floor: Timestamp, pace: impl Fn(Pace) -> Pace) {
        self.hosts.wait_after_death(floor, pace);
        self.state.floor = floor;
        self.touch_all();
    }

    /// Shortens waits after the clock was set back; no wait becomes longer.
    fn set_back(&mut self, now: Timestamp, min_wait: Duration) {
        for (host, by) in self.hosts.set_back(now, min_wait) {
            self.retries.set_back(host, by);
        }
        self.state.floor = self.state.floor.min(now + min_wait);
    }

    fn keep_pace(&mut self, host: u32, pace: Pace) {
        self.hosts.change(host, |host| host.keep_pace(pace));
        self.host_groups.touch(host);
    }

    fn place_of(&mut self, entry: &QueueEntry) -> Place {
        let host = self.hosts.number_of(&entry.discovered.url);
        let rank = Rank::of(&entry.discovered, entry.sequence);
        Place { host, rank }
    }

    /// Quarantines the entries that too many sessions crashed with, and looks up their places if
    /// they are unknown.
    pub(super) fn quarantine(&mut self) -> Result<(), StoreFault> {
        let in_flight = &mut self.state.in_flight;
        if in_flight.quarantined().any(|place| place.is_none()) {
            self.waiting.each(|place| in_flight.note_place(place))?;
        }
        let quarantined = in_flight.quarantined().flatten();
        // A working copy repeats this for hosts that arrive later.
        let new = quarantined.filter(|place| !self.out.holds(place.rank.sequence));
        let new: Vec<Place> = new.collect();
        for place in new {
            // A postponed entry is quarantined when it is due.
            if !self.retries.is_postponed(place) {
                self.wait_again(place);
            }
        }
        Ok(())
    }
}
