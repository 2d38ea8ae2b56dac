//! Seeds that fail, and seeds that have moved: by a redirect, or by a refresh of their page.
//!
//! A site that has moved within its registrable domain (`www` or not, http or https) is the site
//! that the user means, so the new place joins the scope as if it were a seed. Another site may be
//! anything, such as a login page of a social network: the crawl visits the page that the seed has
//! moved to, and reports to the user how to crawl the rest.

use journal::StoreFault;
use store::Lease;
use web::{Document, LinkKind, PageUrl, Scope};

use crate::context::CrawlContext;
use crate::runtime::retry::VisitFailure;
use crate::runtime::seed_reports::{MovedScope, SeedFailure, scope_of_move};

/// Widens the scope by the target of a seed's redirect, which is outside it, unless the target is
/// another site.
pub(crate) async fn follow(
    context: &CrawlContext,
    lease: &Lease,
    target: &PageUrl,
) -> Result<(), StoreFault> {
    let scope = scope_of_move(lease.url(), target);
    if scope == MovedScope::Along {
        context.frontier.adopt_seed(target).await?;
        context.scope_mut().add_seed(target);
    }
    let seeds = context.telemetry.seeds();
    seeds.add_move(lease.url(), target, scope);
    Ok(())
}

/// The status that says what a block page means.
const TOO_MANY_REQUESTS: u16 = 429;

/// Reports the failed visit of a page if that is a seed.
pub(crate) fn report_failure(
    context: &CrawlContext,
    lease: &Lease,
    failure: VisitFailure,
    cause: &str,
) {
    if !lease.is_seed() {
        return;
    }
    let failure = match failure {
        VisitFailure::Fetch(kind) | VisitFailure::Robots(Some(kind)) => SeedFailure::Fetch(kind),
        VisitFailure::Status(status) => SeedFailure::Status(status),
        VisitFailure::Robots(None) => SeedFailure::Robots,
        VisitFailure::Blocked => SeedFailure::Status(TOO_MANY_REQUESTS),
    };
    let seeds = context.telemetry.seeds();
    seeds.add_failure(lease.url(), failure, cause);
}

/// Follows the refresh of a seed's page as [`follow`] does a redirect.
pub(crate) async fn follow_refresh(
    context: &CrawlContext,
    lease: &Lease,
    document: &Document,
) -> Result<(), StoreFault> {
    let target = refresh_out_of(&context.scope(), document).cloned();
    match target.filter(|_| lease.is_seed()) {
        Some(target) => follow(context, lease, &target).await,
        None => Ok(()),
    }
}

/// Returns the target of the page's refresh if it is outside the scope.
pub(crate) fn refresh_out_of<'d>(scope: &Scope, document: &'d Document) -> Option<&'d PageUrl> {
    let mut links = document.links.iter();
    let refresh = links.find(|link| link.kind == LinkKind::Refresh)?;
    let judged = scope.judge(&refresh.url);
    let is_out = judged.is_err_and(|reason| !reason.is_exclusion());
    is_out.then_some(&refresh.url)
}

/// Widens the scope by the places that a seed has moved to, as the crawl did; returns the targets
/// that did so.
pub(crate) fn adopt<'u>(
    scope: &mut Scope,
    seed: &PageUrl,
    targets: impl IntoIterator<Item = &'u PageUrl>,
) -> Vec<PageUrl> {
    let mut adopted = Vec::new();
    for target in targets {
        let judged = scope.judge(target);
        let is_out = judged.is_err_and(|reason| !reason.is_exclusion());
        if is_out && scope_of_move(seed, target) == MovedScope::Along {
            scope.add_seed(target);
            adopted.push(target.clone());
        }
    }
    adopted
}
