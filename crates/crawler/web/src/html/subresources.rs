//! Subresources that need other resources for their display: style sheets, drawings, manifests,
//! scripts.
//!
//! They contain no text. Style sheets and manifests point only to requisites, and are read only if
//! requisites are collected. A drawing may be a document of its own, with links (SVG 2, section
//! 16.2).

use serde_json::Value;

use crate::html::css::{self, CssContext};
use crate::html::document::{Document, ParseWarning};
use crate::html::limits::ReadLimits;
use crate::html::link::{LinkKind, LinkKinds};
use crate::html::links::{Links, References};
use crate::html::response_metadata::{ReadContext, ResponseMetadata};
use crate::html::walk::Walk;
use crate::html::work_budget::{self, WorkBudget};
use crate::html::{charset, script_links};
use crate::http::media_type::{essence, is_xml};
use crate::http::xml_root::XmlRoot;

/// Kind of a subresource by its declared type; XML also needs the right root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subresource {
    /// `text/css`.
    Sheet,
    /// `image/svg+xml`, or another type of XML.
    Drawing,
    /// `application/manifest+json`.
    Manifest,
    /// `text/javascript`, under any of its names.
    Script,
}

/// Maximum size of a manifest in bytes.
const MANIFEST_BYTES: usize = 1 << 20;

impl Subresource {
    /// Returns the kind of a body, if it may contain links of `kinds`.
    pub(super) fn of(content_type: Option<&str>, body: &[u8], kinds: LinkKinds) -> Option<Self> {
        let has_requisites = kinds.has(LinkKind::Requisite);
        match &*essence(content_type.unwrap_or("text/xml")) {
            "text/css" if has_requisites => Some(Self::Sheet),
            "application/manifest+json" if has_requisites => Some(Self::Manifest),
            "image/svg+xml" => Some(Self::Drawing),
            media if is_script(media) && kinds.has(LinkKind::Script) => Some(Self::Script),
            media if is_xml(media) && XmlRoot::of(body) == Some(XmlRoot::Drawing) => {
                Some(Self::Drawing)
            }
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
            Subresource::Script => of_script(body, metadata, limits),
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

/// Returns true for the types of scripts (MIME Sniffing standard, section 4.6).
fn is_script(essence: &str) -> bool {
    let Some((kind, name)) = essence.split_once('/') else {
        return false;
    };
    let name = name.strip_prefix("x-").unwrap_or(name);
    matches!(kind, "text" | "application")
        && (matches!(name, "ecmascript" | "jscript") || name.starts_with("javascript"))
}

/// Reads a script like one inside a page.
fn of_script(
    body: &[u8],
    metadata: &ResponseMetadata<'_>,
    limits: &ReadLimits,
) -> (References<'static>, WorkBudget) {
    let text = charset::decode_sheet(body, metadata.content_type);
    let mut references = References::new(limits);
    let mut budget = WorkBudget::new(limits.stream_effort);
    if budget.take(work_budget::of_raw(&text)) {
        script_links::gather(&text, &mut references);
    }
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
    (references, walk.budget)
}

/// Returns the icons of a web application (Web Application Manifest, section 1.4), which a browser
/// may display with the page.
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
