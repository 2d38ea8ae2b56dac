//! Indexes, ours and foreign ones.

use sinks::cdxj::{CdxjLine, CdxjReader, MAX_LINE};

/// Reads any bytes as an index: every line is returned or counted, and a returned line can be read
/// again by itself. Reads any text as a URL: it has a key that a line could have.
pub fn cdxj(bytes: &[u8]) {
    let mut lines = CdxjReader::new(bytes);
    let mut entries = 0;
    // Reading from memory does not fail.
    while let Ok(Some(entry)) = lines.next_entry() {
        entries += 1;
        assert!(lines.line().len() <= MAX_LINE);
        let alone = CdxjLine::parse(lines.line());
        assert_eq!(
            alone.as_ref(),
            Ok(&entry),
            "the line alone gives the same entry"
        );
        assert!(!entry.key.is_empty() && !entry.key.contains(' '));
        assert!(entry.end() >= entry.offset());
        assert!(!entry.file().is_empty() || entry.text("filename") == Some(""));
    }
    let skipped = lines.skipped();
    assert!(
        entries + skipped.count() <= skipped.lines,
        "each line is an entry, is skipped, or is a header"
    );
    assert!(skipped.unsorted <= entries);
    assert_eq!(
        skipped.first.is_some(),
        skipped.count() + skipped.unsorted > 0,
        "the first warning is reported"
    );

    for text in String::from_utf8_lossy(bytes).lines().take(64) {
        assert!(!web::surt_key(text).is_empty(), "{text:?} has a key");
    }
}
