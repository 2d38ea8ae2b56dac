//! Canonicalisation of URLs: ignored parameters, parameter order and percent-encoding.
//!
//! Campaign and session parameters multiply URLs without changing the response. The list is
//! conservative: a name must belong to one product and have no other meaning. `ref`, `source` and
//! `id` select content on too many sites. So does `sid`, but a `sid` of 32 hexadecimal digits is a
//! session; such names are listed with the shape of their value. Keeping a session turns every
//! visit into a new site, and dropping such *links* would lose the site. Parameter order carries no
//! meaning either, and sites with facets write every order: 87,817 of 123,536 fetches of one such
//! site were exact duplicates. Parameters are therefore sorted by name; equal names keep their
//! order, which has a meaning (`a[]=1&a[]=2`). [`is_sortable`] excludes queries whose order may be
//! part of the address. Empty parameters have no meaning (URL standard section 5.1).
//!
//! All of this computes a key for comparing URLs. The request remains as the page wrote it.

use std::borrow::Cow;

use crate::letter_case::{is_one_of, starts_with_ignore_case};

/// Parameters that a canonical URL drops, and the order of the remaining ones.
///
/// A pattern is the name of a parameter, compared without regard to ASCII case. A trailing `*`
/// matches any ending. `={token}` requires a value that looks random: at least 20 characters, only
/// letters and digits, with a good share of digits. `a+b` matches the name `a` in a query that also
/// has the parameter `b`. Patterns apply to the query (`?utm_source=x`), also after a semicolon
/// (`?a=1;jsessionid=1`), and to path parameters (`/a;jsessionid=1`, RFC 3986 section 3.3).
/// `asp.net_sessionid` also drops a session that ASP.NET writes as a segment of the path:
/// `/(S(lit3py55t21z5v55vlm25s55))/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalForm {
    patterns: Vec<Pattern>,
    sort_parameters: bool,
    keep_routes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    name: Box<str>,
    any_ending: bool,
    /// Requires a value that looks random.
    token: bool,
    /// Requires another parameter of this name.
    beside: Option<Box<str>>,
}

/// Returns true for a fragment that is the route of an application.
pub(crate) fn is_route(fragment: &str) -> bool {
    fragment.starts_with(['/', '!'])
}

