//! `crawler why`: explains which rule decided on a URL.
//!
//! Visited and queued URLs are in the journal. For a URL that was never queued, the rules are
//! applied again: links out of scope are not stored one by one, because there can be any number of
//! them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use export::VisitRow;
use serde::Serialize;
use store::embedded::{EmbeddedStore, History, record::Record};
use store::{FinishedVisit, STRIKES_ASIDE, SkippedBy, VisitRecord};
use web::{CanonicalForm, Host, PageUrl, TrapRules};

use crate::args::WhyArgs;
use crate::cli_error::{CliError, fault, usage};
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::{assembly, control, crawl_directory, machine};

/// The history of a URL in the journal.
#[derive(Default)]
struct UrlHistory {
    row: Option<VisitRecord>,
    /// The page whose redirect reached it.
    reached_from: Option<PageUrl>,
    queued: Option<(u32, Option<PageUrl>)>,
    /// The number of its place in the queue, and how many sessions died while they visited it.
    place: Option<u64>,
    deaths: u32,
    postponed: Option<u32>,
    original: Option<VisitRecord>,
    adopted: Vec<PageUrl>,
    /// The rule that took it for a trap on a page, which told it as its example.
    left_out: Option<String>,
    /// Hosts of its domain that URLs were queued of.
    hosts: HashSet<Host>,
}

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
    /// `unique`, `exact-duplicate`, … as in the export; `redirect-target`, `queued` or
    /// `not-queued`.
    verdict: &'static str,
    reason: String,
    /// The page's canonical URL, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    canonical: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<VisitRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<VisitRow<'a>>,
}

pub(crate) fn run(args: &WhyArgs) -> Result<(), CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    let settings = Settings::of_crawl(&args.directory)?;
    let form = settings.canonical_form();
    let url = PageUrl::parse(&args.url, &form)
        .map_err(|error| usage(format!("{:?}: {error}", args.url)))?;

    let mut history = UrlHistory::default();
    for record in History::open(&state).map_err(|error| fault(&error))? {
        history.apply(record.map_err(|error| fault(&error))?, &url);
    }
    if let Some(row) = history.row.clone().filter(|row| row.duplicate_of.is_some()) {
        history.original = original_of(&row, &state, &settings)?;
    }
    let (verdict, reason) = history.explain(&url, &settings, &form)?;
    let answer = Answer {
        url: url.as_str(),
        verdict,
        reason,
        canonical: history
            .row
            .as_ref()
            .and_then(|row| Some(row.canonical.as_ref()?.as_str())),
        page: history.row.as_ref().map(VisitRow),
        original: history.original.as_ref().map(VisitRow),
    };
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &answer),
        Format::Table => output::columns(out, &lines(&answer, &history)),
    })
}

/// Returns the visit of the original; none if an earlier crawl that had it is gone.
fn original_of(
    row: &VisitRecord,
    state: &Path,
    settings: &Settings,
) -> Result<Option<VisitRecord>, CliError> {
    let earlier = || {
        settings
            .against
            .iter()
            .map(|directory| crawl_directory::state(directory))
    };
    let places: Vec<PathBuf> = if row.of_earlier {
        earlier()
            .filter(|state| EmbeddedStore::exists(state))
            .collect()
    } else {
        vec![state.to_owned()]
    };
    let mut found = None;
    for place in places {
        for told in store::embedded::rows(&place).map_err(|error| fault(&error))? {
            let told = told.map_err(|error| fault(&error))?;
            if told.kept && Some(&told.url) == row.duplicate_of.as_ref() {
                found = Some(told);
            }
        }
    }
    Ok(found)
}

impl UrlHistory {
    fn apply(&mut self, record: Record, url: &PageUrl) {
        match record {
            Record::Discovered { first, finds } => self.apply_discovered(first, finds, url),
            Record::Died { sequences }
                if self.place.is_some_and(|place| sequences.contains(&place)) =>
            {
                self.deaths += 1;
            }
            Record::Revoked { entry, row, .. } if row.url == *url => {
                self.row = None;
                self.queued = Some((entry.discovered.depth, entry.discovered.via));
                self.place = Some(entry.sequence);
            }
            Record::Postponed { entry, .. } if entry.discovered.url == *url => {
                self.postponed = Some(entry.attempts);
            }
            Record::Settled(settled) => {
                let FinishedVisit {
                    row,
                    finds,
                    reached,
                    left_out,
                    ..
                } = settled.visit;
                if let Some(told) = left_out.into_iter().find(|told| told.example == *url) {
                    self.left_out = Some(told.rule);
                }
                self.apply_discovered(settled.first, finds, url);
                if reached.contains(url) {
                    self.reached_from = Some(row.url.clone());
                }
                if row.url == *url {
                    self.row = Some(*row);
                }
            }
            Record::SeedAdopted { url } => self.adopted.push(url),
            Record::Revoked { entry, .. } if entry.discovered.url == *url => {
                self.row = None;
                self.queued = Some((entry.discovered.depth, entry.discovered.via));
            }
            // Nothing else tells of a place in the queue.
            _ => {}
        }
    }

