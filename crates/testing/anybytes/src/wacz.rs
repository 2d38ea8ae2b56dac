//! Packages of archives, ours and foreign ones.

use std::io::Cursor;

use sinks::wacz::{WaczFault, check};

/// Checks any bytes as a WACZ: the problems can be printed, or it is no ZIP file.
pub fn wacz(bytes: &[u8]) {
    match check(Cursor::new(bytes), &mut || {}) {
        Ok(found) => {
            assert!(found.archives <= found.files);
            assert!(found.problems.len() as u64 <= found.problem_count);
            let is_line = |finding: &String| !finding.contains(['\n', '\r', '\u{1b}']);
            assert!(found.problems.iter().all(is_line), "{:?}", found.problems);
        }
        Err(WaczFault::NotZip { .. }) => {}
        Err(fault) => panic!("bytes in memory can always be read: {fault}"),
    }
}
