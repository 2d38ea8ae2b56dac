//! The form of outputs: tables for people wherever they go, JSON and CSV for programs.

use calamine::{Reader, Xlsx};
use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::pages::{NONE, html, page, prose};
use crate::support::{Crawl, KEY};

const HOST: &str = "forms.test";

/// Two pages with the same bytes, a page with a formula for a title, a page that is gone, and a
/// link out of scope.
fn site() -> Server {
    Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => page(
            1,
            &["/a", "/b", "/formula", "/gone", "http://elsewhere.test/"],
        ),
        "/a" | "/b" => page(2, NONE),
        "/formula" => Reply::html(html(
            "<title>=1+1, \"größer\"</title>",
            &format!("<p>{}</p>", prose(3, 150)),
        )),
        _ => Reply::status(404),
    }))
}

fn crawled(server: &Server) -> Crawl {
    // One page at a time, so that `/a` is the original of `/b`.
    let crawl = Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency=1"]);
    crawl.complete();
    crawl
}

/// Runs a line of a shell in which `crawler` is the binary.
fn shell(crawl: &Crawl, line: &str) -> crate::support::CommandOutput {
    let script = format!("crawler() {{ \"$BINARY\" \"$@\"; }}; BINARY=$0; {line}");
    crawl.run_command_by("sh", &script, &[] as &[&str])
}

/// Lists, each with the command that prints it.
const LISTS: [&str; 9] = [
    "status --hosts crawl",
    "skipped crawl",
    "duplicates crawl",
    "duplicates --clusters crawl",
    "patterns crawl",
    "frames crawl",
    "search crawl page",
    "similar crawl http://forms.test/a",
    "changes crawl other",
];

#[test]
fn a_pipe_and_a_file_receive_the_table_that_a_terminal_shows() {
    let server = site();
    let crawl = crawled(&server);
    shell(&crawl, "cp -r crawl other");
    let others = [
        "status crawl",
        "verify crawl",
        "why crawl http://forms.test/b",
    ];
    for command in LISTS
        .iter()
        .filter(|list| !list.contains("similar"))
        .chain(&others)
    {
        let table = shell(&crawl, &format!("crawler {command} --format table"));
        assert!(!table.output.starts_with('{'), "{command}: {table:?}");
        let piped = shell(&crawl, &format!("crawler {command} | cat"));
        assert_eq!(piped.output, table.output, "{command}");
        let filed = shell(&crawl, &format!("crawler {command} > out.txt; cat out.txt"));
        assert_eq!(filed.output, table.output, "{command}");
    }
}

/// `crawler config > my.toml` wrote JSON lines, which `--config` refused.
#[test]
fn the_settings_that_config_prints_into_a_file_are_a_settings_file() {
    let crawl = Crawl::bare();
    let line = "crawler config --delay 7s > my.toml && crawler config my.toml --format json";
    let run = shell(&crawl, line);
    assert_eq!(run.code, Some(0), "{run:?}");
    let delay = run
        .json_lines()
        .into_iter()
        .find(|one| one["key"] == "delay");
    let delay = delay.unwrap();
    assert_eq!(
        (&delay["value"], &delay["from"]),
        (&"7s".into(), &"my.toml".into())
    );
}

