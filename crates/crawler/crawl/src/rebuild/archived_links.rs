//! The links of an archived page, as the crawl queued them.
//!
//! The archive's verdict decides how far the page is followed, and how it speaks for its links. The
//! topic has its present weights, which may differ from the weights at the time of the visit.

use std::ops::ControlFlow;

use journal::{DiscoveredUrl, VisitRecord};
use policy::Following;
use web::Exchange;

use crate::steps::link_rules::LinkRules;
use crate::steps::link_score::{LinkScores, PageScore};
use crate::steps::links::WantedLinks;
use crate::steps::listings;
use crate::steps::reading::Reading;
use crate::steps::unvisited::LinkTally;

/// The links of an archived page.
pub(crate) struct ArchivedLinks<'a> {
    pub(crate) rules: LinkRules<'a>,
    pub(crate) link_scores: Option<LinkScores<'a>>,
    /// The page as it was queued, as it was archived, and the record of its visit.
    pub(crate) found: &'a DiscoveredUrl,
    pub(crate) page: &'a Exchange,
    pub(crate) record: &'a VisitRecord,
}

impl ArchivedLinks<'_> {
    /// Returns the links to visit, each with its score.
    pub(crate) fn followed(self, reading: &Reading, following: Following) -> Vec<DiscoveredUrl> {
        let wanted = WantedLinks {
            pages: following.leads_on(),
            // A page that is read here is archived whole.
            requisites: true,
        };
        let Self { rules, found, .. } = self;
        let mut followed = Vec::new();
        let (at, tally) = (&self.page.url, &mut LinkTally::default());
        if let Some(document) = &reading.document {
            let outlinks = rules.outlinks(found, at, document, wanted, tally);
            let queued = following.queued(outlinks.discovered);
            let page_score = self.page_score();
            followed = page_score.rescore_links(self.link_scores, Some(document), queued);
        }
        if let Some(kind) = reading.listing.filter(|_| wanted.pages) {
            let page_score = PageScore::of(found, None);
            listings::read_in_parts(rules.policy, self.page, kind, |part| {
                let entries = listings::to_visit(rules, found, at, &part, tally);
                let queued = following.queued(entries);
                followed.extend(page_score.rescore_links(self.link_scores, None, queued));
                ControlFlow::Continue(())
            });
        }
        followed
    }

    fn page_score(&self) -> PageScore {
        let threshold = self
            .link_scores
            .map(|link_scores| link_scores.topic.threshold());
        PageScore::recorded(self.found, self.record, threshold.unwrap_or_default())
    }
}
