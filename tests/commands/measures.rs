//! `compare --measures`: the measures of the literature, side by side.

use serde_json::Value;

use crate::support::Crawl;

/// Two texts of 2,000 different words, of which every seventieth differs.
fn crawl() -> Crawl {
    let crawl = Crawl::bare();
    let words = |changed: bool| {
        let word = move |at: usize| match changed && at.is_multiple_of(70) {
            true => format!("changed{at}"),
            false => format!("word{at}"),
        };
        (0..2_000).map(word).collect::<Vec<_>>().join(" ")
    };
    crawl.write("a.txt", words(false));
    crawl.write("b.txt", words(true));
    crawl
}

fn measures(crawl: &Crawl, options: &[&str]) -> Vec<Value> {
    let arguments = [&["compare", "a.txt", "b.txt", "--format", "json"], options].concat();
    crawl.run_command(&arguments).json()["measures"]
        .as_array()
        .unwrap()
        .clone()
}

/// Four standard errors: the hashes are fixed, so this holds always or never.
#[test]
fn every_estimate_lies_near_the_exact_value_by_its_own_standard_error() {
    let crawl = crawl();
    for options in [
        &["--measures", "all"][..],
        &["--measures", "all", "--minima", "1000"],
        &["--measures", "all", "--features", "word:1", "--bits", "32"],
        &["--measures", "all", "--features", "char:5"],
    ] {
        let measures = measures(&crawl, options);
        assert_eq!(measures.len(), 25, "{options:?}");
        for measure in &measures {
            let number = |name: &str| measure[name].as_f64();
            let (Some(value), Some(exact)) = (number("value"), number("exact")) else {
                panic!("{options:?}: {measure}");
            };
            let Some(error) = number("standard_error") else {
                assert_eq!(measure["quantity"], "two_groups_agree");
                continue;
            };
            assert!(
                (value - exact).abs() <= 4.0 * error,
                "{options:?}: {measure}"
            );
        }
    }
}

#[test]
fn more_minima_err_less_and_fewer_bits_err_more() {
    let crawl = crawl();
    let error = |name: &str, minima: &str| {
        let measures = measures(&crawl, &["--measures", "minhash,b-bit", "--minima", minima]);
        let named = format!("{name} {minima}");
        let found = measures.iter().find(|measure| measure["measure"] == *named);
        found.unwrap()["standard_error"].as_f64().unwrap()
    };
    assert!(error("minhash", "400") * 1.99 < error("minhash", "100"));
    assert!(error("1-bit", "100") > error("8-bit", "100"));
    assert!(error("8-bit", "100") > error("minhash", "100"));
}

#[test]
fn only_the_measures_that_are_asked_for_are_printed() {
    let crawl = crawl();
    let names: Vec<String> = measures(&crawl, &["--measures", "min-s,simhash"])
        .iter()
        .map(|measure| measure["measure"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["min-s 128", "simhash 64", "simhash 64"]);
    let table = [
        "compare",
        "a.txt",
        "b.txt",
        "--measures",
        "all",
        "--format",
        "table",
    ];
    let table = crawl.run_command(&table).output;
    for row in [
        "super-shingles 6 × 14",
        "mod-m 25, 40 bits",
        "simhash 64",
        "std. error",
    ] {
        assert!(table.contains(row), "{row}: {table}");
    }
}

#[test]
fn empty_texts_and_samples_have_no_estimate_and_impossible_numbers_are_refused() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", "");
    crawl.write("b.txt", "two words");
    for measure in measures(&crawl, &["--measures", "b-bit,super-shingles"]) {
        assert_eq!(measure["value"], Value::Null, "{measure}");
    }
    let refused = |options: &[&str], words: &str| {
        let arguments = [&["compare", "a.txt", "b.txt"], options].concat();
        crawl.run_command(&arguments).assert_error(2, words);
    };
    refused(&["--measures", "all", "--minima", "0"], "1 to 4096");
    refused(&["--measures", "all", "--minima", "4097"], "1 to 4096");
    refused(&["--minima", "100"], "--measures");
    refused(&["--measures", "tlsh"], "tlsh");
}
