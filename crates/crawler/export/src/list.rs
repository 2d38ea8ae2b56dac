//! A list of items in one of its forms: text for people, JSON lines, CSV or an Excel workbook.
//!
//! Columns of CSV and workbooks are fields of the items' JSON objects, so all forms have the same
//! values. Memory does not grow with the number of items: a workbook waits in temporary files
//! (`TMPDIR`).

use std::borrow::Cow;
use std::io::{self, Seek, Write};

use serde::Serialize;
use serde_json::Value as Json;

use crate::fault::ExportFault;
use crate::table::{Column, Kind, Value};
use crate::text::csv_text;
use crate::workbook::Workbook;

/// The form of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// Text for people.
    Table,
    /// One JSON object per line.
    Json,
    /// Comma-separated values with a header line.
    Csv,
    /// An Excel workbook with one sheet.
    Xlsx,
}

/// A list in its form.
pub struct List<'o> {
    writing: Writing<'o>,
    columns: &'static [&'static str],
}

enum Writing<'o> {
    Table(&'o mut dyn Write),
    Json(&'o mut dyn Write),
    Csv(Box<csv::Writer<&'o mut dyn Write>>),
    /// A workbook, which begins with the first item, and its destination.
    Xlsx(Option<Box<Workbook>>, &'o mut dyn Write),
}

/// The name of the sheet.
const SHEET: &str = "list";

impl<'o> List<'o> {
    /// Begins a list with these columns.
    ///
    /// # Errors
    /// The writer's own.
    pub fn begin(
        form: ListForm,
        columns: &'static [&'static str],
        out: &'o mut dyn Write,
    ) -> io::Result<Self> {
        let writing = match form {
            ListForm::Table => Writing::Table(out),
            ListForm::Json => Writing::Json(out),
            ListForm::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(columns)?;
                Writing::Csv(Box::new(csv))
            }
            ListForm::Xlsx => Writing::Xlsx(None, out),
        };
        Ok(Self { writing, columns })
    }

    /// Writes an item: for people by `table`, otherwise its fields.
    ///
    /// # Errors
    /// The writer's own.
    pub fn write<T: Serialize>(
        &mut self,
        item: &T,
        table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.writing {
            Writing::Table(out) => table(out),
            Writing::Json(out) => {
                serde_json::to_writer(&mut *out, item)?;
                out.write_all(b"\n")
            }
            Writing::Csv(csv) => {
                let item = json(item)?;
                let fields = self
                    .columns
                    .iter()
                    .map(|column| field(&item[*column], csv_text));
                Ok(csv.write_record(fields)?)
            }
            Writing::Xlsx(workbook, _) => {
                let item = json(item)?;
                let items: Vec<&Json> = self.columns.iter().map(|name| &item[*name]).collect();
                let workbook = match workbook {
                    Some(workbook) => workbook,
                    None => workbook.insert(begin_workbook(self.columns, &items)?),
                };
                write_row(workbook, &items)
            }
        }
    }

    /// Writes a line that only people need: a heading, or a sum.
    ///
    /// # Errors
    /// The writer's own.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        match &mut self.writing {
            Writing::Table(out) => writeln!(out, "{line}"),
            Writing::Json(_) | Writing::Csv(_) | Writing::Xlsx(..) => Ok(()),
        }
    }

    /// Ends the list.
    ///
    /// # Errors
    /// The writer's own.
    pub fn end(self) -> io::Result<()> {
        match self.writing {
            Writing::Csv(mut csv) => csv.flush(),
            Writing::Table(_) | Writing::Json(_) => Ok(()),
            Writing::Xlsx(workbook, out) => {
                let workbook = match workbook {
                    Some(workbook) => workbook,
                    None => begin_workbook(self.columns, &[])?,
                };
                // The writer of workbooks needs a destination that can move between threads.
                let mut whole = tempfile::tempfile()?;
                workbook.finish(&whole).map_err(of_export)?;
                whole.rewind()?;
                io::copy(&mut whole, out).map(drop)
            }
        }
    }
}

/// Returns an item as JSON. It takes the way through the text, so that numbers have the digits of
/// JSON lines.
fn json(item: &impl Serialize) -> io::Result<Json> {
    Ok(serde_json::from_slice(&serde_json::to_vec(item)?)?)
}

