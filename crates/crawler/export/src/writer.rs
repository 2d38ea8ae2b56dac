//! Writes a table in one of its forms.

use std::io::Write;

use crate::columnar::Columnar;
use crate::export_info::ExportInfo;
use crate::fault::ExportFault;
use crate::table::{Table, Value};
use crate::text::{Csv, FormulaPolicy, json_line};
use crate::workbook::Workbook;

/// An output form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object per line.
    Jsonl,
    /// Comma-separated values, with a header line. A text that a spreadsheet would interpret as a
    /// formula has a `'` before it.
    Csv,
    /// CSV with every text unchanged.
    RawCsv,
    /// Parquet.
    Parquet,
    /// An Excel workbook.
    Xlsx,
}

impl Form {
    /// Returns the usual extension of its files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Csv | Self::RawCsv => "csv",
            Self::Parquet => "parquet",
            Self::Xlsx => "xlsx",
        }
    }
}

/// Writes the records of a table.
pub struct TableWriter<W: Write + Send> {
    table: Table,
    form: Writing<W>,
}

enum Writing<W: Write + Send> {
    Jsonl(W),
    Csv(Box<Csv<W>>),
    Parquet(Box<Columnar<W>>),
    /// A workbook with one table, and its destination.
    Xlsx(Box<(Workbook, W)>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// [`ExportFault`] if its beginning cannot be written.
    pub fn begin(
        form: Form,
        table: Table,
        about: &ExportInfo,
        out: W,
    ) -> Result<Self, ExportFault> {
        let csv = |texts, out| Ok::<_, ExportFault>(Box::new(Csv::begin(table, texts, out)?));
        let form = match form {
            Form::Jsonl => Writing::Jsonl(out),
            Form::Csv => Writing::Csv(csv(FormulaPolicy::Neutralised, out)?),
            Form::RawCsv => Writing::Csv(csv(FormulaPolicy::Verbatim, out)?),
            Form::Parquet => Writing::Parquet(Box::new(Columnar::begin(table, about, out)?)),
            Form::Xlsx => {
                let workbook = Workbook::begin(&[(table.name(), table)])?;
                Writing::Xlsx(Box::new((workbook, out)))
            }
        };
        Ok(Self { table, form })
    }

    /// Continues a text table whose beginning exists. Parquet files and workbooks start over,
    /// because they cannot be continued.
    ///
    /// # Errors
    /// [`ExportFault`] if its beginning cannot be written.
    pub fn go_on(
        form: Form,
        table: Table,
        about: &ExportInfo,
        out: W,
    ) -> Result<Self, ExportFault> {
        let texts = match form {
            Form::Csv => FormulaPolicy::Neutralised,
            Form::RawCsv => FormulaPolicy::Verbatim,
            Form::Jsonl | Form::Parquet | Form::Xlsx => {
                return Self::begin(form, table, about, out);
            }
        };
        Ok(Self {
            table,
            form: Writing::Csv(Box::new(Csv::go_on(texts, out))),
        })
    }

    /// Writes a record with a field for each column, in their order. Excess fields are ignored.
    ///
    /// # Errors
    /// [`ExportFault`] if the output cannot be written.
    pub fn write(&mut self, fields: &[Option<Value<'_>>]) -> Result<(), ExportFault> {
        let fields = &fields[..self.table.columns.len().min(fields.len())];
        match &mut self.form {
            Writing::Jsonl(out) => json_line(self.table, fields, out),
            Writing::Csv(csv) => csv.write(fields),
            Writing::Parquet(columnar) => columnar.write(fields),
            Writing::Xlsx(workbook) => workbook.0.write(0, fields),
        }
    }

    /// Ends the table, flushes the output and returns it.
    ///
    /// # Errors
    /// [`ExportFault`] if its end cannot be written.
    pub fn finish(self) -> Result<W, ExportFault> {
        match self.form {
            Writing::Jsonl(mut out) => {
                out.flush()?;
                Ok(out)
            }
            Writing::Csv(csv) => csv.finish(),
            Writing::Parquet(columnar) => columnar.finish(),
            Writing::Xlsx(workbook) => {
                let (workbook, mut out) = *workbook;
                workbook.finish(&mut out)?;
                out.flush()?;
                Ok(out)
            }
        }
    }

    /// Appends a key-value pair to the footer of a Parquet file; other forms ignore it.
    pub(crate) fn note(&mut self, name: &str, value: String) {
        if let Writing::Parquet(columnar) = &mut self.form {
            columnar.note(name, value);
        }
    }
}
