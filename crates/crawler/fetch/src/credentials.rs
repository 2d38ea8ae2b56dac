//! Credentials: header fields and cookies that only some origins may get.
//!
//! A crawler follows foreign links, so a secret that followed them would reach anybody who asks for
//! it. Here each secret is bound to origins (scheme, host and port: RFC 6454 section 4) before the
//! first request, and the fields of each request are looked up by its own URL. The bindings never
//! change on the way: neither `Set-Cookie` nor a redirect binds a secret to an origin.
//!
//! Invariant: the values are marked sensitive ([`http::HeaderValue::set_sensitive`]). So `Debug`
//! hides them, HTTP/2 does not put them into its tables (RFC 7541 section 7.1.3), and archives get
//! [`REDACTED`] instead.

pub(crate) mod client_certificates;
pub(crate) mod cookies;
mod digest;
pub(crate) mod logins;
pub(crate) mod netrc;
pub(crate) mod session_cookies;

use std::collections::HashSet;
use std::fmt;

use http::HeaderMap;
use http::header::COOKIE;
use requests::SecretField;
use web::{HostTable, PageUrl, Timestamp};

use self::cookies::{Cookie, Jar};

/// The text in archives in place of a secret value.
pub const REDACTED: &str = "[not kept]";

/// The fields and cookies for single origins. `Debug` hides their values.
#[derive(Default)]
pub struct Secrets {
    fields: Vec<SecretField>,
    /// The origins of the seeds, which get the fields that name no origin.
    seeds: HashSet<String>,
    jar: Jar,
    of_hosts: HostTable<Vec<SecretField>>,
    /// The origins of the seeds, which get the fields of their hosts.
    host_seeds: HashSet<String>,
}

impl Secrets {
    /// Binds fields without an origin, and cookies, to the origins of these seeds. The header of
    /// `cookies.rs` explains the rules for cookies.
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
            ..Self::default()
        }
    }

    /// Adds fields for single hosts. They are sent over https on the standard port, and to the
    /// seeds' origins, and replace other fields of the same names.
    #[must_use]
    pub fn with_fields_of_hosts(
        self,
        of_hosts: HostTable<Vec<SecretField>>,
        seeds: &[PageUrl],
    ) -> Self {
        Self {
            host_seeds: seeds
                .iter()
                .filter(|seed| of_hosts.get(&seed.host()).is_some())
                .map(PageUrl::origin)
                .collect(),
            of_hosts,
            ..self
        }
    }

    /// Returns the additional fields of a request for `url`, except a login; they never depend on
    /// the way that led there.
    #[must_use]
    pub fn headers_for(&self, url: &PageUrl, now: Timestamp) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let fields = self.fields_for(url).into_iter();
        for field in fields.filter(|field| field.login().is_none()) {
            headers.append(field.name().clone(), field.value().clone());
        }
        if let Some(cookies) = self.jar.headers_for(url, now) {
            headers.insert(COOKIE, cookies);
        }
        headers
    }

    /// Returns the field that logs in at the origin of `url`. [`Logins`](logins::Logins) decides
    /// when it is sent, and in which form.
    pub(crate) fn login_for(&self, url: &PageUrl) -> Option<&SecretField> {
        let mut fields = self.fields_for(url).into_iter();
        fields.find(|field| field.login().is_some())
    }

    /// Returns the fields for `url`. Those of its host replace others of the same names.
    fn fields_for(&self, url: &PageUrl) -> Vec<&SecretField> {
        let mut fields = Vec::new();
        if !self.fields.is_empty() {
            let origin = url.origin();
            let bound = self.fields.iter();
            fields.extend(bound.filter(|field| self.binds(field, &origin)));
        }
        if let Some(own) = self.of_hosts.get(&url.host())
            && self.is_origin_of_host(url)
        {
            fields.retain(|field| !own.iter().any(|other| other.name() == field.name()));
            fields.extend(own);
        }
        fields
    }

    /// Returns the number of origins that get fields, and how many of the origins use http, where
    /// the fields are sent in the clear.
    #[must_use]
    pub fn origins(&self) -> (usize, usize) {
        let named = self.fields.iter().filter_map(SecretField::origin);
        let mut all: HashSet<&str> = named.collect();
        if self.fields.iter().any(|field| field.origin().is_none()) {
            all.extend(self.seeds.iter().map(String::as_str));
        }
        all.extend(self.host_seeds.iter().map(String::as_str));
        let open = all
            .iter()
            .filter(|origin| origin.starts_with("http://"))
            .count();
        (all.len(), open)
    }

    /// Returns the number of cookies that can be sent, and the number that can be sent over http.
    #[must_use]
    pub fn cookies(&self) -> (usize, usize) {
        self.jar.count()
    }

    /// Returns true if a URL is of an origin that gets the fields of its host.
    fn is_origin_of_host(&self, url: &PageUrl) -> bool {
        let url_of_host = url.as_url();
        let is_standard = url_of_host.scheme() == "https" && url_of_host.port().is_none();
        is_standard || self.host_seeds.contains(&url.origin())
    }

    fn binds(&self, field: &SecretField, origin: &str) -> bool {
        match field.origin() {
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
