//! JSON lines and CSV (RFC 4180, with `\n` at the end of a line).
//!
//! What is nothing is `null` in JSON and an empty field in CSV, where it cannot be told from an empty text.

use std::io::{self, Write};

use data_encoding::HEXLOWER;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{ExportFault, Table, Value};

/// A value as JSON has it.
pub(crate) struct Json<'a>(pub Value<'a>);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Number(number) => serializer.serialize_u64(number),
            Value::Real(share) => serializer.serialize_f64(share),
            Value::Time(at) => serializer.collect_str(&at),
            Value::Fingerprint(fingerprint) => serializer.collect_str(&fingerprint),
            Value::Bytes(bytes) => serializer.serialize_str(&HEXLOWER.encode(bytes)),
        }
    }
}

struct Line<'a>(Table, &'a [Option<Value<'a>>]);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.1.len()))?;
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

/// Writes CSV.
pub(crate) struct Csv<W: Write> {
    writer: csv::Writer<W>,
    field: Vec<u8>,
}

impl<W: Write> Csv<W> {
    /// Begins with the names of the columns.
    pub(crate) fn begin(table: Table, out: W) -> Result<Self, ExportFault> {
        let mut writer = csv::WriterBuilder::new().from_writer(out);
        writer.write_record(table.columns.iter().map(|column| column.name))?;
        Ok(Self {
            writer,
            field: Vec::new(),
        })
    }

    /// Goes on where the names are there already.
    pub(crate) fn go_on(out: W) -> Self {
        Self {
            writer: csv::WriterBuilder::new().from_writer(out),
            field: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        for value in fields {
            self.field.clear();
            match value {
                None => {}
                Some(Value::Text(text)) => {
                    self.writer.write_field(text)?;
                    continue;
                }
                Some(Value::Number(number)) => write!(self.field, "{number}")?,
                // As JSON writes it: the shortest digits that are read back as the same.
                Some(Value::Real(share)) => {
                    serde_json::to_writer(&mut self.field, share).map_err(io::Error::from)?;
                }
                Some(Value::Time(at)) => write!(self.field, "{at}")?,
                Some(Value::Fingerprint(fingerprint)) => write!(self.field, "{fingerprint}")?,
                Some(Value::Bytes(bytes)) => HEXLOWER
                    .encode_write(bytes, &mut Utf8(&mut self.field))
                    .map_err(io::Error::other)?,
            }
            self.writer.write_field(&self.field)?;
        }
        self.writer.write_record(None::<&[u8]>)?;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W, ExportFault> {
        self.writer.flush()?;
        let mut out = self
            .writer
            .into_inner()
            .map_err(|unwritten| ExportFault::from(unwritten.into_error()))?;
        out.flush()?;
        Ok(out)
    }
}

/// Text into bytes.
struct Utf8<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for Utf8<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}
