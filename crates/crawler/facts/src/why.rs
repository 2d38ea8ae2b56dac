//! The rule that decided on a URL, for `crawler why`.
//!
//! Visited and queued URLs are in the journal. For a URL that was never queued, the rules are
//! applied again: links out of scope are not stored individually, because their number is
//! unbounded.

mod cut_pages;
mod topic;

use std::collections::HashSet;
use std::path::Path;

use comparison::{DifferingBlock, PrintedBlock};
use export::VisitRow;
use journal::{
    DiscoveredUrl, Fate, History, LinkCheck, LinkChecks, ReasonKind, Record, Rendered, StoreFault,
    VisitRecord,
};
use messages::{CommandError, counted};
use policy::RenderMode;
use serde::Serialize;
use settings::input::parse_url;
use settings::rules::scope_in_force;
use settings::{Settings, crawl_directory, machine};
use store::{CRASHES_TO_QUARANTINE, DomainCounts};
use web::{CanonicalForm, Host, PageUrl, TrapRules};

use self::cut_pages::CutPages;
pub use self::topic::TopicPart;
use crate::page_history::{OriginalPage, PageHistory};
use crate::pair;
use crate::skipped::down_hosts::DownHosts;
use crate::skipped::waiting_reason;

/// The history of a URL in the journal.
#[derive(Default)]
struct UrlHistory {
    page: PageHistory,
    /// The page whose redirect reached it.
    reached_from: Option<PageUrl>,
    queued: Option<DiscoveredUrl>,
    /// Its sequence number in the queue, and the number of sessions that crashed while visiting it.
    sequence: Option<u64>,
    crashes: u32,
    postponed: Option<u32>,
    /// The reason why it waits, if its host is down.
    waits_for_host: Option<String>,
    adopted: Vec<PageUrl>,
    /// The rule that classified it as a trap, if a page names it as the example.
    excluded_by: Option<String>,
    /// Hosts of its domain with queued URLs.
    hosts: HashSet<Host>,
    /// The pages that a limit cut, which may link to it.
    cut_pages: CutPages,
}

/// The rule that decided on a URL, and what is known about the URL.
pub struct Explanation {
    /// The URL.
    pub url: PageUrl,
    /// `unique`, `exact-duplicate`, … as in the export; `redirect-target`, `queued` or
    /// `not-queued`.
    pub verdict: &'static str,
    /// The reason in words.
    pub reason: String,
    /// The visit, if the URL was visited.
    pub visit: Option<VisitRecord>,
    /// The visit of the page that it repeats.
    pub original: Option<VisitRecord>,
    /// The check of its link, if it leaves the scope and was checked.
    pub link_check: Option<LinkCheck>,
    /// The topic's part, in a crawl with a topic.
    pub topic: Option<TopicPart>,
    /// The differing blocks of a near duplicate and its original; `None` unless both texts are
    /// known.
    pub blocks: Option<Vec<DifferingBlock>>,
}

/// An explanation as `--format json` prints it.
#[derive(Serialize)]
pub struct Answer<'a> {
    /// The URL.
    pub url: &'a str,
    /// See [`Explanation::verdict`].
    pub verdict: &'static str,
    /// The reason in words.
    pub reason: &'a str,
    /// The check of its link, if it leaves the scope and was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_check: Option<&'a LinkCheck>,
    /// The page's canonical URL, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<&'a str>,
    /// The topic's part, in a crawl with a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<&'a TopicPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<VisitRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original: Option<VisitRow<'a>>,
    /// The differing blocks of a near duplicate and its original, as in `duplicates --diff`; absent
    /// unless both texts are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<PrintedBlock>>,
}

impl Explanation {
    /// Returns the explanation for output.
    pub fn answer(&self) -> Answer<'_> {
        let visit = self.visit.as_ref();
        let blocks = self.blocks.as_deref();
        Answer {
            url: self.url.as_str(),
            verdict: self.verdict,
            reason: &self.reason,
            link_check: self.link_check.as_ref(),
            canonical: visit.and_then(|visit| Some(visit.canonical.as_ref()?.as_str())),
            topic: self.topic.as_ref(),
            page: visit.map(VisitRow),
            original: self.original.as_ref().map(VisitRow),
            blocks: blocks.map(PrintedBlock::with_original_first),
        }
    }

    /// Explains which rule of the crawl in `directory` decided on a URL.
    pub fn of(directory: &Path, url: &str) -> Result<Self, CommandError> {
        let state = crawl_directory::state_of(directory)?;
        let settings = Settings::of_crawl(directory)?;
        let form = settings.canonical_form();
        let url = parse_url(url, &form)?;
        let history = UrlHistory::of(&url, &state)?;
        let (verdict, reason) = history.explain(&url, &settings, &form)?;
        let topic = history.topic_part(&settings)?;
        let page = history.page;
        let original = match &page.visit {
            Some(visit) => OriginalPage::of(visit, directory, &settings)?,
            None => None,
        };
        let blocks = match &page.visit {
            Some(visit) if visit.fate == Fate::NearDuplicate => {
                let pair = pair::between(visit, &page, original.as_ref(), &settings)?;
                pair.and_then(|pair| pair.blocks)
            }
            _ => None,
        };
        Ok(Self {
            verdict,
            reason,
            link_check: link_check(directory, &url)?,
            topic,
            visit: page.visit,
            original: original.and_then(|original| original.history.visit),
            blocks,
            url,
        })
    }
}

