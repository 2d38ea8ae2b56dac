//! `--containment` of `similar` and `dedup`: equal to a naive program, and found in a crawl.

use std::collections::BTreeSet;

use serde_json::json;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

/// Whole texts, parts of them, parts of two of them, and a text of two words.
fn texts() -> Vec<String> {
    let whole = [1, 2, 3].map(|number| prose(number, 120).to_lowercase());
    let words = |text: &str, from: usize, to: usize| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words[from..to].join(" ")
    };
    let mut texts: Vec<String> = whole.to_vec();
    for (one, two) in [(0, 1), (1, 2), (2, 0)] {
        texts.push(words(&whole[one], 10, 60));
        texts.push(format!(
            "{} {}",
            words(&whole[one], 0, 90),
            words(&whole[two], 0, 30)
        ));
    }
    texts.push(whole[0].clone());
    texts.push("two words".to_owned());
    texts
}

/// Returns the runs of three words, as Broder defines them.
fn shingles(text: &str) -> BTreeSet<Vec<String>> {
    let is_part = |letter: char| !letter.is_alphanumeric();
    let words = text.split(is_part).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    words
        .windows(words.len().min(3))
        .map(<[String]>::to_vec)
        .collect()
}

fn containment(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    a.intersection(&b).count() as f64 / a.len() as f64
}

/// Until then a part of a longer document was found by no command: its resemblance is low, and
/// containment, which the paper defines beside it, was printed for two named files alone.
#[test]
fn every_ordered_pair_of_documents_is_found_as_by_a_naive_program() {
    let (crawl, texts) = (Crawl::bare(), texts());
    let corpus: String = (0..)
        .zip(&texts)
        .map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})))
        .collect();
    crawl.write("corpus.jsonl", corpus);
    for least in [0.3, 0.7, 1.0] {
        let mut expected = Vec::new();
        for (a, one) in texts.iter().enumerate() {
            for (b, two) in texts.iter().enumerate() {
                let containment = containment(one, two);
                if a != b && containment >= least {
                    expected.push(json!({
                        "document": a,
                        "contained_in": b,
                        "containment": containment,
                    }));
                }
            }
        }
        assert!(expected.len() > 2, "{expected:?}");
        let least = least.to_string();
        let arguments = [
            "dedup",
            "corpus.jsonl",
            "--features",
            "word:3",
            "--containment",
            &least,
        ];
        let run = crawl.run_command(&[&arguments[..], &["--format", "json"]].concat());
        assert_eq!(run.json_lines(), expected);
        assert!(
            run.errors
                .contains(&format!("{} ordered pairs", expected.len())),
            "{run:?}"
        );
    }
}

#[test]
fn documents_that_contain_a_text_are_listed_as_by_a_naive_program() {
    let (crawl, texts) = (Crawl::bare(), texts());
    for (number, text) in texts.iter().enumerate() {
        crawl.write(&format!("corpus-{number}.txt"), text);
    }
    let draft = &texts[3];
    crawl.write("draft.txt", draft);
    let corpus: String = (0..)
        .zip(&texts)
        .map(|(id, text)| format!("{}\n", json!({"id": id, "text": text})))
        .collect();
    crawl.write("corpus.jsonl", corpus);
    let run = crawl.run_command(&[
        "similar",
        "corpus.jsonl",
        "draft.txt",
        "--containment",
        "0.2",
        "--features",
        "word:3",
        "--all",
        "--format",
        "json",
    ]);
    let mut expected: Vec<(u64, f64)> = (0..)
        .zip(&texts)
        .map(|(id, text)| (id, containment(draft, text)))
        .filter(|(_, containment)| *containment >= 0.2)
        .collect();
    expected.sort_by(|one, two| two.1.total_cmp(&one.1));
    let found = run.json_lines();
    let mut pairs: Vec<(u64, f64)> = found
        .iter()
        .map(|hit| {
            let containment = hit["containment"].as_f64().unwrap();
            (hit["document"].as_u64().unwrap(), containment)
        })
        .collect();
    assert!(pairs.is_sorted_by(|one, two| one.1 >= two.1), "{pairs:?}");
    pairs.sort_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    expected.sort_by(|one, two| two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    assert_eq!(pairs, expected);
    assert!(expected.len() >= 3, "{expected:?}");
}

#[test]
fn pages_of_a_crawl_that_contain_a_page_or_a_file_are_found_in_its_archive() {
    let long = html("", &format!("<p>{} {}</p>", prose(1, 200), prose(2, 900)));
    let part = html("", &format!("<p>{}</p>", prose(1, 200)));
    let server = Server::spawn_thread(Site::pages([
        ("/", page(9, &["/long", "/part"])),
        ("/long", Reply::html(long)),
        ("/part", Reply::html(part.clone())),
    ]));
    let host = "part.test";
    let crawl = Crawl::of(&server, &[host]).seeds(&[server.url(host, "/")]);
    crawl.complete();
    crawl.write("part.html", part);
    crawl.write("empty.html", html("", ""));
    let similar = |what: &str| {
        let arguments = [
            "similar",
            "crawl",
            what,
            "--containment",
            "0.9",
            "--format",
            "json",
        ];
        crawl.run_command(&arguments)
    };
    let of_page = similar(&server.url(host, "/part")).json_lines();
    assert_eq!(of_page.len(), 1, "{of_page:?}");
    assert_eq!(of_page[0]["document"], server.url(host, "/long"));
    assert!(
        of_page[0]["resemblance"].as_f64().unwrap() < 0.3,
        "{of_page:?}"
    );
    assert_eq!(similar("part.html").json_lines().len(), 2);
    similar("empty.html").assert_error(2, "no words");
    similar(&server.url(host, "/nowhere")).assert_error(2, "/nowhere");
    crawl.write("other.html", page_text(7));
    assert!(similar("other.html").json_lines().is_empty());
}

fn page_text(number: u64) -> String {
    crate::support::pages::article(number, NONE)
}

#[test]
fn a_containment_that_cannot_be_is_refused() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", prose(1, 50));
    for wrong in ["0", "1.5", "NaN"] {
        let run = crawl.run_command(&["dedup", "a.txt", "--containment", wrong]);
        run.assert_error(2, &format!("--containment {wrong}"));
        assert!(run.errors.contains("must be above 0"), "{run:?}");
    }
    let run = crawl.run_command(&["similar", "a.txt", "a.txt", "--containment", "2"]);
    run.assert_error(2, "--containment must be between 0 and 1, got 2");
    let arguments = ["dedup", "a.txt", "--containment", "1", "--keep", "kept"];
    crawl.run_command(&arguments).assert_error(2, "--keep");
    let arguments = [
        "dedup",
        "a.txt",
        "--containment",
        "1",
        "-o",
        "found.parquet",
    ];
    crawl.run_command(&arguments).assert_error(2, "parquet");
}
