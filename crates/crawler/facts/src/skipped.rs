//! The URLs that a crawl has seen and not visited, with the reasons, for `crawler skipped`. Works
//! while the crawl runs.
//!
//! The journal contains URLs that wait, and URLs that were excluded when their turn came. It does
//! not contain links that were never queued (out of scope, shaped like a trap, too deep, not
//! followed). To find these, the archived pages are read again and judged by the same rules. Each
//! URL is listed once, with the first page that links to it.

pub(crate) mod beyond_limits;
pub(crate) mod down_hosts;
mod ledger;

use std::collections::HashSet;
use std::io;
use std::path::Path;

use journal::{DiscoveredUrl, ExcludedLinks, ReasonKind, Record, Totals, VisitRecord};
use messages::{CommandError, SlowProgress, counted, fault};
use policy::LinkingPage;
use settings::read_again::{ArchivedPages, BATCH};
use settings::rules::scope_in_force;
use settings::{Settings, crawl_directory};
use store::HOSTS_RULE;
use web::{CanonicalForm, Document, PageUrl, Scope};

use self::down_hosts::DownHosts;
use self::ledger::{Event, Ledger};
pub use self::ledger::{Line, Skipped};
use crate::journal::{records, visits};

/// Facts from the journal that the ledger does not have.
struct JournalFacts {
    scope: Scope,
    /// Domains whose further hosts were excluded because of the limit on hosts per domain.
    full_domains: HashSet<Box<str>>,
    /// Sums over the visits, with the limits that cut them.
    totals: Totals,
    /// The number of visits in the journal.
    visits: u64,
}

/// Facts about waiting URLs, known once the whole journal is read.
struct WaitingUrls {
    down: DownHosts,
    form: CanonicalForm,
}

impl WaitingUrls {
    /// Replaces the reason of a URL that waits for a host that is down: no limit holds it back.
    fn explain(&self, skipped: Skipped) -> Skipped {
        if !skipped.waits {
            return skipped;
        }
        let url = PageUrl::parse(&skipped.url, &self.form).ok();
        match url.and_then(|url| self.down.explain(&url)) {
            Some(reason) => Skipped {
                kind: ReasonKind::Other as u8,
                reason,
                ..skipped
            },
            None => skipped,
        }
    }
}

/// The URLs that a crawl has seen and not visited.
pub struct Unvisited {
    /// The URLs.
    pub urls: UnvisitedUrls,
    /// What the list lacks.
    pub gaps: Gaps,
}

/// The list of URLs.
pub struct UnvisitedUrls {
    ledger: Ledger,
    waiting: WaitingUrls,
}

/// What a list lacks: links that limits cut, and pages that cannot be read.
pub struct Gaps {
    totals: Totals,
    pages: ArchivedPages,
}

impl Unvisited {
    /// Reads the journal of the crawl in `directory`, and its archive if `why` needs it.
    pub fn read(directory: &Path, why: Option<ReasonKind>) -> Result<Self, CommandError> {
        let state = crawl_directory::state_of(directory)?;
        let settings = Settings::of_crawl(directory)?;
        let mut ledger = Ledger::new(directory, journal_bytes(&state));
        let mut facts = JournalFacts {
            scope: scope_in_force(&settings, &settings.canonical_form())?,
            full_domains: HashSet::new(),
            totals: Totals::default(),
            visits: 0,
        };
        for record in records(&state, "records")? {
            facts
                .apply(record?, &mut ledger)
                .map_err(|error| fault(&error))?;
        }
        let pages = beyond_limits::pages(&settings);
        if asks_for_links(why, &settings) {
            facts.add_links(&state, &pages, &mut ledger)?;
        }
        let waiting = WaitingUrls {
            down: DownHosts::read(&state)?,
            form: settings.canonical_form(),
        };
        let totals = facts.totals;
        Ok(Self {
            urls: UnvisitedUrls { ledger, waiting },
            gaps: Gaps { totals, pages },
        })
    }
}

