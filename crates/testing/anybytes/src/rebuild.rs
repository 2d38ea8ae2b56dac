//! Visits that are rebuilt from an archive.

use corpus::exchange;
use crawl::{AdaptiveSignatures, ArchivedVisit, ListingQuota, RebuildRules, rebuild_visit};
use journal::DiscoveredUrl;
use neardup::{Features, HashKey, SignatureBuilder};
use policy::Policy;
use reading::ReadingRules;
use sinks::captures::CaptureKind;
use web::{Exchange, Scope, ScopeKind};

use crate::any_archive::{archive, judged_records};

/// Rebuilds a visit of each capture in an archive of any records. Redirects before it belong to it,
/// and any `metadata` record has the notes of the next one. A page that is rebuilt is in the
/// archive, and its links lie below it.
pub fn rebuild(bytes: &[u8]) {
    let policy = Policy::new(ReadingRules::default());
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let rules = RebuildRules {
        policy: &policy,
        adaptive_signatures: &AdaptiveSignatures::new(builder),
        quota: &ListingQuota::default(),
        link_scores: None,
    };
    let mut scope = Scope::new(ScopeKind::Host, &[], &[]).expect("it has no expressions");
    scope.add_seed(&crate::base::page());
    let (mut exchanges, mut notes, mut robots) = (Vec::<Exchange>::new(), Vec::new(), Vec::new());
    for (record, kind) in judged_records(archive(bytes)) {
        match record.kind() {
            "metadata" => notes = fields(&record.block),
            "resource" => {
                let url = record.page_url(&policy.reading.canonical);
                robots.extend(url.map(|url| (url, record.block.to_vec())));
            }
            _ => {}
        }
        let exchange = exchange(&record, &policy.reading.canonical);
        let Some(exchange) = exchange.filter(|_| kind == CaptureKind::ByStatus) else {
            continue;
        };
        let is_redirect = exchange.location().is_some();
        exchanges.push(exchange);
        if is_redirect {
            continue;
        }
        let exchanges = std::mem::take(&mut exchanges);
        let kept = record.kind() != "revisit";
        let visit = ArchivedVisit {
            page: DiscoveredUrl::new(exchanges[0].url.clone(), 0, None),
            at: exchanges[0].started,
            unchanged: exchanges.last().filter(|_| !kept).cloned(),
            exchanges,
            kept,
            dom: None,
            notes: std::mem::take(&mut notes),
            robots: std::mem::take(&mut robots),
        };
        check(rules, &mut scope, visit);
    }
}

fn check(rules: RebuildRules<'_>, scope: &mut Scope, visit: ArchivedVisit) {
    let kept = visit.kept;
    let rebuilt = rebuild_visit(rules, scope, visit);
    assert!(kept || rebuilt.signature.is_none(), "no text, no signature");
    let has_sources = |links: &[DiscoveredUrl]| links.iter().all(|link| link.via.is_some());
    assert!(has_sources(&rebuilt.discovered), "a link has its page");
    assert!(has_sources(&rebuilt.sitemaps), "a sitemap has its page");
    let reached = &rebuilt.reached;
    assert!(
        !reached.contains(&rebuilt.record.url),
        "a page reaches others"
    );
}

/// Returns the fields of a note.
fn fields(block: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(block);
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}
