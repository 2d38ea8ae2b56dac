//! `dedup --keep`: the documents that remain, in the format and the order of the input.

use std::path::Path;

use batch::dedup::FindingKind;
use corpus::{IdRanges, ResultTable, TableFormat};
use serde_json::{Value, json};

use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl};

/// The texts of a corpus: the third repeats the first.
fn texts() -> [String; 4] {
    [1, 2, 1, 3].map(|seed| prose(seed, 60))
}

fn lines() -> String {
    let line = |(number, text): (usize, &String)| {
        format!(
            "{}\n",
            json!({"more": [number], "id": number, "text": text})
        )
    };
    texts().iter().enumerate().map(line).collect()
}

/// Writes the texts as the column `duplicate_of` of a table, with their numbers as `document`.
fn table(path: &Path, format: TableFormat) {
    let (kind, ids) = (FindingKind::Duplicates, IdRanges::default());
    let mut table = ResultTable::create(path, format, kind, ids).unwrap();
    for (number, text) in texts().iter().enumerate() {
        table
            .write_pair(
                &number.to_string().into(),
                &text.as_str().into(),
                7,
                0.5,
                "words",
            )
            .unwrap();
    }
    table.finish().unwrap();
}

/// Returns an archive with a page for each text, and a note on each page.
fn archive() -> String {
    let record = |kind: &str, number: usize, more: &str, block: &str| {
        format!(
            "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{kind}:{number}>\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/{number}\r\n{more}\
             Content-Length: {}\r\n\r\n{block}\r\n\r\n",
            block.len()
        )
    };
    let page = |(number, text): (usize, &String)| {
        let media = "Content-Type: text/plain\r\n";
        let note = format!("WARC-Refers-To: <urn:resource:{number}>\r\n");
        record("resource", number, media, text) + &record("metadata", number, &note, "via: x\r\n")
    };
    texts().iter().enumerate().map(page).collect()
}

fn good(run: CommandOutput) -> CommandOutput {
    assert_eq!(run.code, Some(0), "{run:?}");
    run
}

fn read(crawl: &Crawl, name: &str) -> String {
    std::fs::read_to_string(crawl.directory().join(name)).unwrap()
}

/// Returns the ids that `fingerprint` reads in a file.
fn ids(crawl: &Crawl, name: &str, options: &[&str]) -> Vec<String> {
    let run = good(crawl.run_command(&[&["fingerprint", name], options].concat()));
    let id = |line: &str| line.split_once("  ").unwrap().1.to_owned();
    run.output.lines().map(id).collect()
}

#[test]
fn lines_are_kept_as_they_are_also_from_standard_input_and_compressed() {
    let crawl = Crawl::bare();
    crawl.write("corpus.jsonl", lines());
    let expected: String = lines()
        .split_inclusive('\n')
        .enumerate()
        .filter_map(|(number, line)| (number != 2).then_some(line))
        .collect();
    let run = good(crawl.run_command(&["dedup", "corpus.jsonl", "--keep", "kept.jsonl"]));
    assert!(
        run.errors.contains("3 of 4 documents kept in kept.jsonl"),
        "{run:?}"
    );
    assert_eq!(read(&crawl, "kept.jsonl"), expected);
    let ask = ["dedup", "-", "--keep", "stdin.jsonl", "--temp-dir", "."];
    good(crawl.run_command_with_input(&ask, lines()));
    assert_eq!(read(&crawl, "stdin.jsonl"), expected);
    for packed in ["kept.jsonl.gz", "kept.jsonl.zst"] {
        good(crawl.run_command(&["dedup", "corpus.jsonl", "--keep", packed]));
        assert_eq!(ids(&crawl, packed, &[]), ["0", "1", "3"]);
    }
    // A corpus can be replaced by what remains of it.
    good(crawl.run_command(&["dedup", "corpus.jsonl", "--keep", "corpus.jsonl"]));
    assert_eq!(read(&crawl, "corpus.jsonl"), expected);
}

#[test]
fn rows_are_kept_with_all_columns() {
    let crawl = Crawl::bare();
    let fields = ["--text-field", "duplicate_of", "--id-field", "document"];
    for (format, extension) in [
        (TableFormat::Parquet, "parquet"),
        (TableFormat::Arrow, "arrow"),
    ] {
        let (input, output) = (format!("in.{extension}"), format!("out.{extension}"));
        table(&crawl.directory().join(&input), format);
        let ask = [&["dedup", &input, "--keep", &output], &fields[..]].concat();
        good(crawl.run_command(&ask));
        assert_eq!(ids(&crawl, &output, &fields), ["0", "1", "3"]);
        let run = crawl.run_command(&["dedup", &output]);
        let columns =
            "it has \"document\", \"duplicate_of\", \"distance\", \"resemblance\", \"measure\"";
        assert!(run.errors.contains(columns), "{run:?}");
        let bytes = std::fs::read(crawl.directory().join(&input)).unwrap();
        let ask = [&["dedup", "-", "--keep", &output], &fields[..]].concat();
        good(crawl.run_command_with_input(&ask, bytes));
        assert_eq!(ids(&crawl, &output, &fields), ["0", "1", "3"]);
    }
}

