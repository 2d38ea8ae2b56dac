//! `crawler skipped`: lists the URLs that a crawl has seen and not visited, with the reasons. Works
//! while the crawl runs.
//!
//! The journal tells of URLs that wait and of those that were left out when they came up. Links
//! that were never queued (out of the scope, shaped like a trap, too deep, not to be followed) are
//! in no journal: the archived pages are read again and judged by the same rules. Each URL is told
//! once, with the first page that leads there.

mod ledger;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crawl::Policy;
use rayon::prelude::*;
use serde::Serialize;
use store::embedded::{History, record::Record, revocations};
use store::{DiscoveredUrl, FinishedVisit, HOSTS_RULE, LeftOut, SkippedBy, VisitRecord};
use web::{CanonicalForm, Document, PageUrl, Scope};

use self::ledger::{Event, Ledger, Skipped};
use super::export::{has_page, read_again};
use crate::args::SkippedArgs;
use crate::cli_error::{CliError, fault};
use crate::output::{self, Format};
use crate::progress::SlowProgress;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::{assembly, control, crawl_directory};

/// Pages that are read at a time: what their links take is in memory.
const BATCH: usize = 64;
/// Pages that could not be read and are named; more are counted.
const NAMED: u64 = 10;

/// A line of the list; the names are those of `--format json`.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    why: &'static str,
    reason: &'a str,
    via: Option<&'a str>,
}

/// Facts from the journal that the ledger does not have.
struct JournalFacts {
    scope: Scope,
    /// Domains with links that were left out for having hosts enough.
    full_domains: HashSet<Box<str>>,
    /// Visits that were told.
    visits: u64,
}

/// Pages of the archive that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0} pages cannot be read from the archive again: their links are missing in the list")]
struct Missing(u64);

pub(crate) fn run(args: &SkippedArgs) -> Result<(), CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    let settings = Settings::of_crawl(&args.directory)?;
    let form = settings.canonical_form();
    let mut ledger = Ledger::new(&args.directory, journal_bytes(&state));
    let facts = read_journal(&state, &settings, &form, &mut ledger)?;
    let mut unread = 0;
    if asks_for_links(args.why, &settings) {
        let pages = Pages {
            policy: assembly::policy(&settings, form),
            archive: crawl_directory::archive(&args.directory),
            facts: &facts,
        };
        unread = pages.add_links(&state, &mut ledger)?;
    }
    write(args, ledger)?;
    match unread {
        0 => Ok(()),
        unread => Err(fault(&Missing(unread))
            .with_remedy("`crawler verify` says what is wrong with the archive")),
    }
}

/// Returns whether this kind may be found on links that were never queued.
fn asks_for_links(why: Option<SkippedBy>, settings: &Settings) -> bool {
    match why {
        Some(SkippedBy::DuplicatesLinks | SkippedBy::Pattern | SkippedBy::Robots) => false,
        Some(SkippedBy::Limit) => settings.max_depth.is_some(),
        None | Some(SkippedBy::Scope | SkippedBy::Trap | SkippedBy::Page | SkippedBy::Other) => {
            true
        }
    }
}

/// Returns the size of a journal; 0 if it is unknown, which only costs memory.
fn journal_bytes(state: &Path) -> u64 {
    let Ok(segments) = std::fs::read_dir(state.join("journal")) else {
        return 0;
    };
    let sizes = segments.filter_map(|segment| Some(segment.ok()?.metadata().ok()?.len()));
    sizes.sum()
}

/// Reads the journal to its end as it stands now.
fn read_journal(
    state: &Path,
    settings: &Settings,
    form: &CanonicalForm,
    ledger: &mut Ledger,
) -> Result<JournalFacts, CliError> {
    let mut scope = assembly::scope(settings)?;
    if let Some(in_force) = control::last_in_force(&settings.out)? {
        scope.exclude_now(in_force.overrides.exclude);
    }
    for seed in &settings.url {
        if let Ok(seed) = PageUrl::parse(seed, form) {
            scope.add_seed(&seed);
        }
    }
    let mut facts = JournalFacts {
        scope,
        full_domains: HashSet::new(),
        visits: 0,
    };
    let mut progress = SlowProgress::new("records");
    for record in History::open(state).map_err(|error| fault(&error))? {
        progress.step();
        facts
            .apply(record.map_err(|error| fault(&error))?, ledger)
            .map_err(|error| fault(&error))?;
    }
    Ok(facts)
}

