//! The links of a page in its `metadata` record.
//!
//! One field per link, as Heritrix writes them and others read them: the URL, a letter for the kind
//! of hop, and the context. The letters are the same as in Heritrix's crawl logs. Only the kind of
//! context is known here, so the field contains Heritrix's word for that kind.
//!
//! If a page is not archived although its links are followed, the archive has no other trace of
//! these links. So the queued links have fields of their own: the URL and the score. `crawler
//! rebuild` reads them.

use journal::{DiscoveredUrl, Fate, VisitRecord};
use sinks::{Keeping, MetadataField};
use web::{CanonicalForm, Document, LinkKind, PageUrl};

use crate::steps::link_rules::LinkRules;

/// Maximum number of recorded links per page; Heritrix keeps 6,000.
const MAX_LINKS: usize = 6_000;
/// Maximum number of recorded queued links per page: the same as the limit of read links.
const MAX_QUEUED: usize = 50_000;

/// The field with a link that was queued, and its score.
const QUEUED: &str = "queued-link";
/// The field with the number of further links that were queued.
const QUEUED_OMITTED: &str = "queued-links-omitted";

/// Returns the outlink fields of a document; empty unless they are wanted.
pub(crate) fn notes(is_wanted: bool, document: Option<&Document>) -> Vec<MetadataField> {
    let Some(document) = document.filter(|_| is_wanted) else {
        return Vec::new();
    };
    let field = |link: &web::Link| {
        let context = hop_and_context(link.kind);
        format!("{} {context}", link.url.written())
    };
    let fields = document.links.iter().map(field);
    let omitted = document.links.len().saturating_sub(MAX_LINKS);
    let recorded = fields.take(MAX_LINKS).map(|field| ("outlink", field));
    recorded
        .chain(number_of("outlinks-omitted", omitted))
        .collect()
}

/// Returns the fields of the links that were queued from a page whose content is not archived: the
/// page is off topic, or an earlier crawl has it, compressed differently. Returns no fields for
/// other pages.
pub(crate) fn queued(
    visit: &VisitRecord,
    keeping: &Keeping,
    links: &[DiscoveredUrl],
) -> Vec<MetadataField> {
    let is_not_archived = matches!(keeping, Keeping::NotArchived | Keeping::TextOnly { .. });
    let is_followed = visit.fate == Fate::OffTopic || visit.repeats_itself();
    if !is_not_archived || !is_followed {
        return Vec::new();
    }
    let field = |link: &DiscoveredUrl| match link.link_score() {
        Some(score) => format!("{} {score}", link.url.written()),
        None => link.url.written().into_owned(),
    };
    let omitted = links.len().saturating_sub(MAX_QUEUED);
    let recorded = links.iter().take(MAX_QUEUED);
    let recorded = recorded.map(|link| (QUEUED, field(link)));
    recorded.chain(number_of(QUEUED_OMITTED, omitted)).collect()
}

/// The queued links that a `metadata` record names.
#[derive(Debug, Default)]
pub(crate) struct NotedLinks {
    pub(crate) links: Vec<DiscoveredUrl>,
    /// Number of further links, whose URLs are omitted.
    pub(crate) omitted: u64,
}

impl NotedLinks {
    /// Reads the links of the page at `at`, which was queued as `found`. Skips invalid URLs.
    pub(crate) fn of(
        fields: &[(String, String)],
        form: &CanonicalForm,
        found: &DiscoveredUrl,
        at: &PageUrl,
    ) -> Self {
        let mut noted = Self::default();
        for (name, value) in fields {
            if name == QUEUED_OMITTED {
                noted.omitted = value.parse().unwrap_or_default();
            }
            if name != QUEUED || noted.links.len() == MAX_QUEUED {
                continue;
            }
            let (url, score) = value.split_once(' ').unwrap_or((value, ""));
            let Ok(url) = PageUrl::parse(url, form) else {
                continue;
            };
            let link = DiscoveredUrl::new(url, found.depth + 1, Some(at.clone()));
            noted.links.push(match score.parse() {
                Ok(score) => link.with_link_score(score),
                Err(_without_score) => link,
            });
        }
        noted
    }

