//! The summary as text: the result, the size, a line per outcome, and the next steps.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use bytesize::ByteSize;
use crawl::{RECENT_PAGES, Reasons};
use journal::{Limit, ReasonKind};
use messages::{counted, counted_as, grouped, lasting, printable, word_of_shell, wrapped};
use policy::{Policy, RenderMode};
use settings::{Settings, limits};

use super::{CrawlPlace, Summary};
use crate::terminal::{GREEN, PLAIN, RED, YELLOW};

/// Maximum number of reasons that are named; the rest are counted.
const NAMED: usize = 3;

/// Width of a line, in characters.
const WIDTH: usize = 80;

/// Width of a label and of its count, in characters.
const LABEL: usize = 12;
const COUNT: usize = 9;

impl Summary {
    /// Writes the summary as text.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        place: &CrawlPlace,
        (settings, policy): (&Settings, &Policy),
        has_colours: bool,
    ) -> io::Result<()> {
        let (colour, result) = self.result(settings);
        let result = wrapped(&result, 2);
        match has_colours {
            true => writeln!(out, "{colour}{result}{PLAIN}")?,
            false => writeln!(out, "{result}")?,
        }
        if self.no_seed_fetched {
            return self.write_failed_seeds(out, place, settings);
        }
        writeln!(out, "{}", wrapped(&format!("  {}", self.size(place)), 4))?;
        for (label, count, text) in self.outcomes(place, policy) {
            if count > 0 {
                write_outcome(out, label, count, &text)?;
            }
        }
        self.write_harvest(out)?;
        self.write_dead_ends(out, settings)?;
        self.write_next(out, place, settings)
    }

    /// Describes the end of the crawl. A crawl is complete if every known URL was visited, or was
    /// excluded by choice of the user or the site. The colour says how much the user should care.
    fn result(&self, settings: &Settings) -> (&'static str, String) {
        let ours = ReasonKind::ALL.into_iter().filter(|kind| kind.is_ours());
        // Links have a separate caveat: other pages may link to the same URLs.
        let ours = ours.filter(|kind| *kind != ReasonKind::Cut);
        let missed = ours.filter_map(|kind| self.skipped.get(kind.as_str()));
        let queued = match self.queued {
            0 => String::new(),
            more => format!("; {} still queued", counted_as(more, "URL is", "URLs are")),
        };
        let up_to = self.limit_per_host(settings);
        let stopped = |limit: &str, value: Option<String>| {
            let value = value.map(|value| format!(" {value}"));
            let value = value.unwrap_or_default();
            (YELLOW, format!("Stopped at --{limit}{value}{queued}"))
        };
        match (self.finished, missed.sum::<u64>()) {
            ("exhausted", _) if self.no_seed_fetched => {
                (RED, "No seed could be fetched; nothing was archived".into())
            }
            ("exhausted", _) if self.unreachable > 0 => {
                let urls = counted(self.unreachable, "URL");
                let down = "could not be requested: their hosts are down";
                (YELLOW, format!("Ended, but {urls} {down}"))
            }
            ("exhausted", missed) => {
                let reservation = match missed {
                    0 => limits::reservation(&self.limits),
                    more => Some(counted_as(more, "URL was", "URLs were") + " not visited"),
                };
                let colour = if reservation.is_some() { YELLOW } else { GREEN };
                let up_to = up_to.map(|limit| format!(" up to {limit}"));
                let but = reservation.map(|reservation| format!(", but {reservation}"));
                let (up_to, but) = (up_to.unwrap_or_default(), but.unwrap_or_default());
                (colour, format!("Complete{up_to}{but}{queued}"))
            }
            (limit @ "max-pages", _) => stopped(limit, settings.max_pages.map(|n| n.to_string())),
            (limit @ "max-time", _) => stopped(limit, settings.max_time.map(|t| t.to_string())),
            (limit @ "max-size", _) => stopped(limit, settings.max_size.map(|s| s.to_string())),
            (limit @ "min-harvest", _) => {
                stopped(limit, settings.min_harvest.map(|share| share.to_string()))
            }
            ("interrupted", _) => (YELLOW, format!("Interrupted{queued}")),
            _ => (RED, format!("Stopped by a fault{queued}")),
        }
    }

    /// Returns the limit per host that left URLs in the queue of a finished crawl. Returns `None`
    /// if the queue is empty, or only contains URLs of hosts that are down.
    fn limit_per_host(&self, settings: &Settings) -> Option<String> {
        if self.finished != "exhausted" || self.queued <= self.unreachable {
            return None;
        }
        let mut tables = settings.host.values();
        let of_tables = tables.any(|own| own.max_pages.is_some());
        match (settings.max_pages_per_host, of_tables) {
            (Some(most), false) => Some(format!("--max-pages-per-host {most}")),
            (Some(_), true) => Some("--max-pages-per-host and [host] max-pages".to_owned()),
            (None, true) => Some("[host] max-pages".to_owned()),
            (None, false) => None,
        }
    }

    /// Returns the size of the crawl: its pages, their bytes, and the rate of this run.
    fn size(&self, place: &CrawlPlace) -> String {
        let pages = counted(self.all.pages, "page");
        let whole = match place {
            CrawlPlace::Directory(_) => format!("{pages} from {}", counted(self.hosts, "host")),
            CrawlPlace::Store(_) => format!("{pages} of all nodes"),
        };
        let in_this_run = match self.new_pages == self.all.pages {
            true => String::new(),
            false => format!(" ({} in this run)", grouped(self.new_pages)),
        };
        let took = match self.seconds {
            seconds if seconds < 60.0 => format!("{seconds:.1} s"),
            seconds => lasting(Duration::from_secs_f64(seconds)),
        };
        format!(
            "{whole}{in_this_run} in {took} ({}, {:.1} pages/s)",
            ByteSize(self.bytes).display().iec(),
            self.pages_per_second
        )
    }

    /// Returns the outcomes, each with its label, count and explanation.
    fn outcomes(&self, place: &CrawlPlace, policy: &Policy) -> Vec<(&'static str, u64, String)> {
        let changed = match self.all.changed {
            0 => String::new(),
            count => format!("; {} changed since the earlier crawl", grouped(count)),
        };
        let archived = self.all.unique + self.all.changed;
        let kept = format!("in {}{changed}", place.archives());
        let marked = (self.kept_duplicates, "archived duplicates".to_owned());
        let unchanged = "not modified since the earlier crawl (304), in this run";
        let off_topic = "not archived, links followed";
        let missing = self.requisites_missing.unwrap_or(0);
        let requisites = match missing {
            0 => "fetched".to_owned(),
            missing => format!("fetched; {} failed", grouped(missing)),
        };
        // The rest are included in the URLs that were not visited.
        let excluded = self.all.excluded.saturating_sub(self.excluded_and_skipped);
        let mut outcomes = vec![
            ("archived", archived, kept),
            ("duplicates", self.duplicates(), self.of_duplicates()),
            ("marked", marked.0, marked.1),
            ("unchanged", self.counts.not_modified, unchanged.to_owned()),
            ("excluded", excluded, self.of(&self.excluded_by, excluded)),
            (
                "off topic",
                self.all.off_topic.unwrap_or(0),
                off_topic.to_owned(),
            ),
            (
                "failed",
                self.all.failed,
                self.of(&self.failed_by, self.all.failed),
            ),
            ("refused", self.counts.private_addresses, PRIVATE.to_owned()),
            (
                "requisites",
                self.requisites.unwrap_or(0) + missing,
                requisites,
            ),
        ];
        let scripts = (self.all.needs_scripts, self.of_scripts(policy));
        let shown = "judged by what their scripts show".to_owned();
        outcomes.push(("rendered", self.all.rendered, shown));
        outcomes.push(("need scripts", scripts.0, scripts.1));
        outcomes.push(("set aside", self.unreachable, self.of_unreachable()));
        outcomes.extend(limits::outcomes(&self.limits, &self.not_read, policy));
        outcomes.extend(self.not_visited());
        let links = self.links.unwrap_or_default();
        let found = format!("checked out of scope: {}", links.by_verdict());
        outcomes.push(("links", links.checked + links.not_checked, found));
        outcomes
    }

    /// Describes the hosts that the crawl stopped waiting for.
    fn of_unreachable(&self) -> String {
        let hosts = self.unreachable_hosts.iter().take(NAMED);
        let mut named: Vec<String> = hosts
            .map(|(host, failure)| format!("{host}: {failure}"))
            .collect();
        match self.unreachable_hosts.len().saturating_sub(NAMED) {
            0 => {}
            more => named.push(format!("and {more} more")),
        }
        let named = named.join("; ");
        format!("of hosts that are down; the next run requests them ({named})")
    }

    /// Describes the pages that need their scripts.
    fn of_scripts(&self, policy: &Policy) -> String {
        let what = match policy.render.mode {
            RenderMode::Off => "next to no text without scripts, which --render shells runs",
            RenderMode::Shells | RenderMode::All => "next to no text, and scripts that failed",
        };
        match self.all.repeated_shells {
            0 => what.to_owned(),
            1 => format!("{what}; 1 has the same bytes as another page"),
            more => format!(
                "{what}; {} have the same bytes as other pages",
                grouped(more)
            ),
        }
    }

    fn duplicates(&self) -> u64 {
        self.all.exact_duplicates + self.all.near_duplicates
    }

    fn of_duplicates(&self) -> String {
        let kinds = [
            (self.all.exact_duplicates, "exact"),
            (self.all.near_duplicates, "near-duplicate"),
        ];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<String> = kinds
            .map(|(count, kind)| match (kind, count) {
                ("near-duplicate", 1) | ("exact", _) => format!("{} {kind}", grouped(count)),
                _ => counted(count, kind),
            })
            .collect();
        // The outcome counts, not the setting of the last session.
        let kept = self.kept_duplicates;
        let what = match kept > 0 && kept >= self.all.near_duplicates {
            true => "archived and marked",
            false => "not archived",
        };
        format!("{what} ({})", kinds.join(", "))
    }

    /// Returns the reasons of an outcome by count. Reasons of earlier runs are not known
    /// individually.
    fn of(&self, reasons: &Reasons, all: u64) -> String {
        let known: u64 = reasons.0.values().map(|one| one.count).sum();
        let mut sorted: Vec<(&str, u64)> = Vec::new();
        for (reason, one) in &reasons.0 {
            sorted.push((reason, one.count));
        }
        sorted.sort_by_key(|(reason, count)| (std::cmp::Reverse(*count), *reason));
        if let ([(reason, 1)], 1) = (&sorted[..], all) {
            let url = reasons.0.values().next().map(|one| one.first.as_str());
            return format!("{reason}: {}", url.unwrap_or_default());
        }
        let mut parts: Vec<String> = sorted
            .iter()
            .take(NAMED)
            .map(|(reason, count)| format!("{reason} ({})", grouped(*count)))
            .collect();
        let more = sorted.len().saturating_sub(NAMED);
        if more > 0 {
            parts.push(format!("and {}", counted(more as u64, "more reason")));
        }
        if all > known {
            parts.push(format!("in earlier runs ({})", grouped(all - known)));
        }
        parts.join(", ")
    }

    /// Returns the URLs that were found but never requested: excluded by the crawler, and excluded
    /// by choice of the user or the site.
    fn not_visited(&self) -> [(&'static str, u64, String); 2] {
        let kinds = |is_ours: bool| {
            let kinds = ReasonKind::ALL.into_iter();
            let kinds = kinds.filter(move |kind| kind.is_ours() == is_ours);
            let counts = kinds.map(|kind| (describe(kind), self.skipped_of(kind)));
            let counts: BTreeMap<&str, u64> = counts.filter(|(_, count)| *count > 0).collect();
            let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
            counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            counts
        };
        let line = |kinds: Vec<(&str, u64)>, by: &str| {
            let all = kinds.iter().map(|(_, count)| count).sum();
            let at_least = match self.skipped_at_least.is_empty() {
                true => "",
                false => "lower bound; ",
            };
            let text = match &kinds[..] {
                [(one, _)] => (*one).to_owned(),
                several => {
                    let named = several
                        .iter()
                        .map(|(kind, n)| format!("{kind} ({})", grouped(*n)));
                    named.collect::<Vec<String>>().join(", ")
                }
            };
            ("not visited", all, format!("{by}{at_least}{text}"))
        };
        let mut by_choice = kinds(false);
        let others = [
            (self.counts.links_nofollow, "nofollow"),
            (self.counts.links_of_other_dates, "dates of sitemaps"),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        by_choice.extend(others.map(|(count, kind)| (kind, count)));
        [line(kinds(true), ""), line(by_choice, "by choice: ")]
    }

    /// Returns the number of skipped URLs of a kind, excluding the queue.
    fn skipped_of(&self, kind: ReasonKind) -> u64 {
        let all = self.skipped.get(kind.as_str()).copied().unwrap_or(0);
        let queued = self.queued.saturating_sub(self.unreachable);
        all.saturating_sub(super::queued_of(kind, queued))
    }

    /// Writes the share of pages on topic, in a crawl with a topic.
    fn write_harvest(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(harvest) = self.all.harvest else {
            return Ok(());
        };
        write!(out, "  harvest rate {:.1} %", harvest * 100.0)?;
        match self.recent_harvest {
            Some(recent) => writeln!(out, "; {:.1} % of the last {RECENT_PAGES}", recent * 100.0),
            None => writeln!(out),
        }
    }

    /// Writes a hint if the crawl ended at its seeds because their pages contain no links.
    fn write_dead_ends(&self, out: &mut dyn Write, settings: &Settings) -> io::Result<()> {
        let seeds = self.seeds;
        let is_end = self.finished == "exhausted" && seeds.without_links > 0;
        if !is_end || seeds.without_links < seeds.fetched || self.all.pages > seeds.fetched {
            return Ok(());
        }
        let whose = match seeds.without_links {
            1 => "The seed has no link that is followed".to_owned(),
            more => format!(
                "None of the {} seeds has a link that is followed",
                grouped(more)
            ),
        };
        let hints = [
            (
                seeds.with_scripts > 0 && !settings.script_links,
                "--script-links follows URLs in scripts",
            ),
            (
                seeds.with_forms > 0 && !settings.forms,
                "--forms submits forms by GET",
            ),
        ];
        let hints: Vec<&str> = hints
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, hint)| *hint)
            .collect();
        match hints.is_empty() {
            true => writeln!(out, "{whose}"),
            false => writeln!(
                out,
                "{}",
                wrapped(&format!("{whose}; {}", hints.join(", ")), 0)
            ),
        }
    }

    /// Writes the failed seeds of a crawl without pages.
    fn write_failed_seeds(
        &self,
        out: &mut dyn Write,
        place: &CrawlPlace,
        settings: &Settings,
    ) -> io::Result<()> {
        let widest = self
            .failed_seeds
            .iter()
            .map(|(seed, _)| seed.chars().count());
        let width = widest.max().unwrap_or(0).min(WIDTH / 2);
        for (seed, cause) in &self.failed_seeds {
            let line = format!("  {:<width$}  {}", printable(seed), printable(cause));
            writeln!(out, "{}", wrapped(&line, width + 4))?;
        }
        if self.more_failed_seeds > 0 {
            writeln!(out, "  and {} more", grouped(self.more_failed_seeds))?;
        }
        let again = match settings.seeds.is_some() || !settings.url.is_empty() {
            true => {
                "Check the URLs, then run the same command again: it retries seeds whose request \
                     failed"
            }
            false => "Check the URLs, then run the same command again",
        };
        let refused = format!(
            "`crawler retry {place} --status 4xx` queues seeds again that their server refused"
        );
        writeln!(out, "{}\n{}", wrapped(again, 0), wrapped(&refused, 0))
    }

    /// Writes the next steps.
    fn write_next(
        &self,
        out: &mut dyn Write,
        place: &CrawlPlace,
        settings: &Settings,
    ) -> io::Result<()> {
        let ours = ReasonKind::ALL.into_iter().filter(|kind| kind.is_ours());
        let ours = ours.filter(|kind| *kind != ReasonKind::Cut || self.has_cut_links());
        let most = ours.max_by_key(|kind| self.skipped_of(*kind));
        let most = most.filter(|kind| self.skipped_of(*kind) > 0);
        let CrawlPlace::Directory(directory) = place else {
            return match self.queued {
                0 => writeln!(out, "Look at it: crawler status {place}"),
                _ => writeln!(out, "Continue: the same command"),
            };
        };
        let crawl = word_of_shell(&directory.display().to_string());
        if let Some(kind) = most {
            writeln!(out, "List them: crawler skipped {crawl} --why {kind}")?;
        }
        if self.failed_by.0.values().any(|failed| failed.may_pass) {
            writeln!(out, "Request failed pages again: crawler retry {crawl}")?;
        }
        let of_host = self.limit_per_host(settings);
        // A crawl keeps its settings, including the limit that ended it.
        match (self.queued, self.finished) {
            (0, _) if self.link_progress.left() > 0 => {
                writeln!(out, "{}. Continue: the same command", self.link_progress)
            }
            (0, _) => write_views(out, &crawl),
            (_, limit @ ("max-pages" | "max-size")) => writeln!(
                out,
                "Continue with a higher limit: crawler --out {crawl} --{limit} N"
            ),
            (_, limit @ "min-harvest") => writeln!(
                out,
                "Continue with a lower limit: crawler --out {crawl} --{limit} SHARE"
            ),
            _ if of_host.is_some() && settings.max_pages_per_host.is_some() => writeln!(
                out,
                "Continue with a higher limit: crawler --out {crawl} --max-pages-per-host N"
            ),
            _ if of_host.is_some() => writeln!(
                out,
                "Continue with a higher [host] max-pages in a file: crawler --out {crawl} \
                 --config FILE"
            ),
            _ => writeln!(
                out,
                "All visited pages are saved. Continue: crawler --out {crawl}"
            ),
        }
    }

    /// Returns true if pages have links beyond the limit, which `crawler skipped` reads again.
    fn has_cut_links(&self) -> bool {
        let links = self.limits.get(Limit::Links.as_str());
        links.is_some_and(|sum| sum.lost > 0)
    }
}

