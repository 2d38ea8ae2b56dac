//! Indexes, ours and others'.

use sinks::cdxj::{self, CdxjLine, CdxjReader, MAX_LINE};

/// Any bytes as an index: every line is given or counted, and what is given can be read again by
/// itself. And any text as a URL: it has a key, which a line could have.
pub fn cdxj(bytes: &[u8]) {
    let mut lines = CdxjReader::new(bytes);
    let mut given = 0;
    // Reading from memory does not fail.
    while let Ok(Some(entry)) = lines.next_entry() {
        given += 1;
        assert!(lines.line().len() <= MAX_LINE);
        assert_eq!(
            CdxjLine::parse(lines.line()).as_ref(),
            Ok(&entry),
            "read alone, it is the same"
        );
        assert!(!entry.key.is_empty() && !entry.key.contains(' '));
        assert!(entry.end() >= entry.offset());
        assert!(!entry.file().is_empty() || entry.text("filename") == Some(""));
    }
    let skipped = lines.skipped();
    assert!(
        given + skipped.count() <= skipped.lines,
        "each line is one of them, or a header"
    );
    assert!(skipped.unsorted <= given);
    assert_eq!(
        skipped.first.is_some(),
        skipped.count() + skipped.unsorted > 0,
        "what is odd is told"
    );

    for text in String::from_utf8_lossy(bytes).lines().take(64) {
        assert!(!cdxj::key(text).is_empty(), "{text:?} has a key");
    }
}
