//! Results that papers and textbooks publish, compared with the commands.
//! `docs/guide/published-results.md` has the table, with what is done otherwise and why.

use serde_json::{Value, json};

use crate::support::Crawl;

/// Returns the comparison of two texts with these options.
fn compared(crawl: &Crawl, a: &str, b: &str, options: &[&str]) -> Value {
    crawl.write("a.txt", a);
    crawl.write("b.txt", b);
    crawl
        .run_command(&[&["compare", "a.txt", "b.txt"], options].concat())
        .json()
}

/// Returns the value of a measure of a comparison.
fn measure<'a>(compared: &'a Value, measure: &str, quantity: &str) -> &'a Value {
    let measures = compared["measures"].as_array().unwrap();
    let found = measures.iter().find(|found| {
        found["measure"].as_str().unwrap().starts_with(measure) && found["quantity"] == quantity
    });
    found.unwrap_or_else(|| panic!("{measure}, {quantity}: {compared}"))
}

/// Broder, Glassman, Manasse and Zweig, "Syntactic clustering of the web" (1997), section 2.
#[test]
fn a_rose_is_a_rose_is_a_rose_has_exactly_three_shingles_of_four_words() {
    let crawl = Crawl::bare();
    for shingle in ["a rose is a", "rose is a rose", "is a rose is"] {
        let rose = "a rose is a rose is a rose";
        let comparison = compared(&crawl, rose, shingle, &["--features", "word:4"]);
        assert_eq!(comparison["containment_b_in_a"], 1.0, "{shingle}");
        assert_eq!(comparison["containment_a_in_b"], 1.0 / 3.0, "{shingle}");
    }
}

/// A tutorial's three sentences in pairs of words, in either spelling.
#[test]
fn jack_london_resembles_himself_in_three_bigrams_of_eight() {
    let crawl = Crawl::bare();
    for travelled in ["traveled", "travelled"] {
        let first = format!("Jack London {travelled} to Oakland");
        for (other, resemblance) in [
            (
                format!("Jack London {travelled} to the city of Oakland"),
                3.0 / 8.0,
            ),
            (format!("Jack {travelled} from Oakland to London"), 0.0),
        ] {
            let comparison = compared(&crawl, &first, &other, &["--features", "word:2"]);
            assert_eq!(comparison["resemblance"], resemblance, "{other}");
        }
    }
}

