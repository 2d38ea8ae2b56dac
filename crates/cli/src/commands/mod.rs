//! One file a command.

pub(crate) mod canonicalize;
pub(crate) mod crawl;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod likeness;
pub(crate) mod robots;
pub(crate) mod status;
pub(crate) mod verify;
pub(crate) mod why;

use std::io::Read;
use std::path::Path;

use crate::complaint::{Complaint, usage};

/// The largest file that a command reads whole.
const MAX_INPUT_BYTES: u64 = 1 << 30;

/// A file, or standard input where it is called `-`.
fn read_input(path: &Path) -> Result<Vec<u8>, Complaint> {
    let unreadable = |error: std::io::Error| usage(format!("cannot read {}: {error}", path.display()));
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
    } else {
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(MAX_INPUT_BYTES)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
    }
    Ok(bytes)
}

/// What a file is taken for: HTML by its name or its first bytes, text otherwise.
fn media_type(path: &Path, body: &[u8]) -> &'static str {
    let named = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let looks_like_html = body.trim_ascii_start().first() == Some(&b'<');
    let is_html = match named.as_str() {
        "html" | "htm" | "xhtml" => true,
        "txt" | "text" | "md" => false,
        _ => looks_like_html,
    };
    if is_html { "text/html" } else { "text/plain" }
}
