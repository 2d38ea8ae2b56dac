//! The commands on files, without a crawl.

use crate::support::pages::prose;
use crate::support::{CommandOutput, Crawl};

/// Returns the output of a command that succeeds.
fn answer(crawl: &Crawl, arguments: &[&str]) -> String {
    good(crawl.run_command(arguments))
}

fn good(run: CommandOutput) -> String {
    assert_eq!((run.code, run.errors.as_str()), (Some(0), ""), "{run:?}");
    run.output
}

#[test]
fn canonicalize_writes_a_line_for_each_url() {
    let crawl = Crawl::bare();
    for (url, canonical, surt) in [
        (
            "HTTP://Example.ORG:80/a/../b#c",
            "http://example.org/b",
            "http://(org,example,)/b",
        ),
        (
            "https://example.org",
            "https://example.org/",
            "https://(org,example,)/",
        ),
        (
            "http://example.org/?utm_source=x&a=1",
            "http://example.org/?a=1",
            "http://(org,example,)/?a=1",
        ),
    ] {
        assert_eq!(
            answer(&crawl, &["canonicalize", url]),
            format!("{canonical}\n")
        );
        let key = answer(&crawl, &["canonicalize", "--surt", url]);
        assert!(
            key.contains("org,example)") || key.trim_end() == surt,
            "{key}"
        );
    }
    let lines = "http://a.test#x\n\n http://b.test/%7Ec \n";
    let read = good(crawl.run_command_with_input(&["canonicalize"], lines));
    assert_eq!(read, "http://a.test/\nhttp://b.test/~c\n");
    crawl
        .run_command(&["canonicalize", "no url"])
        .assert_error(2, "no url");
}

#[test]
fn robots_prints_the_decision_and_returns_it_as_exit_code() {
    let crawl = Crawl::bare();
    crawl.write(
        "robots.txt",
        "User-agent: *\nDisallow: /no\n\nUser-agent: goodbot\nDisallow:\n",
    );
    let ask = |arguments: &[&str]| {
        let run = crawl.run_command(&[&["robots", "robots.txt"], arguments].concat());
        (run.code, run.output)
    };
    let (yes, no) = ("http://a.test/yes", "http://a.test/no/b");
    assert_eq!(
        ask(&["--agent", "otherbot", yes]),
        (Some(0), "allowed\n".to_owned())
    );
    assert_eq!(
        ask(&["--agent", "otherbot", yes, no]),
        (Some(3), "allowed\ndisallowed\n".to_owned())
    );
    assert_eq!(
        ask(&["--agent", "GoodBot", yes, no]),
        (Some(0), "allowed\nallowed\n".to_owned())
    );
    assert_eq!(
        ask(&["--agent", "otherbot", "--explain", yes, no]),
        (
            Some(3),
            "allowed\tno rule matches\ndisallowed\tDisallow: /no (line 2, for *)\n".to_owned()
        )
    );
    let (code, lines) = ask(&[
        "--agent",
        "GoodBot/2.1 (+https://good.test)",
        "--format",
        "json",
        no,
    ]);
    assert_eq!(code, Some(0));
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&lines).unwrap(),
        serde_json::json!({"url": no, "allowed": true, "rule": null, "line": null, "agent": null,
            "section": "2.2.2", "reason": "no rule matches"})
    );
    let ruled = crawl.run_command_with_input(
        &["robots", "-", "--format=json", no],
        "user-agent: *\n\nallow: /n\ndisallow: /*o",
    );
    let ruled = ruled.json();
    assert_eq!(
        (&ruled["rule"], &ruled["line"], &ruled["agent"]),
        (&"Disallow: /*o".into(), &4.into(), &"*".into())
    );
    crawl
        .run_command(&["robots", "missing.txt", "--agent", "x", yes])
        .assert_error(2, "missing.txt");
}

#[test]
fn fingerprint_writes_sixteen_digits_and_the_path() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", prose(1, 100));
    crawl.write("b.txt", prose(2, 100));
    crawl.write(
        "a.html",
        format!("<title>t</title><main><p>{}</p></main>", prose(1, 100)),
    );
    let output = answer(&crawl, &["fingerprint", "a.txt", "b.txt", "a.html"]);
    let lines: Vec<(&str, &str)> = output
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .collect();
    assert_eq!(
        lines.iter().map(|(_, path)| *path).collect::<Vec<_>>(),
        ["a.txt", "b.txt", "a.html"]
    );
    assert!(
        lines
            .iter()
            .all(|(hex, _)| hex.len() == 16 && u64::from_str_radix(hex, 16).is_ok()),
        "{output}"
    );
    assert_eq!(lines[0].0, lines[2].0, "the same text in HTML");
    assert_ne!(lines[0].0, lines[1].0);
    assert_ne!(
        answer(&crawl, &["fingerprint", "--features", "word:3", "a.txt"])[..16],
        *lines[0].0
    );
    crawl
        .run_command(&["fingerprint", "missing.txt"])
        .assert_error(2, "missing.txt");
}

