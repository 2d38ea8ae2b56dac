//! A corpus of one file, in each form that `crawler dedup` reads.

use std::cell::RefCell;
use std::collections::HashSet;

use batch::dedup::{self, Finding, FindingKind, Options};
use batch::{BatchError, Control};
use corpus::{Documents, InputOptions, KeepError, KeptDocuments, Reader};
use neardup::{BandDesign, Features, HashKey, SignatureBuilder};

/// The forms, by the extension of a file. Its bytes may be of another form.
const FORMS: [&str; 11] = [
    "jsonl", "csv", "parquet", "arrow", "warc", "warc.gz", "arc", "wacz", "wet", "txt", "html",
];

/// The most documents that are compared. A few bytes can state any number of rows.
const MAX_DOCUMENTS: usize = 1_000;

/// Reads any bytes behind the first, which chooses the form, as a file: its documents are compared,
/// and those that remain are kept. The second reading finds what the first one found.
pub fn dedup(bytes: &[u8]) {
    let [form, bytes @ ..] = bytes else { return };
    let form = FORMS[usize::from(*form) % FORMS.len()];
    let directory = tempfile::tempdir().expect("a directory for the file");
    let path = directory.path().join(format!("input.{form}"));
    std::fs::write(&path, bytes).expect("room for the file");
    let paths = [path];
    let mut input = InputOptions::new(directory.path());
    let kept = KeptDocuments::prepare(
        &paths,
        &mut input,
        &directory.path().join(format!("kept.{form}")),
    );
    let Ok(mut documents) = Documents::below(&paths, &input) else {
        return;
    };
    let input_digest = documents.input_digest();
    let repeated = compare(&mut documents, directory.path());
    if documents.next().is_some() {
        return;
    }
    let (count, _) = input_digest.total();
    match kept.and_then(|kept| kept.write(&input_digest, |number| !repeated.contains(&number))) {
        Ok(kept) => {
            assert_eq!(
                kept.documents, count,
                "both readings find the same documents"
            );
            assert_eq!(kept.kept + repeated.len() as u64, count);
        }
        Err(fault @ (KeepError::Changed { .. } | KeepError::Choice { .. })) => {
            panic!("nobody has changed the file: {fault}")
        }
        // Inputs that cannot be read, or that one output cannot hold.
        Err(
            KeepError::Corpus(_)
            | KeepError::Mixed { .. }
            | KeepError::Columns { .. }
            | KeepError::OtherName { .. }
            | KeepError::Unsupported { .. }
            | KeepError::WithinInput { .. }
            | KeepError::Read { .. }
            | KeepError::Unreadable { .. }
            | KeepError::Rows { .. }
            | KeepError::Write { .. },
        ) => {}
    }
}

/// Compares documents; returns the numbers of those that repeat an earlier one.
fn compare(documents: &mut Documents, scratch: &std::path::Path) -> HashSet<u64> {
    let warnings = documents.warnings();
    let number = RefCell::new(0);
    let numbered = documents
        .take(MAX_DOCUMENTS)
        .map(|document| Ok((number.replace_with(|number| *number + 1), document?)));
    let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let bands = BandDesign::SKETCH;
    let signed = corpus::signatures(numbered, warnings, &Reader::new(true), &builder, bands);
    let signed = signed.filter_map(|signed| match signed {
        Ok(signed) => Some(Ok(dedup::Document {
            id: signed.id,
            signature: signed.signature,
        })),
        Err(skipped) => {
            assert!(!skipped.reason.is_empty(), "a loss has a reason");
            None
        }
    });
    let mut options = Options::new(FindingKind::Duplicates, scratch);
    options.memory = 1;
    let mut repeated = HashSet::new();
    let found = dedup::run(signed, &options, Control::none(), |finding| {
        if let Finding::Duplicate(duplicate) = finding {
            assert!(repeated.insert(duplicate.number), "it is found once");
        }
        Ok::<(), BatchError>(())
    });
    let summary = found.expect("documents in memory can be compared");
    assert!(repeated.len() as u64 <= summary.documents);
    repeated
}