/// Returns the text of a value, by `texts` for its texts. The items of a list are separated by
/// spaces.
fn field(value: &Json, texts: fn(&str) -> Cow<'_, str>) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => texts(text).into_owned(),
        Json::Array(items) => {
            let items = items.iter().map(|item| field(item, texts));
            items.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

/// Begins a workbook. The columns with numbers in the first row are narrow.
fn begin_workbook(names: &[&'static str], first: &[&Json]) -> io::Result<Box<Workbook>> {
    let columns = names.iter().enumerate().map(|(place, name)| {
        let is_short = first.get(place).is_some_and(|value| value.is_number());
        Column::maybe(name, if is_short { Kind::Real } else { Kind::Text })
    });
    let workbook = Workbook::of_columns(SHEET, columns.collect()).map_err(of_export)?;
    Ok(Box::new(workbook))
}

fn write_row(workbook: &mut Workbook, items: &[&Json]) -> io::Result<()> {
    // A text cell needs no mark against formulas.
    let texts = items.iter().map(|item| field(item, |text| text.into()));
    let texts: Vec<String> = texts.collect();
    let fields = items.iter().zip(&texts).map(|(item, text)| match item {
        Json::Null => None,
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => number
            .as_u64()
            .map(Value::Number)
            .or_else(|| number.as_f64().map(Value::Real)),
        _ => Some(Value::Text(text)),
    });
    let fields: Vec<Option<Value<'_>>> = fields.collect();
    workbook.write(0, &fields).map_err(of_export)
}

fn of_export(fault: ExportFault) -> io::Error {
    match fault {
        ExportFault::Write(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use calamine::{Data, Reader, Xlsx};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const COLUMNS: &[&str] = &["url", "pages", "share", "found", "all"];

    fn written(form: ListForm, items: &[Json]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut list = List::begin(form, COLUMNS, &mut out).expect("memory takes a list");
        for item in items {
            list.write(item, |_| Ok(())).expect("memory takes an item");
        }
        list.end().expect("memory takes the end");
        out
    }

    fn rows(bytes: Vec<u8>) -> Vec<Vec<Data>> {
        let mut book: Xlsx<_> = Xlsx::new(io::Cursor::new(bytes)).expect("it is a workbook");
        let range = book.worksheet_range(SHEET).expect("it has the sheet");
        range.rows().map(<[Data]>::to_vec).collect()
    }

    #[test]
    fn a_workbook_has_numbers_as_numbers_and_texts_as_texts() {
        let item = json!({"url": "=1+1", "pages": 3, "share": 0.25, "found": true,
            "all": ["a", "b"], "other": 1});
        let rows = rows(written(ListForm::Xlsx, &[item]));
        let names: Vec<String> = rows[0].iter().map(ToString::to_string).collect();
        assert_eq!(names, COLUMNS);
        let expected = [
            Data::from("=1+1"),
            Data::Float(3.0),
            Data::Float(0.25),
            Data::Bool(true),
            Data::from("a b"),
        ];
        assert_eq!(rows[1], expected);
    }

    #[test]
    fn an_empty_list_is_a_workbook_with_its_header() {
        assert_eq!(rows(written(ListForm::Xlsx, &[])).len(), 1);
    }

    proptest! {
        #[test]
        fn a_workbook_has_the_values_of_the_csv(
            items in proptest::collection::vec(("[a-z=+ ]{1,12}", 0_u32..1_000), 1..20),
        ) {
            let items: Vec<Json> = items
                .iter()
                .map(|(url, pages)| json!({"url": url, "pages": pages}))
                .collect();
            let csv = written(ListForm::Csv, &items);
            let mut csv = csv::Reader::from_reader(&csv[..]);
            let book = rows(written(ListForm::Xlsx, &items));
            for (record, row) in csv.records().zip(&book[1..]) {
                let record = record.expect("it is CSV");
                let url = row[0].to_string();
                prop_assert_eq!(&record[0], csv_text(&url));
                prop_assert_eq!(&record[1], row[1].to_string());
            }
        }
    }
}