impl CanonicalForm {
    /// The patterns of [`CanonicalForm::default`].
    pub const DEFAULT_PARAMETERS: &'static [&'static str] = &[
        // campaigns: Urchin, Google Analytics and their imitators
        "utm_*",
        "_ga",
        "_gl",
        // click identifiers: Google Ads, Display & Video, Facebook, Microsoft, Yandex, Twitter,
        // TikTok, LinkedIn
        "gclid",
        "gclsrc",
        "gbraid",
        "wbraid",
        "dclid",
        "fbclid",
        "msclkid",
        "yclid",
        "ysclid",
        "twclid",
        "ttclid",
        "li_fat_id",
        // sharers: Instagram
        "igshid",
        "igsh",
        // newsletters: Mailchimp, HubSpot, Marketo, Vero, Omeda
        "mc_cid",
        "mc_eid",
        "_hsenc",
        "_hsmi",
        "__hstc",
        "__hssc",
        "__hsfp",
        "hsctatracking",
        "mkt_tok",
        "vero_id",
        "oly_enc_id",
        "oly_anon_id",
        // sessions: PHP, Java servlets, ASP, ASP.NET, BroadVision, ColdFusion
        "phpsessid",
        "jsessionid",
        "aspsessionid*",
        ASP_NET_SESSION,
        "bv_sessionid",
        "bv_engineid",
        "cftoken",
        "cfid+cftoken",
        // sessions under names that may mean other things: phpBB, vBulletin, osCommerce, Zen Cart,
        // Rails, and home-made ones
        "sid={token}",
        "_sid={token}",
        "s={token}",
        "sess={token}",
        "sessid={token}",
        "session={token}",
        "sessionid={token}",
        "_sessionid={token}",
        "session_id={token}",
        "oscsid={token}",
        "zenid={token}",
    ];

    /// Creates a form that drops all parameters that match a pattern. An empty pattern matches
    /// nothing.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Self {
        let patterns = patterns
            .into_iter()
            .filter_map(|pattern| Pattern::read(pattern.as_ref()))
            .collect();
        Self {
            patterns,
            sort_parameters: true,
            keep_routes: false,
        }
    }

    /// Creates a form that drops nothing, routes included, and keeps the order of parameters.
    #[must_use]
    pub const fn keep_all() -> Self {
        Self {
            patterns: Vec::new(),
            sort_parameters: false,
            keep_routes: true,
        }
    }

    /// Chooses between sorting parameters by name (the default) and keeping their order.
    #[must_use]
    pub fn sort_parameters(self, sort_parameters: bool) -> Self {
        Self {
            sort_parameters,
            ..self
        }
    }

    /// Chooses whether fragments that are routes of applications, `#/path` and `#!path`, belong to
    /// a URL. They do only if scripts are run, which read them.
    #[must_use]
    pub fn keep_routes(self, keep_routes: bool) -> Self {
        Self {
            keep_routes,
            ..self
        }
    }

    /// Returns the fragment of a URL if it belongs to it.
    pub(crate) fn route<'a>(&self, fragment: Option<&'a str>) -> Option<&'a str> {
        fragment.filter(|fragment| self.keep_routes && is_route(fragment))
    }

    /// Returns true if a pattern matches this parameter of a query or of a path segment.
    fn drops(&self, parameter: &str, query: &str) -> bool {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let mut patterns = self.patterns.iter();
        patterns.any(|pattern| {
            pattern.matches(name)
                && (!pattern.token || is_token(value))
                && pattern
                    .beside
                    .as_ref()
                    .is_none_or(|other| has_parameter(query, other))
        })
    }

    /// Appends a path without its dropped parameters and sessions.
    pub(crate) fn push_path(&self, text: &mut String, path: &str) {
        let has_session = path.contains("/(") && self.drops(ASP_NET_SESSION, "");
        if self.patterns.is_empty() || !path.contains(';') && !has_session {
            text.push_str(path);
            return;
        }
        for segment in path.split_inclusive('/') {
            let (segment, slash) = segment
                .strip_suffix('/')
                .map_or((segment, ""), |segment| (segment, "/"));
            if has_session && is_session_segment(segment) {
                continue;
            }
            let mut parts = segment.split(';');
            text.push_str(parts.next().unwrap_or_default());
            for parameter in parts.filter(|parameter| !self.drops(parameter, "")) {
                text.push(';');
                text.push_str(parameter);
            }
            text.push_str(slash);
        }
    }

    /// Appends `?` and the query in canonical order, without its empty and its dropped parameters;
    /// nothing if no parameters remain.
    pub(crate) fn push_query(&self, text: &mut String, query: &str) {
        let mut parameters: Vec<Cow<'_, str>> = query
            .split('&')
            .filter_map(|parameter| self.kept(parameter, query))
            .collect();
        if self.sort_parameters && is_sortable(&parameters) {
            parameters.sort_by(|one, other| base_name(one).cmp(base_name(other)));
        }
        let mut separator = '?';
        for parameter in parameters {
            text.push(separator);
            text.push_str(&parameter);
            separator = '&';
        }
    }

    /// Returns the remaining part of a parameter; `None` if nothing remains.
    fn kept<'q>(&self, parameter: &'q str, query: &str) -> Option<Cow<'q, str>> {
        let is_kept = |part: &&str| !self.drops(part, query);
        let kept = match parameter.contains(';') && !parameter.split(';').all(|part| is_kept(&part))
        {
            true => {
                let parts: Vec<&str> = parameter.split(';').filter(is_kept).collect();
                Cow::Owned(parts.join(";"))
            }
            false => Some(parameter).filter(is_kept).map(Cow::Borrowed)?,
        };
        (!kept.is_empty()).then_some(kept)
    }
}

/// The pattern of ASP.NET's sessions.
const ASP_NET_SESSION: &str = "asp.net_sessionid";

/// Returns true if a query has a parameter of this name.
fn has_parameter(query: &str, name: &str) -> bool {
    let mut parameters = query.split(['&', ';']);
    parameters.any(|parameter| {
        let own = parameter.split('=').next().unwrap_or_default();
        own.eq_ignore_ascii_case(name)
    })
}

