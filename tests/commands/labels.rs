//! `dedup --labels`: equal to counting by hand; and the distribution of fingerprints in `--report`.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::Crawl;
use crate::support::pages::prose;

/// Ten documents: text 1 with ever more other words, and others.
fn corpus(crawl: &Crawl) {
    let lines: String = (0..10)
        .map(|number| {
            let text = match number {
                0..7 => format!(
                    "{} {}",
                    prose(1, 200),
                    prose(50 + number, number as usize * 8)
                ),
                _ => prose(number, 200),
            };
            format!("{}\n", json!({"id": number.to_string(), "text": text}))
        })
        .collect();
    crawl.write("corpus.jsonl", lines);
}

/// Whoever wanted to know which distance suits a collection had to write the program that counts.
#[test]
fn precision_recall_and_f1_are_those_of_counting_by_hand() {
    let crawl = Crawl::bare();
    corpus(&crawl);
    let mut labels = BTreeMap::new();
    for a in 0..10 {
        for b in a + 1..10 {
            labels.insert((a.to_string(), b.to_string()), b <= 4 || (a, b) == (8, 9));
        }
    }
    let word = |same: bool| if same { "same" } else { "different" };
    // In either order, as columns or as objects.
    let written: String = (0..)
        .zip(&labels)
        .map(|(number, ((a, b), same))| match number % 3 {
            0 => format!("{a}\t{b}\t{}\n", word(*same)),
            1 => format!("{b}\t{a}\t{}\n", word(*same)),
            _ => format!("{}\n", json!({"a": b, "b": a, "label": word(*same)})),
        })
        .collect();
    crawl.write("labels", written);
    let print = crawl.run_command(&["fingerprint", "corpus.jsonl"]).output;
    let fingerprints: BTreeMap<&str, u64> = print
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .map(|(digits, id)| (id, u64::from_str_radix(digits, 16).unwrap()))
        .collect();
    let pairs = crawl.json_lines(&["dedup", "corpus.jsonl", "--pairs", "-q"]);
    let found = |a: &str, b: &str| pairs.iter().any(|pair| pair["a"] == a && pair["b"] == b);
    assert!(pairs.len() > 3, "{pairs:?}");
    let distance = |a: &str, b: &str| (fingerprints[a] ^ fingerprints[b]).count_ones();
    let scores = crawl.json_lines(&["dedup", "corpus.jsonl", "--labels", "labels"]);
    let most = labels.keys().map(|(a, b)| distance(a, b)).max().unwrap();
    assert_eq!(scores.len(), most as usize + 2);
    for score in scores {
        let is_same = |a: &str, b: &str| match score["distance"].as_u64() {
            Some(bits) => u64::from(distance(a, b)) <= bits,
            None => found(a, b),
        };
        let count = |called: bool, labelled: bool| {
            let those = labels
                .iter()
                .filter(|((a, b), same)| is_same(a, b) == called && **same == labelled);
            those.count() as f64
        };
        let (right, wrong, missed) = (count(true, true), count(true, false), count(false, true));
        // JSON readers may err in the last digit.
        let near = |name: &str, expected: Option<f64>| {
            let apart = score[name]
                .as_f64()
                .zip(expected)
                .map(|(one, two)| (one - two).abs());
            let is_near = apart.is_some_and(|apart| apart < 1e-12);
            assert!(
                is_near || (score[name].is_null() && expected.is_none()),
                "{name}: {score}"
            );
        };
        let share = |of: f64| (of > 0.0).then(|| right / of);
        near("precision", share(right + wrong));
        near("recall", share(right + missed));
        near("f1", Some(2.0 * right / (2.0 * right + wrong + missed)));
        assert_eq!(
            score["true_negatives"],
            count(false, false) as u64,
            "{score}"
        );
    }
}

#[test]
fn wrong_labels_are_refused_with_their_line() {
    let crawl = Crawl::bare();
    corpus(&crawl);
    for (labels, words) in [
        ("", "labels has no label"),
        ("0\t1\tsame\n\n0\t2\tmaybe\n", "labels:3"),
        ("0\t1\n", "labels:1"),
        ("{\"a\":\"0\"}\n", "labels:1"),
        ("0\t0\tsame\n", "labels:1"),
        ("0\t1\tsame\n1\t0\tdifferent\n", "labels:2"),
        ("0\tnowhere\tsame\n", "nowhere"),
    ] {
        crawl.write("labels", labels);
        let run = crawl.run_command(&["dedup", "corpus.jsonl", "--labels", "labels"]);
        run.assert_error(2, words);
    }
    let run = crawl.run_command(&["dedup", "corpus.jsonl", "--labels", "missing"]);
    run.assert_error(2, "missing");
}

#[test]
fn a_report_has_the_distribution_of_the_fingerprints() {
    let crawl = Crawl::bare();
    corpus(&crawl);
    let run = crawl.run_command(&["dedup", "corpus.jsonl", "--report", "report.html"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = std::fs::read_to_string(crawl.directory().join("report.html")).unwrap();
    let print = crawl.run_command(&["fingerprint", "corpus.jsonl"]).output;
    let (_, charts) = report.split_once("by number of 1-bits").unwrap();
    for line in print.lines() {
        let fingerprint = u64::from_str_radix(&line[..16], 16).unwrap();
        let ones = format!("<tr><th>{}<td>", fingerprint.count_ones());
        let first = format!("<tr><th>{:07b}<td>", fingerprint >> 57);
        assert!(
            charts.contains(&ones) && charts.contains(&first),
            "{line}: {charts}"
        );
    }
}
