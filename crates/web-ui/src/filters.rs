//! The filters of the templates: the functions of [`crate::format`] under their names.

use std::fmt::Display;

use askama::{Result, Values};
use web::Timestamp;

use crate::format;

/// Formats a count.
#[askama::filter_fn]
pub(crate) fn count(count: &u64, _values: &dyn Values) -> Result<String> {
    Ok(format::count(*count))
}

/// Formats a size in bytes.
#[askama::filter_fn]
pub(crate) fn bytes(bytes: &u64, _values: &dyn Values) -> Result<String> {
    Ok(format::bytes(*bytes))
}

/// Formats a part of a whole in per cent.
#[askama::filter_fn]
pub(crate) fn share(part: &u64, _values: &dyn Values, whole: u64) -> Result<String> {
    Ok(format::share(*part, whole))
}

/// Formats seconds.
#[askama::filter_fn]
pub(crate) fn seconds(seconds: &f64, _values: &dyn Values) -> Result<String> {
    Ok(format::seconds(*seconds))
}

/// Formats a time.
#[askama::filter_fn]
pub(crate) fn time(at: &Timestamp, _values: &dyn Values) -> Result<String> {
    Ok(format::time(*at))
}

/// Makes characters of text from the web visible that have an effect and no glyph. Escaping markup
/// is left to the template.
#[askama::filter_fn]
pub(crate) fn visible(text: impl Display, _values: &dyn Values) -> Result<String> {
    Ok(web::printable(&text.to_string()))
}
