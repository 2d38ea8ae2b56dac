//! A link of a page, and its kind.

use crate::html::relations::Relations;
use crate::url::page_url::PageUrl;

/// A link to another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Target.
    pub url: PageUrl,
    /// Kind of the link; if it occurs several times, the first kind in the order of [`LinkKind`].
    pub kind: LinkKind,
    /// Relations (`rel=nofollow`) that all occurrences of the link share.
    pub relations: Relations,
    /// Words of `rel` that all occurrences of the link share: in lower case, at most
    /// [`ReadLimits::rel_bytes`](crate::ReadLimits::rel_bytes).
    pub rel: String,
    /// Its anchor text, at most [`ReadLimits::anchor_chars`](crate::ReadLimits::anchor_chars).
    pub anchor: String,
    /// True if the page needs the target for its display, in addition to the link's kind: a frame,
    /// or a picture that links to itself.
    pub is_needed: bool,
    /// True for `/favicon.ico`, if the page names no icon: browsers request it for a page that is
    /// not in a frame, and miss nothing without it.
    pub is_implied: bool,
    /// Surroundings of the link, if [`ReadLimits::link_context`](crate::ReadLimits::link_context)
    /// is set. `None` for links without a place in the page's text: from header fields, `<link>`,
    /// `<meta>`, forms, scripts, inner pages and requisites, and from text that was not read.
    pub context: Option<LinkContext>,
}

/// Surroundings of a link, at its first occurrence in the main content, or else at its first
/// occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkContext {
    /// Text around the link, without its anchor text: the nearest words in the innermost paragraph,
    /// list item, table cell, heading or other block, with folded white space. As many characters
    /// come from before the link as from after it, if there are enough; at most
    /// [`ReadLimits::context_chars`](crate::ReadLimits::context_chars).
    pub around: String,
    /// True if the link is outside the site's frame (menus, headers, footers, sidebars), in the
    /// lines that [`Document::compared_text`](crate::Document::compared_text) is made from.
    pub in_main_content: bool,
}

impl LinkContext {
    /// Stores a context if none is known yet, or if this is the first one in the main content.
    pub(crate) fn merge(known: &mut Option<Self>, other: Self) {
        let is_better = known
            .as_ref()
            .is_none_or(|known| !known.in_main_content && other.in_main_content);
        if is_better {
            *known = Some(other);
        }
    }
}

/// Kind of a link. `docs/guide/links.md` lists the elements of each kind, with reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Another page for readers: `<a>`, `<link rel=next>`, a `Link` header field.
    Page,
    /// A page shown inside this one: `<iframe>`.
    Frame,
    /// A page that replaces this one after a while: `<meta http-equiv=refresh>`, a `Refresh` header
    /// field.
    Refresh,
    /// The URL that a form requests if it is submitted unchanged by GET.
    Form,
    /// A URL in a script, which may be anything.
    Script,
    /// A resource that the page needs for its display: pictures, styles, scripts, films.
    Requisite,
}

impl LinkKind {
    /// Returns true if the page needs the target of such a link.
    pub(crate) const fn is_needed(self) -> bool {
        matches!(self, Self::Frame | Self::Requisite)
    }

    /// Returns its name in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Frame => "frame",
            Self::Refresh => "refresh",
            Self::Form => "form",
            Self::Script => "script",
            Self::Requisite => "requisite",
        }
    }
}

/// A set of link kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkKinds(u8);

impl LinkKinds {
    /// Kinds that always point to pages.
    pub const PAGES: Self = Self(0)
        .with(LinkKind::Page)
        .with(LinkKind::Frame)
        .with(LinkKind::Refresh);

    /// Returns the set with this kind added.
    #[must_use]
    pub const fn with(self, kind: LinkKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Returns true if the set contains this kind.
    #[must_use]
    pub const fn has(self, kind: LinkKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}
