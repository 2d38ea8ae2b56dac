//! Conditional requests: pages that an earlier crawl archived are asked for by their validators
//! (RFC 9110 section 13).

use std::sync::Arc;

use web::{Exchange, PageUrl};

use crate::context::CrawlContext;
use crate::steps::earlier_archives::{ArchivedPage, UnmodifiedPage};

/// Returns the capture of `url` in an earlier crawl, if it came with validators.
pub(crate) async fn archived(context: &Arc<CrawlContext>, url: &PageUrl) -> Option<ArchivedPage> {
    let earlier = context
        .earlier
        .clone()
        .filter(|earlier| earlier.knows(url.key()))?;
    let (context_too, url_too) = (Arc::clone(context), url.clone());
    let found = context
        .compute(move || earlier.find(&url_too, &context_too.policy.canonical))
        .await;
    match found? {
        Ok(page) => page.filter(|page| !page.validators.is_empty()),
        Err(error) => {
            context.earlier.as_ref()?.warn_once(url, &error);
            None
        }
    }
}

/// Returns the page that `answer`, 304 Not Modified, is about; none if it cannot be read any more.
pub(crate) async fn unmodified(
    context: &Arc<CrawlContext>,
    page: ArchivedPage,
    answer: &Exchange,
) -> Option<UnmodifiedPage> {
    let (context_too, original) = (Arc::clone(context), page.page.clone());
    let read = context
        .compute(move || page.read(&context_too.policy.canonical))
        .await;
    match read? {
        Ok(archived) => Some(UnmodifiedPage::new(archived, answer, original)),
        Err(error) => {
            context.earlier.as_ref()?.warn_once(&original.url, &error);
            None
        }
    }
}
