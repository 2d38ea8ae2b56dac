//! `crawler status`: prints the counts of a crawl. A view of [`CrawlStatistics`]; works while the
//! crawl runs.

mod hosts;

use inspect::hosts::COLUMNS;
use inspect::leftovers;
use inspect::status::Status;
use messages::{CommandError, counted, printable};
use policy::control_file;
use settings::{Settings, control_in_force, crawl_directory, limits};
use setup::shared::OpenCrawl;
use statistics::CrawlStatistics;

use super::column;
use crate::args::StatusArgs;
use crate::output::{self, Format};

pub(crate) fn run(args: &StatusArgs) -> Result<(), CommandError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), args.store.store.as_ref())?;
    let directory = crawl.directory();
    let state = crawl_directory::state_of(directory)?;
    if args.hosts {
        let settings = Settings::of_crawl(directory)?;
        let (statistics, _) = CrawlStatistics::read(&state)?;
        return output::list(&args.list, COLUMNS, |list| {
            hosts::write(&statistics, &settings, list)
        });
    }
    let format = args.list.without_list("status without --hosts")?;
    let control = control_in_force::last_in_force(directory)?;
    let control = control.map(|in_force| control_file::describe(&in_force.overrides));
    let status = Status::read(directory, &state)?;
    output::to_stdout(|out| match format {
        Format::Json => output::json_line(out, &status),
        Format::Table => {
            output::columns(out, &lines(&status, control))?;
            for item in &status.leftovers {
                writeln!(out, "{}", printable(&item.line()))?;
            }
            Ok(())
        }
    })
}

/// Describes the closed URL patterns and the URLs that they exclude; `None` if there are none.
fn patterns(status: &Status) -> Option<String> {
    let (closed, excluded) = (status.closed_patterns, status.excluded_by_pattern);
    (closed > 0 || excluded > 0).then(|| {
        let excluded = counted(excluded, "URL");
        format!("{closed} closed, {excluded} excluded (`crawler patterns`)")
    })
}

/// Describes the share of pages on topic; `None` without a topic.
fn harvest(status: &Status) -> Option<String> {
    let share = status.counts.harvest? * 100.0;
    Some(format!("{share:.1} % of the pages were on topic"))
}

fn trap_links(status: &Status) -> Option<String> {
    let rules = status.excluded_links.iter();
    let rules: Vec<String> = rules
        .map(|(rule, links)| format!("{links} {rule}"))
        .collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}

/// Describes the URLs of hosts that are down; `None` if there are none.
fn unreachable(status: &Status) -> Option<String> {
    let (first, failure) = status.unreachable_hosts.first_key_value()?;
    let others = match status.unreachable_hosts.len() - 1 {
        0 => String::new(),
        others => format!(" and {}", counted(others as u64, "other host")),
    };
    let urls = status.unreachable;
    let hosts = printable(&format!("{first} ({failure}){others}"));
    Some(format!("{urls}, requested by the next run; down: {hosts}"))
}

fn lines(status: &Status, control: Option<String>) -> Vec<(&'static str, Option<String>)> {
    let if_any = |count: u64| (count > 0).then_some(count);
    let leftover_files = (!status.leftovers.is_empty())
        .then(|| format!("{} (`crawler clean`)", leftovers::total(&status.leftovers)));
    let excluded = status.counts.excluded.saturating_sub(status.redirected);
    let of_redirects = |count: u64| format!("{count} to pages of this crawl");
    let received = bytesize::ByteSize(status.bytes).display().iec();
    vec![
        column("begun", status.begun_at.as_ref()),
        column("last visit", status.last_visit_at.as_ref()),
        column("pages", Some(status.counts.pages)),
        column("unique", Some(status.counts.unique)),
        column("changed", if_any(status.counts.changed)),
        column("exact duplicates", Some(status.counts.exact_duplicates)),
        column("near-duplicates", Some(status.counts.near_duplicates)),
        column(
            "failed",
            Some(with(status.counts.failed, status.failed_by.as_ref())),
        ),
        column("redirects", if_any(status.redirected).map(of_redirects)),
        column(
            "excluded",
            Some(with(excluded, status.excluded_by.as_ref())),
        ),
        column("rendered", if_any(status.counts.rendered)),
        column("need scripts", if_any(status.counts.needs_scripts)),
        column("off topic", status.counts.off_topic),
        column("harvest", harvest(status)),
        column("received", Some(received)),
        column("hosts", Some(status.hosts)),
        column("requisites", if_any(status.requisites)),
        column("missing requisites", if_any(status.requisites_missing)),
        column("statuses", status.statuses.as_ref()),
        column("types", status.types.as_ref()),
        column("queued", Some(status.queued)),
        column("unreachable", unreachable(status)),
        column("quarantined", if_any(status.quarantined)),
        column("patterns", patterns(status)),
        column("trap links", trap_links(status)),
        column("truncated", limits::in_words(&status.limits)),
        column("not read", limits::unread_in_words(&status.not_read)),
        column("links", status.links),
        column("control.toml", control),
        column("leftover files", leftover_files),
    ]
}

/// Returns a count and its breakdown.
fn with(count: u64, named: Option<&String>) -> String {
    match named {
        Some(named) => format!("{count}: {named}"),
        None => count.to_string(),
    }
}
