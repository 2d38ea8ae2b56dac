//! Chosen lines of JSON, copied byte by byte except for a replaced text.

use std::io::Write;

use super::{KeepError, Kept, KeptDocuments, Pass};
use crate::fields::FieldNames;
use crate::json_lines::JsonLines;
use crate::json_object;
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
        let fields = kept.fields();
        let mut lines = JsonLines::with_fields(input, fields.clone());
        while let Some((line, bytes)) = lines.next_with_bytes() {
            let Ok(document) = of_a_line(line, &name) else {
                continue;
            };
            let bytes = match pass.choose(&document) {
                Kept::Dropped => continue,
                Kept::Whole => bytes,
                Kept::WithText(text) => with_text(&bytes, &text, &fields),
            };
            let written = out.write_all(&bytes).and_then(|()| out.write_all(b"\n"));
            written.map_err(|source| out.error(source))?;
        }
    }
    pass.check()?;
    Ok(out.complete()?)
}

/// Returns a line with another text in place of its own; every other byte stays.
fn with_text(line: &[u8], text: &str, fields: &FieldNames) -> Vec<u8> {
    let Some(place) = json_object::place_of_text(line, fields) else {
        return line.to_owned(); // Not reached: the line is a document, so it has a text.
    };
    let text = serde_json::Value::from(text).to_string();
    [&line[..place.start], text.as_bytes(), &line[place.end..]].concat()
}
