//! `fingerprint --output`, `query`, and `similar` on files.

use serde_json::{Value, json};

use crate::support::Crawl;
use crate::support::pages::prose;

/// A collection of ten documents, of which `3` and `7` are nearly one text, and two new ones.
fn collection() -> Crawl {
    let crawl = Crawl::bare();
    let mut lines = String::new();
    for number in 0..10 {
        let text = match number {
            7 => format!("{} one word more", prose(3, 500)),
            _ => prose(number, 500),
        };
        lines += &json!({"id": number.to_string(), "text": text}).to_string();
        lines.push('\n');
    }
    crawl.write("corpus.jsonl", lines);
    crawl.write("near.txt", prose(3, 500));
    crawl.write("far.txt", prose(99, 500));
    crawl
}

/// Writes the fingerprints of the collection and of the two new documents.
fn fingerprinted() -> Crawl {
    let crawl = collection();
    let write = |arguments: &[&str]| {
        let run = crawl.run_command(&[&["fingerprint"], arguments].concat());
        assert_eq!((run.code, run.output.as_str()), (Some(0), ""), "{run:?}");
        run.errors
    };
    let said = write(&["corpus.jsonl", "-o", "corpus.fp"]);
    assert_eq!(said, "10 fingerprints in corpus.fp\n");
    write(&["near.txt", "far.txt", "-o", "new.fp"]);
    crawl
}

#[test]
fn documents_near_a_new_one_are_listed_with_their_ids_in_the_order_of_the_repository() {
    let crawl = fingerprinted();
    let run = crawl.run_command(&["query", "new.fp", "corpus.fp"]);
    let found = run.json_lines();
    assert_eq!(run.errors, "2 matches of 2 queries among 10 fingerprints\n");
    assert_eq!(
        found[0],
        json!({"query": "near.txt", "document": "3", "distance": 0})
    );
    assert_eq!(found[1]["document"], "7");
    let apart = found[1]["distance"].as_u64().unwrap();
    assert!((1..=3).contains(&apart), "{found:?}");
    let strict = ["query", "new.fp", "corpus.fp", "--distance", "0", "--quiet"];
    assert_eq!(crawl.json_lines(&strict).len(), 1);
    let table = ["query", "new.fp", "corpus.fp", "--format", "table", "-q"];
    let table = crawl.run_command(&table).output;
    assert!(
        table.starts_with(" 0 bits  3  matches  near.txt\n"),
        "{table}"
    );
}

/// Whoever asked for many documents had to sort the matches of each one out of the order of the
/// repository.
#[test]
fn matches_are_grouped_by_query_on_wish_the_nearest_first() {
    let crawl = fingerprinted();
    let query = |options: &[&str]| {
        let arguments = ["query", "corpus.fp", "corpus.fp", "--distance", "7"];
        crawl.json_lines(&[&arguments, options].concat())
    };
    let mut expected = query(&[]);
    // A stable sort: equally near ones stay in the order of the repository.
    expected.sort_by_key(|line| {
        let number: u32 = line["query"].as_str().unwrap().parse().unwrap();
        (number, line["distance"].as_u64())
    });
    assert!(expected.len() >= 12, "{expected:?}");
    assert_eq!(query(&["--by-query"]), expected);
    assert_eq!(query(&["--by-query", "--memory", "64KiB"]), expected);
    let shard = [
        "query",
        "corpus.fp",
        "corpus.fp",
        "--by-query",
        "--shard",
        "1/2",
    ];
    crawl.run_command(&shard).assert_error(2, "--by-query");
}

#[test]
fn the_pairs_within_one_file_are_listed_in_its_order() {
    let crawl = fingerprinted();
    let run = crawl.run_command(&["query", "corpus.fp"]);
    let pairs = run.json_lines();
    assert_eq!(run.errors, "1 pair among 10 fingerprints\n");
    assert_eq!((&pairs[0]["a"], &pairs[0]["b"]), (&json!("3"), &json!("7")));
    let table = ["query", "corpus.fp", "--format", "table", "--quiet"];
    let table = crawl.run_command(&table).output;
    assert!(table.ends_with(" bits  3  and  7\n"), "{table}");
    crawl
        .run_command(&["query", "corpus.fp", "--shard", "1/2"])
        .assert_error(2, "REPOSITORY");
}