/// Lecture notes on minhash: two sets as the columns of a matrix with these rows.
#[test]
fn the_columns_01_10_11_00_11_01_resemble_each_other_by_two_fifths() {
    let crawl = Crawl::bare();
    let rows = ["01", "10", "11", "00", "11", "01"];
    let column = |column: usize| {
        let has = |(row, bits): (usize, &&str)| {
            bits[column..].starts_with('1').then(|| format!("row{row}"))
        };
        rows.iter()
            .enumerate()
            .filter_map(has)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let options = ["--features", "word:1"];
    let comparison = compared(&crawl, &column(0), &column(1), &options);
    assert_eq!(comparison["resemblance"], 0.4);
}

/// Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", exercise 3.1.1.
#[test]
fn three_sets_of_numbers_resemble_each_other_by_a_third_two_fifths_and_a_sixth() {
    let crawl = Crawl::bare();
    let (one, two, three) = ("1 2 3 4", "2 3 5 7", "2 4 6");
    for (a, b, resemblance) in [
        (one, two, 1.0 / 3.0),
        (one, three, 2.0 / 5.0),
        (two, three, 1.0 / 6.0),
    ] {
        let comparison = compared(&crawl, a, b, &["--features", "word:1"]);
        assert_eq!(comparison["resemblance"], resemblance, "{a} and {b}");
    }
}

/// "The earth is moving" has 15 different runs of five characters.
#[test]
fn the_earth_is_moving_in_fifteen_shingles_of_five_characters() {
    let crawl = Crawl::bare();
    let earth = "The earth is moving";
    // One shingle more than the first, all others shared.
    let comparison = compared(
        &crawl,
        earth,
        &format!("{earth}s"),
        &["--features", "char:5", "--measures", "shingles"],
    );
    assert_eq!(measure(&comparison, "shingles", "count_a")["value"], 15.0);
    assert_eq!(comparison["resemblance"], 15.0 / 16.0);
    assert_eq!(comparison["containment_a_in_b"], 1.0);
    for start in 0..15 {
        let run = &earth.to_lowercase()[start..start + 5];
        let alone = run.starts_with(' ') || run.ends_with(' ');
        // A run that begins or ends with a space is no text of its own.
        if !alone {
            let comparison = compared(&crawl, earth, run, &["--features", "char:5"]);
            assert_eq!(comparison["containment_b_in_a"], 1.0, "{run:?}");
            assert_eq!(comparison["containment_a_in_b"], 1.0 / 15.0, "{run:?}");
        }
    }
}

#[test]
fn german_sentences_of_one_meaning_are_nearer_to_each_other_than_to_a_third() {
    let crawl = Crawl::bare();
    let one = "Wenn jeder an sich denkt, ist an alle gedacht";
    let two = "Wenn jeder an sich denkt, ist an jeden gedacht";
    let three = "Sein oder nicht sein";
    let distance = |a: &str, b: &str| compared(&crawl, a, b, &[])["distance"].as_u64().unwrap();
    let near = distance(one, two);
    assert!(near < distance(one, three) && near < distance(two, three));
}

/// Charikar (2002) leaves the sign of 0 open, and tutorials take 1 for it; here it is 0. With two
/// words of equal weight every bit in which they differ is a tie.
#[test]
fn at_a_tie_a_bit_is_zero() {
    let crawl = Crawl::bare();
    let fingerprint = |text: &str| {
        crawl.write("a.txt", text);
        let run = crawl.run_command(&["fingerprint", "a.txt"]);
        u64::from_str_radix(&run.output[..16], 16).unwrap()
    };
    let (one, two) = (fingerprint("cat"), fingerprint("dog"));
    assert_eq!(fingerprint("cat dog"), one & two);
    assert_eq!(fingerprint("cat dog dog dog"), two);
}

/// Manku, Jain and Das Sarma (2007), section 3: with 2³⁴ fingerprints 20, 16, 10 and 4 tables leave
/// 8, 64, 512 and 2¹⁸ candidates behind prefixes of 31, 28, 25 and 16 bits.
#[test]
fn the_tables_of_the_paper_have_its_prefixes_and_its_candidates() {
    let crawl = Crawl::bare();
    for (pages, written) in [(8e9, "8e9"), (f64::from(2).powi(34), "2^34")] {
        let lines = crawl.json_lines(&["plan", "--pages", written, "--format", "json"]);
        for (tables, prefix) in [(20, 31), (16, 28), (10, 25), (4, 16)] {
            let line = lines.iter().find(|line| line["tables"] == tables).unwrap();
            assert_eq!(line["prefix"], prefix);
            let candidates = line["expected_candidates"].as_f64().unwrap();
            assert_eq!(candidates, pages / f64::from(prefix).exp2(), "{tables}");
        }
    }
}

/// Manku, Jain and Das Sarma (2007), section 3.3: coded tables take about half.
#[test]
fn coded_tables_of_two_to_the_thirty_fourth_take_about_half() {
    let crawl = Crawl::bare();
    for line in crawl.json_lines(&["plan", "--pages", "2^34", "--format", "json"]) {
        let bytes = |name: &str| line[name].as_f64().unwrap();
        let share = bytes("coded_memory") / bytes("memory");
        assert!((0.50..0.56).contains(&share), "{line}");
    }
    let narrow = ["plan", "--pages", "1e6", "--bits", "32", "--format", "json"];
    let run = crawl.run_command(&narrow);
    assert!(run.output.contains("\"coded_memory\":null"), "{run:?}");
}

/// Two of six groups of fourteen minima (Fetterly, Manasse and Najork 2003) agree for 88, 42 and
/// 2.6 % of the pairs, by the binomial distribution of groups that agree with probability J¹⁴.
#[test]
fn super_shingles_agree_with_the_probability_that_theory_gives() {
    let crawl = Crawl::bare();
    for (shared, apart, expected) in [(950, 25, 0.88), (900, 50, 0.42), (800, 100, 0.026)] {
        let text = |from: usize| {
            let numbers = (from..from + shared + apart).map(|number| number.to_string());
            numbers.collect::<Vec<_>>().join(" ")
        };
        let options = ["--features", "word:1", "--measures", "super-shingles"];
        let comparison = compared(&crawl, &text(0), &text(apart), &options);
        let resemblance = shared as f64 / (shared + 2 * apart) as f64;
        assert_eq!(comparison["resemblance"], resemblance);
        let agree = measure(&comparison, "super-shingles", "two_groups_agree");
        let exact = agree["exact"].as_f64().unwrap();
        assert!((exact - expected).abs() < 0.005, "{agree}");
        let groups = measure(&comparison, "super-shingles", "agreeing_groups");
        let (value, mean) = (
            groups["value"].as_f64().unwrap(),
            groups["exact"].as_f64().unwrap(),
        );
        assert!((mean - 6.0 * resemblance.powi(14)).abs() < 1e-9);
        // Four standard errors: the keys are fixed, so this holds always or never.
        let error = groups["standard_error"].as_f64().unwrap();
        assert!((value - mean).abs() < 4.0 * error, "{groups}");
        assert_eq!(agree["value"], json!(f64::from(u8::from(value >= 2.0))));
    }
}
