//! Topics that cannot be, and crawls that are continued with another one.

use super::{SEA, TOPIC, focused, tunnel};
use crate::support::Crawl;

#[test]
fn a_topic_that_says_nothing_is_refused_before_anything_is_written() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]);
    crawl.write("empty.txt", "");
    crawl.write("binary.bin", [0, 159, 146, 150, 0, 255, 254]);
    std::fs::create_dir(crawl.directory().join("nothing")).unwrap();
    for (options, words) in [
        (&["--topic", ""][..], "no usable word"),
        (&["--topic", "the of and"], "no usable word: \"the of and\""),
        (&["--topic-file", "empty.txt"], "empty.txt"),
        (&["--topic-file", "binary.bin"], "binary.bin"),
        (&["--topic-file", "missing.txt"], "missing.txt"),
        (&["--topic-file", "nothing"], "nothing"),
        (
            &["--topic-of-seeds", "--topic", "the of and"],
            "no usable word",
        ),
        (
            &["--topic-of-seeds", "--topic-file", "empty.txt"],
            "empty.txt",
        ),
        (
            &["--topic-of-seeds", "--topic-threshold", "2"],
            "--topic-threshold 2 is not valid",
        ),
        (
            &["--topic", "tides", "--topic-threshold=-0.1"],
            "--topic-threshold -0.1 is not valid",
        ),
        (
            &["--topic", "tides", "--topic-threshold", "NaN"],
            "--topic-threshold NaN is not valid",
        ),
        (&["--topic", "tides", "--topic-threshold", "high"], "high"),
        (
            &["--topic", "tides", "--topic-threshold", "1.5"],
            "--topic-threshold 1.5 is not valid",
        ),
        (
            &["--topic-threshold", "0.5"],
            "--topic-threshold needs a topic",
        ),
        (&["--min-harvest", "5%"], "--min-harvest needs a topic"),
        (&["--anticipation", "5s"], "--anticipation needs a topic"),
        (&["--off-topic", "keep"], "--off-topic needs a topic"),
        (
            &["--topic", "tides", "--min-harvest", "5"],
            "share from 0 to 1",
        ),
        (
            &["--topic", "tides", "--off-topic", "burn"],
            "is not drop or keep",
        ),
    ] {
        let refused = crawl.run_with(options);
        refused.assert_error(2, words);
        assert!(!crawl.out().exists(), "{options:?}");
    }
}

#[test]
fn a_topic_cannot_be_changed_once_a_crawl_has_begun() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]);
    let words = ["--topic", "tidal power", "--max-pages", "1"];
    assert_eq!(crawl.run_with(&words).code, Some(0));
    for (more, was) in [
        (["--topic", "bread"], "with --topic \"tidal power\""),
        (["--topic-file", "x.txt"], "with --topic \"tidal power\""),
    ] {
        let refused = crawl.run_with(&more);
        refused.assert_error(2, was);
        let remedy = "omit --topic, --topic-file and --topic-of-seeds";
        assert!(refused.errors.contains(remedy), "{refused:?}");
    }
    // It goes on with the topic that it keeps.
    assert_eq!(crawl.run_with(&["--max-pages", "9"]).code, Some(0));
    let plain = Crawl::of(&server, &[SEA])
        .seeds(&[server.url(SEA, "/")])
        .with(&["--max-pages", "1"]);
    plain.complete();
    for more in [&TOPIC[..], &["--topic-of-seeds"]] {
        plain
            .run_with(more)
            .assert_error(2, "was begun without a topic");
    }
}

#[test]
fn seeds_say_the_topic_from_the_beginning_of_a_crawl_or_never() {
    let server = tunnel();
    let of_seeds = focused(&server, &[SEA]).with(&["--max-pages", "1"]);
    let begun = of_seeds.run_with(&["--topic-of-seeds"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    for other in [
        "--topic=bread",
        "--topic-file=x.txt",
        "--topic-of-seeds=false",
    ] {
        let refused = of_seeds.run_with(&[other]);
        refused.assert_error(2, "was begun with --topic-of-seeds");
    }
    assert_eq!(of_seeds.run().code, Some(0), "it goes on with its topic");
    let by_words = focused(&server, &[SEA]).with(&["--max-pages", "1"]);
    by_words.run_with(&TOPIC);
    by_words
        .run_with(&["--topic-of-seeds"])
        .assert_error(2, "was begun with --topic \"tidal power\"");
}

#[test]
fn where_there_are_no_seeds_or_many_machines_no_seeds_say_the_topic() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]).with(&["--topic-of-seeds"]);
    crawl.complete();
    crawl.write("page.txt", "tides");
    crawl
        .run_command(&["topic", "--topic-of-seeds", "page.txt"])
        .assert_error(2, "--topic-of-seeds");
    let store = "postgres://localhost/crawl";
    let imported = crawl.run_command(&["import", "crawl", "--store", store]);
    imported.assert_error(2, "a shared crawl does not support a topic");
}
