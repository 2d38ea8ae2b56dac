//! Files and directories as other programs write them, as the commands on files read them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use batch::dedup::FindingKind;
use corpus::{IdRanges, ResultTable, TableFormat};
use serde_json::{Value, json};
use testkit::Pdf;

use crate::support::foreign_warc::gzip;
use crate::support::pages::prose;
use crate::support::{Crawl, root};

fn line(id: impl serde::Serialize, text: &str) -> String {
    format!("{}\n", json!({"id": id, "text": text}))
}

/// Three documents, of which the last repeats the first.
fn three() -> String {
    let [one, two] = [prose(1, 60), prose(2, 60)];
    line(1, &one) + &line(2, &two) + &line(3, &one)
}

fn in_utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

/// The file with what a command is given as standard input.
const INPUT: &str = "standard-input";

/// A form of input: its name in the guide, and what makes it in a directory.
type Form = (&'static str, &'static str, fn(&Path));

/// The forms in the table of docs/guide/files.md, each with the path that the commands are given.
fn forms() -> Vec<Form> {
    vec![
        (
            "JSON lines named `part-00000`, `items.jl`, `data.jsonl.1`",
            "part-00000",
            |path| {
                fs::write(path, three()).unwrap();
            },
        ),
        ("several JSON lines named `data.txt`", "data.txt", |path| {
            fs::write(path, three()).unwrap();
        }),
        (
            "one JSON line named `data.txt`: a text",
            "data.txt",
            |path| {
                fs::write(path, line(1, "one")).unwrap();
            },
        ),
        ("JSON lines in UTF-16", "a.jsonl", |path| {
            fs::write(path, in_utf16(&three())).unwrap();
        }),
        ("a JSON array", "a.json", |path| {
            fs::write(path, "[{\"text\": \"one\"}]").unwrap();
        }),
        ("CSV", "a.csv", |path| {
            fs::write(path, "id,text\n1,one\n").unwrap();
        }),
        (
            "a line of three with `NaN`, or half a surrogate pair",
            "a.jsonl",
            |path| {
                let odd = r#"{"id": 4, "text": "four \ud83d", "score": NaN}"#;
                fs::write(path, line(1, "one") + odd + "\n" + &line(2, "two")).unwrap();
            },
        ),
        ("a line of three whose text is null", "a.jsonl", |path| {
            let null = r#"{"id": 4, "text": null}"#;
            fs::write(path, line(1, "one") + null + "\n" + &line(2, "two")).unwrap();
        }),
        ("a line of three that is no JSON", "a.jsonl", |path| {
            fs::write(path, line(1, "one") + "oops\n" + &line(2, "two")).unwrap();
        }),
        ("ids that are reals, lists or objects", "a.jsonl", |path| {
            let lines = line(1.0, "one") + &line([2], "two") + &line(json!({"$oid": "3"}), "three");
            fs::write(path, lines).unwrap();
        }),
        (
            "a gzip file that breaks off behind two lines",
            "a.jsonl.gz",
            |path| {
                let mut half = gzip(line(1, "one") + &line(2, "two"));
                half.extend(&gzip(three())[..5]);
                fs::write(path, half).unwrap();
            },
        ),
        (
            "a directory with `_SUCCESS`, `.crc` and README.md",
            "set",
            |path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join("part-0.jsonl"), three()).unwrap();
                for name in ["_SUCCESS", ".part-0.jsonl.crc", "README.md"] {
                    fs::write(path.join(name), "\0").unwrap();
                }
            },
        ),
        ("a directory with a link to a file", "set", |path| {
            fs::create_dir(path).unwrap();
            fs::write(path.with_file_name("blob"), three()).unwrap();
            symlink("../blob", path.join("a.jsonl")).unwrap();
        }),
        ("a directory with a link to a directory", "set", |path| {
            fs::create_dir(path).unwrap();
            fs::write(path.join("a.jsonl"), three()).unwrap();
            symlink(".", path.join("again")).unwrap();
        }),
        ("Parquet", "a.parquet", |path| {
            table(path, TableFormat::Parquet);
        }),
        ("an Arrow file", "a.arrow", |path| {
            table(path, TableFormat::Arrow);
        }),
        ("HTML, or any other text", "a.html", |path| {
            fs::write(path, "<p>one").unwrap();
        }),
        ("a PDF", "a.pdf", |path| {
            fs::write(path, Pdf::of(&[&prose(1, 60)]).bytes()).unwrap();
        }),
        ("a picture, an executable", "a.txt", |path| {
            fs::write(path, b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        }),
        ("an empty file", "a.jsonl", |path| {
            fs::write(path, "").unwrap();
        }),
        ("a link to a file", "a.jsonl", |path| {
            fs::write(path.with_file_name("blob"), three()).unwrap();
            symlink("blob", path).unwrap();
        }),
        ("JSON lines through `-`, in gzip", "-", |path| {
            fs::write(path.with_file_name(INPUT), gzip(three())).unwrap();
        }),
        (
            "JSON lines through a pipe (`<(…)`, `/dev/stdin`)",
            "/dev/stdin",
            |path| {
                fs::write(path.with_file_name(INPUT), three()).unwrap();
            },
        ),
        ("a directory with a picture", "set", |path| {
            fs::create_dir(path).unwrap();
            fs::write(path.join("a.jsonl"), three()).unwrap();
            fs::write(path.join("b.png"), b"\x89PNG\r\n\x1a\n\0\0").unwrap();
        }),
    ]
}