impl UnvisitedUrls {
    /// Calls `give` with each URL, in the order of the list.
    pub fn each(self, mut give: impl FnMut(Skipped) -> io::Result<()>) -> io::Result<()> {
        let waiting = self.waiting;
        self.ledger.finish(|skipped| give(waiting.explain(skipped)))
    }
}

impl Gaps {
    /// Returns an error that names `consequence` if pages cannot be read.
    pub fn check_unread(&self, consequence: &'static str) -> Result<(), CommandError> {
        self.pages.check_unread(consequence)
    }

    /// Warns about links that limits cut, and refuses pages that cannot be read.
    pub fn check(&self) -> Result<(), CommandError> {
        beyond_limits::say_cuts(&self.totals);
        self.check_unread("their links are missing from the list")
    }
}

/// Returns true if links that were never queued can be of this kind.
fn asks_for_links(why: Option<ReasonKind>, settings: &Settings) -> bool {
    match why {
        Some(ReasonKind::DuplicateLinks | ReasonKind::Pattern | ReasonKind::Robots) => false,
        Some(ReasonKind::Limit) => settings.depth_limits().highest().is_some(),
        None
        | Some(
            ReasonKind::Scope
            | ReasonKind::Trap
            | ReasonKind::Page
            | ReasonKind::Other
            | ReasonKind::Cut,
        ) => true,
    }
}

/// Returns the size of a journal, or 0 if unknown, which only costs memory.
fn journal_bytes(state: &Path) -> u64 {
    let Ok(segments) = std::fs::read_dir(state.join("journal")) else {
        return 0;
    };
    let sizes = segments.filter_map(|segment| Some(segment.ok()?.metadata().ok()?.len()));
    sizes.sum()
}

impl JournalFacts {
    fn apply(&mut self, record: Record, ledger: &mut Ledger) -> io::Result<()> {
        match record {
            Record::Discovered { finds, .. } | Record::Held { finds } => {
                self.queued(&finds, ledger)
            }
            Record::Settled(settled) => {
                let visit = settled.visit;
                self.visits += 1;
                self.totals.count(&visit.record);
                self.excluded(&visit.excluded);
                self.queued(&visit.finds, ledger)?;
                for url in &visit.reached {
                    ledger.add(Event::Visited, url.key(), None)?;
                }
                settle(&visit.record, ledger)
            }
            Record::Revoked {
                entry,
                visit,
                reached,
            } => {
                self.totals.uncount(&visit);
                for url in &reached {
                    ledger.add(Event::Unreached, url.key(), None)?;
                }
                if visit.requisite > 0 {
                    return Ok(());
                }
                let skipped = waiting(&entry.discovered);
                ledger.add(Event::Requeued, visit.url.key(), Some(&skipped))
            }
            Record::SeedAdopted { url } => {
                self.scope.add_seed(&url);
                Ok(())
            }
            // No other record decides on a URL.
            _ => Ok(()),
        }
    }

    fn queued(&mut self, finds: &[DiscoveredUrl], ledger: &mut Ledger) -> io::Result<()> {
        for find in finds {
            if find.depth == 0 && find.via.is_none() {
                self.scope.add_seed(&find.url);
            }
            // A requisite is not a page.
            if find.requisite == 0 {
                ledger.add(Event::Queued, find.url.key(), Some(&waiting(find)))?;
            }
        }
        Ok(())
    }

    fn excluded(&mut self, excluded: &[ExcludedLinks]) {
        let full = excluded.iter().filter(|links| links.rule == HOSTS_RULE);
        let domains = full.map(|links| links.example.registrable_domain().into());
        self.full_domains.extend(domains);
    }

