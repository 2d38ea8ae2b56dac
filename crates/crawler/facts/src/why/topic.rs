//! The topic's part in a decision: the words that counted for a page, or for a waiting link.
//!
//! The archive notes the topic's words on each judged page. The words of a link are read again from
//! the page that contains it, if that page is archived. Words in the link's URL are always
//! available.

use std::path::Path;

use journal::{DiscoveredUrl, VisitRecord};
use messages::CommandError;
use serde::Serialize;
use settings::crawl_topic::CrawlTopic;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};
use topic::LinkText;
use web::PageUrl;

/// Maximum number of a link's words that are named.
const WORDS: usize = 8;

/// The topic's part in a decision.
#[derive(Debug, Default, Serialize)]
pub struct TopicPart {
    /// Relevance of a visited page.
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// Level of a waiting page: 1 is the best of 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
    /// Number of consecutive pages off topic on the path to it; 3 means 3 or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    off_topic_before: Option<u8>,
    /// The topic's words on the page, or of the link and its surroundings.
    words: Vec<String>,
}

impl TopicPart {
    /// Returns the topic's part in the fate of a visited page; `None` if the page was not judged.
    pub(super) fn of_page(settings: &Settings, visit: &VisitRecord) -> Option<Self> {
        let relevance = visit.details.relevance?;
        let words = ArchivedPages::of(settings).topic_words(visit);
        let words = words.unwrap_or_default();
        Some(Self {
            relevance: Some(relevance.share()),
            words: words.split_whitespace().map(str::to_owned).collect(),
            ..Self::default()
        })
    }

    /// Returns the topic's part in the queue position of a waiting page; `None` without a score.
    ///
    /// # Errors
    /// The topic or the journal cannot be read.
    pub(super) fn of_link(
        settings: &Settings,
        found: &DiscoveredUrl,
    ) -> Result<Option<Self>, CommandError> {
        let Some(score) = found.link_score() else {
            return Ok(None);
        };
        let mut words = Vec::new();
        let topic = CrawlTopic::of_crawl(&settings.out)?;
        let topic = topic
            .map(|topic| topic.weighed(&settings.out))
            .transpose()?;
        if let Some(topic) = topic.flatten() {
            let page = match &found.via {
                Some(via) => page_with_link(settings, &crawl_directory::state(&settings.out), via)?,
                None => None,
            };
            let links = page.as_ref().map_or(&[][..], |document| &document.links);
            let link = links.iter().find(|link| link.url == found.url);
            let context = link.and_then(|link| link.context.as_ref());
            let text = LinkText {
                anchor: link.map_or("", |link| &link.anchor),
                around: context.map_or("", |context| &context.around),
                url: &found.url,
            };
            let spoke = topic.link_words_that_spoke(&text, WORDS).into_iter();
            words = spoke.map(|(word, _)| word).collect();
        }
        let (level, run) = DiscoveredUrl::level_and_run(score);
        Ok(Some(Self {
            level: Some(level + 1),
            off_topic_before: Some(run),
            words,
            ..Self::default()
        }))
    }

    /// Returns the lines of text output: relevance or score, and the words.
    pub fn lines(&self) -> [(&'static str, Option<String>); 3] {
        let score = self.level.map(|level| {
            let before = match self.off_topic_before {
                None | Some(0) => String::new(),
                Some(1) => ", after an off-topic page".to_owned(),
                Some(run) => format!(", after {run} consecutive off-topic pages"),
            };
            format!("level {level} of {}{before}", DiscoveredUrl::LEVELS)
        });
        let words = (!self.words.is_empty()).then(|| self.words.join(" "));
        [
            ("relevance", self.relevance.map(|share| share.to_string())),
            ("link score", score),
            ("topic words", words),
        ]
    }
}

/// Returns the page with the link, if it is archived.
fn page_with_link(
    settings: &Settings,
    state: &Path,
    via: &PageUrl,
) -> Result<Option<web::Document>, CommandError> {
    let mut found = None;
    for visit in journal::visits(state)? {
        let visit = visit?;
        if visit.kept && (visit.url == *via || visit.final_url.as_ref() == Some(via)) {
            found = Some(visit);
        }
    }
    let page = found.map(|visit| ArchivedPages::of(settings).read(&visit));
    Ok(page.and_then(Result::ok).map(|page| page.document))
}
