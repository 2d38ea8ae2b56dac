//! An index as a signature file (`batch::signature_file`): what `crawler dedup --save-index` writes.
//!
//! Invariant: a file has its name only if it is complete; until then it is `NAME.part`.

use std::path::{Path, PathBuf};

use batch::BatchError;
use batch::dedup::Document;
use batch::signature_file::{
    Extent, SignatureFile, SignatureHeader, SignatureReader, SignatureWriter,
};
use neardup::{BandDesign, PageSignature, Recipe};
use pyo3::prelude::*;

use crate::documents::Id;
use crate::errors::{invalid, of_batch, system};

/// The texts that are read at a time.
const PART: usize = 16_384;

/// Opens a file whose signatures have this recipe and the bands of a crawl.
///
/// # Errors
/// `OSError` for a file that cannot be read; `ValueError` for one that is damaged, or of other
/// signatures.
pub(super) fn open(path: &Path, recipe: Recipe) -> PyResult<SignatureReader> {
    let file = SignatureFile::open(path).map_err(|error| of_batch(&error))?;
    file.header()
        .check_comparable(path, &header(recipe))
        .map_err(|error| of_batch(&error))?;
    file.read().map_err(|error| of_batch(&error))
}

/// Reads the next texts; none at the end.
///
/// # Errors
/// As [`open`], and `ValueError` for an id that is no number where all are.
pub(super) fn read(
    documents: &mut SignatureReader,
    numbers: bool,
) -> PyResult<Vec<(Id, PageSignature)>> {
    let mut part = Vec::new();
    for numbered in documents.take(PART) {
        let Document { id, signature } = numbered.map_err(|error| of_batch(&error))?.document;
        let id = match numbers {
            false => Id::Text(id),
            true => Id::Number(id.parse().map_err(|_other| {
                invalid(format!(
                    "numbers=True needs whole numbers as ids, and the file has {id:?}"
                ))
            })?),
        };
        part.push((id, signature.signature));
    }
    Ok(part)
}

/// Writes texts to a file.
///
/// # Errors
/// `OSError` if the system refuses; then an earlier file of that name is as it was.
pub(super) fn write<'a>(
    path: &Path,
    recipe: Recipe,
    texts: impl Iterator<Item = (&'a Id, &'a PageSignature)>,
) -> PyResult<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".part");
    let draft = PathBuf::from(draft);
    let written = write_draft(&draft, recipe, texts).map_err(|error| of_batch(&error));
    let named =
        written.and_then(|()| std::fs::rename(&draft, path).map_err(|error| system(&error)));
    if named.is_err() {
        // If there is no draft, there is nothing to remove.
        drop(std::fs::remove_file(&draft));
    }
    named
}

fn write_draft<'a>(
    draft: &Path,
    recipe: Recipe,
    texts: impl Iterator<Item = (&'a Id, &'a PageSignature)>,
) -> Result<(), BatchError> {
    let mut writer = SignatureWriter::create(draft, &header(recipe))?;
    let mut count = 0;
    for (id, signature) in texts {
        let id = match id {
            Id::Text(text) => text.clone(),
            Id::Number(number) => number.to_string(),
        };
        let signature = signature.clone().into();
        writer.push(count, &Document { id, signature })?;
        count += 1;
    }
    writer.finish(count)
}

fn header(recipe: Recipe) -> SignatureHeader {
    SignatureHeader {
        recipe,
        bands: BandDesign::SKETCH,
        extent: Extent::Originals,
    }
}
