//! Input from files named by the user, and from standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use corpus::is_standard_input;

/// Reads at most `most` bytes of a file, or of standard input.
///
/// # Errors
/// The file cannot be opened or read.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match is_standard_input(path) {
        true => io::stdin().lock().take(most).read_to_end(&mut bytes)?,
        false => File::open(path)?.take(most).read_to_end(&mut bytes)?,
    };
    Ok(bytes)
}