/// Explains which rule decided on a URL: the verdict, and the reason.
pub fn explain(directory: &Path, url: &str) -> Result<(&'static str, String), CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let settings = Settings::of_crawl(directory)?;
    let form = settings.canonical_form();
    let url = parse_url(url, &form)?;
    let (verdict, mut reason) = UrlHistory::of(&url, &state)?.explain(&url, &settings, &form)?;
    if let Some(check) = link_check(directory, &url)? {
        reason.push_str(&format!("; its link was {check}"));
    }
    Ok((verdict, reason))
}

/// Returns the last check of the link to a URL.
fn link_check(directory: &Path, url: &PageUrl) -> Result<Option<LinkCheck>, CommandError> {
    let mut last = None;
    for check in LinkChecks::open(directory)? {
        let check = check?;
        if check.url == *url {
            last = Some(check);
        }
    }
    Ok(last)
}

impl UrlHistory {
    /// Reads the history of a URL from the journal of the store in `state`.
    fn of(url: &PageUrl, state: &Path) -> Result<Self, StoreFault> {
        let mut history = Self::default();
        for record in History::open(state)? {
            history.apply(record?, url);
        }
        if history.page.visit.is_none() && history.queued.is_some() {
            history.waits_for_host = DownHosts::read(state)?.explain(url);
        }
        Ok(history)
    }

    fn apply(&mut self, record: Record, url: &PageUrl) {
        self.page.apply(&record, url);
        match record {
            Record::Discovered { first, finds } => self.apply_discovered(first, finds, url),
            Record::Held { finds } => {
                let own = finds.into_iter().find(|found| found.url == *url);
                self.queued = own.or(self.queued.take());
            }
            Record::Died { sequences }
                if self.sequence.is_some_and(|own| sequences.contains(&own)) =>
            {
                self.crashes += 1;
            }
            Record::Revoked { entry, visit, .. } if visit.url == *url => {
                self.cut_pages.remove(&visit);
                self.queued = Some(entry.discovered);
                self.sequence = Some(entry.sequence);
            }
            Record::Postponed { entry, .. } if entry.discovered.url == *url => {
                self.postponed = Some(entry.attempts);
            }
            Record::Settled(settled) => {
                let visit = settled.visit;
                let mut excluded = visit.excluded.into_iter();
                if let Some(links) = excluded.find(|links| links.example == *url) {
                    self.excluded_by = Some(links.rule);
                }
                self.cut_pages.add(&visit.record);
                self.apply_discovered(settled.first, visit.finds, url);
                if visit.reached.contains(url) {
                    self.reached_from = Some(visit.record.url.clone());
                }
            }
            Record::SeedAdopted { url } => self.adopted.push(url),
            // No other record is about a single URL.
            _ => {}
        }
    }

    fn apply_discovered(&mut self, first: u64, discovered: Vec<DiscoveredUrl>, url: &PageUrl) {
        let domain = url.registrable_domain();
        let urls = discovered.iter().map(|page| &page.url);
        let of_domain = urls.filter(|found| found.registrable_domain() == domain);
        self.hosts.extend(of_domain.map(PageUrl::host));
        let mut entries = (first..).zip(discovered);
        if let Some((sequence, page)) = entries.find(|(_, page)| page.url == *url) {
            self.queued = Some(page);
            self.sequence = Some(sequence);
        }
    }

    /// Returns the topic's part in the decision; `None` in a crawl without a topic.
    fn topic_part(&self, settings: &Settings) -> Result<Option<TopicPart>, CommandError> {
        match (&self.page.visit, &self.queued) {
            (Some(visit), _) => Ok(TopicPart::of_page(settings, visit)),
            (None, Some(found)) => TopicPart::of_link(settings, found),
            (None, None) => Ok(None),
        }
    }

