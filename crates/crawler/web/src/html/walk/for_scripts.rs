//! The part of a walk that reads URLs that browsers request only with scripts, for both readers.

use std::borrow::Cow;

use super::Walk;
use crate::html::css::CssContext;
use crate::html::lazy_attributes::{LazyValue, is_preview, lazy_value};
use crate::html::link::LinkKind;
use crate::html::link_attributes::AttributeSource;
use crate::html::{linked_data, script_links, work_budget};
use crate::http::media_type::essence;

impl<'p> Walk<'p> {
    /// Reads the URLs of a script, or of linked data, which also names pictures.
    pub(super) fn script(&mut self, script: &str, is_data: bool) {
        let kinds = self.references.kinds;
        let may_refer = kinds.has(LinkKind::Script) || is_data && kinds.has(LinkKind::Requisite);
        if may_refer && self.budget.take(work_budget::of_raw(script)) {
            match is_data {
                true => linked_data::gather(script, &mut self.references),
                false => script_links::gather(script, &mut self.references),
            }
        }
    }

    /// Reads the URLs that an HTML element keeps for scripts.
    pub(super) fn kept_for_scripts(&mut self, name: &str, element: &impl AttributeSource<'p>) {
        self.lazy(name, element);
        if self.references.kinds.has(LinkKind::Script) {
            for script in element.scripts() {
                // In a URL, quotation marks are mostly encoded.
                let script = script.replace("%27", "'").replace("%22", "\"");
                self.script(&script, false);
            }
        }
    }

    /// Reads the URLs in the attributes of lazy loaders.
    fn lazy(&mut self, name: &str, element: &impl AttributeSource<'p>) {
        let kind = match name {
            "iframe" | "frame" => LinkKind::Frame,
            _ => LinkKind::Requisite,
        };
        if !self.references.kinds.has(kind) {
            return;
        }
        for name in element.lazy_names() {
            let Some(value) = element.value(name) else {
                continue;
            };
            match lazy_value(name, &value) {
                LazyValue::Css => self.style(&value, CssContext::Attribute),
                LazyValue::Places(places) => {
                    for place in places {
                        let url = Cow::Owned(value[place].to_owned());
                        self.references.add(url, kind, "");
                    }
                }
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
        if self.references.kinds.has(LinkKind::Requisite)
            && is_preview(|name| meta.value(name), content)
        {
            let url = Cow::Owned(content.trim().to_owned());
            self.references.add(url, LinkKind::Requisite, "");
        }
    }
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
