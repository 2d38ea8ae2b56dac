//! JSON lines.

use corpus::JsonLines;

/// Reads any bytes as JSON lines: at most as many documents as there are lines.
pub fn jsonl(bytes: &[u8]) {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    assert!(JsonLines::new(bytes).count() <= lines);
}
