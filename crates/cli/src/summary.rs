//! The summary at the end of a crawl.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytesize::ByteSize;
use crawl::{Counts, CrawlContext, Focus, Policy, RECENT_PAGES, Requisites, Responses, Telemetry};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use store::{CutSum, SkippedBy, Standing};

use crate::limits;
use crate::output::counted;
use crate::terminal::printable;

/// The summary; the names are the contract of `--summary json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The reason for the end: `exhausted`, `max-pages`, `max-time`, `max-size`, `min-harvest`,
    /// `interrupted` or `fault`.
    pub(crate) finished: &'static str,
    pub(crate) pages: u64,
    pub(crate) unique: u64,
    /// New versions of pages that an earlier crawl archived (`--since`, `--against`); `unique` does
    /// not count them.
    pub(crate) changed: u64,
    pub(crate) exact_duplicates: u64,
    pub(crate) near_duplicates: u64,
    pub(crate) failed: u64,
    pub(crate) excluded: u64,
    /// Pages off topic; none without a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) off_topic: Option<u64>,
    /// The share of pages on topic among those that were judged by it, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) harvest: Option<f64>,
    /// The same of the last 500 pages of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recent_harvest: Option<f64>,
    pub(crate) bytes: u64,
    pub(crate) hosts: u64,
    /// Requisites that were fetched; none if the crawl fetches no requisites. Of the counts above,
    /// only the bytes include them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requisites: Option<u64>,
    /// Requisites that could not be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requisites_missing: Option<u64>,
    /// Different URLs that were seen and not visited, by [`SkippedBy`]. Those of links that were
    /// never queued are counted in this session only.
    pub(crate) skipped: BTreeMap<&'static str, u64>,
    /// The kinds among them whose count is a lower bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped_at_least: Vec<&'static str>,
    /// Visits that a limit cut, and the links that it cost, by the limit's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) limits: BTreeMap<&'static str, CutSum>,
    /// Archived documents whose text and links are not read, by format.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) not_read: BTreeMap<&'static str, u64>,
    /// Pages that repeat another and were kept all the same.
    pub(crate) kept_duplicates: u64,
    /// URLs that are not visited yet.
    pub(crate) queued: u64,
    /// URLs among them of hosts that are down: the crawl did not wait for them any longer, and the
    /// same command requests them again.
    pub(crate) unreachable: u64,
    /// These hosts, with the last failure in this session; a thousand at most.
    pub(crate) unreachable_hosts: BTreeMap<String, String>,
    /// Of this session; the counts above are of the whole crawl.
    pub(crate) seconds: f64,
    /// Of this session.
    pub(crate) pages_per_second: f64,
    /// Of this session.
    #[serde(flatten, serialize_with = "write_counts")]
    pub(crate) counts: Counts,
    /// The visits of this session by the status of their last response.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// The visits of this session by media type.
    pub(crate) types: BTreeMap<String, u64>,
}

/// The place of a crawl, as commands name it.
pub(crate) enum CrawlPlace {
    /// A directory has all of it.
    Directory(PathBuf),
    /// A store has its state, and the directories of its nodes their archives; this is one of them.
    Store(PathBuf),
}

impl CrawlPlace {
    fn archives(&self) -> String {
        match self {
            Self::Directory(directory) => format!("{}/archive", shown(directory)),
            Self::Store(directory) => format!(
                "the archives of all nodes; that of this node is {}/archive",
                shown(directory)
            ),
        }
    }
}

impl fmt::Display for CrawlPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => write!(formatter, "{}", shown(directory)),
            // The URL may have a password.
            Self::Store(_) => formatter.write_str("--store URL"),
        }
    }
}

fn shown(directory: &Path) -> String {
    printable(&directory.display().to_string())
}