/// The drafts of the output were documents of the directory that was read, and a second run wrote
/// to the draft of the first.
#[test]
fn fingerprint_reads_no_draft_of_its_own_and_locks_it() {
    let crawl = Crawl::bare();
    for number in 1..3 {
        crawl.write(&format!("{number}.txt"), prose(number, 100));
    }
    let command = ["fingerprint", ".", "-o", "out"];
    let run = crawl.run_command(&command);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.errors.contains("2 fingerprints in out"), "{run:?}");
    let other = std::fs::File::create(crawl.directory().join("out.part")).unwrap();
    other.lock().unwrap();
    let run = crawl.run_command(&command);
    run.assert_error(2, "another process is writing out.part");
}

/// The options did nothing, silently.
#[test]
fn fingerprint_says_that_a_threshold_has_no_effect() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", "some words");
    let plain = answer(&crawl, &["fingerprint", "a.txt"]);
    for option in ["--distance", "--resemblance"] {
        let run = crawl.run_command(&["fingerprint", "a.txt", option, "1"]);
        assert_eq!((run.code, &run.output), (Some(0), &plain), "{option}");
        assert_eq!(
            run.errors,
            "--distance and --resemblance have no effect on a fingerprint\n"
        );
    }
}

#[test]
fn compare_prints_the_similarity_of_two_files() {
    let crawl = Crawl::bare();
    let text = prose(1, 400);
    crawl.write("a.txt", &text);
    crawl.write("same.txt", format!("{}!", text.to_uppercase()));
    crawl.write("near.txt", format!("{text} and a few words more"));
    crawl.write("other.txt", prose(2, 400));
    for (other, verdict, least, most) in [
        ("a.txt", "exact-duplicate", 1.0, 1.0),
        ("same.txt", "exact-duplicate", 1.0, 1.0),
        ("near.txt", "near-duplicate", 0.95, 0.999),
        ("other.txt", "distinct", 0.0, 0.01),
    ] {
        let run = crawl.run_command(&["compare", "a.txt", other, "--format", "json"]);
        let comparison = run.json();
        assert_eq!(comparison["verdict"], verdict, "{comparison}");
        let resemblance = comparison["resemblance"].as_f64().unwrap();
        assert!(
            (least..=most).contains(&resemblance),
            "{other}: {comparison}"
        );
        let mut keys: Vec<&String> = comparison.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            [
                "bits",
                "containment_a_in_b",
                "containment_b_in_a",
                "distance",
                "fingerprint_a",
                "fingerprint_b",
                "reason",
                "resemblance",
                "resemblance_estimate",
                "shingles",
                "verdict",
            ]
        );
    }
    let near = crawl.run_command(&["compare", "a.txt", "near.txt"]).json();
    assert_eq!(near["containment_a_in_b"], 1.0);
    assert!(near["containment_b_in_a"].as_f64().unwrap() < 1.0);
    assert!(
        answer(
            &crawl,
            &["compare", "a.txt", "near.txt", "--format", "table"]
        )
        .contains("near-duplicate")
    );
    crawl
        .run_command(&["compare", "a.txt", "missing.txt"])
        .assert_error(2, "missing.txt");
}

#[test]
fn fingerprints_can_be_halved_and_made_without_stop_words() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", "The quick brown fox jumps over the lazy dog");
    crawl.write("b.txt", "quick brown fox jumps lazy dog");
    let of = |arguments: &[&str]| {
        answer(&crawl, &[&["fingerprint"], arguments].concat())[..16].to_owned()
    };
    let half = answer(&crawl, &["fingerprint", "a.txt", "--bits", "32"]);
    assert_eq!(half, format!("{}  a.txt\n", &of(&["a.txt"])[8..]));
    assert_ne!(of(&["a.txt"]), of(&["b.txt"]));
    let without = |file: &str| of(&[file, "--stop-words", "en"]);
    assert_eq!(without("a.txt"), without("b.txt"));
    let compared = crawl
        .run_command(&["compare", "a.txt", "b.txt", "--bits", "32"])
        .json();
    assert!(compared["distance"].as_u64().unwrap() <= 32);
    assert_eq!(compared["fingerprint_a"], half[..8]);
    for wrong in ["7", "65", "many"] {
        let run = crawl.run_command(&["fingerprint", "a.txt", "--bits", wrong]);
        run.assert_error(2, "8 to 64 bits");
    }
    crawl
        .run_command(&["fingerprint", "a.txt", "--stop-words", "klingon"])
        .assert_error(2, "klingon");
}

