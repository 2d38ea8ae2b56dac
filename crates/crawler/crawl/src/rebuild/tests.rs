use journal::Rendered;
use neardup::{Features, HashKey, SignatureBuilder};
use reading::ReadingRules;
use sinks::PayloadDigest;
use web::{Body, Protocol, ScopeKind};

use super::*;

const PAGE: &str = "http://a.test/app";
const SHELL: &str = "<title>App</title><script src=app.js></script>";
const DOM: &str = "<title>News</title><p>Two parties agreed on the budget of the next year, \
                   after a night of talks in the capital.<a href=next>More</a>";

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text, &CanonicalForm::default()).unwrap()
}

fn body(text: &str) -> Body {
    bytes::Bytes::copy_from_slice(text.as_bytes()).into()
}

/// Returns the page as received.
fn page() -> Exchange {
    let mut headers = http::HeaderMap::new();
    let media = http::HeaderValue::from_static("text/html");
    headers.insert(http::header::CONTENT_TYPE, media);
    Exchange {
        url: url(PAGE),
        request_head: Vec::new(),
        status: 200,
        headers,
        body: body(SHELL),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: Timestamp::from_millis(1),
        elapsed: Duration::from_millis(5),
    }
}

struct Crawl {
    policy: Policy,
    signatures: AdaptiveSignatures,
    quota: ListingQuota,
}

impl Crawl {
    fn new() -> Self {
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        Self {
            policy: Policy::new(ReadingRules::default()),
            signatures: AdaptiveSignatures::new(builder),
            quota: ListingQuota::default(),
        }
    }

    /// Returns the record of the page and its signature, as a crawl makes them.
    fn visited(&self, found: &DiscoveredUrl) -> (VisitRecord, PageSignature) {
        let reader = Reader {
            policy: &self.policy,
            signatures: &self.signatures,
            focus: None,
            kind: Kind::of(found),
            doms: AwaitedDoms::No,
        };
        let page = page();
        let mut reading = reader.read_archived(&page);
        reading.replace_by_dom(reader.read_archived(&page.with_dom(body(DOM))));
        let never = Timestamp::default();
        let pages = std::slice::from_ref(&page);
        let mut record =
            visit_record::without_page(found.clone(), pages, never, Fate::Unique, Reason::said(""));
        record.reason = None;
        visit_record::record_content(&mut record, &reading);
        record.payload = Some(reading.signature.payload);
        record.details.rendered = Some(Rendered::Dom {
            offset: None,
            adds: true,
        });
        (record, reading.signature)
    }

    fn rebuilt(&self, visit: ArchivedVisit) -> RebuiltVisit {
        let rules = RebuildRules {
            policy: &self.policy,
            adaptive_signatures: &self.signatures,
            quota: &self.quota,
            link_scores: None,
        };
        let mut scope = Scope::new(ScopeKind::Host, &[], &[]).unwrap();
        scope.add_seed(&url(PAGE));
        rebuild_visit(rules, &mut scope, visit)
    }
}

fn owned(fields: Vec<sinks::MetadataField>) -> Vec<(String, String)> {
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[test]
fn a_rendered_visit_is_rebuilt_as_crawled() {
    let crawl = Crawl::new();
    let found = DiscoveredUrl::new(url(PAGE), 0, None);
    let (record, signature) = crawl.visited(&found);
    let digest = PayloadDigest::of(SHELL.as_bytes()).to_string();
    assert_eq!(record.details.digest, Some(digest), "of the bytes received");
    assert_eq!(record.title.as_deref(), Some("News"));
    assert!(record.details.needs_scripts);

    let rebuilt = crawl.rebuilt(ArchivedVisit {
        page: found,
        at: Timestamp::from_millis(1),
        exchanges: vec![page()],
        kept: true,
        dom: Some(page().with_dom(body(DOM))),
        notes: owned(visit_record::metadata(&record, &[], Vec::new())),
        robots: Vec::new(),
        unchanged: None,
    });
    assert_eq!(rebuilt.record, record);
    assert_eq!(rebuilt.signature, Some(signature));
    let discovered = rebuilt.discovered.iter();
    let discovered: Vec<_> = discovered.map(|link| link.url.as_str()).collect();
    assert!(discovered.contains(&"http://a.test/next"), "{discovered:?}");
}

#[test]
fn a_page_whose_scripts_failed_is_rebuilt_as_received() {
    let crawl = Crawl::new();
    let found = DiscoveredUrl::new(url(PAGE), 0, None);
    let failed = ("rendered", "failed: the browser ended".to_owned());
    let rebuilt = crawl.rebuilt(ArchivedVisit {
        page: found,
        at: Timestamp::from_millis(1),
        exchanges: vec![page()],
        kept: true,
        dom: None,
        notes: owned(vec![("verdict", "unique".to_owned()), failed]),
        robots: Vec::new(),
        unchanged: None,
    });
    assert_eq!(rebuilt.record.title.as_deref(), Some("App"));
    assert!(rebuilt.record.details.needs_scripts);
    let reason = Rendered::Failed("the browser ended".to_owned());
    assert_eq!(rebuilt.record.details.rendered, Some(reason));
}
