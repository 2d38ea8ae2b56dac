//! Options for secrets.
//!
//! Secrets are not settings: no file of a crawl stores them, and no error message repeats them.

use std::fmt;
use std::path::PathBuf;

use clap::Args;

/// Default file of `--netrc`, below the home directory.
pub(super) const USUAL_NETRC: &str = "~/.netrc";

/// The options for secrets.
#[derive(Clone, Debug, Default, Args)]
pub struct SecretArgs {
    /// Send this header field only to the origins of the seeds (same scheme, host and port),
    /// regardless of links and redirects; `https://example.org Name: value` sends it to that origin
    /// instead; @FILE reads one field per line from a file, which hides it from the process list.
    /// Never archived or stored: give it again to continue (repeatable)
    #[arg(long, value_name = "NAME: VALUE|@FILE", help_heading = "Secrets")]
    pub header: Vec<Secret>,
    /// Log in at the origins of the seeds, with Digest authentication where a server offers it, or
    /// else Basic, which is sent over https at once and over http when the server asks;
    /// `https://example.org USER` logs in at that origin instead. User and password in URLs are
    /// never used
    #[arg(long, value_name = "USER[:PASSWORD]", help_heading = "Secrets")]
    pub http_user: Option<Secret>,
    /// Password of --http-user; visible to other users of this machine in the process list, unlike
    /// --http-password-file
    #[arg(
        long,
        value_name = "PASSWORD",
        help_heading = "Secrets",
        requires = "http_user"
    )]
    pub http_password: Option<Secret>,
    /// File whose first line is the password of --http-user; - is standard input
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Secrets",
        requires = "http_user",
        conflicts_with = "http_password"
    )]
    pub http_password_file: Option<PathBuf>,
    /// Log in with the entries of this file [~/.netrc without =FILE], as wget and curl do: each at
    /// its machine, over https on the standard port and at origins of seeds. The default entry is
    /// not used
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = USUAL_NETRC,
        help_heading = "Secrets",
        conflicts_with = "http_user"
    )]
    pub netrc: Option<PathBuf>,
    /// Send the cookies of this file (Netscape format, as written by browser extensions, curl and
    /// wget), restricted by their domain, path, expiry and Secure, and only where a seed of the
    /// domain has the same scheme and port. For cookies from servers, see --cookies session
    #[arg(long, value_name = "FILE", help_heading = "Secrets")]
    pub load_cookies: Option<PathBuf>,
}

/// A secret text; `Debug` does not show it.
#[derive(Clone, Default)]
pub struct Secret(pub String);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
