//! Which links of a page are queued.

use store::{Fate, Find, Lease};
use web::PageUrl;

use crate::judgement::Judgement;
use crate::reading::Reading;
use crate::{Counts, Crew};

/// The links of a page that are to be visited, in the order of the page. The frontier drops those it knows.
pub(crate) fn discover(
    crew: &Crew,
    lease: &Lease,
    page: &PageUrl,
    reading: &Reading,
    judgement: &Judgement,
) -> Vec<Find> {
    let Some(document) = &reading.document else {
        return Vec::new();
    };
    let mut counts = Counts {
        links_found: document.links.len() as u64,
        ..Counts::default()
    };
    let mut finds = Vec::new();
    if judgement.follow {
        let depth = lease.depth + 1;
        let scope = crew
            .scope
            .read()
            .expect("no panic can happen while the scope is locked");
        for link in &document.links {
            if link.nofollow && !crew.policy.ignore_robots {
                counts.links_nofollow += 1;
            } else if crew.policy.max_depth.is_some_and(|max| depth > max) {
                counts.links_too_deep += 1;
            } else if scope.judge(&link.url).is_err() {
                counts.links_out_of_scope += 1;
            } else {
                finds.push(Find {
                    url: link.url.clone(),
                    depth,
                    via: Some(page.clone()),
                });
            }
        }
    } else if matches!(judgement.fate, Fate::ExactDuplicate | Fate::NearDuplicate) {
        counts.links_of_duplicates = counts.links_found;
    } else {
        counts.links_nofollow = counts.links_found;
    }
    crew.telemetry.add(&counts);
    finds
}