/// It cost the whole file: "cannot read the rows of in.arrow with all columns", code 1.
#[test]
fn a_cell_of_an_arrow_file_that_is_no_utf8_costs_its_row_and_no_other() {
    let crawl = Crawl::bare();
    let path = crawl.directory().join("in.arrow");
    table(&path, TableFormat::Arrow);
    let mut bytes = std::fs::read(&path).unwrap();
    let text = &texts()[3];
    let is_text = |at: &usize| bytes[*at..].starts_with(text.as_bytes());
    let place = (0..bytes.len()).find(is_text).unwrap();
    bytes[place] = 0xff;
    std::fs::write(&path, bytes).unwrap();
    let fields = ["--text-field", "duplicate_of", "--id-field", "document"];
    let ask = [&["dedup", "in.arrow", "--keep", "out.arrow"], &fields[..]].concat();
    let run = crawl.run_command(&ask);
    let reason = "row 4 has a \"duplicate_of\" that is not UTF-8";
    assert!(
        run.code == Some(2) && run.errors.contains(reason),
        "{run:?}"
    );
    assert_eq!(ids(&crawl, "out.arrow", &fields), ["0", "1"]);
}

#[test]
fn records_are_kept_with_those_that_refer_to_them() {
    let crawl = Crawl::bare();
    crawl.write("in.warc", archive());
    good(crawl.run_command(&["dedup", "in.warc", "--keep", "out.warc"]));
    let kept = read(&crawl, "out.warc");
    let ids: Vec<&str> = kept
        .lines()
        .filter_map(|line| line.strip_prefix("WARC-Record-ID: "))
        .collect();
    let expected: Vec<String> = [0, 1, 3]
        .iter()
        .flat_map(|n| [format!("<urn:resource:{n}>"), format!("<urn:metadata:{n}>")])
        .collect();
    assert_eq!(ids, expected);
    assert!(archive().starts_with(&kept[..200]), "as they are");
    good(crawl.run_command(&["dedup", "in.warc", "--keep", "out.warc.gz"]));
    let index = good(crawl.run_command(&["index", "out.warc.gz"]));
    assert_eq!(
        index.output.lines().count(),
        6,
        "each is compressed by itself: {index:?}"
    );
}

/// `--keep` dropped redirects, failures, revisits, robots.txt, DNS and notes without a word: what
/// was left could not be replayed.
#[test]
fn what_is_no_page_is_kept_and_what_is_left_out_is_counted() {
    let crawl = Crawl::bare();
    let page = |id: &str, status: &str, text: &str| {
        let block = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n\r\n{text}");
        (id.to_owned(), "response", String::new(), block)
    };
    let beside = |kind: &'static str, id: &str, field: &str, to: &str| {
        let field = format!("{field}: <urn:{to}>\r\n");
        (
            id.to_owned(),
            kind,
            field,
            "GET / HTTP/1.1\r\n\r\n".to_owned(),
        )
    };
    let [one, two, ..] = texts();
    let records = [
        beside("request", "q0", "WARC-Concurrent-To", "moved"),
        page("moved", "301 Moved Permanently", ""),
        beside("request", "q1", "WARC-Concurrent-To", "one"),
        page("one", "200 OK", &one),
        beside("metadata", "m1", "WARC-Refers-To", "one"),
        page("gone", "404 Not Found", &one),
        page("robots.txt", "200 OK", "User-agent: *"),
        beside("request", "q2", "WARC-Concurrent-To", "copy"),
        page("copy", "200 OK", &one),
        beside("request", "q3", "WARC-Concurrent-To", "copy"),
        beside("metadata", "m2", "WARC-Refers-To", "copy"),
        beside("revisit", "again", "WARC-Refers-To", "copy"),
        beside("metadata", "m3", "X", "nothing"),
        page("two", "200 OK", &two),
        (
            "dns".to_owned(),
            "response",
            String::new(),
            "20240101 a.test".to_owned(),
        ),
    ];
    let archive: String = records
        .iter()
        .map(|(id, kind, more, block)| {
            format!(
                "WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:{id}>\r\n\
                 WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/{id}\r\n\
                 Content-Type: application/http\r\n{more}Content-Length: {}\r\n\r\n{block}\
                 \r\n\r\n",
                block.len()
            )
        })
        .collect();
    crawl.write("in.warc", &archive);
    let run = good(crawl.run_command(&["dedup", "in.warc", "--keep", "out.warc"]));
    for part in [
        "2 of 3 documents kept in out.warc",
        "9 other records (redirects, failures, revisits, requests, notes) kept",
        "1 document omitted (repeats), with 3 of their requests",
        "1 response was skipped, because its HTTP head cannot be read: http://a.test/dns",
    ] {
        assert!(run.errors.contains(part), "{part}: {}", run.errors);
    }
    let kept = read(&crawl, "out.warc");
    let ids = kept
        .lines()
        .filter_map(|line| line.strip_prefix("WARC-Record-ID: <urn:"));
    let wanted = records.iter().map(|(id, ..)| format!("{id}>"));
    let wanted = wanted.filter(|id| !["q2>", "copy>", "q3>", "m2>"].contains(&id.as_str()));
    assert_eq!(ids.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
}

