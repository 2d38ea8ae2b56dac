//! Output files of commands that do not reach their end: nothing half is left of them.

use batch::{FingerprintWriter, ParametersDigest};
use neardup::{Features, Fingerprint, HashKey};
use serde_json::json;

use crate::support::Crawl;
use crate::support::pages::prose;

/// Returns JSON lines of this many documents.
fn corpus(documents: u64) -> String {
    let line = |number: u64| format!("{}\n", json!({"id": number, "text": prose(number, 40)}));
    (0..documents).map(line).collect()
}

/// Returns the names of the files in the working directory, sorted.
fn files(crawl: &Crawl) -> Vec<String> {
    let entries = std::fs::read_dir(crawl.directory()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Starts a command that waits for more of its input, waits for these drafts, sends a signal, and
/// checks the exit code and that only the files from before are left.
fn is_left_nothing(arguments: &[&str], drafts: &[&str], signal: &str, code: i32) {
    let crawl = Crawl::bare();
    crawl.write("earlier", "1");
    let (running, _input) = crawl.start_command_with_open_input(arguments, corpus(3));
    while !drafts
        .iter()
        .all(|draft| crawl.directory().join(draft).exists())
    {
        std::thread::yield_now();
    }
    running.signal(signal);
    let run = running.end();
    assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
    assert!(
        run.errors.contains("unfinished files are removed"),
        "{run:?}"
    );
    assert_eq!(files(&crawl), ["earlier"], "{arguments:?}, {signal}");
}

#[test]
fn an_interrupted_fingerprint_leaves_neither_fingerprints_nor_names() {
    let drafts = ["corpus.fp.part", "corpus.fp.names.part"];
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        is_left_nothing(
            &["fingerprint", "-", "-o", "corpus.fp"],
            &drafts,
            signal,
            code,
        );
    }
}

#[test]
fn an_interrupted_dedup_leaves_neither_findings_nor_an_index() {
    let arguments = [
        "dedup",
        "-",
        "-o",
        "found.jsonl",
        "--save-index",
        "known.sig",
    ];
    is_left_nothing(
        &arguments,
        &["found.jsonl.part", "known.sig.part"],
        "TERM",
        143,
    );
    let arguments = ["dedup", "-", "-o", "found.parquet"];
    is_left_nothing(&arguments, &["found.parquet.part"], "INT", 130);
}

/// Three million fingerprints take a second to index.
#[test]
fn an_index_that_is_interrupted_or_killed_leaves_the_earlier_one() {
    let crawl = Crawl::bare();
    let parameters_digest = ParametersDigest::new(Features::default(), HashKey::ZERO);
    let path = crawl.directory().join("corpus.fp");
    let mut writer = FingerprintWriter::create(path, parameters_digest, false).unwrap();
    for number in 0..3_000_000_u64 {
        let bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        writer.push(Fingerprint::new(bits), 0).unwrap();
    }
    writer.finish().unwrap();
    crawl.write("corpus.fpi", "earlier");
    for (signal, code, left) in [
        ("TERM", Some(143), &["corpus.fp", "corpus.fpi"][..]),
        (
            "KILL",
            None,
            &["corpus.fp", "corpus.fpi", "corpus.fpi.part"],
        ),
    ] {
        let running = crawl.start_command(&["query", "corpus.fp", "--save-index", "corpus.fpi"]);
        while !crawl.directory().join("corpus.fpi.part").exists() {
            std::thread::yield_now();
        }
        running.signal(signal);
        assert_eq!(running.end().code, code, "{signal}");
        assert_eq!(files(&crawl), left);
        let kept = std::fs::read(crawl.directory().join("corpus.fpi")).unwrap();
        assert_eq!(kept, b"earlier", "{signal}");
    }
}

#[test]
fn a_signal_that_was_ignored_from_the_start_stays_ignored() {
    let crawl = Crawl::bare();
    crawl.write("corpus.jsonl", corpus(3));
    let script = "trap '' INT; kill -INT $$; exec \"$0\" \"$@\"";
    let arguments = ["fingerprint", "corpus.jsonl", "-o", "corpus.fp"];
    let run = crawl.run_command_by("sh", script, &arguments);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn the_drafts_of_a_killed_run_are_overwritten_by_the_next() {
    let crawl = Crawl::bare();
    crawl.write("corpus.jsonl", corpus(30));
    let done = |arguments: &[&str]| {
        let run = crawl.run_command(arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    };
    done(&["fingerprint", "corpus.jsonl", "-o", "expected.fp"]);
    let longer = "what a kill has left ".repeat(10_000);
    for draft in [
        "corpus.fp.part",
        "corpus.fp.names.part",
        "corpus.fpi.part",
        "corpus.fpi.names.part",
        "kept.jsonl.part",
        "known.sig.part",
    ] {
        crawl.write(draft, &longer);
    }
    done(&["fingerprint", "corpus.jsonl", "-o", "corpus.fp"]);
    done(&["query", "corpus.fp", "--save-index", "expected.fpi"]);
    done(&["query", "corpus.fp", "--save-index", "corpus.fpi"]);
    let keep = ["--keep", "kept.jsonl", "--save-index", "known.sig"];
    done(&[&["dedup", "corpus.jsonl"], &keep[..]].concat());
    let read = |name: &str| std::fs::read(crawl.directory().join(name)).unwrap();
    assert!(read("corpus.fp") == read("expected.fp"));
    assert!(read("corpus.fp.names") == read("expected.fp.names"));
    assert!(read("corpus.fpi") == read("expected.fpi"));
    assert!(read("corpus.fpi.names") == read("expected.fp.names"));
    assert!(read("kept.jsonl") == read("corpus.jsonl"));
    assert!(!files(&crawl).iter().any(|name| name.contains(".part")));
}

/// A directory is replaced only if it bears the mark of a run, so that a directory of the user's
/// with this name stays.
#[test]
fn the_directory_of_a_killed_keep_is_replaced_and_that_of_another_is_not() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", prose(1, 60));
    let ask = ["dedup", "a.txt", "--keep", "kept/"];
    std::fs::create_dir(crawl.directory().join("kept.part")).unwrap();
    crawl.write("kept.part/theirs.txt", "1");
    crawl.run_command(&ask).assert_error(1, "kept");
    assert!(crawl.directory().join("kept.part/theirs.txt").exists());
    crawl.write("kept.part/.crawler-unfinished", "");
    let run = crawl.run_command(&ask);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(files(&crawl), ["a.txt", "kept"]);
    let kept = std::fs::read_dir(crawl.directory().join("kept")).unwrap();
    let names: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"]);
}

#[test]
fn a_full_disk_leaves_nothing_half_of_any_output() {
    let crawl = Crawl::bare();
    crawl.write("corpus.jsonl", corpus(200));
    let index = Crawl::bare();
    index.write("corpus.jsonl", corpus(200));
    let made = index.run_command(&["fingerprint", "corpus.jsonl", "-o", "corpus.fp"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let save = ["query", "corpus.fp", "--save-index", "out"];
    let run = index.run_command_with_file_limit(1, &save);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(
        files(&index),
        ["corpus.fp", "corpus.fp.names", "corpus.jsonl"]
    );
    for arguments in [
        &["fingerprint", "corpus.jsonl", "-o", "out"][..],
        &["frequencies", "corpus.jsonl", "-o", "out"],
        &["dedup", "corpus.jsonl", "--keep", "out"],
        &["dedup", "corpus.jsonl", "--save-index", "out"],
        &["dedup", "corpus.jsonl", "--report", "out"],
        &[
            "dedup",
            "corpus.jsonl",
            "--pairs",
            "--resemblance=0",
            "-o",
            "out",
        ],
    ] {
        let run = crawl.run_command_with_file_limit(1, arguments);
        assert!(matches!(run.code, Some(1 | 2)), "{arguments:?}: {run:?}");
        assert_eq!(files(&crawl), ["corpus.jsonl"], "{arguments:?}");
    }
}
