//! Results on standard output, as JSON or as columns of text. Both are escaped for terminals (see
//! [`crate::terminal`]).

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use messages::{CommandError, fault, printable};
use serde::Serialize;

use crate::terminal::{Escaping, has_colours};

/// The form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One JSON object a line.
    Json,
    /// Columns for people.
    Table,
}

impl Format {
    /// Returns the requested form, or else a table on a terminal and JSON in a pipe.
    pub(crate) fn or_fitting(asked: Option<Format>) -> Format {
        asked.unwrap_or_else(|| match io::stdout().is_terminal() {
            true => Format::Table,
            false => Format::Json,
        })
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

/// Writes to standard output like [`to_stdout`]. If the format is a table and standard output
/// supports colours, our own colours pass, and the second argument of `write` is true.
pub(crate) fn coloured_to_stdout(
    format: Format,
    write: impl FnOnce(&mut dyn Write, bool) -> io::Result<()>,
) -> Result<(), CommandError> {
    if format == Format::Json || !has_colours() {
        return to_stdout(|out| write(out, false));
    }
    let out = io::BufWriter::new(io::stdout().lock());
    write_and_flush(&mut Escaping::with_colours(out), |out| write(out, true))
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