/// "Zstandard compression for WARC files" (IIPC, draft 1.0): the dictionary stands before the
/// records in a skippable frame. Copied as they are, its records could not be read without it.
#[test]
fn records_that_need_a_dictionary_are_kept_without_it() {
    const DICTIONARY: &[u8] =
        include_bytes!("../../crates/crawler/sinks/tests/warc/golden/pages.dict");
    let crawl = Crawl::bare();
    let mut packed = [0x5d, 0x2a, 0x4d, 0x18].to_vec();
    packed.extend((DICTIONARY.len() as u32).to_le_bytes());
    packed.extend(DICTIONARY);
    let mut compressor = zstd::bulk::Compressor::with_dictionary(3, DICTIONARY).unwrap();
    let whole = archive();
    for (start, _) in whole.match_indices("WARC/1.1") {
        let rest = &whole[start + 1..];
        let end = rest
            .find("WARC/1.1")
            .map_or(whole.len(), |at| start + 1 + at);
        packed.extend(compressor.compress(&whole.as_bytes()[start..end]).unwrap());
    }
    crawl.write("in.warc.zst", packed);
    crawl.write("in.warc", whole);
    good(crawl.run_command(&["dedup", "in.warc", "--keep", "expected.warc"]));
    for output in ["out.warc", "out.warc.gz", "out.warc.zst"] {
        good(crawl.run_command(&["dedup", "in.warc.zst", "--keep", output]));
        assert_eq!(
            ids(&crawl, output, &[]),
            ids(&crawl, "expected.warc", &[]),
            "{output}"
        );
    }
    assert_eq!(read(&crawl, "out.warc"), read(&crawl, "expected.warc"));
}

#[test]
fn files_are_listed_or_copied() {
    let crawl = Crawl::bare();
    std::fs::create_dir_all(crawl.directory().join("pages/sub")).unwrap();
    let names = ["a.txt", "b.txt", "c.txt", "sub/d.txt"];
    for (name, text) in names.iter().zip(texts()) {
        crawl.write(&format!("pages/{name}"), text);
    }
    good(crawl.run_command(&["dedup", "pages", "--keep", "list.txt"]));
    assert_eq!(
        read(&crawl, "list.txt"),
        "pages/a.txt\npages/b.txt\npages/sub/d.txt\n"
    );
    good(crawl.run_command(&["dedup", "pages", "--keep", "copies/"]));
    assert_eq!(read(&crawl, "copies/sub/d.txt"), texts()[3]);
    assert!(!crawl.directory().join("copies/c.txt").exists());
    let run = crawl.run_command(&["dedup", "pages", "--keep", "pages/list.txt"]);
    run.assert_error(2, "is inside the input pages: choose a file elsewhere");
}

#[test]
fn inputs_of_several_formats_are_refused_before_they_are_compared() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", lines());
    crawl.write("b.warc", archive());
    let run = crawl.run_command(&["dedup", "a.jsonl", "b.warc", "--keep", "kept.jsonl"]);
    run.assert_error(2, "a.jsonl is JSON lines, and b.warc is WARC");
    let run = crawl.run_command(&["dedup", "a.jsonl", "--keep", "kept.parquet"]);
    run.assert_error(
        2,
        "kept.parquet has the name of Parquet, but the inputs are JSON lines",
    );
    assert_eq!(
        std::fs::read_dir(crawl.directory()).unwrap().count(),
        2,
        "nothing is left"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_with_what_was_written() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", lines());
    let run = crawl.run_command(&["dedup", "a.jsonl", "--keep", "/dev/full"]);
    run.assert_error(
        1,
        "cannot write /dev/full after 0 bytes; the partial output was removed",
    );
}

#[test]
fn findings_can_be_a_table() {
    let crawl = Crawl::bare();
    let line = |(number, text): (usize, &String)| {
        format!(
            "{}\n",
            json!({"id": format!("page {number}"), "text": text})
        )
    };
    let named: String = texts().iter().enumerate().map(line).collect();
    crawl.write("a.jsonl", named);
    for name in ["found.parquet", "found.arrow"] {
        good(crawl.run_command(&["dedup", "a.jsonl", "-o", name]));
        let fields = ["--text-field", "duplicate_of", "--id-field", "document"];
        let run = good(crawl.run_command(&[&["extract", name], &fields[..]].concat()));
        let row: Value = serde_json::from_str(run.output.trim_end()).unwrap();
        assert_eq!(
            (&row["id"], &row["text"]),
            (&json!("page 2"), &json!("page 0")),
            "{name}"
        );
    }
}
