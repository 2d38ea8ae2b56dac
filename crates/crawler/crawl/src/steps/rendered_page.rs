//! A page whose scripts were run, as far as the journal and the archive get it.

use bytes::Bytes;
use journal::{Reason, Rendered};
use render::RenderFailure;
use sinks::{Keeping, MetadataField, RENDER_REQUESTS};
use web::Exchange;

use crate::context::CrawlContext;

/// The field with the number of requests of a page's scripts that were not sent.
const RENDER_REFUSED: &str = "render-refused";

/// The field with a failed request of a page's scripts, after which the page is not visited again.
const RENDER_INCOMPLETE: &str = "render-incomplete";

/// A request of a page's scripts with its response.
pub(crate) struct Subrequest {
    pub(crate) exchange: Exchange,
    /// True for a part that pages share.
    pub(crate) is_shared: bool,
}

/// Returns the picture of a page with its share of the memory budget; `None` with a warning if none
/// is free.
pub(crate) fn held_picture(
    context: &CrawlContext,
    page: &Exchange,
    picture: Option<Bytes>,
) -> Option<Bytes> {
    let held = context.memory.hold(picture?);
    if held.is_none() {
        tracing::warn!(url = %page.url, "no picture of this page is archived: it exceeds --memory");
    }
    held
}

/// The result of running the scripts of a page; empty if they were not run.
#[derive(Default)]
pub(crate) struct RenderedPage {
    /// The result for the journal.
    pub(crate) result: Option<Rendered>,
    /// Its DOM as HTML.
    pub(crate) dom: Option<Box<str>>,
    /// A picture of it as PNG.
    pub(crate) picture: Option<Bytes>,
    /// The requests of its scripts.
    pub(crate) made: Vec<Subrequest>,
    /// Number of requests that were not sent.
    pub(crate) refused: usize,
    /// A passing failure of a request after which the page is not visited again.
    pub(crate) incomplete: Option<Reason>,
}

impl RenderedPage {
    /// Returns the result for a page without a DOM.
    pub(crate) fn failed(failure: &RenderFailure, made: Vec<Subrequest>) -> Self {
        Self {
            result: Some(Rendered::Failed(failure.to_string())),
            made,
            ..Self::default()
        }
    }

    /// Returns fields for the archive about the requests of a page that is kept like this.
    pub(crate) fn notes(&self, keeping: &Keeping) -> impl Iterator<Item = MetadataField> {
        let counts = [
            (RENDER_REQUESTS, self.kept(keeping).count()),
            (RENDER_REFUSED, self.refused),
        ];
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let incomplete = self.incomplete.as_ref();
        let incomplete = incomplete.map(|reason| (RENDER_INCOMPLETE, reason.to_string()));
        let counts = counts.map(|(name, count)| (name, count.to_string()));
        counts.chain(incomplete)
    }

    /// Returns the exchanges that are archived with a page that is kept like this.
    pub(crate) fn exchanges(&self, keeping: &Keeping) -> Vec<Exchange> {
        let kept = self.kept(keeping);
        kept.map(|request| request.exchange.clone()).collect()
    }

    /// Returns the archived requests: all requests of an archived page, or only shared parts if the
    /// page itself is not archived.
    fn kept(&self, keeping: &Keeping) -> impl Iterator<Item = &Subrequest> {
        let is_archived = !matches!(keeping, Keeping::NotArchived | Keeping::TextOnly { .. });
        let made = self.made.iter();
        made.filter(move |request| is_archived || request.is_shared)
    }
}
