//! Documents in files of every format and compression, as the commands on files read them.

use std::path::Path;

use batch::dedup::FindingKind;
use corpus::{IdRanges, ResultTable, TableFormat};
use serde_json::{Value, json};

use crate::support::foreign_warc::gzip;
use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl};

/// `{"id":1,"text":"packed with xz"}`, packed by `xz`.
const XZ: &[u8] = include_bytes!("../../crates/engine/corpus/tests/corpus/one-line.jsonl.xz");

/// `{"id":1,"text":"packed with bzip2"}`, packed by `bzip2`.
const BZIP2: &[u8] = include_bytes!("../../crates/engine/corpus/tests/corpus/one-line.jsonl.bz2");

/// Three documents, of which the last repeats the first, in these fields.
fn lines(id: &str, text: &str) -> String {
    let texts = [prose(1, 60), prose(2, 60), prose(1, 60)];
    let line = |(number, words): (usize, &String)| {
        let line = json!({id: format!("document-{number}"), text: words});
        format!("{line}\n")
    };
    texts.iter().enumerate().map(line).collect()
}

/// Writes the documents of [`lines`] as the columns `document` and `duplicate_of` of a table.
fn table(path: &Path, format: TableFormat) {
    let (kind, ids) = (FindingKind::Duplicates, IdRanges::default());
    let mut table = ResultTable::create(path, format, kind, ids).unwrap();
    for line in lines("id", "text").lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let (id, text) = (line["id"].as_str().unwrap(), line["text"].as_str().unwrap());
        table
            .write_pair(&id.into(), &text.into(), 0, 0.0, "words")
            .unwrap();
    }
    table.finish().unwrap();
}

/// Checks that a run found the repetition in [`lines`], and nothing else.
fn finds_the_repetition(run: &CommandOutput) {
    let found = run.json_lines();
    assert_eq!(found.len(), 1, "{run:?}");
    assert_eq!(found[0]["document"], "document-2", "{run:?}");
    assert_eq!(found[0]["duplicate_of"], "document-0", "{run:?}");
    assert!(
        run.errors
            .starts_with("3 documents: 1 repeats an earlier one"),
        "{run:?}"
    );
}

/// Checks that a run ends because no document remains, and names the reason.
fn nothing_remains(run: &CommandOutput, reason: &str) {
    assert_eq!(run.code, Some(2), "{run:?}");
    let error = run
        .errors
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap_or_default();
    assert!(
        error.starts_with("error: no document to compare: "),
        "{run:?}"
    );
    assert!(error.contains(reason), "{reason:?} in {run:?}");
}

#[test]
fn a_binary_file_is_skipped_by_the_name_of_its_format() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", lines("id", "text"));
    crawl.write("b.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    crawl.write("c", b"\x7fELF\x02\x01\x01\0");
    crawl.write("d.txt.gz", gzip(b"GIF89a\n"));
    let run = crawl.run_command(&["dedup", "a.jsonl", "b.txt", "c", "d.txt.gz"]);
    let expected = "skipped: b.txt: a PNG image, not a text\n\
                    skipped: c: an executable or a library (ELF), not a text\n\
                    skipped: d.txt.gz: a GIF image, not a text\n\
                    3 documents: 1 repeats an earlier one, 3 skipped\n";
    assert_eq!((run.code, run.errors.as_str()), (Some(0), expected));
    nothing_remains(
        &crawl.run_command(&["dedup", "b.txt"]),
        "b.txt: a PNG image, not a text",
    );
    let run = crawl.run_command(&["extract", "b.txt"]);
    run.assert_error(2, "b.txt: a PNG image, not a text");
}

#[test]
fn the_first_bytes_decide_on_the_compression_and_not_the_name() {
    let crawl = Crawl::bare();
    let plain = lines("id", "text");
    let (first, second) = plain.split_at(plain.find('\n').unwrap() + 1);
    for (name, bytes) in [
        ("a.jsonl.gz", gzip(&plain)),
        ("b.jsonl", [gzip(first), gzip(second)].concat()),
        (
            "c.jsonl.zst",
            zstd::encode_all(plain.as_bytes(), 3).unwrap(),
        ),
        ("d.jsonl", zstd::encode_all(plain.as_bytes(), 19).unwrap()),
    ] {
        crawl.write(name, &bytes);
        finds_the_repetition(&crawl.run_command(&["dedup", name]));
        finds_the_repetition(&crawl.run_command_with_input(&["dedup", "-"], &bytes));
    }
    for (name, bytes) in [("e.jsonl.xz", XZ), ("f.jsonl.bz2", BZIP2)] {
        crawl.write(name, bytes);
        let run = crawl.run_command(&["dedup", name, name]);
        assert!(run.errors.starts_with("2 documents: 1 repeat"), "{run:?}");
    }
}

#[test]
fn the_fields_of_text_and_id_can_be_named() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", lines("url", "content"));
    let run = crawl.run_command(&["dedup", "a.jsonl"]);
    nothing_remains(
        &run,
        "a.jsonl: line 1 has no \"text\"; it has \"content\", \"url\": choose one with \
         --text-field",
    );
    let fields = ["--text-field", "content", "--id-field", "url"];
    finds_the_repetition(&crawl.run_command(&[&["dedup", "a.jsonl"], &fields[..]].concat()));
    let run = crawl.run_command(&["dedup", "a.jsonl", "--text-field", "content"]);
    let found: Value = serde_json::from_str(run.output.trim_end()).unwrap();
    assert_eq!(found["document"], "a.jsonl:3", "the line is its name");
    let nested: String = lines("url", "content")
        .lines()
        .map(|line| format!("{{\"page\": {line}}}\n"))
        .collect();
    let fields = ["--text-field", "page.content", "--id-field", "page.url"];
    let run = crawl.run_command_with_input(&[&["dedup", "-"], &fields[..]].concat(), &nested);
    finds_the_repetition(&run);
}

