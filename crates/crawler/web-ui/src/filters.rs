//! The filters of the templates: the functions of [`crate::format`] and [`crate::charts`] under
//! their names.
//!
//! A template passes a field as a reference and the result of a method as a value, so filters take
//! both.

use std::borrow::Borrow;
use std::fmt::Display;

use askama::{Result, Values};
use web::Timestamp;

use crate::charts::{self, Svg};
use crate::format;

/// Formats a count.
#[askama::filter_fn]
pub(crate) fn count(count: impl Borrow<u64>, _values: &dyn Values) -> Result<String> {
    Ok(format::count(*count.borrow()))
}

/// Formats a size in bytes.
#[askama::filter_fn]
pub(crate) fn bytes(bytes: impl Borrow<u64>, _values: &dyn Values) -> Result<String> {
    Ok(format::bytes(*bytes.borrow()))
}

/// Formats a part of a whole in per cent.
#[askama::filter_fn]
pub(crate) fn share(part: impl Borrow<u64>, _values: &dyn Values, whole: u64) -> Result<String> {
    Ok(format::share(*part.borrow(), whole))
}

/// Draws the length of a bar, up to the longest one of its table.
#[askama::filter_fn]
pub(crate) fn meter(value: impl Borrow<u64>, _values: &dyn Values, most: u64) -> Result<Svg> {
    Ok(charts::meter(*value.borrow(), most))
}

/// Formats seconds.
#[askama::filter_fn]
pub(crate) fn seconds(seconds: impl Borrow<f64>, _values: &dyn Values) -> Result<String> {
    Ok(format::seconds(*seconds.borrow()))
}

/// Formats a time.
#[askama::filter_fn]
pub(crate) fn time(at: impl Borrow<Timestamp>, _values: &dyn Values) -> Result<String> {
    Ok(format::time(*at.borrow()))
}

/// Makes characters of text from the web visible that have an effect and no glyph. Escaping markup
/// is left to the template.
#[askama::filter_fn]
pub(crate) fn visible(text: impl Display, _values: &dyn Values) -> Result<String> {
    Ok(web::printable(&text.to_string()))
}
