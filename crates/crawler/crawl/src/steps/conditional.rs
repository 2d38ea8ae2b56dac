//! Conditional requests: pages that an earlier crawl archived are asked for by their validators
//! (RFC 9110 section 13).

use std::sync::Arc;

use policy::RenderMode;
use web::{CanonicalForm, Exchange, PageUrl};

use crate::context::CrawlContext;
use crate::runtime::earlier_archives::{ArchivedPage, UnmodifiedPage};

/// Returns the capture of `url` in an earlier crawl, if it came with validators.
pub(crate) async fn archived(context: &Arc<CrawlContext>, url: &PageUrl) -> Option<ArchivedPage> {
    let earlier = context
        .earlier
        .clone()
        .filter(|earlier| earlier.knows(url.key()))?;
    let url_too = url.clone();
    let page = compute(context, url, move |form| earlier.find(&url_too, form)).await??;
    // What scripts show may change although the bytes do not.
    let is_rendered = match context.policy.render.mode_of(url) {
        RenderMode::Off => false,
        RenderMode::Shells => page.shows_more_by_scripts,
        RenderMode::All => true,
    };
    (!page.validators.is_empty() && !is_rendered).then_some(page)
}

/// Returns the page that `response`, 304 Not Modified, is about; `None` if it can no longer be
/// read.
pub(crate) async fn unmodified(
    context: &Arc<CrawlContext>,
    page: ArchivedPage,
    response: &Exchange,
) -> Option<UnmodifiedPage> {
    let original = page.page.clone();
    let archived = compute(context, &original.url, move |form| page.read(form)).await?;
    Some(UnmodifiedPage::new(archived, response, original))
}

/// Reads the capture of `url` off the reactor, and warns if it cannot be read.
async fn compute<T: Send + 'static>(
    context: &Arc<CrawlContext>,
    url: &PageUrl,
    read: impl FnOnce(&CanonicalForm) -> Result<T, String> + Send + 'static,
) -> Option<T> {
    let context_too = Arc::clone(context);
    let done = context
        .compute(move || read(&context_too.policy.reading.canonical))
        .await;
    match done? {
        Ok(capture) => Some(capture),
        Err(error) => {
            context.earlier.as_ref()?.warn_once(url, &error);
            None
        }
    }
}