impl Summary {
    /// Sums up a session that found the crawl as it stood `before`.
    pub(crate) fn new(
        finished: &'static str,
        before: &Standing,
        context: &CrawlContext,
        took: Duration,
    ) -> Self {
        let after = context.frontier.standing();
        let (totals, focus) = (&after.totals, context.focus.as_ref());
        let has_requisites = totals.requisites + totals.requisites_missing > 0;
        let fetches_requisites =
            has_requisites || context.policy.page_requisites != Requisites::Off;
        let seconds = took.as_secs_f64();
        let (skipped, skipped_at_least) = skipped(&after, &context.telemetry);
        let Responses { statuses, types } = context.telemetry.responses();
        let new_pages = totals.pages.saturating_sub(before.totals.pages);
        Self {
            finished,
            pages: totals.pages,
            unique: totals.unique,
            changed: totals.changed,
            exact_duplicates: totals.exact_duplicates,
            near_duplicates: totals.near_duplicates,
            failed: totals.failed,
            excluded: totals.excluded,
            off_topic: focus.map(|_| totals.off_topic),
            harvest: focus.and_then(|_| totals.harvest()).map(round),
            recent_harvest: focus.and_then(Focus::recent_harvest),
            bytes: totals.bytes,
            hosts: after.hosts,
            requisites: fetches_requisites.then_some(totals.requisites),
            requisites_missing: fetches_requisites.then_some(totals.requisites_missing),
            skipped,
            skipped_at_least,
            limits: limits::by_name(totals),
            not_read: limits::unread_by_name(totals),
            seconds: round(seconds),
            pages_per_second: round(new_pages as f64 / seconds.max(0.001)),
            kept_duplicates: totals.kept_duplicates,
            queued: after.queued,
            unreachable: after.unreachable,
            unreachable_hosts: unreachable_hosts(context),
            counts: context.telemetry.counts(),
            statuses,
            types,
        }
    }

