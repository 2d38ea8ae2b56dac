//! What is said to some servers and must not be heard by others: credentials, cookies, fields of
//! the user's own.
//!
//! A crawler follows what strangers write, so a secret that went wherever a link or a redirect
//! leads would be given to whoever asks for it. Here each secret is bound to origins (scheme, host
//! and port: RFC 6454 section 4) before the first request is made, and each request asks anew what
//! may be said to its own URL. Nothing is learned on the way: neither `Set-Cookie` nor a redirect
//! binds a secret to anything.
//!
//! Invariant: the values are marked sensitive ([`http::HeaderValue::set_sensitive`]). So they are
//! not shown by `Debug`, HTTP/2 does not put them into its tables (RFC 7541 section 7.1.3), and
//! where what archives keep is written, [`REDACTED`] is written instead.

pub(crate) mod cookies;
pub(crate) mod fields;

use std::collections::HashSet;
use std::fmt;

use http::HeaderMap;
use http::header::COOKIE;
use web::{PageUrl, Timestamp};

use self::cookies::{Cookie, Jar};
use self::fields::SecretField;

/// What stands in archives where the value of a secret field was sent.
pub const REDACTED: &str = "[not kept]";

/// Everything that is said to some origins only. It never shows what.
#[derive(Default)]
pub struct Secrets {
    fields: Vec<SecretField>,
    /// The origins of the seeds, to which goes what names no origin of its own.
    seeds: HashSet<String>,
    jar: Jar,
}

impl Secrets {
    /// Binds fields and cookies to the origins of these seeds: fields that name no origin, and
    /// cookies as the header of `cookies.rs` has it.
    #[must_use]
    pub fn new(fields: Vec<SecretField>, cookies: Vec<Cookie>, seeds: &[PageUrl]) -> Self {
        if fields.is_empty() && cookies.is_empty() {
            return Self::default();
        }
        let mut jar = Jar::new(cookies);
        let mut origins = HashSet::new();
        for seed in seeds {
            if origins.insert(seed.origin()) {
                jar.open_for(seed);
            }
        }
        Self {
            fields,
            seeds: origins,
            jar,
        }
    }

    /// The fields that a request for `url` says besides all others; it never depends on the way
    /// that led there.
    #[must_use]
    pub fn headers_for(&self, url: &PageUrl, now: Timestamp) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !self.fields.is_empty() {
            let origin = url.origin();
            for field in self
                .fields
                .iter()
                .filter(|field| self.binds(field, &origin))
            {
                headers.append(field.name.clone(), field.value.clone());
            }
        }
        if let Some(cookies) = self.jar.headers_for(url, now) {
            headers.insert(COOKIE, cookies);
        }
        headers
    }

    /// How many origins hear fields, and how many of these hear them over http, where anybody on
    /// the way hears them too.
    #[must_use]
    pub fn origins(&self) -> (usize, usize) {
        let named = self.fields.iter().filter_map(|field| field.origin.as_ref());
        let mut all: HashSet<&String> = named.collect();
        if self.fields.iter().any(|field| field.origin.is_none()) {
            all.extend(&self.seeds);
        }
        let open = all
            .iter()
            .filter(|origin| origin.starts_with("http://"))
            .count();
        (all.len(), open)
    }

    /// How many cookies can be sent to somebody, and how many of these over http.
    #[must_use]
    pub fn cookies(&self) -> (usize, usize) {
        self.jar.count()
    }

    fn binds(&self, field: &SecretField, origin: &str) -> bool {
        match &field.origin {
            Some(bound) => bound == origin,
            None => self.seeds.contains(origin),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("fields", &self.fields)
            .field("cookies", &self.jar.count().0)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
