//! The result of running the scripts of a page.

use serde::{Deserialize, Serialize};

/// The result of running the scripts of a page. The order of the variants is on disk (postcard).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rendered {
    /// The DOM was judged in place of the page.
    Dom {
        /// Offset of its record in the archive file of the page; `None` if the page was not
        /// archived.
        offset: Option<u64>,
        /// True if the DOM has other text than the page as received, or further links in scope.
        adds: bool,
    },
    /// The page was judged as it was received, for this reason.
    Failed(String),
}