    /// Adds the distances of the links from the scope, which the fields omit.
    pub(crate) fn measure(&mut self, rules: LinkRules<'_>, found: &DiscoveredUrl, at: &PageUrl) {
        let off_scope = rules.off_scope(found, at);
        for link in &mut self.links {
            let hop = rules.policy.hop(rules.scope, off_scope, &link.url);
            link.off_scope = hop.unwrap_or_default();
        }
    }
}

/// Returns the field with a number of links, unless that is 0.
fn number_of(name: &'static str, links: usize) -> Option<MetadataField> {
    (links > 0).then(|| (name, links.to_string()))
}

/// Returns the hop and context of a link.
const fn hop_and_context(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Page => "L =NAVLINK_MISC",
        LinkKind::Frame | LinkKind::Requisite => "E =EMBED_MISC",
        LinkKind::Refresh => "R meta",
        LinkKind::Form => "L form/@action",
        LinkKind::Script => "X =JS_MISC",
    }
}

#[cfg(test)]
mod tests {
    use web::Timestamp;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.test{path}"), &CanonicalForm::default()).unwrap()
    }

    fn page() -> DiscoveredUrl {
        DiscoveredUrl::new(url("/"), 3, None)
    }

    fn off_topic() -> VisitRecord {
        VisitRecord::new(page(), Fate::OffTopic, Timestamp::default())
    }

    fn links(count: usize) -> Vec<DiscoveredUrl> {
        let link = |number: usize| {
            let url = url(&format!("/{number}"));
            let link = DiscoveredUrl::new(url, 4, Some(page().url));
            link.with_link_score((number % 32) as u8)
        };
        (0..count).map(link).collect()
    }

    fn read_back(fields: &[MetadataField]) -> NotedLinks {
        let fields: Vec<(String, String)> = fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        NotedLinks::of(&fields, &CanonicalForm::default(), &page(), &url("/"))
    }

    #[test]
    fn queued_links_are_read_back_as_they_were_up_to_the_most_and_the_others_are_counted() {
        for (count, omitted) in [(0, 0), (40, 0), (MAX_QUEUED, 0), (MAX_QUEUED + 1, 1)] {
            let links = links(count);
            let noted = read_back(&queued(&off_topic(), &Keeping::NotArchived, &links));
            assert_eq!(noted.links, links[..count.min(MAX_QUEUED)], "{count}");
            assert_eq!(noted.omitted, omitted, "{count}");
        }
    }

    #[test]
    fn pages_of_which_the_archive_has_the_links_name_none() {
        let links = links(3);
        for (fate, keeping) in [
            (Fate::OffTopic, Keeping::Whole),
            (Fate::Unique, Keeping::Whole),
            (Fate::Failed, Keeping::NotArchived),
        ] {
            let visit = VisitRecord {
                fate,
                ..off_topic()
            };
            assert_eq!(queued(&visit, &keeping, &links), [], "{fate:?}");
        }
    }

    #[test]
    fn links_that_are_no_urls_or_have_no_score_harm_nothing() {
        let field = |value: &str| ("queued-link", value.to_owned());
        let values = ["", "nonsense 3", "http://a.test/1", "http://a.test/2 x 7"];
        let noted = read_back(&values.map(field));
        let found: Vec<(&str, u8)> = noted
            .links
            .iter()
            .map(|link| (link.url.as_str(), link.priority))
            .collect();
        assert_eq!(found, [("http://a.test/1", 0), ("http://a.test/2", 0)]);
        let beyond = read_back(&[field("http://a.test/3 200")]);
        assert_eq!(beyond.links[0].link_score(), Some(31));
        let many: Vec<MetadataField> = (0..=MAX_QUEUED)
            .map(|number| field(&format!("http://a.test/{number}")))
            .collect();
        assert_eq!(read_back(&many).links.len(), MAX_QUEUED);
    }
}