/// Writes the commands that show a crawl, on one line if it fits.
fn write_views(out: &mut dyn Write, crawl: &str) -> io::Result<()> {
    let look = format!("Look at it: crawler serve {crawl}");
    let explain = format!("Explain a URL: crawler why {crawl} URL");
    let line = format!("{look} · {explain}");
    match line.chars().count() <= WIDTH {
        true => writeln!(out, "{line}"),
        false => writeln!(out, "{look}\n{explain}"),
    }
}

const PRIVATE: &str = "private, loopback or link-local addresses (--allow-private), in this run";

/// Describes the URLs of a kind.
const fn describe(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::DuplicateLinks => "links of duplicates",
        ReasonKind::Pattern => "closed URL pattern",
        ReasonKind::Scope => "out of scope",
        ReasonKind::Limit => "beyond a limit",
        ReasonKind::Robots => "robots.txt",
        ReasonKind::Trap => "shape of a trap",
        ReasonKind::Page => "noarchive, nofollow or a preference",
        ReasonKind::Other => "other reasons",
        ReasonKind::Cut => "beyond the limits of the pages that link to them",
    }
}

fn write_outcome(out: &mut dyn Write, label: &str, count: u64, text: &str) -> io::Result<()> {
    let count = grouped(count);
    let line = format!("  {label:<LABEL$}{count:>COUNT$}  {}", printable(text));
    writeln!(out, "{}", wrapped(&line, LABEL + COUNT + 4))
}
