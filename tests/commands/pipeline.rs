//! `dedup` as a step of a pipeline: indexes, shards, interruptions, parts, reports.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl};

/// Writes JSON lines of these documents: every third one repeats an earlier text with some words
/// more.
fn write_corpus(crawl: &Crawl, name: &str, documents: std::ops::Range<u64>) {
    let mut lines = String::new();
    for number in documents {
        let text = match number % 3 {
            2 => format!("{} some words more {number}", prose(number / 9, 300)),
            _ => prose(number, 300),
        };
        let document = json!({"id": format!("d{number}"), "text": text});
        writeln!(lines, "{document}").unwrap();
    }
    crawl.write(name, lines);
}

fn run(crawl: &Crawl, arguments: &str) -> CommandOutput {
    let arguments: Vec<&str> = arguments.split(' ').collect();
    crawl.run_command(&arguments)
}

#[test]
fn shards_merge_to_the_result_of_one_run() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..100);
    // With a resemblance the files have shingles, and these decide.
    for verdict in ["", " --resemblance 0.9", " --resemblance 0.9 --exact off"] {
        for shard in 1..=3 {
            let file = format!("{shard}.sig");
            fs::remove_file(crawl.directory().join(&file)).ok();
            let shard = format!("--shard {shard}/3 --signatures {file}");
            let written = run(&crawl, &format!("dedup corpus.jsonl {shard}{verdict}"));
            assert_eq!((written.code, written.output.as_str()), (Some(0), ""));
        }
        for kind in ["", " --pairs", " --clusters", " --clusters --chained"] {
            let whole = run(&crawl, &format!("dedup corpus.jsonl{kind}{verdict}"));
            assert!(!whole.json_lines().is_empty(), "{whole:?}");
            let merge = "--merge 3.sig 1.sig 2.sig";
            let merged = run(&crawl, &format!("dedup{kind}{verdict} {merge}"));
            assert_eq!(merged.output, whole.output, "{merged:?}");
        }
    }
    run(&crawl, "dedup --merge 1.sig 2.sig 3.sig --resemblance 0.9")
        .assert_error(2, "without shingles there, with here");
    run(
        &crawl,
        "dedup --merge 1.sig 3.sig --resemblance 0.9 --exact off",
    )
    .assert_error(2, "all shards of one corpus");
    run(&crawl, "dedup corpus.jsonl --shard 4/3 --signatures x")
        .assert_error(2, "a shard must be I/N");
    run(&crawl, "dedup corpus.jsonl --shard 1/3").assert_error(2, "--signatures");
}

#[test]
fn an_interrupted_run_continues_behind_the_signatures_that_it_has_written() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..60);
    let whole = run(&crawl, "dedup corpus.jsonl");
    let command = "dedup corpus.jsonl --signatures corpus.sig";
    assert_eq!(run(&crawl, command).output, whole.output);
    let file = crawl.directory().join("corpus.sig");
    let finished = fs::read(&file).unwrap();
    // A kill leaves a file that ends anywhere behind its header.
    for kept in [
        64,
        70,
        finished.len() / 2,
        finished.len() - 1,
        finished.len(),
    ] {
        fs::write(&file, &finished[..kept]).unwrap();
        let unfinished = run(&crawl, "dedup --merge corpus.sig");
        if kept < finished.len() {
            unfinished.assert_error(2, "corpus.sig is incomplete");
        }
        assert_eq!(run(&crawl, command).output, whole.output, "{kept}");
        assert_eq!(fs::read(&file).unwrap(), finished, "{kept}");
    }
    fs::write(&file, &finished[..10]).unwrap();
    run(&crawl, command).assert_error(2, "corpus.sig is damaged");
}

