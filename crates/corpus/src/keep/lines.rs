//! Chosen lines of JSON, byte by byte.

use std::io::Write;

use super::{KeepError, KeptDocuments, Pass};
use crate::json_lines::JsonLines;
use crate::open_file::{self, OpenFile, of_a_line};
use crate::packed_draft::PackedDraft;

/// Writes the lines of the chosen documents, each with an end of line; returns the bytes written.
pub(super) fn write(kept: &KeptDocuments, pass: &mut Pass<'_>) -> Result<u64, KeepError> {
    let mut out = PackedDraft::begin(&kept.output)?;
    for path in kept.files()? {
        let Ok(OpenFile::JsonLines(input)) = open_file::open(&path, &kept.options) else {
            continue;
        };
        let name = path.display().to_string();
        let mut lines = JsonLines::with_fields(input, kept.fields());
        while let Some((line, bytes)) = lines.next_with_bytes() {
            let Ok(document) = of_a_line(line, &name) else {
                continue;
            };
            if pass.survives(&document) {
                let written = out.write_all(&bytes).and_then(|()| out.write_all(b"\n"));
                written.map_err(|source| out.error(source))?;
            }
        }
    }
    pass.is_unchanged()?;
    Ok(out.complete()?)
}
