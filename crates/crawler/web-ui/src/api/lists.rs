//! Counts and lists: the views that the live statistics answer.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use statistics::{Counts, HostStatistics, Newest, RecentVisit};
use web::{Host, Timestamp, WaitReason};

use super::json::{Asked, Json, JsonRefusal, Listed, part, read};
use crate::caps;
use crate::dashboard::cluster::{ClusterQuery, members};
use crate::dashboard::hosts::{HostsQuery, matching};
use crate::dashboard::overview::Rates;
use crate::dashboard::selection::{Listing, Order, Selection};
use crate::dashboard::{Dashboard, in_flight};
use crate::live_statistics::Look;
use crate::machine::MachineValues;
use crate::report::{Clusters, ListedUrl, Patterns, Skipped, Verdicts, gather};

/// The question of a list without filters.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ListQuery {
    from: usize,
}

/// The question for URLs that need work.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ProblemsQuery {
    kind: Listing,
    status: String,
    host: String,
    reason: String,
    sort: Order,
    from: usize,
}

/// The counts of a crawl as `crawler status` names them, and its process.
#[derive(Serialize)]
struct Status<'a> {
    title: &'a str,
    state: &'static str,
    #[serde(flatten)]
    counts: &'a Counts,
    in_flight: Option<u64>,
    pages_per_minute: f64,
    bytes_per_second: u64,
    archive_bytes: u64,
    free_bytes: Option<u64>,
    memory_bytes: Option<u64>,
    /// URLs that need work, by kind, if their number is known.
    problems: BTreeMap<&'static str, u64>,
    /// The reason why the counts are incomplete, if they are.
    damage: Option<&'a str>,
}

/// A host, with the fields of `crawler status --hosts`.
#[derive(Serialize)]
struct HostEntry<'a> {
    host: &'a str,
    pages: u64,
    waiting: u64,
    failed: u64,
    failures: u32,
    crawl_delay: Option<f64>,
    retry_after: Option<f64>,
    delay: f64,
    why: WaitReason,
    answered_at: Option<String>,
    ready_at: Option<String>,
    address: Option<IpAddr>,
    last_failure: Option<&'a str>,
}

/// A duplicate, with the fields of `crawler duplicates`.
#[derive(Serialize)]
struct DuplicateEntry {
    url: String,
    verdict: &'static str,
    duplicate_of: Option<String>,
    distance: Option<u32>,
    resemblance: Option<f64>,
    kept: bool,
    reason: Option<String>,
}

#[derive(Serialize)]
struct Problems {
    kind: &'static str,
    /// True if the list has all such visits, not only the newest.
    is_whole: bool,
    #[serde(flatten)]
    urls: Listed<ListedUrl>,
}

#[derive(Serialize)]
struct Duplicates {
    verdicts: Verdicts,
    clusters: Clusters,
    #[serde(flatten)]
    newest: Listed<DuplicateEntry>,
}

#[derive(Serialize)]
struct Cluster {
    original: String,
    of_earlier: bool,
    #[serde(flatten)]
    members: Listed<DuplicateEntry>,
}

#[derive(Serialize)]
struct Exclusion {
    url: String,
    reason: String,
}

#[derive(Serialize)]
struct SkippedUrls {
    #[serde(flatten)]
    skipped: Skipped,
    patterns: Patterns,
    #[serde(flatten)]
    newest: Listed<Exclusion>,
}

