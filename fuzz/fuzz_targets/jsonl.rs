//! Any bytes are so many JSON lines at most, and no accident.

#![no_main]

use batch::jsonl::JsonLines;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|&byte| byte == b'\n').count();
    assert!(JsonLines::new(bytes).count() <= lines);
});