/// Returns true for a segment with ASP.NET's session and tickets, each after its letter:
/// `(S(lit3py55t21z5v55vlm25s55))`, `(A(..)F(..))`; in version 1.1, `(lit3py55t21z5v55vlm25s55)`.
fn is_session_segment(segment: &str) -> bool {
    let session = segment
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if session.is_some_and(|session| session.len() == 24 && is_token(session)) {
        return true;
    }
    let inner = session.and_then(|rest| rest.strip_suffix(')'));
    let is_part = |part: &str| {
        let part = part.strip_prefix(|letter: char| letter.is_ascii_uppercase());
        let value = part.and_then(|part| part.strip_prefix('('));
        value.is_some_and(|value| value.len() >= TOKEN_BYTES && value.bytes().all(is_of_name))
    };
    inner.is_some_and(|inner| inner.split(')').all(is_part))
}

/// Returns a parameter's name up to its first bracket: `f[][k]=1&f[][v]=2&f[][k]=3` are two pairs
/// whose order matters.
fn base_name(parameter: &str) -> &str {
    let name = parameter.split('=').next().unwrap_or_default();
    let end = name.find('[').into_iter().chain(name.find("%5B")).min();
    &name[..end.unwrap_or(name.len())]
}

/// Returns true if the order of the parameters carries no meaning. It may carry one
/// - if a parameter is neither a name nor a name with a value: `?/topic/1/&page=2`, `?12,34&5`;
/// - if the first is a bare name and others have values: `?FrontPage&action=edit` names a wiki
///   page;
/// - if `;` also separates parameters, or the query contains an unencoded URL:
///   `?to=http://example.org/?a=1&b=2`;
/// - if a signature covers the query as written, as image servers do.
fn is_sortable(parameters: &[Cow<'_, str>]) -> bool {
    let is_plain = |parameter: &Cow<'_, str>| match parameter.split_once('=') {
        Some((name, value)) => {
            !name.is_empty() && !parameter.contains([';', '?']) && !is_signature(name, value)
        }
        None => parameter.bytes().all(is_of_name),
    };
    let has_value = |parameter: &Cow<'_, str>| parameter.contains('=');
    let is_page_first = parameters.first().is_some_and(|first| !has_value(first))
        && parameters.iter().any(has_value);
    parameters.len() > 1 && !is_page_first && parameters.iter().all(is_plain)
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Minimum length of a signature: an MD5 in base 64.
const SIGNATURE_BYTES: usize = 22;

fn is_signature(name: &str, value: &str) -> bool {
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or(name);
    value.len() >= SIGNATURE_BYTES && is_one_of(last, &["s", "sig", "sign", "hmac", "signature"])
}

/// The suffix of a pattern that requires a random value.
const TOKEN: &str = "={token}";
/// Minimum length of a token: session identifiers have at least 26 (PHP) or 32 (MD5) characters.
const TOKEN_BYTES: usize = 20;

/// Returns true if a value looks random. Of 20 random hexadecimal digits, at least four are decimal
/// in all but one of 10,000 draws; words have fewer, and numbers have only decimal digits.
fn is_token(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let all = value.bytes().all(|byte| byte.is_ascii_alphanumeric());
    all && value.len() >= TOKEN_BYTES && digits >= 4 && digits < value.len()
}

impl Default for CanonicalForm {
    fn default() -> Self {
        Self::new(Self::DEFAULT_PARAMETERS)
    }
}

impl Pattern {
    fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let (name, token) = text
            .strip_suffix(TOKEN)
            .map_or((text, false), |name| (name, true));
        let (name, beside) = match name.split_once('+') {
            Some((name, beside)) => (name, Some(beside.into())),
            None => (name, None),
        };
        let (name, any_ending) = name
            .strip_suffix('*')
            .map_or((name, false), |name| (name, true));
        Some(Self {
            name: name.into(),
            any_ending,
            token,
            beside,
        })
    }

    fn matches(&self, name: &str) -> bool {
        (self.any_ending || name.len() == self.name.len())
            && starts_with_ignore_case(name, &*self.name)
    }
}