/// Answers with the counts of the crawl.
pub(crate) async fn status(State(dashboard): State<Arc<Dashboard>>) -> Result<Json, JsonRefusal> {
    let answer = |dashboard: &Dashboard| {
        let crawl = &dashboard.crawl;
        let machine = MachineValues::read(&crawl.state, &crawl.archive);
        dashboard.look(|look| {
            let statistics = look.statistics;
            let counts = statistics.counts();
            let state = dashboard.state(dashboard.pause_button().as_ref(), look);
            let rates = Rates::in_state(state, look);
            let problems = Listing::PROBLEMS.into_iter();
            let problems = problems.filter_map(|kind| Some((kind.as_str(), kind.total(look)?)));
            Json::of(&Status {
                title: &crawl.title,
                state: state.as_str(),
                counts,
                in_flight: in_flight::count(look, machine.process.is_some()),
                pages_per_minute: rates.pages,
                bytes_per_second: rates.bytes,
                archive_bytes: machine.archive,
                free_bytes: machine.free,
                memory_bytes: machine.memory,
                problems: problems.collect(),
                damage: look.damage,
            })
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with a part of the hosts, by descending number of pages.
pub(crate) async fn hosts(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<HostsQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let answer = move |dashboard: &Dashboard| {
        dashboard.look(|look| {
            let mut found = matching(look.statistics, &query.q);
            let part = part(query.from, found.len());
            let least = &dashboard.crawl.min_delays;
            let entry = |(host, figures)| host_entry(host, figures, least.of(host));
            let listed = found.drain(part.range()).map(entry).collect();
            Json::of(&Listed::of(&part, listed))
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with URLs that need work.
pub(crate) async fn problems(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<ProblemsQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let selection = Selection {
        kind: query.kind,
        status: query.status,
        host: query.host,
        reason: query.reason,
        sort: query.sort,
    };
    let answer = move |dashboard: &Dashboard| {
        dashboard.look(|look| {
            let found = selection.listed(look);
            let part = part(query.from, found.len());
            let listed = found.get(part.range()).unwrap_or_default().iter();
            let listed = listed.map(|visit| gather::listed_url(visit, caps::ADDRESS));
            Json::of(&Problems {
                kind: selection.kind.as_str(),
                is_whole: selection.is_whole(look),
                urls: Listed::of(&part, listed.collect()),
            })
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with the newest duplicates, and with the rules that found all of them.
pub(crate) async fn duplicates(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<ListQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let answer = move |dashboard: &Dashboard| {
        dashboard.look(|look| {
            Json::of(&Duplicates {
                verdicts: gather::verdicts(look.statistics),
                clusters: gather::clusters(look.statistics),
                newest: newest(
                    look.statistics.newest(Newest::Duplicates),
                    query.from,
                    entry,
                ),
            })
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with a part of the members of a cluster.
pub(crate) async fn cluster(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<ClusterQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let original = dashboard.parse(&query.url)?;
    let answer = move |dashboard: &Dashboard| {
        let of_earlier = query.earlier;
        let members_of = |look: &Look<'_>| look.statistics.members_of(&original, of_earlier);
        let positions = dashboard.look(members_of);
        let part = part(query.from, positions.len());
        let listed = positions.get(part.range()).unwrap_or_default();
        let members = members(dashboard, &original, of_earlier, listed)?;
        let members = members.iter().map(|member| entry(&RecentVisit::of(member)));
        Json::of(&Cluster {
            original: original.to_string(),
            of_earlier,
            members: Listed::of(&part, members.collect()),
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with URLs that were not visited: counts by reason, patterns, and the newest exclusions.
pub(crate) async fn skipped(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<ListQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let answer = move |dashboard: &Dashboard| {
        dashboard.look(|look| {
            let exclusion = |visit: &RecentVisit| Exclusion {
                url: visit.url.to_string(),
                reason: visit.reason.as_deref().unwrap_or_default().to_owned(),
            };
            let exclusions = look.statistics.newest(Newest::Exclusions);
            Json::of(&SkippedUrls {
                skipped: gather::skipped(look.statistics),
                patterns: gather::patterns(look.statistics, caps::LISTED),
                newest: newest(exclusions, query.from, exclusion),
            })
        })
    };
    Ok(dashboard.answer(answer).await?)
}

/// Returns a part of the newest visits of a kind, as entries.
fn newest<'a, T>(
    visits: impl Iterator<Item = &'a RecentVisit>,
    from: usize,
    entry: impl Fn(&RecentVisit) -> T,
) -> Listed<T> {
    let visits: Vec<_> = visits.collect();
    let part = part(from, visits.len());
    let listed = visits.get(part.range()).unwrap_or_default().iter();
    Listed::of(&part, listed.map(|visit| entry(visit)).collect())
}

fn entry(visit: &RecentVisit) -> DuplicateEntry {
    DuplicateEntry {
        url: visit.url.to_string(),
        verdict: visit.verdict.as_str(),
        duplicate_of: visit.duplicate_of.as_deref().map(str::to_owned),
        distance: visit.distance,
        resemblance: visit.resemblance,
        kept: visit.kept,
        reason: visit.reason.as_deref().map(str::to_owned),
    }
}

fn host_entry<'a>(host: &'a Host, figures: &'a HostStatistics, least: Duration) -> HostEntry<'a> {
    let pace = &figures.pace;
    let seconds = |wait: Option<Duration>| wait.map(|wait| wait.as_secs_f64());
    let known = |at: Timestamp| (at != Timestamp::default()).then(|| at.to_string());
    HostEntry {
        host: host.as_str(),
        pages: figures.sums.pages,
        waiting: figures.waiting,
        failed: figures.sums.failed,
        failures: pace.failures,
        crawl_delay: seconds(pace.crawl_delay),
        retry_after: seconds(pace.retry_after),
        delay: pace.wait.max(least).as_secs_f64(),
        why: pace.why,
        answered_at: known(pace.answered),
        ready_at: known(pace.ready),
        address: pace.address,
        last_failure: figures.last_failure.as_deref(),
    }
}
