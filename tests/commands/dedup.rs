//! `dedup`: near-duplicates among files; `plan`: the tables that find them.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;

use serde_json::{Value, json};
use std::io::Write;
use testkit::{Reply, Server, Site};

use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl};

fn near(text: &str) -> String {
    format!("{text} and a few words more at the end")
}

/// A text, the same in capitals, the same with some more words, and two others, one of them as a
/// page.
fn corpus() -> Crawl {
    let crawl = Crawl::bare();
    let (text, other) = (prose(1, 400), prose(2, 400));
    std::fs::create_dir_all(crawl.directory().join("corpus/below")).unwrap();
    crawl.write("corpus/a.txt", &text);
    crawl.write("corpus/b.txt", text.to_uppercase());
    crawl.write("corpus/below/c.txt", near(&text));
    crawl.write("corpus/d.txt", &other);
    let page = format!(
        "<title>t</title><nav>Home About Contact</nav><main><p>{}</p></main>",
        near(&other)
    );
    crawl.write("corpus/e.html", page);
    crawl.write("corpus/f.txt", prose(3, 400));
    crawl
}

#[test]
fn each_duplicate_document_is_listed_with_its_original() {
    let crawl = corpus();
    let run = crawl.run_command(&["dedup", "corpus"]);
    let found = run.json_lines();
    let found_pairs: Vec<(&str, &str)> = found
        .iter()
        .map(|line| {
            (
                line["document"].as_str().unwrap(),
                line["duplicate_of"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found_pairs,
        [
            ("corpus/b.txt", "corpus/a.txt"),
            ("corpus/below/c.txt", "corpus/a.txt"),
            ("corpus/e.html", "corpus/d.txt"),
        ]
    );
    assert_eq!(
        (&found[0]["distance"], &found[0]["resemblance"]),
        (&json!(0), &json!(1.0))
    );
    let resemblance = found[1]["resemblance"].as_f64().unwrap();
    assert!((0.9..=1.0).contains(&resemblance), "{run:?}");
    for line in &found {
        let mut keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            [
                "distance",
                "document",
                "duplicate_of",
                "measure",
                "resemblance"
            ]
        );
    }
    assert_eq!(run.errors, "6 documents: 3 repeat an earlier one\n");
}

#[test]
fn pairs_lists_all_pairs_and_clusters_lists_connected_documents() {
    let crawl = corpus();
    let pairs = crawl.json_lines(&["dedup", "corpus", "--pairs", "--quiet"]);
    let mut found_pairs: Vec<String> = pairs
        .iter()
        .map(|pair| {
            format!(
                "{} {}",
                pair["a"].as_str().unwrap(),
                pair["b"].as_str().unwrap()
            )
        })
        .collect();
    found_pairs.sort();
    assert_eq!(
        found_pairs,
        [
            "corpus/a.txt corpus/b.txt",
            "corpus/a.txt corpus/below/c.txt",
            "corpus/b.txt corpus/below/c.txt",
            "corpus/d.txt corpus/e.html",
        ]
    );
    for chained in [&["--clusters"][..], &["--clusters", "--chained"]] {
        let run = crawl.run_command(&[&["dedup", "corpus"], chained].concat());
        let clusters = run.json_lines();
        let members: Vec<&Value> = clusters.iter().map(|line| &line["members"]).collect();
        assert_eq!(
            members,
            [
                &json!(["corpus/a.txt", "corpus/b.txt", "corpus/below/c.txt"]),
                &json!(["corpus/d.txt", "corpus/e.html"]),
            ]
        );
        assert_eq!(run.errors, "6 documents: 2 clusters\n");
    }
}

#[test]
fn the_table_format_is_readable() {
    let crawl = corpus();
    let table = |more: &[&str]| {
        crawl
            .run_command(&[&["dedup", "corpus", "--format", "table"], more].concat())
            .output
    };
    assert!(table(&[]).starts_with("1.000   0 bits  corpus/b.txt  repeats  corpus/a.txt\n"));
    assert!(table(&["--pairs"]).contains("1.000   0 bits  corpus/a.txt  and  corpus/b.txt\n"));
    let cluster = "3 documents\n  corpus/a.txt\n  1.000   0 bits  corpus/b.txt\n";
    assert!(table(&["--clusters"]).starts_with(cluster));
    let chained = table(&["--clusters", "--chained"]);
    assert!(chained.starts_with("3 documents\n  corpus/a.txt\n  corpus/b.txt\n"));
}

#[test]
fn results_can_be_written_to_a_file() {
    let crawl = corpus();
    let run = crawl.run_command(&["dedup", "corpus", "-o", "found.jsonl"]);
    assert_eq!((run.code, run.output.as_str()), (Some(0), ""));
    let written = std::fs::read_to_string(crawl.directory().join("found.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 3);
    crawl
        .run_command(&["dedup", "corpus", "-o", "no/such/directory"])
        .assert_error(2, "no/such/directory");
}

#[test]
fn json_lines_are_read_from_files_compressed_files_and_standard_input() {
    let crawl = Crawl::bare();
    let text = prose(1, 400);
    let lines = [
        json!({"id": "one", "text": text}),
        json!({"id": 2, "text": near(&text), "more": null}),
        json!({"id": "three", "text": prose(2, 400)}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(lines.as_bytes()).unwrap();
    crawl.write("corpus.jsonl", &lines);
    crawl.write("corpus.jsonl.gz", packer.finish().unwrap());
    for run in [
        crawl.run_command(&["dedup", "corpus.jsonl"]),
        crawl.run_command(&["dedup", "corpus.jsonl.gz"]),
        crawl.run_command_with_input(&["dedup", "-"], &lines),
    ] {
        let found = run.json_lines();
        assert_eq!(found.len(), 1, "{run:?}");
        assert_eq!(found[0]["document"], 2);
        assert_eq!(found[0]["duplicate_of"], "one");
    }
}

#[test]
fn the_pages_of_an_archive_are_documents_named_by_their_urls() {
    let text = prose(1, 400);
    let page = |text: &str| {
        Reply::html(format!(
            "<main><p>{text}</p></main><a href=/copy>c</a><a href=/gone>g</a>"
        ))
    };
    let server = Server::spawn_thread(Site::pages([
        ("/", page(&text)),
        ("/copy", page(&near(&text))),
    ]));
    let crawl = Crawl::of(&server, &["site.test"]).seeds(&[server.url("site.test", "/")]);
    let crawl = crawl.with(&["--on-duplicate", "keep"]);
    crawl.complete();
    let run = crawl.run_command(&["dedup", "crawl/archive"]);
    let found = run.json_lines();
    assert_eq!(found.len(), 1, "{run:?}");
    assert_eq!(found[0]["document"], server.url("site.test", "/copy"));
    assert_eq!(found[0]["duplicate_of"], server.url("site.test", "/"));
    assert_eq!(run.errors, "2 documents: 1 repeats an earlier one\n");
}

#[test]
fn unreadable_documents_are_named_and_skipped_and_the_rest_is_compared() {
    let crawl = Crawl::bare();
    let text = prose(1, 400);
    let lines = format!(
        "{}\nnonsense\n{}\n",
        json!({"id": 1, "text": text}),
        json!({"id": 2, "text": text})
    );
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    crawl.write("corpus/a.jsonl", lines);
    crawl.write("corpus/b.warc", "WARC/1.1\r\nno record\r\n\r\n");
    crawl.write("corpus/c.png", b"\x89PNG\r\n\x1a\n\0\0\0");
    let run = crawl.run_command(&["dedup", "corpus"]);
    assert_eq!(run.output.lines().count(), 1, "{run:?}");
    let lines: Vec<&str> = run.errors.lines().collect();
    assert!(
        lines[0].starts_with("skipped: corpus/a.jsonl: line 2 is not a JSON object"),
        "{run:?}"
    );
    assert!(lines[1].starts_with("skipped: corpus/b.warc: "), "{run:?}");
    assert_eq!(lines[2], "skipped: corpus/c.png: a PNG image, not a text");
    assert_eq!(lines[3], "2 documents: 1 repeats an earlier one, 3 skipped");
    let closing = "error: the result is incomplete: 2 parts of the input could not be read";
    assert_eq!((run.code, lines[4]), (Some(2), closing));
}

#[test]
fn unusual_documents_are_compared_like_others() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    let garbage: Vec<u8> = (0..5_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 | 1)
        .collect();
    for (name, content) in [
        ("empty", Vec::new()),
        ("empty-too", Vec::new()),
        ("garbage", garbage),
        ("one-word", b"word".to_vec()),
        ("repeated", b"again ".repeat(200_000)),
        ("tags", b"<div>".repeat(50_000)),
    ] {
        crawl.write(&format!("corpus/{name}"), content);
    }
    let run = crawl.run_command(&["dedup", "corpus"]);
    let found = run.json_lines();
    assert_eq!(found.len(), 1, "{run:?}");
    assert_eq!(found[0]["document"], "corpus/empty-too");
}

#[test]
fn a_memory_budget_that_is_too_small_spills_to_files_and_changes_no_result() {
    let crawl = Crawl::bare();
    let lines: Vec<String> = (0..300)
        .map(|n| {
            json!({"id": n, "text": format!("{} number {}", prose(n % 100, 60), n / 100)})
                .to_string()
        })
        .collect();
    crawl.write("corpus.jsonl", lines.join("\n"));
    for wanted in [&[][..], &["--pairs"], &["--clusters"]] {
        let ask = |more: &[&str]| {
            let run = crawl.run_command(&[&["dedup", "corpus.jsonl"], wanted, more].concat());
            let mut found: Vec<String> = run.json_lines().iter().map(Value::to_string).collect();
            found.sort();
            found
        };
        let roomy = ask(&[]);
        assert!(roomy.len() >= 100, "{roomy:?}");
        assert_eq!(ask(&["--memory", "64KiB", "--temp-dir", "."]), roomy);
    }
}

#[test]
fn a_full_disk_is_named_with_the_remedy() {
    let crawl = Crawl::bare();
    let lines: Vec<String> = (0..300)
        .map(|n| json!({"id": n, "text": prose(n, 60)}).to_string())
        .collect();
    crawl.write("corpus.jsonl", lines.join("\n"));
    let arguments = [
        "dedup",
        "corpus.jsonl",
        "--pairs",
        "--memory",
        "64KiB",
        "--temp-dir",
        ".",
    ];
    assert_eq!(crawl.run_command(&arguments).code, Some(0));
    let run = crawl.run_command_with_file_limit(1, &arguments);
    run.assert_error(1, "cannot use . for temporary files");
    assert!(
        run.errors.contains(" documents; choose another --temp-dir"),
        "{run:?}"
    );
}

#[test]
fn other_fingerprints_lead_to_the_same_duplicates() {
    let crawl = corpus();
    let usual = crawl.run_command(&["dedup", "corpus"]);
    let originals = |run: &CommandOutput| -> Vec<Value> {
        run.json_lines()
            .into_iter()
            .map(|line| line["duplicate_of"].clone())
            .collect()
    };
    assert_eq!(originals(&usual).len(), 3);
    for wish in [
        &["--bits", "32"][..],
        &["--features", "char:5", "--weights", "none"],
        &[
            "--features",
            "word:2",
            "--weights",
            "tf-idf",
            "--stop-words",
            "en",
        ],
    ] {
        let run = crawl.run_command(&[&["dedup", "corpus"], wish].concat());
        assert_eq!(originals(&run), originals(&usual), "{wish:?}");
    }
}

#[test]
fn impossible_values_are_refused_with_the_possible_ones() {
    let crawl = corpus();
    for (wish, culprit) in [
        (&["--distance", "8"][..], "between 0 and 7"),
        (&["--resemblance", "1.1"], "between 0 and 1"),
        (&["--features", "word:0"], "between 1 and 64"),
        (&["--features", "line:3"], "line:3"),
        (&["--pairs", "--clusters"], "--clusters"),
        (&["--chained"], "--clusters"),
        (&["missing"], "missing"),
    ] {
        crawl
            .run_command(&[&["dedup", "corpus"], wish].concat())
            .assert_error(2, culprit);
    }
    std::fs::create_dir(crawl.directory().join("nothing")).unwrap();
    crawl
        .run_command(&["dedup", "nothing"])
        .assert_error(2, "no document");
}

/// Manku, Jain and Das Sarma (WWW 2007), section 3.2: 2³⁴ fingerprints, within 3 bits.
#[test]
fn the_plan_for_the_repository_of_the_paper_has_the_designs_of_the_paper() {
    let crawl = Crawl::bare();
    let arguments = ["plan", "--pages", "17179869184", "--distance", "3"];
    let lines = crawl.json_lines(&arguments);
    for (tables, prefix, candidates) in [
        (20, 31, 8.0),
        (16, 28, 64.0),
        (10, 25, 512.0),
        (4, 16, f64::from(1 << 18)),
    ] {
        let line = lines.iter().find(|line| line["tables"] == tables).unwrap();
        assert_eq!(line["prefix"], prefix);
        assert!(
            line["expected_candidates"].as_f64().unwrap() <= candidates,
            "{line}"
        );
        assert_eq!(line["memory"].as_u64().unwrap(), (tables * 8) << 34);
    }
    assert_eq!(
        lines.iter().filter(|line| line["chosen"] == true).count(),
        1
    );
    let table = crawl
        .run_command(&[&arguments[..], &["--format", "table"]].concat())
        .output;
    assert!(
        table.contains("20    31–33") && table.contains("> 10 is the minimum number of tables"),
        "{table}"
    );
}

#[test]
fn impossible_plans_are_refused() {
    let crawl = Crawl::bare();
    for (wish, culprit) in [
        (&["--pages", "many"][..], "many"),
        (
            &["--pages", "1e6", "--distance", "8"],
            "between 0 and 7 bits, got 8",
        ),
        (&["--pages", "1e6", "--bits", "48"], "64 or 32"),
        (&[], "--pages"),
    ] {
        crawl
            .run_command(&[&["plan"], wish].concat())
            .assert_error(2, culprit);
    }
}

/// Writes documents of 200 words, each followed by a copy of which `replaced` words in one run are
/// other ones, as JSON lines.
fn planted(crawl: &Crawl, pairs: usize, replaced: usize) {
    let mut lines = String::new();
    for pair in 0..pairs {
        for copy in ["a", "b"] {
            let word = |at: usize| match (copy, at < replaced) {
                ("b", true) => format!("x{pair}y{at}"),
                _ => format!("w{}", (pair * 7919 + at * 104_729) % 1_000_003),
            };
            let text: Vec<String> = (0..200).map(word).collect();
            let line = json!({"id": format!("{pair}{copy}"), "text": text.join(" ")});
            writeln!(lines, "{line}").unwrap();
        }
    }
    crawl.write("planted.jsonl", &lines);
}

/// The bands of a crawl, which served every resemblance before, find 54 % of these pairs.
#[test]
fn pairs_at_the_resemblance_that_is_asked_for_are_found_as_the_closing_line_promises() {
    let crawl = Crawl::bare();
    // Of 196 shingles 56 are lost and 56 new: a resemblance of 140 / 252 = .556.
    planted(&crawl, 300, 52);
    let run = crawl.run_command(&["dedup", "planted.jsonl", "--pairs", "--resemblance", "0.45"]);
    let found = run.json_lines().len();
    assert!((296..=300).contains(&found), "{found}");
    assert!(
        run.errors
            .ends_with("expected recall 0.991 at a resemblance of 0.45 (49 bands of 3 rows)\n"),
        "{}",
        run.errors
    );
    let strict = [
        "dedup",
        "planted.jsonl",
        "--resemblance",
        "0.8",
        "--recall",
        "0.9",
    ];
    let run = crawl.run_command(&strict);
    assert_eq!(run.json_lines().len(), 0);
    assert!(run.errors.contains("expected recall 0.9"), "{}", run.errors);
    crawl
        .run_command(&[
            "dedup",
            "planted.jsonl",
            "--resemblance",
            "0.8",
            "--recall",
            "1",
        ])
        .assert_error(2, "recall must be above 0 and below 1, got 1");
}

/// Sketches, which decided before, confirm 54 % of the pairs at .80: their standard error is .03.
#[test]
fn pairs_exactly_at_the_resemblance_are_found_unless_estimates_decide() {
    let crawl = Crawl::bare();
    // Of 196 shingles 28 are lost and 28 new: a resemblance of 168 / 224 = .75.
    planted(&crawl, 300, 28);
    let run = |more: &[&str]| {
        crawl.run_command(&[&["dedup", "planted.jsonl", "--resemblance"], more].concat())
    };
    for kind in [&["0.75", "--pairs"][..], &["0.75"]] {
        let found = run(kind).json_lines();
        assert!((293..=300).contains(&found.len()), "{}", found.len());
        assert!(
            found.iter().all(|one| one["resemblance"] == 0.75),
            "{found:?}"
        );
    }
    assert_eq!(run(&["0.751", "--pairs"]).json_lines().len(), 0);

    let estimated = run(&["0.75", "--pairs", "--exact", "off"]);
    let found = estimated.json_lines().len();
    assert!((75..225).contains(&found), "{found}");
    assert!(
        estimated.errors.ends_with(
            "find 0.991 of the pairs at a resemblance of 0.75; sketches decide with a standard \
             error of 0.028\n"
        ),
        "{}",
        estimated.errors
    );
    crawl
        .run_command(&["dedup", "planted.jsonl", "--exact", "on"])
        .assert_error(2, "--exact on requires --resemblance or --features");
}

#[test]
fn the_features_that_are_asked_for_decide() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    let one = "the cat sat on the mat while the dog lay on the rug and slept all day long";
    // Each word is changed, most characters are not.
    let two = one.replace("a", "e");
    crawl.write("corpus/1.txt", one);
    crawl.write("corpus/2.txt", &two);
    let found = |more: &[&str]| {
        let arguments = [&["dedup", "corpus", "--quiet"], more].concat();
        crawl.json_lines(&arguments).len()
    };
    assert_eq!(found(&["--resemblance", "0.3"]), 0);
    assert_eq!(found(&["--resemblance", "0.3", "--features", "char:3"]), 1);
    assert_eq!(found(&["--features", "char:3"]), 0);
    assert_eq!(found(&["--verify", "off", "--distance", "0"]), 0);
    crawl.write("corpus/1.txt", "too few words");
    crawl.write("corpus/2.txt", "too few words too");
    let few = ["--resemblance", "0.5", "--features", "word:1"];
    assert_eq!(found(&few), 0);
    assert_eq!(found(&[&few[..], &["--min-words", "1"]].concat()), 1);
}

#[test]
fn fingerprints_within_the_distance_decide_alone_if_verification_is_off() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    let words: Vec<String> = (0..400).map(|at| format!("word{at}")).collect();
    crawl.write("corpus/1.txt", words.join(" "));
    let reversed: Vec<String> = words.into_iter().rev().collect();
    crawl.write("corpus/2.txt", reversed.join(" "));
    let found = |more: &[&str]| {
        let arguments = [&["dedup", "corpus", "--quiet"], more].concat();
        crawl.json_lines(&arguments)
    };
    // The same words in reverse have the same fingerprint and not one run of five words.
    assert_eq!(found(&[]).len(), 0);
    let near = found(&["--verify", "off", "--distance", "0"]);
    assert_eq!(near.len(), 1);
    assert_eq!(near[0]["distance"], 0);
    assert!(near[0]["resemblance"].as_f64().unwrap() < 0.1);
}

#[test]
fn the_plan_for_a_resemblance_shows_what_its_bands_find() {
    let crawl = Crawl::bare();
    let plan = crawl.run_command(&["plan", "--resemblance", "0.5"]).json();
    assert_eq!((&plan["bands"], &plan["rows"]), (&json!(35), &json!(3)));
    assert!(plan["recall"].as_f64().unwrap() >= 0.99);
    let curve = plan["curve"].as_array().unwrap();
    let at = |place: usize, key: &str| curve[place][key].as_f64().unwrap();
    assert_eq!(
        (curve.len(), at(9, "resemblance"), at(19, "probability")),
        (20, 0.5, 1.0)
    );
    assert!((at(9, "in_a_crawl") - 0.403).abs() < 0.001);
    let table = crawl.run_command(&["plan", "--resemblance", "0.5", "--format", "table"]);
    assert!(
        table
            .output
            .starts_with("35 bands of 3 rows find 99.07 % of the pairs"),
        "{table:?}"
    );
    crawl.run_command(&["plan"]).assert_error(2, "--pages");
}

/// Returns a page about a valve, with a menu.
fn valve(heading: &str, pressure: u32, rest: &str) -> String {
    let pages = (1..9).map(|page| format!("<li><a href={page}>Page {page}</a></li>"));
    let menu: String = pages.collect();
    format!(
        "<title>{heading}</title><nav><ul>{menu}</ul></nav><main><h1>{heading}</h1>\
         <p>{}</p><p>The valve opens at a pressure of {pressure} bar and closes again.</p>\
         <p>{rest}</p></main>",
        prose(5, 150)
    )
}

/// Documents that differ in every number were near-duplicates of each other, 18 of 24 in English:
/// `dedup` asked signatures, where a crawl and `compare` ask the texts.
#[test]
fn files_that_differ_in_a_number_are_no_duplicates_unless_a_resemblance_is_asked_for() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("pages")).unwrap();
    let rest = prose(6, 150);
    crawl.write("pages/a.html", valve("Valves", 10, &rest));
    crawl.write("pages/b.html", valve("Valves", 16, &rest));
    for kind in [
        &[][..],
        &["--pairs"],
        &["--clusters"],
        &["--clusters", "--chained"],
    ] {
        let run =
            |options: &[&str]| crawl.run_command(&[&["dedup", "pages"], kind, options].concat());
        assert_eq!(run(&[]).json_lines(), Vec::<Value>::new(), "{kind:?}");
        assert_eq!(
            run(&["--resemblance", "0.8"]).json_lines().len(),
            1,
            "{kind:?}"
        );
    }
    let asked = crawl.run_command(&["compare", "pages/a.html", "pages/b.html"]);
    assert!(asked.output.contains("distinct"), "{asked:?}");
}

/// A paragraph more or less took a short text below its threshold: 24 of 137 small edits of Arabic
/// texts were not found.
#[test]
fn a_short_file_with_a_paragraph_less_is_a_duplicate_and_one_with_more_is_similar() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("pages")).unwrap();
    let page = |paragraphs: &[String]| {
        format!(
            "<title>Valves</title><main><h1>Valves</h1><p>{}</p></main>",
            paragraphs.join("<p>")
        )
    };
    let paragraphs: Vec<String> = (0..6).map(|number| prose(20 + number, 14)).collect();
    crawl.write("pages/a.html", page(&paragraphs));
    crawl.write("pages/b.html", page(&paragraphs[..5]));
    let run = crawl.run_command(&["dedup", "pages"]);
    assert_eq!(run.json_lines().len(), 1, "{run:?}");
    let run = crawl.run_command(&["dedup", "pages", "--pairs"]);
    assert_eq!(run.json_lines().len(), 1, "{run:?}");
}