    fn explain(
        &self,
        url: &PageUrl,
        settings: &Settings,
        form: &CanonicalForm,
    ) -> Result<(&'static str, String), CommandError> {
        if let Some(visit) = &self.page.visit {
            let kept = || "its content is new, and was archived".to_owned();
            let mut reason = visit.reason_text().unwrap_or_else(kept);
            if let Some(clause) = clause_about_scripts(visit, settings) {
                reason.push_str(&clause);
            }
            reason.push_str(&clause_about_hops(visit.details.off_scope));
            if let Some(preferences) = visit.details.preferences {
                reason.push_str(&format!("; its owner's preferences: {preferences}"));
            }
            if let Some(kind) = visit.details.unread {
                reason.push_str(&format!("; its text is not read: {}", kind.reason()));
            }
            if let (Some(ReasonKind::DuplicateLinks), Some(via)) =
                (ReasonKind::of(visit), &visit.via)
            {
                reason.push_str(&format!(
                    "; linked from {via}, a duplicate that was not archived"
                ));
            }
            return Ok((visit.fate.as_str(), reason));
        }
        if let Some(from) = &self.reached_from {
            return Ok((
                "redirect-target",
                format!("redirected from {from}; see that URL"),
            ));
        }
        if let Some(found) = &self.queued {
            return Ok(("queued", self.explain_queued(found)));
        }
        let reason = self.explain_absence(url, settings, form)?;
        Ok(("not-queued", reason))
    }

    /// Returns the reason why a URL still waits.
    fn explain_queued(&self, found: &DiscoveredUrl) -> String {
        let DiscoveredUrl { depth, via, .. } = found;
        let waits = self.waits_for_host.clone();
        let mut reason = waits.unwrap_or_else(|| waiting_reason(*depth));
        if let Some(via) = via {
            reason.push_str(&format!(", found on {via}"));
        }
        reason.push_str(&clause_about_hops(found.off_scope));
        if let Some(attempts) = self.postponed {
            let times = counted(attempts.into(), "time");
            reason.push_str(&format!("; it failed {times} and will be retried"));
        }
        if self.crashes >= CRASHES_TO_QUARANTINE {
            reason.push_str(&format!(
                "; it is quarantined, because {} runs crashed while visiting it: it will be \
                 visited alone, when nothing else is left",
                self.crashes
            ));
        }
        reason
    }

    /// Returns the rule that kept a URL out of the queue.
    fn explain_absence(
        &self,
        url: &PageUrl,
        settings: &Settings,
        form: &CanonicalForm,
    ) -> Result<String, CommandError> {
        let mut scope = scope_in_force(settings, form)?;
        for seed in &self.adopted {
            scope.add_seed(seed);
        }
        let unlinked = || {
            "it is in scope, but no page that was read links to it (apart from nofollow and \
             --max-depth)"
                .to_owned()
        };
        Ok(match scope.judge(url) {
            Err(rule) if settings.extra_hops == 0 || rule.is_exclusion() => rule.to_string(),
            Err(rule) => format!(
                "{rule}, and no page that was read within --extra-hops {} links to it",
                settings.extra_hops
            ),
            Ok(()) => self
                .trap(url, settings)
                .or_else(|| self.cut_pages.explain(url, settings))
                .unwrap_or_else(unlinked),
        })
    }

    /// Returns the trap rule that keeps the URL out.
    fn trap(&self, url: &PageUrl, settings: &Settings) -> Option<String> {
        let max = settings.max_hosts_per_domain;
        let mut domains = DomainCounts::default();
        self.hosts.iter().for_each(|host| domains.add(host));
        if !self.hosts.contains(&url.host()) && !domains.has_room(&url.host(), max) {
            let domain = url.registrable_domain();
            return Some(format!(
                "{domain} has reached --max-hosts-per-domain {max} (hosts below one of its names \
                 get at most half of the remaining number)"
            ));
        }
        if !settings.traps.is_on() {
            return None;
        }
        let by_shape = TrapRules::at(machine::clock().now()).judge(url, None);
        let as_link = |rule| format!("its link was classified as a trap (trap rule {rule})");
        by_shape
            .map(|trap| trap.to_string())
            .or_else(|| self.excluded_by.as_ref().map(as_link))
    }
}

/// Returns the clause about the distance of a page from the scope; empty for a page in scope.
fn clause_about_hops(off_scope: u8) -> String {
    match off_scope {
        0 => String::new(),
        1 => "; it is one hop off the scope (--extra-hops)".to_owned(),
        hops => format!("; it is {hops} hops off the scope (--extra-hops)"),
    }
}

/// Returns the clause about the scripts of a page; `None` if they make no difference.
fn clause_about_scripts(visit: &VisitRecord, settings: &Settings) -> Option<String> {
    match &visit.details.rendered {
        Some(Rendered::Dom { adds, .. }) => {
            let result = "; rendered: its scripts were run, and the verdict is about the DOM";
            Some(match adds {
                true => result.to_owned(),
                false => format!("{result}, which says what the page as received says"),
            })
        }
        Some(Rendered::Failed(reason)) => Some(format!("; its scripts could not be run: {reason}")),
        None if visit.details.needs_scripts => {
            Some("; without scripts, which are not run, it has next to no text".to_owned())
        }
        None => {
            let mode = settings.render_rules().mode_of(&visit.url);
            let is_asked = mode == RenderMode::Shells && visit.has_page();
            is_asked.then(|| {
                "; no scripts were run: it has none, or those of its URL pattern brought next to \
                 nothing (see `crawler patterns`)"
                    .to_owned()
            })
        }
    }
}