    /// Writes the summary for people: what was kept, what was left out and why, and the next
    /// commands.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        place: &CrawlPlace,
        policy: &Policy,
    ) -> io::Result<()> {
        let whole = match place {
            CrawlPlace::Directory(_) => {
                let noun = if self.hosts == 1 { "host" } else { "hosts" };
                format!("{} pages of {} {noun}", self.pages, self.hosts)
            }
            CrawlPlace::Store(_) => format!("{} pages of all nodes", self.pages),
        };
        writeln!(
            out,
            "{}: {whole}, {} in {:.1} s ({:.1} pages/s)",
            self.ending(),
            ByteSize(self.bytes).display().iec(),
            self.seconds,
            self.pages_per_second
        )?;
        let kept = self.unique + self.changed;
        writeln!(out, "  kept      {kept:>8}  in {}", place.archives())?;
        for (count, what, why) in self.count_lines() {
            if count > 0 {
                writeln!(out, "  {what:<8}  {count:>8}  {why}")?;
            }
        }
        let statuses = self
            .statuses
            .iter()
            .map(|(status, count)| (status.to_string(), *count));
        self.write_unreachable(out)?;
        self.write_harvest(out)?;
        write_histogram(out, "statuses", statuses.collect())?;
        let types = self
            .types
            .iter()
            .map(|(media, count)| (media.clone(), *count));
        write_histogram(out, "types", types.collect())?;
        limits::write_lines(out, &self.limits, &self.not_read, policy)?;
        self.write_skipped(out, place)?;
        if self.queued > 0 {
            // A crawl keeps its settings, and so the limit that ended it.
            let higher = match self.finished {
                "max-pages" => " --max-pages N` with a higher N",
                "max-size" => " --max-size N` with a higher N",
                "min-harvest" => " --min-harvest SHARE` with a lower SHARE",
                _ => "`",
            };
            let again = match place {
                CrawlPlace::Directory(directory) => {
                    format!("`crawler --out {}{higher} goes on", shown(directory))
                }
                CrawlPlace::Store(_) => "the same command goes on".to_owned(),
            };
            writeln!(out, "{again}; `crawler status {place}` says how it stands.")?;
        }
        writeln!(
            out,
            "`crawler export {place}` lists every URL; `crawler why {place} URL` explains one."
        )
    }

    /// Writes the hosts whose URLs the crawl did not wait for any longer.
    fn write_unreachable(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.unreachable == 0 {
            return Ok(());
        }
        let hosts = self.unreachable_hosts.iter().take(UNREACHABLE_HOSTS);
        let named: Vec<String> = hosts
            .map(|(host, failure)| printable(&format!("{host}: {failure}")))
            .collect();
        let more = self.unreachable_hosts.len().saturating_sub(named.len());
        let more = match more {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        writeln!(
            out,
            "  set aside {:>8}  of hosts that are down; the next run requests them ({}{more})",
            self.unreachable,
            named.join("; ")
        )
    }

    /// Writes the share of pages on topic, in a crawl with a topic.
    fn write_harvest(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(harvest) = self.harvest else {
            return Ok(());
        };
        write!(
            out,
            "  harvest   {:>6.1} %  of the pages were on topic",
            harvest * 100.0
        )?;
        match self.recent_harvest {
            Some(recent) => writeln!(out, "; {:.1} % of the last {RECENT_PAGES}", recent * 100.0),
            None => writeln!(out),
        }
    }

    /// Returns the counts below the kept pages, each with its label and its explanation.
    fn count_lines(&self) -> [(u64, &'static str, &'static str); 14] {
        // What happened counts, not the setting of the last session.
        let kept = self.kept_duplicates;
        let left_out = match kept > 0 && kept >= self.near_duplicates {
            true => "marked",
            false => "left out",
        };
        [
            (
                self.changed,
                "changed",
                "of these, since an earlier crawl archived them (`crawler changes OLD NEW`)",
            ),
            (
                self.exact_duplicates,
                left_out,
                "repeat a page that was kept, to the letter",
            ),
            (
                self.near_duplicates,
                left_out,
                "repeat a page that was kept, nearly",
            ),
            (
                self.kept_duplicates,
                "kept",
                "of these all the same, and marked",
            ),
            (
                self.counts.not_modified,
                "not sent",
                "of these, now: not modified since, say their servers",
            ),
            (
                self.excluded,
                "excluded",
                "by robots.txt, the scope, the page itself or its URL pattern",
            ),
            (
                self.off_topic.unwrap_or(0),
                "passed",
                "off topic; their links were followed",
            ),
            (self.failed, "failed", "no answer, or an error"),
            (
                self.counts.private_addresses,
                "refused",
                "of these, now: private, loopback or link-local addresses (--allow-private)",
            ),
            (
                self.requisites.unwrap_or(0),
                "fetched",
                "that pages need to be shown",
            ),
            (
                self.requisites_missing.unwrap_or(0),
                "missing",
                "of what pages need",
            ),
            (
                self.queued.saturating_sub(self.unreachable),
                "queued",
                "not visited",
            ),
            (
                self.counts.links_nofollow,
                "links",
                "that their page asks not to follow",
            ),
            (
                self.counts.links_of_other_dates,
                "links",
                "of sitemaps, out of --sitemap-from and --sitemap-to",
            ),
        ]
    }

    /// Writes a line for each kind of URLs that were seen and not visited, with the command that
    /// lists them.
    fn write_skipped(&self, out: &mut dyn Write, place: &CrawlPlace) -> io::Result<()> {
        for kind in SkippedBy::ALL {
            let all = self.skipped.get(kind.as_str()).copied().unwrap_or(0);
            // The queue has a line of its own.
            let queued = self.queued.saturating_sub(self.unreachable);
            let count = all.saturating_sub(queued_of(kind, queued));
            if count == 0 {
                continue;
            }
            let at_least = match self.skipped_at_least.contains(&kind.as_str()) {
                true => "at least so many ",
                false => "",
            };
            let described = describe(kind);
            write!(out, "  skipped   {count:>8}  {at_least}{described}")?;
            match place {
                CrawlPlace::Directory(directory) => {
                    let shown = shown(directory);
                    writeln!(out, ": `crawler skipped {shown} --why {kind}`")?;
                }
                CrawlPlace::Store(_) => writeln!(out)?,
            }
        }
        Ok(())
    }

    /// Describes the end. A crawl is complete if every seen URL was visited, or left out by choice
    /// of the user or the site.
    fn ending(&self) -> String {
        if self.finished == "exhausted" && self.unreachable > 0 {
            let urls = counted(self.unreachable, "URL");
            return format!("Ended, but {urls} could not be requested: their hosts are down");
        }
        let ours = SkippedBy::ALL.into_iter().filter(|kind| kind.is_ours());
        // Links have a reservation of their own: other pages may lead to the same URLs.
        let ours = ours.filter(|kind| *kind != SkippedBy::Cut);
        let missed = ours.filter_map(|kind| self.skipped.get(kind.as_str()));
        match (self.finished, missed.sum::<u64>()) {
            ("exhausted", 0) => match limits::reservation(&self.limits) {
                Some(reservation) => format!("Complete, but {reservation}"),
                None => "Complete".into(),
            },
            ("exhausted", 1) => "Complete, but 1 URL was seen and not visited".into(),
            ("exhausted", count) => format!("Complete, but {count} URLs were seen and not visited"),
            (limit @ ("max-pages" | "max-time" | "max-size" | "min-harvest"), _) => {
                format!("Ended by --{limit}")
            }
            ("interrupted", _) => "Interrupted".into(),
            _ => "Ended by a fault".into(),
        }
    }
}

