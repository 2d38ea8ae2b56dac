//! Links beyond the limit per page: archived pages are read again without the limit on links.

use journal::{Limit, ReasonKind, Totals, UnreadFormat};
use messages::say;
use settings::read_again::ArchivedPages;
use settings::{Settings, limits};
use web::{LinkKind, LinkKinds, PageUrl, ReadLimits};

/// Maximum number of links per page that are read here. A page of 8 MiB has fewer.
const MAX_LINKS: usize = 1_000_000;

/// Returns the pages of a crawl, to be read with all their links.
pub(crate) fn pages(settings: &Settings) -> ArchivedPages {
    let mut pages = ArchivedPages::of(settings);
    pages.archive.rules.limits.links = MAX_LINKS;
    pages
}

/// The links of a page that the crawl has read, in the order of the page.
#[derive(Default)]
pub(crate) struct ReadLinks {
    pages: usize,
    others: usize,
}

impl ReadLinks {
    /// Counts the next link; returns true if it is within the limit of the crawl.
    pub(crate) fn has(&mut self, kind: LinkKind) -> bool {
        let count = match LinkKinds::PAGES.has(kind) {
            true => &mut self.pages,
            false => &mut self.others,
        };
        *count += 1;
        *count <= ReadLimits::default().links
    }
}

/// Returns the reason for a link of `page` that is beyond the limit.
pub(crate) fn reason(page: &PageUrl) -> (ReasonKind, String) {
    let (most, limit) = (ReadLimits::default().links, Limit::Links);
    let reason = format!("it is beyond the first {most} links of {page} ({limit})");
    (ReasonKind::Cut, reason)
}

/// Prints the limits that cut visits, and the kinds of documents that are not read.
pub(super) fn say_cuts(totals: &Totals) {
    for (limit, sum) in totals.limits() {
        let noun = if sum.visits == 1 { "visit" } else { "visits" };
        let (visits, loss) = (sum.visits, limit.loss());
        let lost = match sum.lost {
            0 => String::new(),
            lost => format!(" ({lost})"),
        };
        say(&format!("{visits:>9}  {noun} cut by {limit}: {loss}{lost}"));
    }
    for (format, count) in totals.unread_formats() {
        let noun = UnreadFormat::noun(format, count);
        say(&format!(
            "{count:>9}  {noun}: archived, but their text and links are not read"
        ));
    }
}

/// Describes the limits that may have cost a link to a page; `None` without such limits.
pub(crate) fn possible_causes(totals: &Totals) -> Option<String> {
    let costly = totals
        .limits()
        .filter(|(limit, _)| limit.costs_links() || *limit == Limit::Body);
    limits::in_words(&costly.map(|(limit, sum)| (limit.as_str(), sum)).collect())
}

/// Returns the limits that cost page requisites, joined by "or"; `None` without such limits.
pub(crate) fn limits_of_requisites(totals: &Totals) -> Option<String> {
    let limits = totals.limits().map(|(limit, _)| limit);
    let limits = limits.filter(|limit| matches!(limit, Limit::Requisites | Limit::RequisiteSteps));
    let names: Vec<&str> = limits.map(Limit::as_str).collect();
    (!names.is_empty()).then(|| names.join(" or "))
}
