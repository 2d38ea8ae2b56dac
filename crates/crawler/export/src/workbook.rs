//! An Excel workbook: a sheet for each table.
//!
//! Texts are always text cells, so no text of a stranger becomes a formula or a link. Excel limits
//! a sheet to 1,048,576 rows: the rest of a table follows on the next sheet, `pages 2`. A text
//! beyond 32,767 characters, the limit of a cell, ends in `…`.
//!
//! Only this module uses the `rust_xlsxwriter` crate. Invariant: memory does not grow with the
//! number of rows, which wait in temporary files (`TMPDIR`).

use std::borrow::Cow;
use std::io::{self, Write};

use rust_xlsxwriter::{Format, Workbook as Book, Worksheet, XlsxError};

use crate::fault::ExportFault;
use crate::table::{Column, Kind, Table, Value};
use crate::text::write_value;

/// Maximum number of rows of a sheet, including its header.
const MAX_ROWS: u32 = 1_048_576;

/// Maximum length of a text in UTF-16 units.
const MAX_UNITS: usize = 32_767;

/// Widths of columns, in characters.
const TEXT_WIDTH: f64 = 40.0;
const OTHER_WIDTH: f64 = 14.0;

/// A workbook in progress.
pub(crate) struct Workbook {
    book: Book,
    sheets: Vec<Sheet>,
    max_rows: u32,
}

/// A table of the workbook, and the sheet that its next row goes to.
struct Sheet {
    name: &'static str,
    columns: Vec<Column>,
    /// Number of the worksheet in the workbook.
    worksheet: usize,
    /// Number of worksheets of the table.
    parts: u32,
    /// Number of rows of the worksheet.
    rows: u32,
}