/// Normalises percent-encoding: upper-case hexadecimal digits, unreserved characters decoded (RFC
/// 3986 sections 6.2.2.1 and 6.2.2.2).
///
/// A percent sign that encodes nothing is kept, and so is an encoded digit that would complete it:
/// `%2%65` must not become `%2e`, which would decode to a dot the next time.
pub(crate) fn normalise_percent(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut normal = String::with_capacity(text.len());
    let mut copied = 0;
    // The position in `normal` of the last percent sign that encodes nothing.
    let mut stray: Option<usize> = None;
    let mut at = 0;
    while let Some(found) = text[at..].find('%') {
        at += found;
        normal.push_str(&text[copied..at]);
        let Some(decoded) = hex_pair(bytes, at + 1) else {
            stray = Some(normal.len());
            normal.push('%');
            at += 1;
            copied = at;
            continue;
        };
        // At most one digit is between them; otherwise the percent sign cannot be completed.
        let completes_stray = decoded.is_ascii_hexdigit()
            && stray.is_some_and(|stray| match normal.as_bytes()[stray + 1..] {
                [] => true,
                [digit] => digit.is_ascii_hexdigit(),
                _ => false,
            });
        if is_unreserved(decoded) && !completes_stray {
            normal.push(char::from(decoded));
        } else {
            push_encoded(&mut normal, decoded);
        }
        at += 3;
        copied = at;
    }
    normal.push_str(&text[copied..]);
    Cow::Owned(normal)
}

/// Returns the byte that the two hexadecimal digits at `at` encode.
pub(crate) fn hex_pair(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(at)? << 4 | digit(at + 1)?).ok()
}