#[test]
fn json_that_is_not_an_object_a_line_is_refused_with_the_remedy() {
    let crawl = Crawl::bare();
    crawl.write("array.json", "[\n {\"id\": 1, \"text\": \"one\"}\n]");
    crawl.write("pretty.json", "{\n \"id\": 1,\n \"text\": \"one\"\n}\n");
    let run = crawl.run_command(&["dedup", "array.json"]);
    nothing_remains(
        &run,
        "array.json: a JSON array, not one JSON object per line",
    );
    let run = crawl.run_command(&["dedup", "pretty.json"]);
    nothing_remains(&run, "pretty.json: a JSON object over several lines");
}

#[test]
fn tables_are_read_from_files_and_from_standard_input() {
    let crawl = Crawl::bare();
    let fields = ["--text-field", "duplicate_of", "--id-field", "document"];
    for (format, name) in [
        (TableFormat::Parquet, "a.parquet"),
        (TableFormat::Arrow, "a.arrow"),
    ] {
        let path = crawl.directory().join(name);
        table(&path, format);
        finds_the_repetition(&crawl.run_command(&[&["dedup", name], &fields[..]].concat()));
        let bytes = std::fs::read(&path).unwrap();
        let run = crawl.run_command_with_input(&[&["dedup", "-"], &fields[..]].concat(), &bytes);
        finds_the_repetition(&run);
        let run = crawl.run_command(&["dedup", name]);
        let columns = "\"document\", \"duplicate_of\", \"distance\", \"resemblance\"";
        nothing_remains(&run, &format!("{name}: has no \"text\"; it has {columns}"));
        crawl.write("packed", gzip(&bytes));
        nothing_remains(
            &crawl.run_command(&["dedup", "packed"]),
            "within gzip: unpack it first",
        );
        crawl.write("cut", &bytes[..bytes.len() / 2]);
        nothing_remains(&crawl.run_command(&["dedup", "cut"]), "cut: ");
    }
}

#[test]
fn a_pattern_stands_for_its_matches_and_one_without_a_match_is_an_error() {
    let crawl = Crawl::bare();
    let plain = lines("id", "text");
    for (number, line) in plain.lines().enumerate() {
        crawl.write(&format!("part-{number}.jsonl.gz"), gzip(line));
    }
    finds_the_repetition(&crawl.run_command(&["dedup", "part-*.jsonl.gz"]));
    let run = crawl.run_command(&["dedup", "part-*.parquet"]);
    run.assert_error(2, "no file matches part-*.parquet");
    let run = crawl.run_command(&["dedup", "part-3.jsonl"]);
    run.assert_error(2, "cannot read part-3.jsonl");
}

#[test]
fn the_texts_of_wet_files_are_documents() {
    let crawl = Crawl::bare();
    let record = |number: usize, text: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: document-{number}\r\n\
             Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    };
    let texts = [prose(1, 60), prose(2, 60), prose(1, 60)];
    let records = texts
        .iter()
        .enumerate()
        .map(|(number, text)| gzip(record(number, text)));
    let wet: Vec<u8> = records.flatten().collect();
    crawl.write("CC-MAIN.warc.wet.gz", &wet);
    finds_the_repetition(&crawl.run_command(&["dedup", "CC-MAIN.warc.wet.gz"]));
    finds_the_repetition(&crawl.run_command_with_input(&["dedup", "-"], &wet));
}

#[test]
fn words_are_weighted_by_their_frequency_in_standard_input_too() {
    let crawl = Crawl::bare();
    let run =
        crawl.run_command_with_input(&["dedup", "-", "--weights", "tf-idf"], lines("id", "text"));
    finds_the_repetition(&run);
}

#[test]
fn one_text_ten_thousand_times_is_one_text() {
    let crawl = Crawl::bare();
    let text = prose(1, 60);
    let lines: String = (0..10_000)
        .map(|id| format!("{}\n", json!({"id": id, "text": text})))
        .collect();
    crawl.write("same.jsonl", lines);
    let run = crawl.run_command(&["dedup", "same.jsonl"]);
    assert_eq!(run.output.lines().count(), 9_999);
    assert!(
        run.errors.starts_with("10,000 documents: 9,999 repeat"),
        "{}",
        run.errors
    );
}

#[test]
fn extract_reads_what_dedup_reads() {
    let crawl = Crawl::bare();
    crawl.write(
        "page.html.gz",
        gzip("<title>t</title><p>some words of text"),
    );
    let page = crawl.run_command(&["extract", "page.html.gz"]).json();
    assert_eq!(
        (&page["title"], &page["text"]),
        (&json!("t"), &json!("some words of text"))
    );
    crawl.write(
        "a.jsonl",
        "{\"id\": 7, \"body\": \"one\"}\n{\"id\": 8, \"body\": \"two\"}\n",
    );
    let lines = crawl.json_lines(&["extract", "a.jsonl", "--text-field", "body"]);
    let read: Vec<(String, String)> = lines
        .iter()
        .map(|line| {
            (
                line["id"].as_str().unwrap().to_owned(),
                line["text"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    assert_eq!(
        read,
        [("7", "one"), ("8", "two")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}