    fn apply_discovered(&mut self, first: u64, finds: Vec<store::DiscoveredUrl>, url: &PageUrl) {
        let domain = url.registrable_domain();
        let akin = finds
            .iter()
            .filter(|find| find.url.registrable_domain() == domain);
        self.hosts.extend(akin.map(|find| find.url.host()));
        let mut places = (first..).zip(finds);
        if let Some((place, find)) = places.find(|(_, find)| find.url == *url) {
            self.queued = Some((find.depth, find.via));
            self.place = Some(place);
        }
    }

    fn explain(
        &self,
        url: &PageUrl,
        settings: &Settings,
        form: &CanonicalForm,
    ) -> Result<(&'static str, String), CliError> {
        if let Some(row) = &self.row {
            let kept = || "it says something new, and was kept".to_owned();
            let mut reason = row.reason.clone().unwrap_or_else(kept);
            if let (Some(SkippedBy::DuplicatesLinks), Some(via)) = (SkippedBy::of(row), &row.via) {
                reason.push_str(&format!(
                    "; {via} links to it, which was left out as a duplicate"
                ));
            }
            return Ok((row.fate.as_str(), reason));
        }
        if let Some(from) = &self.reached_from {
            return Ok((
                "redirect-target",
                format!("it was reached from {from}, and is told under that URL"),
            ));
        }
        if let Some((depth, via)) = &self.queued {
            let tried = self
                .postponed
                .map(|attempts| format!("; it failed {attempts} times and will be tried again"));
            let set_aside = (self.deaths >= STRIKES_ASIDE).then(|| {
                format!(
                    "; it is set aside, because {} sessions died while they visited it: it is \
                     visited when nothing else can be, alone",
                    self.deaths
                )
            });
            let reason = format!(
                "it waits to be visited, {depth} links from a seed{}{}{}",
                via.as_ref()
                    .map_or_else(String::new, |via| format!(", found on {via}")),
                tried.unwrap_or_default(),
                set_aside.unwrap_or_default()
            );
            return Ok(("queued", reason));
        }
        let mut scope = assembly::scope(settings)?;
        if let Some(in_force) = control::last_in_force(&settings.out)? {
            scope.exclude_now(in_force.overrides.exclude);
        }
        let seeds = settings
            .url
            .iter()
            .filter_map(|seed| PageUrl::parse(seed, form).ok());
        for seed in seeds.chain(self.adopted.iter().cloned()) {
            scope.add_seed(&seed);
        }
        let unlinked = || {
            "it is in scope, but no page that was read links to it (nofollow and --max-depth aside)"
                .to_owned()
        };
        let reason = match scope.judge(url) {
            Err(out_of_scope) => out_of_scope.to_string(),
            Ok(()) => self.trap(url, settings).unwrap_or_else(unlinked),
        };
        Ok(("not-queued", reason))
    }
}

impl UrlHistory {
    /// Returns the trap rule that keeps the URL out.
    fn trap(&self, url: &PageUrl, settings: &Settings) -> Option<String> {
        let max = settings.max_hosts_per_domain;
        if !self.hosts.contains(&url.host()) && self.hosts.len() >= max as usize {
            let domain = url.registrable_domain();
            return Some(format!(
                "{domain} has {max} hosts already that are visited (--max-hosts-per-domain)"
            ));
        }
        if !settings.traps.is_on() {
            return None;
        }
        let by_shape = TrapRules::at(machine::clock().now()).judge(url, None);
        let told = |rule: &String| format!("as a link it was taken for a trap (trap rule {rule})");
        by_shape
            .map(|trap| trap.to_string())
            .or_else(|| self.left_out.as_ref().map(told))
    }
}

fn lines(answer: &Answer<'_>, history: &UrlHistory) -> Vec<(&'static str, Option<String>)> {
    let row = history.row.as_ref();
    let title = |row: Option<&VisitRecord>| row.and_then(|row| row.title.clone());
    let place = |row: Option<&VisitRecord>| {
        row.and_then(|row| {
            Some(format!(
                "{} at {}",
                row.warc_file.as_ref()?,
                row.warc_offset?
            ))
        })
    };
    vec![
        ("url", Some(answer.url.to_owned())),
        ("verdict", Some(answer.verdict.to_owned())),
        ("reason", Some(answer.reason.clone())),
        ("canonical", answer.canonical.map(str::to_owned)),
        ("title", title(row)),
        (
            "status",
            row.and_then(|row| row.status)
                .map(|status| status.to_string()),
        ),
        (
            "final url",
            row.and_then(|row| row.final_url.as_ref())
                .map(ToString::to_string),
        ),
        (
            "found on",
            row.and_then(|row| row.via.as_ref())
                .map(ToString::to_string),
        ),
        ("fetched", row.map(|row| row.fetched_at.to_string())),
        (
            "fingerprint",
            row.and_then(|row| row.fingerprint)
                .map(|fingerprint| fingerprint.to_string()),
        ),
        ("archived", place(row)),
        (
            "original",
            row.and_then(|row| row.duplicate_of.as_ref())
                .map(ToString::to_string),
        ),
        ("its title", title(history.original.as_ref())),
        (
            "its fingerprint",
            history
                .original
                .as_ref()
                .and_then(|row| row.fingerprint)
                .map(|fingerprint| fingerprint.to_string()),
        ),
        ("it is archived", place(history.original.as_ref())),
    ]
}