#[test]
fn every_list_is_csv_with_the_values_of_its_json() {
    let server = site();
    let crawl = crawled(&server);
    shell(&crawl, "cp -r crawl other");
    for list in LISTS {
        let list = list.replace("http://forms.test", &server.url(HOST, ""));
        let json = shell(&crawl, &format!("crawler {list} --format json")).json_lines();
        assert!(!json.is_empty(), "{list} is empty");
        let run = shell(&crawl, &format!("crawler {list} --format csv"));
        assert_eq!(run.code, Some(0), "{list}: {run:?}");
        let mut csv = csv::Reader::from_reader(run.output.as_bytes());
        let names = csv.headers().unwrap().clone();
        let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        if list.contains("--clusters") {
            let members: Vec<&str> = rows.iter().map(|row| &row[1]).collect();
            let expected: Vec<&str> = json
                .iter()
                .flat_map(|cluster| cluster["members"].as_array().unwrap())
                .map(|member| member.as_str().unwrap())
                .collect();
            assert_eq!(members, expected);
            continue;
        }
        assert_eq!(rows.len(), json.len(), "{list}");
        for (row, object) in rows.iter().zip(&json) {
            let known = names.iter().filter(|name| !object[*name].is_null()).count();
            assert!(known > 1, "{list}: {names:?} of {object}");
            for (name, field) in names.iter().zip(row) {
                let value = match &object[name] {
                    Value::Null => String::new(),
                    Value::String(text) if text.starts_with('=') => format!("'{text}"),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(field, value, "{list}: {name}");
            }
        }
    }
    let titles = shell(&crawl, "crawler search crawl title:größer --format csv").output;
    assert!(titles.contains("\"'=1+1, \"\"größer\"\"\""), "{titles}");
}

#[test]
fn what_is_not_a_list_is_refused_as_csv() {
    let server = site();
    let crawl = crawled(&server);
    for command in [
        "status crawl",
        "duplicates crawl --diff http://forms.test/b",
    ] {
        let run = shell(&crawl, &format!("crawler {command} --format csv"));
        run.assert_error(2, "does not print a list");
    }
}

#[test]
fn commands_without_a_directory_look_at_the_crawl_in_the_usual_one() {
    let server = site();
    let crawl = crawled(&server);
    let (url, original) = (server.url(HOST, "/b"), server.url(HOST, "/a"));
    for command in [
        "status",
        "skipped",
        "duplicates",
        "patterns",
        "frames",
        "export",
        "search page",
        &format!("why {url}"),
        &format!("similar {original}"),
        "verify",
        "report -o -",
        "wacz -o -",
        "index -o -",
        "clean --dry-run",
    ] {
        let name = command.split(' ').next().unwrap();
        let rest = command.strip_prefix(name).unwrap();
        let run = shell(&crawl, &format!("crawler {command} | od -c"));
        assert_eq!(
            run.errors.matches("error:").count(),
            0,
            "{command}: {run:?}"
        );
        let named = shell(&crawl, &format!("crawler {name} crawl{rest} | od -c"));
        assert_eq!(run.output, named.output, "{command}");
    }
    let report = shell(&crawl, "crawler report").errors;
    assert!(
        report.contains("wrote crawl/report.html: a report, "),
        "{report}"
    );

    let empty = Crawl::bare();
    for command in [
        "status",
        "export",
        "why http://forms.test/",
        "skipped",
        "search words",
    ] {
        let run = shell(&empty, &format!("crawler {command}"));
        assert_eq!(run.code, Some(2), "{command}: {run:?}");
        assert!(
            run.errors.contains("DIR") || run.errors.contains("--out"),
            "{run:?}"
        );
    }
}

#[test]
fn a_written_file_is_reported_with_its_contents_its_size_and_what_opens_it() {
    let server = site();
    let crawl = crawled(&server);
    for (command, words) in [
        (
            "wacz crawl -o a.wacz",
            &["wrote a.wacz: 3 pages, ", "replayweb.page"][..],
        ),
        (
            "export crawl --format csv -o a.csv",
            &["wrote a.csv: 5 records, ", "spreadsheet"],
        ),
        (
            "export crawl -o a.jsonl --resume",
            &["wrote a.jsonl: 5 records, ", "jq"],
        ),
        (
            "export crawl --format parquet -o parts/",
            &["wrote parts/: 5 records, ", "DuckDB"],
        ),
        (
            "export crawl --format parquet -o parts/ --resume",
            &["wrote parts/: 0 new records, "],
        ),
        (
            "export crawl --text --format wet -o a.wet",
            &["wrote a.wet: 3 records, ", "warcio"],
        ),
        ("unpack crawl -o site", &["wrote site: ", " in a browser"]),
        (
            "report crawl -o r.html",
            &["wrote r.html: a report, ", "in a browser"],
        ),
        (
            "index crawl/archive/*.warc.gz -o a.cdxj",
            &["wrote a.cdxj: ", " lines, "],
        ),
        (
            "dedup seeds.txt --report d.html",
            &["wrote d.html: a report, "],
        ),
    ] {
        let run = shell(&crawl, &format!("crawler {command}"));
        for words in words {
            assert!(
                run.errors.contains(words),
                "{command}: {words:?} in {run:?}"
            );
        }
    }
    let piped = shell(&crawl, "crawler wacz crawl -o - | od -c | tail -n 1");
    assert!(!piped.errors.contains("wrote"), "{piped:?}");
}

#[test]
fn excel_is_told_that_a_table_is_utf_8() {
    let server = site();
    let crawl = crawled(&server);
    for line in [
        "crawler export crawl --format csv --bom -o a.csv",
        "crawler export crawl --format csv --bom -o a.csv --resume",
        "crawler export crawl --format csv --bom > a.csv",
        "crawler export crawl --links --format csv --bom -o a.csv",
        "crawler export crawl --links --format csv --bom -o a.csv --resume",
    ] {
        let run = shell(&crawl, line);
        assert_eq!(run.code, Some(0), "{line}: {run:?}");
        let table = std::fs::read_to_string(crawl.directory().join("a.csv")).unwrap();
        assert!(table.starts_with('\u{feff}'), "{line}");
        assert_eq!(table.matches('\u{feff}').count(), 1, "{line}");
    }
    shell(&crawl, "crawler export crawl --bom").assert_error(2, "--bom requires --format csv");
}

#[test]
fn the_summary_is_coloured_by_its_result_and_no_line_is_wider_than_80_columns() {
    let server = site();
    let long = "a/directory/with/a/name/that/is/long/enough/to/reach/the/end/of/the/line";
    let summary = |variables: &str, more: &str| {
        let crawl = Crawl::of(&server, &[HOST])
            .seeds(&[server.url(HOST, "/")])
            .with(&["--summary", "text", "--hash-key", KEY]);
        let script = format!("{variables} exec \"$0\" \"$@\" {more}");
        crawl.start_by(&["sh"], &script).end().output
    };
    let no_seed = format!("--seeds /dev/null {}", server.url(HOST, "/gone"));
    let (red, green, yellow) = ("\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m");
    for (more, begins) in [
        ("", format!("{green}Complete\u{1b}[m\n")),
        (
            "--max-pages 1",
            format!("{yellow}Stopped at --max-pages 1; "),
        ),
        (&*no_seed, format!("{red}No seed could be fetched")),
    ] {
        let text = summary("CLICOLOR_FORCE=1", more);
        assert!(text.starts_with(&begins), "{more}: {text}");
        for variables in ["", "NO_COLOR=1"] {
            let plain = summary(variables, &format!("{more} --out {long}"));
            assert!(!plain.contains('\u{1b}'), "{plain}");
            let commands = |line: &&str| !line.contains("crawler ");
            for line in plain.lines().filter(commands) {
                let fits = line.chars().count() <= 80 || line.split_whitespace().count() == 1;
                assert!(fits || line.contains(long), "{line}");
            }
        }
    }
}

/// Returns the rows of a workbook's first sheet as texts.
fn rows(crawl: &Crawl, name: &str) -> Vec<Vec<String>> {
    let path = crawl.directory().join(name);
    let mut book: Xlsx<_> = calamine::open_workbook(path).expect("it is a workbook");
    let sheet = book.worksheet_range_at(0).expect("it has a sheet");
    let sheet = sheet.expect("the sheet can be read");
    let texts = sheet
        .rows()
        .map(|row| row.iter().map(ToString::to_string).collect());
    texts.collect()
}

/// Returns the cell for a field of CSV: a number without needless digits, or a text without the
/// mark against formulas.
fn cell(field: &str) -> String {
    match field.parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => field.strip_prefix('\'').unwrap_or(field).to_owned(),
    }
}

