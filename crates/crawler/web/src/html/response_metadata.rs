//! The header fields and settings that reading a body depends on.

use encoding_rs::Encoding;

use crate::html::limits::ReadLimits;
use crate::html::main_selectors::MainSelectors;
use crate::html::own_fields::FieldSelectors;
use crate::html::shared_lines::SharedLines;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// The context of a body: everything needed to read it, except its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResponseMetadata<'a> {
    /// URL of the body, which links are relative to.
    pub url: &'a PageUrl,
    /// Value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// Values of `X-Robots-Tag`.
    pub x_robots_tag: &'a [&'a str],
    /// Values of `Link`.
    pub link: &'a [&'a str],
    /// Value of `Content-Location`: the URL of the representation (RFC 9110 section 8.7).
    pub content_location: Option<&'a str>,
    /// Value of `Refresh`, which no standard defines but every browser supports.
    pub refresh: Option<&'a str>,
    /// Product token of the crawler, for directives that name it.
    pub agent: &'a str,
    /// User's selectors of main content.
    pub main: Option<&'a MainSelectors>,
    /// User's selectors of fields.
    pub fields: Option<&'a FieldSelectors>,
    /// Lines of the page's site, which are left out at both ends of [`Document::text`].
    ///
    /// [`Document::text`]: crate::Document::text
    pub shared: Option<&'a dyn SharedLines>,
}

impl<'a> ResponseMetadata<'a> {
    /// Creates the context of a body, given only its URL.
    #[must_use]
    pub const fn of(url: &'a PageUrl) -> Self {
        Self {
            url,
            content_type: None,
            x_robots_tag: &[],
            link: &[],
            content_location: None,
            refresh: None,
            agent: "",
            main: None,
            fields: None,
            shared: None,
        }
    }
}

/// The settings of a reading.
#[derive(Clone, Copy)]
pub(super) struct ReadContext<'a> {
    pub(super) metadata: &'a ResponseMetadata<'a>,
    pub(super) form: &'a CanonicalForm,
    pub(super) limits: &'a ReadLimits,
    /// Encoding of the page, which also encodes the queries of its links.
    pub(super) encoding: &'static Encoding,
}