/// Writes three rows.
fn table(path: &Path, format: TableFormat) {
    let (kind, ids) = (FindingKind::Duplicates, IdRanges::default());
    let mut table = ResultTable::create(path, format, kind, ids).unwrap();
    for number in 1..4 {
        let text = prose(number, 60);
        table
            .write_pair(&number.to_string().into(), &text.into(), 0, 0.0, "words")
            .unwrap();
    }
    table.finish().unwrap();
}

/// Returns the outcome of a command: the number of documents, and the exit code unless it is 0.
fn outcome(documents: usize, code: Option<i32>) -> String {
    match (documents, code) {
        (0, Some(code)) => format!("refused, code {code}"),
        (1, Some(0)) => "1 document".to_owned(),
        (some, Some(0)) => format!("{some} documents"),
        (some, code) => format!("{some} documents, code {}", code.unwrap_or(-1)),
    }
}

/// The guide said that nothing is left out silently, and each of these was, with exit code 0.
#[test]
fn the_table_of_the_guide_is_what_the_commands_do() {
    let guide = fs::read_to_string(root().join("docs/guide/files.md")).unwrap();
    let mut missing = Vec::new();
    for (form, name, make) in forms() {
        let crawl = Crawl::bare();
        make(&crawl.directory().join(name.trim_start_matches("/dev/")));
        let input = fs::read(crawl.directory().join(INPUT));
        let is_table = [".parquet", ".arrow"].iter().any(|end| name.ends_with(end));
        let run = |command: &str, more: &[&str]| {
            let mut arguments = [&[command, name][..], more].concat();
            if is_table {
                arguments.extend(["--text-field", "duplicate_of"]);
            }
            match &input {
                Ok(input) => crawl.run_command_with_input(&arguments, input),
                Err(_) => crawl.run_command(&arguments),
            }
        };
        // "1 document:", "2 of 3 documents kept"
        let counted = |errors: &str, end: &str| {
            let of_line = |line: &str| {
                let (count, rest) = line.split_once(" document")?;
                let is_count = rest.strip_prefix('s').unwrap_or(rest).starts_with(end);
                is_count.then(|| count.split(' ').next()?.parse().ok())?
            };
            errors.lines().find_map(of_line).unwrap_or(0)
        };
        let dedup = run("dedup", &[]);
        let found = outcome(counted(&dedup.errors, ":"), dedup.code);
        let keep = run("dedup", &["--keep", "kept"]);
        let kept = outcome(counted(&keep.errors, " kept"), keep.code);
        let [extract, fingerprint] = ["extract", "fingerprint"].map(|command| {
            let run = run(command, &[]);
            outcome(run.output.lines().count(), run.code)
        });
        let row = format!("| {form} | {found} | {kept} | {extract} | {fingerprint} |");
        if !guide.contains(&row) {
            missing.push(row);
        }
    }
    let missing = missing.join("\n");
    assert!(missing.is_empty(), "not in docs/guide/files.md:\n{missing}");
}