/// Signatures of documents that have changed since would decide about other texts.
#[test]
fn signatures_of_another_corpus_are_refused() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..30);
    let command = "dedup corpus.jsonl --signatures corpus.sig";
    run(&crawl, command).json_lines();
    let corpus = fs::read_to_string(crawl.directory().join("corpus.jsonl")).unwrap();
    for (changed, difference) in [
        (
            corpus.replace("\"d7\"", "\"e7\""),
            "document e7 has changed",
        ),
        (corpus.replacen("ba", "xa", 1), "document d0 has changed"),
        (
            corpus[..corpus.rfind("{\"id\"").unwrap()].to_owned(),
            "has fewer documents",
        ),
        (
            format!("{corpus}{{\"id\":1,\"text\":\"\"}}\n"),
            "has more documents",
        ),
    ] {
        crawl.write("corpus.jsonl", changed);
        let refused = run(&crawl, command);
        refused.assert_error(2, "signatures of another corpus");
        assert!(refused.errors.contains(difference), "{refused:?}");
    }
    crawl.write("corpus.jsonl", corpus);
    let refused = run(&crawl, &format!("{command} --resemblance 0.5"));
    refused.assert_error(2, "were made with different bands");
    let refused = run(&crawl, &format!("{command} --min-words 3"));
    refused.assert_error(2, "were made with different features");
}

#[test]
fn documents_are_compared_with_a_reference_of_which_nothing_is_found() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "known.jsonl", 0..40);
    write_corpus(&crawl, "new.jsonl", 40..80);
    fs::write(
        crawl.directory().join("both.jsonl"),
        fs::read_to_string(crawl.directory().join("known.jsonl")).unwrap()
            + &fs::read_to_string(crawl.directory().join("new.jsonl")).unwrap(),
    )
    .unwrap();
    let number = |id: &Value| id.as_str().unwrap()[1..].parse::<u64>().unwrap();
    let of_new: Vec<Value> = run(&crawl, "dedup both.jsonl")
        .json_lines()
        .into_iter()
        .filter(|line| number(&line["document"]) >= 40)
        .collect();
    let found = run(&crawl, "dedup new.jsonl --against known.jsonl");
    assert_eq!(found.json_lines(), of_new);
    assert!(
        found.errors.contains("40 documents against 40:"),
        "{found:?}"
    );
    let pairs = run(&crawl, "dedup new.jsonl --against known.jsonl --pairs").json_lines();
    assert!(!pairs.is_empty());
    assert!(
        pairs.iter().all(|pair| number(&pair["b"]) >= 40),
        "{pairs:?}"
    );
}

#[test]
fn an_index_grows_by_each_run_and_keeps_what_one_run_would_keep() {
    let crawl = Crawl::bare();
    let removed = |run: &CommandOutput| -> Vec<String> {
        let lines = run.json_lines().into_iter();
        lines
            .map(|line| line["document"].as_str().unwrap().to_owned())
            .collect()
    };
    write_corpus(&crawl, "all.jsonl", 0..90);
    let at_once = removed(&run(&crawl, "dedup all.jsonl"));
    let mut step_by_step = Vec::new();
    for (number, documents) in [0..30, 30..60, 60..90].into_iter().enumerate() {
        write_corpus(&crawl, "part.jsonl", documents);
        let against = if number > 0 {
            " --against known.sig"
        } else {
            ""
        };
        let found = run(
            &crawl,
            &format!("dedup part.jsonl --save-index known.sig{against}"),
        );
        step_by_step.extend(removed(&found));
    }
    assert_eq!(step_by_step, at_once);
    // The index is a file beside which nothing is left.
    let left: Vec<_> = fs::read_dir(crawl.directory()).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");

    let refused = run(&crawl, "dedup all.jsonl --save-index known.sig");
    refused.assert_error(2, "known.sig exists");
    assert!(
        refused
            .errors
            .contains("--against known.sig --save-index known.sig"),
        "{refused:?}"
    );
    let other = run(
        &crawl,
        "dedup all.jsonl --against known.sig --features char:5",
    );
    other.assert_error(
        2,
        "the signatures in known.sig were made with different features",
    );
    assert!(other.errors.contains("the same --features"), "{other:?}");
    run(&crawl, "dedup --merge known.sig").assert_error(2, "known.sig is an index of originals");
}

