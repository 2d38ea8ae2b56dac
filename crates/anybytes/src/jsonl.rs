//! JSON lines that somebody else wrote.

use batch::jsonl::JsonLines;

/// Any bytes are so many JSON lines at most.
pub fn jsonl(bytes: &[u8]) {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    assert!(JsonLines::new(bytes).count() <= lines);
}
