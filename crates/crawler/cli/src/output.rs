//! Results on standard output: columns for people, or JSON and CSV for programs.
//!
//! Invariant: `--format` alone decides the form, never the kind of standard output, so what a user
//! sees is what a pipe and a file receive. All forms are escaped for terminals (see
//! [`crate::terminal`]).

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use bytesize::ByteSize;
use clap::ValueEnum;
use messages::{CommandError, fault, printable, say, usage};
use serde::Serialize;
use serde_json::Value;
use web::Escaping;

use crate::terminal::{COLOURS, has_colours};

/// The form of results. The same on a terminal, in a pipe and in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    Table,
    /// One JSON object per line
    Json,
}

/// The form of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// Columns for people
    Table,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a header line, for spreadsheets
    Csv,
}

impl ListFormat {
    /// Returns the form for the result of `what`, which is not a list.
    pub(crate) fn without_csv(self, what: &str) -> Result<Format, CommandError> {
        match self {
            Self::Table => Ok(Format::Table),
            Self::Json => Ok(Format::Json),
            Self::Csv => {
                let error = usage(format!("{what} does not print a list, which CSV needs"));
                Err(error.with_remedy("use --format json"))
            }
        }
    }
}

/// A list in its form.
pub(crate) struct List<'o> {
    form: ListForm<'o>,
    /// Columns of CSV: fields of the JSON objects.
    columns: &'static [&'static str],
}

enum ListForm<'o> {
    Table(&'o mut dyn Write),
    Json(&'o mut dyn Write),
    Csv(Box<csv::Writer<&'o mut dyn Write>>),
}

impl<'o> List<'o> {
    pub(crate) fn begin(
        format: ListFormat,
        columns: &'static [&'static str],
        out: &'o mut dyn Write,
    ) -> io::Result<Self> {
        let form = match format {
            ListFormat::Table => ListForm::Table(out),
            ListFormat::Json => ListForm::Json(out),
            ListFormat::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(columns)?;
                ListForm::Csv(Box::new(csv))
            }
        };
        Ok(Self { form, columns })
    }

    /// Writes an item: as JSON, as a row of CSV, or for people by `table`.
    pub(crate) fn write<T: Serialize>(
        &mut self,
        item: &T,
        table: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.form {
            ListForm::Table(out) => table(out),
            ListForm::Json(out) => json_line(out, item),
            ListForm::Csv(csv) => {
                // Through the text, so that numbers have the digits of `--format json`.
                let item: Value = serde_json::from_slice(&serde_json::to_vec(item)?)?;
                let fields = self.columns.iter().map(|column| field(&item[*column]));
                Ok(csv.write_record(fields)?)
            }
        }
    }

    /// Writes a line that only people need: a heading, or a sum.
    pub(crate) fn line(&mut self, line: &str) -> io::Result<()> {
        match &mut self.form {
            ListForm::Table(out) => writeln!(out, "{line}"),
            ListForm::Json(_) | ListForm::Csv(_) => Ok(()),
        }
    }

    pub(crate) fn end(self) -> io::Result<()> {
        match self.form {
            ListForm::Csv(mut csv) => csv.flush(),
            ListForm::Table(_) | ListForm::Json(_) => Ok(()),
        }
    }
}

/// Returns the field of CSV for a value. The items of a list are separated by spaces.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => export::csv_text(text).into_owned(),
        Value::Array(items) => items.iter().map(field).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Writes a list to standard output.
pub(crate) fn list(
    format: ListFormat,
    columns: &'static [&'static str],
    write: impl FnOnce(&mut List<'_>) -> io::Result<()>,
) -> Result<(), CommandError> {
    to_stdout(|out| {
        let mut list = List::begin(format, columns, out)?;
        write(&mut list)?;
        list.end()
    })
}

/// Writes a JSON object on one line.
pub(crate) fn json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes names and values in two columns. Skips names without a value.
pub(crate) fn columns(out: &mut dyn Write, lines: &[(&str, Option<String>)]) -> io::Result<()> {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        if let Some(value) = value {
            writeln!(out, "{name:>width$}  {}", printable(value))?;
        }
    }
    Ok(())
}

/// Runs `write` on standard output, escaped. A reader that went away (`| head`) is not an error.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    let out = io::BufWriter::new(io::stdout().lock());
    write_and_flush(&mut Escaping::new(out), write)
}

/// Writes to standard output like [`to_stdout`]. If standard output supports colours, our own
/// colours pass, and the second argument of `write` is true.
pub(crate) fn coloured_to_stdout(
    write: impl FnOnce(&mut dyn Write, bool) -> io::Result<()>,
) -> Result<(), CommandError> {
    if !has_colours() {
        return to_stdout(|out| write(out, false));
    }
    let out = io::BufWriter::new(io::stdout().lock());
    write_and_flush(&mut Escaping::but_for(COLOURS, out), |out| write(out, true))
}

/// Says that a file was written, or a directory of files: what it contains, its size, and what
/// opens it.
pub(crate) fn say_written(path: &Path, contents: &str, opened: &str) {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (mut bytes, mut paths) = (0, vec![whole]);
    while let Some(path) = paths.pop() {
        // A link in a directory is not followed: it could lead back.
        match std::fs::symlink_metadata(&path) {
            Ok(about) if about.is_dir() => {
                let inside = std::fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(inside.map(|inside| inside.path()));
            }
            about => bytes += about.map_or(0, |file| file.len()),
        }
    }
    say_written_bytes(path, contents, bytes, opened);
}

/// Says the same of a path whose length is known.
pub(crate) fn say_written_bytes(path: &Path, contents: &str, bytes: u64, opened: &str) {
    let size = ByteSize(bytes).display().iec();
    let path = printable(&path.display().to_string());
    say(&format!("wrote {path}: {contents}, {size}; {opened}"));
}

/// Writes like [`to_stdout`], for content that may become a file: escaped only on a terminal.
pub(crate) fn file_to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    if io::stdout().is_terminal() {
        return to_stdout(write);
    }
    write_and_flush(&mut io::BufWriter::new(io::stdout().lock()), write)
}

fn write_and_flush(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    match write(out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| fault(&error)),
    }
}