/// Lecture notes show fingerprints of a few bits, and no command printed any.
#[test]
fn fingerprints_of_few_bits_are_the_lowest_ones() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", prose(1, 60));
    crawl.write("b.txt", format!("{} and more words", prose(1, 60)));
    let digits = |file: &str, bits: u32| {
        let run = answer(&crawl, &["fingerprint", file, "--bits", &bits.to_string()]);
        run.split_whitespace().next().unwrap().to_owned()
    };
    let whole = |file: &str| u64::from_str_radix(&digits(file, 64), 16).unwrap();
    let (a, b) = (whole("a.txt"), whole("b.txt"));
    for bits in [8_u32, 9, 16, 33, 63] {
        let mask = (1_u64 << bits) - 1;
        let expected = format!("{:0width$x}", a & mask, width = bits.div_ceil(4) as usize);
        assert_eq!(digits("a.txt", bits), expected);
        let bits = bits.to_string();
        let run = crawl.run_command(&["compare", "a.txt", "b.txt", "--bits", &bits]);
        assert_eq!(
            run.json()["distance"],
            ((a ^ b) & mask).count_ones(),
            "{run:?}"
        );
    }
}

/// The reason for a tie's 0 was that only texts of very few features have ties. Weighted by tf, of
/// 1,600 real documents 718 have one; here, two words of opposite hashes in a bit are one.
#[test]
fn ties_give_the_bit_that_is_asked_for() {
    let crawl = Crawl::bare();
    for (name, text) in [
        ("both", "red green"),
        ("red", "red"),
        ("green", "green"),
        ("none", ""),
    ] {
        crawl.write(&format!("{name}.txt"), text);
    }
    let of = |name: &str, more: &[&str]| {
        let file = format!("{name}.txt");
        let digits = answer(&crawl, &[&["fingerprint", &file], more].concat());
        u64::from_str_radix(&digits[..16], 16).unwrap()
    };
    let (red, green) = (of("red", &[]), of("green", &[]));
    assert_eq!(of("both", &[]), red & green);
    assert_eq!(of("both", &["--ties", "drop"]), red & green);
    assert_eq!(of("both", &["--ties", "one"]), red | green);
    assert_eq!(of("red", &["--ties", "one"]), red);
    let run = crawl.run_command(&["fingerprint", "red.txt", "--ties", "random"]);
    run.assert_error(2, "random");
    // Fingerprints made by different rules have no distance.
    for (ties, file) in [("one", "one.fp"), ("drop", "drop.fp")] {
        crawl.run_command(&["fingerprint", "both.txt", "--ties", ties, "-o", file]);
    }
    let run = crawl.run_command(&["query", "one.fp", "drop.fp"]);
    run.assert_error(2, "ties");
}

#[test]
fn plain_tf_idf_drops_the_words_of_every_document() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    for (name, text) in [
        ("1", "the the red"),
        ("2", "the green"),
        ("3", "the blue blue"),
    ] {
        crawl.write(&format!("corpus/{name}.txt"), text);
        crawl.write(&format!("{name}.txt"), text.replace("the", ""));
    }
    let weighted = answer(
        &crawl,
        &["fingerprint", "corpus", "--weights", "plain-tf-idf"],
    );
    for (line, name) in weighted.lines().zip(["1", "2", "3"]) {
        let alone = answer(&crawl, &["fingerprint", &format!("{name}.txt")]);
        assert_eq!(line[..16], alone[..16], "{weighted}");
    }
    let help = answer(&crawl, &["fingerprint", "--help"]);
    assert!(
        help.replace(char::is_whitespace, "")
            .contains("tf·ln(N/df)"),
        "{help}"
    );
    let seed = "http://a.test/";
    let run = crawl.run_command(&["crawl", "--features", "word:1+plain-tf-idf", seed]);
    run.assert_error(2, "plain-tf-idf");
}

