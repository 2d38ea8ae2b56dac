//! Pages that are checked by HEAD, with `--spider`.
//!
//! GET follows where the links of the page are needed, and where the response to HEAD may differ
//! for GET: servers answer HEAD with 403, 404, 405 or 501 although GET finds the page. So HEAD
//! never makes a page broken. The body of a page without links is never received.

use fetch::FetchFailure;
use journal::LinkVerdict;
use requests::FailureKind;
use store::Lease;
use web::Exchange;

use crate::context::CrawlContext;
use crate::steps::content_filter;

/// Returns true if the outcome of HEAD is the result of the check.
pub(crate) fn settles(
    context: &CrawlContext,
    lease: &Lease,
    outcome: &Result<Exchange, FetchFailure>,
) -> bool {
    match outcome {
        _ if may_differ_for_get(outcome) => false,
        Ok(exchange) if (200..300).contains(&exchange.status) => {
            let (status, headers) = (exchange.status, &exchange.headers);
            let is_read = content_filter::reads_on(&context.policy, lease.discovered().depth);
            !(is_read && content_filter::wants_body(context, lease, status, headers))
        }
        _ => true,
    }
}

/// Returns true if GET may have another outcome than HEAD.
pub(crate) fn may_differ_for_get(outcome: &Result<Exchange, FetchFailure>) -> bool {
    match outcome {
        Ok(exchange) => {
            exchange.status == 403 || LinkVerdict::of_status(exchange.status) == LinkVerdict::Broken
        }
        Err(failure) => matches!(
            failure.kind(),
            FailureKind::Timeout
                | FailureKind::TooSlow
                | FailureKind::Disconnected
                | FailureKind::Protocol
                | FailureKind::HeadersTooLarge
        ),
    }
}
