//! The conversion of one link, and the counts of a file.

use url::Url;

/// The converted links of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Links to files.
    pub inward: u64,
    /// Links to the web, by absolute URLs.
    pub outward: u64,
}

/// A rewritten file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Text.
    pub text: String,
    /// Converted links.
    pub links: LinkCounts,
}

impl Rewritten {
    /// Returns the text as UTF-8. A byte order mark declares the encoding, as it takes precedence
    /// over all other declarations (Encoding standard, section 6); ASCII text needs no mark.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match self.text.is_ascii() {
            true => self.text.into_bytes(),
            false => [b"\xef\xbb\xbf", self.text.as_bytes()].concat(),
        }
    }
}

/// Returns the target of a link in the page at `url`, without its fragment; `None` if it is not a
/// web URL.
#[must_use]
pub fn absolute(url: &str, link: &str) -> Option<String> {
    let mut target = Url::parse(url).ok()?.join(link.trim()).ok()?;
    target.set_fragment(None);
    matches!(target.scheme(), "http" | "https").then(|| target.into())
}

/// A converter of the links of one file.
pub(crate) struct Conversion<'a> {
    base: Url,
    /// True if the page has set its own base.
    pub(crate) has_base: bool,
    file_of: &'a dyn Fn(&str) -> Option<String>,
    pub(crate) links: LinkCounts,
}

/// A converted link.
pub(crate) struct Converted {
    pub(crate) link: String,
    /// True if the link points to a file.
    pub(crate) is_inward: bool,
}

impl<'a> Conversion<'a> {
    pub(crate) fn new(url: &Url, file_of: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            base: url.clone(),
            has_base: false,
            file_of,
            links: LinkCounts::default(),
        }
    }

    /// Resolves further links relative to the `href` of a `<base>`.
    pub(crate) fn set_base(&mut self, href: &str) {
        if let Ok(base) = self.base.join(href.trim()) {
            self.base = base;
        }
        self.has_base = true;
    }

    /// Converts a link. Returns `None` if it remains unchanged: `mailto:`, `data:`, `#top`.
    pub(crate) fn convert(&mut self, link: &str) -> Option<Converted> {
        let link = link.trim_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_control());
        if link.is_empty() || link.starts_with('#') && !self.has_base {
            return None;
        }
        let mut url = self.base.join(link).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let fragment = url.fragment().map(str::to_owned);
        url.set_fragment(None);
        let file = (self.file_of)(url.as_str());
        let is_inward = file.is_some();
        let count = match is_inward {
            true => &mut self.links.inward,
            false => &mut self.links.outward,
        };
        *count += 1;
        let mut link = file.unwrap_or_else(|| url.to_string());
        if let Some(fragment) = fragment {
            link.push('#');
            link.push_str(&fragment);
        }
        Some(Converted { link, is_inward })
    }
}
