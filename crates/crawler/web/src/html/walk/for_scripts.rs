//! The part of a walk that reads URLs that browsers request only with scripts, for both readers.

use std::borrow::Cow;

use super::Walk;
use crate::html::lazy_attributes::{self, is_preview, looks_like_a_url};
use crate::html::link::LinkKind;
use crate::html::link_attributes::AttributeSource;
use crate::html::{script_links, work_budget};
use crate::http::media_type::essence;

impl<'p> Walk<'p> {
    /// Reads the URLs of a script, or of linked data, which also names pictures.
    pub(super) fn script(&mut self, script: &str, is_data: bool) {
        if self.references.kinds.has(LinkKind::Script)
            && self.budget.take(work_budget::of_raw(script))
        {
            script_links::gather(script, is_data, &mut self.references);
        }
    }

    /// Reads the URLs that an HTML element keeps for scripts.
    pub(super) fn kept_for_scripts(&mut self, name: &str, element: &impl AttributeSource<'p>) {
        if self.references.kinds.has(LinkKind::Requisite) || name == "iframe" {
            lazy_attributes::gather(name, element, &mut self.references);
        }
        if self.references.kinds.has(LinkKind::Script) {
            for script in element.scripts() {
                // In a URL, quotation marks are mostly encoded.
                let script = script.replace("%27", "'").replace("%22", "\"");
                self.script(&script, false);
            }
        }
    }

    /// Reads a link in a template, which only scripts show.
    pub(super) fn link_for_scripts(&mut self, name: &str, element: &impl AttributeSource<'p>) {
        if matches!(name, "a" | "area")
            && let Some(href) = element.value("href")
            && !href.contains(['{', '<'])
        {
            self.references.add(href, LinkKind::Script, "");
        }
    }

    /// Reads the picture or film in `<meta>` for previews of the page.
    pub(super) fn preview(&mut self, meta: &impl AttributeSource<'p>, content: &str) {
        let url = content.trim();
        if self.references.kinds.has(LinkKind::Requisite)
            && names_preview(meta)
            && looks_like_a_url(url)
        {
            let url = Cow::Owned(url.to_owned());
            self.references.add(url, LinkKind::Requisite, "");
        }
    }
}

/// Returns true for `<meta>` that names a picture or a film for previews of the page.
fn names_preview<'p>(meta: &impl AttributeSource<'p>) -> bool {
    let is_named = |name| meta.value(name).is_some_and(|name| is_preview(name.trim()));
    let is_image = || {
        meta.value("itemprop")
            .is_some_and(|name| name.trim() == "image")
    };
    is_named("property") || is_named("name") || is_named("itemprop") || is_image()
}

/// Returns true for the type of a script that is linked data (JSON-LD).
pub(super) fn is_linked_data(media: Option<&str>) -> bool {
    media.is_some_and(|media| essence(media) == "application/ld+json")
}

/// Returns true for a script that a browser runs: a script in a file, or a part of one in the page.
/// Scripts of other types are data (HTML Standard, section 4.12.1.1; the types of JavaScript: MIME
/// Sniffing, section 4.6).
pub(super) fn is_run<'p>(script: &impl AttributeSource<'p>, text: &str) -> bool {
    const NAMES: &[&str] = &["javascript", "ecmascript", "jscript", "livescript"];
    let media = script.value("type").unwrap_or_default();
    let media = essence(&media);
    let is_code = media.is_empty()
        || media == "module"
        || media.split_once('/').is_some_and(|(top, name)| {
            let name = name.strip_prefix("x-").unwrap_or(name);
            let name = name.trim_end_matches(|sign: char| sign == '.' || sign.is_ascii_digit());
            matches!(top, "text" | "application") && NAMES.contains(&name)
        });
    is_code && (script.value("src").is_some() || !text.trim().is_empty())
}
