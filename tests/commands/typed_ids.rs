//! Findings name documents by ids of their own type.
//!
//! They named the integer 2 as the string "2": who joined findings with a table by its integer ids
//! joined nothing, and an anti join removed no duplicate.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};

use crate::support::Crawl;
use crate::support::pages::prose;

/// Writes three documents, the last of which repeats the first.
fn three(crawl: &Crawl, name: &str, ids: [Value; 3]) {
    let texts = [prose(1, 60), prose(2, 60), prose(1, 60)];
    let lines: String = ids
        .into_iter()
        .zip(texts)
        .map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})))
        .collect();
    crawl.write(name, lines);
}

/// Returns the ids in the first row of a table of findings.
fn first_ids(crawl: &Crawl, name: &str) -> [Field; 2] {
    let file = File::open(crawl.directory().join(name)).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let mut fields = row.get_column_iter().map(|(_, field)| field.clone());
    [fields.next().unwrap(), fields.next().unwrap()]
}

#[test]
fn numbers_are_numbers_in_findings_of_every_kind() {
    let crawl = Crawl::bare();
    three(&crawl, "c.jsonl", [json!(7), json!(8), json!(-9)]);
    let of = |more: &[&str]| {
        let run = crawl.run_command(&[&["dedup", "c.jsonl"], more].concat());
        run.json_lines()[0].clone()
    };
    let found = of(&[]);
    assert_eq!([&found["document"], &found["duplicate_of"]], [-9, 7]);
    let found = of(&["--pairs"]);
    assert_eq!([&found["a"], &found["b"]], [7, -9]);
    assert_eq!(of(&["--clusters"])["members"], json!([7, -9]));
    let found = of(&["--containment", "1"]);
    assert_eq!([&found["document"], &found["contained_in"]], [7, -9]);
    let found = of(&["--unit", "paragraph"]);
    assert_eq!([&found["document"], &found["duplicate_of"]], [-9, 7]);
}

#[test]
fn strings_of_digits_stay_strings_and_the_largest_number_keeps_its_digits() {
    let crawl = Crawl::bare();
    three(&crawl, "c.jsonl", [json!("7"), json!(8), json!(u64::MAX)]);
    let run = crawl.run_command(&["dedup", "c.jsonl"]);
    let found = &run.json_lines()[0];
    assert_eq!(found["duplicate_of"], "7");
    assert_eq!(found["document"], u64::MAX);
    assert!(run.output.contains("18446744073709551615"), "{run:?}");
}

#[test]
fn a_table_has_a_column_of_numbers_if_all_ids_are() {
    let crawl = Crawl::bare();
    let table = |ids: [Value; 3], more: &[&str]| {
        three(&crawl, "c.jsonl", ids);
        let command = ["dedup", "c.jsonl", "-o", "found.parquet"];
        let run = crawl.run_command(&[&command, more].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        first_ids(&crawl, "found.parquet")
    };
    let text = |text: &str| Field::Str(text.to_owned());
    let numbers = || [json!(7), json!(8), json!(9)];
    assert_eq!(table(numbers(), &[]), [Field::Long(9), Field::Long(7)]);
    let large = [json!(7), json!(8), json!(u64::MAX)];
    assert_eq!(table(large, &[]), [Field::ULong(u64::MAX), Field::ULong(7)]);
    let mixed = [json!("7"), json!(8), json!(9)];
    assert_eq!(table(mixed, &[]), [text("9"), text("7")]);
    // The reference has a path for an id, which is no number: only its column becomes one of texts.
    crawl.write("known.txt", prose(1, 60));
    let against = ["--against", "known.txt"];
    assert_eq!(
        table(numbers(), &against),
        [Field::Long(7), text("known.txt")]
    );
}

#[test]
fn shards_and_indexes_keep_the_type_of_ids() {
    let crawl = Crawl::bare();
    three(&crawl, "c.jsonl", [json!(7), json!("8"), json!(9)]);
    let plain = crawl.json_lines(&["dedup", "c.jsonl"]);
    for shard in ["1/2", "2/2"] {
        let file = format!("{}.signatures", &shard[..1]);
        let run = crawl.run_command(&["dedup", "c.jsonl", "--shard", shard, "--signatures", &file]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let merge = [
        "dedup",
        "--merge",
        "1.signatures",
        "--merge",
        "2.signatures",
    ];
    assert_eq!(crawl.json_lines(&merge), plain);
    let run = crawl.run_command(&["dedup", "c.jsonl", "--save-index", "known"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let again = crawl.json_lines(&["dedup", "c.jsonl", "--against", "known"]);
    let originals: Vec<&Value> = again.iter().map(|line| &line["duplicate_of"]).collect();
    assert_eq!(originals, [&json!(7), &json!("8"), &json!(7)]);
}

#[test]
fn labels_name_documents_by_numbers_or_by_strings() {
    let crawl = Crawl::bare();
    three(&crawl, "c.jsonl", [json!(7), json!(8), json!(9)]);
    crawl.write(
        "labels",
        "{\"a\":7,\"b\":9,\"label\":\"same\"}\n{\"a\":\"7\",\"b\":8,\"label\":\"different\"}\n",
    );
    let run = crawl.run_command(&["dedup", "c.jsonl", "--labels", "labels"]);
    assert_eq!(run.json_lines()[0]["f1"], 1.0);
}