#[test]
fn every_list_is_a_workbook_with_the_rows_of_its_csv() {
    let server = site();
    let crawl = crawled(&server);
    shell(&crawl, "cp -r crawl other");
    for (number, command) in LISTS.iter().enumerate() {
        let command = command.replace("http://forms.test/", &server.url(HOST, "/"));
        let name = format!("{number}.xlsx");
        let written = shell(&crawl, &format!("crawler {command} --output {name}"));
        assert_eq!(written.code, Some(0), "{command}: {written:?}");
        assert!(
            written.errors.contains(&format!("wrote {name}: a list")),
            "{written:?}"
        );
        let csv = shell(&crawl, &format!("crawler {command} --format csv")).output;
        let mut csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(csv.as_bytes());
        let expected = csv.records().map(|record| {
            let record = record.expect("it is CSV");
            record.iter().map(cell).collect::<Vec<_>>()
        });
        assert_eq!(
            rows(&crawl, &name),
            expected.collect::<Vec<_>>(),
            "{command}"
        );
    }
    let piped = "crawler skipped crawl --format xlsx > piped.xlsx";
    assert_eq!(shell(&crawl, piped).code, Some(0));
    let skipped = shell(
        &crawl,
        "crawler skipped crawl --output skipped.csv; cat skipped.csv",
    );
    assert!(skipped.output.starts_with("url,why,"), "{skipped:?}");
    assert_eq!(
        rows(&crawl, "piped.xlsx").len(),
        skipped.output.lines().count()
    );
}

#[test]
fn a_result_that_is_not_a_list_is_no_workbook() {
    let server = site();
    let crawl = crawled(&server);
    for arguments in [&["--format", "xlsx"][..], &["--output", "status.json"]] {
        let arguments = [&["status", "crawl"], arguments].concat();
        let words = "status without --hosts does not print a list";
        crawl.run_command(&arguments).assert_error(2, words);
    }
}