/// The index keeps shingles, so a document exactly at the threshold is found by it as by the text.
#[test]
fn an_index_decides_exactly_and_one_without_shingles_is_said_to_estimate() {
    let crawl = Crawl::bare();
    let document = |from: usize| {
        let words: Vec<String> = (from..from + 90).map(|at| format!("word{at}")).collect();
        json!({"id": format!("from {from}"), "text": words.join(" ")}).to_string()
    };
    crawl.write("old.jsonl", document(0));
    // 80 words of 100 in common, and one less.
    crawl.write(
        "new.jsonl",
        format!("{}\n{}\n", document(10), document(900)),
    );
    let verdict = "--features word:1 --resemblance 0.8";
    run(
        &crawl,
        &format!("dedup old.jsonl --save-index known.sig {verdict}"),
    );
    let found = run(
        &crawl,
        &format!("dedup new.jsonl --against known.sig {verdict}"),
    );
    let lines = found.json_lines();
    assert_eq!(lines.len(), 1, "{found:?}");
    assert_eq!(
        (&lines[0]["document"], &lines[0]["resemblance"]),
        (&json!("from 10"), &json!(0.8))
    );
    assert!(!found.errors.contains("sketches"), "{found:?}");

    run(
        &crawl,
        &format!("dedup old.jsonl --save-index rough.sig --exact off {verdict}"),
    );
    let found = run(
        &crawl,
        &format!("dedup new.jsonl --against rough.sig {verdict}"),
    );
    assert!(
        found.errors.contains(
            "rough.sig does not contain shingles: its documents are compared by \
                sketches"
        ),
        "{found:?}"
    );
}