/// Documents of one word, so that there are blocks enough for shards.
#[test]
fn the_outputs_of_all_shards_concatenated_are_the_output_of_one_run() {
    let crawl = Crawl::bare();
    let lines: String = (0..140_000)
        .map(|number| {
            format!(
                "{{\"id\":\"{number}\",\"text\":\"word{}\"}}\n",
                number % 70_000
            )
        })
        .collect();
    crawl.write("corpus.jsonl", lines);
    crawl.write(
        "new.jsonl",
        "{\"id\":\"a\",\"text\":\"word5\"}\n{\"id\":\"b\",\"text\":\"word69999\"}\n",
    );
    for (documents, file) in [("corpus.jsonl", "corpus.fp"), ("new.jsonl", "new.fp")] {
        let run = crawl.run_command(&["fingerprint", documents, "-o", file]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let query = |options: &[&str]| {
        let arguments = [
            &["query", "new.fp", "corpus.fp", "-q", "-o", "out"],
            options,
        ]
        .concat();
        let run = crawl.run_command(&arguments);
        assert_eq!((run.code, run.output.as_str()), (Some(0), ""), "{run:?}");
        std::fs::read_to_string(crawl.directory().join("out")).unwrap()
    };
    let whole = query(&[]);
    assert!(whole.lines().count() >= 4, "{whole}");
    for shards in 1..=4 {
        let parts: String = (1..=shards)
            .map(|number| query(&["--shard", &format!("{number}/{shards}")]))
            .collect();
        assert_eq!(parts, whole, "{shards} shards");
    }
}

#[test]
fn fingerprints_made_differently_are_refused_by_the_parts_that_differ() {
    let crawl = fingerprinted();
    let make = |options: &[&str]| {
        let arguments = [&["fingerprint", "near.txt", "-o", "other.fp"], options].concat();
        assert_eq!(crawl.run_command(&arguments).code, Some(0));
    };
    for (options, differing) in [
        (
            &["--features", "word:3", "--bits", "32"][..],
            "features (word:3+log-tf and word:1+log-tf), bits (32 and 64)",
        ),
        (&["--stop-words", "en"], "stop words ("),
        (
            &["--weights", "tf"],
            "features (word:1+tf and word:1+log-tf)",
        ),
    ] {
        make(options);
        let refused = crawl.run_command(&["query", "other.fp", "corpus.fp"]);
        refused.assert_error(2, &format!("other.fp and corpus.fp differ in {differing}"));
    }
    // Another shingle of resemblance makes no other fingerprint.
    make(&["--features", "word:1"]);
    let found = crawl.run_command(&["query", "other.fp", "corpus.fp"]);
    assert_eq!(found.json_lines().len(), 2);
    let similar = ["similar", "corpus.fp", "near.txt", "--bits", "32"];
    crawl
        .run_command(&similar)
        .assert_error(2, "do not match the given options: bits (64 and 32)");
}

#[test]
fn files_that_are_no_fingerprints_or_have_the_names_of_others_are_refused() {
    let crawl = fingerprinted();
    let refused = |arguments: &[&str], words: &str| {
        crawl
            .run_command(&[&["query"], arguments].concat())
            .assert_error(2, words);
    };
    refused(
        &["near.txt", "corpus.fp"],
        "near.txt is not a file of fingerprints",
    );
    refused(&["new.fp", "missing.fp"], "missing.fp");
    refused(&["new.fp", "corpus.fp", "--shard", "3/2"], "3/2");
    refused(
        &["new.fp", "corpus.fp", "--distance", "8"],
        "between 0 and 7",
    );
    let directory = crawl.directory();
    let (mine, theirs) = (
        directory.join("corpus.fp.names"),
        directory.join("new.fp.names"),
    );
    let own = std::fs::read(&mine).unwrap();
    std::fs::copy(theirs, &mine).unwrap();
    refused(
        &["new.fp", "corpus.fp"],
        "corpus.fp.names does not contain the names",
    );
    // A name too many.
    std::fs::write(&mine, [&own[..], b"\"more\"\n"].concat()).unwrap();
    refused(
        &["new.fp", "corpus.fp"],
        "corpus.fp.names does not contain the names",
    );
    std::fs::remove_file(&mine).unwrap();
    let numbered = crawl.json_lines(&["query", "new.fp", "corpus.fp"]);
    assert_eq!(
        (&numbered[0]["document"], &numbered[1]["document"]),
        (&json!(3), &json!(7))
    );
    let mut damaged = std::fs::read(directory.join("corpus.fp")).unwrap();
    damaged[80] ^= 1;
    std::fs::write(directory.join("corpus.fp"), damaged).unwrap();
    let run = crawl.run_command(&["query", "new.fp", "corpus.fp"]);
    run.assert_error(1, "corpus.fp is damaged");
}

#[test]
fn an_unreadable_document_is_reported_and_the_rest_is_written() {
    let crawl = Crawl::bare();
    crawl.write("lines.jsonl", "{\"id\":\"a\",\"text\":\"one\"}\n{broken\n");
    let run = crawl.run_command(&["fingerprint", "lines.jsonl", "-o", "lines.fp"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.errors.contains("1 fingerprint in lines.fp, 1 skipped"),
        "{run:?}"
    );
    let found = crawl.json_lines(&["query", "lines.fp", "lines.fp"]);
    assert_eq!(
        found,
        [json!({"query": "a", "document": "a", "distance": 0})]
    );
    crawl
        .run_command(&["fingerprint", "lines.jsonl", "-o", "."])
        .assert_error(2, "it is not a file");
    crawl
        .run_command(&["fingerprint", "lines.jsonl", "-o", "missing/lines.fp"])
        .assert_error(2, "missing/lines.fp");
}

#[test]
fn documents_of_a_collection_are_listed_by_their_exact_resemblance() {
    let crawl = collection();
    let similar = |options: &[&str]| {
        let arguments = [&["similar", "corpus.jsonl", "near.txt"], options].concat();
        crawl.json_lines(&arguments)
    };
    let found = similar(&[]);
    let documents: Vec<&Value> = found.iter().map(|hit| &hit["document"]).collect();
    assert_eq!(documents, ["3", "7"]);
    assert_eq!(
        (&found[0]["distance"], &found[0]["resemblance"]),
        (&json!(0), &json!(1.0))
    );
    // 496 shingles of five words, and three more in the other.
    assert_eq!(found[1]["resemblance"], json!(496.0 / 499.0));
    assert_eq!(similar(&["--top", "1"]).len(), 1);
    assert_eq!(similar(&["--all", "--resemblance", "0"]).len(), 10);
    assert_eq!(similar(&["--distance", "0"]).len(), 1);
    crawl.write(
        "short.jsonl",
        "{\"id\":\"x\",\"text\":\"a rose is a rose\"}\n",
    );
    crawl.write("rose.txt", "a rose is a flower");
    let short = ["similar", "short.jsonl", "rose.txt", "--features", "word:3"];
    let short = [&short[..], &["--resemblance", "0.5"]].concat();
    assert_eq!(crawl.json_lines(&short)[0]["resemblance"], 0.5);
}

#[test]
fn a_similar_document_is_listed_with_the_fact_that_makes_it_distinct() {
    let crawl = collection();
    let text = |size: u32| {
        format!(
            "The committee met on Tuesday, and approved the new bridge over the river.\n\
             It will be built in three years; the ferry runs until the last cable hangs.\n\
             Those who live near the pier asked for quiet hours. The council agreed.\n\
             An image needs {size} MB of memory.\n"
        )
    };
    std::fs::create_dir(crawl.directory().join("installed")).unwrap();
    crawl.write("installed/new.txt", text(780));
    crawl.write("installed/copy.txt", format!("{}\n", text(260)));
    crawl.write("old.txt", text(260));
    let similar = ["similar", "installed", "old.txt"];
    let found = crawl.json_lines(&similar);
    let said = |hit: &Value| {
        let difference = hit["difference"].as_str().unwrap_or_default().to_owned();
        (hit["texts"].as_str().unwrap().to_owned(), difference)
    };
    assert_eq!(
        found.iter().map(said).collect::<Vec<_>>(),
        [
            ("repeat".to_owned(), String::new()),
            (
                "distinct".to_owned(),
                "a number differs: 260 here, 780 there".to_owned()
            )
        ]
    );
    let table = crawl.run_command(&[&similar[..], &["--format", "table"]].concat());
    let shown = "new.txt  (distinct: a number differs: 260 here, 780 there)\n";
    assert!(table.output.ends_with(shown), "{table:?}");
}

#[test]
fn fingerprints_of_a_file_are_listed_by_distance() {
    let crawl = fingerprinted();
    let similar = ["similar", "corpus.fp", "near.txt"];
    let found = crawl.json_lines(&similar);
    assert_eq!(found.len(), 10, "at any distance");
    assert_eq!(
        found[0],
        json!({"document": "3", "distance": 0, "resemblance": null})
    );
    let distances = found.iter().map(|hit| hit["distance"].as_u64());
    assert!(distances.is_sorted());
    let within = [&similar[..], &["--distance", "3", "--all"]].concat();
    assert_eq!(crawl.json_lines(&within).len(), 2);
    let resemblance = [&similar[..], &["--resemblance", "0.5"]].concat();
    crawl
        .run_command(&resemblance)
        .assert_error(2, "--resemblance needs texts");
}

/// A query for one document read a hundred million fingerprints, because the repository was always
/// streamed whole.
#[test]
fn an_index_gives_the_output_of_the_file_byte_for_byte() {
    let crawl = fingerprinted();
    let run = crawl.run_command(&["query", "corpus.fp", "--save-index", "corpus.fpi"]);
    assert_eq!((run.code, run.output.as_str()), (Some(0), ""), "{run:?}");
    let said = "10 fingerprints indexed in corpus.fpi (";
    assert!(run.errors.starts_with(said), "{run:?}");
    for options in [
        &[][..],
        &["--by-query"],
        &["--distance", "0"],
        &["--distance", "7", "--by-query", "--format", "table"],
        &["--shard", "1/2"],
        &["--shard", "2/2", "--format", "table"],
    ] {
        for queries in ["new.fp", "corpus.fp"] {
            let [streamed, probed] = ["corpus.fp", "corpus.fpi"].map(|repository| {
                let run = crawl.run_command(&[&["query", queries, repository], options].concat());
                assert_eq!(run.code, Some(0), "{run:?}");
                (run.output, run.errors)
            });
            assert_eq!(streamed, probed, "{options:?}");
        }
    }
    let [streamed, probed] = ["corpus.fp", "corpus.fpi"].map(|within| {
        let run = crawl.run_command(&["similar", within, "near.txt", "--distance", "7"]);
        run.json_lines()
    });
    assert_eq!(streamed, probed);
    assert_eq!(streamed.len(), 2);
    crawl
        .run_command(&["similar", "corpus.fpi", "near.txt"])
        .assert_error(2, "supports at most 7 bits");
}

#[test]
fn an_index_keeps_the_names_with_which_it_was_made() {
    let crawl = fingerprinted();
    let path = |name: &str| crawl.directory().join(name);
    let save = || {
        let run = crawl.run_command(&["query", "corpus.fp", "--save-index", "corpus.fpi", "-q"]);
        assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
    };
    let found = || crawl.json_lines(&["query", "new.fp", "corpus.fpi"]);
    save();
    let expected = found();
    assert_eq!(expected[1]["document"], "7");
    // Other documents under the same names of files.
    let run = crawl.run_command(&["fingerprint", "far.txt", "-o", "corpus.fp"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(found(), expected);
    // Without names an index has numbers, and not the names of an earlier one.
    std::fs::remove_file(path("corpus.fp.names")).unwrap();
    save();
    assert!(!path("corpus.fpi.names").exists());
    assert_eq!(
        found(),
        [json!({"query": "far.txt", "document": 0, "distance": 0})]
    );
}

/// The second run left its draft of the names: they were links to one file already, and renaming
/// one to the other does nothing.
#[test]
fn an_index_that_is_written_again_leaves_no_draft() {
    let crawl = fingerprinted();
    for _ in 0..2 {
        let run = crawl.run_command(&["query", "corpus.fp", "--save-index", "corpus.fpi"]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let files = std::fs::read_dir(crawl.directory()).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.find(|name| name.contains(".part")), None);
}

#[test]
fn an_index_that_cannot_be_used_is_named_with_the_reason() {
    let crawl = fingerprinted();
    let save = ["query", "corpus.fp", "--save-index"];
    let run = |arguments: &[&str]| crawl.run_command(arguments);
    let saved = run(&[&save[..], &["corpus.fpi"]].concat());
    assert_eq!(saved.code, Some(0), "{saved:?}");
    run(&["query", "corpus.fpi"]).assert_error(2, "corpus.fpi is an index");
    run(&["query", "corpus.fpi", "corpus.fp"]).assert_error(2, "corpus.fpi is an index");
    run(&[&save[..], &["corpus.fp"]].concat()).assert_error(2, "the file of fingerprints to index");
    run(&[&save[..], &["missing/corpus.fpi"]].concat()).assert_error(2, "missing/corpus.fpi");
    run(&[&save[..], &["a", "-o", "b"]].concat()).assert_error(2, "--output");
    run(&["query", "new.fp", "corpus.fpi", "--distance", "8"]).assert_error(2, "between 0 and 7");
    let short = ["fingerprint", "near.txt", "--bits", "32", "-o", "short.fp"];
    assert_eq!(run(&short).code, Some(0));
    run(&["query", "short.fp", "corpus.fpi"]).assert_error(2, "differ in bits (32 and 64)");
    let path = crawl.directory().join("corpus.fpi");
    let bytes = std::fs::read(&path).unwrap();
    for (changed, code, words) in [
        (bytes[..bytes.len() - 4_096].to_vec(), 2, "length differs"),
        (flipped(&bytes, 8), 2, "version 0"),
        (
            flipped(&bytes, 20),
            2,
            "the checksum of its header is wrong",
        ),
        (
            flipped(&bytes, 4_096 + 20),
            1,
            "the checksum of a block is wrong",
        ),
    ] {
        std::fs::write(&path, changed).unwrap();
        let run = run(&["query", "new.fp", "corpus.fpi"]);
        run.assert_error(code, words);
        run.assert_error(code, "corpus.fpi");
        assert_eq!(run.output, "", "{words}");
    }
}

/// Returns the bytes with the lowest bit of one changed.
fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at] ^= 1;
    changed
}