impl JournalFacts {
    fn apply(&mut self, record: Record, ledger: &mut Ledger) -> io::Result<()> {
        match record {
            Record::Discovered { finds, .. } => self.queued(&finds, ledger),
            Record::Settled(settled) => {
                let FinishedVisit {
                    row,
                    finds,
                    reached,
                    left_out,
                    ..
                } = settled.visit;
                self.visits += 1;
                self.left_out(&left_out);
                self.queued(&finds, ledger)?;
                for url in &reached {
                    ledger.add(Event::Visited, url.key(), None)?;
                }
                self.settled(&row, ledger)
            }
            Record::Revoked {
                entry,
                row,
                reached,
            } => {
                for url in &reached {
                    ledger.add(Event::Unreached, url.key(), None)?;
                }
                if row.requisite > 0 {
                    return Ok(());
                }
                ledger.add(
                    Event::Requeued,
                    row.url.key(),
                    Some(&waiting(&entry.discovered)),
                )
            }
            Record::SeedAdopted { url } => {
                self.scope.add_seed(&url);
                Ok(())
            }
            // Nothing else tells what becomes of a URL.
            _ => Ok(()),
        }
    }

    fn queued(&mut self, finds: &[DiscoveredUrl], ledger: &mut Ledger) -> io::Result<()> {
        for find in finds {
            if find.depth == 0 && find.via.is_none() {
                self.scope.add_seed(&find.url);
            }
            // What a page needs is no page.
            if find.requisite == 0 {
                ledger.add(Event::Queued, find.url.key(), Some(&waiting(find)))?;
            }
        }
        Ok(())
    }

    fn settled(&self, row: &VisitRecord, ledger: &mut Ledger) -> io::Result<()> {
        let Some(kind) = SkippedBy::of(row) else {
            if let Some(url) = &row.final_url {
                ledger.add(Event::Visited, url.key(), None)?;
            }
            return ledger.add(Event::Visited, row.url.key(), None);
        };
        let skipped = Skipped {
            url: row.url.as_str().to_owned(),
            kind: kind as u8,
            reason: row.reason.clone().unwrap_or_default(),
            via: row.via.as_ref().map(ToString::to_string),
        };
        ledger.add(Event::LeftOut, row.url.key(), Some(&skipped))
    }

    fn left_out(&mut self, left_out: &[LeftOut]) {
        for told in left_out.iter().filter(|told| told.rule == HOSTS_RULE) {
            self.full_domains
                .insert(told.example.registrable_domain().into());
        }
    }
}

fn waiting(find: &DiscoveredUrl) -> Skipped {
    Skipped {
        url: find.url.as_str().to_owned(),
        kind: SkippedBy::Limit as u8,
        reason: format!("it waits to be visited, {} links from a seed", find.depth),
        via: find.via.as_ref().map(ToString::to_string),
    }
}

/// The archived pages of a crawl.
struct Pages<'a> {
    policy: Policy,
    archive: PathBuf,
    facts: &'a JournalFacts,
}