impl Workbook {
    /// Begins a workbook with these tables, each on a sheet of this name.
    pub(crate) fn begin(tables: &[(&'static str, Table)]) -> Result<Self, ExportFault> {
        let tables = tables.iter();
        let tables = tables.map(|(name, table)| (*name, table.columns.to_vec()));
        Self::with_max_rows(tables.collect(), MAX_ROWS)
    }

    /// Begins a workbook with one sheet of these columns.
    pub(crate) fn of_columns(
        name: &'static str,
        columns: Vec<Column>,
    ) -> Result<Self, ExportFault> {
        Self::with_max_rows(vec![(name, columns)], MAX_ROWS)
    }

    fn with_max_rows(
        tables: Vec<(&'static str, Vec<Column>)>,
        max_rows: u32,
    ) -> Result<Self, ExportFault> {
        let mut workbook = Self {
            book: Book::new(),
            sheets: Vec::new(),
            max_rows,
        };
        for (worksheet, (name, columns)) in tables.into_iter().enumerate() {
            begin_worksheet(&mut workbook.book, name, &columns)?;
            workbook.sheets.push(Sheet {
                name,
                columns,
                worksheet,
                parts: 1,
                rows: 1,
            });
        }
        Ok(workbook)
    }

    /// Writes a record of the table with this number.
    pub(crate) fn write(
        &mut self,
        table: usize,
        fields: &[Option<Value<'_>>],
    ) -> Result<(), ExportFault> {
        let sheet = &mut self.sheets[table];
        if sheet.rows == self.max_rows {
            sheet.parts += 1;
            sheet.rows = 1;
            sheet.worksheet = self.book.worksheets().len();
            let name = format!("{} {}", sheet.name, sheet.parts);
            begin_worksheet(&mut self.book, &name, &sheet.columns)?;
        }
        let worksheet = self.book.worksheet_from_index(sheet.worksheet)?;
        for (column, value) in (0..).zip(fields) {
            if let Some(value) = value {
                write_cell(worksheet, sheet.rows, column, value)?;
            }
        }
        sheet.rows += 1;
        Ok(())
    }

    /// Writes the workbook.
    pub(crate) fn finish(mut self, out: impl Write + Send) -> Result<(), ExportFault> {
        for sheet in &self.sheets {
            let worksheet = self.book.worksheet_from_index(sheet.worksheet)?;
            filter(worksheet, sheet.rows - 1, sheet.columns.len())?;
        }
        Ok(self.book.save_to_writer(out)?)
    }
}

/// Adds a sheet with a header that stays in sight.
fn begin_worksheet(book: &mut Book, name: &str, columns: &[Column]) -> Result<(), XlsxError> {
    let bold = Format::new().set_bold();
    let worksheet = book.add_worksheet_with_constant_memory()?;
    worksheet.set_name(name)?.set_freeze_panes(1, 0)?;
    for (number, column) in (0..).zip(columns) {
        let width = match column.kind {
            Kind::Text => TEXT_WIDTH,
            _ => OTHER_WIDTH,
        };
        worksheet.set_column_width(number, width)?;
        worksheet.write_string_with_format(0, number, column.name, &bold)?;
    }
    Ok(())
}

/// Offers the values of each column as a filter.
fn filter(worksheet: &mut Worksheet, last_row: u32, columns: usize) -> Result<(), XlsxError> {
    let last = u16::try_from(columns).unwrap_or(u16::MAX);
    let last_column = last.saturating_sub(1);
    worksheet.autofilter(0, 0, last_row, last_column).map(drop)
}

fn write_cell(
    worksheet: &mut Worksheet,
    row: u32,
    column: u16,
    value: &Value<'_>,
) -> Result<(), XlsxError> {
    match value {
        // Excel computes with 53 bits, as JSON readers do.
        Value::Number(number) => worksheet.write_number(row, column, *number as f64)?,
        Value::Real(share) => worksheet.write_number(row, column, *share)?,
        Value::Bool(value) => worksheet.write_boolean(row, column, *value)?,
        Value::Text(text) => worksheet.write_string(row, column, fitting(text))?,
        other => {
            let mut text = Vec::new();
            write_value(other, &mut text)?;
            worksheet.write_string(row, column, String::from_utf8_lossy(&text))?
        }
    };
    Ok(())
}

/// Returns a text that fits into a cell.
fn fitting(text: &str) -> Cow<'_, str> {
    if text.encode_utf16().take(MAX_UNITS + 1).count() <= MAX_UNITS {
        return text.into();
    }
    let mut units = 0;
    let mut characters = text.char_indices();
    let cut = characters.find(|(_, character)| {
        units += character.len_utf16();
        units >= MAX_UNITS
    });
    let end = cut.map_or(text.len(), |(at, _)| at);
    format!("{}…", &text[..end]).into()
}

impl From<XlsxError> for ExportFault {
    fn from(error: XlsxError) -> Self {
        match error {
            XlsxError::IoError(error) | XlsxError::TempFileError(_, error) => error.into(),
            other => Self::Write(io::Error::other(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use calamine::{Data, Reader, Xlsx};

    use super::*;
    use crate::link::LINKS;

    fn rows(bytes: Vec<u8>, sheet: &str) -> Vec<Vec<Data>> {
        let mut book: Xlsx<_> = Xlsx::new(io::Cursor::new(bytes)).unwrap();
        let range = book.worksheet_range(sheet).unwrap();
        range.rows().map(<[Data]>::to_vec).collect()
    }

    #[test]
    fn a_table_that_does_not_fit_on_a_sheet_goes_on_on_the_next() {
        let tables = ["links", "others"].map(|name| (name, LINKS.columns.to_vec()));
        let mut book = Workbook::with_max_rows(tables.into(), 3).unwrap();
        for number in 1..=5 {
            let source = format!("http://a.test/{number}");
            book.write(0, &[Some(Value::Text(&source)), None]).unwrap();
        }
        let mut bytes = Vec::new();
        book.finish(&mut bytes).unwrap();
        for (sheet, pages) in [("links", 1..=2), ("links 2", 3..=4), ("links 3", 5..=5)] {
            let rows = rows(bytes.clone(), sheet);
            assert_eq!(rows[0][..2], [Data::from("source"), Data::from("target")]);
            let found: Vec<String> = rows[1..].iter().map(|row| row[0].to_string()).collect();
            let expected: Vec<String> = pages.map(|page| format!("http://a.test/{page}")).collect();
            assert_eq!(found, expected, "{sheet}");
        }
        assert_eq!(rows(bytes, "others").len(), 1);
    }

    #[test]
    fn a_text_is_a_text_and_ends_in_an_ellipsis_where_the_cell_does() {
        for (text, kept) in [
            ("=1+1".to_owned(), None),
            ("http://a.test/".to_owned(), None),
            ("a\u{7}b".to_owned(), None),
            ("a".repeat(MAX_UNITS), None),
            ("a".repeat(MAX_UNITS + 1), Some(MAX_UNITS)),
            ("\u{1f980}".repeat(MAX_UNITS / 2), None),
            ("\u{1f980}".repeat(MAX_UNITS), Some(MAX_UNITS)),
        ] {
            let mut book = Workbook::begin(&[("links", LINKS)]).unwrap();
            book.write(0, &[Some(Value::Text(&text))]).unwrap();
            let mut bytes = Vec::new();
            book.finish(&mut bytes).unwrap();
            let cell = &rows(bytes, "links")[1][0];
            let Data::String(cell) = cell else {
                panic!("{cell:?}")
            };
            match kept {
                None => assert_eq!(*cell, text),
                Some(most) => {
                    assert!(cell.ends_with('…') && text.starts_with(cell.trim_end_matches('…')));
                    assert_eq!(cell.encode_utf16().count(), most);
                }
            }
        }
    }
}
