//! URLs: canonical, keyed, sorted and grouped.

pub(crate) mod canonical;
pub(crate) mod host;
pub(crate) mod host_group;
pub(crate) mod host_table;
pub(crate) mod page_url;
mod query_encoding;
pub(crate) mod surt;
pub(crate) mod url_key;
pub(crate) mod url_pattern;
pub(crate) mod url_prefix;
