//! A text as a Markdown file with front matter: a block of YAML between two lines of `---`, which
//! static site generators, note programs and loaders of corpora read.

use std::fmt::Write as _;

use crate::extracted_text::{ExtractedText, TEXTS};
use crate::table::Value;

/// Returns the file of a text. The front matter has the columns of [`TEXTS`] that are known, except
/// the text itself and its figures.
#[must_use]
pub fn markdown_file(page: &ExtractedText<'_>) -> String {
    let mut file = String::with_capacity(page.text.len() + 1_024);
    file.push_str("---\n");
    for (column, value) in TEXTS.columns.iter().zip(page.fields()) {
        let value = match value {
            // A JSON object is a YAML mapping, too.
            Some(Value::Text(object)) if column.name == "fields" => object.to_owned(),
            // A JSON string is a YAML string (YAML 1.2, section 1.3).
            Some(Value::Text(text)) if column.name != "text" => {
                serde_json::Value::from(text).to_string()
            }
            // YAML's dates and times have no quotes.
            Some(Value::Date(date)) => date.to_string(),
            Some(Value::Time(time)) => time.to_string(),
            _ => continue,
        };
        let _infallible = writeln!(file, "{}: {value}", column.name);
    }
    file.push_str("---\n\n");
    file.push_str(page.text.trim_end());
    file.push('\n');
    file
}
