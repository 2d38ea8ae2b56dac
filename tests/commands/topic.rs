//! `crawler topic`: the relevance of documents, and bad topics.

use serde_json::Value;

use crate::support::Crawl;
use crate::support::pages::prose;

const BARRAGE: &str = "The tidal barrage closes the estuary. Turbines in the barrage turn with the \
    tide, and the power station gives power for four hours twice a day.";
const LAGOON: &str = "Tidal lagoons keep the estuary open. The turbines of a lagoon turn with each \
    tide and give power to the towns along the coast.";
const STREAM: &str = "A turbine below the water turns in the tidal stream of a strait. No barrage \
    is needed, and turbines give power with each tide.";
const SEVERN: &str = "The power of the tides: a tidal power station needs a large range between \
    low tide and high tide. Its turbines stand in a barrage across the mouth of a river, where the \
    water that came in with the tide is kept and let out when the sea has fallen.";
const BREAD: &str = "Flour, water, yeast and salt are all that a baker needs. Knead the dough, let \
    it rest in a cool place, and bake it until the crust is brown and the loaf sounds hollow. Good \
    bread needs time more than anything else, and an oven that is hot from the beginning.";

/// Returns a directory with three examples and two documents.
fn tides() -> Crawl {
    let crawl = Crawl::bare();
    for (name, text) in [
        ("barrage.txt", BARRAGE),
        ("lagoon.txt", LAGOON),
        ("stream.txt", STREAM),
    ] {
        write_within(&crawl, "examples", name, text);
    }
    crawl.write("severn.txt", SEVERN);
    crawl.write("bread.txt", BREAD);
    crawl
}

/// Writes a file into a directory of the crawl's.
fn write_within(crawl: &Crawl, directory: &str, name: &str, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(crawl.directory().join(directory)).unwrap();
    crawl.write(&format!("{directory}/{name}"), content);
}

/// Returns the objects that the command prints.
fn judged(crawl: &Crawl, arguments: &[&str]) -> Vec<Value> {
    let run = crawl.run_command(&[&["topic", "--format", "json"], arguments].concat());
    assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
    run.json_lines()
}

fn is_on_topic(judged: &Value) -> bool {
    judged["on_topic"].as_bool().unwrap()
}

#[test]
fn documents_are_judged_by_words_and_by_examples_and_the_words_that_spoke_are_named() {
    let crawl = tides();
    for topic in [
        &["--topic", "tidal power"][..],
        &["--topic-file", "examples"],
        &["--topic", "tide", "--topic-file", "examples"],
        &[
            "--topic-file",
            "examples/barrage.txt",
            "--topic-file",
            "examples/lagoon.txt",
            "--topic-file",
            "examples/stream.txt",
        ],
    ] {
        let found = judged(&crawl, &[topic, &["severn.txt", "bread.txt"]].concat());
        let [severn, bread] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(severn["document"], "severn.txt");
        assert!(is_on_topic(severn) && !is_on_topic(bread), "{found:?}");
        assert!(severn["relevance"].as_f64() > bread["relevance"].as_f64());
        let words = severn["words"].as_array().unwrap();
        assert!(words.iter().any(|named| named["part"].as_f64() > Some(0.0)));
        assert!(words[0]["word"].is_string());
    }
}

#[test]
fn a_table_has_the_threshold_and_a_line_for_each_document() {
    let crawl = tides();
    let run = crawl.run_command(&[
        "topic",
        "--topic=tidal power",
        "--format=table",
        "severn.txt",
        "bread.txt",
    ]);
    let lines: Vec<&str> = run.output.lines().collect();
    assert_eq!(lines.len(), 3, "{run:?}");
    assert_eq!(lines[0], "on topic from 0.520");
    assert!(lines[1].contains("  on topic   severn.txt  "), "{run:?}");
    assert!(
        lines[2].starts_with("0.000  off topic  bread.txt"),
        "{run:?}"
    );
}

#[test]
fn html_is_judged_by_its_text_and_title_and_other_formats_by_their_documents() {
    let crawl = tides();
    let page = format!("<title>Tidal power</title><main><p>{SEVERN}</p></main>");
    crawl.write("severn.html", page);
    crawl.write(
        "corpus.jsonl",
        format!("{}\n", serde_json::json!({"id": "severn", "text": SEVERN})),
    );
    let found = judged(
        &crawl,
        &["--topic", "tidal power", "severn.html", "corpus.jsonl"],
    );
    assert_eq!(found[1]["document"], "severn");
    assert!(found.iter().all(is_on_topic), "{found:?}");
    // The title has both words once more.
    assert!(found[0]["relevance"].as_f64() > found[1]["relevance"].as_f64());
}

#[test]
fn the_path_of_a_url_counts_and_that_of_a_local_file_does_not() {
    let crawl = tides();
    let corpus = [
        "https://sea.test/TidalPower/1.html",
        "https://tidal-power.test/1.html",
    ];
    let lines = corpus.map(|id| serde_json::json!({"id": id, "text": SEVERN}).to_string());
    crawl.write("corpus.jsonl", lines.join("\n"));
    crawl.write("tidal-power.txt", SEVERN);
    let found = judged(
        &crawl,
        &["--topic=tidal power", "corpus.jsonl", "tidal-power.txt"],
    );
    let [in_path, in_host, in_file] = &found[..] else {
        panic!("{found:?}");
    };
    let relevance = |judged: &Value| judged["relevance"].as_f64();
    assert!(relevance(in_path) > relevance(in_host), "{found:?}");
    assert_eq!(relevance(in_file), relevance(in_host));
}

