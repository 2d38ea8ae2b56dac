//! The signatures of a crawl, and files of document frequencies.

use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use crawl::AdaptiveSignatures;
use disk::{Disk, OutputFile, SystemDisk};
use messages::{CommandError, fault, usage};
use neardup::frequencies::DocumentFrequencies;
use neardup::{HashKey, SignatureBuilder, Weights};
use settings::features::{FeatureSettings, LEARNED};

/// Returns the signature builder of the crawl with this state directory.
pub fn adaptive_signatures(
    settings: &FeatureSettings,
    key: HashKey,
    state: &Path,
) -> Result<AdaptiveSignatures, CommandError> {
    if !settings.has_to_learn() {
        let builder = SignatureBuilder::new(settings.fingerprinter()?, key);
        return Ok(AdaptiveSignatures::new(builder));
    }
    if settings.features().weights == Weights::PlainTfIdf {
        // In the first pages, every word would have weight 0.
        let error = usage("plain-tf-idf needs document counts before the first page");
        return Err(error.with_remedy("give --frequencies, or use tf-idf, which learns the counts"));
    }
    let known = settings.known_to(state)?;
    AdaptiveSignatures::learning(settings.features(), settings.stop_words(), key, known)
        .map_err(|error| CommandError::of_usage(&error))
}

/// Writes the learned frequencies. A kill loses the session's frequencies: later pages are weighted
/// without them, and sketches still find their duplicates.
pub fn keep(adaptive_signatures: &AdaptiveSignatures, state: &Path) -> Result<(), CommandError> {
    let Some(frequencies) = adaptive_signatures.frequencies() else {
        return Ok(());
    };
    let path = state.join(LEARNED);
    let mut bytes = Vec::new();
    let written = frequencies
        .write(&mut bytes)
        .and_then(|()| SystemDisk.replace(&path, &bytes));
    written.map_err(|error| {
        let message = format!("cannot write {}: {error}", path.display());
        fault(&io::Error::other(message))
    })
}

/// Writes frequencies to a file.
pub fn write(frequencies: &DocumentFrequencies, path: &Path) -> Result<(), CommandError> {
    // A device or a pipe is written directly.
    let written = match path.exists() && !path.is_file() {
        true => File::options()
            .write(true)
            .open(path)
            .and_then(|device| write_to(frequencies, device).map(drop)),
        false => OutputFile::replacing(path)
            .and_then(|draft| write_to(frequencies, draft))
            .and_then(|mut draft| draft.complete()),
    };
    written.map_err(|error| usage(format!("cannot write {}: {error}", path.display())))
}

fn write_to<W: Write>(frequencies: &DocumentFrequencies, out: W) -> io::Result<W> {
    let mut out = BufWriter::new(out);
    frequencies.write(&mut out)?;
    out.into_inner().map_err(IntoInnerError::into_error)
}
