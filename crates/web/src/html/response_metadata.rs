//! The header fields and settings that reading a body depends on.

use encoding_rs::Encoding;

use crate::html::limits::ReadLimits;
use crate::html::main_selectors::MainSelectors;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// The context of a body beside its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResponseMetadata<'a> {
    /// Its URL, to which links are relative.
    pub url: &'a PageUrl,
    /// The value of `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The values of `X-Robots-Tag`.
    pub x_robots_tag: &'a [&'a str],
    /// The values of `Link`.
    pub link: &'a [&'a str],
    /// The value of `Content-Location`: the URL of the representation (RFC 9110 section 8.7).
    pub content_location: Option<&'a str>,
    /// The value of `Refresh`, which is in no standard but in every browser.
    pub refresh: Option<&'a str>,
    /// The crawler's product token, for directives that name it.
    pub agent: &'a str,
    /// The user's selectors of main content.
    pub main: Option<&'a MainSelectors>,
}

impl<'a> ResponseMetadata<'a> {
    /// Creates the context of a body of which only the URL is known.
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
        }
    }
}

/// The settings of a reading.
#[derive(Clone, Copy)]
pub(super) struct ReadContext<'a> {
    pub(super) metadata: &'a ResponseMetadata<'a>,
    pub(super) form: &'a CanonicalForm,
    pub(super) limits: &'a ReadLimits,
    /// The encoding of the page, in which the queries of its links are sent.
    pub(super) encoding: &'static Encoding,
}
