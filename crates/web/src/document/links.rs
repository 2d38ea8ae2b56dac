//! Where a page leads.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Oddity, ReadLimits};
use crate::{CanonicalForm, PageUrl, UrlKey};

/// A link to another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: PageUrl,
    /// Whether the page asks not to follow it (`rel=nofollow`), everywhere it stands.
    pub nofollow: bool,
    /// The words that it is attached to, at most [`ReadLimits::anchor_chars`].
    pub anchor: String,
}

/// A link as it stands in the page.
#[derive(Debug)]
pub(crate) struct Reference<'p> {
    pub href: Cow<'p, str>,
    pub nofollow: bool,
    pub anchor: String,
}

/// The links of a page while it is read: what they are relative to may still come.
#[derive(Debug, Default)]
pub(crate) struct References<'p> {
    pub found: Vec<Reference<'p>>,
    /// The first `<base href>`.
    pub base: Option<Cow<'p, str>>,
    /// The first `<link rel=canonical>`.
    pub canonical: Option<Cow<'p, str>>,
    /// Where each reference was first found.
    known: HashMap<Cow<'p, str>, usize>,
}

impl<'p> References<'p> {
    /// Adds a reference; what leads nowhere for us, at once or again, is passed over.
    pub(crate) fn add(&mut self, href: Cow<'p, str>, nofollow: bool) -> Option<usize> {
        let start = href.trim_start();
        if start.is_empty() || start.starts_with('#') || leads_elsewhere(start) {
            return None;
        }
        if let Some(&known) = self.known.get(&href) {
            self.found[known].nofollow &= nofollow;
            return None;
        }
        let index = self.found.len();
        self.known.insert(href.clone(), index);
        self.found.push(Reference {
            href,
            nofollow,
            anchor: String::new(),
        });
        Some(index)
    }

    /// Resolves all, each page once, in the order of the page; those that are no URL are left out.
    pub(crate) fn resolve(self, page: &PageUrl, form: &CanonicalForm, limits: &ReadLimits) -> Resolved {
        let base = self.base.and_then(|base| page.join(&base, form).ok());
        let base = base.as_ref().unwrap_or(page);
        let mut resolved = Resolved {
            links: Vec::with_capacity(self.found.len().min(limits.links)),
            canonical: self
                .canonical
                .and_then(|canonical| base.join(&canonical, form).ok()),
            oddity: None,
        };
        let mut known: HashMap<UrlKey, usize> = HashMap::with_capacity(resolved.links.capacity());
        for reference in self.found {
            let Ok(url) = base.join(&reference.href, form) else {
                continue;
            };
            if url == *page {
                continue;
            }
            if let Some(&index) = known.get(&url.key()) {
                let link: &mut Link = &mut resolved.links[index];
                link.nofollow &= reference.nofollow;
                continue;
            }
            if resolved.links.len() == limits.links {
                resolved.oddity = Some(Oddity::TooManyLinks);
                break;
            }
            known.insert(url.key(), resolved.links.len());
            resolved.links.push(Link {
                url,
                nofollow: reference.nofollow,
                anchor: reference.anchor,
            });
        }
        resolved
    }
}

/// The links of a page.
pub(crate) struct Resolved {
    pub links: Vec<Link>,
    pub canonical: Option<PageUrl>,
    pub oddity: Option<Oddity>,
}

/// Schemes that are frequent and never pages, told apart before anything is parsed.
fn leads_elsewhere(href: &str) -> bool {
    const ELSEWHERE: &[&str] = &["javascript:", "mailto:", "data:", "tel:"];
    ELSEWHERE.iter().any(|scheme| {
        href.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// The URL of a `<meta http-equiv=refresh>`: `5; url=/next` (HTML standard, "shared declarative refresh
/// steps").
pub(crate) fn of_refresh(content: &str) -> Option<&str> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim_start();
    let url = match rest.get(..3) {
        Some(start) if start.eq_ignore_ascii_case("url") => match rest[3..].trim_start().strip_prefix('=') {
            Some(url) => url.trim_start(),
            None => rest,
        },
        _ => rest,
    };
    let url = match url.chars().next() {
        Some(quote @ ('"' | '\'')) => url[1..].split(quote).next().unwrap_or_default(),
        _ => url,
    };
    Some(url.trim()).filter(|url| !url.is_empty())
}

/// Whether a `rel` names this relation.
pub(crate) fn has_relation(rel: &str, relation: &str) -> bool {
    rel.split_ascii_whitespace()
        .any(|word| word.eq_ignore_ascii_case(relation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_may_name_a_url() {
        for (content, url) in [
            ("5", None),
            ("0; url=/next", Some("/next")),
            ("0;URL='http://a.example/x'", Some("http://a.example/x")),
            ("3 ; url = \"b\"", Some("b")),
            ("0, next", Some("next")),
            ("0; url=", None),
            ("0; é", Some("é")),
        ] {
            assert_eq!(of_refresh(content), url, "{content}");
        }
    }
}