#[test]
fn frequent_words_weigh_less_by_tf_idf_with_new_or_stored_frequencies() {
    let crawl = Crawl::bare();
    std::fs::create_dir(crawl.directory().join("corpus")).unwrap();
    for number in 0..20 {
        crawl.write(
            &format!("corpus/{number}.txt"),
            format!("the and of {}", prose(number, 20)),
        );
    }
    let weighted = ["fingerprint", "corpus", "--weights", "tf-idf"];
    let counted_now = answer(&crawl, &weighted);
    let counted = answer(&crawl, &["frequencies", "corpus"]);
    assert!(counted.contains("the\t20\n"), "{counted}");
    crawl.write("counted.txt", &counted);
    let counted_before = answer(
        &crawl,
        &[&weighted[..], &["--frequencies", "counted.txt"]].concat(),
    );
    assert_eq!(counted_before, counted_now);
    assert_ne!(answer(&crawl, &["fingerprint", "corpus"]), counted_now);
    let useless = ["fingerprint", "corpus", "--frequencies", "counted.txt"];
    crawl.run_command(&useless).assert_error(2, "tf-idf");
    crawl.write("wrong.txt", "nothing of the kind");
    crawl
        .run_command(&[&weighted[..], &["--frequencies", "wrong.txt"]].concat())
        .assert_error(2, "wrong.txt");
    let run = crawl.run_command_with_input(&["fingerprint", "-", "--weights", "tf-idf"], "text");
    assert_eq!(run.code, Some(0), "standard input is read twice: {run:?}");
}

/// A comparison said "distinct" beside a resemblance above the one that was asked for, measured
/// runs of words for `char:5`, and ignored `--distance`.
#[test]
fn compare_decides_by_what_is_asked_for_and_says_why() {
    let crawl = Crawl::bare();
    crawl.write("1.txt", "Jack London traveled to Oakland");
    crawl.write("2.txt", "Jack London traveled to the city of Oakland");
    let compare = |more: &[&str]| {
        let arguments = [&["compare", "1.txt", "2.txt"], more].concat();
        crawl.run_command(&arguments).json()
    };
    let check = |more: &[&str], verdict: &str, reason: &str| {
        let compared = compare(more);
        assert_eq!(
            (&compared["verdict"], &compared["reason"]),
            (&verdict.into(), &reason.into())
        );
    };
    let bigrams = ["--features", "word:2", "--resemblance", "0.3"];
    check(
        &bigrams,
        "distinct",
        "5 words, below --min-words 15: compared for equality only",
    );
    let lower = [&bigrams[..], &["--min-words", "1"]].concat();
    check(
        &lower,
        "near-duplicate",
        "resemblance 0.3750, at least 0.30",
    );
    let exact = [
        "--features",
        "word:2",
        "--resemblance",
        "0.375",
        "--min-words",
        "1",
    ];
    check(
        &exact,
        "near-duplicate",
        "resemblance 0.3750, at least 0.38",
    );
    let above = [
        "--features",
        "word:2",
        "--resemblance",
        "0.376",
        "--min-words",
        "1",
    ];
    check(&above, "distinct", "resemblance 0.3750, below 0.38");
    let by_distance = compare(&["--verify", "off", "--distance", "0", "--min-words", "1"]);
    assert_eq!(by_distance["verdict"], "distinct");
    let reason = by_distance["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("bits apart, at most 0 for near duplicates"),
        "{reason}"
    );
    let characters = compare(&["--features", "char:5"]);
    assert_eq!(characters["shingles"], "char:5");
    assert!(characters["resemblance"].as_f64() > compare(&[])["resemblance"].as_f64());
    let table = [
        "compare", "1.txt", "2.txt", "--bits", "32", "--format", "table",
    ];
    let table = crawl.run_command(&table).output;
    assert!(table.contains(" of 32 bits"), "{table}");
}

const DOCUMENT: &str = "<html lang=cs><head><title> A  title </title><meta name=robots \
    content='noindex, nofollow'>\
    <link rel=canonical href='/canonical'><link rel=icon href='data:,'></head><body><nav>\
    <a href='/menu'>Menu</a></nav><main><p>MAIN</p>\
    <a href='next.html' rel=nofollow>Next</a></main></body></html>";