/// Appends a byte in percent-encoding, with upper-case digits.
pub(crate) fn push_encoded(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |four_bits: u8| char::from(DIGITS[usize::from(four_bits)]);
    text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

/// Returns true for unreserved characters (RFC 3986 section 2.3).
pub(crate) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_has_one_spelling() {
        for (text, normal) in [
            ("/plain", "/plain"),
            ("/%7euser/%41%2D%5f%2E", "/~user/A-_."),
            ("/%c3%a9", "/%C3%A9"),
            ("/%2f%3F%26", "/%2F%3F%26"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            ("/%2%65", "/%2%65"),
            ("/%%32e", "/%%32e"),
            ("/%%2541", "/%%2541"),
            ("/%x%65", "/%xe"),
            ("/%xy%65", "/%xye"),
        ] {
            assert_eq!(normalise_percent(text), normal, "{text}");
            assert_eq!(normalise_percent(normal), normal, "{text}, again");
        }
    }

    #[test]
    fn parameters_are_sorted_unless_their_order_may_matter() {
        let form = CanonicalForm::default();
        let canonical = |query: &str| {
            let mut text = String::new();
            form.push_query(&mut text, query);
            text
        };
        for (query, expected) in [
            ("b=2&a=1", "?a=1&b=2"),
            ("b&a", "?a&b"),
            // Empty parameters are none.
            ("b=2&&c&a=1", "?a=1&b=2&c"),
            ("&x=y", "?x=y"),
            ("x=y&", "?x=y"),
            // Parameters of one name keep their order.
            ("b=1&a=2&b=0&a=1", "?a=2&a=1&b=1&b=0"),
            ("b=1&a[]=2&a[]=1", "?a[]=2&a[]=1&b=1"),
            (
                "f[][v]=2&f[][k]=3&f[][v]=4&e=0",
                "?e=0&f[][v]=2&f[][k]=3&f[][v]=4",
            ),
            ("f%5Bb%5D=2&f%5Ba%5D=3&e=0", "?e=0&f%5Bb%5D=2&f%5Ba%5D=3"),
            ("B=1&a=2", "?B=1&a=2"),
            ("z=1&utm_source=x&y=2", "?y=2&z=1"),
            ("z=1&print", "?print&z=1"),
            // The order may have a meaning here.
            ("b=2", "?b=2"),
            ("topic/1/&do=x", "?topic/1/&do=x"),
            ("12,34&5", "?12,34&5"),
            ("FrontPage&action=edit", "?FrontPage&action=edit"),
            ("b=2&a=1;c=3", "?b=2&a=1;c=3"),
            (
                "to=http://example.org/?a=1&b=2",
                "?to=http://example.org/?a=1&b=2",
            ),
            (
                "w=9&h=8&sig=0123456789abcdef0123456789abcdef",
                "?w=9&h=8&sig=0123456789abcdef0123456789abcdef",
            ),
            ("w=9&h=8&sig=1", "?h=8&sig=1&w=9"),
            ("b=1&=2&a", "?b=1&=2&a"),
        ] {
            assert_eq!(canonical(query), expected, "{query}");
            assert_eq!(canonical(&expected[1..]), expected, "{query}, again");
        }
        let mut kept = String::new();
        CanonicalForm::default()
            .sort_parameters(false)
            .push_query(&mut kept, "b=2&a=1");
        assert_eq!(kept, "?b=2&a=1");
    }

    #[test]
    fn sessions_are_dropped_wherever_their_servers_write_them() {
        let form = CanonicalForm::default();
        let token = "4e5f60718293a4b5c6d7e8f90a1b2c3d";
        for (path, query, expected) in [
            ("/p", format!("a=1&_sessionid={token}"), "/p?a=1"),
            ("/p", "Bv_SessionID=1234567890.12&a=1".to_owned(), "/p?a=1"),
            (
                "/p",
                "a=1&CFID=1169580&CFTOKEN=48630702".to_owned(),
                "/p?a=1",
            ),
            // Alone it may select content.
            ("/p", "CFID=1169580&a=1".to_owned(), "/p?CFID=1169580&a=1"),
            ("/p", format!("a=1;jsessionid={token}"), "/p?a=1"),
            ("/p", format!(";jsessionid={token}"), "/p"),
            ("/p", "a=1;b=2".to_owned(), "/p?a=1;b=2"),
            (
                "/(S(lit3py55t21z5v55vlm25s55))/p.aspx",
                String::new(),
                "/p.aspx",
            ),
            (
                "/a/(A(kq3k8aJ1zQEkAAAA-x_2x)S(lit3py55t21z5v55vlm25s55))/",
                String::new(),
                "/a/",
            ),
            ("/(lit3py55t21z5v55vlm25s55)/p", String::new(), "/p"),
            ("/(S(short))/p", String::new(), "/(S(short))/p"),
            ("/(note)/p", String::new(), "/(note)/p"),
        ] {
            let canonical = |path: &str, query: &str| {
                let mut text = String::new();
                form.push_path(&mut text, path);
                form.push_query(&mut text, query);
                text
            };
            assert_eq!(canonical(path, &query), expected, "{path}?{query}");
            let (path, query) = expected.split_once('?').unwrap_or((expected, ""));
            assert_eq!(canonical(path, query), expected, "again");
        }
    }

    #[test]
    fn a_pattern_matches_a_name_or_its_beginning_in_any_case() {
        for (pattern, name, matches) in [
            ("utm_*", "utm_source", true),
            ("utm_*", "UTM_", true),
            ("utm_*", "utm", false),
            ("utm_*", "my_utm_source", false),
            ("gclid", "GCLID", true),
            ("gclid", "gclid2", false),
            ("a*b", "a*b", true),
            ("a*b", "axb", false),
            ("*", "anything", true),
            ("", "", false),
            ("sid={token}", "sid", false),
            ("sid={token}", "sid=1234", false),
            ("sid={token}", "sid=12345678901234567890123456789012", false),
            ("sid={token}", "sid=the-story-of-2024-and-2025-told", false),
            ("sid={token}", "sid=0f8fad5bd9cb469fa16570867728950e", true),
            ("sid={token}", "SID=q5fhqh6r3ck7gqnt8u1m0bs2d4", true),
            (
                "sid={token}",
                "sid=0f8fad5b-d9cb-469f-a165-70867728950e",
                false,
            ),
            (
                "sid={token}",
                "asid=0f8fad5bd9cb469fa16570867728950e",
                false,
            ),
        ] {
            assert_eq!(
                CanonicalForm::new([pattern]).drops(name, ""),
                matches,
                "{pattern} {name}"
            );
        }
    }
}