/// A topic of *logging* found no page about logs.
#[test]
fn forms_of_a_word_are_the_same_word() {
    let crawl = tides();
    let text = |words: &str| format!("{} {words} {}", prose(1, 40), prose(2, 40));
    crawl.write("forms.txt", text("The log logs what was logged."));
    crawl.write("others.txt", text("The logic of a login is logical."));
    let found = judged(&crawl, &["--topic=logging", "forms.txt", "others.txt"]);
    assert!(
        is_on_topic(&found[0]) && !is_on_topic(&found[1]),
        "{found:?}"
    );
    assert_eq!(found[0]["words"][0]["word"], "logging");
    assert_eq!(found[1]["relevance"], 0.0);
}

#[test]
fn the_threshold_is_the_users() {
    let crawl = tides();
    for (threshold, expected) in [("0", [true, true]), ("1", [false, false])] {
        let found = judged(
            &crawl,
            &[
                "--topic=tidal power",
                "--topic-threshold",
                threshold,
                "severn.txt",
                "bread.txt",
            ],
        );
        let on_topic: Vec<bool> = found.iter().map(is_on_topic).collect();
        assert_eq!(on_topic, expected, "{threshold}");
    }
}

#[test]
fn frequencies_weigh_words_that_many_documents_have_less() {
    let crawl = tides();
    crawl.write(
        "power.txt",
        format!("power {} power {}", prose(1, 60), prose(2, 60)),
    );
    let counted = crawl.run_command(&["frequencies", "examples", "power.txt", "-o", "words.txt"]);
    assert_eq!(counted.code, Some(0), "{counted:?}");
    let topic = ["--topic", "estuary power", "power.txt"];
    let before = judged(&crawl, &topic);
    let after = judged(
        &crawl,
        &[&topic[..], &["--frequencies", "words.txt"]].concat(),
    );
    assert!(after[0]["relevance"].as_f64() < before[0]["relevance"].as_f64());

    crawl.write("pairs.txt", "documents\t3\tword:2\na b\t2\n");
    crawl
        .run_command(&[
            "topic",
            "--topic=tides",
            "--frequencies=pairs.txt",
            "bread.txt",
        ])
        .assert_error(2, "a topic needs word frequencies");
}

#[test]
fn a_topic_that_cannot_be_is_refused_with_what_would_be_right() {
    let crawl = tides();
    crawl.write("empty.txt", "");
    crawl.write("stop.txt", "the of and");
    crawl.write("picture.png", b"\x89PNG\r\n\x1a\n0000");
    crawl.write("binary.txt", [0_u8, 159, 146, 150, 0, 0, 1].repeat(50));
    for (arguments, expected) in [
        (&["--topic", "the of and"][..], "no usable word"),
        (&["--topic", ""], "no usable word"),
        (&["--topic", " — "], "no usable word"),
        (&["--topic-file", "empty.txt"], "empty.txt"),
        (&["--topic-file", "stop.txt"], "stop.txt"),
        (&["--topic-file", "picture.png"], "a PNG image"),
        (&["--topic-file", "binary.txt"], "binary.txt"),
        (&["--topic-file", "missing.txt"], "missing.txt"),
        (
            &["--topic-file", "examples", "--topic-file", "empty.txt"],
            "empty.txt",
        ),
        (
            &["--topic=tides", "--topic-threshold=1.5"],
            "between 0 and 1, got 1.5",
        ),
        (
            &["--topic=tides", "--topic-threshold=high"],
            "between 0 and 1, got high",
        ),
        (
            &["--topic=tides", "--topic-threshold=NaN"],
            "between 0 and 1, got NaN",
        ),
        (&[], "--topic"),
    ] {
        let run = crawl.run_command(&[&["topic", "bread.txt"], arguments].concat());
        assert_eq!(run.errors.lines().count(), 2, "{run:?}");
        run.assert_error(2, expected);
    }
}

#[test]
fn few_examples_and_unlike_examples_are_warned_of() {
    let crawl = tides();
    write_within(&crawl, "unlike", "a.txt", "violin strings");
    write_within(&crawl, "unlike", "b.txt", "bread flour");
    write_within(&crawl, "unlike", "c.txt", "tidal estuary");
    write_within(&crawl, "mixed", "a.txt", BARRAGE);
    write_within(&crawl, "mixed", "b.txt", LAGOON);
    write_within(&crawl, "mixed", "c.txt", STREAM);
    write_within(&crawl, "mixed", "d.png", b"\x89PNG\r\n\x1a\n0000");
    for (file, expected) in [
        ("examples/barrage.txt", "at least 3"),
        ("unlike", "no word in common"),
        ("mixed", "skipped: "),
    ] {
        let run = crawl.run_command(&["topic", "--topic-file", file, "severn.txt"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.errors.contains(expected), "{run:?}");
    }
}

#[test]
fn documents_that_cannot_be_read_are_named_and_the_others_are_judged() {
    let crawl = tides();
    write_within(&crawl, "docs", "a.txt", SEVERN);
    write_within(&crawl, "docs", "b.png", b"\x89PNG\r\n\x1a\n0000");
    let run = crawl.run_command(&["topic", "--topic=tidal power", "--format=json", "docs"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(run.output.lines().count(), 1, "{run:?}");
    assert!(run.errors.contains("docs/b.png"), "{run:?}");
    crawl
        .run_command(&["topic", "--topic=tides", "missing.txt"])
        .assert_error(2, "missing.txt");
}
