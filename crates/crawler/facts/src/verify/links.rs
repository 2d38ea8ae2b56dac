//! Checks the links of archived pages: the journal must know each URL that no rule excludes.
//!
//! The journal contains the links of a page that were new when the page was read. A lost link
//! leaves no trace in it. So the pages are read from the archive again, and their links are judged
//! as in `crawler skipped`: by the scope, traps, nofollow and `--max-depth`. A link that no rule
//! excludes must have been queued, visited, reached by a redirect, or held until the end of a
//! claim.
//!
//! A visit may have begun before a seed widened the scope, so a seed counts only after all visits
//! that were running have ended. Traps depend on the date, and the journal names only one domain
//! with too many hosts per page. So the number of unknown links per page may be up to the number
//! that the crawl excluded by these rules.
//!
//! Not checked: pages whose text is not in this archive (unarchived duplicates, pages of earlier
//! crawls), requisites, entries of sitemaps and feeds, and crawls of several nodes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;

use journal::{DiscoveredUrl, FinishedVisit, ReasonKind, Record, revocations};
use messages::CommandError;
use policy::LinkingPage;
use rayon::prelude::*;
use serde::Serialize;
use settings::Settings;
use settings::read_again::{ArchivedPages, BATCH};
use settings::rules::scope_in_force;
use web::{Document, LinkKind, PageUrl, Scope};

use super::Findings;
use super::journal::Journal;
use crate::journal::records;

/// Counts of links on archived pages.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    /// Links to pages, counted once per page that contains them.
    links_checked: u64,
}

/// A reading of the archived pages.
struct Links<'a> {
    journal: &'a Journal,
    pages: ArchivedPages,
    scope: SettledScope,
    /// Visits whose pages will be read next.
    batch: Vec<FinishedVisit>,
    counts: Counts,
}

/// The scope that all running visits share.
struct SettledScope {
    scope: Scope,
    /// New seeds, each with the number of leases before it.
    coming: VecDeque<(u64, PageUrl)>,
    /// Entries of running visits, each with the number of leases before its own lease.
    in_flight: HashMap<u64, u64>,
    leases: u64,
}

/// Checks the links of the crawl's archived pages against its journal.
pub(super) fn check(
    state: &Path,
    settings: &Settings,
    journal: &Journal,
    findings: &mut Findings,
) -> Result<Counts, CommandError> {
    let scope = scope_in_force(settings, &settings.canonical_form())?;
    let mut links = Links {
        journal,
        pages: ArchivedPages::of(settings),
        scope: SettledScope {
            scope,
            coming: VecDeque::new(),
            in_flight: HashMap::new(),
            leases: 0,
        },
        batch: Vec::new(),
        counts: Counts::default(),
    };
    let mut revoked = revocations(state)?;
    for record in records(state, "records whose links were checked")? {
        let record = record?;
        if links.scope.apply(&record) {
            // The pages in the batch were read with the old scope.
            links.read(findings);
            links.scope.widen();
        }
        if let Record::Settled(settled) = record
            && revoked.take(&settled.visit.record).is_none()
            && settled.visit.record.requisite == 0
            && settled.visit.record.has_page()
        {
            links.batch.push(settled.visit);
        }
        if links.batch.len() >= BATCH {
            links.read(findings);
        }
    }
    links.read(findings);
    Ok(links.counts)
}

impl Links<'_> {
    /// Reads the pages of the batch. An unreadable page is reported as damage of the archive.
    fn read(&mut self, findings: &mut Findings) {
        let batch = std::mem::take(&mut self.batch);
        let read = |visit: FinishedVisit| {
            let page = self.pages.read(&visit.record).ok()?;
            Some((visit, page.document))
        };
        let documents: Vec<_> = batch.into_par_iter().filter_map(read).collect();
        for (visit, document) in documents {
            let page = LinkingPage::of(&visit.record, &self.scope.scope);
            let url = page.url;
            for lost in self.unexplained(&visit, page, &document) {
                findings.add(format!(
                    "{url} links to {lost}, which is in scope but was neither queued nor visited"
                ));
            }
        }
    }

    /// Returns the links of a page that the journal does not know although no rule leaves them out.
    fn unexplained(
        &mut self,
        visit: &FinishedVisit,
        page: LinkingPage<'_>,
        document: &Document,
    ) -> Vec<PageUrl> {
        let (mut unexplained, mut explained) = (Vec::new(), 0);
        let mut once = HashSet::new();
        for link in &document.links {
            let is_page = link.kind != LinkKind::Requisite;
            if !is_page || !once.insert(link.url.key()) {
                continue;
            }
            self.counts.links_checked += 1;
            if self.journal.knows(&link.url) {
                continue;
            }
            let (policy, scope) = (&self.pages.policy, &self.scope.scope);
            match policy::why_unvisited(policy, scope, page, document, link) {
                Some((ReasonKind::Trap, _)) => explained += 1,
                Some(_) => {}
                None if self.journal.has_hosts_enough(&link.url) => explained += 1,
                None => unexplained.push(link.url.clone()),
            }
        }
        let excluded: u64 = visit.excluded.iter().map(|links| links.links).sum();
        let others = usize::try_from(excluded.saturating_sub(explained)).unwrap_or(usize::MAX);
        unexplained.split_off(others.min(unexplained.len()))
    }
}

impl SettledScope {
    /// Applies a record. Returns true if the scope of later visits is wider.
    fn apply(&mut self, record: &Record) -> bool {
        match record {
            Record::Discovered { finds, .. } | Record::Held { finds } => self.seeds(finds),
            Record::SeedAdopted { url } => self.coming.push_back((self.leases, url.clone())),
            Record::Leased { sequences } => {
                let begun = sequences.iter().map(|sequence| (*sequence, self.leases));
                self.in_flight.extend(begun);
                self.leases += 1;
            }
            Record::Settled(settled) => {
                self.in_flight.remove(&settled.sequence);
                self.seeds(&settled.visit.finds);
            }
            Record::Postponed { entry, .. } | Record::Superseded { entry } => {
                self.in_flight.remove(&entry.sequence);
            }
            Record::Returned { sequence, .. } => drop(self.in_flight.remove(sequence)),
            Record::Died { .. } | Record::Stopped => self.in_flight.clear(),
            _ => {}
        }
        let first = self.coming.front();
        first.is_some_and(|(leases, _)| self.in_flight.values().all(|begun| begun >= leases))
    }

    fn seeds(&mut self, finds: &[DiscoveredUrl]) {
        let seeds = finds
            .iter()
            .filter(|found| found.depth == 0 && found.via.is_none());
        let leases = self.leases;
        self.coming
            .extend(seeds.map(|seed| (leases, seed.url.clone())));
    }

    /// Adds the seeds that were known to all running visits when they began.
    fn widen(&mut self) {
        let begun = self.in_flight.values().copied().min();
        while let Some((_, seed)) = self
            .coming
            .pop_front_if(|(leases, _)| begun.is_none_or(|begun| begun >= *leases))
        {
            self.scope.add_seed(&seed);
        }
    }
}