    /// Adds the links of all pages that were in the journal when it was first read.
    fn add_links(
        &self,
        state: &Path,
        pages: &ArchivedPages,
        ledger: &mut Ledger,
    ) -> Result<(), CommandError> {
        let mut progress = SlowProgress::new("pages");
        let mut batch = Vec::new();
        // The ledger does not know the pages that a running crawl visits meanwhile.
        for visit in visits(state)?.take(self.visits as usize) {
            let (visit, revocation) = visit?;
            progress.step();
            if revocation.is_none() && visit.record.requisite == 0 {
                batch.push(*visit.record);
            }
            if batch.len() == BATCH {
                self.read(&mut batch, pages, ledger)?;
            }
        }
        self.read(&mut batch, pages, ledger)
    }

    fn read(
        &self,
        batch: &mut Vec<VisitRecord>,
        pages: &ArchivedPages,
        ledger: &mut Ledger,
    ) -> Result<(), CommandError> {
        let add = |visit: VisitRecord, document: Option<Document>| match document {
            Some(document) => self.add_page(&visit, &document, pages, ledger),
            None => Ok(()),
        };
        let read = pages.read_all(batch, |visit| visit, add);
        read.map_err(|error| fault(&error))
    }

    fn add_page(
        &self,
        visit: &VisitRecord,
        document: &Document,
        pages: &ArchivedPages,
        ledger: &mut Ledger,
    ) -> io::Result<()> {
        let (policy, scope) = (&pages.policy, &self.scope);
        let page = LinkingPage::of(visit, scope);
        let mut read = beyond_limits::ReadLinks::default();
        for link in &document.links {
            let is_read = read.has(link.kind);
            if link.kind == web::LinkKind::Requisite {
                continue;
            }
            let ruled = policy::why_unvisited(policy, scope, page, document, link);
            let ruled = ruled.or_else(|| (!is_read).then(|| beyond_limits::reason(page.url)));
            let (kind, reason) = ruled.unwrap_or_else(|| self.not_queued(&link.url));
            let skipped = Skipped {
                url: link.url.as_str().to_owned(),
                kind: kind as u8,
                reason,
                via: Some(page.url.as_str().to_owned()),
                waits: false,
                written: written(&link.url),
            };
            ledger.add(Event::Linked, link.url.key(), Some(&skipped))?;
        }
        Ok(())
    }

    /// Returns the reason for a link that was not queued although no rule about links excludes it.
    fn not_queued(&self, url: &PageUrl) -> (ReasonKind, String) {
        let domain = url.registrable_domain();
        if self.full_domains.contains(domain) {
            let reason = format!("{domain} has reached --max-hosts-per-domain");
            return (ReasonKind::Trap, reason);
        }
        let reason = "it is in scope but was not queued: with the current settings it would be";
        (ReasonKind::Other, reason.to_owned())
    }
}

fn settle(visit: &VisitRecord, ledger: &mut Ledger) -> io::Result<()> {
    let Some(kind) = ReasonKind::of(visit) else {
        if let Some(url) = &visit.final_url {
            ledger.add(Event::Visited, url.key(), None)?;
        }
        return ledger.add(Event::Visited, visit.url.key(), None);
    };
    let skipped = Skipped {
        url: visit.url.as_str().to_owned(),
        kind: kind as u8,
        reason: visit.reason_text().unwrap_or_default(),
        via: visit.via.as_ref().map(ToString::to_string),
        waits: false,
        written: written(&visit.url),
    };
    ledger.add(Event::Excluded, visit.url.key(), Some(&skipped))
}

/// Returns the stored form of a URL whose page wrote it in another way than canonical.
fn written(url: &PageUrl) -> Option<String> {
    let is_other = url.is_spelled_otherwise();
    is_other.then(|| url.to_stored().into_owned())
}

fn waiting(find: &DiscoveredUrl) -> Skipped {
    Skipped {
        url: find.url.as_str().to_owned(),
        kind: ReasonKind::Limit as u8,
        reason: waiting_reason(find.depth),
        via: find.via.as_ref().map(ToString::to_string),
        waits: true,
        written: None,
    }
}

/// Returns the reason of a waiting URL that is `depth` links from a seed.
pub(crate) fn waiting_reason(depth: u32) -> String {
    let links = counted(depth.into(), "link");
    format!("still queued, {links} from a seed")
}
