//! Pages of HTML that show a crawl, made from its figures.
//!
//! The figures are those of `statistics`; this crate selects, bounds, draws and formats them. It is
//! the only one that knows the template engine. The templates of a section are fragments, so that
//! every page with that section includes the same one.
//!
//! - `report` has the sections of a report as values, which are also its JSON.
//! - `charts` draws SVG; `format` writes numbers, sizes, times and text from the web.
//! - `caps` has the bounds.
//!
//! Invariants: text from the web is escaped by the templates, and nothing but our own SVG and style
//! sheet is exempt. A page refers to nothing outside itself. The same figures make the same bytes.

pub mod caps;
mod charts;
#[expect(
    unreachable_pub,
    reason = "what the attribute of a filter makes of it is public"
)]
mod filters;
mod format;
mod report;

pub use format::cut;
pub use report::*;
