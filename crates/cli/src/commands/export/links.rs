//! The links of archived pages.
//!
//! The journal does not have the words and the relations of a link. They are read as during the
//! visit, except that longer words are kept, and every relation.

use std::io::Write;

use export::ExportFault;
use store::VisitRecord;
use web::{Link, ReadLimits};

use super::destination::Destination;

/// Characters of the words of a link.
const ANCHOR_CHARS: usize = 500;
/// Bytes of the relations of a link.
const REL_BYTES: usize = 200;

/// Sets the limits by which pages are read for their links.
pub(super) fn widen(limits: &mut ReadLimits) {
    limits.anchor_chars = ANCHOR_CHARS;
    limits.rel_bytes = REL_BYTES;
}

/// Writes the links of the page of a visit.
pub(super) fn write<W: Write + Send>(
    row: &VisitRecord,
    links: &[Link],
    destination: &mut Destination<W>,
) -> Result<(), ExportFault> {
    let source = row.final_url.as_ref().unwrap_or(&row.url).as_str();
    for link in links {
        let link = export::Link {
            source,
            target: link.url.as_str(),
            anchor: &link.anchor,
            rel: &link.rel,
            kind: link.kind.as_str(),
        };
        destination.write(&link.fields())?;
    }
    Ok(())
}
