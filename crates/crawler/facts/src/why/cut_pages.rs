//! Pages that limits cut: a URL without a known link may be beyond these limits.

use journal::{Limit, Totals, VisitRecord};
use settings::Settings;
use web::PageUrl;

use crate::skipped::beyond_limits;
use crate::skipped::beyond_limits::ReadLinks;

/// Maximum number of pages read again to find a link.
const MAX_READ: usize = 1_000;

/// The pages of a crawl that a limit cut.
#[derive(Default)]
pub(super) struct CutPages {
    /// The first pages with more links than the limit.
    with_more_links: Vec<VisitRecord>,
    totals: Totals,
}

impl CutPages {
    pub(super) fn add(&mut self, visit: &VisitRecord) {
        let cuts = &visit.details.cuts;
        if cuts.is_empty() {
            return;
        }
        self.totals.count(visit);
        let has_more = cuts.iter().any(|cut| cut.limit == Limit::Links);
        if has_more && self.with_more_links.len() < MAX_READ {
            self.with_more_links.push(visit.clone());
        }
    }

    pub(super) fn remove(&mut self, visit: &VisitRecord) {
        if !visit.details.cuts.is_empty() {
            self.totals.uncount(visit);
            self.with_more_links.retain(|known| known.url != visit.url);
        }
    }

    /// Explains how limits may have kept a URL from being found; `None` if no page was cut.
    pub(super) fn explain(&self, url: &PageUrl, settings: &Settings) -> Option<String> {
        let causes = beyond_limits::possible_causes(&self.totals);
        let of_requisites = beyond_limits::limits_of_requisites(&self.totals);
        if causes.is_none() && of_requisites.is_none() {
            return None;
        }
        let pages = beyond_limits::pages(settings);
        for visit in &self.with_more_links {
            // A page that was not archived is not in the archive.
            let Ok(page) = pages.read(visit) else {
                continue;
            };
            let mut read = ReadLinks::default();
            for link in &page.document.links {
                let is_read = read.has(link.kind);
                if link.url == *url && !is_read {
                    let page = visit.final_url.as_ref().unwrap_or(&visit.url);
                    return Some(beyond_limits::reason(page).1);
                }
            }
        }
        let mut reason = "it is in scope, but no link in the archive points to it (apart from \
            nofollow and --max-depth)"
            .to_owned();
        if let Some(causes) = causes {
            reason.push_str("; some visits were not read completely: ");
            reason.push_str(&causes);
        }
        if let Some(limits) = of_requisites {
            reason.push_str("; as a requisite of a page, it may be beyond ");
            reason.push_str(&limits);
        }
        Some(reason)
    }
}