/// A run that fails after its index was named would find all its documents in it when repeated, and
/// keep none of them.
#[test]
fn an_index_does_not_grow_by_a_run_whose_documents_are_not_kept() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..30);
    let failed = run(
        &crawl,
        "dedup corpus.jsonl --save-index known.sig --keep no/such/place.jsonl",
    );
    assert_ne!(failed.code, Some(0), "{failed:?}");
    assert!(failed.errors.contains("no/such/place.jsonl"), "{failed:?}");
    let left: Vec<_> = fs::read_dir(crawl.directory()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn clusters_tell_how_each_member_is_like_the_original() {
    let crawl = Crawl::bare();
    let text = prose(1, 300);
    let lines = [
        json!({"id": "a", "text": text}),
        json!({"id": "b", "text": text.to_uppercase()}),
        json!({"id": "c", "text": format!("{text} and more")}),
    ];
    crawl.write(
        "corpus.jsonl",
        lines.map(|line| line.to_string()).join("\n"),
    );
    let clusters = run(&crawl, "dedup corpus.jsonl --clusters").json_lines();
    assert_eq!(clusters.len(), 1);
    assert_eq!(clusters[0]["members"], json!(["a", "b", "c"]));
    assert_eq!(clusters[0]["distances"][1], json!(0));
    assert_eq!(clusters[0]["resemblances"][0], json!(1.0));
    let resemblance = clusters[0]["resemblances"][2].as_f64().unwrap();
    assert!((0.9..1.0).contains(&resemblance), "{clusters:?}");
    let pair = run(&crawl, "dedup corpus.jsonl").json_lines();
    assert_eq!(pair[1]["resemblance"], clusters[0]["resemblances"][2]);
}

#[test]
fn paragraphs_and_lines_that_occurred_before_are_found_with_their_places() {
    let crawl = Crawl::bare();
    let lines = [
        json!({"id": "a", "text": "One story.\n\nAll rights\nreserved.\n\nOne story."}),
        json!({"id": "b", "text": "Another story.\n\nALL RIGHTS RESERVED"}),
        json!({"id": "c", "text": "reserved\n---\n\n---\nAnother story"}),
    ];
    crawl.write(
        "corpus.jsonl",
        lines.clone().map(|line| line.to_string()).join("\n"),
    );
    let found = run(&crawl, "dedup corpus.jsonl --unit paragraph");
    let line = |document, part, of, part_of| {
        let (of, document) = (json!(of), json!(document));
        json!({"document": document, "part": part, "duplicate_of": of, "part_of": part_of})
    };
    assert_eq!(
        found.json_lines(),
        [
            line("a", 3, "a", 1),
            line("b", 2, "a", 2),
            line("c", 2, "b", 1)
        ]
    );
    assert!(
        found
            .errors
            .contains("of 7 paragraphs: 3 repeat an earlier one"),
        "{found:?}"
    );
    let found = run(&crawl, "dedup corpus.jsonl --unit line");
    assert_eq!(
        found.json_lines(),
        [
            line("a", 6, "a", 1),
            line("c", 1, "a", 4),
            line("c", 5, "b", 1)
        ]
    );
    let found = run(&crawl, "dedup corpus.jsonl --unit line --min-words 2");
    assert_eq!(found.json_lines().len(), 2);
    crawl.write("new.jsonl", lines[1].to_string());
    crawl.write("known.jsonl", lines[0].to_string());
    let found = run(
        &crawl,
        "dedup new.jsonl --unit paragraph --against known.jsonl",
    );
    assert_eq!(found.json_lines(), [line("b", 2, "a", 2)]);
}

#[test]
fn documents_are_kept_without_the_parts_that_occurred_before() {
    let crawl = Crawl::bare();
    let lines = concat!(
        r#"{"id": "a", "text": "One story.\n\nAll rights reserved.", "n": 1.50}"#,
        "\n",
        r#"{"n":2,"text":"Another story.\n\nAll rights reserved.","id":"b"}"#,
        "\n",
        r#"{"id": "c", "text": "ALL RIGHTS RESERVED"}"#,
        "\n",
    );
    crawl.write("corpus.jsonl", lines);
    let kept = run(
        &crawl,
        "dedup corpus.jsonl --unit paragraph --keep kept.jsonl",
    );
    assert_eq!((kept.code, kept.output.as_str()), (Some(0), ""), "{kept:?}");
    assert!(
        kept.errors.contains("2 of 3 documents kept in kept.jsonl"),
        "{kept:?}"
    );
    // Every other byte stays.
    assert_eq!(
        fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap(),
        concat!(
            r#"{"id": "a", "text": "One story.\n\nAll rights reserved.", "n": 1.50}"#,
            "\n",
            r#"{"n":2,"text":"Another story.\n\n","id":"b"}"#,
            "\n",
        )
    );
    crawl.write("page.txt", "One story.");
    let refused = run(&crawl, "dedup page.txt --unit line --keep kept.txt");
    refused.assert_error(2, "only for JSON lines, Parquet and Arrow");
}

#[test]
fn the_report_is_one_page_on_which_ids_are_text() {
    let crawl = Crawl::bare();
    let text = prose(1, 300);
    let lines = [
        json!({"id": "<b>original</b>", "text": text}),
        json!({"id": "copy", "text": text}),
        json!({"id": "near", "text": format!("{text} and more")}),
    ];
    crawl.write(
        "corpus.jsonl",
        lines.map(|line| line.to_string()).join("\n"),
    );
    for kind in ["", " --pairs", " --clusters"] {
        let found = run(
            &crawl,
            &format!("dedup corpus.jsonl --report report.html{kind}"),
        );
        assert_eq!(found.code, Some(0), "{found:?}");
        let page = fs::read_to_string(crawl.directory().join("report.html")).unwrap();
        for part in [
            "3 documents: ",
            "with the same bytes<td>1",
            "&lt;b&gt;original&lt;/b&gt;",
            "Resemblance of near duplicates",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<b>") && !page.contains("<script"), "{page}");
    }
}

/// Returns the ids of a JSON Lines file.
fn ids_in(crawl: &Crawl, name: &str) -> Vec<String> {
    let text = fs::read_to_string(crawl.directory().join(name)).unwrap();
    let ids = text.lines().map(|line| {
        let document: Value = serde_json::from_str(line).unwrap();
        document["id"].as_str().unwrap().to_owned()
    });
    ids.collect()
}

#[test]
fn the_documents_that_repeat_no_earlier_one_are_kept_as_they_are() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..60);
    let removed: Vec<String> = run(&crawl, "dedup corpus.jsonl")
        .json_lines()
        .iter()
        .map(|line| line["document"].as_str().unwrap().to_owned())
        .collect();
    assert!(!removed.is_empty());
    let mut expected = ids_in(&crawl, "corpus.jsonl");
    expected.retain(|id| !removed.contains(id));

    let kept = run(&crawl, "dedup corpus.jsonl --keep kept.jsonl");
    assert_eq!((kept.code, kept.output.as_str()), (Some(0), ""), "{kept:?}");
    assert_eq!(ids_in(&crawl, "kept.jsonl"), expected);
    let sentence = format!("{} of 60 documents kept in kept.jsonl", expected.len());
    assert!(kept.errors.contains(&sentence), "{kept:?}");
    let lines = fs::read_to_string(crawl.directory().join("corpus.jsonl")).unwrap();
    let kept_lines = fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap();
    assert!(
        kept_lines
            .lines()
            .all(|line| lines.lines().any(|other| other == line))
    );

    // What is kept repeats nothing, and findings are printed if they are asked for.
    let again = run(&crawl, "dedup kept.jsonl --keep again.jsonl --format json");
    assert_eq!(again.output, "");
    assert_eq!(ids_in(&crawl, "again.jsonl"), expected);
    let both = run(&crawl, "dedup corpus.jsonl --keep kept.jsonl --format json");
    assert_eq!(both.json_lines().len(), removed.len());

    // From shards, and against a reference that has half of it.
    for shard in 1..=2 {
        let shard = format!("--shard {shard}/2 --signatures {shard}.sig");
        run(&crawl, &format!("dedup corpus.jsonl {shard}"));
    }
    run(
        &crawl,
        "dedup corpus.jsonl --keep merged.jsonl --merge 1.sig 2.sig",
    );
    assert_eq!(ids_in(&crawl, "merged.jsonl"), expected);
    write_corpus(&crawl, "known.jsonl", 0..30);
    run(
        &crawl,
        "dedup corpus.jsonl --against known.jsonl --keep new.jsonl",
    );
    let known = ids_in(&crawl, "known.jsonl");
    expected.retain(|id| !known.contains(id));
    assert_eq!(ids_in(&crawl, "new.jsonl"), expected);
}

