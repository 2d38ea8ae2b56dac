//! One page: its visit, the rule that decided, the record in the archive, its text, its original
//! and its cluster.

mod archived;

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use journal::{Position, Record, Rendered, VisitRecord, record_at};
use serde::Deserialize;
use web::PageUrl;

use self::archived::ArchivedRecord;
use super::{Dashboard, Explanation, cluster};
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};
use crate::paging::encoded;

/// The question: a URL.
#[derive(Debug, Deserialize)]
pub(crate) struct PageQuery {
    pub(crate) url: String,
}

/// A fact about a page: a label, and its value.
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    /// True if the value is a URL.
    pub(crate) is_url: bool,
}

impl Fact {
    /// Returns a fact, if its value is known.
    pub(crate) fn of(label: &'static str, value: Option<String>) -> Option<Self> {
        value.map(|value| Self {
            label,
            value: cut(&value, caps::REASON),
            is_url: false,
        })
    }
}

/// A cluster that the page belongs to.
pub(crate) struct ClusterOfPage {
    pub(crate) original: String,
    /// The address of the list of all of its members.
    pub(crate) address: String,
    pub(crate) duplicates: u64,
    /// The newest members, newest first.
    pub(crate) newest: Vec<Member>,
}

/// A duplicate in a cluster.
pub(crate) struct Member {
    pub(crate) url: String,
    pub(crate) verdict: &'static str,
}

#[derive(Template)]
#[template(path = "dashboard/page.html")]
struct PagePage {
    frame: Frame,
    linked: bool,
    url: String,
    explanation: Explanation,
    facts: Vec<Fact>,
    record: Option<Result<ArchivedRecord, String>>,
    text: Option<String>,
    /// The page that it repeats, and its facts.
    repeated: Option<String>,
    original: Vec<Fact>,
    cluster: Option<ClusterOfPage>,
    /// True if the page was kept, so that its signature is stored.
    has_signature: bool,
    /// True if it was not archived as a duplicate of another page.
    may_be_distinct: bool,
    /// True if there is something to look at: a capture, or its original's.
    may_be_shown: bool,
}

/// All that one look at the statistics finds about a page.
struct Found {
    frame: Frame,
    position: Option<Position>,
}

/// Shows a page.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<PageQuery>,
) -> Result<Html, Refusal> {
    let url = dashboard.parse(&query.url)?;
    let asked = url.clone();
    let visited = dashboard
        .answer(move |dashboard| visited(dashboard, granted, &asked))
        .await?;
    match visited {
        Some(page) => Ok(page),
        // Only the whole journal knows about a URL that was not visited.
        None => {
            dashboard
                .answer_slowly(move |dashboard| unvisited(dashboard, granted, &url))
                .await
        }
    }
}

/// Returns the name of an archive file; `None` for a path, which could point outside the archive.
pub(crate) fn archived_name(file: &str) -> Option<&str> {
    archived::is_name(file).then_some(file)
}

