//! Tables in files: Parquet and Arrow.

use std::io::Write;

use corpus::{Documents, InputOptions};

/// The most documents that are read of a table. A few bytes can state any number of rows.
const MAX_DOCUMENTS: usize = 10_000;

/// Reads any bytes as a file, which the first of them make a table: each row is a document or has
/// a reason in one line, and an error of the file ends it.
pub fn tables(bytes: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory for the table");
    let path = directory.path().join("table");
    let mut file = std::fs::File::create(&path).expect("a file for the table");
    file.write_all(bytes).expect("room for the table");
    let options = InputOptions::new(directory.path());
    let Ok(documents) = Documents::below(&[path], &options) else {
        return;
    };
    for document in documents.take(MAX_DOCUMENTS) {
        // The id comes from the table, and may be an empty text.
        if let Err(skipped) = document {
            assert!(!skipped.reason.is_empty(), "a loss has a reason");
        }
    }
}
