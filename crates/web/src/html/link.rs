//! A link of a page, and its kind.

use crate::html::relations::Relations;
use crate::url::page_url::PageUrl;

/// A link to another page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: PageUrl,
    /// What it is to the page; where it stands several times, the first of [`LinkKind`] that it is.
    pub kind: LinkKind,
    /// What the page says of it (`rel=nofollow`), everywhere it stands.
    pub relations: Relations,
    /// All words that the page says of it, everywhere it stands: in lower case, at most
    /// [`ReadLimits::rel_bytes`].
    pub rel: String,
    /// The words that it is attached to, at most [`ReadLimits::anchor_chars`].
    pub anchor: String,
    /// Whether the page needs it to be shown, whatever else it is: a frame, or a picture that is a
    /// link to itself.
    pub is_needed: bool,
}

/// What a link is to the page that it stands on. Which element is which, and why, is told in
/// `docs/links.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Another page, for readers to go to: `<a>`, `<link rel=next>`, a header's `Link`.
    Page,
    /// A page shown inside this one: `<iframe>`.
    Frame,
    /// A page that takes the place of this one after a while: `<meta http-equiv=refresh>`, a
    /// header's `Refresh`.
    Refresh,
    /// What a form that is sent as it stands asks for, if it is sent by GET.
    Form,
    /// A URL that stands in a script, and may be anything.
    Script,
    /// What the page needs to be shown: pictures, styles, scripts, films.
    Requisite,
}

impl LinkKind {
    /// Whether a page that has such a link needs what it leads to.
    pub(crate) const fn is_needed(self) -> bool {
        matches!(self, Self::Frame | Self::Requisite)
    }

    /// Its word in outputs.
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

/// Which kinds of links are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkKinds(u8);

impl LinkKinds {
    /// What leads to pages for sure.
    pub const PAGES: Self = Self(0)
        .with(LinkKind::Page)
        .with(LinkKind::Frame)
        .with(LinkKind::Refresh);

    /// The same and this kind.
    #[must_use]
    pub const fn with(self, kind: LinkKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// Whether this kind is among them.
    #[must_use]
    pub const fn has(self, kind: LinkKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}
