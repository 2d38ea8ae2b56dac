//! HTTP exchanges as values: header fields, body, media type, validators.

pub(crate) mod body;
pub(crate) mod content_filter;
pub(crate) mod decode;
pub(crate) mod exchange;
pub(crate) mod identified_type;
pub(crate) mod link_header;
pub(crate) mod media_type;
pub(crate) mod validators;
pub(crate) mod warning;
pub(crate) mod xml_root;
