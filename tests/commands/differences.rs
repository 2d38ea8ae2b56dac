//! `compare --diff`: the words in which two texts differ.

use crate::support::Crawl;
use crate::support::pages::prose;

#[test]
fn the_words_in_which_two_files_differ_are_marked() {
    let crawl = Crawl::bare();
    let (head, tail) = (prose(1, 60), prose(2, 60));
    crawl.write(
        "a.html",
        format!("<p>{head}</p><p>The OLD fox, gone.</p><p>{tail}</p>"),
    );
    crawl.write("b.txt", format!("{head}\nthe new fox\n{tail}!"));
    let compare = ["compare", "a.html", "b.txt", "--diff"];
    let table = crawl.run_command(&[&compare[..], &["--format", "table"]].concat());
    for line in [
        "\nwords: 2 only in a, 1 only in b, of 124 and 123\n",
        "\n@@ -1 +1 @@\n",
        "\nthe [-OLD-]{+new+} fox [-gone.-]\n",
    ] {
        assert!(table.output.contains(line), "{line:?} in {}", table.output);
    }
    assert!(!table.output.contains('\u{1b}'), "no colours in a pipe");

    let diff = &crawl.run_command(&compare).json()["diff"];
    let runs = diff["runs"].as_array().unwrap();
    let kinds: Vec<_> = runs
        .iter()
        .map(|run| run["run"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["same", "only-a", "only-b", "same", "only-a", "same"]
    );
    let joined = |side| -> String { runs.iter().filter_map(|run| run[side].as_str()).collect() };
    assert_eq!(joined("b"), format!("{head}\nthe new fox\n{tail}!"));
    assert_eq!(joined("a").split_whitespace().count(), 124);
    assert_eq!(runs[1]["a"], "OLD");
    assert_eq!(
        (&diff["words_only_a"], &diff["words_only_b"]),
        (&2.into(), &1.into())
    );

    let same = crawl.run_command(&["compare", "b.txt", "b.txt", "--diff", "--format", "table"]);
    assert!(!same.output.contains("@@"), "{}", same.output);
}

#[test]
fn colours_are_for_terminals_and_a_text_has_none_of_its_own() {
    let crawl = Crawl::bare();
    crawl.write("a.txt", "one \u{1b}[2Jtwo\u{1b}[31m three");
    crawl.write("b.txt", "one \u{202e}2 three");
    let run = |variable: &str| {
        let script = format!("{variable} exec \"$0\" compare a.txt b.txt --diff --format table");
        crawl.start_by(&["sh"], &script).end().output
    };
    let coloured = run("CLICOLOR_FORCE=1");
    let marked = "one [-\\u{1b}[2Jtwo\\u{1b}[31m-]";
    let red = marked
        .replace("[-", "\u{1b}[31m[-")
        .replace("-]", "-]\u{1b}[m");
    assert!(coloured.contains(&red), "{coloured}");
    let plain = run("");
    assert!(
        plain.contains(&format!("{marked}{{+\\u{{202e}}2+}} three")),
        "{plain}"
    );
    assert!(!plain.contains(['\u{1b}', '\u{202e}']), "{plain}");
}
