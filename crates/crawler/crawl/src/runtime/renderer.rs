//! The renderer of a crawl, and the parts that its pages share.

use std::path::PathBuf;
use std::sync::Arc;

use render::{Render, RenderLimits};
use sinks::Archived;
use web::UrlKey;

use super::lost_requests::LostRequests;
use super::shared_parts::SharedParts;

/// Maximum length of a picture of a page, in bytes.
const MAX_PICTURE: usize = 16 << 20;

/// The renderer of a crawl.
pub struct Renderer {
    pub(crate) render: Arc<dyn Render>,
    pub(crate) limits: RenderLimits,
    /// The scripts, styles and fonts of all pages.
    pub(crate) shared: SharedParts,
    /// The requests that no visit makes succeed.
    pub(crate) lost: LostRequests,
}

impl Renderer {
    /// Returns the renderer of a crawl with its archive in this directory. With `screenshots`, it
    /// takes pictures of pages.
    #[must_use]
    pub fn new(render: Arc<dyn Render>, archive: PathBuf, screenshots: bool) -> Self {
        Self {
            render,
            limits: RenderLimits {
                picture_bytes: screenshots.then_some(MAX_PICTURE),
                ..RenderLimits::default()
            },
            shared: SharedParts::new(archive),
            lost: LostRequests::default(),
        }
    }

    /// Notes the places of a page's requests in the archive.
    pub(crate) async fn archived(&self, requests: &[UrlKey], archived: &Archived) {
        for (url, offset) in requests.iter().zip(&archived.subrequest_offsets) {
            self.shared.archived(*url, &archived.file, *offset).await;
        }
    }
}
