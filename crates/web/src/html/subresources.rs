//! Subresources that need other resources to be shown: style sheets, drawings, manifests.
//!
//! They are read only if requisites are collected: they have no text and lead only to what they
//! need.

use serde_json::Value;

use crate::html::charset;
use crate::html::css::{self, CssContext};
use crate::html::document::{Document, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::link::LinkKind;
use crate::html::links::{Links, References};
use crate::html::response_metadata::{ReadContext, ResponseMetadata};
use crate::html::walk::Walk;
use crate::html::work_budget::{self, WorkBudget};
use crate::http::media_type::essence;

/// The kind of a subresource by its declared type; it is never guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subresource {
    /// `text/css`.
    Sheet,
    /// `image/svg+xml`.
    Drawing,
    /// `application/manifest+json`.
    Manifest,
}

/// Maximum size of a manifest in bytes.
const MANIFEST_BYTES: usize = 1 << 20;

impl Subresource {
    pub(super) fn of(content_type: Option<&str>) -> Option<Self> {
        match &*essence(content_type?) {
            "text/css" => Some(Self::Sheet),
            "image/svg+xml" => Some(Self::Drawing),
            "application/manifest+json" => Some(Self::Manifest),
            _ => None,
        }
    }
}

impl Document {
    /// Reads the links of a subresource.
    pub(super) fn read_part(
        &mut self,
        part: Subresource,
        body: &[u8],
        headed: Links,
        context: &ReadContext<'_>,
    ) {
        let (metadata, limits) = (context.metadata, context.limits);
        let (references, budget) = match part {
            Subresource::Sheet => of_sheet(body, metadata, limits),
            Subresource::Drawing => of_drawing(body, metadata, limits),
            Subresource::Manifest => (of_manifest(body, limits), WorkBudget::new(1)),
        };
        if budget.is_spent() {
            self.warnings.push(ParseWarning::Unread);
        }
        references.resolve(headed, context, self);
    }
}

fn of_sheet(
    body: &[u8],
    metadata: &ResponseMetadata<'_>,
    limits: &ReadLimits,
) -> (References<'static>, WorkBudget) {
    let text = charset::decode_sheet(body, metadata.content_type);
    let mut references = References::new(limits);
    let mut budget = WorkBudget::new(limits.stream_effort);
    css::each_url(&text, CssContext::Sheet, &mut budget, |url| {
        references.add(url.to_owned().into(), LinkKind::Requisite, "");
    });
    (references, budget)
}

/// Reads a drawing like one inside a page.
fn of_drawing<'h>(
    body: &[u8],
    metadata: &ResponseMetadata<'h>,
    limits: &'h ReadLimits,
) -> (References<'h>, WorkBudget) {
    let text = charset::decode(body, metadata.content_type, None).text;
    let mut walk = Walk::new(metadata.agent, limits, 0);
    if walk.budget.take(work_budget::of_page(&text)) {
        walk.inner(text.into_owned());
        walk.read_nested();
    }
    let mut references = walk.references;
    references.canonical = None;
    references.found.retain(|reference| reference.is_needed);
    for reference in &mut references.found {
        // A drawing that is shown leads nowhere.
        reference.kind = LinkKind::Requisite;
    }
    (references, walk.budget)
}

/// Returns the icons of a web application (Web Application Manifest, section 1.4), which a browser
/// may show beside the page.
fn of_manifest(body: &[u8], limits: &ReadLimits) -> References<'static> {
    let mut references = References::new(limits);
    let manifest: Option<Value> = (body.len() <= MANIFEST_BYTES)
        .then(|| serde_json::from_slice(body).ok())
        .flatten();
    let icons = manifest
        .as_ref()
        .and_then(|manifest| manifest.get("icons")?.as_array());
    for icon in icons.into_iter().flatten() {
        if let Some(src) = icon.get("src").and_then(Value::as_str) {
            references.add(src.to_owned().into(), LinkKind::Requisite, "");
        }
    }
    references
}