impl Pages<'_> {
    /// Adds the links of all pages that the journal told of; returns how many pages could not be
    /// read.
    fn add_links(&self, state: &Path, ledger: &mut Ledger) -> Result<u64, CliError> {
        let mut revoked = revocations(state).map_err(|error| fault(&error))?;
        let (mut batch, mut seen, mut unread) = (Vec::new(), 0, 0);
        let mut progress = SlowProgress::new("pages");
        for record in History::open(state).map_err(|error| fault(&error))? {
            let Record::Settled(settled) = record.map_err(|error| fault(&error))? else {
                continue;
            };
            let row = settled.visit.row;
            // What a crawl that runs visits meanwhile links to what the ledger has not heard of.
            if seen == self.facts.visits {
                break;
            }
            seen += 1;
            progress.step();
            if revoked.take(&row).is_some() || row.requisite > 0 || !has_page(&row) {
                continue;
            }
            batch.push(*row);
            if batch.len() == BATCH {
                unread += self
                    .read(&mut batch, ledger, unread)
                    .map_err(|error| fault(&error))?;
            }
        }
        unread += self
            .read(&mut batch, ledger, unread)
            .map_err(|error| fault(&error))?;
        Ok(unread)
    }

    /// Reads some pages; returns how many of them could not be read.
    fn read(
        &self,
        batch: &mut Vec<VisitRecord>,
        ledger: &mut Ledger,
        before: u64,
    ) -> io::Result<u64> {
        let read: Vec<_> = batch
            .par_drain(..)
            .map(|row| {
                let document = read_again(&self.policy, &self.archive, &row);
                (row, document)
            })
            .collect();
        let mut unread = 0;
        for (row, document) in read {
            match document {
                Ok(document) => self.add_page(&row, &document, ledger)?,
                Err(trouble) => {
                    unread += 1;
                    if before + unread <= NAMED {
                        say(&format!("warning: {}: {}", row.url, printable(&trouble)));
                    }
                }
            }
        }
        Ok(unread)
    }

    fn add_page(
        &self,
        row: &VisitRecord,
        document: &Document,
        ledger: &mut Ledger,
    ) -> io::Result<()> {
        let page = row.final_url.as_ref().unwrap_or(&row.url);
        for link in &document.links {
            if link.kind == web::LinkKind::Requisite {
                continue;
            }
            let scope = &self.facts.scope;
            let ruled = crawl::why_unvisited(&self.policy, scope, page, row.depth, document, link);
            let (kind, reason) = ruled.unwrap_or_else(|| self.not_queued(&link.url));
            let skipped = Skipped {
                url: link.url.as_str().to_owned(),
                kind: kind as u8,
                reason,
                via: Some(page.as_str().to_owned()),
            };
            ledger.add(Event::Linked, link.url.key(), Some(&skipped))?;
        }
        Ok(())
    }

    /// Returns the reason for a link that was not queued although no rule about links excludes it.
    fn not_queued(&self, url: &PageUrl) -> (SkippedBy, String) {
        let domain = url.registrable_domain();
        if self.facts.full_domains.contains(domain) {
            let reason =
                format!("{domain} has as many hosts as are visited (--max-hosts-per-domain)");
            return (SkippedBy::Trap, reason);
        }
        let reason = "it is in scope and was not queued: by the settings of today it would be";
        (SkippedBy::Other, reason.to_owned())
    }
}

/// Writes the list, and how many there are of each kind.
fn write(args: &SkippedArgs, ledger: Ledger) -> Result<(), CliError> {
    let format = Format::or_fitting(args.format);
    let counts = RefCell::new(BTreeMap::<SkippedBy, u64>::new());
    output::to_stdout(|out| {
        ledger.finish(|skipped| {
            let kind = skipped.kind();
            if args.why.is_some_and(|why| why != kind) {
                return Ok(());
            }
            *counts.borrow_mut().entry(kind).or_insert(0) += 1;
            write_line(out, format, kind, &skipped)
        })
    })?;
    let counts = counts.into_inner();
    for (kind, count) in &counts {
        say(&format!("{count:>9}  {kind}"));
    }
    if counts.is_empty() {
        say("nothing that was seen is unvisited");
    }
    Ok(())
}

fn write_line(
    out: &mut dyn Write,
    format: Format,
    kind: SkippedBy,
    skipped: &Skipped,
) -> io::Result<()> {
    let line = Line {
        url: &skipped.url,
        why: kind.as_str(),
        reason: &skipped.reason,
        via: skipped.via.as_deref(),
    };
    match format {
        Format::Json => output::json_line(out, &line),
        Format::Table => {
            write!(
                out,
                "{:>16}  {}  {}",
                line.why,
                printable(line.url),
                printable(line.reason)
            )?;
            match line.via {
                Some(via) => writeln!(out, " (found on {})", printable(via)),
                None => writeln!(out),
            }
        }
    }
}
