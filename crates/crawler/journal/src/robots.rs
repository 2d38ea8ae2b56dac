//! The robots.txt of a site, as remembered.

use serde::{Deserialize, Serialize};
use web::Timestamp;

/// A cached robots.txt. The journal stores it (postcard): the order of the fields is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// Its text, at most [`web::MAX_ROBOTS_BYTES`]; `None` if the site lacks a robots.txt and every
    /// URL may be fetched.
    pub text: Option<Vec<u8>>,
    /// The expiry time; an expired robots.txt is fetched again.
    pub until: Timestamp,
}
