//! A header field for single origins: `[ORIGIN ]Name: value`.

use std::fmt;

use data_encoding::BASE64;
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};
use web::{CanonicalForm, PageUrl};

/// The longest value, in bytes: servers accept fields up to 8 KiB.
const MAX_VALUE_BYTES: usize = 8 << 10;

/// Fields that the user may not set, and the reason.
const NOT_YOURS: [(&[&str], &str); 7] = [
    (
        &["cookie"],
        "use --load-cookies FILE, which sends each cookie only to its own site",
    ),
    (
        &["user-agent"],
        "use --user-agent, which also applies to robots.txt",
    ),
    (
        &["proxy-authorization"],
        "it is for the proxy: use --proxy http://USER:PASSWORD@HOST:PORT",
    ),
    (
        &["host"],
        "it follows from the URL; use --resolve to connect to another address",
    ),
    (
        &["accept-encoding"],
        "it lists the codings that the crawler can decode",
    ),
    (
        &[
            "if-none-match",
            "if-modified-since",
            "if-match",
            "if-unmodified-since",
            "if-range",
            "range",
        ],
        "pages are requested in full, or conditionally with --since",
    ),
    (
        &[
            "connection",
            "content-length",
            "expect",
            "http2-settings",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
        ],
        "it belongs to the connection",
    ),
];

/// A header field for single origins. `Debug` hides its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretField {
    /// The origin that gets it; `None` for the origins of the seeds.
    origin: Option<String>,
    name: HeaderName,
    value: HeaderValue,
    login: Option<Login>,
}

/// A user and a password. `Debug` hides both.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

/// The reason why a text is not a [`SecretField`]. No variant repeats text that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretFieldError {
    /// No colon.
    #[error("must be 'Name: value' or 'https://example.org Name: value'")]
    Form,
    /// The text before the field is not an origin.
    #[error(
        "the text before the field must be an origin, such as 'https://example.org Name: \
        value'"
    )]
    Origin,
    /// The text before the colon is not a token (RFC 9110 section 5.1).
    #[error("the text before the colon must be a field name: letters, digits and hyphens")]
    Name,
    /// Nothing follows the colon.
    #[error("{0} has no value; quote the field: 'Name: value'")]
    Empty(HeaderName),
    /// A control character, a line end (RFC 9110 section 5.5), or too long.
    #[error("the value of {0} contains control characters, or exceeds {MAX_VALUE_BYTES} bytes")]
    Value(HeaderName),
    /// A field that the crawler sets itself.
    #[error("{name} cannot be set this way: {instead}")]
    NotYours {
        /// The field.
        name: HeaderName,
        /// The reason, with the alternative.
        instead: &'static str,
    },
    /// A user that cannot be separated from its password, or a control character (RFC 7617 section
    /// 2).
    #[error(
        "user or password contains a character that HTTP authentication does not allow, or is too \
         long"
    )]
    Login,
}

impl SecretField {
    /// Reads `Name: value` or `ORIGIN Name: value`.
    ///
    /// # Errors
    ///
    /// [`SecretFieldError`] if it is neither, or a field that the crawler sets itself.
    pub fn parse(text: &str) -> Result<Self, SecretFieldError> {
        let (origin, field) = scoped(text)?;
        let (name, value) = field.split_once(':').ok_or(SecretFieldError::Form)?;
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_not_a_token| SecretFieldError::Name)?;
        if let Some((_, instead)) = NOT_YOURS
            .iter()
            .find(|(names, _)| names.contains(&name.as_str()))
        {
            return Err(SecretFieldError::NotYours { name, instead });
        }
        let value = value.trim_matches([' ', '\t']);
        if value.is_empty() {
            return Err(SecretFieldError::Empty(name));
        }
        match secret(value.as_bytes()) {
            Some(value) => Ok(Self {
                origin,
                name,
                value,
                login: None,
            }),
            None => Err(SecretFieldError::Value(name)),
        }
    }

    /// Returns the field of Basic authentication (RFC 7617) for `login`: a user, or an origin and a
    /// user, and perhaps a password after a colon; otherwise `password` is it. Returns `None`
    /// without any password: an empty one is written with a colon.
    ///
    /// # Errors
    ///
    /// [`SecretFieldError`] for characters that cannot be sent, and for two passwords.
    pub fn basic(login: &str, password: Option<&str>) -> Result<Option<Self>, SecretFieldError> {
        let (origin, login) = scoped(login)?;
        let (user, password) = match (login.split_once(':'), password) {
            // The first colon ends the user, so a user cannot have one.
            (Some(_), Some(_)) => return Err(SecretFieldError::Login),
            (Some(both), None) => both,
            (None, Some(password)) => (login, password),
            (None, None) => return Ok(None),
        };
        let login = format!("{user}:{password}");
        if login.chars().any(char::is_control) {
            return Err(SecretFieldError::Login);
        }
        let value = format!("Basic {}", BASE64.encode(login.as_bytes()));
        let value = secret(value.as_bytes()).ok_or(SecretFieldError::Login)?;
        Ok(Some(Self {
            origin,
            name: AUTHORIZATION,
            value,
            login: Some(Login {
                user: user.to_owned(),
                password: password.to_owned(),
            }),
        }))
    }

    /// Returns the name of the field.
    #[must_use]
    pub fn name(&self) -> &HeaderName {
        &self.name
    }

    /// Returns the value, which `Debug` hides.
    #[must_use]
    pub fn value(&self) -> &HeaderValue {
        &self.value
    }

    /// Returns user and password, if the field comes from [`SecretField::basic`]: a server may ask
    /// for another proof of them.
    #[must_use]
    pub fn login(&self) -> Option<&Login> {
        self.login.as_ref()
    }

    /// Returns the origin that gets it; `None` for the origins of the seeds.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }
}

/// Returns a value that `Debug` hides; `None` if it is invalid or too long.
#[must_use]
pub fn secret(value: &[u8]) -> Option<HeaderValue> {
    if value.len() > MAX_VALUE_BYTES {
        return None;
    }
    let mut value = HeaderValue::from_bytes(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Splits off the text before the first space, if it is a URL. No name of a field has a slash in
/// it.
fn scoped(text: &str) -> Result<(Option<String>, &str), SecretFieldError> {
    let text = text.trim_start();
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let lower = first.get(..8).unwrap_or(first).to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Ok((None, text));
    }
    let url = PageUrl::parse(first, &CanonicalForm::keep_all())
        .map_err(|_no_url| SecretFieldError::Origin)?;
    let is_origin =
        url.as_url().path() == "/" && url.as_url().query().is_none() && !first.contains('@');
    if !is_origin {
        return Err(SecretFieldError::Origin);
    }
    Ok((Some(url.origin()), rest.trim_start()))
}
