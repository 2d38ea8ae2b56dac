//! Rules that let in more than in an earlier session, and what this changes about its visits.
//!
//! A crawl forgets the links that its rules keep out. When a continued crawl has wider rules, its
//! archived pages are read once more, and their links are offered to the frontier, which drops
//! known URLs ([`links_of_archived`]). A URL that waited and was then excluded by a rule has a
//! visit record: [`RuleChange::lets_in`] decides which of these records are void. Fetched pages
//! stay as they are: duplicates, failures and truncated bodies are not fetched again.

use journal::{DiscoveredUrl, Fate, Reason, ReasonKind, Relevance, StoreFault, VisitRecord};
use policy::{DuplicateLinks, OnDuplicate, Policy};
use web::{Exchange, PageUrl, RobotsRules, Scope};

use crate::context::CrawlContext;
use crate::rebuild::archived_links::ArchivedLinks;
use crate::rebuild::following;
use crate::runtime::focus::Focus;
use crate::steps::content_filter;
use crate::steps::link_rules::LinkRules;
use crate::steps::link_score::PageScore;
use crate::steps::listings;
use crate::steps::reading::{AwaitedDoms, Kind, Reader};
use crate::steps::unvisited::LinkTally;

/// The rules of the session before and of this one.
pub struct RuleChange<'a> {
    /// The policy before, and now.
    pub policies: [&'a Policy; 2],
    /// The scope before, and now, each with its seeds.
    pub scopes: [&'a Scope; 2],
    /// True if a URL pattern may have more pages than before.
    pub more_of_patterns: bool,
    /// True if cookies are sent back, and were not before.
    pub sends_cookies: bool,
}

impl RuleChange<'_> {
    /// Returns true for the record of a URL that a rule excluded before, and that the same rule
    /// lets in now.
    #[must_use]
    pub fn lets_in(&self, visit: &VisitRecord) -> bool {
        if visit.fate != Fate::Excluded {
            return false;
        }
        let [before, now] = self.policies;
        let ignores_robots = now.ignore_robots && !before.ignore_robots;
        match ReasonKind::of_exclusion(visit) {
            ReasonKind::DuplicateLinks => {
                let follow = DuplicateLinks::Follow;
                now.duplicate_links == follow && before.duplicate_links != follow
            }
            ReasonKind::Pattern => before.traps.is_some() && now.traps.is_none(),
            ReasonKind::Limit => self.more_of_patterns,
            ReasonKind::Robots | ReasonKind::Page => {
                ignores_robots || self.serves_refused_use(visit)
            }
            ReasonKind::Scope => self.is_in_scope_now(visit, &now.reading.canonical),
            ReasonKind::Other => {
                let is_wanted_now = content_filter::excluded_by(before, visit)
                    && !content_filter::excluded_by(now, visit);
                is_wanted_now || self.follows_further(visit)
            }
            ReasonKind::Trap | ReasonKind::Cut => false,
        }
    }

    /// Returns true if the owner refuses a use that the crawl no longer respects.
    fn serves_refused_use(&self, visit: &VisitRecord) -> bool {
        let [_before, now] = self.policies;
        matches!(&visit.reason, Some(Reason::Preference { usage, .. })
            if !now.respected.contains(*usage))
    }

    /// Returns true if the URL that the scope excluded is let in now: the target of a redirect, or
    /// the page itself. A requisite may be let in from elsewhere.
    fn is_in_scope_now(&self, visit: &VisitRecord, form: &web::CanonicalForm) -> bool {
        let target = visit.reason.as_ref().and_then(Reason::redirects_to);
        let target = target.and_then(|url| PageUrl::parse(url, form).ok());
        let url = target.as_ref().unwrap_or(&visit.url);
        let let_in = |policy: &Policy, scope: &Scope| match (scope.judge(url), visit.requisite) {
            (Ok(()), _) => true,
            (Err(rule), 0) => policy.redirects_off_scope(visit.details.off_scope, &rule),
            (Err(_), _) => policy.page_requisites.let_in(scope, url),
        };
        let ([before, now], [scope_before, scope_now]) = (self.policies, self.scopes);
        !let_in(before, scope_before) && let_in(now, scope_now)
    }

    /// Returns true if a chain of redirects that was given up is followed further now.
    fn follows_further(&self, visit: &VisitRecord) -> bool {
        let [before, now] = self.policies;
        match visit.reason {
            Some(Reason::LongChain { .. }) => now.redirects > before.redirects,
            Some(Reason::CookieCircle) => self.sends_cookies,
            _ => false,
        }
    }
}

/// Queues the sitemaps that the robots.txt of a visited page's origin names, as the crawl remembers
/// it, and returns the number of new ones. No request is made.
///
/// # Errors
/// A fault of the store.
pub async fn offer_sitemaps(
    context: &CrawlContext,
    record: &VisitRecord,
) -> Result<usize, StoreFault> {
    let url = record.final_url.as_ref().unwrap_or(&record.url);
    let robots = context.frontier.hosts().robots(&url.origin()).await?;
    let text = robots.and_then(|robots| robots.text).unwrap_or_default();
    let rules = RobotsRules::parse(&text, &context.policy.reading.agent);
    let found = record.discovered();
    let sitemaps = {
        let scope = context.scope();
        let link_rules = LinkRules::new(context, &scope);
        let tally = &mut LinkTally::default();
        listings::named_sitemaps(link_rules, &found, url, &rules, tally)
    };
    context.frontier.discover(sitemaps).await
}

/// Returns the links of an archived page that the rules of this session follow. `before` is the
/// policy when the page was archived. Reads the page on this thread.
#[must_use]
pub fn links_of_archived(
    context: &CrawlContext,
    before: &Policy,
    record: &VisitRecord,
    exchange: &Exchange,
) -> Vec<DiscoveredUrl> {
    let found = record.discovered();
    let reader = Reader {
        policy: &context.policy,
        signatures: &context.adaptive_signatures,
        // The record has the relevance.
        focus: None,
        kind: Kind::of(&found),
        doms: AwaitedDoms::No,
    };
    let reading = reader.read_archived(exchange);
    let is_retained = record.fate.is_duplicate() && before.on_duplicate == OnDuplicate::Drop;
    let following = following(&context.policy, record, &reading, is_retained);
    let links = {
        let scope = context.scope();
        let links = ArchivedLinks {
            rules: LinkRules::new(context, &scope),
            link_scores: None,
            found: &found,
            page: exchange,
            record,
        };
        links.followed(&reading, following)
    };
    let topic = context.focus.as_ref().and_then(Focus::topic);
    let threshold = topic.map_or(Relevance::NONE, |topic| topic.threshold());
    let page_score = PageScore::recorded(&found, record, threshold);
    page_score.score_links(context, reading.document.as_ref(), links)
}
