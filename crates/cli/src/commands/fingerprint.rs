//! `crawler fingerprint`: the fingerprints of documents, printed or in a file for `query`.
//!
//! The hash key is zero, so that fingerprints can be compared between machines.

use corpus::{Documents, Reader};

use crate::args::FingerprintArgs;
use crate::cli_error::{CliError, usage};
use crate::output;
use crate::terminal::{printable, say};

pub(crate) fn run(args: &FingerprintArgs) -> Result<(), CliError> {
    let reader = Reader::new(true);
    if args.distance.is_some() || args.resemblance.is_some() {
        say("--distance and --resemblance have no effect on a fingerprint");
    }
    let mut input = args.input.options(None);
    let signature_builder = args
        .features
        .signature_builder(&args.paths, &mut input, &reader)?;
    let mut skipped = None;
    let documents =
        Documents::below(&args.paths, &input).map_err(|error| CliError::of_usage(&error))?;
    output::to_stdout(|out| {
        for document in documents {
            match document {
                Ok(document) => {
                    let fingerprint = reader.fingerprint(&signature_builder, &document.content);
                    let digits = args.features.digits(fingerprint);
                    writeln!(out, "{digits}  {}", printable(&document.id))?;
                }
                Err(more) => {
                    say(&printable(&more.to_string()));
                    skipped = Some(more);
                }
            }
        }
        Ok(())
    })?;
    skipped.map_or(Ok(()), |skipped| {
        Err(usage(format!("not everything could be read: {skipped}")))
    })
}