/// Signatures of another corpus would keep other documents than those that were compared.
#[test]
fn nothing_is_kept_of_a_corpus_that_is_not_the_one_that_was_compared() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..30);
    run(
        &crawl,
        "dedup corpus.jsonl --shard 1/1 --signatures whole.sig",
    );
    write_corpus(&crawl, "corpus.jsonl", 1..31);
    let refused = run(
        &crawl,
        "dedup corpus.jsonl --keep kept.jsonl --merge whole.sig",
    );
    refused.assert_error(2, "signatures of another corpus");
    assert!(!crawl.directory().join("kept.jsonl").exists());
    run(&crawl, "dedup --keep kept.jsonl --merge whole.sig").assert_error(2, "<PATH>");
}

#[test]
fn findings_are_a_table_if_their_file_is_named_so() {
    let crawl = Crawl::bare();
    write_corpus(&crawl, "corpus.jsonl", 0..30);
    for (kind, name, magic) in [
        ("", "found.parquet", "PAR1"),
        (" --pairs", "pairs.arrow", "ARROW1"),
        (" --clusters", "clusters.feather", "ARROW1"),
    ] {
        let found = run(&crawl, &format!("dedup corpus.jsonl{kind} -o {name}"));
        assert_eq!(found.code, Some(0), "{found:?}");
        let bytes = fs::read(crawl.directory().join(name)).unwrap();
        assert!(bytes.starts_with(magic.as_bytes()), "{name}");
    }
    // A table of findings is itself a table of documents.
    let duplicates = run(&crawl, "dedup corpus.jsonl").json_lines().len();
    let read = run(
        &crawl,
        "dedup found.parquet --text-field duplicate_of --id-field document --min-words 1",
    );
    assert!(
        read.errors.starts_with(&format!("{duplicates} documents")),
        "{read:?}"
    );
    let refused = run(&crawl, "dedup corpus.jsonl --format parquet");
    refused.assert_error(2, "--format parquet needs a file");
    let refused = run(
        &crawl,
        "dedup corpus.jsonl --unit line --format arrow -o lines.arrow",
    );
    refused.assert_error(2, "--format arrow supports documents");
}