/// Returns the page of a visited URL; `None` if it was not visited.
fn visited(
    dashboard: &Dashboard,
    granted: Granted,
    url: &PageUrl,
) -> Result<Option<Html>, Refusal> {
    let found = dashboard.look(|look| Found {
        frame: dashboard.frame(Tab::Elsewhere, granted, look),
        position: look.statistics.position_of(url),
    });
    let Some(visit) = visit_at(dashboard, found.position, url)? else {
        return Ok(None);
    };
    let original = match &visit.duplicate_of {
        Some(original) if !visit.of_earlier => visit_of(dashboard, original)?,
        _ => None,
    };
    let place = visit.warc_file.as_deref().zip(visit.warc_offset);
    let content = visit.content_place().filter(|_| visit.kept);
    let text = content
        .and_then(|(file, offset)| (dashboard.crawl.queries.text)(archived_name(file)?, offset));
    let explanation = Explanation::of(&visit);
    let page = PagePage {
        frame: found.frame,
        linked: true,
        url: cut(visit.url.as_str(), caps::ADDRESS),
        explanation: Explanation {
            reason: cut(&explanation.reason, caps::REASON),
            ..explanation
        },
        facts: facts(&visit),
        record: place.map(|(file, offset)| {
            let archive = &dashboard.crawl.archive;
            let record = ArchivedRecord::read(archive, file, offset, visit.dom_offset());
            record.map_err(|reason| cut(&reason, caps::REASON))
        }),
        text: text.map(|text| cut(&text, caps::PAGE_TEXT)),
        repeated: original
            .as_ref()
            .map(|visit| cut(visit.url.as_str(), caps::ADDRESS)),
        original: original.as_ref().map(facts).unwrap_or_default(),
        cluster: cluster_of(dashboard, &visit)?,
        has_signature: visit.fate.is_original(),
        may_be_distinct: is_not_archived(&visit),
        may_be_shown: visit.kept || visit.duplicate_of.is_some(),
    };
    Html::of(&page).map(Some)
}

/// Returns the page of a URL that was not visited.
fn unvisited(dashboard: &Dashboard, granted: Granted, url: &PageUrl) -> Result<Html, Refusal> {
    let explained = (dashboard.crawl.queries.explain)(url.as_str());
    let explanation = explained.map_err(Refusal::Unavailable)?;
    Html::of(&PagePage {
        frame: dashboard.look(|look| dashboard.frame(Tab::Elsewhere, granted, look)),
        linked: true,
        url: cut(url.as_str(), caps::ADDRESS),
        explanation: Explanation {
            verdict: explanation.verdict,
            reason: cut(&explanation.reason, caps::REASON),
        },
        facts: Vec::new(),
        record: None,
        text: None,
        repeated: None,
        original: Vec::new(),
        cluster: None,
        has_signature: false,
        may_be_distinct: false,
        may_be_shown: false,
    })
}

/// Returns true for a page that was not archived as a duplicate of another, so that a user may
/// object.
pub(crate) fn is_not_archived(visit: &VisitRecord) -> bool {
    let original = visit.duplicate_of.as_ref();
    visit.fate.is_duplicate()
        && !visit.kept
        && original.is_some_and(|original| *original != visit.url)
}

/// Returns the last visit of a URL, if it was visited.
pub(crate) fn visit_of(
    dashboard: &Dashboard,
    url: &PageUrl,
) -> Result<Option<VisitRecord>, Refusal> {
    let position = dashboard.look(|look| look.statistics.position_of(url));
    visit_at(dashboard, position, url)
}

/// Returns the visit at a position of the journal, if it is one of this URL: two URLs may have one
/// key.
fn visit_at(
    dashboard: &Dashboard,
    position: Option<Position>,
    url: &PageUrl,
) -> Result<Option<VisitRecord>, Refusal> {
    let Some(position) = position else {
        return Ok(None);
    };
    let record = record_at(&dashboard.crawl.state, position);
    match record.map_err(|fault| Refusal::Unavailable(fault.to_string()))? {
        Record::Settled(settled) if settled.visit.record.url == *url => {
            Ok(Some(*settled.visit.record))
        }
        _ => Ok(None),
    }
}