#[test]
fn extract_prints_the_content_of_a_document() {
    let crawl = Crawl::bare();
    crawl.write("page.html", DOCUMENT.replace("MAIN", &prose(1, 80)));
    let run = crawl.run_command(&[
        "extract",
        "page.html",
        "--url",
        "http://a.test/docs/",
        "--format",
        "json",
    ]);
    let read = run.json();
    assert_eq!(read["title"], "A title");
    assert_eq!(read["canonical"], "http://a.test/canonical");
    assert_eq!(read["robots"], serde_json::json!(["noindex", "nofollow"]));
    assert_eq!(read["language"], "cs");
    assert_eq!(read["id"], "http://a.test/docs/");
    assert_eq!(read["heading"], serde_json::Value::Null);
    let judged = read["compared_text"].as_str().unwrap();
    assert!(
        judged.contains("Next") && !judged.contains("Menu"),
        "{judged}"
    );
    let links = read["links"].as_array().unwrap();
    let urls: Vec<&str> = links
        .iter()
        .map(|link| link["url"].as_str().unwrap())
        .collect();
    assert_eq!(
        urls,
        [
            "http://a.test/canonical",
            "http://a.test/menu",
            "http://a.test/docs/next.html"
        ]
    );
    assert_eq!(links[2]["kind"], "page");
    assert_eq!(
        (&links[2]["anchor"], &links[2]["nofollow"]),
        (&"Next".into(), &true.into())
    );
    assert_eq!(links[2]["rel"], serde_json::json!(["nofollow"]));
    let (text, full) = (
        read["text"].as_str().unwrap(),
        read["full_text"].as_str().unwrap(),
    );
    let first_words = &prose(1, 3);
    assert!(
        text.contains(first_words.trim_end()) && !text.contains("Menu"),
        "{text}"
    );
    assert!(
        full.contains(first_words.trim_end()) && full.contains("Menu"),
        "{full}"
    );
    assert_eq!(
        answer(&crawl, &["extract", "page.html", "--format", "text"]).trim_end(),
        text.trim_end()
    );
}

#[test]
fn extract_takes_the_main_content_by_selector() {
    let crawl = Crawl::bare();
    crawl.write(
        "page.html",
        "<h1>Title</h1><main>main</main><div class=wiki>the <b>content</b></div>",
    );
    let extract = |selectors: &[&str]| {
        let mut arguments = vec!["extract", "page.html", "--url", "http://a.test/"];
        arguments.extend(
            selectors
                .iter()
                .flat_map(|selector| ["--main-selector", selector]),
        );
        crawl.run_command(&arguments)
    };
    for (selectors, text) in [
        (&[".wiki"][..], "the content"),
        (&["b.test=.wiki"], "main"),
        (&["b.test=main", "a.test=.wiki"], "the content"),
    ] {
        let read = extract(selectors).json();
        assert_eq!(
            (&read["text"], &read["compared_text"], &read["heading"]),
            (&text.into(), &text.into(), &"Title".into()),
            "{selectors:?}"
        );
    }
    extract(&["div["]).assert_error(2, "div[");
    extract(&["p:has(a)"]).assert_error(2, ":has");
}

#[test]
fn the_output_of_extract_is_valid_input_of_dedup() {
    let crawl = Crawl::bare();
    let mut lines = String::new();
    for (name, seed) in [("1.html", 1), ("2.html", 2), ("3.html", 1)] {
        let page = DOCUMENT
            .replace("MAIN", &prose(seed, 120))
            .replace("lang=cs", name);
        crawl.write(name, page);
        lines.push_str(&answer(&crawl, &["extract", name]));
    }
    crawl.write("pages.jsonl", lines);
    let found = crawl
        .run_command(&["dedup", "pages.jsonl", "--format", "json"])
        .json();
    assert_eq!(
        (&found["document"], &found["duplicate_of"]),
        (&"3.html".into(), &"1.html".into())
    );
}

#[test]
fn extract_reads_standard_input_in_the_given_charset() {
    let crawl = Crawl::bare();
    let latin = b"<title>caf\xe9</title>";
    let read =
        good(crawl.run_command_with_input(&["extract", "-", "--charset", "iso-8859-1"], latin));
    let read: serde_json::Value = serde_json::from_str(&read).unwrap();
    assert_eq!(
        (&read["title"], &read["charset"]),
        (&"café".into(), &"windows-1252".into())
    );
    crawl
        .run_command(&["extract", "missing.html"])
        .assert_error(2, "missing.html");
}

#[test]
fn help_and_version_exit_with_code_0() {
    let crawl = Crawl::bare();
    for arguments in [
        &["--help"][..],
        &["-h"],
        &["--help", "--all"],
        &["--version"],
        &["export", "--help"],
        &["help", "why"],
    ] {
        let output = answer(&crawl, arguments);
        assert!(output.contains("rawler"), "{output}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let crawl = Crawl::bare();
    let urls: String = (0..20_000)
        .map(|number| format!("http://a.test/{number}\n"))
        .collect();
    crawl.write("urls.txt", urls);
    let script = format!(
        "{} canonicalize < urls.txt | head -1; ",
        env!("CARGO_BIN_EXE_crawler")
    );
    let mut command = std::process::Command::new("sh");
    let output = command
        .current_dir(crawl.directory())
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(
        (output.stdout.as_slice(), output.stderr.as_slice()),
        (&b"http://a.test/0\n"[..], &b""[..])
    );
}
