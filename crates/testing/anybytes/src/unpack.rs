//! Archives that become files: the index, the names, the contents and their links.

use std::collections::HashSet;

use sinks::captures::CaptureKind;
use sinks::cdxj::{CdxjReader, MAX_LINE};
use sinks::wacz::{MergedIndex, PackedFile};
use unpack::{FileKind, FileNames, MAX_PATH, relative, rewrite_css, rewrite_html};
use web::{page_text, sheet_text};

use crate::any_archive::{archive, judged_records};

/// The most bytes of a content.
const MAX_CONTENT: u64 = 1 << 20;

/// Indexes an archive of any records and unpacks its captures: each has a file below the
/// directory, no two have the same, and links lead from one to another.
pub fn unpack(bytes: &[u8]) {
    let archive = archive(bytes);
    index(&archive);
    let records = judged_records(archive);
    let pages = records.iter().filter(|(record, kind)| {
        matches!(record.kind(), "response" | "resource") && *kind == CaptureKind::ByStatus
    });
    let pages: Vec<_> = pages
        .filter_map(|(record, _)| Some((record.target()?, record)))
        .collect();
    let media_type = |record: &sinks::warc::Record| match record.http() {
        Some(response) => web::content_type(&response.headers).unwrap_or_default(),
        None => record.field("Content-Type").unwrap_or_default().to_owned(),
    };
    let kinds = pages.iter();
    let kinds = kinds.map(|(url, page)| ((*url).to_owned(), FileKind::of(&media_type(page))));
    let names = FileNames::assign(kinds);
    check(&names);
    for (url, page) in &pages {
        let Some(path) = names.get(url) else { continue };
        let link = |url: &str| names.get(url).map(|to| relative(path, to));
        let media_type = media_type(page);
        let content = match page.http() {
            Some(response) => {
                let body = response.payload().expect("a body in memory");
                web::decode(&response.headers, &body, MAX_CONTENT).bytes
            }
            None => page.block.to_vec().into(),
        };
        let text = page_text(&content, Some(&media_type), Some("org"));
        let page = rewrite_html(&text, url, &link);
        let sheet = rewrite_css(&sheet_text(&content, Some(&media_type)), url, &link);
        for rewritten in page.into_iter().chain([sheet]) {
            let links = rewritten.links.inward + rewritten.links.outward;
            assert!(links == 0 || !rewritten.text.is_empty(), "a link is a text");
        }
    }
}

/// Asserts that each file is below the directory and at a path of its own.
fn check(names: &FileNames) {
    let mut taken = HashSet::new();
    for (url, path) in names.iter() {
        assert!(taken.insert(path.to_lowercase()), "{path} is given twice");
        assert!(path.len() <= MAX_PATH + 64, "{url} has a long path");
        let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
        assert!(path.split('/').all(is_part), "{url} leads to {path}");
    }
}

/// Indexes an archive as `unpack` and `wacz` do: each line can be read.
fn index(archive: &[u8]) {
    let directory = tempfile::tempdir().expect("a directory for the archive");
    let path = directory.path().join("any.warc");
    std::fs::write(&path, archive).expect("room for the archive");
    let mut index = MergedIndex::new(&disk::SystemDisk, directory.path(), true);
    let file = PackedFile {
        name: "any.warc".to_owned(),
        length: archive.len() as u64,
        path,
    };
    let report = index
        .add_file(&file, &mut || {})
        .expect("room for the index");
    let (lines, missing) = index.finish().expect("room for the index");
    let mut lines = CdxjReader::new(lines.expect("it is merged"));
    let mut entries = 0;
    while let Some(entry) = lines.next_entry().expect("it is in memory") {
        entries += 1;
        assert!(lines.line().len() <= MAX_LINE);
        assert!(entry.end() <= file.length, "a record lies within its file");
    }
    assert_eq!(lines.skipped().count(), 0, "our lines can be read");
    assert!(missing.count <= entries && entries <= report.records);
}