/// Serializes those counts of a session that the text shows.
fn write_counts<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = [
        ("not_modified", counts.not_modified),
        ("private_addresses", counts.private_addresses),
        ("links_nofollow", counts.links_nofollow),
        ("links_of_other_dates", counts.links_of_other_dates),
        ("links_too_many", counts.links_too_many),
        ("retries", counts.retries),
    ];
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (name, count) in fields {
        map.serialize_entry(name, &count)?;
    }
    map.end()
}

/// Items of a histogram that are printed; `--summary json` has all.
const HISTOGRAM: usize = 6;

/// Writes the largest counts of a histogram on a line, if there is one.
fn write_histogram(
    out: &mut dyn Write,
    name: &str,
    mut counts: Vec<(String, u64)>,
) -> io::Result<()> {
    counts.sort_by(|(first, one), (second, other)| (other, first).cmp(&(one, second)));
    let more = counts.len().saturating_sub(HISTOGRAM);
    let shown = counts.iter().take(HISTOGRAM);
    let mut items: Vec<String> = shown
        .map(|(what, count)| format!("{} ({count})", printable(what)))
        .collect();
    if more > 0 {
        items.push(format!("and {more} more"));
    }
    match items.is_empty() {
        true => Ok(()),
        false => writeln!(
            out,
            "  {name:<8}            this session: {}",
            items.join(", ")
        ),
    }
}

/// Counts the URLs that were seen and not visited, and names the kinds of which there may be more.
fn skipped(
    after: &Standing,
    telemetry: &Telemetry,
) -> (BTreeMap<&'static str, u64>, Vec<&'static str>) {
    let (mut counts, mut at_least) = (BTreeMap::new(), Vec::new());
    for kind in SkippedBy::ALL {
        let links = telemetry.unvisited(kind);
        let queued = after.queued.saturating_sub(after.unreachable);
        let settled = match kind {
            SkippedBy::Cut => after.totals.lost_links(),
            _ => after.totals.skipped[kind as usize],
        };
        let count = settled + links.urls + queued_of(kind, queued);
        if kind != SkippedBy::Cut || count > 0 {
            counts.insert(kind.as_str(), count);
        }
        if links.at_least {
            at_least.push(kind.as_str());
        }
    }
    (counts, at_least)
}

/// Hosts that are down and named in the summary; `--summary json` has more.
const UNREACHABLE_HOSTS: usize = 3;

/// Returns the hosts that are past their last chance now, with the last failure.
fn unreachable_hosts(context: &CrawlContext) -> BTreeMap<String, String> {
    let down = context.telemetry.down().into_iter();
    down.filter(|(host, _)| context.pacer.pace(host).is_past_last_chance(false))
        .map(|(host, failure)| (host.to_string(), failure))
        .collect()
}

/// Returns the URLs of the queue that count as skipped by this kind.
fn queued_of(kind: SkippedBy, queued: u64) -> u64 {
    match kind {
        SkippedBy::Limit => queued,
        _ => 0,
    }
}

/// Describes the URLs of a kind.
const fn describe(kind: SkippedBy) -> &'static str {
    match kind {
        SkippedBy::DuplicatesLinks => {
            "known from left-out pages only, whose samples brought nothing new"
        }
        SkippedBy::Pattern => "of closed URL patterns",
        SkippedBy::Scope => "out of the scope",
        SkippedBy::Limit => "behind a limit",
        SkippedBy::Robots => "forbidden by robots.txt",
        SkippedBy::Trap => "with the shape of a trap",
        SkippedBy::Page => "that ask not to be archived",
        SkippedBy::Other => "for other reasons",
        SkippedBy::Cut => "beyond the limits of the pages that link to them",
    }
}

/// Rounds to a thousandth.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