/// Returns the facts about a visit, in display order.
fn facts(visit: &VisitRecord) -> Vec<Fact> {
    fn address(label: &'static str, url: Option<&PageUrl>) -> Option<Fact> {
        url.map(|url| Fact {
            label,
            value: cut(url.as_str(), caps::ADDRESS),
            is_url: true,
        })
    }
    let yes = |is_so: bool| is_so.then(|| "yes".to_owned());
    let some = |count: u64| Some(count).filter(|count| *count > 0).map(format::count);
    let place = visit.warc_file.as_ref().zip(visit.warc_offset);
    let facts = [
        Fact::of("Title", visit.title.clone()),
        Fact::of("Status", visit.status.map(|status| status.to_string())),
        Fact::of("Fetched", Some(format::time(visit.fetched_at))),
        Fact::of("Response time", visit.details.duration.map(format::span)),
        Fact::of("Redirects", some(u64::from(visit.details.redirects))),
        address("Final URL", visit.final_url.as_ref()),
        address("Canonical URL", visit.canonical.as_ref()),
        address("Found on", visit.via.as_ref()),
        Fact::of("Links from a seed", Some(visit.depth.to_string())),
        Fact::of("Type", visit.content_type.clone()),
        Fact::of("Kind", Some(visit.kind().to_owned())),
        Fact::of("Received", Some(format::bytes(visit.bytes))),
        Fact::of("Digest", visit.details.digest.clone()),
        Fact::of(
            "Words",
            visit.details.words.map(|words| format::count(words.into())),
        ),
        Fact::of("Needs scripts", yes(visit.details.needs_scripts)),
        Fact::of("Rendered", visit.details.rendered.as_ref().map(rendered)),
        Fact::of("Character set", visit.charset.clone()),
        Fact::of("Language", visit.language.clone()),
        Fact::of(
            "Fingerprint",
            visit.fingerprint.map(|print| print.to_string()),
        ),
        address("Repeats", visit.duplicate_of.as_ref()),
        Fact::of("Of an earlier crawl", yes(visit.of_earlier)),
        Fact::of(
            "Distance",
            visit.distance.map(|bits| format!("{bits} bits")),
        ),
        Fact::of(
            "Resemblance",
            visit
                .resemblance
                .map(|resemblance| format!("{resemblance:.3}")),
        ),
        Fact::of(
            "Archived",
            place.map(|(file, offset)| format!("{file} at {}", format::count(offset))),
        ),
    ];
    facts.into_iter().flatten().collect()
}

/// Returns the result of running the scripts of a page, for people.
fn rendered(result: &Rendered) -> String {
    match result {
        Rendered::Dom { adds, .. } => match adds {
            true => "yes: the DOM after its scripts ran was judged".to_owned(),
            false => "yes: its scripts changed next to nothing".to_owned(),
        },
        Rendered::Failed(reason) => format!("failed: {reason}"),
    }
}

/// Returns the cluster of a page, if it has one, with its newest members.
fn cluster_of(
    dashboard: &Dashboard,
    visit: &VisitRecord,
) -> Result<Option<ClusterOfPage>, Refusal> {
    let original = match &visit.duplicate_of {
        Some(original) if visit.fate.is_duplicate() => original,
        _ => &visit.url,
    };
    let of_earlier = visit.of_earlier && visit.fate.is_duplicate();
    let positions = dashboard.look(|look| look.statistics.members_of(original, of_earlier));
    if positions.is_empty() {
        return Ok(None);
    }
    let newest = &positions[positions.len().saturating_sub(caps::EXAMPLES)..];
    let newest = cluster::members(dashboard, original, of_earlier, newest)?;
    let member = |visit: &VisitRecord| Member {
        url: cut(visit.url.as_str(), caps::ADDRESS),
        verdict: visit.fate.as_str(),
    };
    Ok(Some(ClusterOfPage {
        original: cut(original.as_str(), caps::ADDRESS),
        address: cluster::address(original.as_str(), of_earlier),
        duplicates: positions.len() as u64,
        newest: newest.iter().rev().map(member).collect(),
    }))
}

impl ClusterOfPage {
    /// Returns true if it has members that are not shown.
    fn has_more(&self) -> bool {
        self.duplicates > self.newest.len() as u64
    }
}

impl PagePage {
    /// Returns the address of the list of similar pages.
    fn similar(&self) -> String {
        format!("/similar?url={}", encoded(&self.url))
    }

    /// Returns the address of the comparison with the original.
    fn difference(&self) -> String {
        format!("/difference?url={}", encoded(&self.url))
    }
}
