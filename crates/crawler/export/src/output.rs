//! The bytes of an output: escaped if a terminal may show them.

use std::io::{self, Write};

use web::Escaping;

use crate::writer::Form;

/// Returns an output of this form. Text formats are escaped, also in files, which a terminal may
/// show later.
pub fn output<'w>(form: Form, out: impl Write + Send + 'w) -> Box<dyn Write + Send + 'w> {
    match form {
        Form::Jsonl | Form::Csv | Form::RawCsv => Box::new(Escaping::new(out)),
        Form::Parquet | Form::Xlsx => Box::new(out),
    }
}

/// Begins an output of this form, on request with a byte order mark.
///
/// # Errors
/// The mark cannot be written.
pub fn begin_output<'w>(
    form: Form,
    has_mark: bool,
    out: impl Write + Send + 'w,
) -> io::Result<Box<dyn Write + Send + 'w>> {
    let mut out = output(form, out);
    if has_mark {
        out.write_all("\u{feff}".as_bytes())?;
    }
    Ok(out)
}
