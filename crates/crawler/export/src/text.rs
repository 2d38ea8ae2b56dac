//! JSON lines and CSV (RFC 4180, with `\n` at the end of a line).
//!
//! Null is `null` in JSON and an empty field in CSV, where it looks like an empty text.
//!
//! A spreadsheet treats a field as a formula if it begins with one of [`FORMULA_MARKS`], quoted or
//! not, and titles, anchors and URLs are written by strangers. So a text field that begins with
//! such a mark gets a leading `'`, which a spreadsheet interprets as "text follows" (OWASP, "CSV
//! Injection"). Our own numbers are unchanged, and with [`FormulaPolicy::Verbatim`] all texts are.

use std::borrow::Cow;
use std::io::{self, Write};

use data_encoding::HEXLOWER;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::fault::ExportFault;
use crate::table::{Table, Value};

/// A value, serialized as JSON.
struct Json<'a>(Value<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Reason(reason) => serializer.collect_str(reason),
            Value::Number(number) => serializer.serialize_u64(number),
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Real(share) => serializer.serialize_f64(share),
            Value::Time(at) => serializer.collect_str(&at),
            Value::Date(date) => serializer.collect_str(&date),
            Value::Fingerprint(fingerprint) => serializer.collect_str(&fingerprint),
            Value::Bytes(bytes) => serializer.collect_str(&HEXLOWER.encode_display(bytes)),
            Value::Integers(numbers) => numbers.serialize(serializer),
        }
    }
}

/// A record, serialized as a JSON object. Fields beyond the columns of the table are omitted.
pub(crate) struct Line<'a>(pub Table, pub &'a [Option<Value<'a>>]);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.columns.len()))?;
        for (column, value) in self.0.columns.iter().zip(self.1) {
            map.serialize_entry(column.name, &value.map(Json))?;
        }
        map.end()
    }
}

/// Writes one JSON object on one line.
pub(crate) fn json_line(
    table: Table,
    fields: &[Option<Value<'_>>],
    out: &mut impl Write,
) -> Result<(), ExportFault> {
    serde_json::to_writer(&mut *out, &Line(table, fields)).map_err(io::Error::from)?;
    out.write_all(b"\n").map_err(ExportFault::from)
}

/// The first characters of a field that make a spreadsheet recognise a formula: the list in OWASP's
/// "CSV Injection", and the full-width forms, which some locales accept.
const FORMULA_MARKS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Returns a text as a field that no spreadsheet runs as a formula.
#[must_use]
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match text.starts_with(FORMULA_MARKS) {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Writes a value as text.
pub(crate) fn write_value(value: &Value<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    match value {
        Value::Text(text) => write!(out, "{text}"),
        // No reason begins like a formula.
        Value::Reason(reason) => write!(out, "{reason}"),
        Value::Number(number) => write!(out, "{number}"),
        Value::Bool(value) => write!(out, "{value}"),
        // As in JSON: the shortest digits that are read back as the same value.
        Value::Real(share) => serde_json::to_writer(out, share).map_err(io::Error::from),
        Value::Time(at) => write!(out, "{at}"),
        Value::Date(date) => write!(out, "{date}"),
        Value::Fingerprint(fingerprint) => write!(out, "{fingerprint}"),
        Value::Bytes(bytes) => write!(out, "{}", HEXLOWER.encode_display(bytes)),
        Value::Integers(numbers) => write_list(numbers, out),
    }
}

/// Writes a list as PostgreSQL reads arrays.
fn write_list(numbers: &[i64], out: &mut Vec<u8>) -> io::Result<()> {
    out.push(b'{');
    for (at, number) in numbers.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}{number}")?;
    }
    out.push(b'}');
    Ok(())
}

/// The treatment of text fields that a spreadsheet would run as formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormulaPolicy {
    /// Prefixed with `'`.
    Neutralised,
    /// Unchanged.
    Verbatim,
}

/// Writes CSV.
pub(crate) struct Csv<W: Write> {
    writer: csv::Writer<W>,
    texts: FormulaPolicy,
    field: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Begins a table with the header line.
    pub(crate) fn begin(table: Table, texts: FormulaPolicy, out: W) -> Result<Self, ExportFault> {
        let mut csv = Self::go_on(texts, out);
        let names = table.columns.iter().map(|column| column.name);
        csv.writer.write_record(names)?;
        Ok(csv)
    }

    /// Continues a table that has its header line.
    pub(crate) fn go_on(texts: FormulaPolicy, out: W) -> Self {
        Self {
            writer: csv::Writer::from_writer(out),
            texts,
            field: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        for value in fields {
            self.field.clear();
            match value {
                None => {}
                Some(Value::Text(text)) => {
                    let text = match self.texts {
                        FormulaPolicy::Neutralised => csv_text(text),
                        FormulaPolicy::Verbatim => Cow::Borrowed(*text),
                    };
                    self.writer.write_field(&*text)?;
                    continue;
                }
                Some(value) => write_value(value, &mut self.field)?,
            }
            self.writer.write_field(&self.field)?;
        }
        self.writer.write_record(None::<&[u8]>)?;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, ExportFault> {
        self.writer.flush()?;
        let written = self.writer.into_inner();
        let mut out = written.map_err(csv::IntoInnerError::into_error)?;
        out.flush()?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{LINKS, Link};

    fn written(texts: FormulaPolicy, anchor: &str) -> String {
        let link = Link {
            source: "http://a.test/",
            target: "http://b.test/",
            anchor,
            rel: "",
            kind: "page",
        };
        let mut csv = Csv::begin(LINKS, texts, Vec::new()).unwrap();
        csv.write(&link.fields()).unwrap();
        let bytes = csv.finish().unwrap();
        let mut reader = csv::Reader::from_reader(&bytes[..]);
        let record = reader.records().next().unwrap().unwrap();
        record[2].to_owned()
    }

    /// A title `=cmd|'/c calc'!A1` was exported unchanged: opening the table in a spreadsheet ran a
    /// stranger's formula.
    #[test]
    fn a_formula_begins_with_an_apostrophe_unless_texts_are_verbatim() {
        for dangerous in [
            "=cmd|'/c calc'!A1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "＝1",
            "＋1",
            "－1",
            "＠1",
            "=\"a\",\"b\"",
        ] {
            assert_eq!(
                written(FormulaPolicy::Neutralised, dangerous),
                format!("'{dangerous}")
            );
            assert_eq!(written(FormulaPolicy::Verbatim, dangerous), dangerous);
        }
        for harmless in ["", "a=b", "1-2", "'quoted", " =1", "http://a.test/?a=+1"] {
            assert_eq!(written(FormulaPolicy::Neutralised, harmless), harmless);
        }
    }
}
