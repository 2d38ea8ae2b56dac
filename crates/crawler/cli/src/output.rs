//! Results on standard output: columns for people, or JSON and CSV for programs.
//!
//! Invariant: `--format` alone decides the form, never the kind of standard output, so what a user
//! sees is what a pipe and a file receive. All forms are escaped for terminals (see
//! [`crate::terminal`]).

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use corpus::is_standard_input;
use disk::OutputFile;
use export::{List, ListForm};
use messages::{CommandError, fault, printable, say, usage};
use serde::Serialize;
use settings::input::unwritable;
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
    /// An Excel workbook
    Xlsx,
}

/// The form of a list, and its destination.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Form of the output, also in a pipe [default: by the name of FILE (.csv, .json, .xlsx), else
    /// table]
    #[arg(long, value_name = "FORM")]
    format: Option<ListFormat>,
    /// Write to this file instead of standard output (-), whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ListArgs {
    /// Returns the form; without `--format`, the file's extension decides.
    pub(crate) fn form(&self) -> ListForm {
        let extension = self.output.as_deref().and_then(Path::extension);
        let by_name = extension
            .and_then(|extension| ListFormat::from_str(&extension.to_string_lossy(), true).ok());
        match self.format.or(by_name) {
            None | Some(ListFormat::Table) => ListForm::Table,
            Some(ListFormat::Json) => ListForm::Json,
            Some(ListFormat::Csv) => ListForm::Csv,
            Some(ListFormat::Xlsx) => ListForm::Xlsx,
        }
    }

    /// Returns true if each item must be a row of columns.
    pub(crate) fn needs_rows(&self) -> bool {
        matches!(self.form(), ListForm::Csv | ListForm::Xlsx)
    }

    /// Returns the form for the result of `what`, which is not a list.
    pub(crate) fn without_list(&self, what: &str) -> Result<Format, CommandError> {
        match (self.form(), &self.output) {
            (ListForm::Table, None) => Ok(Format::Table),
            (ListForm::Json, None) => Ok(Format::Json),
            _ => Err(usage(format!(
                "{what} does not print a list, which CSV, Excel and --output need"
            ))
            .with_remedy("use --format json")),
        }
    }
}

/// Writes a list.
pub(crate) fn list(
    args: &ListArgs,
    columns: &'static [&'static str],
    write: impl FnOnce(&mut List<'_>) -> io::Result<()>,
) -> Result<(), CommandError> {
    coloured_list(args, columns, |list, _| write(list))
}

/// Writes a list. The second argument of `write` is true if it may use our own colours.
pub(crate) fn coloured_list(
    args: &ListArgs,
    columns: &'static [&'static str],
    write: impl FnOnce(&mut List<'_>, bool) -> io::Result<()>,
) -> Result<(), CommandError> {
    let form = args.form();
    let fill = |out: &mut dyn Write, has_colours| {
        let mut list = List::begin(form, columns, out)?;
        write(&mut list, has_colours)?;
        list.end()
    };
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let opened = match form {
        ListForm::Table => "columns for people",
        ListForm::Json => "one JSON object per line",
        ListForm::Csv | ListForm::Xlsx => "open it in a spreadsheet",
    };
    match form {
        ListForm::Xlsx if is_standard_input(path) && io::stdout().is_terminal() => {
            Err(usage("cannot write a workbook to a terminal")
                .with_remedy("use --output FILE.xlsx, or a pipe"))
        }
        ListForm::Xlsx => file(path, "a list", opened, |out| fill(out, false)),
        ListForm::Table if is_standard_input(path) => coloured_to_stdout(fill),
        _ => file(path, "a list", opened, |out| {
            fill(&mut Escaping::new(out), false)
        }),
    }
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

/// Writes a page of HTML like [`file()`].
pub(crate) fn page(
    path: &Path,
    contents: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    file(path, contents, "open it in a browser", write)
}

/// Writes a file whole or not at all, and says so; for `-`, writes standard output.
pub(crate) fn file(
    path: &Path,
    contents: &str,
    opened: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CommandError> {
    if is_standard_input(path) {
        return file_to_stdout(write);
    }
    let unwritable = unwritable(path);
    let mut draft = io::BufWriter::new(OutputFile::replacing(path).map_err(unwritable)?);
    let written = write(&mut draft).and_then(|()| draft.flush());
    written
        .and_then(|()| draft.get_mut().complete())
        .map_err(unwritable)?;
    say_written(path, contents, opened);
    Ok(())
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