/// A corpus of 2,000 lines in half a gzip file became one of 997, and the run was a success.
#[test]
fn a_lost_part_of_the_input_is_no_success_and_the_rest_is_written() {
    let crawl = Crawl::bare();
    let lines: String = (0..2_000).map(|n| line(n, &prose(n, 30))).collect();
    let whole = gzip(&lines);
    crawl.write("half.jsonl.gz", &whole[..whole.len() / 2]);
    for command in [
        &["dedup", "half.jsonl.gz", "--keep", "kept.jsonl"][..],
        &[
            "dedup",
            "half.jsonl.gz",
            "--unit",
            "line",
            "--min-words",
            "99",
        ],
        &["extract", "half.jsonl.gz"],
        &["fingerprint", "half.jsonl.gz"],
        &["frequencies", "half.jsonl.gz", "-o", "-"],
    ] {
        let run = crawl.run_command(command);
        assert_eq!(run.code, Some(2), "{command:?} {}", run.errors);
        let closing = "the result is incomplete: 1 part of the input could not be read";
        assert!(run.errors.contains(closing), "{command:?} {}", run.errors);
    }
    let kept = fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap();
    assert!(lines.starts_with(&kept) && kept.lines().count() > 500);
}

/// A pipe was opened twice, so that the writer of a named one got no reader and both hung.
#[test]
fn pipes_are_read_like_standard_input() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", three());
    let script = "mkfifo pipe; cat a.jsonl > pipe & exec \"$0\" \"$@\"";
    for arguments in [
        &["dedup", "pipe"][..],
        &["dedup", "pipe", "--keep", "kept.jsonl"],
    ] {
        let run = crawl.run_command_by("sh", script, arguments);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.errors.starts_with("3 documents: 1 repeats"), "{run:?}");
        fs::remove_file(crawl.directory().join("pipe")).unwrap();
    }
    let kept = fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
}

/// `-o -` wrote a file that is called `-`, and the pipe got nothing.
#[test]
fn a_dash_is_standard_output_or_refused() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", three());
    let run = crawl.run_command(&["dedup", "a.jsonl", "--keep", "-"]);
    assert_eq!(
        (run.code, run.output.lines().count()),
        (Some(0), 2),
        "{run:?}"
    );
    assert!(
        run.errors.contains("documents kept in standard output"),
        "{run:?}"
    );
    let run = crawl.run_command(&["dedup", "a.jsonl", "--output", "-"]);
    assert_eq!(
        (run.code, run.output.lines().count()),
        (Some(0), 1),
        "{run:?}"
    );
    for option in ["--save-index", "--report", "--signatures"] {
        let run = crawl.run_command(&["dedup", "a.jsonl", option, "-"]);
        run.assert_error(2, &format!("{option} - is no file"));
    }
    let both = ["dedup", "a.jsonl", "--keep", "-", "--output", "-"];
    crawl
        .run_command(&both)
        .assert_error(2, "both --keep and the findings");
    let run = crawl.run_command(&["fingerprint", "a.jsonl", "-o", "-"]);
    run.assert_error(2, "--output - is no file");
    for name in ["a.csv", "a.jsonl.gz"] {
        let run = crawl.run_command(&["dedup", "a.jsonl", "-o", name]);
        run.assert_error(2, "cannot write findings in the format of");
    }
    assert!(!crawl.directory().join("-").exists());
}

/// `return a - b` was cut out of a program because another one had `return a + b`, and nothing in
/// the findings told `C++` and `C#` apart.
#[test]
fn signs_tell_lines_apart_and_findings_have_their_measure() {
    let crawl = Crawl::bare();
    let lines = line(1, "return a + b\nAll rights reserved.\n-- menu --")
        + &line(2, "return a - b\nALL RIGHTS RESERVED\n-- Menu --");
    crawl.write("a.jsonl", lines);
    let run = crawl.run_command(&["dedup", "a.jsonl", "--unit", "line", "--keep", "b.jsonl"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let kept = fs::read_to_string(crawl.directory().join("b.jsonl")).unwrap();
    assert!(kept.contains(r#""text":"return a - b\n""#), "{kept}");
    crawl.write(
        "c.jsonl",
        line(1, "C++ developer") + &line(2, "C# developer"),
    );
    let run = crawl.run_command(&["dedup", "c.jsonl", "--format", "json"]);
    let found: Value = serde_json::from_str(&run.output).unwrap();
    assert_eq!(found["measure"], "words");
}

/// `<(…)` was one text, and `--keep` named a false format.
#[test]
fn the_output_of_a_command_is_an_input() {
    let crawl = Crawl::bare();
    crawl.write("a.jsonl", three());
    let script = "\"$0\" \"$@\" <(cat a.jsonl) --keep kept.jsonl";
    let run = crawl.run_command_by("bash", script, &["dedup"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let kept = fs::read_to_string(crawl.directory().join("kept.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
}
