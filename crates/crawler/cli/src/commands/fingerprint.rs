//! `crawler fingerprint`: prints the fingerprints of documents, or writes them to a file for
//! `query`.
//!
//! The hash key is zero, so that fingerprints can be compared between machines.

use std::path::Path;

use corpus::named_fingerprints::{MAX_NAME, NamedFingerprintWriter};
use corpus::{Document, Documents, Reader, Skipped, is_standard_input};
use indicatif::HumanCount;
use messages::{CommandError, counted, printable, say, usage};
use neardup::SignatureBuilder;
use settings::skip_report::SkipReport;

use crate::args::FingerprintArgs;
use crate::output;
use settings::input::document_reader;

pub(crate) fn run(args: &FingerprintArgs) -> Result<(), CommandError> {
    let reader = document_reader(true);
    if args.distance.is_some() || args.resemblance.is_some() {
        say("--distance and --resemblance have no effect on a fingerprint");
    }
    let mut input = args.input.options(None);
    let signature_builder = args
        .features
        .signature_builder(&args.paths, &mut input, &reader)?;
    let documents =
        Documents::below(&args.paths, &input).map_err(|error| CommandError::of_usage(&error))?;
    match &args.output {
        Some(path) if is_standard_input(path) => {
            let remedy =
                "omit --output to print fingerprints; a file also needs FILE.names next to it";
            Err(usage("--output - is no file").with_remedy(remedy))
        }
        Some(path) => write(path, documents, reader, signature_builder),
        None => print(args, documents, reader, signature_builder),
    }
}

/// Prints a line for each document.
fn print(
    args: &FingerprintArgs,
    documents: Documents,
    reader: Reader,
    builder: SignatureBuilder,
) -> Result<(), CommandError> {
    let mut skipped = SkipReport::default();
    let mut printed = 0_u64;
    let fingerprint = move |document: &Document| reader.fingerprint(&builder, &document.content);
    output::to_stdout(|out| {
        for computed in corpus::computed(documents, fingerprint) {
            match computed {
                Ok((id, fingerprint)) => {
                    printed += 1;
                    let digits = args.features.digits(fingerprint);
                    writeln!(out, "{digits}  {}", printable(&id))?;
                }
                Err(more) => skipped.add(&more),
            }
        }
        Ok(())
    })?;
    match printed {
        0 => Err(skipped.no_document("to fingerprint")),
        _ => skipped.check_complete(),
    }
}

/// Writes a fingerprint file and its file of names.
fn write(
    path: &Path,
    documents: Documents,
    reader: Reader,
    builder: SignatureBuilder,
) -> Result<(), CommandError> {
    let mut writer = NamedFingerprintWriter::create(path, &builder)?;
    let mut report = SkipReport::default();
    let mut has_documents = false;
    let fingerprint = move |document: &Document| reader.fingerprint(&builder, &document.content);
    for computed in corpus::computed(documents, fingerprint) {
        match computed {
            Ok((id, _)) if id.len() > MAX_NAME / 8 => {
                let culprit: String = id.chars().take(100).collect();
                let reason = format!("its id is longer than {} bytes", MAX_NAME / 8);
                report.add(&Skipped::loss(culprit, reason));
            }
            Ok((id, fingerprint)) => {
                has_documents = true;
                writer.push(fingerprint, &id)?;
            }
            Err(more) => report.add(&more),
        }
    }
    if !has_documents {
        return Err(report.no_document("to fingerprint"));
    }
    let written = writer.finish()?;
    let skipped = match report.count() {
        0 => String::new(),
        some => format!(", {} skipped", HumanCount(some)),
    };
    say(&format!(
        "{} in {}{skipped}",
        counted(written, "fingerprint"),
        printable(&path.display().to_string())
    ));
    report.check_complete()
}
